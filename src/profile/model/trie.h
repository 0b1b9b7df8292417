/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers for pairs of numbers: what stands below a parent is stored once, and gets the next number when it is new.
 *
 * Where parents are nodes of the same trie it holds paths, of which node 0 is the empty one: stacks (items are frames)
 * and paths (items are names), in which parents have smaller numbers than their children. 8 bytes a node and about 6 of
 * index. One thread.
 */
#ifndef JHOT_PROFILE_MODEL_TRIE_H
#define JHOT_PROFILE_MODEL_TRIE_H

#include "base/vacant.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trie_node {
	uint32_t parent, item;
};

struct trie {
	struct trie_node *nodes;
	uint32_t count, cap;
	uint32_t *slots; /* open addressing; node number, 0 = free */
	uint32_t mask;
	struct vacant vacant; /* such a node is a child of node 0 that nothing refers to */
};

/* like: NULL, or one that it will be as large as: growing step by step stops now and then for long. */
void trie_init(struct trie *t, const struct trie *like);
void trie_done(struct trie *t);
/* The node of this parent and item; new ones get no number below `least`. *created tells whether it is new. */
uint32_t trie_put(struct trie *t, uint32_t parent, uint32_t item, uint32_t least, bool *created);
/* The same for a parent of this trie. */
uint32_t trie_child(struct trie *t, uint32_t parent, uint32_t item, bool *created);
/* Forget the nodes without a bit in keep, which has the parents of all that it has. */
void trie_sweep(struct trie *t, const uint64_t *keep);
size_t trie_bytes(const struct trie *t);

#endif
