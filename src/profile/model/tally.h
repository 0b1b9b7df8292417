/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sparse array of sums indexed by id, whose clearing and listing cost O(touched ids).
 *
 *   words   1 bit per word of bits that is not 0      a two-level bitmap of the touched ids: lists them in ascending order
 *   bits    1 bit per id that was touched
 *   sums    per id; valid where its bit is set
 *
 * A query touches a few thousand of perhaps a million stacks. Parents have smaller ids than their
 * children everywhere in the model, so ascending order is top-down, and its reverse bottom-up.
 * Embedded, zero-initialized. Not thread-safe.
 */
#ifndef JHOT_PROFILE_MODEL_TALLY_H
#define JHOT_PROFILE_MODEL_TALLY_H

#include "profile/profile.h"

static inline void sum_add(struct profile_sum *to, const struct profile_sum *sum)
{
	to->count += sum->count;
	to->weight += sum->weight;
}

static inline void sum_subtract(struct profile_sum *from, const struct profile_sum *sum)
{
	from->count -= sum->count;
	from->weight -= sum->weight;
}

/* True for an empty sum. A wait that began before a window has weight in it but no count. */
static inline bool sum_none(const struct profile_sum *a)
{
	return !(a->count | a->weight);
}

struct tally {
	struct profile_sum *sums; /* valid where the bit is set */
	uint64_t *bits, *words;
	uint32_t cap; /* multiple of 4096 */
	uint32_t touched;
};

void tally_done(struct tally *t);
/* Makes space for ids below n. Contents stay. */
void tally_reserve(struct tally *t, uint32_t n);
/* Writes the touched ids, ascending, to ids, which has space for t->touched. Returns their number. */
uint32_t tally_list(const struct tally *t, uint32_t *ids);
/* Empties the tally; ids as returned by tally_list(). */
void tally_clear(struct tally *t, const uint32_t *ids, uint32_t count);
size_t tally_bytes(const struct tally *t);

static inline bool tally_has(const struct tally *t, uint32_t id)
{
	return t->bits[id / 64] >> (id % 64) & 1;
}

/* Touches an id. True: it was not touched before, and its sum has been set to 0. */
static inline bool tally_touch(struct tally *t, uint32_t id)
{
	uint64_t bit = 1ull << (id % 64);
	uint64_t *word = &t->bits[id / 64];

	if (*word & bit)
		return false;
	*word |= bit;
	t->words[id / 4096] |= 1ull << (id / 64 % 64);
	t->sums[id] = (struct profile_sum){0, 0};
	t->touched++;
	return true;
}

/* Touches an id whose sum is set already; does not count it in t->touched. */
static inline void tally_mark(struct tally *t, uint32_t id)
{
	t->bits[id / 64] |= 1ull << (id % 64);
	t->words[id / 4096] |= 1ull << (id / 64 % 64);
}

static inline void tally_add(struct tally *t, uint32_t id, uint64_t count, uint64_t weight)
{
	tally_touch(t, id);
	t->sums[id].count += count;
	t->sums[id].weight += weight;
}

#endif
