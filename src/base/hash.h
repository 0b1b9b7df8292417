/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 64-bit hashing, and an open-addressing index from hash to a 32-bit id whose key is stored elsewhere.
 *
 * The index owns only its slots. The caller compares keys in a callback, so one index serves strings, frames or tree edges.
 * Finding and adding are O(1) on average; the hash is not keyed, so hostile keys can make them linear. One thread at a time.
 */
#ifndef JHOT_BASE_HASH_H
#define JHOT_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(const void *bytes, size_t len, uint64_t seed);

static inline uint64_t hash_u64(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	x ^= x >> 32;
	return x;
}

static inline uint64_t hash_pair(uint64_t a, uint64_t b)
{
	return hash_u64(a * 0x9e3779b97f4a7c15ull + hash_u64(b));
}

#define HASH_NONE UINT32_MAX

struct hash_index {
	struct hash_slot *slots;
	uint32_t mask;
	uint32_t used;
};

/* True when the key of the stored id equals the key in ctx. */
typedef bool hash_same_fn(const void *ctx, uint32_t value);

void hash_index_done(struct hash_index *ix);
void hash_index_clear(struct hash_index *ix);
/*
 * The id stored under this hash for which same() is true; HASH_NONE: none. same NULL: keys are 64-bit numbers hashed by
 * hash_u64, which is a bijection, so equal hashes imply equal keys.
 */
uint32_t hash_index_find(
	const struct hash_index *ix, uint64_t hash, hash_same_fn *same, const void *ctx);
/* Adds an id whose key is not in the index. May reallocate. */
void hash_index_add(struct hash_index *ix, uint64_t hash, uint32_t value);

#endif
