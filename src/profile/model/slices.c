/* SPDX-License-Identifier: Apache-2.0 */
/* Slices: adding, packing, merging into steps, dropping. */
#include "profile/model/slices.h"

#include "profile/model/fit.h"

void slices_init(struct slices *s)
{
	*s = (struct slices){0};
	trie_init(&s->pairs, NULL);
	s->sums = fit_zeroed(NULL, &s->sums_cap, s->pairs.count, sizeof(*s->sums));
}

static void slice_pulse_free(struct slices *s, struct slice *sl)
{
	if (sl->pulse)
		s->bytes -= PROFILE_PULSE * sizeof(*sl->pulse);
	free(sl->pulse);
	sl->pulse = NULL;
}

static void slice_free(struct slices *s, struct slice *sl)
{
	slice_pulse_free(s, sl);
	s->bytes -= (size_t)sl->cap * sizeof(*sl->entries);
	s->entries -= sl->count;
	free(sl->entries);
}

void slices_done(struct slices *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		free(s->list[i].entries);
		free(s->list[i].pulse);
	}
	free(s->list);
	for (int i = 0; i <= SLICES_ANCHORS; i++)
		free(s->anchors[i].before);
	free(s->runs);
	free(s->sums);
	trie_done(&s->pairs);
	*s = (struct slices){0};
}

uint32_t slices_find(const struct slices *s, uint32_t second)
{
	uint32_t lo = 0, hi = s->count;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
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
	s->list = fit(s->list, &s->cap, s->count + 1, sizeof(*s->list));
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
		slice_resize(s, sl, sl->cap < 32 ? 32 : sl->cap + sl->cap / 2);
	sl->entries[sl->count++] = entry;
	s->entries++;
	sum_add(&sl->sum, &(struct profile_sum){entry.count, entry.weight});
	sl->dirty = true;
}

void slices_sweep(struct slices *s, const uint64_t *keep)
{
	trie_sweep(&s->pairs, keep);
	for (uint32_t i = 0; i < s->pairs.count; i++) {
		if (!vacant_has(&s->pairs.vacant, i))
			continue;
		s->sums[i] = (struct profile_sum){0, 0};
		for (int k = 0; k <= SLICES_ANCHORS; k++)
			if (i < s->anchors[k].cap)
				s->anchors[k].before[i] = (struct profile_sum){0, 0};
	}
}

uint32_t slices_pair(struct slices *s, uint32_t stack, uint32_t who)
{
	bool created;
	uint32_t pair = trie_intern(&s->pairs, stack, who, 1, &created);

	s->sums = fit_zeroed(s->sums, &s->sums_cap, s->pairs.count, sizeof(*s->sums));
	return pair;
}

/* Removes the slices [from, to) of the list; the total keeps their sums. */
static void slices_remove(struct slices *s, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		slice_free(s, &s->list[i]);
	if (to > from)
		memmove(s->list + from, s->list + to, (s->count - to) * sizeof(*s->list));
	s->count -= to - from;
}

/* --- anchors ----------------------------------------------------------------------------------------- */

const struct slices_anchor *slices_anchored(const struct slices *s, uint32_t second)
{
	for (int i = 0; i <= SLICES_ANCHORS; i++)
		if (second && s->anchors[i].second == second)
			return &s->anchors[i];
	return NULL;
}

static void anchor_add(struct slices_anchor *m, uint32_t pair, const struct profile_sum *sum)
{
	m->before = fit_zeroed(m->before, &m->cap, pair + 1, sizeof(*m->before));
	sum_add(&m->before[pair], sum);
	sum_add(&m->sum, sum);
}

static void anchor_init(const struct slices *s, struct slices_anchor *m, uint32_t second)
{
	const struct slices_anchor *base = slices_base(s, second);
	uint32_t end = slices_base_end(s, base);

	*m = (struct slices_anchor){.second = second};
	for (uint32_t i = 0; i < (base ? base->cap : s->pairs.count); i++)
		anchor_add(m, i, base ? &base->before[i] : &s->sums[i]);
	for (uint32_t i = slices_find(s, second); i < end; i++) {
		sum_subtract(&m->sum, &s->list[i].sum);
		for (uint32_t k = 0; k < s->list[i].count; k++) {
			const struct slice_entry *e = &s->list[i].entries[k];

			sum_subtract(
				&m->before[e->pair], &(struct profile_sum){e->count, e->weight});
		}
	}
}

void slices_anchor(struct slices *s, const uint32_t seconds[SLICES_ANCHORS])
{
	for (struct slices_anchor *m = s->anchors; m < s->anchors + SLICES_ANCHORS; m++) {
		if (m->second == seconds[0] || m->second == seconds[1])
			continue;
		free(m->before);
		*m = (struct slices_anchor){0};
	}
	for (int i = 0; i < SLICES_ANCHORS; i++)
		if (seconds[i] && s->anchors[0].second != seconds[i] &&
			s->anchors[1].second != seconds[i])
			anchor_init(s, &s->anchors[s->anchors[0].second ? 1 : 0], seconds[i]);
}

/* --- the evicted range ------------------------------------------------------------------------------- */

const struct slices_anchor *slices_base(const struct slices *s, uint32_t second)
{
	const struct slices_anchor *m = &s->anchors[SLICES_EVICTED];

	return m->second && second <= m->second ? m : NULL;
}

uint32_t slices_base_end(const struct slices *s, const struct slices_anchor *base)
{
	return base ? slices_find(s, base->second) : s->count;
}

void slices_evict(struct slices *s, uint32_t from, uint32_t to)
{
	if (!s->anchors[SLICES_EVICTED].second) {
		anchor_init(s, &s->anchors[SLICES_EVICTED], from);
		s->evicted_to = from;
	}
	if (to > s->evicted_to) {
		slices_remove(s, slices_find(s, s->evicted_to), slices_find(s, to));
		s->evicted_to = to;
	}
}

void slices_evict_end(struct slices *s)
{
	free(s->anchors[SLICES_EVICTED].before);
	s->anchors[SLICES_EVICTED] = (struct slices_anchor){0};
}

void slices_move(struct slices *s, uint32_t from, uint32_t to)
{
	sum_add(&s->sums[to], &s->sums[from]);
	s->sums[from] = (struct profile_sum){0, 0};
	for (struct slices_anchor *m = s->anchors; m <= s->anchors + SLICES_EVICTED; m++) {
		if (from >= m->cap)
			continue;
		struct profile_sum before = m->before[from];
		m->before[from] = (struct profile_sum){0, 0};
		sum_subtract(&m->sum, &before);
		anchor_add(m, to, &before);
	}
}

void slices_run(struct slices *s, uint32_t second, bool on)
{
	struct slices_run *last = s->run_count ? &s->runs[s->run_count - 1] : NULL;

	if (on == (last && last->to == UINT32_MAX))
		return;
	if (!on) {
		/* a partial second counts, as at the beginning */
		last->to = second >= last->from ? second + 1 : last->from + 1;
	} else if (last && second <= last->to) {
		last->to = UINT32_MAX;
	} else {
		s->runs = fit(s->runs, &s->run_cap, s->run_count + 1, sizeof(*s->runs));
		s->runs[s->run_count++] = (struct slices_run){second, UINT32_MAX};
	}
}

/* --- adding ------------------------------------------------------------------------------------------ */

void slices_add(struct slices *s, const struct slices_sample *sample, uint32_t step_before,
	uint32_t drop_before)
{
	struct slice_entry entry = {0, sample->count, sample->weight};
	const struct profile_sum sum = {sample->count, sample->weight};
	uint32_t second = sample->second;

	entry.pair = slices_pair(s, sample->stack, sample->who);
	sum_add(&s->sums[entry.pair], &sum);
	sum_add(&s->sum, &sum);
	for (int i = 0; i <= SLICES_ANCHORS; i++)
		if (second < s->anchors[i].second)
			anchor_add(&s->anchors[i], entry.pair, &sum);
	if (second < drop_before)
		return;
	if (second < step_before)
		slice_append(s, slices_at(s, second - second % SLICES_STEP, SLICES_STEP), entry);
	else
		slice_append(s, slices_at(s, second, 1), entry);
}

void slices_pulse(struct slices *s, uint32_t second, unsigned part, float weight)
{
	uint32_t i = slices_find(s, second);
	struct slice *sl = i < s->count ? &s->list[i] : NULL;

	if (!sl || sl->from != second || sl->span != 1)
		return;
	if (!sl->pulse) {
		sl->pulse = xcalloc(PROFILE_PULSE, sizeof(*sl->pulse));
		s->bytes += PROFILE_PULSE * sizeof(*sl->pulse);
	}
	sl->pulse[part] += weight;
}

size_t slices_fixed_bytes(const struct slices *s)
{
	return s->cap * sizeof(*s->list) + trie_bytes(&s->pairs) +
	       ((size_t)s->sums_cap + s->anchors[0].cap + s->anchors[1].cap +
		       s->anchors[SLICES_EVICTED].cap) *
		       sizeof(*s->sums);
}

static int slice_compare(const void *a, const void *b)
{
	const struct slice_entry *x = a, *y = b;

	return x->pair < y->pair ? -1 : x->pair > y->pair;
}

/* One entry per pair; more only where the count would overflow. */
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
	/* Samples are late by a few seconds at most; older dirty slices are packed when they are merged. */
	uint32_t end = slices_find(s, before), begin = end > 8 ? end - 8 : 0;

	for (uint32_t i = begin; i < end; i++) {
		if (s->list[i].dirty)
			slice_pack(s, &s->list[i]);
	}
}

void slices_merge(struct slices *s, uint32_t before)
{
	uint32_t end = slices_find(s, before), n = 0;
	struct slice *step, *sl;

	for (uint32_t i = 0; i < end; i++) {
		sl = &s->list[i];
		uint32_t from = sl->from - sl->from % SLICES_STEP;
		step = n ? &s->list[n - 1] : NULL;
		if (!step || step->from != from) {
			slice_pulse_free(s, sl);
			s->list[n] = *sl;
			s->list[n].from = from;
			s->list[n++].span = SLICES_STEP;
			continue;
		}
		slice_resize(s, step, step->count + sl->count);
		memcpy(step->entries + step->count, sl->entries, sl->count * sizeof(*sl->entries));
		step->count += sl->count;
		s->entries += sl->count;
		sum_add(&step->sum, &sl->sum);
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
	slices_remove(s, 0, slices_find(s, before));
}
