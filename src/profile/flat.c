/* SPDX-License-Identifier: Apache-2.0 */
/* The method table: one roll-up over the window's stacks, then one row per method that was touched. */
#include "profile/flat.h"

#include "base/buf.h"
#include "profile/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Per method, dense: a long history has far more stacks than methods, and these stay in the cache. */
struct flat_sum {
	uint64_t self, self_count, total, total_count;
};

struct flat_votes {
	uint64_t of[FRAME_TYPES];
};

struct flat_build {
	const struct profile *p;
	const struct profile_query *q;
	struct flat *flat;
	struct flat_sum *sums;
	struct flat_votes *votes; /* of self samples, else of all: by how a method ran */
	bool *seen;
	uint32_t methods; /* when it was begun; the trend may meet newer ones */
	uint32_t *row_of; /* per method: row + 1 */
};

static void flat_add_self(struct flat_build *b, const struct model_row *in)
{
	uint32_t method;

	b->flat->sum += model_value(b->q, &in->sum);
	b->flat->sum_count += in->sum.count;
	if (in->stack == PROFILE_ROOT_STACK)
		return;
	method = model_stack_method(b->p, in->stack);
	b->seen[method] = true;
	b->sums[method].self += model_value(b->q, &in->sum);
	b->sums[method].self_count += in->sum.count;
	b->votes[method].of[model_stack_type(b->p, in->stack)] += in->sum.count;
}

static void flat_add_total(struct flat_build *b, uint32_t stack)
{
	const struct profile *p = b->p;
	const struct amount *amount = &p->scratch->stacks.sums[stack];
	uint32_t method = model_stack_method(p, stack);
	struct flat_sum *sum = &b->sums[method];

	b->seen[method] = true;
	if (!model_stack_repeats(p, stack)) {
		sum->total += model_value(b->q, amount);
		sum->total_count += amount->count;
	}
	if (!sum->self_count)
		b->votes[method].of[model_stack_type(p, stack)] += amount->count;
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
	uint32_t row, stack, method;

	for (uint32_t i = 0; i < sl->count; i++) {
		pair = &s->pairs[sl->entries[i].pair];
		if (pair->stack == PROFILE_ROOT_STACK || !model_wants(b->p, b->q, pair))
			continue;
		stack = model_shown(b->p, b->q, pair->stack);
		if (stack == PROFILE_NONE)
			continue;
		method = model_stack_method(b->p, stack);
		row = method < b->methods ? b->row_of[method] : 0;
		if (row)
			b->flat->rows[row - 1].trend[cell] += sl->entries[i].count;
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

/* In the order of the methods' numbers. */
static void flat_add_rows(struct flat_build *b)
{
	struct flat *f = b->flat;
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->methods; i++)
		n += b->seen[i];
	f->rows = xreallocarray(NULL, n + 1, sizeof(*f->rows));
	for (uint32_t i = 0; i < b->methods; i++) {
		const struct flat_sum *sum = &b->sums[i];

		if (!b->seen[i])
			continue;
		f->rows[f->count] = (struct flat_row){.method = i,
			.type = flat_winner(b->votes[i].of),
			.self = sum->self,
			.total = sum->total,
			.self_count = sum->self_count,
			.total_count = sum->total_count};
		b->row_of[i] = ++f->count;
	}
}

struct flat *flat_new(const struct profile *p, const struct profile_query *q)
{
	struct flat_build b = {.p = p, .q = q};
	struct tally *t = &p->scratch->stacks;
	struct model_row *in;
	const uint32_t *stacks;
	uint32_t n;

	in = model_collect(p, q, &n);
	b.flat = xcalloc(1, sizeof(*b.flat));
	b.methods = p->methods.count;
	b.sums = xcalloc(b.methods + 1, sizeof(*b.sums));
	b.votes = xcalloc(b.methods + 1, sizeof(*b.votes));
	b.seen = xcalloc(b.methods + 1, sizeof(*b.seen));
	b.row_of = xcalloc(b.methods + 1, sizeof(*b.row_of));
	for (uint32_t i = 0; i < n; i++) {
		flat_add_self(&b, &in[i]);
		tally_add(t, in[i].stack, in[i].sum.count, in[i].sum.weight);
	}
	free(in);
	stacks = model_roll_up(p, &n);
	for (uint32_t i = 0; i < n; i++) {
		if (stacks[i] != PROFILE_ROOT_STACK)
			flat_add_total(&b, stacks[i]);
	}
	tally_clear(t, stacks, n);
	flat_add_rows(&b);
	if (b.flat->count && !q->snapshot)
		flat_add_trend(&b);
	free(b.sums);
	free(b.votes);
	free(b.seen);
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

double flat_half_width(uint64_t k, uint64_t n)
{
	double share;

	if (!n || k > n)
		return 0;
	share = (double)k / (double)n;
	return 196 * sqrt(share * (1 - share) / (double)n);
}
