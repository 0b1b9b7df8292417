/* SPDX-License-Identifier: Apache-2.0 */
/* Answering a query: the distinct stacks of a window, and which of them pass; and the buffers for it. */
#include "profile/model/model.h"
#include "profile/query/filter.h"
#include "profile/query/form.h"
#include "profile/query/snapshot.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

/* --- scratch ----------------------------------------------------------------------------------------- */

static uint32_t *scratch_fit(uint32_t *old, uint32_t *cap, uint32_t need)
{
	uint32_t from = *cap, *fresh;

	if (need <= from)
		return old;
	*cap = need + need / 8;
	fresh = xcalloc(*cap, sizeof(*fresh)); /* what is never used costs nothing */
	if (from)
		memcpy(fresh, old, from * sizeof(*fresh));
	free(old);
	return fresh;
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
	if (s->squares_cap < s->stacks.cap) {
		s->squares_cap = s->stacks.cap;
		s->squares = xreallocarray(s->squares, s->squares_cap, sizeof(*s->squares));
	}
	s->ids = scratch_fit(s->ids, &s->ids_cap, ids);
	s->touched = scratch_fit(s->touched, &s->touched_cap, p->stacks.count);
	s->node = scratch_fit(s->node, &s->node_cap, p->stacks.count);
	s->slot = scratch_fit(s->slot, &s->slot_cap, p->paths.count);
	if (s->path_sum_cap < s->slot_cap) { /* 0 between uses, too */
		free(s->path_sum);
		s->path_sum_cap = s->slot_cap;
		s->path_sum = xcalloc(s->path_sum_cap, sizeof(*s->path_sum));
	}
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
	free(s->touched);
	free(s->squares);
	free(s->end_squares);
	free(s->summed.list);
	model_by_method_done(&s->by_method);
	free(s->node);
	free(s->slot);
	free(s->path_sum);
	free(s->seen);
	free(s->all.list);
	free(s->chosen.list);
	free(s->ends.list);
	form_free(s->form);
	for (struct profile_snapshot *at = s->snapshots; at; at = at->next)
		at->of = NULL;
	free(s->sweep.keep);
	free(s);
}

size_t model_scratch_bytes(const struct model_scratch *s)
{
	return tally_bytes(&s->pairs) + tally_bytes(&s->stacks) + form_bytes(s->form) +
	       ((size_t)s->all.cap + s->chosen.cap + s->ends.cap + s->summed.cap) *
		       sizeof(*s->all.list) +
	       4 * ((size_t)s->ids_cap + s->touched_cap + s->node_cap + s->slot_cap + s->seen_cap) +
	       ((size_t)s->squares_cap + s->ends.cap) * sizeof(*s->squares) +
	       s->path_sum_cap * sizeof(*s->path_sum) +
	       s->by_method.cap * (sizeof(*s->by_method.sums) + sizeof(*s->by_method.votes));
}

/* --- collecting -------------------------------------------------------------------------------------- */

const struct slices *model_slices(const struct profile *p, const struct profile_query *q)
{
	static const struct slices none;

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

static void query_put(
	struct model_rows *rows, const struct slices *s, uint32_t pair, struct amount sum)
{
	const struct slices_pair *of = &s->pairs[pair];

	if (sum.count | sum.weight)
		rows->list[rows->count++] = (struct model_row){
			of->stack, slices_thread(of), slices_state(of), pair, sum};
}

/* Of all that was ever added, with a mark of all since then, what is not later. */
static void query_put_totals(struct model_rows *rows, const struct slices *s,
	const struct slices_mark *since, const struct tally *later)
{
	uint32_t marked = since ? since->count : 0;

	for (uint32_t i = 0; i < s->pair_count; i++) {
		struct amount sum = s->pairs[i].sum;

		if (i < marked) {
			sum.count -= since->before[i].count;
			sum.weight -= since->before[i].weight;
		}
		if (tally_has(later, i)) {
			sum.count -= later->sums[i].count;
			sum.weight -= later->sums[i].weight;
		}
		query_put(rows, s, i, sum);
	}
}

bool model_wants_all(const struct profile_query *q)
{
	return q->thread == PROFILE_ANY_THREAD && !q->pool && !q->states &&
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

struct model_row *model_rows_fit(struct model_rows *rows, uint32_t count, uint64_t key)
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
	const struct slices *s = model_slices(p, q);
	const struct slices_mark *since = slices_marked(s, q->from);
	bool total = !q->from || (since && q->to >= q->from);
	struct tally *t = &p->scratch->pairs;
	struct model_rows *rows = &p->scratch->all;
	uint32_t to = slices_find(s, q->to), n, *ids;

	model_scratch_fit(p);
	ids = p->scratch->ids;
	query_add_slices(s, total ? to : slices_find(s, q->from), total ? s->count : to, t);
	n = tally_list(t, ids);
	model_rows_fit(rows, total ? s->pair_count : n, key);
	if (total)
		query_put_totals(rows, s, since, t);
	for (uint32_t i = 0; i < n && !total; i++)
		query_put(rows, s, ids[i], t->sums[ids[i]]);
	tally_clear(t, ids, n);
}

static uint64_t query_key_all(const struct profile *p, const struct profile_query *q)
{
	if (q->snapshot)
		return hash_pair(q->snapshot->serial, 1);
	return hash_pair(
		hash_pair(p->scratch->fed, (uint64_t)q->event), (uint64_t)q->from << 32 | q->to);
}

/* The same, from what was asked last if that was the same. */
static const struct model_row *query_all(
	const struct profile *p, const struct profile_query *q, uint32_t *count, uint64_t *key)
{
	struct model_rows *rows = &p->scratch->all;

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

static uint64_t query_key(const struct profile_query *q, const struct form *form, uint64_t all)
{
	uint64_t key = hash_pair(all, (uint64_t)q->thread << 32 | q->pool);

	key = hash_pair(key, q->filter ? model_filter_stamp(q->filter) : 0);
	return hash_pair(key, (uint64_t)q->states << 32 | (form ? form_serial(form) + 1 : 0));
}

uint64_t model_key(const struct profile *p, const struct profile_query *q)
{
	uint64_t all = query_key_all(p, q);

	return model_wants_all(q) ? all : query_key(q, model_form(p, q), all);
}

uint64_t profile_stamp(const struct profile *p, const struct profile_query *q)
{
	uint64_t key = query_key(q, model_form(p, q), query_key_all(p, q));

	return hash_pair(key, q->by_weight);
}

uint32_t profile_asked(const struct profile *p)
{
	return p->scratch->all.count;
}

static void query_choose(const struct profile *p, const struct profile_query *q,
	const struct model_row *from, uint32_t count, uint64_t key)
{
	struct model_rows *to = &p->scratch->chosen;
	struct model_row *rows = model_rows_fit(to, count, key);
	struct form *form = model_form(p, q);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t stack;

		if (!query_wants(p, q, from[i].thread, (enum thread_state)from[i].state))
			continue;
		stack = model_shown(p, q, form, from[i].stack);
		if (stack == PROFILE_NONE)
			continue;
		rows[to->count] = from[i];
		rows[to->count++].stack = stack;
	}
}

const struct model_row *model_collect(
	const struct profile *p, const struct profile_query *q, uint32_t *count)
{
	struct model_rows *chosen = &p->scratch->chosen;
	uint64_t key;
	const struct model_row *rows = query_all(p, q, count, &key);

	if (!model_wants_all(q)) {
		key = query_key(q, model_form(p, q), key);
		if (chosen->key != key)
			query_choose(p, q, rows, *count, key);
		*count = chosen->count;
		rows = chosen->list;
	}
	model_scratch_fit(model_view(p, q));
	return rows;
}

const struct profile *model_view(const struct profile *p, const struct profile_query *q)
{
	struct form *form = model_form(p, q);

	return form ? form_view(form) : p;
}

bool filter_prepare(const struct profile *p, const struct profile_query *q, uint64_t most)
{
	uint32_t serial = p->scratch->form ? form_serial(p->scratch->form) : PROFILE_NONE;
	struct form *form = model_form(p, q);
	bool other = form && form_serial(form) != serial; /* to drop the last one took its time */
	bool collected = q->snapshot || p->scratch->all.key == query_key_all(p, q);
	uint64_t key;
	uint32_t count;

	query_all(p, q, &count, &key);
	if ((other || !collected) && count > most)
		return false;
	return filter_prepare_form(p, q, most);
}

bool filter_prepare_form(const struct profile *p, const struct profile_query *q, uint64_t most)
{
	struct form *form = model_form(p, q);
	const struct model_row *rows;
	uint64_t key, before;
	uint32_t count;

	if (!form)
		return true;
	rows = query_all(p, q, &count, &key);
	before = form_made(form);
	for (uint32_t i = 0; i < count && form_made(form) - before < most; i++)
		if (query_wants(p, q, rows[i].thread, (enum thread_state)rows[i].state))
			form_stack(form, rows[i].stack);
	return form_made(form) - before < (most + 7) / 8;
}

struct profile_snapshot *profile_snapshot_new(
	const struct profile *p, const struct profile_query *q)
{
	struct profile_snapshot *s = xcalloc(1, sizeof(*s));
	struct profile_query seconds = *q;
	const struct model_row *rows;
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
