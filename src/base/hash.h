/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 64-bit hashing, and an open-addressing index from hash to a 32-bit number whose keys live elsewhere.
 *
 * The index owns only its slots. The caller compares keys through a callback, so one index serves
 * strings, frames or tree edges. Not for hostile input that must not collide. One thread at a time.
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

/* same(ctx, value): is the stored number's key the one looked for? */
typedef bool hash_same_fn(const void *ctx, uint32_t value);

void hash_index_done(struct hash_index *ix);
void hash_index_clear(struct hash_index *ix);
/*
 * The number stored under the hash whose key is the same, or HASH_NONE. same NULL: keys are numbers and hashed by
 * hash_u64, which gives no two of them the same.
 */
uint32_t hash_index_find(
	const struct hash_index *ix, uint64_t hash, hash_same_fn *same, const void *ctx);
/* Add a number that is not there yet. */
void hash_index_add(struct hash_index *ix, uint64_t hash, uint32_t value);

#endif
