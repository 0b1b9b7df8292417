/* SPDX-License-Identifier: Apache-2.0 */
/* What a query collects, one by one and over all, and by second. */
#include "profile/query/query.h"

#include <math.h>
#include <stdlib.h>

void profile_each(
	const struct profile *p, const struct profile_query *q, profile_each_fn *fn, void *ctx)
{
	uint32_t count;
	const struct query_row *rows = query_collect(p, q, &count);
	const struct fold *fold = fold_of(p, q);

	for (uint32_t i = 0; i < count; i++)
		fn(ctx, &(struct profile_part){fold_mark(fold, rows[i].stack), rows[i].thread,
				(enum thread_state)rows[i].state, rows[i].sum.count,
				rows[i].sum.weight,
				rows[i].events ? (double)rows[i].events
					       : (double)rows[i].sum.count});
}

/* --- sums -------------------------------------------------------------------------------------------- */

struct profile_sum profile_sum(const struct profile *p, const struct profile_query *q)
{
	const struct slices *s = query_slices(p, q);
	const struct slices_mark *since = slices_marked(s, q->from);
	const struct slices_mark *base = slices_base(s, q->to);
	bool total = !q->from || (since && q->to >= q->from);
	struct profile_sum sum = {0};
	const struct query_row *rows;
	uint32_t to = slices_find(s, q->to), count;

	if (q->snapshot || !query_wants_all(q)) {
		rows = query_collect(p, q, &count);
		for (uint32_t i = 0; i < count; i++)
			sum_add(&sum, &rows[i].sum);
		return sum;
	}
	if (!total) {
		for (uint32_t i = slices_find(s, q->from); i < to; i++)
			sum_add(&sum, &s->list[i].sum);
		return sum;
	}
	sum = base ? base->sum : s->sum;
	if (since)
		sum_take(&sum, &since->sum);
	for (uint32_t i = to; i < slices_base_end(s, base); i++)
		sum_take(&sum, &s->list[i].sum);
	return sum;
}

/* Of the innermost Java frame; of none, that of the root. */
static uint8_t java_type(const struct model_stacks *view, uint32_t stack)
{
	while (stack != PROFILE_ROOT_STACK && !frame_is_java(model_type(view, stack)))
		stack = model_parent(view, stack);
	return stack == PROFILE_ROOT_STACK ? FRAME_BREAK : model_type(view, stack);
}

struct profile_sum profile_coarse(const struct profile *p, const struct profile_query *q)
{
	uint32_t count;
	const struct query_row *rows = query_ends(p, q, &count);
	const struct model_stacks *view = fold_view(p, fold_of(p, q));
	struct profile_sum sum = {0};

	for (uint32_t i = 0; i < count; i++) {
		uint8_t type = java_type(view, rows[i].stack);

		if (type == FRAME_COARSE || type == FRAME_C1_COARSE)
			sum_add(&sum, &rows[i].sum);
	}
	return sum;
}

#define EXPLAINED_INTERVAL_NS 10000000u /* where there is no sample */
#define EXPLAINED_LEAST       20        /* samples: with fewer chance explains all */
#define EXPLAINED_REST \
	0.02 /* of the process: its beginnings and ends, what the agent takes for its own */

/* How many threads have samples, but no more than that. */
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
	struct profile_query all = {
		.event = EVENT_CPU, .from = q->from, .to = q->to, .thread = PROFILE_ANY_THREAD};
	struct profile_sum sampled = profile_sum(p, &all);
	struct profile_explained e = {.sampled_ns = sampled.weight};
	double interval =
		(double)(sampled.count ? sampled.weight / sampled.count : EXPLAINED_INTERVAL_NS);
	double off, error = 3 * sqrt((double)sampled.count) * interval;

	all.event = MODEL_PROCESS;
	e.process_ns = profile_sum(p, &all).weight;
	error += EXPLAINED_REST * (double)e.process_ns;
	off = fabs((double)e.sampled_ns - (double)e.process_ns);
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
	uint32_t lo = 0, hi = p->gap_count, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (p->gaps[mid].to <= second)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Of [from, to) those without a gap. */
static uint32_t covered_outside_gaps(const struct profile *p, uint32_t from, uint32_t to)
{
	uint32_t seconds = to > from ? to - from : 0, begin, end;

	for (uint32_t i = gap_find(p, from); i < p->gap_count && p->gaps[i].from < to; i++) {
		begin = p->gaps[i].from > from ? p->gaps[i].from : from;
		end = p->gaps[i].to < to ? p->gaps[i].to : to;
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

/* Where a window that begins or ends here does so: steps belong to it if they begin in it. */
static uint32_t covered_edge(const struct profile *p, uint32_t second)
{
	return second < p->merged_before ? (second + SLICES_STEP - 1) / SLICES_STEP * SLICES_STEP
					 : second;
}

uint32_t profile_covered(const struct profile *p, const struct profile_query *q)
{
	const struct slices *s = query_slices(p, q);
	uint32_t from = q->from, to = q->to < p->now + 1 ? q->to : p->now + 1, seconds = 0;

	if (from && !slices_marked(s, from))
		from = covered_edge(p, from > p->oldest ? from : p->oldest);
	to = covered_edge(p, to);
	if (!s->run_count)
		return covered_outside_gaps(p, from, to);
	for (uint32_t i = 0; i < s->run_count; i++)
		seconds += covered_outside_gaps(p, s->runs[i].from > from ? s->runs[i].from : from,
			s->runs[i].to < to ? s->runs[i].to : to);
	return seconds;
}

static bool history_in_gap(const struct profile *p, uint32_t second)
{
	uint32_t i = gap_find(p, second);

	return i < p->gap_count && second >= p->gaps[i].from;
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
	if (s->marks[SLICES_EVICTED].second && second >= s->marks[SLICES_EVICTED].second &&
		second < s->evicted_to)
		return -1;
	return second < p->oldest || second > p->now || history_in_gap(p, second) ? -1 : 0;
}

void profile_history(const struct profile *p, int event, uint32_t to, int64_t *counts, uint32_t n)
{
	struct profile_query q = {.event = event};
	const struct slices *s = query_slices(p, &q);
	uint64_t each = profile_sample_weight(p, event);
	int64_t second;

	if (to > p->now + 1)
		to = p->now + 1;
	for (uint32_t i = 0; i < n; i++) {
		second = (int64_t)to - n + i;
		counts[i] = second < 0 ? -1 : history_at(p, s, (uint32_t)second, each);
	}
}
