/* SPDX-License-Identifier: Apache-2.0 */
/* The tally's array and its two bitmaps. */
#include "profile/model/tally.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

#define TALLY_STEP 4096u /* ids per summary word: 64 * 64 */

void tally_done(struct tally *t)
{
	free(t->sums);
	free(t->bits);
	free(t->words);
	memset(t, 0, sizeof(*t));
}

static uint64_t *tally_grow_bits(uint64_t *old, uint32_t from, uint32_t to)
{
	uint64_t *bits = xreallocarray(old, to, sizeof(*bits));

	memset(bits + from, 0, (size_t)(to - from) * sizeof(*bits));
	return bits;
}

void tally_reserve(struct tally *t, uint32_t n)
{
	if (n <= t->cap)
		return;
	uint32_t cap = n > UINT32_MAX / 2 ? UINT32_MAX & ~(TALLY_STEP - 1) : n + n / 8;
	cap = (cap + TALLY_STEP - 1) / TALLY_STEP * TALLY_STEP;
	t->sums = xreallocarray(t->sums, cap, sizeof(*t->sums));
	t->bits = tally_grow_bits(t->bits, t->cap / 64, cap / 64);
	t->words = tally_grow_bits(t->words, t->cap / TALLY_STEP, cap / TALLY_STEP);
	t->cap = cap;
}

uint32_t tally_list(const struct tally *t, uint32_t *ids)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->cap / TALLY_STEP; i++)
		for (uint64_t words = t->words[i]; words; words &= words - 1) {
			uint32_t word = i * 64 + (uint32_t)__builtin_ctzll(words);

			for (uint64_t bits = t->bits[word]; bits; bits &= bits - 1)
				ids[n++] = word * 64 + (uint32_t)__builtin_ctzll(bits);
		}
	return n;
}

void tally_clear(struct tally *t, const uint32_t *ids, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		t->bits[ids[i] / 64] = 0;
		t->words[ids[i] / TALLY_STEP] = 0;
	}
	t->touched = 0;
}

size_t tally_bytes(const struct tally *t)
{
	return (size_t)t->cap * sizeof(*t->sums) + t->cap / 8 + t->cap / TALLY_STEP * 8;
}
