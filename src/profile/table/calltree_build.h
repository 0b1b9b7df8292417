/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of a call tree under construction, shared by calltree.c (top-down) and calltree_inverted.c.
 * Both add nodes, parents first, and their totals; calltree.c then sorts and links the children.
 */
#ifndef JHOT_PROFILE_TABLE_CALLTREE_BUILD_H
#define JHOT_PROFILE_TABLE_CALLTREE_BUILD_H

#include "profile/query/query.h"
#include "profile/table/calltree.h"

struct calltree_build {
	const struct profile *p;
	const struct fold *fold;
	const struct model_stacks *view;
	struct scratch *scratch;
	const struct profile_query *q;
	const struct calltree_options *options;
	struct calltree *tree;
	uint64_t *votes; /* per node: lead of its type in the majority vote */
	uint32_t nodes_cap, votes_cap;
};

/* Adds a node for a stack's leaf, with totals of 0. */
uint32_t calltree_add(struct calltree_build *b, uint32_t parent, uint32_t stack);
/* Adds a sum of samples with this type of frame to a node's totals. */
void calltree_count(
	struct calltree_build *b, uint32_t node, const struct profile_sum *sum, uint8_t type);
/* The parent node for rows of a thread: "all", or a new node for the thread. */
uint32_t calltree_base(struct calltree_build *b, uint32_t thread);

/* Rows are grouped by thread if the tree has threads. */
void calltree_build_inverted(
	struct calltree_build *b, const struct query_row *rows, uint32_t count);

/* Frames in one place with equal keys share a node. Keys are below calltree_keys(). */
static inline uint32_t calltree_key(const struct calltree_build *b, uint32_t method, uint8_t type)
{
	uint32_t key = b->p->methods->list[method].full;

	return b->options->by_type ? key * FRAME_TYPES + type : key;
}

static inline uint32_t calltree_keys(const struct calltree_build *b)
{
	return b->p->methods->strings.count * (b->options->by_type ? FRAME_TYPES : 1);
}

#endif
