/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths stored once: a node is its parent and one item more, and gets the next number when it is new.
 *
 * So parents always have smaller numbers than their children. Node 0 is the empty path. Serves stacks
 * (items are frames) and paths (items are methods); 12 bytes a node and about 6 of index.
 */
#ifndef JHOT_PROFILE_MODEL_TRIE_H
#define JHOT_PROFILE_MODEL_TRIE_H

#include "base/vacant.h"
#include "profile/profile.h"

struct trie {
	struct profile_stack *nodes; /* .frame is the item, whatever it is */
	uint32_t count, cap;
	uint32_t *slots; /* open addressing; node number, 0 = free */
	uint32_t mask;
	struct vacant
		vacant; /* such a node is at depth 0, a child of the root that no samples have */
};

void trie_init(struct trie *t);
void trie_done(struct trie *t);
/* Room for as many as another one has: growing step by step stops now and then for long. For an empty trie. */
void trie_reserve(struct trie *t, const struct trie *like);
/* The child of a node by this item; *created tells whether it is new. */
uint32_t trie_child(struct trie *t, uint32_t parent, uint32_t item, bool *created);
/* Forget the nodes without a bit in keep, which has the parents of all that it has. */
void trie_sweep(struct trie *t, const uint64_t *keep);
size_t trie_bytes(const struct trie *t);

#endif
