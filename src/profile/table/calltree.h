/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call tree of a query, top-down or inverted (callers of leaves), one node per distinct path.
 *
 * Frames with equal display names in one place (overloads, lines, types) are one node; node.type is
 * that of most samples. Node 0 is "all". Parents come before their children. Children are sorted by
 * total, largest first, then the program's own methods, then by method id. With `threads` the first
 * level is the thread. A node's path hash is stable between refreshes; views identify expanded
 * nodes by it.
 *
 *   self  = samples that end at the node (inverted: that begin there)
 *   total = self + the totals of all children + what min_share omitted
 *
 * The caller frees the tree. It stays valid while the profile grows; its ids as in profile.h.
 * O(stacks + rows); with threads or inverted O(depth * rows) at worst.
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
	/* Any stack that ends here (inverted: continues here); PROFILE_NONE for "all" and threads. */
	uint32_t stack;
	uint64_t self, total, self_count, total_count;
	uint64_t path; /* hash of the names from the root */
	/* Omitted paths that match `find`, counted at their last ancestor in the tree. */
	uint32_t hidden_hits;
};

struct calltree {
	struct calltree_node *nodes;
	uint32_t count;
	double samples; /* equivalent number of samples, see error.h */
};

struct match;
struct calltree_options {
	bool inverted;
	bool threads; /* first level: the thread */
	bool by_type; /* a method that is inlined in some samples and compiled in others is two nodes */
	/* PROFILE_NONE, or only stacks with this method, cut above its outermost occurrence (inverted: below it, which shows its
	 * callers). */
	uint32_t root_method;
	/* Nodes with less than this share of all (0.001 = 0.1 %) are omitted with their subtree. 0: complete, which is large for a
	 * long history, and many times larger if inverted. */
	double min_share;
	/* For hidden_hits, or NULL. Only top-down with a min_share, without root_method and by_type. */
	struct match *find;
};

struct calltree *calltree_new(const struct profile *p, const struct profile_query *q,
	const struct calltree_options *options);
void calltree_free(struct calltree *t);
/* The next node in depth-first order, starting from 0. PROFILE_NONE after the last. */
uint32_t calltree_next(const struct calltree *t, uint32_t at);
/* The node of a path, PROFILE_NONE if there is none. O(n). */
uint32_t calltree_find(const struct calltree *t, uint64_t path);
/* True for an own method of the program (profile_method_own). */
bool calltree_own(const struct profile *p, const struct calltree_node *node);

#endif
