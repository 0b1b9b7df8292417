/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two sums per small number: an array as long as the numbers go, cleared at the cost of what was touched.
 *
 * What makes a refresh cheap: a window touches a few thousand of perhaps a million stacks, and a two-level
 * bitmap remembers which, in ascending order. Parents have smaller numbers than their children
 * everywhere in the model, so that order is also top-down, and its reverse bottom-up. Owned by the profile
 * as scratch; empty between calls. One thread.
 */
#ifndef JHOT_PROFILE_MODEL_TALLY_H
#define JHOT_PROFILE_MODEL_TALLY_H

#include "profile/profile.h"

static inline void sum_add(struct profile_sum *to, const struct profile_sum *sum)
{
	to->count += sum->count;
	to->weight += sum->weight;
}

static inline void sum_take(struct profile_sum *from, const struct profile_sum *sum)
{
	from->count -= sum->count;
	from->weight -= sum->weight;
}

/* Of a wait that began before a window there is time in it, but no count. */
static inline bool sum_none(const struct profile_sum *a)
{
	return !(a->count | a->weight);
}

struct tally {
	struct profile_sum *sums; /* valid where the bit is set */
	uint64_t *bits;           /* touched numbers */
	uint64_t *words;          /* words of bits that are not 0 */
	uint32_t cap;             /* multiple of 4096 */
	uint32_t touched;
};

void tally_done(struct tally *t);
/* Space for the numbers below n; keeps what is there. */
void tally_reserve(struct tally *t, uint32_t n);
/* The touched numbers, ascending, into ids (space for t->touched). Returns how many. */
uint32_t tally_list(const struct tally *t, uint32_t *ids);
/* Forget the touched numbers, given as tally_list gave them. */
void tally_clear(struct tally *t, const uint32_t *ids, uint32_t count);
size_t tally_bytes(const struct tally *t);

static inline bool tally_has(const struct tally *t, uint32_t id)
{
	return t->bits[id / 64] >> (id % 64) & 1;
}

/* Touch a number; true if it was not touched yet (its sums are 0 then). */
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

/* The same for a number whose sums are set. */
static inline void tally_mark(struct tally *t, uint32_t id)
{
	t->bits[id / 64] |= 1ull << (id % 64);
	t->words[id / 4096] |= 1ull << (id / 64 % 64);
}

/* Forget one. */
static inline void tally_untouch(struct tally *t, uint32_t id)
{
	uint64_t *word = &t->bits[id / 64];

	*word &= ~(1ull << (id % 64));
	if (!*word)
		t->words[id / 4096] &= ~(1ull << (id / 64 % 64));
	t->touched--;
}

static inline void tally_add(struct tally *t, uint32_t id, uint64_t count, uint64_t weight)
{
	tally_touch(t, id);
	t->sums[id].count += count;
	t->sums[id].weight += weight;
}

#endif
