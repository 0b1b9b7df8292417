/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of queries: rows, the collapsed view, sums, and their caches. For the folders query and
 * table only.
 *
 *   query.c    rows: one per (stack, thread, state) of the seconds; which of them a query has; answers computed at once; caches
 *   filter.c   which stacks a filter excludes; search
 *   fold.c     the collapsed view: a mapping of sampled stacks to stacks of its own
 *   sums.c     rows summed up the stacks and per method
 *   error.c    independent samples among wall-clock polls; the error of a share (error.h)
 *
 * Invalidation. Each cache in struct scratch keeps the answer to the last query only, under a key;
 * it is rebuilt when the query's key differs. An arrow points from an input to the caches whose key
 * contains it:
 *
 *   input (who changes it)                                     all   chosen   fold   sums   ends   match
 *   ---------------------------------------------------------  ----  -------  -----  -----  -----  -----
 *   readers->fed      +1 per sample, second, rename, anchor     x      x              x      x
 *   readers->swept    +1 per step of a sweep (also +1 fed)      x      x              x      x       x
 *   event, holders, from, to of the query                       x      x              x      x
 *   snapshot->serial  unique, replaces the four above           x      x              x      x
 *   thread, pool, states, without_idle of the query                    x              x      x
 *   filter stamp      hash of all changes of a filter                  x              x      x
 *   fold stamp        hash of hide, frameworks, lines, io                      x
 *   fold->serial      unique per collapsed view built                  x              x      x       x
 *   by_weight of the query                                                            x
 *   text of the match                                                                                x
 *
 *   all -> chosen -> sums -> ends: each is built from the one before. A filter that changes nothing skips `chosen`.
 *   A sweep also frees the fold (scratch_keep), since ids in it may be reused.
 *   Stacks of a view leave this module with a tag and 3 bits of fold->serial (fold_export): an id of a former view reads as the
 *   empty stack, never as another one.
 *   For callers, profile_stamp() is the key of `sums`; filter_generation() counts the changes of a filter.
 */
#ifndef JHOT_PROFILE_QUERY_QUERY_H
#define JHOT_PROFILE_QUERY_QUERY_H

#include "profile/model/model.h"
#include "profile/query/filter.h"

/* Input of every derived table. */
struct query_row {
	uint32_t stack;
	uint32_t thread : 28, state : 4; /* as in a pair's item */
	uint32_t pair;                   /* ascending */
	float events;                    /* of EVENT_WALL: as in struct profile_part; else 0 */
	struct profile_sum sum;
};
struct query_rows {
	struct query_row *list;
	uint32_t count, cap;
	uint64_t key; /* of the query that they answer; 0: none */
};

/* Squares of weights in units of 1/1024. Integers, so that sums do not depend on the order of addition. */
__extension__ typedef unsigned __int128 query_squares;
#define QUERY_SQUARES_UNIT 1024.0

/* Sums per method that occurs, dense: there are far fewer methods than stacks, and these fit the CPU's cache. */
struct method_sum {
	struct profile_sum self, total;
	query_squares self_squares, total_squares;
	uint32_t method;
};
/* Sample counts by type of frame. */
struct method_votes {
	uint64_t self[FRAME_TYPES], total[FRAME_TYPES];
};
struct by_method {
	struct method_sum *sums; /* in order of first occurrence */
	struct method_votes *votes;
	uint32_t *row_of; /* per method: index + 1; 0: does not occur */
	uint32_t count, sums_cap, votes_cap, methods;
	bool known;
};

/* Sum of all rows, and of the squares of their clusters. */
struct sums_whole {
	struct profile_sum sum;
	query_squares squares;
};

struct profile_snapshot {
	struct query_row *rows;
	uint32_t count;
	uint64_t serial;    /* unique in a profile */
	struct scratch *of; /* NULL: the profile was freed */
	struct profile_snapshot *next;
};

/*
 * Caches, and buffers that are empty between queries (reused, as fresh pages cost more than the
 * work). Owned by the profile.
 */
struct scratch {
	struct fold *fold;             /* the last one requested, or NULL */
	uint32_t fold_serial;          /* of the last one created */
	struct tally pairs;            /* a buffer */
	struct tally stacks;           /* total per stack of the last sums; else a buffer */
	struct query_rows all, chosen; /* of the last query: of its seconds, and those that pass */
	struct query_rows ends;        /* see query_ends() */
	uint8_t *idle;                 /* per sampled stack: 0: not known, 1: not idle, 2: idle */
	uint32_t idle_cap, idle_swept; /* swept: readers->swept when `idle` was computed */
	uint64_t serial;               /* of the last snapshot */
	struct profile_snapshot *snapshots;
	/* sums.c */
	uint64_t summed;        /* key of the sums below; 0: none */
	query_squares *squares; /* a buffer, per stack */
	struct sums_whole whole;
	struct by_method by_method;
	uint32_t *touched, touched_count; /* the stacks in `stacks`, ascending */
	uint32_t *ids;                    /* buffer of the last tally_list() */
	uint32_t *node;                   /* buffer: per stack, its node in the table being built */
	uint32_t *slot;                   /* per path: its node + 1; 0 between uses */
	uint64_t *path_sum;               /* per path; 0 between uses */
	uint32_t ids_cap, touched_cap, node_cap, slot_cap, squares_cap, path_sum_cap;
};

/* --- query.c ------------------------------------------------------------------------------------------ */

/* Grows the buffers to the current number of pairs and of the view's stacks. */
void scratch_fit(const struct profile *p, const struct model_stacks *view);

/* True when a sample of this thread and state passes; its stack may still be excluded (query_shown). */
bool query_wants(const struct profile *p, const struct profile_query *q, uint32_t thread,
	enum thread_state state);
static inline bool query_of_holders(const struct profile_query *q)
{
	return q->event == EVENT_LOCK && q->holders;
}
const struct slices *query_slices(const struct profile *p, const struct profile_query *q);
/*
 * The rows of a query, in the view, valid until the next query. Distinct, except where a filter
 * maps several stacks to one. May intern methods and frames: allocate tables of their size
 * afterwards.
 */
const struct query_row *query_collect(
	const struct profile *p, const struct profile_query *q, uint32_t *count);
/* Empties rows, makes space for count of them, and sets their key. Returns the list. */
struct query_row *rows_fit(struct query_rows *rows, uint32_t count, uint64_t key);
/* Equal for queries with equal rows. */
uint64_t query_key(const struct profile *p, const struct profile_query *q);

/* --- fold.c: a struct fold is a collapsed view; NULL means stacks as they were sampled ----------------- */

struct fold *fold_of(const struct profile *p,
	const struct profile_query *q); /* creates it, replacing the last one */
void fold_free(struct fold *f);
size_t fold_bytes(const struct fold *f);
/* The stacks of a view. */
const struct model_stacks *fold_view(const struct profile *p, const struct fold *f);
/* Maps a sampled stack to one of the view, interning it if necessary. */
uint32_t fold_stack(struct fold *f, uint32_t stack);
/* Frames processed since the view was created, as a measure of work. */
uint64_t fold_made(const struct fold *f);
/* True for the method that replaces the inside of native runs (FILTER_RUNS). */
bool fold_is_run(const struct fold *f, uint32_t method);
/* Unique per view; 0 for NULL. */
uint32_t fold_serial(const struct fold *f);
/* Tags an id of the view for use outside of this module; removes the tag, false if the id is not of this view. */
uint32_t fold_export(const struct fold *f, uint32_t stack);
bool fold_import(const struct fold *f, uint32_t exported, uint32_t *stack);

/* --- filter.c ----------------------------------------------------------------------------------------- */

uint64_t filter_stamp(const struct filter *f); /* equal: same effect; 0: no effect */
bool filter_folds(const struct filter *f);     /* true when it needs a collapsed view */
const char *filter_frameworks(const struct filter *f);
/* Maps a sampled stack to the view's stack. PROFILE_NONE: excluded by the filter. */
uint32_t query_shown(
	const struct profile *p, const struct profile_query *q, struct fold *fold, uint32_t stack);

/* --- sums.c -------------------------------------------------------------------------------------------- */

/*
 * The stacks of a query's rows and all their callers, ascending; their totals are in
 * scratch->stacks. Valid, as the two below, until another query is summed up. O(rows + stacks).
 */
const uint32_t *query_sum_up(
	const struct profile *p, const struct profile_query *q, uint32_t *count);
const struct by_method *query_by_method(const struct profile *p, const struct profile_query *q);
struct sums_whole query_whole(const struct profile *p, const struct profile_query *q);
/* One row per stack, ascending, summed over threads and states, which are 0. Valid until the next query. */
const struct query_row *query_ends(
	const struct profile *p, const struct profile_query *q, uint32_t *count);
/*
 * For other uses of scratch->stacks: empties it; adds touched stacks to all their callers and
 * returns all of them, ascending.
 */
void sums_drop(struct scratch *s);
const uint32_t *sums_roll_up(struct scratch *s, const struct model_stacks *view, uint32_t *count);
void by_method_done(struct by_method *m);

/* --- error.c ------------------------------------------------------------------------------------------- */

/* Sets `events` of wall-clock rows from the slices [from, to); rows may also have older samples. */
void query_wait_events(const struct slices *s, uint32_t from, uint32_t to, struct query_rows *rows);

/* --- values ------------------------------------------------------------------------------------------- */

/* Number of samples to display. each: profile_sample_weight(). */
static inline uint64_t query_samples(uint64_t count, uint64_t weight, uint64_t each)
{
	return each ? (weight + each / 2) / each : count;
}

static inline uint64_t query_value(const struct profile_query *q, const struct profile_sum *a)
{
	return q->by_weight ? a->weight : a->count;
}

#endif
