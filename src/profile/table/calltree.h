/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call tree of a window, top-down or inverted (callers of leaves), one node per distinct path.
 *
 * Derived from a query; the caller frees it. Frames of methods that look alike in lists (overloads) in one place are one
 * node whatever their bci or how they ran; node.type is that of most samples. Node 0 is "all". Parents come before their
 * children. Children of a node are sorted by total, largest first, of equal ones the program's own first, then by method id. With threads set the
 * first level is the thread. A path's hash is stable between refreshes: views keep what is expanded by it.
 *
 * self is what ends at a node (in an inverted tree: what begins there). total = self + the children's totals
 * + what min_share left out below.
 */
#ifndef JHOT_PROFILE_TABLE_CALLTREE_H
#define JHOT_PROFILE_TABLE_CALLTREE_H

#include "profile/profile.h"

struct calltree_node {
	uint32_t method;                            /* PROFILE_NONE: "all" or a thread */
	uint32_t thread;                            /* PROFILE_NONE unless a thread level */
	uint32_t parent, first_child, next_sibling; /* PROFILE_NONE = none */
	uint32_t child_count;
	uint16_t depth;
	uint8_t type;
	uint32_t
		stack; /* one that ends (inverted: goes on) here; PROFILE_NONE for "all" and threads */
	uint64_t self, total, self_count, total_count;
	uint64_t path;        /* hash of the names from the root */
	uint32_t hidden_hits; /* nearest below it: matches of find that min_share left out */
};

struct calltree {
	struct calltree_node *nodes;
	uint32_t count;
	double samples; /* as sure as so many equal ones, see error.h */
};

struct match;
struct calltree_options {
	bool inverted;
	bool threads; /* first level: the thread */
	bool by_type; /* a method inlined here and compiled there is two nodes */
	/* PROFILE_NONE, or only stacks through it. Cut above its outermost occurrence (inverted: below it, so
	 * the tree shows who called it). */
	uint32_t root_method;
	/* What has less than this share of all (0.001 = 0.1 %) is left out, with what is below it. 0 =
	 * everything, which for a long history is much, and inverted many times as much. */
	double min_share;
	struct match *
		find; /* for hidden_hits; only top-down with a min_share, without root and by_type. NULL: none are counted */
};

struct calltree *calltree_new(const struct profile *p, const struct profile_query *q,
	const struct calltree_options *options);
void calltree_free(struct calltree *t);
/* The node after this one in the order of a printed tree, from 0 (all) on; PROFILE_NONE behind the last. */
uint32_t calltree_next(const struct calltree *t, uint32_t at);
/* Is it a method of the program's own? */
bool calltree_own(const struct profile *p, const struct calltree_node *node);

#endif
