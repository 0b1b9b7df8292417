/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of struct profile, for the files of this folder only.
 *
 * Beside the trie of stacks (of frames) there is a trie of paths (of methods): frames of one method in one
 * place, whatever line and however run, are one path. Derived tables sum over the first, which is exact
 * about types, and report by the second.
 */
#ifndef JHOT_PROFILE_MODEL_H
#define JHOT_PROFILE_MODEL_H

#include "base/hash.h"
#include "base/intern.h"
#include "profile/profile.h"
#include "profile/slices.h"
#include "profile/tally.h"
#include "profile/trie.h"

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
};

struct model_frames {
	struct hash_index index;
	struct profile_frame *list;
	uint32_t count, cap;
};

struct model_pair {
	uint32_t stack, thread;
};
struct model_pairs {
	struct hash_index index;
	struct model_pair *list;
	uint32_t count, cap;
};

struct model_gap {
	uint32_t from, to;
};

/* Buffers that queries use and leave empty; kept because fresh pages cost more than the work. */
struct model_scratch {
	struct tally pairs, stacks;
	uint32_t *ids;  /* of the last tally_list */
	uint32_t *node; /* per stack: its node in the table being made */
	uint32_t *slot; /* per path: its node + 1, 0 between uses */
	uint32_t ids_cap, node_cap, slot_cap;
};

struct profile {
	struct model_methods methods;
	struct model_frames frames;
	struct trie stacks, paths;
	uint32_t *stack_path; /* per stack: its path */
	bool *path_repeats;   /* per path: its method stands above too */
	uint32_t stack_path_cap, path_repeats_cap;
	struct model_pairs pairs;
	struct profile_thread *threads;
	uint32_t thread_count, thread_cap;
	struct slices events[PROFILE_EVENTS];
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

/* query.c: what every derived table starts from. */
struct model_row {
	uint32_t stack, thread;
	struct amount sum;
};
/* The distinct (stack, thread) of a query; the caller frees. Later filters belong here. */
struct model_row *model_collect(
	const struct profile *p, const struct profile_query *q, uint32_t *count);
/* Add the touched stacks' sums to all their callers; the touched stacks ascending. */
const uint32_t *model_roll_up(const struct profile *p, uint32_t *count);
void model_scratch_fit(const struct profile *p);
void model_scratch_free(struct model_scratch *s);
size_t model_scratch_bytes(const struct model_scratch *s);

static inline uint32_t model_stack_method(const struct profile *p, uint32_t stack)
{
	return p->paths.nodes[p->stack_path[stack]].frame;
}

static inline uint64_t model_value(const struct profile_query *q, const struct amount *a)
{
	return q->by_weight ? a->weight : a->count;
}

#endif
