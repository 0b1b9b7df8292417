/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers of a table that are free to be given again, lowest first.
 *
 * A table whose entries have numbers takes one from here before it grows. Zero-initialised: none is vacant. One thread.
 */
#ifndef JHOT_BASE_VACANT_H
#define JHOT_BASE_VACANT_H

#include <stdbool.h>
#include <stdint.h>

#define VACANT_NONE UINT32_MAX

struct vacant {
	uint64_t *bits;
	uint32_t words, low; /* no bit is set in the words below low */
	uint32_t count;      /* numbers that are vacant */
};

void vacant_done(struct vacant *v);
/* The lowest vacant number that is not below `from`, now taken; VACANT_NONE: there is none. */
uint32_t vacant_take(struct vacant *v, uint32_t from);
/* Vacant are, of the numbers below n, those without a bit in keep. */
void vacant_set(struct vacant *v, const uint64_t *keep, uint32_t n);

static inline bool vacant_has(const struct vacant *v, uint32_t number)
{
	return number / 64 < v->words && v->bits[number / 64] >> (number % 64) & 1;
}

#endif
