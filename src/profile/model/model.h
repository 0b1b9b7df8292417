/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of struct profile, for the files of this folder only.
 *
 * Beside the trie of stacks (of frames) there is a trie of paths (of names): frames of methods that lists
 * show alike in one place, whatever line and however run, are one path. Derived tables sum over the first, which is exact
 * about types, and report by the second.
 */
#ifndef JHOT_PROFILE_MODEL_MODEL_H
#define JHOT_PROFILE_MODEL_MODEL_H

#include "base/hash.h"
#include "base/intern.h"
#include "profile/model/slices.h"
#include "profile/model/tally.h"
#include "profile/model/trie.h"
#include "profile/profile.h"

struct model_method {
	struct profile_method pub;
	uint32_t ids[4];          /* of its strings: class, name, signature, module */
	uint32_t full;            /* of pub.full: the same for overloads */
	uint64_t hash_full, hash; /* of pub.full; of that and the signature */
};

struct model_methods {
	struct intern strings;
	struct hash_index index;
	struct model_method *list;
	uint32_t count, cap;
	struct vacant vacant;
};

struct model_frames {
	struct hash_index index;
	struct profile_frame *list;
	uint32_t count, cap;
	struct vacant vacant;
};

/* What a roll-up asks of every stack it touches, in eight bytes. */
struct model_stack {
	uint32_t path;
	uint32_t bits; /* method << 5 | type << 1 | the method stands further up too */
};
_Static_assert(FRAME_TYPES <= 16, "a type has four bits");

#define MODEL_METHODS_MAX (1u << 27)

/* A user event as it was set; pub.name is NULL before. */
struct model_event {
	struct profile_event pub;
	char name[64], unit[16];
};

struct model_threads {
	struct profile_thread *list;
	uint32_t count, cap;
	struct vacant vacant;
	uint32_t serial;
	uint32_t ended;      /* stands for those that left; 0: none did */
	struct intern pools; /* number 0 is no pool */
};

/* Waits as they came, in a ring; each knows the one before of its thread. */
struct model_wait {
	struct profile_wait pub;
	uint64_t before; /* number + 1, 0 = none */
};

struct model_waits {
	struct model_wait *ring;
	uint32_t cap;
	uint64_t count; /* ever set: the number of the next */
	uint64_t *last; /* per thread: number + 1, 0 = none */
	uint32_t last_cap;
};

/* The stack that was asked about last, from the root on, and how often each method stands on it. */
struct model_chain {
	uint32_t *stacks, *on;
	uint32_t depth, stacks_cap, on_cap;
};

struct form;

struct model_gap {
	uint32_t from, to;
};

/* query.c and collect.c: what every derived table starts from. */
struct model_row {
	uint32_t stack;
	uint32_t thread : 28, state : 4; /* as in a pair's who */
	uint32_t pair;                   /* rows are in the order of their pairs */
	struct amount sum;
};
struct model_rows {
	struct model_row *list;
	uint32_t count, cap;
	uint64_t key; /* of the question that they answer; 0: none */
};

/* Squares of weights in 1/1024: as integers, so that their sums do not depend on an order. */
__extension__ typedef unsigned __int128 model_squares;
#define MODEL_SQUARES_UNIT 1024.0
#define MODEL_SQUARES_MOST 0x1p112 /* of one row */
static inline model_squares model_squares_of(double squares)
{
	squares *= MODEL_SQUARES_UNIT;
	return (model_squares)(squares < MODEL_SQUARES_MOST ? squares : MODEL_SQUARES_MOST);
}

/* Per method that was met, dense: a long history has far more stacks than methods, and these stay in the cache. */
struct model_method_sum {
	struct amount self, total;
	model_squares self_squares, total_squares;
	uint32_t method;
};
/* Samples by how the method ran. */
struct model_votes {
	uint64_t self[FRAME_TYPES], total[FRAME_TYPES];
};
struct model_by_method {
	struct model_method_sum
		*sums; /* in the order in which they were met; some may have nothing any more */
	struct model_votes *votes;
	uint32_t *row_of; /* per method: its sum + 1; 0: it was not met */
	uint32_t count, cap, methods;
	bool known;
};

struct profile_snapshot {
	struct model_row *rows;
	uint32_t count;
	uint64_t serial;          /* no two of a profile have the same */
	struct model_scratch *of; /* NULL: the profile is gone */
	struct profile_snapshot *next;
};

/* sweep.c: how far it is. */
struct model_sweep {
	struct {
		profile_keeper_fn *fn;
		void *ctx;
	} keepers[PROFILE_KEEPERS];
	unsigned keeper_count, step;
	uint32_t due;   /* the second of the next step */
	size_t limit;   /* bytes from which on it is worth it; 0: none was made yet */
	uint32_t swept; /* steps that gave numbers free */
	uint64_t *keep; /* a bit per number, while a step is made */
	uint32_t room;  /* numbers that it has bits for */
};

/* What queries may change: buffers that they leave empty (fresh pages cost more than the work), what was asked
 * last, and what readers ask to be kept. */
struct model_scratch {
	struct profile *self;          /* forms intern what they show */
	struct form *form;             /* the last that was asked for, or NULL */
	struct tally pairs, stacks;    /* stacks: what was rolled up last, if anything */
	struct model_rows all, chosen; /* of the last question: of its seconds, and what passes */
	uint64_t fed;                  /* rises whenever the answers may change */
	uint64_t serial;               /* of the last snapshot */
	struct profile_snapshot *snapshots;
	uint32_t form_serial; /* of the last form */
	struct model_sweep sweep;
	/* sums.c: of the question that was summed up last. ends.key 0: of none, and they are empty. */
	struct model_rows ends, summed; /* summed: its rows */
	uint64_t summed_kind;
	double window_ns;
	model_squares *squares,
		*end_squares; /* of clusters: below stacks, while per method; per end */
	model_squares all_squares;
	struct amount all_sum;
	struct model_by_method by_method;
	bool rolled;                      /* up to their callers; else stacks has the ends alone */
	bool relist;                      /* while folding: other stacks are touched than before */
	uint32_t *touched, touched_count; /* what it touched */
	uint32_t *ids;                    /* of the last tally_list */
	uint32_t *node;                   /* per stack: its node in the table being made */
	uint32_t *slot;                   /* per path: its node + 1, 0 between uses */
	uint64_t *path_sum;               /* per path, likewise */
	uint32_t *seen;                   /* per stack: a stamp of the last group it was seen in */
	uint32_t ids_cap, touched_cap, node_cap, slot_cap, seen_cap, squares_cap, path_sum_cap;
	uint32_t stamp; /* larger than any in seen */
	uint32_t hold;  /* readers want the history before this second; PROFILE_NONE: no */
};

/* Behind the events: the CPU time of the process itself, beside which that of the samples stands. */
#define MODEL_PROCESS PROFILE_EVENTS
#define MODEL_SLICES  (PROFILE_EVENTS + 1)

struct profile {
	struct model_methods methods;
	struct model_frames frames;
	struct trie stacks, paths;
	struct model_stack *stack_info; /* per stack, beside the trie's nodes */
	uint32_t stack_info_cap;
	struct model_chain chain;
	struct model_threads threads;
	struct model_waits waits;
	struct model_event user_events[PROFILE_EVENTS - EVENT_USER_FIRST];
	struct slices events[MODEL_SLICES];
	struct profile_intervals intervals[PROFILE_EVENTS];
	struct model_gap *gaps;
	uint32_t gap_count, gap_cap;
	uint32_t now, oldest, merged_before;
	uint64_t start_wall_ns;
	size_t budget;
	struct model_scratch *scratch;
};

/* methods.c */
void model_methods_done(struct model_methods *m);
uint32_t model_methods_put(struct model_methods *m, const char *const text[4]);
size_t model_methods_bytes(const struct model_methods *m);

/* threads.c */
#define MODEL_THREADS_MAX (1u << 20)
void model_threads_init(struct model_threads *t);
void model_threads_done(struct model_threads *t);
size_t model_threads_bytes(const struct model_threads *t);

/* profile.c */
void model_chain_done(struct model_chain *c);
uint64_t model_frame_hash(const struct profile_frame *f);

/* sweep.c: one step of what is to leave, if it is time for one. */
#define MODEL_SWEEP_S \
	30 /* between steps: whatever an answer has is still there when the next one comes */
void model_sweep(struct profile *p);
void model_methods_sweep(struct model_methods *m, const uint64_t *keep);
void model_threads_sweep(struct profile *p, const uint64_t *keep);

/* waits.c */
void model_waits_done(struct model_waits *w);
size_t model_waits_bytes(const struct model_waits *w);

/* Does a query want the samples of this pair? */
bool model_wants(
	const struct profile *p, const struct profile_query *q, const struct slices_pair *pair);
bool model_wants_all(const struct profile_query *q); /* of its seconds */
const struct slices *model_slices(const struct profile *p, const struct profile_query *q);
/* The form in which a query shows stacks; NULL: as they were sampled. */
struct form *model_form(const struct profile *p, const struct profile_query *q);
/* The profile in that form: the stacks of all that is derived from the query are its numbers. */
const struct profile *model_view(const struct profile *p, const struct profile_query *q);
/* The stack (in the view) that a query shows for a sampled one; PROFILE_NONE: its filter leaves it out. */
uint32_t model_shown(
	const struct profile *p, const struct profile_query *q, struct form *form, uint32_t stack);
uint64_t model_filter_stamp(const struct filter *f);
/*
 * The (stack, thread, state) of a query, in the view; kept until the next question. They are distinct but where a
 * filter shows several stacks as one. Forms may intern: what is as long as the tables are is made after this.
 */
const struct model_row *model_collect(
	const struct profile *p, const struct profile_query *q, uint32_t *count);
/* Room for so many; what is put there is of this key. */
struct model_row *model_rows_fit(struct model_rows *rows, uint32_t count, uint64_t key);
/* Equal for questions that have the same rows. */
uint64_t model_key(const struct profile *p, const struct profile_query *q);
/*
 * The stacks of a query and all their callers, ascending; what is below each stands in scratch->stacks. Both stay for
 * the next question that is the same, until others are summed up.
 */
const uint32_t *model_sum_up(
	const struct profile *p, const struct profile_query *q, uint32_t *count);
/* And those on which its samples end, ascending, whatever their threads and states (which are 0). */
const struct model_row *model_ends(
	const struct profile *p, const struct profile_query *q, uint32_t *count);
/* And the sums per method. */
const struct model_by_method *model_sum_by_method(
	const struct profile *p, const struct profile_query *q);
/* by_method.c: room for so many methods; of a view's stack what ends there, and what is there or below it. */
void model_by_method_done(struct model_by_method *m);
void model_by_method_clear(struct model_by_method *m);
void model_by_method_fit(struct model_by_method *m, uint32_t methods);
void model_by_method_add_self(const struct profile *view, uint32_t stack, const struct amount *sum,
	model_squares squares);
void model_by_method_add_total(const struct profile *view, uint32_t stack, const struct amount *sum,
	model_squares squares);
/* Empty scratch->stacks, for another use. */
void model_sums_drop(const struct profile *p);
/* Of a view: add the touched stacks' sums to all their callers; the touched stacks ascending. */
const uint32_t *model_roll_up(const struct profile *p, uint32_t *count);
void model_scratch_fit(const struct profile *view);
/* The first of 2^31 stamps that are not in seen. */
uint32_t model_scratch_stamp(const struct profile *p);
void model_scratch_free(struct model_scratch *s);
size_t model_scratch_bytes(const struct model_scratch *s);

static inline uint32_t model_stack_method(const struct profile *p, uint32_t stack)
{
	return p->stack_info[stack].bits >> 5;
}

static inline uint8_t model_stack_type(const struct profile *p, uint32_t stack)
{
	return p->stack_info[stack].bits >> 1 & 15;
}

static inline bool model_stack_repeats(const struct profile *p, uint32_t stack)
{
	return p->stack_info[stack].bits & 1;
}

/* A number of samples as it is shown: each: profile_sample_weight. */
static inline uint64_t model_samples(uint64_t count, uint64_t weight, uint64_t each)
{
	return each ? (weight + each / 2) / each : count;
}

static inline uint64_t model_value(const struct profile_query *q, const struct amount *a)
{
	return q->by_weight ? a->weight : a->count;
}

#endif
