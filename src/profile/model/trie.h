/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interns pairs (parent, item): each distinct pair is a node with a dense id. O(1); 8 bytes a node
 * and about 6 of index.
 *
 * Where parents are nodes of the same trie it stores paths, and node 0 is the empty path: stacks
 * (items are frames) and paths (items are display names). There parents have smaller ids than their
 * children. Ids are stable until trie_sweep(). Not thread-safe.
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
	uint32_t *slots; /* hash table with open addressing: id, 0 = free */
	uint32_t mask;
	struct vacant vacant; /* free ids; their nodes are copies of node 0 */
};

/* like: NULL, or a trie of the expected size, to avoid pauses while growing. */
void trie_init(struct trie *t, const struct trie *like);
void trie_done(struct trie *t);
/* The node of parent and item, created with an id >= least if there is none (*created). */
uint32_t trie_intern(struct trie *t, uint32_t parent, uint32_t item, uint32_t least, bool *created);
/* The same for a parent in this trie. */
uint32_t trie_child(struct trie *t, uint32_t parent, uint32_t item, bool *created);
/* Frees the nodes without a bit in keep, which must include all parents of its nodes. */
void trie_sweep(struct trie *t, const uint64_t *keep);
size_t trie_bytes(const struct trie *t);

#endif
