/* SPDX-License-Identifier: Apache-2.0 */
/* The method table: one roll-up over the window's stacks, then one row per method that was touched. */
#include "profile/flat.h"

#include "base/buf.h"
#include "profile/error.h"
#include "profile/model.h"

#include <stdlib.h>
#include <string.h>

/* Per method that was met, dense: a long history has far more stacks than methods, and these stay in the cache. */
struct flat_sum {
	uint64_t self, self_count, total, total_count;
	double self_squares, total_squares;
	uint64_t votes[FRAME_TYPES]; /* of self samples, else of all: by how the method ran */
};

struct flat_build {
	const struct profile *p; /* in the query's form */
	const struct profile *sampled;
	struct form *form;
	const struct profile_query *q;
	struct flat *flat;
	struct flat_sum *sums; /* in the order in which they were met */
	uint32_t sum_count, sum_cap;
	double squares, *below; /* of clusters: of all, per stack of it and what it calls */
	uint32_t methods;       /* when it was begun; the trend may meet newer ones */
	uint32_t *row_of;       /* per method: its sum + 1, later its row + 1 */
};

static struct flat_sum *flat_sum_of(struct flat_build *b, uint32_t method)
{
	uint32_t *at = &b->row_of[method];

	if (*at)
		return &b->sums[*at - 1];
	if (b->sum_count == b->sum_cap) {
		b->sum_cap = b->sum_cap ? b->sum_cap * 2 : 256;
		b->sums = xreallocarray(b->sums, b->sum_cap, sizeof(*b->sums));
	}
	b->sums[b->sum_count] = (struct flat_sum){0};
	*at = ++b->sum_count;
	return &b->sums[*at - 1];
}

static void flat_add_self(struct flat_build *b, const struct model_row *in)
{
	struct flat_sum *sum;

	b->flat->sum += model_value(b->q, &in->sum);
	b->flat->sum_count += in->sum.count;
	if (in->stack == PROFILE_ROOT_STACK)
		return;
	sum = flat_sum_of(b, model_stack_method(b->p, in->stack));
	sum->self += model_value(b->q, &in->sum);
	sum->self_count += in->sum.count;
	sum->votes[model_stack_type(b->p, in->stack)] += in->sum.count;
}

static void flat_add_total(struct flat_build *b, uint32_t stack)
{
	const struct profile *p = b->p;
	const struct amount *amount = &p->scratch->stacks.sums[stack];
	struct flat_sum *sum = flat_sum_of(b, model_stack_method(p, stack));

	if (!model_stack_repeats(p, stack)) {
		sum->total += model_value(b->q, amount);
		sum->total_count += amount->count;
		sum->total_squares += b->below[stack];
	}
	if (!sum->self_count)
		sum->votes[model_stack_type(p, stack)] += amount->count;
}

static uint8_t flat_winner(const uint64_t votes[FRAME_TYPES])
{
	int best = 0;

	for (int i = 1; i < FRAME_TYPES; i++)
		best = votes[i] > votes[best] ? i : best;
	return (uint8_t)best;
}

static void flat_add_trend_second(struct flat_build *b, const struct slice *sl, uint32_t cell)
{
	const struct slices *s = &b->p->events[b->q->event];
	const struct slices_pair *pair;
	/* A wait that goes on was counted once, and is in each of its seconds by its time. */
	uint64_t each = b->q->event == EVENT_LOCK ? profile_events[EVENT_LOCK].default_interval
						  : profile_sample_weight(b->sampled, b->q->event);
	uint32_t row, stack, method;

	for (uint32_t i = 0; i < sl->count; i++) {
		pair = &s->pairs[sl->entries[i].pair];
		if (pair->stack == PROFILE_ROOT_STACK || !model_wants(b->p, b->q, pair))
			continue;
		stack = model_shown(b->sampled, b->q, b->form, pair->stack);
		if (stack == PROFILE_NONE)
			continue;
		method = model_stack_method(b->p, stack);
		row = method < b->methods ? b->row_of[method] : 0;
		if (row)
			b->flat->rows[row - 1].trend[cell] += (uint32_t)model_samples(
				sl->entries[i].count, sl->entries[i].weight, each);
	}
}

static void flat_add_trend(struct flat_build *b)
{
	const struct profile *p = b->p;
	const struct slices *s = &p->events[b->q->event];
	uint32_t to = b->q->to > p->now ? p->now + 1 : b->q->to;
	uint32_t from = to > FLAT_TREND ? to - FLAT_TREND : 0;

	for (uint32_t i = slices_find(s, from); i < s->count && s->list[i].from < to; i++) {
		if (s->list[i].span == 1)
			flat_add_trend_second(b, &s->list[i], s->list[i].from + FLAT_TREND - to);
	}
}

/* Before they are rolled up, what is below a stack is its own. */
static void flat_add_squares(struct flat_build *b, const struct profile_query *q)
{
	double window_ns = (double)profile_covered(b->sampled, q) * 1e9;
	uint32_t count;
	const struct model_row *rows = model_collect(b->sampled, q, &count);

	b->below = xcalloc(b->p->stacks.count + 1, sizeof(*b->below));
	for (uint32_t i = 0; i < count; i++) {
		struct profile_part part = {.state = (enum thread_state)rows[i].state,
			.count = rows[i].sum.count,
			.weight = rows[i].sum.weight};
		double squares = error_squares(q->event, q->by_weight, &part, window_ns);

		b->squares += squares;
		b->below[rows[i].stack] += squares;
		if (rows[i].stack != PROFILE_ROOT_STACK)
			flat_sum_of(b, model_stack_method(b->p, rows[i].stack))->self_squares +=
				squares;
	}
}

/* Callers have smaller numbers. */
static void flat_roll_up_squares(struct flat_build *b, const uint32_t *stacks, uint32_t n)
{
	for (uint32_t i = n; i-- > 0;)
		if (stacks[i] != PROFILE_ROOT_STACK)
			b->below[b->p->stacks.nodes[stacks[i]].parent] += b->below[stacks[i]];
}

static double flat_samples(const struct flat_build *b, uint64_t part, double squares)
{
	return error_samples(
		&(struct error_sums){(double)part, (double)b->flat->sum, squares, b->squares});
}

/* In the order of the methods' numbers. */
static void flat_add_rows(struct flat_build *b)
{
	struct flat *f = b->flat;

	f->rows = xreallocarray(NULL, b->sum_count + 1, sizeof(*f->rows));
	for (uint32_t i = 0; i < b->methods; i++) {
		const struct flat_sum *sum;

		if (!b->row_of[i])
			continue;
		sum = &b->sums[b->row_of[i] - 1];
		f->rows[f->count] = (struct flat_row){.method = i,
			.type = flat_winner(sum->votes),
			.self = sum->self,
			.total = sum->total,
			.self_count = sum->self_count,
			.total_count = sum->total_count,
			.self_samples = flat_samples(b, sum->self, sum->self_squares),
			.total_samples = flat_samples(b, sum->total, sum->total_squares)};
		b->row_of[i] = ++f->count;
	}
}

struct flat *flat_new(const struct profile *p, const struct profile_query *q)
{
	struct flat_build b = {.sampled = p, .q = q};
	const struct model_row *in;
	const uint32_t *stacks;
	uint32_t n;

	in = model_ends(p, q, &n);
	b.form = model_form(p, q);
	b.p = p = model_view(p, q);
	b.flat = xcalloc(1, sizeof(*b.flat));
	b.methods = p->methods.count;
	b.row_of = xcalloc(b.methods + 1, sizeof(*b.row_of));
	for (uint32_t i = 0; i < n; i++)
		flat_add_self(&b, &in[i]);
	flat_add_squares(&b, q);
	stacks = model_sum_up(b.sampled, q, &n);
	flat_roll_up_squares(&b, stacks, n);
	for (uint32_t i = 0; i < n; i++) {
		if (stacks[i] != PROFILE_ROOT_STACK)
			flat_add_total(&b, stacks[i]);
	}
	flat_add_rows(&b);
	if (b.flat->count && !q->snapshot)
		flat_add_trend(&b);
	free(b.sums);
	free(b.below);
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

int flat_compare(const void *pa, const void *pb)
{
	const struct flat_row *a = pa, *b = pb;

	if (a->self != b->self)
		return a->self < b->self ? 1 : -1;
	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	return a->method < b->method ? -1 : a->method > b->method;
}

double flat_percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

double flat_half_width(uint64_t k, uint64_t n)
{
	return n && k <= n ? error_half_width((double)k / (double)n, (double)n) : 0;
}
