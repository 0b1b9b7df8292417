/* SPDX-License-Identifier: Apache-2.0 */
/* Slices: adding, packing, merging into steps, dropping. */
#include "profile/slices.h"

#include "base/buf.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

static void slice_free(struct slices *s, struct slice *sl)
{
	s->bytes -= (size_t)sl->cap * sizeof(*sl->entries);
	s->entries -= sl->count;
	free(sl->entries);
}

void slices_done(struct slices *s)
{
	for (uint32_t i = 0; i < s->count; i++)
		free(s->list[i].entries);
	free(s->list);
	free(s->pairs);
	free(s->slots);
	memset(s, 0, sizeof(*s));
}

uint32_t slices_find(const struct slices *s, uint32_t second)
{
	uint32_t lo = 0, hi = s->count, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (s->list[mid].from < second)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct slice *slices_at(struct slices *s, uint32_t from, uint32_t span)
{
	uint32_t i = slices_find(s, from);

	if (i < s->count && s->list[i].from == from)
		return &s->list[i];
	if (s->count == s->cap) {
		s->cap = s->cap ? s->cap * 2 : 64;
		s->list = xreallocarray(s->list, s->cap, sizeof(*s->list));
	}
	memmove(s->list + i + 1, s->list + i, (s->count - i) * sizeof(*s->list));
	s->count++;
	s->list[i] = (struct slice){.from = from, .span = span};
	return &s->list[i];
}

static void slice_resize(struct slices *s, struct slice *sl, uint32_t cap)
{
	s->bytes += (size_t)cap * sizeof(*sl->entries);
	s->bytes -= (size_t)sl->cap * sizeof(*sl->entries);
	sl->entries = xreallocarray(sl->entries, cap, sizeof(*sl->entries));
	sl->cap = cap;
}

static void slice_append(struct slices *s, struct slice *sl, struct slice_entry entry)
{
	if (sl->count == sl->cap)
		slice_resize(s, sl, sl->cap ? sl->cap + sl->cap / 2 : 32);
	sl->entries[sl->count++] = entry;
	s->entries++;
	sl->sum.count += entry.count;
	sl->sum.weight += entry.weight;
	sl->dirty = true;
}

static uint32_t slices_slot(const struct slices *s, uint32_t stack, uint32_t who)
{
	uint32_t i = (uint32_t)hash_u64((uint64_t)stack << 32 | who) & s->slot_mask;
	const struct slices_pair *pair;

	for (; s->slots[i]; i = (i + 1) & s->slot_mask) {
		pair = &s->pairs[s->slots[i] - 1];
		if (pair->stack == stack && pair->who == who)
			break;
	}
	return i;
}

static void slices_grow_slots(struct slices *s)
{
	free(s->slots);
	s->slot_mask = s->slot_mask ? s->slot_mask * 2 + 1 : 255;
	s->slots = xcalloc((size_t)s->slot_mask + 1, sizeof(*s->slots));
	for (uint32_t i = 0; i < s->pair_count; i++)
		s->slots[slices_slot(s, s->pairs[i].stack, s->pairs[i].who)] = i + 1;
}

static uint32_t slices_pair(struct slices *s, uint32_t stack, uint32_t who)
{
	uint32_t slot;

	if (s->pair_count >= s->slot_mask / 4 * 3)
		slices_grow_slots(s);
	slot = slices_slot(s, stack, who);
	if (s->slots[slot])
		return s->slots[slot] - 1;
	if (s->pair_count == s->pair_cap) {
		s->pair_cap = s->pair_cap ? s->pair_cap + s->pair_cap / 2 : 256;
		s->pairs = xreallocarray(s->pairs, s->pair_cap, sizeof(*s->pairs));
	}
	s->pairs[s->pair_count] = (struct slices_pair){.stack = stack, .who = who};
	s->slots[slot] = s->pair_count + 1;
	return s->pair_count++;
}

void slices_add(struct slices *s, const struct slices_sample *sample, uint32_t step_before,
	uint32_t drop_before)
{
	struct slice_entry entry = {0, sample->count, sample->weight};
	uint32_t second = sample->second;

	entry.pair = slices_pair(s, sample->stack, sample->who);
	s->pairs[entry.pair].sum.count += sample->count;
	s->pairs[entry.pair].sum.weight += sample->weight;
	s->sum.count += sample->count;
	s->sum.weight += sample->weight;
	if (second < drop_before)
		return;
	if (second < step_before)
		slice_append(s, slices_at(s, second - second % SLICES_STEP, SLICES_STEP), entry);
	else
		slice_append(s, slices_at(s, second, 1), entry);
}

size_t slices_fixed_bytes(const struct slices *s)
{
	return s->cap * sizeof(*s->list) + s->pair_cap * sizeof(*s->pairs) +
	       ((size_t)s->slot_mask + 1) * sizeof(*s->slots);
}

static int slice_compare(const void *a, const void *b)
{
	const struct slice_entry *x = a, *y = b;

	return x->pair < y->pair ? -1 : x->pair > y->pair;
}

/* One entry per pair; two where a sum would not fit. */
static void slice_pack(struct slices *s, struct slice *sl)
{
	struct slice_entry *e = sl->entries;
	uint32_t n = 0;

	qsort(e, sl->count, sizeof(*e), slice_compare);
	for (uint32_t i = 0; i < sl->count; i++) {
		if (n && e[n - 1].pair == e[i].pair && e[n - 1].count <= UINT32_MAX - e[i].count) {
			e[n - 1].count += e[i].count;
			e[n - 1].weight += e[i].weight;
		} else {
			e[n++] = e[i];
		}
	}
	s->entries -= sl->count - n;
	sl->count = n;
	if (n && n < sl->cap)
		slice_resize(s, sl, n);
	sl->dirty = false;
}

void slices_pack(struct slices *s, uint32_t before)
{
	/* Late samples reach back a few seconds at most: older dirt waits for its merge. */
	uint32_t end = slices_find(s, before), begin = end > 8 ? end - 8 : 0;

	for (uint32_t i = begin; i < end; i++) {
		if (s->list[i].dirty)
			slice_pack(s, &s->list[i]);
	}
}

void slices_merge(struct slices *s, uint32_t before)
{
	uint32_t end = slices_find(s, before), n = 0, from;
	struct slice *step, *sl;

	for (uint32_t i = 0; i < end; i++) {
		sl = &s->list[i];
		from = sl->from - sl->from % SLICES_STEP;
		step = n ? &s->list[n - 1] : NULL;
		if (!step || step->from != from) {
			s->list[n] = *sl;
			s->list[n].from = from;
			s->list[n++].span = SLICES_STEP;
			continue;
		}
		slice_resize(s, step, step->count + sl->count);
		memcpy(step->entries + step->count, sl->entries, sl->count * sizeof(*sl->entries));
		step->count += sl->count;
		s->entries += sl->count;
		step->sum.count += sl->sum.count;
		step->sum.weight += sl->sum.weight;
		step->dirty = true;
		slice_free(s, sl);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (s->list[i].dirty)
			slice_pack(s, &s->list[i]);
	}
	if (end > n)
		memmove(s->list + n, s->list + end, (s->count - end) * sizeof(*s->list));
	s->count -= end - n;
}

void slices_drop(struct slices *s, uint32_t before)
{
	uint32_t n = slices_find(s, before);

	for (uint32_t i = 0; i < n; i++)
		slice_free(s, &s->list[i]);
	if (n)
		memmove(s->list, s->list + n, (s->count - n) * sizeof(*s->list));
	s->count -= n;
}
