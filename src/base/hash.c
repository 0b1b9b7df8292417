/* SPDX-License-Identifier: Apache-2.0 */
/* Linear probing over slots of (hash, value + 1); doubles when two thirds full. */
#include "base/hash.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

struct hash_slot {
	uint64_t hash;
	uint32_t value_plus_1; /* 0: free */
};

uint64_t hash_bytes(const void *bytes, size_t len, uint64_t seed)
{
	const unsigned char *p = bytes;
	uint64_t h = hash_u64(seed ^ len);
	uint64_t word;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&word, p, 8);
		h = hash_pair(h, word);
	}
	if (len) {
		word = 0;
		memcpy(&word, p, len);
		h = hash_pair(h, word);
	}
	return h;
}

void hash_index_done(struct hash_index *ix)
{
	free(ix->slots);
	memset(ix, 0, sizeof(*ix));
}

void hash_index_clear(struct hash_index *ix)
{
	if (ix->slots)
		memset(ix->slots, 0, ((size_t)ix->mask + 1) * sizeof(*ix->slots));
	ix->used = 0;
}

uint32_t hash_index_find(
	const struct hash_index *ix, uint64_t hash, hash_same_fn *same, const void *ctx)
{
	if (!ix->slots)
		return HASH_NONE;
	for (uint32_t i = (uint32_t)hash & ix->mask; ix->slots[i].value_plus_1;
		i = (i + 1) & ix->mask) {
		if (ix->slots[i].hash == hash &&
			(!same || same(ctx, ix->slots[i].value_plus_1 - 1)))
			return ix->slots[i].value_plus_1 - 1;
	}
	return HASH_NONE;
}

static void hash_index_store(struct hash_index *ix, uint64_t hash, uint32_t value_plus_1)
{
	uint32_t i = (uint32_t)hash & ix->mask;

	while (ix->slots[i].value_plus_1)
		i = (i + 1) & ix->mask;
	ix->slots[i] = (struct hash_slot){hash, value_plus_1};
}

void hash_index_add(struct hash_index *ix, uint64_t hash, uint32_t value)
{
	if (!ix->slots || ix->used >= (ix->mask + 1) / 3 * 2) {
		struct hash_slot *old = ix->slots;
		uint32_t count = old ? ix->mask + 1 : 0;

		ix->mask = count ? count * 2 - 1 : 63;
		ix->slots = xcalloc((size_t)ix->mask + 1, sizeof(*ix->slots));
		for (uint32_t i = 0; i < count; i++) {
			if (old[i].value_plus_1)
				hash_index_store(ix, old[i].hash, old[i].value_plus_1);
		}
		free(old);
	}
	hash_index_store(ix, hash, value + 1);
	ix->used++;
}
