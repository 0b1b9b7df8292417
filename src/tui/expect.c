/* SPDX-License-Identifier: Apache-2.0 */
/* Ranking rows by their history where the window has too few samples. */
#include "tui/expect.h"

#include <stdlib.h>

#define AGE_S   10
#define UPPER_0 3 /* samples that one of 20 windows without any hides */

void expect_done(struct expect *e)
{
	flat_free(e->all);
	e->all = NULL;
}

static int compare_method(const void *a, const void *b)
{
	uint32_t x = ((const struct flat_row *)a)->method;
	uint32_t y = ((const struct flat_row *)b)->method;

	return x < y ? -1 : x > y;
}

const struct flat_row *expect_find(const struct flat *f, uint32_t method)
{
	struct flat_row key = {.method = method};

	if (!f || !f->count)
		return NULL;
	return bsearch(&key, f->rows, f->count, sizeof(key), compare_method);
}

void expect_update(
	struct expect *e, const struct profile *p, const struct profile_query *q, uint32_t since)
{
	const struct profile_query *last = &e->asked;

	if (e->all && last->event == q->event && last->thread == q->thread && last->from == since &&
		q->to >= last->to && q->to - last->to < AGE_S)
		return;
	e->asked = *q;
	e->asked.from = since;
	flat_free(e->all);
	e->all = flat_new(p, &e->asked);
}

void expect_rank(const struct expect *e, const struct flat *window, const struct flat_row *row,
	bool by_total, struct order_item *out)
{
	const struct flat_row *past;
	uint64_t count = by_total ? row->total_count : row->self_count, long_count = count;
	double expected = (double)count;

	out->count = count;
	out->key = (double)(by_total ? row->total : row->self);
	if (count >= EXPECT_FEW || !window->sum_count)
		return;
	past = expect_find(e->all, row->method);
	if (past && e->all->sum_count >= window->sum_count) {
		long_count = by_total ? past->total_count : past->self_count;
		expected =
			(double)long_count * (double)window->sum_count / (double)e->all->sum_count;
	}
	if (expected > (double)count + UPPER_0)
		expected = (double)count + UPPER_0;
	if (count >= UPPER_0 && expected < (double)count / 2)
		expected = (double)count / 2;
	/* At least as many as make rank.h compare the keys at all. */
	out->count = long_count < EXPECT_FEW ? EXPECT_FEW : long_count;
	out->key = expected * (double)window->sum / (double)window->sum_count;
}
