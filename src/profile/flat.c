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
};

/* Samples by how the method ran: of self samples, else of all. */
struct flat_votes {
	uint64_t of[FRAME_TYPES];
};

struct flat_build {
	const struct profile *p; /* in the query's form */
	const struct profile *sampled;
	struct form *form;
	const struct profile_query *q;
	struct flat *flat;
	struct flat_sum *sums; /* in the order in which they were met */
	struct flat_votes *votes;
	uint32_t sum_count, sum_cap;
	uint32_t methods; /* when it was begun; the trend may meet newer ones */
	uint32_t *row_of; /* per method: its sum + 1, later its row + 1 */
};

/* Its place among the sums. */
static uint32_t flat_sum_of(struct flat_build *b, uint32_t method)
{
	uint32_t *at = &b->row_of[method];

	if (*at)
		return *at - 1;
	if (b->sum_count == b->sum_cap) {
		b->sum_cap = b->sum_cap ? b->sum_cap * 2 : 256;
		b->sums = xreallocarray(b->sums, b->sum_cap, sizeof(*b->sums));
		b->votes = xreallocarray(b->votes, b->sum_cap, sizeof(*b->votes));
	}
	b->sums[b->sum_count] = (struct flat_sum){0};
	b->votes[b->sum_count] = (struct flat_votes){0};
	*at = ++b->sum_count;
	return *at - 1;
}

static void flat_add_self(struct flat_build *b, const struct model_row *in)
{
	struct flat_sum *sum;
	uint32_t at;

	b->flat->sum += model_value(b->q, &in->sum);
	b->flat->sum_count += in->sum.count;
	if (in->stack == PROFILE_ROOT_STACK)
		return;
	at = flat_sum_of(b, model_stack_method(b->p, in->stack));
	sum = &b->sums[at];
	sum->self += model_value(b->q, &in->sum);
	sum->self_count += in->sum.count;
	b->votes[at].of[model_stack_type(b->p, in->stack)] += in->sum.count;
}

static void flat_add_total(struct flat_build *b, uint32_t stack)
{
	const struct profile *p = b->p;
	const struct amount *amount = &p->scratch->stacks.sums[stack];
	uint32_t at = flat_sum_of(b, model_stack_method(p, stack));
	struct flat_sum *sum = &b->sums[at];

	if (!model_stack_repeats(p, stack)) {
		sum->total += model_value(b->q, amount);
		sum->total_count += amount->count;
		sum->total_squares += p->scratch->squares[stack];
	}
	if (!sum->self_count)
		b->votes[at].of[model_stack_type(p, stack)] += amount->count;
}

static uint8_t flat_winner(const struct flat_votes *votes)
{
	int best = 0;

	for (int i = 1; i < FRAME_TYPES; i++)
		best = votes->of[i] > votes->of[best] ? i : best;
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

static void flat_add_squares(struct flat_build *b, const struct profile_query *q)
{
	double window_ns = (double)profile_covered(b->sampled, q) * 1e9;
	uint32_t count;
	const struct model_row *rows = model_collect(b->sampled, q, &count);

	for (uint32_t i = 0; i < count; i++) {
		struct profile_part part = {.state = (enum thread_state)rows[i].state,
			.count = rows[i].sum.count,
			.weight = rows[i].sum.weight};

		if (rows[i].stack != PROFILE_ROOT_STACK)
			b->sums[flat_sum_of(b, model_stack_method(b->p, rows[i].stack))]
				.self_squares +=
				error_squares(q->event, q->by_weight, &part, window_ns);
	}
}

static double flat_samples(const struct flat_build *b, uint64_t part, double squares)
{
	return error_samples(&(struct error_sums){
		(double)part, (double)b->flat->sum, squares, b->sampled->scratch->all_squares});
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
			.type = flat_winner(&b->votes[b->row_of[i] - 1]),
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
	for (uint32_t i = 0; i < n; i++) {
		if (stacks[i] != PROFILE_ROOT_STACK)
			flat_add_total(&b, stacks[i]);
	}
	flat_add_rows(&b);
	if (b.flat->count && !q->snapshot)
		flat_add_trend(&b);
	free(b.sums);
	free(b.votes);
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

static struct flat_row flat_row_sum(const struct flat_row *a, const struct flat_row *b)
{
	uint64_t of_a = a->self_count + b->self_count ? a->self_count : a->total_count;
	uint64_t of_b = a->self_count + b->self_count ? b->self_count : b->total_count;

	return (struct flat_row){.method = a->method,
		.type = of_b > of_a ? b->type : a->type,
		.self = a->self + b->self,
		.total = a->total + b->total,
		.self_count = a->self_count + b->self_count,
		.total_count = a->total_count + b->total_count};
}

void flat_add(struct flat *f, const struct flat *more)
{
	struct flat_row *rows = xreallocarray(NULL, f->count + more->count + 1, sizeof(*rows));
	const struct flat_row *a = f->rows, *b = more->rows;
	const struct flat_row *a_end = a + f->count, *b_end = b + more->count;
	uint32_t n = 0;

	while (a < a_end || b < b_end) {
		struct flat_row none = {.method = a < a_end ? a->method : PROFILE_NONE};

		if (b < b_end && b->method < none.method)
			none.method = b->method;
		rows[n++] = flat_row_sum(a < a_end && a->method == none.method ? a++ : &none,
			b < b_end && b->method == none.method ? b++ : &none);
	}
	free(f->rows);
	f->rows = rows;
	f->count = n;
	f->sum += more->sum;
	f->sum_count += more->sum_count;
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
