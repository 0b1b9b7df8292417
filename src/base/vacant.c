/* SPDX-License-Identifier: Apache-2.0 */
/* One bit per id. */
#include "base/vacant.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

void vacant_done(struct vacant *v)
{
	free(v->bits);
	memset(v, 0, sizeof(*v));
}

uint32_t vacant_allocate(struct vacant *v, uint32_t from)
{
	uint32_t word = from / 64;

	if (!v->count || word >= v->words)
		return VACANT_NONE;
	uint64_t bits = v->bits[word] & ~0ull << (from % 64);
	if (word < v->low)
		bits = 0;
	for (word = word < v->low ? v->low - 1 : word; !bits; bits = v->bits[word])
		if (++word >= v->words)
			return VACANT_NONE;
	if (!from)
		v->low = word;
	v->bits[word] &= ~(bits & -bits);
	v->count--;
	return word * 64 + (uint32_t)__builtin_ctzll(bits);
}

void vacant_set(struct vacant *v, const uint64_t *keep, uint32_t n)
{
	v->words = (n + 63) / 64;
	v->bits = xreallocarray(v->bits, (size_t)v->words + 1, sizeof(*v->bits));
	v->low = v->count = 0;
	for (uint32_t i = 0; i < v->words; i++) {
		v->bits[i] = ~keep[i];
		if (i == n / 64)
			v->bits[i] &= (1ull << (n % 64)) - 1;
		v->count += (uint32_t)__builtin_popcountll(v->bits[i]);
	}
}
