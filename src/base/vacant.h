/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The set of ids of a table that can be reused, lowest first. A table allocates ids from here before it grows.
 *
 * Zero-initialized: empty. Not thread-safe.
 */
#ifndef JHOT_BASE_VACANT_H
#define JHOT_BASE_VACANT_H

#include <stdbool.h>
#include <stdint.h>

#define VACANT_NONE UINT32_MAX

struct vacant {
	uint64_t *bits;
	uint32_t words, low; /* no bit is set in the words below low */
	uint32_t count;      /* number of vacant ids */
};

void vacant_done(struct vacant *v);
/* Removes and returns the lowest id >= from; VACANT_NONE: none. */
uint32_t vacant_allocate(struct vacant *v, uint32_t from);
/* Sets the vacant ids to those below n without a bit in keep. */
void vacant_set(struct vacant *v, const uint64_t *keep, uint32_t n);

static inline bool vacant_has(const struct vacant *v, uint32_t id)
{
	return id / 64 < v->words && v->bits[id / 64] >> (id % 64) & 1;
}

#endif
