/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue of ring records that wait for the names of their frames, in order, together with all records after them. It lets
 * the session drain the ring in time, however long it takes to read files for names.
 *
 * Owned by the session; zero-initialized; bounded by LATE_BYTES_MAX by the caller. Single-threaded.
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
	uint64_t since_ns;  /* when the queue last became nonempty; 0: it is empty */
	uint64_t waited_ns; /* total time that it was nonempty before since_ns */
	uint64_t unnamed;   /* stacks added to the model without names */
};

static inline bool late_any(const struct late *l)
{
	return l->end > l->begin;
}

/* Appends a copy of the record. */
void late_append(struct late *l, const void *record, size_t size, uint64_t now_ns);
/* The first record; valid until the next late_append. */
const void *late_first(const struct late *l);
void late_remove_first(struct late *l, uint64_t now_ns);
/* Total time that the queue was nonempty, in ns. */
uint64_t late_ns(const struct late *l, uint64_t now_ns);
void late_done(struct late *l);

#endif
