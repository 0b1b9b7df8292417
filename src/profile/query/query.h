/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of queries: which rows answer one, in which view, and their sums. For the folders query and table.
 *
 * A question goes through these files:
 *
 *   collect.c   its rows: what there is of each (stack, thread, state) in its seconds, as far as it is asked for
 *   filter.c    which stacks it leaves out (terms are match.c's), and which folded view it is asked in
 *   fold.c      that view
 *   rests.c     of rows of the wall clock: how many rests its polls have found
 *   sums.c      its rows added up: for each stack with all that it has called, for each method; error.c: how sure
 *   query.c     what is answered from rows and sums at once; what needs a table is made of them in table/
 *   scratch.c   what is kept of a question for the next one
 *
 * A folded view is a mapping of sampled stacks to stacks of its own, with frames hidden or by line (filter.h). The last
 * one that was asked for is kept; another one takes its place, and its memory. Its stacks' numbers are marked before
 * they leave this module: what was given out by one that is gone is the empty stack, never another one.
 */
#ifndef JHOT_PROFILE_QUERY_QUERY_H
#define JHOT_PROFILE_QUERY_QUERY_H

#include "profile/model/model.h"
#include "profile/query/filter.h"

/* What every derived table starts from. */
struct query_row {
	uint32_t stack;
	uint32_t thread : 28, state : 4; /* as in a pair's item */
	uint32_t pair;                   /* rows are in the order of their pairs */
	float events;                    /* of EVENT_WALL: as in struct profile_part; else 0 */
	struct profile_sum sum;
};
struct query_rows {
	struct query_row *list;
	uint32_t count, cap;
	uint64_t key; /* of the question that they answer; 0: none */
};

/* Squares of weights in 1/1024: as integers, so that their sums do not depend on an order. */
__extension__ typedef unsigned __int128 query_squares;
#define QUERY_SQUARES_UNIT 1024.0

/* Per method that was met, dense: a long history has far more stacks than methods, and these stay in the cache. */
struct method_sum {
	struct profile_sum self, total;
	query_squares self_squares, total_squares;
	uint32_t method;
};
/* Samples by how the method ran. */
struct method_votes {
	uint64_t self[FRAME_TYPES], total[FRAME_TYPES];
};
struct by_method {
	struct method_sum *sums; /* in the order in which they were met; some may be empty again */
	struct method_votes *votes;
	uint32_t *row_of; /* per method: its sum + 1; 0: it was not met */
	uint32_t count, sums_cap, votes_cap, methods;
	bool known;
};

/* All rows, and the squares of their clusters. */
struct sums_whole {
	struct profile_sum sum;
	query_squares squares;
};

struct profile_snapshot {
	struct query_row *rows;
	uint32_t count;
	uint64_t serial;    /* no two of a profile have the same */
	struct scratch *of; /* NULL: the profile is gone */
	struct profile_snapshot *next;
};

/* Buffers that questions leave empty (fresh pages cost more than the work), and what was asked last. */
struct scratch {
	struct fold *fold;             /* the last that was asked for, or NULL */
	uint32_t fold_serial;          /* of the last one */
	struct tally pairs, stacks;    /* stacks: what was rolled up last, if anything */
	struct query_rows all, chosen; /* of the last question: of its seconds, and what passes */
	struct query_rows ends;        /* likewise, see query_ends */
	uint64_t serial;               /* of the last snapshot */
	struct profile_snapshot *snapshots;
	/* sums.c: of the question that was summed up last. summed.key 0: of none, and they are empty. */
	struct query_rows summed; /* its rows */
	uint64_t summed_kind;
	query_squares *squares; /* of clusters: below stacks, while per method */
	struct sums_whole whole;
	struct by_method by_method;
	bool relist;                      /* while changing: other stacks are touched than before */
	uint32_t *touched, touched_count; /* what it touched */
	uint32_t *ids;                    /* of the last tally_list */
	uint32_t *node;                   /* per stack: its node in the table being made */
	uint32_t *slot;                   /* per path: its node + 1, 0 between uses */
	uint64_t *path_sum;               /* per path, likewise */
	uint32_t ids_cap, touched_cap, node_cap, slot_cap, squares_cap, path_sum_cap;
};

/* scratch.c */
void scratch_fit(const struct profile *p, const struct model_stacks *view);

/* fold.c; a struct fold is a folded view, NULL where stacks are shown as they were sampled. */
struct fold *fold_of(const struct profile *p, const struct profile_query *q);
void fold_free(struct fold *f);
size_t fold_bytes(const struct fold *f);
/* The stacks among which a fold shows them. */
const struct model_stacks *fold_view(const struct profile *p, const struct fold *f);
/* The number, in the view, of what is shown for a sampled stack; made if it is not there yet. */
uint32_t fold_stack(struct fold *f, uint32_t stack);
/* Frames that were made since it was: the work that went into it. */
uint64_t fold_made(const struct fold *f);
/* Is it what is shown for the inside of a run of native frames (FILTER_RUNS)? */
bool fold_is_run(const struct fold *f, uint32_t method);
/* 0 of none; another one for each. */
uint32_t fold_serial(const struct fold *f);
/* A number of the view as it leaves this module; and back: false if it is none of this fold. */
uint32_t fold_mark(const struct fold *f, uint32_t stack);
bool fold_unmark(const struct fold *f, uint32_t marked, uint32_t *stack);

/* filter.c */
uint64_t filter_stamp(const struct filter *f); /* equal ones let the same through */
bool filter_folds(const struct filter *f);     /* is another stack shown for some? */
const char *filter_frameworks(const struct filter *f);
/* The stack (in the view) that a query shows for a sampled one; PROFILE_NONE: its filter leaves it out. */
uint32_t query_shown(
	const struct profile *p, const struct profile_query *q, struct fold *fold, uint32_t stack);

/* collect.c. Does a query want the samples of this thread in this state? Those of its seconds all? */
bool query_wants(const struct profile *p, const struct profile_query *q, uint32_t thread,
	enum thread_state state);
bool query_wants_all(const struct profile_query *q);
static inline bool query_of_holders(const struct profile_query *q)
{
	return q->event == EVENT_LOCK && q->holders;
}
const struct slices *query_slices(const struct profile *p, const struct profile_query *q);
/*
 * The (stack, thread, state) of a query, in the view; kept until the next question. They are distinct but where a
 * filter shows several stacks as one. Folding may intern: what is as long as the tables are is made after this.
 */
const struct query_row *query_collect(
	const struct profile *p, const struct profile_query *q, uint32_t *count);
/* Space for so many; what is put there is of this key. */
struct query_row *rows_fit(struct query_rows *rows, uint32_t count, uint64_t key);
/* rests.c. Sets `events` of rows, which are of the slices [from, to) and maybe of older seconds. */
void query_rests(const struct slices *s, uint32_t from, uint32_t to, struct query_rows *rows);
/* Equal for questions that have the same rows. */
uint64_t query_key(const struct profile *p, const struct profile_query *q);

/*
 * sums.c. The stacks on which a query's samples end and all their callers, ascending, with what is below each in
 * scratch->stacks; the sums per method. They stay for the next question that is the same, until others are summed up.
 */
const uint32_t *query_sum_up(
	const struct profile *p, const struct profile_query *q, uint32_t *count);
const struct by_method *query_by_method(const struct profile *p, const struct profile_query *q);
struct sums_whole query_whole(const struct profile *p, const struct profile_query *q);
/* The rows of a query, joined where threads and states (which are 0) alone are other; by stack, ascending. */
const struct query_row *query_ends(
	const struct profile *p, const struct profile_query *q, uint32_t *count);
/* Empty scratch->stacks, for another use: add the touched stacks' sums to all their callers; these, ascending. */
void sums_drop(struct scratch *s);
const uint32_t *sums_roll_up(struct scratch *s, const struct model_stacks *view, uint32_t *count);
void by_method_done(struct by_method *m);

/* A number of samples as it is shown: each: profile_sample_weight. */
static inline uint64_t query_samples(uint64_t count, uint64_t weight, uint64_t each)
{
	return each ? (weight + each / 2) / each : count;
}

static inline uint64_t query_value(const struct profile_query *q, const struct profile_sum *a)
{
	return q->by_weight ? a->weight : a->count;
}

#endif
