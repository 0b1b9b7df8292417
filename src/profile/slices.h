/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The history of one event: slices of one second, later of ten, and a running total of everything ever fed.
 *
 *   total (all that was ever added)
 *   |  dropped (only in the total)  |  10 s  |  10 s  |1|1|1|1|1| now
 *                                   oldest            merged_before
 *
 * An entry is (pair, count, weight); a pair is a (stack, thread in a state), numbered as they come. Late samples go
 * into the slice they belong to while it is held, else into the total alone, so sums never lose any.
 */
#ifndef JHOT_PROFILE_SLICES_H
#define JHOT_PROFILE_SLICES_H

#include "profile/tally.h"

struct slices_pair {
	uint32_t stack;
	uint32_t who;      /* the thread, and in the top bits what it was doing */
	struct amount sum; /* of everything ever added */
};
#define SLICES_WHO(thread, state) ((thread) | (uint32_t)(state) << 28)

static inline uint32_t slices_thread(const struct slices_pair *pair)
{
	return pair->who & 0xfffffffu;
}

static inline uint32_t slices_state(const struct slices_pair *pair)
{
	return pair->who >> 28;
}

struct slice_entry {
	uint32_t pair;
	uint32_t count;
	uint64_t weight;
};

struct slice {
	uint32_t from, span; /* seconds; span is 1 or SLICES_STEP */
	uint32_t count, cap;
	bool dirty; /* entries came since it was last packed */
	struct slice_entry *entries;
	struct amount sum;
};

#define SLICES_STEP 10u

struct slices {
	struct slice *list; /* ascending, without overlap; seconds without samples have none */
	uint32_t count, cap;
	struct amount sum; /* of everything ever added */
	struct slices_pair *pairs;
	uint32_t pair_count, pair_cap;
	uint32_t *slots; /* finds a pair: number + 1, 0 = free */
	uint32_t slot_mask;
	size_t bytes; /* of the list's entries */
	uint32_t entries;
};

void slices_done(struct slices *s);
struct slices_sample {
	uint32_t second, stack, who, count;
	uint64_t weight;
};
/* step_before: seconds before it belong to 10 s steps; drop_before: to the total only. */
void slices_add(struct slices *s, const struct slices_sample *sample, uint32_t step_before,
	uint32_t drop_before);
/* Sort and join the entries of slices that begin before this second. */
void slices_pack(struct slices *s, uint32_t before);
/* Make 10 s steps of what begins before this second (a multiple of SLICES_STEP). */
void slices_merge(struct slices *s, uint32_t before);
/* Forget the slices that begin before this second; the total keeps their sums. */
void slices_drop(struct slices *s, uint32_t before);
/* The first slice that begins at or after this second (s->count if none). */
uint32_t slices_find(const struct slices *s, uint32_t second);
/* What the slices cost beside their entries. */
size_t slices_fixed_bytes(const struct slices *s);

#endif
