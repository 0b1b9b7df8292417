/* SPDX-License-Identifier: Apache-2.0 */
/* The method table, from the sums per method, and the trend of each. */
#include "profile/table/flat.h"

#include "base/buf.h"
#include "profile/query/error.h"
#include "profile/query/query.h"

#include <stdlib.h>

struct flat_build {
	const struct profile *p;
	const struct model_stacks *view;
	struct fold *fold;
	const struct profile_query *q;
	struct flat *flat;
	uint32_t methods; /* at the start; collapsing for the trend may intern more */
	uint32_t *row_of; /* per method: its row + 1 */
};

/* The most frequent type. */
static uint8_t flat_winner(const struct profile_method *method, const struct method_sum *sum,
	const struct method_votes *votes)
{
	const uint64_t *of = sum->self.count ? votes->self : votes->total;
	int best = 0;

	/* Weight without a sample has no votes. */
	if (!sum->total.count)
		return profile_method_type(method);
	for (int i = 1; i < FRAME_TYPES; i++)
		best = of[i] > of[best] ? i : best;
	return (uint8_t)best;
}

static void flat_add_trend_second(struct flat_build *b, const struct slice *sl, uint32_t cell)
{
	const struct slices *s = query_slices(b->p, b->q);
	/* A lock wait is counted once but has time in each of its seconds. */
	uint64_t each = b->q->event == EVENT_LOCK ? profile_events[EVENT_LOCK].default_interval
						  : profile_sample_weight(b->p, b->q->event);

	for (uint32_t i = 0; i < sl->count; i++) {
		uint32_t pair = sl->entries[i].pair;
		uint32_t stack = slices_stack(s, pair);

		if (stack == PROFILE_ROOT_STACK ||
			!query_wants(b->p, b->q, slices_thread(s, pair),
				(enum thread_state)slices_state(s, pair)))
			continue;
		stack = query_shown(b->p, b->q, b->fold, stack);
		if (stack == PROFILE_NONE)
			continue;
		uint32_t method = model_method(b->view, stack);
		uint32_t row = method < b->methods ? b->row_of[method] : 0;
		if (row)
			b->flat->rows[row - 1].trend[cell] += (uint32_t)query_samples(
				sl->entries[i].count, sl->entries[i].weight, each);
	}
}

static void flat_add_trend(struct flat_build *b)
{
	const struct profile *p = b->p;
	const struct slices *s = query_slices(p, b->q);
	uint32_t to = b->q->to > p->now ? p->now + 1 : b->q->to;
	uint32_t from = to > FLAT_TREND ? to - FLAT_TREND : 0;

	for (uint32_t i = slices_find(s, from); i < s->count && s->list[i].from < to; i++) {
		if (s->list[i].span == 1)
			flat_add_trend_second(b, &s->list[i], s->list[i].from + FLAT_TREND - to);
	}
}

static double flat_samples(const struct flat_build *b, uint64_t part, query_squares squares)
{
	return error_samples(&(struct error_sums){(double)part, (double)b->flat->sum,
		(double)squares / QUERY_SQUARES_UNIT,
		(double)b->p->scratch->whole.squares / QUERY_SQUARES_UNIT});
}

static void flat_add_row(struct flat_build *b, const struct by_method *m, uint32_t at)
{
	const struct method_sum *sum = &m->sums[at];
	uint64_t self = query_value(b->q, &sum->self), total = query_value(b->q, &sum->total);
	struct flat *f = b->flat;

	if (!(sum->total.count | sum->total.weight))
		return;
	if (!(sum->self.count | sum->self.weight) && fold_is_run(b->fold, sum->method))
		return;
	f->rows[f->count] = (struct flat_row){.method = sum->method,
		.type = flat_winner(profile_get_method(b->p, sum->method), sum, &m->votes[at]),
		.own = profile_method_own(profile_get_method(b->p, sum->method)),
		.self = self,
		.total = total,
		.self_count = sum->self.count,
		.total_count = sum->total.count,
		.self_samples = flat_samples(b, self, sum->self_squares),
		.total_samples = flat_samples(b, total, sum->total_squares)};
	b->row_of[sum->method] = ++f->count;
}

struct flat *flat_new(const struct profile *p, const struct profile_query *q)
{
	struct flat_build b = {.p = p, .q = q, .fold = fold_of(p, q)};
	const struct by_method *m = query_by_method(p, q);

	b.view = fold_view(p, b.fold);
	b.methods = p->methods->count;
	b.row_of = xcalloc(b.methods + 1, sizeof(*b.row_of));
	b.flat = xcalloc(1, sizeof(*b.flat));
	b.flat->sum = query_value(q, &p->scratch->whole.sum);
	b.flat->sum_count = p->scratch->whole.sum.count;
	b.flat->rows = xreallocarray(NULL, m->count + 1, sizeof(*b.flat->rows));
	for (uint32_t i = 0; i < b.methods; i++)
		if (m->row_of[i])
			flat_add_row(&b, m, m->row_of[i] - 1);
	if (b.flat->count && !q->snapshot)
		flat_add_trend(&b);
	free(b.row_of);
	return b.flat;
}

void flat_free(struct flat *f)
{
	if (!f)
		return;
	free(f->rows);
	free(f);
}

static int flat_compare_method(const void *a, const void *b)
{
	const struct flat_row *x = a, *y = b;

	return x->method < y->method ? -1 : x->method > y->method;
}

const struct flat_row *flat_find(const struct flat *f, uint32_t method)
{
	struct flat_row key = {.method = method};

	return f && f->count ? bsearch(&key, f->rows, f->count, sizeof(key), flat_compare_method)
			     : NULL;
}

int flat_compare(const void *pa, const void *pb)
{
	const struct flat_row *a = pa, *b = pb;

	if (a->self != b->self)
		return a->self < b->self ? 1 : -1;
	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	if (a->own != b->own)
		return a->own ? -1 : 1;
	return flat_compare_method(a, b);
}

double flat_percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

double flat_half_width(uint64_t k, uint64_t n)
{
	return n && k <= n ? error_half_width((double)k / (double)n, (double)n) : 0;
}
