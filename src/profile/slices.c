/* SPDX-License-Identifier: Apache-2.0 */
/* Slices: adding, packing, merging into steps, dropping. */
#include "profile/slices.h"

#include "base/buf.h"

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
	free(s->totals);
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

static void slices_count(struct slices *s, struct slice_entry entry)
{
	uint32_t cap;

	if (entry.pair >= s->totals_cap) {
		cap = entry.pair + entry.pair / 2 + 256;
		s->totals = xreallocarray(s->totals, cap, sizeof(*s->totals));
		memset(s->totals + s->totals_cap, 0, (cap - s->totals_cap) * sizeof(*s->totals));
		s->totals_cap = cap;
	}
	s->totals[entry.pair].count += entry.count;
	s->totals[entry.pair].weight += entry.weight;
	s->sum.count += entry.count;
	s->sum.weight += entry.weight;
}

void slices_add(struct slices *s, uint32_t second, uint32_t step_before, uint32_t drop_before,
	struct slice_entry entry)
{
	slices_count(s, entry);
	if (second < drop_before)
		return;
	if (second < step_before)
		slice_append(s, slices_at(s, second - second % SLICES_STEP, SLICES_STEP), entry);
	else
		slice_append(s, slices_at(s, second, 1), entry);
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
	memmove(s->list + n, s->list + end, (s->count - end) * sizeof(*s->list));
	s->count -= end - n;
}

void slices_drop(struct slices *s, uint32_t before)
{
	uint32_t n = slices_find(s, before);

	for (uint32_t i = 0; i < n; i++)
		slice_free(s, &s->list[i]);
	memmove(s->list, s->list + n, (s->count - n) * sizeof(*s->list));
	s->count -= n;
}
