/* SPDX-License-Identifier: Apache-2.0 */
/* The trie's nodes and the hash slots that find them. */
#include "profile/model/trie.h"

#include "base/hash.h"
#include "profile/model/fit.h"

#define TRIE_NODES 256u

void trie_init(struct trie *t, const struct trie *like)
{
	*t = (struct trie){.cap = like ? like->cap : TRIE_NODES,
		.count = 1,
		.mask = like ? like->mask : 2 * TRIE_NODES - 1};
	t->nodes = xreallocarray(NULL, t->cap, sizeof(*t->nodes));
	t->nodes[0] = (struct trie_node){0, UINT32_MAX};
	t->slots = xcalloc((size_t)t->mask + 1, sizeof(*t->slots));
}

void trie_done(struct trie *t)
{
	free(t->nodes);
	free(t->slots);
	vacant_done(&t->vacant);
	*t = (struct trie){0};
}

static uint32_t trie_slot(const struct trie *t, uint32_t parent, uint32_t item)
{
	uint32_t i = (uint32_t)hash_u64((uint64_t)parent << 32 | item) & t->mask;

	for (; t->slots[i]; i = (i + 1) & t->mask)
		if (t->nodes[t->slots[i]].parent == parent && t->nodes[t->slots[i]].item == item)
			break;
	return i;
}

/* Inserts all nodes into empty slots. */
static void trie_fill_slots(struct trie *t)
{
	for (uint32_t i = 1; i < t->count; i++)
		if (!vacant_has(&t->vacant, i))
			t->slots[trie_slot(t, t->nodes[i].parent, t->nodes[i].item)] = i;
}

void trie_sweep(struct trie *t, const uint64_t *keep)
{
	vacant_set(&t->vacant, keep, t->count);
	for (uint32_t i = 1; i < t->count; i++)
		if (vacant_has(&t->vacant, i))
			t->nodes[i] = t->nodes[0];
	memset(t->slots, 0, ((size_t)t->mask + 1) * sizeof(*t->slots));
	trie_fill_slots(t);
}

uint32_t trie_intern(struct trie *t, uint32_t parent, uint32_t item, uint32_t least, bool *created)
{
	uint32_t slot = trie_slot(t, parent, item), id = t->slots[slot];

	*created = !id;
	if (id)
		return id;
	id = vacant_allocate(&t->vacant, least);
	if (id == VACANT_NONE) {
		t->nodes = fit(t->nodes, &t->cap, t->count + 1, sizeof(*t->nodes));
		if (t->count > t->mask / 4 * 3) {
			free(t->slots);
			t->mask = t->mask * 2 + 1;
			t->slots = xcalloc((size_t)t->mask + 1, sizeof(*t->slots));
			trie_fill_slots(t);
			slot = trie_slot(t, parent, item);
		}
		id = t->count++;
	}
	t->nodes[id] = (struct trie_node){parent, item};
	t->slots[slot] = id;
	return id;
}

uint32_t trie_child(struct trie *t, uint32_t parent, uint32_t item, bool *created)
{
	return trie_intern(t, parent, item, parent + 1, created);
}

size_t trie_bytes(const struct trie *t)
{
	return (size_t)t->cap * sizeof(*t->nodes) + ((size_t)t->mask + 1) * sizeof(*t->slots);
}
