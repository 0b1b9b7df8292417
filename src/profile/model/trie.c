/* SPDX-License-Identifier: Apache-2.0 */
/* The trie's nodes and the hash slots that find a child. */
#include "profile/model/trie.h"

#include "base/buf.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

void trie_init(struct trie *t)
{
	memset(t, 0, sizeof(*t));
	t->cap = 256;
	t->nodes = xreallocarray(NULL, t->cap, sizeof(*t->nodes));
	t->nodes[0] = (struct profile_stack){PROFILE_NONE, PROFILE_NONE, 0};
	t->count = 1;
	t->mask = 511;
	t->slots = xcalloc((size_t)t->mask + 1, sizeof(*t->slots));
}

void trie_done(struct trie *t)
{
	free(t->nodes);
	free(t->slots);
	vacant_done(&t->vacant);
	memset(t, 0, sizeof(*t));
}

void trie_reserve(struct trie *t, const struct trie *like)
{
	t->cap = like->cap;
	t->nodes = xreallocarray(t->nodes, t->cap, sizeof(*t->nodes));
	t->mask = like->mask;
	free(t->slots);
	t->slots = xcalloc((size_t)t->mask + 1, sizeof(*t->slots));
}

static uint32_t trie_slot(const struct trie *t, uint32_t parent, uint32_t item)
{
	uint32_t i = (uint32_t)hash_u64((uint64_t)parent << 32 | item) & t->mask;
	const struct profile_stack *n;

	for (; t->slots[i]; i = (i + 1) & t->mask) {
		n = &t->nodes[t->slots[i]];
		if (n->parent == parent && n->frame == item)
			break;
	}
	return i;
}

static void trie_grow_nodes(struct trie *t)
{
	t->cap += t->cap / 2;
	t->nodes = xreallocarray(t->nodes, t->cap, sizeof(*t->nodes));
}

/* Into empty slots. */
static void trie_fill_slots(struct trie *t)
{
	for (uint32_t i = 1; i < t->count; i++)
		if (t->nodes[i].depth)
			t->slots[trie_slot(t, t->nodes[i].parent, t->nodes[i].frame)] = i;
}

static void trie_grow_slots(struct trie *t)
{
	free(t->slots);
	t->mask = t->mask * 2 + 1;
	t->slots = xcalloc((size_t)t->mask + 1, sizeof(*t->slots));
	trie_fill_slots(t);
}

void trie_sweep(struct trie *t, const uint64_t *keep)
{
	vacant_set(&t->vacant, keep, t->count);
	for (uint32_t i = 1; i < t->count; i++)
		if (vacant_has(&t->vacant, i))
			t->nodes[i] = (struct profile_stack){PROFILE_ROOT_STACK, PROFILE_NONE, 0};
	memset(t->slots, 0, ((size_t)t->mask + 1) * sizeof(*t->slots));
	trie_fill_slots(t);
}

uint32_t trie_child(struct trie *t, uint32_t parent, uint32_t item, bool *created)
{
	uint32_t slot = trie_slot(t, parent, item);
	uint32_t id = t->slots[slot];

	*created = !id;
	if (id)
		return id;
	id = vacant_take(&t->vacant, parent + 1);
	if (id == VACANT_NONE) {
		if (t->count == t->cap)
			trie_grow_nodes(t);
		if (t->count > t->mask / 4 * 3) {
			trie_grow_slots(t);
			slot = trie_slot(t, parent, item);
		}
		id = t->count++;
	}
	t->nodes[id] = (struct profile_stack){parent, item, t->nodes[parent].depth + 1};
	t->slots[slot] = id;
	return id;
}

size_t trie_bytes(const struct trie *t)
{
	return (size_t)t->cap * sizeof(*t->nodes) + ((size_t)t->mask + 1) * sizeof(*t->slots);
}
