/* SPDX-License-Identifier: Apache-2.0 */
/* Answering a query: the distinct stacks of a window, and sums over it. */
#include "profile/model.h"

#include "base/buf.h"
#include "profile/filter.h"
#include "profile/snapshot.h"

#include <stdlib.h>
#include <string.h>

#define ROLL_UP_PART 32 /* of the stacks; from there on all are gone through */

struct profile_snapshot {
	struct model_row *rows;
	uint32_t count;
};

/* --- scratch ----------------------------------------------------------------------------------------- */

static uint32_t *scratch_fit(uint32_t *old, uint32_t *cap, uint32_t need)
{
	uint32_t from = *cap;

	if (need <= from)
		return old;
	*cap = need + need / 8;
	old = xreallocarray(old, *cap, sizeof(*old));
	memset(old + from, 0, (*cap - from) * sizeof(*old));
	return old;
}

void model_scratch_fit(const struct profile *p)
{
	struct model_scratch *s = p->scratch;
	uint32_t ids = p->stacks.count;

	for (int i = 0; i < PROFILE_EVENTS; i++) {
		tally_reserve(&s->pairs, p->events[i].pair_count);
		ids = p->events[i].pair_count > ids ? p->events[i].pair_count : ids;
	}
	tally_reserve(&s->stacks, p->stacks.count);
	s->ids = scratch_fit(s->ids, &s->ids_cap, ids);
	s->node = scratch_fit(s->node, &s->node_cap, p->stacks.count);
	s->slot = scratch_fit(s->slot, &s->slot_cap, p->paths.count);
	s->seen = scratch_fit(s->seen, &s->seen_cap, p->stacks.count);
}

uint32_t model_scratch_stamp(const struct profile *p)
{
	struct model_scratch *s = p->scratch;

	if (!s->stamp || s->stamp > UINT32_MAX / 2) {
		memset(s->seen, 0, s->seen_cap * sizeof(*s->seen));
		s->stamp = 1;
	}
	return s->stamp;
}

void model_scratch_free(struct model_scratch *s)
{
	tally_done(&s->pairs);
	tally_done(&s->stacks);
	free(s->ids);
	free(s->node);
	free(s->slot);
	free(s->seen);
	free(s);
}

size_t model_scratch_bytes(const struct model_scratch *s)
{
	return tally_bytes(&s->pairs) + tally_bytes(&s->stacks) +
	       4 * ((size_t)s->ids_cap + s->node_cap + s->slot_cap + s->seen_cap);
}

/* --- collecting -------------------------------------------------------------------------------------- */

static const struct slices *query_slices(const struct profile *p, const struct profile_query *q)
{
	static const struct slices none;

	return q->event >= 0 && q->event < PROFILE_EVENTS ? &p->events[q->event] : &none;
}

static void query_add_totals(const struct slices *s, struct tally *t)
{
	for (uint32_t i = 0; i < s->pair_count; i++)
		tally_add(t, i, s->pairs[i].sum.count, s->pairs[i].sum.weight);
}

/* Unsigned wrap-around makes adding the negative a subtraction. */
static void query_add_slice(const struct slice *sl, struct tally *t, uint64_t sign)
{
	const struct slice_entry *e = sl->entries;

	for (uint32_t i = 0; i < sl->count; i++)
		tally_add(t, e[i].pair, sign * e[i].count, sign * e[i].weight);
}

static void query_tally(const struct profile *p, const struct profile_query *q, struct tally *t)
{
	const struct slices *s = query_slices(p, q);
	uint32_t from = slices_find(s, q->from), to = slices_find(s, q->to);

	if (q->from) {
		for (uint32_t i = from; i < to; i++)
			query_add_slice(&s->list[i], t, 1);
		return;
	}
	query_add_totals(s, t);
	for (uint32_t i = to; i < s->count; i++)
		query_add_slice(&s->list[i], t, (uint64_t)-1);
}

static bool query_wants_all(const struct profile_query *q)
{
	return q->thread == PROFILE_ANY_THREAD && !q->pool && !q->states && !q->snapshot &&
	       (!q->filter || filter_idle(q->filter));
}

static bool query_wants(const struct profile *p, const struct profile_query *q, uint32_t thread,
	enum thread_state state)
{
	return (q->thread == PROFILE_ANY_THREAD || q->thread == thread) &&
	       (!q->states || q->states >> state & 1) &&
	       (!q->pool || profile_get_thread(p, thread)->pool == q->pool);
}

bool model_wants(
	const struct profile *p, const struct profile_query *q, const struct slices_pair *pair)
{
	return query_wants(p, q, slices_thread(pair), (enum thread_state)slices_state(pair));
}

uint32_t model_shown(const struct profile *p, const struct profile_query *q, uint32_t stack)
{
	return q->filter ? filter_stack(q->filter, p, stack) : stack;
}

/* The rows of the query's seconds, whatever its thread and filter. */
static struct model_row *query_rows(
	const struct profile *p, const struct profile_query *q, uint32_t *count)
{
	const struct slices *s = query_slices(p, q);
	struct tally *t = &p->scratch->pairs;
	struct model_row *rows;
	uint32_t n, *ids;

	*count = 0;
	model_scratch_fit(p);
	ids = p->scratch->ids;
	query_tally(p, q, t);
	n = tally_list(t, ids);
	rows = xreallocarray(NULL, n + 1, sizeof(*rows));
	for (uint32_t i = 0; i < n; i++) {
		const struct amount *sum = &t->sums[ids[i]];
		const struct slices_pair *pair = &s->pairs[ids[i]];

		if (sum->count | sum->weight)
			rows[(*count)++] = (struct model_row){pair->stack, slices_thread(pair),
				(enum thread_state)slices_state(pair), *sum};
	}
	tally_clear(t, ids, n);
	return rows;
}

static void query_choose(const struct profile *p, const struct profile_query *q,
	struct model_row *rows, uint32_t *count)
{
	uint32_t n = 0, stack;

	for (uint32_t i = 0; i < *count; i++) {
		if (!query_wants(p, q, rows[i].thread, rows[i].state))
			continue;
		stack = model_shown(p, q, rows[i].stack);
		if (stack == PROFILE_NONE)
			continue;
		rows[n] = rows[i];
		rows[n++].stack = stack;
	}
	*count = n;
}

struct model_row *model_collect(
	const struct profile *p, const struct profile_query *q, uint32_t *count)
{
	struct model_row *rows;

	if (q->snapshot) {
		*count = q->snapshot->count;
		rows = xreallocarray(NULL, *count + 1, sizeof(*rows));
		memcpy(rows, q->snapshot->rows, *count * sizeof(*rows));
	} else {
		rows = query_rows(p, q, count);
	}
	query_choose(p, q, rows, count);
	model_scratch_fit(p);
	return rows;
}

struct profile_snapshot *profile_snapshot_new(
	const struct profile *p, const struct profile_query *q)
{
	struct profile_snapshot *s = xcalloc(1, sizeof(*s));

	s->rows = query_rows(p, q, &s->count);
	s->rows = xreallocarray(s->rows, s->count + 1, sizeof(*s->rows));
	return s;
}

void profile_snapshot_free(struct profile_snapshot *s)
{
	if (!s)
		return;
	free(s->rows);
	free(s);
}

static void roll_up_touch_callers(const struct profile *p, struct tally *t)
{
	uint32_t *ids = p->scratch->ids, n = tally_list(t, ids), stack;

	for (uint32_t i = 0; i < n; i++) {
		stack = ids[i];
		while (stack != PROFILE_ROOT_STACK) {
			stack = p->stacks.nodes[stack].parent;
			if (!tally_touch(t, stack))
				break;
		}
	}
}

/*
 * Where a long history has touched most stacks, going through all of them in order is several times cheaper
 * than finding the callers one by one.
 */
static const uint32_t *roll_up_all(const struct profile *p, uint32_t *count)
{
	struct tally *t = &p->scratch->stacks;
	uint32_t *ids = p->scratch->ids, n = p->stacks.count;
	struct amount *sums = t->sums;

	for (uint32_t i = 0; i < n; i += 64) {
		if (!t->bits[i / 64]) {
			memset(&sums[i], 0, 64 * sizeof(*sums)); /* there is room for whole words */
			continue;
		}
		for (uint32_t k = i; k < i + 64; k++)
			if (!tally_has(t, k))
				sums[k] = (struct amount){0, 0};
	}
	for (uint32_t i = n; i-- > PROFILE_ROOT_STACK + 1;) {
		struct amount *parent = &sums[p->stacks.nodes[i].parent];

		parent->count += sums[i].count;
		parent->weight += sums[i].weight;
	}
	*count = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!(sums[i].count | sums[i].weight) && !tally_has(t, i))
			continue;
		tally_mark(t, i);
		ids[(*count)++] = i;
	}
	return ids;
}

const uint32_t *model_roll_up(const struct profile *p, uint32_t *count)
{
	struct tally *t = &p->scratch->stacks;
	uint32_t *ids = p->scratch->ids;
	struct amount *parent;

	if (t->touched > p->stacks.count / ROLL_UP_PART)
		return roll_up_all(p, count);
	roll_up_touch_callers(p, t);
	*count = tally_list(t, ids);
	for (uint32_t i = *count; i-- > 0;) {
		if (ids[i] == PROFILE_ROOT_STACK)
			continue;
		parent = &t->sums[p->stacks.nodes[ids[i]].parent];
		parent->count += t->sums[ids[i]].count;
		parent->weight += t->sums[ids[i]].weight;
	}
	return ids;
}

void profile_each(
	const struct profile *p, const struct profile_query *q, profile_each_fn *fn, void *ctx)
{
	uint32_t count;
	struct model_row *rows = model_collect(p, q, &count);

	for (uint32_t i = 0; i < count; i++)
		fn(ctx, rows[i].stack, rows[i].thread, rows[i].sum.count, rows[i].sum.weight);
	free(rows);
}

void profile_each_part(
	const struct profile *p, const struct profile_query *q, profile_part_fn *fn, void *ctx)
{
	uint32_t count;
	struct model_row *rows = model_collect(p, q, &count);

	for (uint32_t i = 0; i < count; i++)
		fn(ctx, &(struct profile_part){rows[i].stack, rows[i].thread, rows[i].state,
				rows[i].sum.count, rows[i].sum.weight});
	free(rows);
}

/* --- sums -------------------------------------------------------------------------------------------- */

static void sum_add(void *ctx, uint32_t stack, uint32_t thread, uint64_t count, uint64_t weight)
{
	struct profile_sum *sum = ctx;

	sum->count += count;
	sum->weight += weight;
}

struct profile_sum profile_sum(const struct profile *p, const struct profile_query *q)
{
	const struct slices *s = query_slices(p, q);
	struct profile_sum sum = {0};
	uint32_t to = slices_find(s, q->to);

	if (!query_wants_all(q)) {
		profile_each(p, q, sum_add, &sum);
		return sum;
	}
	if (!q->from)
		sum = (struct profile_sum){s->sum.count, s->sum.weight};
	for (uint32_t i = q->from ? slices_find(s, q->from) : to; i < (q->from ? to : s->count);
		i++) {
		sum.count += q->from ? s->list[i].sum.count : -s->list[i].sum.count;
		sum.weight += q->from ? s->list[i].sum.weight : -s->list[i].sum.weight;
	}
	return sum;
}

static bool history_in_gap(const struct profile *p, uint32_t second)
{
	for (uint32_t i = p->gap_count; i-- > 0;) {
		if (second >= p->gaps[i].from && second < p->gaps[i].to)
			return true;
	}
	return false;
}

static int64_t history_at(const struct profile *p, const struct slices *s, uint32_t second)
{
	uint32_t i = slices_find(s, second + 1);
	const struct slice *sl = i ? &s->list[i - 1] : NULL;

	if (sl && second - sl->from < sl->span) {
		uint64_t n = sl->sum.count, k = second - sl->from;

		if (n)
			return (int64_t)(n * (k + 1) / sl->span - n * k / sl->span);
	}
	return second < p->oldest || second > p->now || history_in_gap(p, second) ? -1 : 0;
}

void profile_history(const struct profile *p, int event, uint32_t to, int64_t *counts, uint32_t n)
{
	struct profile_query q = {.event = event};
	const struct slices *s = query_slices(p, &q);
	int64_t second;

	if (to > p->now + 1)
		to = p->now + 1;
	for (uint32_t i = 0; i < n; i++) {
		second = (int64_t)to - n + i;
		counts[i] = second < 0 ? -1 : history_at(p, s, (uint32_t)second);
	}
}
