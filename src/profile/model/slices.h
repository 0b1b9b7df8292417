/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The history of one event: slices of one second, later of ten, and a running total of everything ever fed.
 *
 *   total (all that was ever added)
 *   |  dropped (only in the total)  |  10 s  |  10 s  |1|1|1|1|1| now
 *                                   oldest            merged_before
 *
 * A mark is a second from which on everything can be asked for however long ago it is: what was added before it is kept
 * as sums of their own. An entry is (pair, count, weight); a pair is a (stack, thread in a state), numbered as they come. Late samples go
 * into the slice they belong to while it is held, else into the total alone, so sums never lose any.
 *
 * While a reader holds the history up to a second, memory is made by evicting a range of slices from that second on. The
 * evicted range begins with a mark of its own (marks[SLICES_EVICTED]); its sums are asked for as if all of it were of its
 * first second, and nothing can be asked for that begins or ends within it.
 */
#ifndef JHOT_PROFILE_MODEL_SLICES_H
#define JHOT_PROFILE_MODEL_SLICES_H

#include "profile/model/tally.h"
#include "profile/model/trie.h"

/* What a pair's item is: the thread, and in the top bits what it was doing. */
#define SLICES_WHO(thread, state) ((thread) | (uint32_t)(state) << 28)

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
	struct profile_sum sum;
	float *pulse; /* PROFILE_PULSE of them, of a second; NULL: not told */
};

#define SLICES_STEP    10u
#define SLICES_MARKS   2
#define SLICES_EVICTED SLICES_MARKS /* the mark at which the evicted range begins */

/* Seconds in which the event was sampled. */
struct slices_run {
	uint32_t from, to; /* to: UINT32_MAX while it is */
};

struct slices_mark {
	uint32_t second; /* 0: none */
	struct profile_sum sum,
		*before; /* before: by pair; those that came since may not be there */
	uint32_t cap;
};

struct slices {
	struct slice *list; /* ascending, without overlap; seconds without samples have none */
	uint32_t count, cap;
	struct profile_sum sum;   /* of everything ever added */
	struct trie pairs;        /* (stack, SLICES_WHO); number 0 is none */
	struct profile_sum *sums; /* of all ever added, by pair; 0 where vacant */
	uint32_t sums_cap;
	struct slices_mark marks[SLICES_MARKS + 1];
	uint32_t evicted_to;     /* the end of the evicted range, if there is its mark */
	struct slices_run *runs; /* none: nobody told, it was sampled always */
	uint32_t run_count, run_cap;
	size_t bytes; /* of the list's entries */
	uint32_t entries;
};

static inline uint32_t slices_stack(const struct slices *s, uint32_t pair)
{
	return s->pairs.nodes[pair].parent;
}

static inline uint32_t slices_thread(const struct slices *s, uint32_t pair)
{
	return s->pairs.nodes[pair].item & 0xfffffffu;
}

static inline uint32_t slices_state(const struct slices *s, uint32_t pair)
{
	return s->pairs.nodes[pair].item >> 28;
}

void slices_init(struct slices *s);
void slices_done(struct slices *s);
struct slices_sample {
	uint32_t second, stack, who, count;
	uint64_t weight;
};
/* step_before: seconds before it belong to 10 s steps; drop_before: to the total only. */
void slices_add(struct slices *s, const struct slices_sample *sample, uint32_t step_before,
	uint32_t drop_before);
/* So much of a second's weight is in this part of it (profile_add_pulse); of none without samples. */
void slices_pulse(struct slices *s, uint32_t second, unsigned part, float weight);
/* Sort and join the entries of slices that begin before this second. */
void slices_pack(struct slices *s, uint32_t before);
/* Make 10 s steps of what begins before this second (a multiple of SLICES_STEP). */
void slices_merge(struct slices *s, uint32_t before);
/* Forget the slices that begin before this second; the total keeps their sums. */
void slices_drop(struct slices *s, uint32_t before);
/* These seconds are marked, and no others (0: none). One that is new must not be before any that was dropped. */
void slices_mark(struct slices *s, const uint32_t seconds[SLICES_MARKS]);
/* NULL: it is not marked. */
const struct slices_mark *slices_marked(const struct slices *s, uint32_t second);
/*
 * Evicts the slices in [from, to). An evicted range that exists is extended and keeps its beginning. from = to evicts
 * nothing, but has sums of what was before `from` kept.
 */
void slices_evict(struct slices *s, uint32_t from, uint32_t to);
/* The evicted range is over: its sums are in the total alone. All slices before its end must have been dropped. */
void slices_evict_end(struct slices *s);
/* What a question for everything before this second starts from: the mark of the evicted range; NULL: the total. */
const struct slices_mark *slices_base(const struct slices *s, uint32_t second);
/* The slices from this index on are not in that base. */
uint32_t slices_base_end(const struct slices *s, const struct slices_mark *base);
/* From this second on the event is sampled, or is not; told again and again. */
void slices_run(struct slices *s, uint32_t second, bool on);
/* The number of a pair, which is new if there was none. */
uint32_t slices_pair(struct slices *s, uint32_t stack, uint32_t who);
/* All that a pair ever had is another's. */
void slices_give(struct slices *s, uint32_t from, uint32_t to);
/* Forget the pairs without a bit in keep: those that no slice has, and whose sums others have now. */
void slices_sweep(struct slices *s, const uint64_t *keep);
/* The first slice that begins at or after this second (s->count if none). */
uint32_t slices_find(const struct slices *s, uint32_t second);
/* What the slices cost beside their entries. */
size_t slices_fixed_bytes(const struct slices *s);

#endif
