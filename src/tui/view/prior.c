/* SPDX-License-Identifier: Apache-2.0 */
/* Ranking rows by their history where the window has too few samples. */
#include "tui/view/prior.h"

#include "profile/query/error.h"
#include "profile/query/filter.h"

#include <math.h>
#include <stdlib.h>

#define AGE_S  10
#define REACH  1.5 /* half of the churn of 1 at 30 samples a second; 2 looks unsorted */
#define ENOUGH 40  /* samples: from here on the window speaks for itself */
#define LATE_S 3   /* seconds in which samples may still come */

void prior_done(struct prior *e)
{
	flat_free(e->all);
	flat_free(e->settled);
	e->all = e->settled = NULL;
}

static int compare_method(const void *a, const void *b)
{
	uint32_t x = ((const struct flat_row *)a)->method;
	uint32_t y = ((const struct flat_row *)b)->method;

	return x < y ? -1 : x > y;
}

const struct flat_row *prior_find(const struct flat *f, uint32_t method)
{
	struct flat_row key = {.method = method};

	if (!f || !f->count)
		return NULL;
	return bsearch(&key, f->rows, f->count, sizeof(key), compare_method);
}

static struct flat *flat_between(
	const struct profile *p, const struct profile_query *q, uint32_t from, uint32_t to)
{
	struct profile_query part = *q;

	part.from = from;
	part.to = to;
	return flat_new(p, &part);
}

/* From a second on that is not 0, what was held in seconds when it was the last. */
static bool is_settled(const struct prior *e, const struct profile_info *info)
{
	return e->settled && e->settled_to && e->settled_to >= info->merged_before &&
	       e->swept == info->swept;
}

/* All of the question that was asked: what was there before, and what came since. */
static void add_up(struct prior *e, const struct profile *p)
{
	const struct profile_query *q = &e->asked;
	struct profile_info info = profile_info(p);
	uint32_t settled_to = q->to > q->from + LATE_S ? q->to - LATE_S : q->from;
	bool add = is_settled(e, &info);
	struct flat *more = flat_between(p, q, add ? e->settled_to : q->from, settled_to);

	if (add) {
		flat_add(e->settled, more);
		flat_free(more);
	} else {
		flat_free(e->settled);
		e->settled = more;
	}
	e->settled_to = settled_to;
	e->swept = info.swept;
	flat_free(e->all);
	e->all = flat_between(p, q, settled_to, q->to);
	flat_add(e->all, e->settled);
}

void prior_update(struct prior *e, const struct profile *p, const struct profile_query *q,
	uint32_t since, bool ask)
{
	const struct profile_query *last = &e->asked;
	uint32_t version = q->filter ? filter_version(q->filter) : 0;
	bool same = e->settled && last->event == q->event && last->thread == q->thread &&
		    last->pool == q->pool && last->from == since && e->version == version;

	if (!same)
		prior_done(e);
	/* A window that is the whole history speaks for itself. */
	if (q->from <= since) {
		flat_free(e->all);
		e->all = NULL;
	}
	if (q->from <= since || !ask || (e->all && q->to >= last->to && q->to - last->to < AGE_S))
		return;
	if (q->to < last->to)
		prior_done(e);
	e->asked = *q;
	e->asked.from = since;
	e->version = version;
	add_up(e, p);
}

/*
 * Samples to expect in a window of n that had k, by the history's long_k of long_n: the history moves a
 * row by REACH standard errors of its count at most, and by less the more samples it has.
 */
static double expected_samples(uint64_t k, uint64_t n, uint64_t long_k, uint64_t long_n)
{
	double expected = (double)long_k * (double)n / (double)long_n;
	double own = k > ERROR_FEW ? (double)(k - ERROR_FEW) / (ENOUGH - ERROR_FEW) : 0;
	double reach = (1 - own) * REACH * sqrt((double)k + 1);

	return fmin(fmax(expected, (double)k - reach), (double)k + reach);
}

void prior_rank(const struct prior *e, const struct flat *window, const struct flat_row *row,
	bool by_total, struct order_item *out)
{
	uint64_t k = by_total ? row->total_count : row->self_count, long_k = k;
	const struct flat_row *past;
	double expected = (double)k;

	out->count = k;
	out->key = (double)(by_total ? row->total : row->self);
	if (k >= ENOUGH || !window->sum_count)
		return;
	past = prior_find(e->all, row->method);
	if (past && e->all->sum_count >= window->sum_count) {
		long_k = by_total ? past->total_count : past->self_count;
		expected = expected_samples(k, window->sum_count, long_k, e->all->sum_count);
	}
	/* At least so many as make rank.h compare the keys at all; at most as noisy as the window. */
	long_k = long_k > ENOUGH ? ENOUGH : long_k < ERROR_FEW ? ERROR_FEW : long_k;
	out->count = k > long_k ? k : long_k;
	out->key = expected * (double)window->sum / (double)window->sum_count;
}
