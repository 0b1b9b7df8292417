/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call tree being made: what calltree.c (top-down) and calltree_inverted.c share.
 *
 * Each adds nodes, parents first, and their totals; calltree_link then orders the children.
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
	uint64_t *votes; /* per node: the lead of its type over all others */
	uint32_t nodes_cap, votes_cap;
};

/* A node for a stack's last frame; its totals are 0. */
uint32_t calltree_add(struct calltree_build *b, uint32_t parent, uint32_t stack);
/* Count a sum, of samples with this type of frame, in a node's totals. */
void calltree_count(
	struct calltree_build *b, uint32_t node, const struct profile_sum *sum, uint8_t type);
/* The node under which a group of rows goes: "all", or a thread's. */
uint32_t calltree_base(struct calltree_build *b, uint32_t thread);

/* rows stand by thread if the tree has threads. */
void calltree_build_inverted(
	struct calltree_build *b, const struct query_row *rows, uint32_t count);

/* What makes two frames of one place the same node: dense numbers below calltree_keys. */
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
