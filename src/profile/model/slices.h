/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The history of one event: slices of one second, older ones of 10 s, and a total per pair of
 * everything ever added.
 *
 *   |<----------------- total: all that was ever added ----------------->|
 *   |  dropped (only in the total)  |  10 s  |  10 s  |1|1|1|1|1|1|1|1|1 | now
 *                                   oldest            merged_before
 *
 * An entry is (pair, count, weight); a pair is (stack, thread and state), interned. Late samples
 * are added to their slice while it is retained, otherwise only to the total, so no sum loses
 * samples. (How windows map to slices: profile.h, "queries".)
 *
 * Anchors. An anchor is a second for which the totals per pair of everything before it are kept, so
 * that "since then" can be computed as total minus anchor however old it is. There are two for
 * readers (slices_anchor) and one for eviction:
 *
 *   | frozen history | evicted: sums only | retained ...| now      anchors[SLICES_EVICTED].second = begin of the evicted range
 *
 * While history up to a second is frozen, memory is freed by evicting slices after it. The sums of
 * the evicted range can be queried as if all of it belonged to its first second; a query must not
 * begin or end within it. To query frozen history, totals are taken from the anchor (slices_base)
 * in place of the total.
 *
 * An anchor cannot be a snapshot that is subtracted: samples that arrive up to 2 s late, and pairs
 * that the sweep merges (slices_move), must change its sums, or differences to the total would be
 * wrong or negative.
 */
#ifndef JHOT_PROFILE_MODEL_SLICES_H
#define JHOT_PROFILE_MODEL_SLICES_H

#include "profile/model/tally.h"
#include "profile/model/trie.h"

/* Item of a pair: the thread, and in the top 4 bits its state. */
#define SLICES_WHO(thread, state) ((thread) | (uint32_t)(state) << 28)

struct slice_entry {
	uint32_t pair;
	uint32_t count;
	uint64_t weight;
};

struct slice {
	uint32_t from, span; /* seconds; span is 1 or SLICES_STEP */
	uint32_t count, cap;
	bool dirty; /* entries were added since it was packed */
	struct slice_entry *entries;
	struct profile_sum sum;
	float *pulse; /* PROFILE_PULSE weights of a second, or NULL */
};

#define SLICES_STEP    10u
#define SLICES_ANCHORS 2
#define SLICES_EVICTED SLICES_ANCHORS /* the anchor at which the evicted range begins */

/* Seconds in which the event was sampled. */
struct slices_run {
	uint32_t from, to; /* to: UINT32_MAX while it lasts */
};

struct slices_anchor {
	uint32_t second;            /* 0: unused */
	struct profile_sum sum;     /* of everything before it */
	struct profile_sum *before; /* by pair; later pairs may be missing */
	uint32_t cap;
};

struct slices {
	struct slice *list; /* ascending, disjoint; seconds without samples have none */
	uint32_t count, cap;
	struct profile_sum sum;   /* of everything ever added */
	struct trie pairs;        /* (stack, SLICES_WHO); id 0 is no pair */
	struct profile_sum *sums; /* of everything ever added, by pair; 0 if vacant */
	uint32_t sums_cap;
	struct slices_anchor anchors[SLICES_ANCHORS + 1];
	uint32_t evicted_to;     /* end of the evicted range; valid with its anchor */
	struct slices_run *runs; /* empty: always sampled */
	uint32_t run_count, run_cap;
	size_t bytes; /* of entries and pulses */
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
/* Seconds before step_before are added to 10 s steps, those before drop_before to the total only. */
void slices_add(struct slices *s, const struct slices_sample *sample, uint32_t step_before,
	uint32_t drop_before);
/* Adds weight to a part of a second (profile_add_pulse); ignored for seconds without samples. */
void slices_pulse(struct slices *s, uint32_t second, unsigned part, float weight);
/* Sorts the entries of recent slices that begin before this second, and joins those of one pair. */
void slices_pack(struct slices *s, uint32_t before);
/* Merges slices that begin before this second, a multiple of SLICES_STEP, into 10 s steps. */
void slices_merge(struct slices *s, uint32_t before);
/* Frees the slices that begin before this second; the total keeps their sums. */
void slices_drop(struct slices *s, uint32_t before);
/*
 * Anchors these seconds (0: none) and no others. A new one must not be before the oldest slice.
 * O(pairs + entries since then).
 */
void slices_anchor(struct slices *s, const uint32_t seconds[SLICES_ANCHORS]);
/* The anchor at this second. NULL: none. */
const struct slices_anchor *slices_anchored(const struct slices *s, uint32_t second);
/*
 * Evicts the slices in [from, to), or extends the evicted range to `to` if there is one. from = to
 * evicts nothing, but anchors `from`.
 */
void slices_evict(struct slices *s, uint32_t from, uint32_t to);
/* Ends the evicted range: its sums remain in the total only. All slices before its end must have been dropped. */
void slices_evict_end(struct slices *s);
/*
 * Where totals for a query of everything before this second come from: the anchor of the evicted
 * range, or NULL: the total.
 */
const struct slices_anchor *slices_base(const struct slices *s, uint32_t second);
/* Index of the first slice that is not in that base. */
uint32_t slices_base_end(const struct slices *s, const struct slices_anchor *base);
/* Begins (on) or ends a run of seconds in which the event is sampled. Idempotent. */
void slices_run(struct slices *s, uint32_t second, bool on);
/* Interns a pair; who: SLICES_WHO. */
uint32_t slices_pair(struct slices *s, uint32_t stack, uint32_t who);
/* Moves all sums of a pair to another one. The pair must be in no slice. */
void slices_move(struct slices *s, uint32_t from, uint32_t to);
/* Frees the pairs without a bit in keep, which must be in no slice and without sums. */
void slices_sweep(struct slices *s, const uint64_t *keep);
/* Index of the first slice that begins at or after this second; s->count if none. O(log n). */
uint32_t slices_find(const struct slices *s, uint32_t second);
/* Memory beside entries and pulses. */
size_t slices_fixed_bytes(const struct slices *s);

#endif
