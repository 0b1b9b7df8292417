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
	uint64_t wanted = ~0ull << (from % 64); /* bits of the word */

	if (!v->count)
		return VACANT_NONE;
	if (word < v->low) {
		word = v->low;
		wanted = ~0ull;
	}
	for (; word < v->words; word++, wanted = ~0ull) {
		uint64_t bits = v->bits[word] & wanted;

		if (!bits)
			continue;
		if (!from)
			v->low = word;
		v->bits[word] &= ~(bits & -bits);
		v->count--;
		return word * 64 + (uint32_t)__builtin_ctzll(bits);
	}
	return VACANT_NONE;
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
