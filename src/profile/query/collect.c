/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a query: what there is in its seconds, and what of that passes. query.h says the whole way. */
#include "profile/query/query.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

const struct slices *query_slices(const struct profile *p, const struct profile_query *q)
{
	static const struct slices none;

	if (query_of_holders(q))
		return &p->events[MODEL_HELD];
	return q->event >= 0 && q->event < MODEL_SLICES ? &p->events[q->event] : &none;
}

static void query_add_slices(const struct slices *s, uint32_t from, uint32_t to, struct tally *t)
{
	for (uint32_t i = from; i < to; i++) {
		const struct slice_entry *e = s->list[i].entries;

		for (uint32_t k = 0; k < s->list[i].count; k++)
			tally_add(t, e[k].pair, e[k].count, e[k].weight);
	}
}

static void query_put(struct query_rows *rows, const struct slices *s, uint32_t pair,
	const struct profile_sum *sum)
{
	if (!sum_none(sum))
		rows->list[rows->count++] = (struct query_row){slices_stack(s, pair),
			slices_thread(s, pair), slices_state(s, pair), pair, 0, *sum};
}

/*
 * Adds each pair's total up to the base (slices_base), or up to now where base is NULL, minus its total at `since` (may be
 * NULL), minus what `later` has of it.
 */
static void query_put_totals(struct query_rows *rows, const struct slices *s,
	const struct slices_mark *base, const struct slices_mark *since, const struct tally *later)
{
	uint32_t count = base && base->cap < s->pairs.count ? base->cap : s->pairs.count;

	for (uint32_t i = 0; i < count; i++) {
		struct profile_sum sum = base ? base->before[i] : s->sums[i];

		if (since && i < since->cap)
			sum_take(&sum, &since->before[i]);
		if (tally_has(later, i))
			sum_take(&sum, &later->sums[i]);
		query_put(rows, s, i, &sum);
	}
}

bool query_wants_all(const struct profile_query *q)
{
	return q->thread == PROFILE_ANY_THREAD && !q->pool && !q->states &&
	       (!q->filter || filter_idle(q->filter));
}

bool query_wants(const struct profile *p, const struct profile_query *q, uint32_t thread,
	enum thread_state state)
{
	return (q->thread == PROFILE_ANY_THREAD || q->thread == thread) &&
	       (!q->states || q->states >> state & 1) &&
	       (!q->pool || profile_get_thread(p, thread)->pool == q->pool);
}

struct query_row *rows_fit(struct query_rows *rows, uint32_t count, uint64_t key)
{
	if (count >= rows->cap) {
		rows->cap = count + count / 8 + 1;
		free(rows->list);
		rows->list = xreallocarray(NULL, rows->cap, sizeof(*rows->list));
	}
	rows->count = 0;
	rows->key = key;
	return rows->list;
}

/* The rows of a query's seconds, whatever its thread and filter. */
static void query_rows(const struct profile *p, const struct profile_query *q, uint64_t key)
{
	const struct slices *s = query_slices(p, q);
	const struct slices_mark *since = slices_marked(s, q->from);
	const struct slices_mark *base = slices_base(s, q->to);
	bool total = !q->from || (since && q->to >= q->from);
	struct tally *t = &p->scratch->pairs;
	struct query_rows *rows = &p->scratch->all;
	uint32_t to = slices_find(s, q->to), n, *ids;

	scratch_fit(p, &p->stacks);
	ids = p->scratch->ids;
	query_add_slices(
		s, total ? to : slices_find(s, q->from), total ? slices_base_end(s, base) : to, t);
	n = tally_list(t, ids);
	rows_fit(rows, total ? s->pairs.count : n, key);
	if (total)
		query_put_totals(rows, s, base, since, t);
	for (uint32_t i = 0; i < n && !total; i++)
		query_put(rows, s, ids[i], &t->sums[ids[i]]);
	tally_clear(t, ids, n);
	if (q->event == EVENT_WALL)
		query_rests(s, slices_find(s, q->from > p->oldest ? q->from : p->oldest), to, rows);
}

static uint64_t query_key_all(const struct profile *p, const struct profile_query *q)
{
	if (q->snapshot)
		return hash_pair(q->snapshot->serial, 1);
	return hash_pair(hash_pair(p->readers->fed, (uint64_t)q->event << 1 | query_of_holders(q)),
		(uint64_t)q->from << 32 | q->to);
}

/* The same, from what was asked last if that was the same. */
static const struct query_row *query_all(
	const struct profile *p, const struct profile_query *q, uint32_t *count, uint64_t *key)
{
	struct query_rows *rows = &p->scratch->all;

	*key = query_key_all(p, q);
	if (q->snapshot) {
		*count = q->snapshot->count;
		return q->snapshot->rows;
	}
	if (rows->key != *key)
		query_rows(p, q, *key);
	*count = rows->count;
	return rows->list;
}

static uint64_t query_key_chosen(
	const struct profile *p, const struct profile_query *q, uint64_t all)
{
	uint64_t key = hash_pair(all, (uint64_t)q->thread << 32 | q->pool);

	key = hash_pair(key, q->filter ? filter_stamp(q->filter) : 0);
	return hash_pair(key, (uint64_t)q->states << 32 | fold_serial(fold_of(p, q)));
}

uint64_t query_key(const struct profile *p, const struct profile_query *q)
{
	uint64_t all = query_key_all(p, q);

	return query_wants_all(q) ? all : query_key_chosen(p, q, all);
}

uint64_t profile_stamp(const struct profile *p, const struct profile_query *q)
{
	return hash_pair(query_key(p, q), q->by_weight);
}

uint32_t profile_asked(const struct profile *p)
{
	return p->scratch->all.count;
}

static void query_choose(const struct profile *p, const struct profile_query *q,
	const struct query_row *from, uint32_t count, uint64_t key)
{
	struct query_rows *to = &p->scratch->chosen;
	struct query_row *rows = rows_fit(to, count, key);
	struct fold *fold = fold_of(p, q);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t stack;

		if (!query_wants(p, q, from[i].thread, (enum thread_state)from[i].state))
			continue;
		stack = query_shown(p, q, fold, from[i].stack);
		if (stack == PROFILE_NONE)
			continue;
		rows[to->count] = from[i];
		rows[to->count++].stack = stack;
	}
}

const struct query_row *query_collect(
	const struct profile *p, const struct profile_query *q, uint32_t *count)
{
	struct query_rows *chosen = &p->scratch->chosen;
	uint64_t key;
	const struct query_row *rows = query_all(p, q, count, &key);

	if (!query_wants_all(q)) {
		key = query_key_chosen(p, q, key);
		if (chosen->key != key)
			query_choose(p, q, rows, *count, key);
		*count = chosen->count;
		rows = chosen->list;
	}
	scratch_fit(p, fold_view(p, fold_of(p, q)));
	return rows;
}

bool filter_prepare(const struct profile *p, const struct profile_query *q, uint64_t most)
{
	uint32_t serial = fold_serial(p->scratch->fold);
	struct fold *fold = fold_of(p, q);
	bool other = fold &&
		     fold_serial(fold) != serial; /* the last one was dropped, which takes long */
	bool collected = q->snapshot || p->scratch->all.key == query_key_all(p, q);
	uint64_t key;
	uint32_t count;

	query_all(p, q, &count, &key);
	if ((other || !collected) && count > most)
		return false;
	return filter_prepare_fold(p, q, most);
}

bool filter_prepare_fold(const struct profile *p, const struct profile_query *q, uint64_t most)
{
	struct fold *fold = fold_of(p, q);
	const struct query_row *rows;
	uint64_t key, before;
	uint32_t count;

	if (!fold)
		return true;
	rows = query_all(p, q, &count, &key);
	before = fold_made(fold);
	for (uint32_t i = 0; i < count && fold_made(fold) - before < most; i++)
		if (query_wants(p, q, rows[i].thread, (enum thread_state)rows[i].state))
			fold_stack(fold, rows[i].stack);
	return fold_made(fold) - before < (most + 7) / 8;
}

struct profile_snapshot *profile_snapshot_new(
	const struct profile *p, const struct profile_query *q)
{
	struct profile_snapshot *s = xcalloc(1, sizeof(*s));
	struct profile_query seconds = *q;
	const struct query_row *rows;
	uint64_t key;

	seconds.snapshot = NULL;
	rows = query_all(p, &seconds, &s->count, &key);
	s->rows = xreallocarray(NULL, s->count + 1, sizeof(*s->rows));
	memcpy(s->rows, rows, s->count * sizeof(*rows));
	s->serial = ++p->scratch->serial;
	s->of = p->scratch;
	s->next = s->of->snapshots;
	s->of->snapshots = s;
	return s;
}

void profile_snapshot_free(struct profile_snapshot *s)
{
	if (!s)
		return;
	for (struct profile_snapshot **at = s->of ? &s->of->snapshots : NULL; at && *at;
		at = &(*at)->next)
		if (*at == s) {
			*at = s->next;
			break;
		}
	free(s->rows);
	free(s);
}
