/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of the ring that wait for names of their frames, in order, with everything that came after them. So the ring is
 * read in time, however slowly files are read for names. Plain memory of the session's, bounded by LATE_BYTES_MAX.
 */
#ifndef JHOT_SESSION_LATE_H
#define JHOT_SESSION_LATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LATE_BYTES_MAX (64u << 20)

struct late {
	unsigned char *bytes;
	size_t begin, end, cap;
	uint64_t since_ns;  /* when something began to wait; 0: nothing does */
	uint64_t waited_ns; /* in all, before that */
	uint64_t unnamed;   /* stacks that were not waited for any longer */
};

static inline bool late_any(const struct late *l)
{
	return l->end > l->begin;
}

/* A copy of the record is the last. */
void late_put(struct late *l, const void *record, size_t size, uint64_t now_ns);
/* The first record, valid until late_put. */
const void *late_first(const struct late *l);
void late_remove_first(struct late *l, uint64_t now_ns);
/* How long something has waited, in all. */
uint64_t late_ns(const struct late *l, uint64_t now_ns);
void late_done(struct late *l);

#endif
