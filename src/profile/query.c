/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over what a query collects: up the stacks, over all, by second. */
#include "profile/error.h"
#include "profile/filter.h"
#include "profile/form.h"
#include "profile/model.h"

#include <math.h>
#include <string.h>

#define ROLL_UP_PART 32 /* of the stacks; from there on all are gone through */

static void roll_up_touch_callers(const struct profile *p, struct tally *t, double *squares)
{
	uint32_t *ids = p->scratch->ids, n = tally_list(t, ids), stack;

	for (uint32_t i = 0; i < n; i++) {
		stack = ids[i];
		while (stack != PROFILE_ROOT_STACK) {
			stack = p->stacks.nodes[stack].parent;
			if (!tally_touch(t, stack))
				break;
			if (squares)
				squares[stack] = 0;
		}
	}
}

static void roll_up_one(const struct profile *p, double *squares, uint32_t stack)
{
	struct amount *sums = p->scratch->stacks.sums;
	uint32_t parent = p->stacks.nodes[stack].parent;

	sums[parent].count += sums[stack].count;
	sums[parent].weight += sums[stack].weight;
	if (squares)
		squares[parent] += squares[stack];
}

/*
 * Where a long history has touched most stacks, going through all of them in order is several times cheaper
 * than finding the callers one by one.
 */
static const uint32_t *roll_up_all(const struct profile *p, double *squares, uint32_t *count)
{
	struct tally *t = &p->scratch->stacks;
	uint32_t *ids = p->scratch->ids, n = p->stacks.count;

	for (uint32_t i = 0; i < n; i += 64) {
		uint64_t untouched = ~t->bits[i / 64];

		for (; untouched; untouched &= untouched - 1) { /* there is room for whole words */
			uint32_t k = i + (uint32_t)__builtin_ctzll(untouched);

			t->sums[k] = (struct amount){0, 0};
			if (squares)
				squares[k] = 0;
		}
	}
	for (uint32_t i = n; i-- > PROFILE_ROOT_STACK + 1;)
		roll_up_one(p, squares, i);
	*count = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!(t->sums[i].count | t->sums[i].weight) && !tally_has(t, i))
			continue;
		tally_mark(t, i);
		ids[(*count)++] = i;
	}
	return ids;
}

const uint32_t *model_roll_up(const struct profile *p, double *squares, uint32_t *count)
{
	struct tally *t = &p->scratch->stacks;
	uint32_t *ids = p->scratch->ids;

	if (t->touched > p->stacks.count / ROLL_UP_PART)
		return roll_up_all(p, squares, count);
	roll_up_touch_callers(p, t, squares);
	*count = tally_list(t, ids);
	for (uint32_t i = *count; i-- > 0;)
		if (ids[i] != PROFILE_ROOT_STACK)
			roll_up_one(p, squares, ids[i]);
	return ids;
}

void model_sums_drop(const struct profile *p)
{
	struct model_scratch *s = p->scratch;

	if (s->ends.key)
		tally_clear(&s->stacks, s->touched, s->touched_count);
	s->ends.key = 0;
}

/* Squares are of values, and some of the window's time. */
static uint64_t sums_key(const struct profile *p, const struct profile_query *q)
{
	return hash_pair(model_key(p, q), (uint64_t)profile_covered(p, q) << 1 | q->by_weight);
}

static bool sums_are_of(const struct profile *p, const struct profile_query *q)
{
	return p->scratch->ends.key && p->scratch->ends.key == sums_key(p, q);
}

static void sums_touched(struct model_scratch *s, const uint32_t *stacks, uint32_t count)
{
	memcpy(s->touched, stacks, count * sizeof(*stacks));
	s->touched_count = count;
}

static void sum_rows(const struct profile *p, const struct profile_query *q)
{
	struct model_scratch *s = p->scratch;
	double window_ns = (double)profile_covered(p, q) * 1e9;
	uint32_t count;
	const struct model_row *rows = model_collect(p, q, &count);

	model_sums_drop(p);
	s->values = s->all_squares = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct model_row *r = &rows[i];
		double squares = error_squares(q->event, q->by_weight,
			&(struct profile_part){.state = (enum thread_state)r->state,
				.count = r->sum.count,
				.weight = r->sum.weight},
			window_ns);

		if (tally_touch(&s->stacks, r->stack))
			s->squares[r->stack] = 0;
		s->stacks.sums[r->stack].count += r->sum.count;
		s->stacks.sums[r->stack].weight += r->sum.weight;
		s->squares[r->stack] += squares;
		s->values += (double)model_value(q, &r->sum);
		s->all_squares += squares;
	}
}

static void sum_ends(const struct profile *p, const struct profile_query *q)
{
	struct model_scratch *s = p->scratch;
	struct model_row *ends;
	uint32_t count;

	sum_rows(p, q);
	count = tally_list(&s->stacks, s->ids);
	ends = model_rows_fit(&s->ends, count, sums_key(p, q));
	for (uint32_t i = 0; i < count; i++)
		ends[i] = (struct model_row){s->ids[i], 0, 0, s->stacks.sums[s->ids[i]]};
	s->ends.count = count;
	sums_touched(s, s->ids, count);
	s->rolled = false;
}

const struct model_row *model_ends(
	const struct profile *p, const struct profile_query *q, uint32_t *count)
{
	const struct model_rows *ends = &p->scratch->ends;

	if (!sums_are_of(p, q))
		sum_ends(p, q);
	*count = ends->count;
	return ends->list;
}

const uint32_t *model_sum_up(
	const struct profile *p, const struct profile_query *q, uint32_t *count)
{
	struct model_scratch *s = p->scratch;
	const uint32_t *stacks;

	model_ends(p, q, count);
	if (!s->rolled) {
		model_scratch_fit(model_view(p, q));
		stacks = model_roll_up(model_view(p, q), s->squares, count);
		sums_touched(s, stacks, *count);
		s->rolled = true;
	}
	*count = s->touched_count;
	return s->touched;
}

bool filter_prepare_sums(const struct profile *p, const struct profile_query *q, uint64_t most)
{
	bool there = sums_are_of(p, q) && p->scratch->rolled;
	uint32_t count;

	model_sum_up(p, q, &count);
	return there || count <= most;
}

void profile_each(
	const struct profile *p, const struct profile_query *q, profile_each_fn *fn, void *ctx)
{
	uint32_t count;
	const struct model_row *rows = model_collect(p, q, &count);
	const struct form *form = model_form(p, q);

	for (uint32_t i = 0; i < count; i++)
		fn(ctx, form ? form_mark(form, rows[i].stack) : rows[i].stack, rows[i].thread,
			rows[i].sum.count, rows[i].sum.weight);
}

void profile_each_part(
	const struct profile *p, const struct profile_query *q, profile_part_fn *fn, void *ctx)
{
	uint32_t count;
	const struct model_row *rows = model_collect(p, q, &count);
	const struct form *form = model_form(p, q);

	for (uint32_t i = 0; i < count; i++)
		fn(ctx, &(struct profile_part){
				form ? form_mark(form, rows[i].stack) : rows[i].stack,
				rows[i].thread, (enum thread_state)rows[i].state, rows[i].sum.count,
				rows[i].sum.weight});
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
	const struct slices *s = model_slices(p, q);
	const struct slices_mark *since = slices_marked(s, q->from);
	bool total = !q->from || (since && q->to >= q->from);
	struct profile_sum sum = {0};
	uint32_t to = slices_find(s, q->to);

	if (q->snapshot || !model_wants_all(q)) {
		profile_each(p, q, sum_add, &sum);
		return sum;
	}
	if (total)
		sum = (struct profile_sum){s->sum.count, s->sum.weight};
	if (total && since) {
		sum.count -= since->sum.count;
		sum.weight -= since->sum.weight;
	}
	for (uint32_t i = total ? to : slices_find(s, q->from); i < (total ? s->count : to); i++) {
		sum.count += total ? -s->list[i].sum.count : s->list[i].sum.count;
		sum.weight += total ? -s->list[i].sum.weight : s->list[i].sum.weight;
	}
	return sum;
}

/* Of the innermost Java frame; of none, that of the root. */
static uint8_t java_type(const struct profile *view, uint32_t stack)
{
	while (stack != PROFILE_ROOT_STACK && model_stack_type(view, stack) > FRAME_JAVA)
		stack = view->stacks.nodes[stack].parent;
	return stack == PROFILE_ROOT_STACK ? FRAME_BREAK : model_stack_type(view, stack);
}

struct profile_sum profile_coarse(const struct profile *p, const struct profile_query *q)
{
	uint32_t count;
	const struct model_row *rows = model_ends(p, q, &count);
	const struct profile *view = model_view(p, q);
	struct profile_sum sum = {0};

	for (uint32_t i = 0; i < count; i++) {
		if (java_type(view, rows[i].stack) != FRAME_COARSE)
			continue;
		sum.count += rows[i].sum.count;
		sum.weight += rows[i].sum.weight;
	}
	return sum;
}

#define EXPLAINED_INTERVAL_NS 10000000u /* where there is no sample */
#define EXPLAINED_LEAST       20        /* samples: with fewer chance explains all */
#define EXPLAINED_REST \
	0.02 /* of the process: its beginnings and ends, what the agent takes for its own */

struct profile_explained profile_explained(const struct profile *p, const struct profile_query *q)
{
	struct profile_query all = {
		.event = EVENT_CPU, .from = q->from, .to = q->to, .thread = PROFILE_ANY_THREAD};
	struct profile_sum sampled = profile_sum(p, &all);
	struct profile_explained e = {.sampled_ns = sampled.weight};
	double interval, off;

	all.event = MODEL_PROCESS;
	e.process_ns = profile_sum(p, &all).weight;
	interval = (double)(sampled.count ? sampled.weight / sampled.count : EXPLAINED_INTERVAL_NS);
	off = fabs((double)e.sampled_ns - (double)e.process_ns);
	e.differs = (double)e.process_ns >= EXPLAINED_LEAST * interval &&
		    off > 2 * sqrt((double)sampled.count) * interval +
				    EXPLAINED_REST * (double)e.process_ns;
	return e;
}

/* --- seconds ----------------------------------------------------------------------------------------- */

/* Of [from, to) those without a gap. */
static uint32_t covered_outside_gaps(const struct profile *p, uint32_t from, uint32_t to)
{
	uint32_t seconds = to > from ? to - from : 0, begin, end;

	for (uint32_t i = 0; i < p->gap_count; i++) {
		begin = p->gaps[i].from > from ? p->gaps[i].from : from;
		end = p->gaps[i].to < to ? p->gaps[i].to : to;
		seconds -= end > begin ? end - begin : 0;
	}
	return seconds;
}

/* Where a window that begins or ends here does so: steps belong to it if they begin in it. */
static uint32_t covered_edge(const struct profile *p, uint32_t second)
{
	return second < p->merged_before ? (second + SLICES_STEP - 1) / SLICES_STEP * SLICES_STEP
					 : second;
}

uint32_t profile_covered(const struct profile *p, const struct profile_query *q)
{
	const struct slices *s = model_slices(p, q);
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

/* They come in order. */
static bool history_in_gap(const struct profile *p, uint32_t second)
{
	for (uint32_t i = p->gap_count; i-- > 0;) {
		if (second >= p->gaps[i].to)
			break;
		if (second >= p->gaps[i].from)
			return true;
	}
	return false;
}

static int64_t history_at(
	const struct profile *p, const struct slices *s, uint32_t second, uint64_t each)
{
	uint32_t i = slices_find(s, second + 1);
	const struct slice *sl = i ? &s->list[i - 1] : NULL;

	if (sl && second - sl->from < sl->span) {
		uint64_t n = model_samples(sl->sum.count, sl->sum.weight, each);
		uint64_t k = second - sl->from;

		if (n)
			return (int64_t)(n * (k + 1) / sl->span - n * k / sl->span);
	}
	return second < p->oldest || second > p->now || history_in_gap(p, second) ? -1 : 0;
}

void profile_history(const struct profile *p, int event, uint32_t to, int64_t *counts, uint32_t n)
{
	struct profile_query q = {.event = event};
	const struct slices *s = model_slices(p, &q);
	uint64_t each = profile_sample_weight(p, event);
	int64_t second;

	if (to > p->now + 1)
		to = p->now + 1;
	for (uint32_t i = 0; i < n; i++) {
		second = (int64_t)to - n + i;
		counts[i] = second < 0 ? -1 : history_at(p, s, (uint32_t)second, each);
	}
}
