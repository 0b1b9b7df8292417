/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a query, results computed directly from them, and caches (table in query.h). */
#include "profile/query/query.h"

#include "profile/history.h"
#include "profile/model/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- rows ---------------------------------------------------------------------------------------------- */

const struct slices *query_slices(const struct profile *p, const struct profile_query *q)
{
	static const struct slices none;

	if (query_of_holders(q))
		return &p->events[MODEL_HOLDERS];
	return q->event >= 0 && q->event < MODEL_SLICES ? &p->events[q->event] : &none;
}

static void query_add_row(struct query_rows *rows, const struct slices *s, uint32_t pair,
	const struct profile_sum *sum)
{
	if (!sum_none(sum))
		rows->list[rows->count++] = (struct query_row){slices_stack(s, pair),
			slices_thread(s, pair), slices_state(s, pair), pair, 0, *sum};
}

/* True for waits of the JVM's own threads. */
static bool jvm_waits(const struct profile *p, uint32_t thread, enum thread_state state)
{
	enum thread_kind kind = profile_get_thread(p, thread)->kind;

	return state >= THREAD_SLEEPING && kind != THREAD_JAVA && kind != THREAD_VIRTUAL &&
	       kind != THREAD_NATIVE;
}

static bool query_wants_all(const struct profile_query *q)
{
	return q->thread == PROFILE_ANY_THREAD && !q->pool && !q->states && !q->without_idle &&
	       (!q->filter || filter_is_identity(q->filter));
}

bool query_wants(const struct profile *p, const struct profile_query *q, uint32_t thread,
	enum thread_state state)
{
	return (q->thread == PROFILE_ANY_THREAD || q->thread == thread) &&
	       (!q->states || q->states >> state & 1) &&
	       (!q->pool || profile_get_thread(p, thread)->pool == q->pool) &&
	       !(q->without_idle && jvm_waits(p, thread, state));
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

/*
 * How the sums of a query's seconds are computed (profile.h, "queries"; slices.h, "Anchors"):
 *
 *   total: total before `base` (NULL: of everything) - total before `since` (NULL: 0)
 *          - the slices [begin, end) after the window
 *   else:  the slices [begin, end) of the window
 */
struct window {
	bool total;
	const struct slices_anchor *base, *since;
	uint32_t begin, end;
};

static struct window window_of(const struct slices *s, const struct profile_query *q)
{
	struct window w = {.base = slices_base(s, q->to), .since = slices_anchored(s, q->from)};
	uint32_t to = slices_find(s, q->to);

	w.total = !q->from || (w.since && q->to >= q->from);
	w.begin = w.total ? to : slices_find(s, q->from);
	w.end = w.total ? slices_base_end(s, w.base) : to;
	return w;
}

/* The rows of a query's seconds, before thread and filter apply. */
static void query_rows(const struct profile *p, const struct profile_query *q, uint64_t key)
{
	const struct slices *s = query_slices(p, q);
	struct window w = window_of(s, q);
	struct tally *t = &p->scratch->pairs;
	struct query_rows *rows = &p->scratch->all;

	scratch_fit(p, &p->stacks);
	uint32_t *ids = p->scratch->ids;
	for (uint32_t i = w.begin; i < w.end; i++)
		for (uint32_t k = 0; k < s->list[i].count; k++) {
			const struct slice_entry *e = &s->list[i].entries[k];

			tally_add(t, e->pair, e->count, e->weight);
		}
	uint32_t n = tally_list(t, ids);
	rows_fit(rows, w.total ? s->pairs.count : n, key);
	if (w.total) {
		uint32_t count =
			w.base && w.base->cap < s->pairs.count ? w.base->cap : s->pairs.count;

		for (uint32_t i = 0; i < count; i++) {
			struct profile_sum sum = w.base ? w.base->before[i] : s->sums[i];

			if (w.since && i < w.since->cap)
				sum_subtract(&sum, &w.since->before[i]);
			if (tally_has(t, i))
				sum_subtract(&sum, &t->sums[i]);
			query_add_row(rows, s, i, &sum);
		}
	}
	for (uint32_t i = 0; i < n && !w.total; i++)
		query_add_row(rows, s, ids[i], &t->sums[ids[i]]);
	tally_clear(t, ids, n);
	if (q->event == EVENT_WALL)
		query_wait_events(s, slices_find(s, q->from > p->oldest ? q->from : p->oldest),
			slices_find(s, q->to), rows);
}

static uint64_t query_key_all(const struct profile *p, const struct profile_query *q)
{
	if (q->snapshot)
		return hash_pair(q->snapshot->serial, 1);
	return hash_pair(hash_pair(p->readers->fed, (uint64_t)q->event << 1 | query_of_holders(q)),
		(uint64_t)q->from << 32 | q->to);
}

/* The rows of a query's seconds, from the cache or the snapshot. Sets *key to their key. */
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
	key = hash_pair(key, (uint64_t)q->states << 1 | q->without_idle);
	return hash_pair(key, fold_serial(fold_of(p, q)));
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

uint32_t profile_query_size(const struct profile *p)
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
		if (!query_wants(p, q, from[i].thread, (enum thread_state)from[i].state))
			continue;
		uint32_t stack = query_shown(p, q, fold, from[i].stack);
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

/* --- in steps ------------------------------------------------------------------------------------------- */

bool filter_prepare(const struct profile *p, const struct profile_query *q, uint64_t most)
{
	uint32_t serial = fold_serial(p->scratch->fold);
	struct fold *fold = fold_of(p, q);
	bool other = fold && fold_serial(fold) != serial; /* freeing the previous one was slow */
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
	uint64_t key;
	uint32_t count;

	if (!fold)
		return true;
	const struct query_row *rows = query_all(p, q, &count, &key);
	uint64_t before = fold_made(fold);
	for (uint32_t i = 0; i < count && fold_made(fold) - before < most; i++)
		if (query_wants(p, q, rows[i].thread, (enum thread_state)rows[i].state))
			fold_stack(fold, rows[i].stack);
	return fold_made(fold) - before < (most + 7) / 8;
}

/* --- snapshots ------------------------------------------------------------------------------------------ */

struct profile_snapshot *profile_snapshot_new(
	const struct profile *p, const struct profile_query *q)
{
	struct profile_snapshot *s = xcalloc(1, sizeof(*s));
	struct profile_query seconds = *q;
	uint64_t key;

	seconds.snapshot = NULL;
	const struct query_row *rows = query_all(p, &seconds, &s->count, &key);
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

/* --- caches ---------------------------------------------------------------------------------------------- */

static void scratch_keep(void *ctx, enum profile_kind kind, bool leaving)
{
	const struct profile *p = ctx;
	struct scratch *s = p->scratch;
	const struct model_stacks *view = fold_view(p, s->fold);

	if (leaving && kind != PROFILE_THREADS && kind != PROFILE_POOLS) {
		/* Ids in it may be reused. */
		fold_free(s->fold);
		s->fold = NULL;
		return;
	}
	if (kind == PROFILE_FRAMES)
		for (uint32_t i = 1; i < view->trie.count; i++)
			profile_pin(p, model_frame(view, i));
	if (kind == PROFILE_STACKS || kind == PROFILE_THREADS)
		for (const struct profile_snapshot *at = s->snapshots; at; at = at->next)
			for (uint32_t i = 0; i < at->count; i++)
				profile_pin(p, kind == PROFILE_STACKS ? at->rows[i].stack
								      : at->rows[i].thread);
}

struct profile *profile_new(void)
{
	struct profile *p = model_new();

	p->scratch = xcalloc(1, sizeof(*p->scratch));
	profile_pin_register(p, scratch_keep, p);
	return p;
}

void scratch_fit(const struct profile *p, const struct model_stacks *view)
{
	struct scratch *s = p->scratch;
	uint32_t stacks = view->trie.count, paths = view->paths.count, pairs = 0;

	for (int i = 0; i < MODEL_SLICES; i++)
		pairs = p->events[i].pairs.count > pairs ? p->events[i].pairs.count : pairs;
	uint32_t ids = pairs > stacks ? pairs : stacks;
	tally_reserve(&s->pairs, ids);
	tally_reserve(&s->stacks, stacks);
	s->squares = fit_zeroed(s->squares, &s->squares_cap, s->stacks.cap, sizeof(*s->squares));
	s->ids = fit_zeroed(s->ids, &s->ids_cap, ids, sizeof(*s->ids));
	s->touched = fit_zeroed(s->touched, &s->touched_cap, stacks, sizeof(*s->touched));
	s->node = fit_zeroed(s->node, &s->node_cap, stacks, sizeof(*s->node));
	s->slot = fit_zeroed(s->slot, &s->slot_cap, paths, sizeof(*s->slot));
	s->path_sum = fit_zeroed(s->path_sum, &s->path_sum_cap, paths, sizeof(*s->path_sum));
	p->readers->scratch_bytes =
		tally_bytes(&s->pairs) + tally_bytes(&s->stacks) + fold_bytes(s->fold) +
		((size_t)s->all.cap + s->chosen.cap + s->ends.cap) * sizeof(*s->all.list) +
		s->idle_cap +
		((size_t)s->ids_cap + s->touched_cap + s->node_cap + s->slot_cap) *
			sizeof(*s->ids) +
		s->squares_cap * sizeof(*s->squares) + s->path_sum_cap * sizeof(*s->path_sum) +
		s->by_method.sums_cap * (sizeof(*s->by_method.sums) + sizeof(*s->by_method.votes));
}

static void scratch_free(struct scratch *s)
{
	void *const lists[] = {s->idle, s->ids, s->touched, s->squares, s->node, s->slot,
		s->path_sum, s->all.list, s->chosen.list, s->ends.list};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		free(lists[i]);
	tally_done(&s->pairs);
	tally_done(&s->stacks);
	by_method_done(&s->by_method);
	fold_free(s->fold);
	for (struct profile_snapshot *at = s->snapshots; at; at = at->next)
		at->of = NULL;
	free(s);
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	scratch_free(p->scratch);
	model_free(p);
}

/* --- answers --------------------------------------------------------------------------------------------- */

void profile_each(
	const struct profile *p, const struct profile_query *q, profile_each_fn *fn, void *ctx)
{
	uint32_t count;
	const struct query_row *rows = query_collect(p, q, &count);
	const struct fold *fold = fold_of(p, q);

	for (uint32_t i = 0; i < count; i++)
		fn(ctx, &(struct profile_part){fold_export(fold, rows[i].stack), rows[i].thread,
				(enum thread_state)rows[i].state, rows[i].sum.count,
				rows[i].sum.weight,
				rows[i].events ? (double)rows[i].events
					       : (double)rows[i].sum.count});
}

struct profile_sum profile_sum(const struct profile *p, const struct profile_query *q)
{
	const struct slices *s = query_slices(p, q);
	struct window w = window_of(s, q);
	struct profile_sum sum = {0};

	if (q->snapshot || !query_wants_all(q)) {
		uint32_t count;
		const struct query_row *rows = query_collect(p, q, &count);

		for (uint32_t i = 0; i < count; i++)
			sum_add(&sum, &rows[i].sum);
		return sum;
	}
	for (uint32_t i = w.begin; i < w.end && !w.total; i++)
		sum_add(&sum, &s->list[i].sum);
	if (!w.total)
		return sum;
	sum = w.base ? w.base->sum : s->sum;
	if (w.since)
		sum_subtract(&sum, &w.since->sum);
	for (uint32_t i = w.begin; i < w.end; i++)
		sum_subtract(&sum, &s->list[i].sum);
	return sum;
}

struct profile_sum profile_no_inlining(const struct profile *p, const struct profile_query *q)
{
	uint32_t count;
	const struct query_row *rows = query_ends(p, q, &count);
	const struct model_stacks *view = fold_view(p, fold_of(p, q));
	struct profile_sum sum = {0};

	for (uint32_t i = 0; i < count; i++) {
		uint32_t stack = rows[i].stack;

		/* the innermost Java frame */
		while (stack != PROFILE_ROOT_STACK && !frame_is_java(model_type(view, stack)))
			stack = model_parent(view, stack);
		uint8_t type = stack == PROFILE_ROOT_STACK ? FRAME_BREAK : model_type(view, stack);
		if (type == FRAME_NO_INLINING || type == FRAME_C1_NO_INLINING)
			sum_add(&sum, &rows[i].sum);
	}
	return sum;
}

#define EXPLAINED_INTERVAL_NS 10000000u /* assumed if there is no sample */
#define EXPLAINED_LEAST       20        /* samples: fewer are explained by chance */
#define EXPLAINED_REST        0.02 /* share not sampled: starts and ends of threads, the agent */

/* Number of threads with samples, at most `most`. */
static uint32_t sampled_threads(
	const struct profile *p, const struct profile_query *q, uint32_t most)
{
	uint32_t count, threads = 0;
	const struct query_row *rows = query_collect(p, q, &count);
	bool *seen = calloc(p->threads.count + 1, sizeof(*seen));

	for (uint32_t i = 0; seen && i < count && threads < most; i++) {
		if (rows[i].thread > p->threads.count)
			continue;
		threads += !seen[rows[i].thread];
		seen[rows[i].thread] = true;
	}
	free(seen);
	return threads;
}

struct profile_explained profile_explained(
	const struct profile *p, const struct profile_query *q, int64_t alive)
{
	struct profile_query all = profile_whole(EVENT_CPU);

	all.from = q->from;
	all.to = q->to;
	struct profile_sum sampled = profile_sum(p, &all);
	struct profile_explained e = {.sampled_ns = sampled.weight};
	double interval =
		(double)(sampled.count ? sampled.weight / sampled.count : EXPLAINED_INTERVAL_NS);
	double error = 3 * sqrt((double)sampled.count) * interval;

	all.event = MODEL_PROCESS;
	e.process_ns = profile_sum(p, &all).weight;
	error += EXPLAINED_REST * (double)e.process_ns;
	double off = fabs((double)e.sampled_ns - (double)e.process_ns);
	all.event = EVENT_CPU;
	if (off > error && alive > 0 && sampled.count)
		error += interval * sampled_threads(p, &all,
					    alive < UINT32_MAX ? (uint32_t)alive : UINT32_MAX);
	e.error_ns = (uint64_t)error;
	e.differs = (double)e.process_ns >= EXPLAINED_LEAST * interval && off > error;
	return e;
}

/* --- seconds ----------------------------------------------------------------------------------------- */

/* The first gap that ends after this second. */
static uint32_t gap_find(const struct profile *p, uint32_t second)
{
	uint32_t lo = 0, hi = p->gap_count;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (p->gaps[mid].to <= second)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Seconds of [from, to) outside of gaps. */
static uint32_t covered_outside_gaps(const struct profile *p, uint32_t from, uint32_t to)
{
	uint32_t seconds = to > from ? to - from : 0;

	for (uint32_t i = gap_find(p, from); i < p->gap_count && p->gaps[i].from < to; i++) {
		uint32_t begin = p->gaps[i].from > from ? p->gaps[i].from : from;
		uint32_t end = p->gaps[i].to < to ? p->gaps[i].to : to;
		seconds -= end > begin ? end - begin : 0;
	}
	return seconds;
}

void profile_align(const struct profile *p, uint32_t *from, uint32_t *to)
{
	if (*from < p->merged_before)
		*from -= *from % SLICES_STEP;
	if (*to < p->merged_before)
		*to = (*to + SLICES_STEP - 1) / SLICES_STEP * SLICES_STEP;
}

/* The effective begin or end of a window: it has the steps that begin in it. */
static uint32_t covered_edge(const struct profile *p, uint32_t second)
{
	return second < p->merged_before ? (second + SLICES_STEP - 1) / SLICES_STEP * SLICES_STEP
					 : second;
}

uint32_t profile_covered(const struct profile *p, const struct profile_query *q)
{
	const struct slices *s = query_slices(p, q);
	uint32_t from = q->from, to = q->to < p->now + 1 ? q->to : p->now + 1, seconds = 0;

	if (from && !slices_anchored(s, from))
		from = covered_edge(p, from > p->oldest ? from : p->oldest);
	to = covered_edge(p, to);
	if (!s->run_count)
		return covered_outside_gaps(p, from, to);
	for (uint32_t i = 0; i < s->run_count; i++)
		seconds += covered_outside_gaps(p, s->runs[i].from > from ? s->runs[i].from : from,
			s->runs[i].to < to ? s->runs[i].to : to);
	return seconds;
}

static int64_t history_at(
	const struct profile *p, const struct slices *s, uint32_t second, uint64_t each)
{
	uint32_t i = slices_find(s, second + 1);
	const struct slice *sl = i ? &s->list[i - 1] : NULL;

	if (sl && second - sl->from < sl->span) {
		uint64_t n = query_samples(sl->sum.count, sl->sum.weight, each);
		uint64_t k = second - sl->from;

		if (n)
			return (int64_t)(n * (k + 1) / sl->span - n * k / sl->span);
	}
	if (s->anchors[SLICES_EVICTED].second && second >= s->anchors[SLICES_EVICTED].second &&
		second < s->evicted_to)
		return -1;
	i = gap_find(p, second);
	return second < p->oldest || second > p->now ||
			       (i < p->gap_count && second >= p->gaps[i].from)
		       ? -1
		       : 0;
}

void profile_history(const struct profile *p, int event, uint32_t to, int64_t *counts, uint32_t n)
{
	struct profile_query q = {.event = event};
	const struct slices *s = query_slices(p, &q);
	uint64_t each = profile_sample_weight(p, event);

	if (to > p->now + 1)
		to = p->now + 1;
	for (uint32_t i = 0; i < n; i++) {
		int64_t second = (int64_t)to - n + i;
		counts[i] = second < 0 ? -1 : history_at(p, s, (uint32_t)second, each);
	}
}

uint64_t profile_process_ns(const struct profile *p, uint32_t from, uint32_t to)
{
	struct profile_query q = profile_whole(MODEL_PROCESS);

	q.from = from;
	q.to = to;
	return profile_sum(p, &q).weight;
}
