/* SPDX-License-Identifier: Apache-2.0 */
/* Slices: adding, packing, merging into steps, dropping. */
#include "profile/model/slices.h"

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
	for (int i = 0; i < SLICES_MARKS; i++)
		free(s->marks[i].before);
	free(s->runs);
	free(s->pairs);
	free(s->slots);
	vacant_done(&s->vacant);
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

/* Into empty slots. */
static void slices_fill_slots(struct slices *s)
{
	for (uint32_t i = 0; i < s->pair_count; i++)
		if (!vacant_has(&s->vacant, i))
			s->slots[slices_slot(s, s->pairs[i].stack, s->pairs[i].who)] = i + 1;
}

static void slices_grow_slots(struct slices *s)
{
	free(s->slots);
	s->slot_mask = s->slot_mask ? s->slot_mask * 2 + 1 : 255;
	s->slots = xcalloc((size_t)s->slot_mask + 1, sizeof(*s->slots));
	slices_fill_slots(s);
}

void slices_sweep(struct slices *s, const uint64_t *keep)
{
	vacant_set(&s->vacant, keep, s->pair_count);
	for (uint32_t i = 0; i < s->pair_count; i++) {
		if (!vacant_has(&s->vacant, i))
			continue;
		s->pairs[i] = (struct slices_pair){0};
		for (int k = 0; k < SLICES_MARKS; k++)
			if (i < s->marks[k].count)
				s->marks[k].before[i] = (struct amount){0, 0};
	}
	memset(s->slots, 0, ((size_t)s->slot_mask + 1) * sizeof(*s->slots));
	slices_fill_slots(s);
}

uint32_t slices_pair(struct slices *s, uint32_t stack, uint32_t who)
{
	uint32_t slot, pair;

	if (s->pair_count >= s->slot_mask / 4 * 3)
		slices_grow_slots(s);
	slot = slices_slot(s, stack, who);
	if (s->slots[slot])
		return s->slots[slot] - 1;
	pair = vacant_take(&s->vacant, 0);
	if (pair == VACANT_NONE && s->pair_count == s->pair_cap) {
		s->pair_cap = s->pair_cap ? s->pair_cap + s->pair_cap / 2 : 256;
		s->pairs = xreallocarray(s->pairs, s->pair_cap, sizeof(*s->pairs));
	}
	if (pair == VACANT_NONE)
		pair = s->pair_count++;
	s->pairs[pair] = (struct slices_pair){.stack = stack, .who = who};
	s->slots[slot] = pair + 1;
	return pair;
}

/* --- marks ------------------------------------------------------------------------------------------- */

const struct slices_mark *slices_marked(const struct slices *s, uint32_t second)
{
	for (int i = 0; i < SLICES_MARKS; i++)
		if (second && s->marks[i].second == second)
			return &s->marks[i];
	return NULL;
}

/* Unsigned wrap-around makes adding the negative a subtraction. */
static void mark_add(struct slices_mark *m, uint32_t pair, uint64_t count, uint64_t weight)
{
	if (pair >= m->cap) {
		m->cap = pair + pair / 2 + 64;
		m->before = xreallocarray(m->before, m->cap, sizeof(*m->before));
	}
	while (m->count <= pair)
		m->before[m->count++] = (struct amount){0, 0};
	m->before[pair].count += count;
	m->before[pair].weight += weight;
	m->sum.count += count;
	m->sum.weight += weight;
}

static void mark_init(const struct slices *s, struct slices_mark *m, uint32_t second)
{
	*m = (struct slices_mark){.second = second};
	for (uint32_t i = 0; i < s->pair_count; i++)
		mark_add(m, i, s->pairs[i].sum.count, s->pairs[i].sum.weight);
	for (uint32_t i = slices_find(s, second); i < s->count; i++)
		for (uint32_t k = 0; k < s->list[i].count; k++) {
			const struct slice_entry *e = &s->list[i].entries[k];

			mark_add(m, e->pair, -(uint64_t)e->count, -e->weight);
		}
}

void slices_mark(struct slices *s, const uint32_t seconds[SLICES_MARKS])
{
	struct slices_mark old[SLICES_MARKS];

	memcpy(old, s->marks, sizeof(old));
	memset(s->marks, 0, sizeof(s->marks));
	for (int i = 0; i < SLICES_MARKS; i++) {
		if (!seconds[i] || slices_marked(s, seconds[i]))
			continue;
		for (int k = 0; k < SLICES_MARKS; k++)
			if (old[k].second == seconds[i]) {
				s->marks[i] = old[k];
				old[k] = (struct slices_mark){0};
			}
		if (!s->marks[i].second)
			mark_init(s, &s->marks[i], seconds[i]);
	}
	for (int k = 0; k < SLICES_MARKS; k++)
		free(old[k].before);
}

void slices_give(struct slices *s, uint32_t from, uint32_t to)
{
	struct amount *sum = &s->pairs[from].sum;

	s->pairs[to].sum.count += sum->count;
	s->pairs[to].sum.weight += sum->weight;
	*sum = (struct amount){0, 0};
	for (int i = 0; i < SLICES_MARKS; i++) {
		struct slices_mark *m = &s->marks[i];
		struct amount before;

		if (from >= m->count)
			continue;
		before = m->before[from];
		mark_add(m, from, -before.count, -before.weight);
		mark_add(m, to, before.count, before.weight);
	}
}

void slices_run(struct slices *s, uint32_t second, bool on)
{
	struct slices_run *last = s->run_count ? &s->runs[s->run_count - 1] : NULL;

	if (on == (last && last->to == UINT32_MAX))
		return;
	if (!on) {
		last->to = second + 1; /* a part of it, as at the beginning */
	} else if (last && second <= last->to) {
		last->to = UINT32_MAX;
	} else {
		if (s->run_count == s->run_cap) {
			s->run_cap = s->run_cap ? s->run_cap * 2 : 4;
			s->runs = xreallocarray(s->runs, s->run_cap, sizeof(*s->runs));
		}
		s->runs[s->run_count++] = (struct slices_run){second, UINT32_MAX};
	}
}

/* --- adding ------------------------------------------------------------------------------------------ */

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
	for (int i = 0; i < SLICES_MARKS; i++)
		if (second < s->marks[i].second)
			mark_add(&s->marks[i], entry.pair, sample->count, sample->weight);
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
	       ((size_t)s->marks[0].cap + s->marks[1].cap) * sizeof(struct amount) +
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
