/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of the wall clock: how many separate rests the polls of a row have found. A thread that rests is polled again and again,
 * and each time it is the same rest, so that an error bar must count rests, not polls.
 *
 * The model knows in which slice a poll was, not in which order polls came within it. n polls of a thread in a slice, k of
 * which found it in one place, are k * (n - k + 1) / n rests on average if their order is random. It is known better where
 * the place is alone in a neighbouring slice, or is not in it: then the polls of a rest lie at that end of the slice or at
 * the other. Rests that go on in the next slice are counted once.
 */
#include "profile/query/query.h"

#include "profile/model/fit.h"

#include <stdlib.h>

/* A row's place in the slice that was added last, and what came before. */
struct rest {
	uint32_t at; /* the number of that slice; 0: none yet */
	uint32_t k, n;
	enum beside { ABSENT, ALONE, PARTLY } left;
	double rests;  /* begun in the slices before it */
	double reach;  /* the chance that the one before it ends in this place */
	uint64_t held; /* polls of all slices */
};

struct rests {
	struct rest *of; /* by pair */
	uint64_t *polls; /* by thread: of the slice that is being added */
	uint64_t *older; /* by thread: of the rows, less those of slices */
};

static enum beside rest_fills(const struct rest *r)
{
	return r->k >= r->n ? ALONE : PARTLY;
}

/* Adds the last slice of a row to its rests, now that its right neighbour is known. */
static void rest_end_slice(struct rest *r, enum beside right)
{
	double fill = (double)r->k / r->n, rests = 1, begins = 1, ends = 1;

	if (rest_fills(r) == PARTLY) {
		if (r->left == PARTLY && right == PARTLY) {
			rests = fill * (r->n - r->k + 1);
			begins = ends = fill;
		} else if (r->left == ALONE && right == ALONE) {
			rests = 2;
		} else if (r->left == PARTLY && right == ALONE) {
			begins = 0;
		} else if (r->left == ALONE && right == PARTLY) {
			ends = 0;
		}
	}
	r->rests += rests - r->reach * begins;
	r->reach = ends;
}

/* The place was found k times in n polls of the slice of this number; border: nothing is known of what is left of it. */
static void rest_add_slice(struct rest *r, uint32_t at, uint32_t k, uint32_t n, bool border)
{
	enum beside fills = k >= n ? ALONE : PARTLY, left = border ? PARTLY : ABSENT;

	if (r->at) {
		bool adjacent = r->at + 1 == at;

		left = adjacent ? rest_fills(r) : left;
		rest_end_slice(r, adjacent ? fills : ABSENT);
		if (!adjacent)
			r->reach = 0;
	}
	r->at = at;
	r->k = k;
	r->n = n;
	r->left = left;
}

static bool rests_are_of(const struct slices *s, uint32_t pair)
{
	uint32_t state = slices_state(s, pair);

	return state != THREAD_STATE_NONE && state != THREAD_ON_CPU;
}

/* The polls of a pair in a slice, whose entries may have it several times. */
static void rests_add(struct rests *all, const struct slices *s, const struct slice *slice,
	uint32_t at, bool border)
{
	const struct slice_entry *e = slice->entries;

	for (uint32_t i = 0; i < slice->count; i++)
		all->polls[slices_thread(s, e[i].pair)] += e[i].count;
	for (uint32_t i = 0; i < slice->count; i++) {
		struct rest *r = &all->of[e[i].pair];
		uint32_t n;

		if (!rests_are_of(s, e[i].pair) || !e[i].count)
			continue;
		r->held += e[i].count;
		n = (uint32_t)all->polls[slices_thread(s, e[i].pair)];
		if (r->at == at)
			r->k += e[i].count;
		else
			rest_add_slice(r, at, e[i].count, n, border);
	}
	for (uint32_t i = 0; i < slice->count; i++) {
		uint32_t thread = slices_thread(s, e[i].pair);

		all->older[thread] -= all->polls[thread];
		all->polls[thread] = 0;
	}
}

/* Older polls than the slices have: of these no order is known. */
static double rests_older(const struct rests *all, const struct query_row *row)
{
	const struct rest *r = &all->of[row->pair];
	double k = (double)(row->sum.count - r->held), n = (double)all->older[row->thread];

	return k > 0 && n >= k ? k * (n - k + 1) / n - (r->at ? k / n : 0) : 0;
}

void query_rests(const struct slices *s, uint32_t from, uint32_t to, struct query_rows *rows)
{
	struct rests all = {0};
	uint32_t at = 1, threads = 0;

	for (uint32_t i = 0; i < rows->count; i++)
		if (rows->list[i].thread >= threads)
			threads = rows->list[i].thread + 1;
	all.of = xcalloc(s->pairs.count, sizeof(*all.of));
	all.polls = xcalloc(threads + 1, sizeof(*all.polls));
	all.older = xcalloc(threads + 1, sizeof(*all.older));
	for (uint32_t i = 0; i < rows->count; i++)
		all.older[rows->list[i].thread] += rows->list[i].sum.count;
	for (uint32_t i = from; i < to; i++, at++) {
		at += i > from && s->list[i].from != s->list[i - 1].from + s->list[i - 1].span;
		rests_add(&all, s, &s->list[i], at, i == from);
	}
	for (uint32_t i = 0; i < rows->count; i++) {
		struct query_row *row = &rows->list[i];
		struct rest *r = &all.of[row->pair];
		double rests = (double)row->sum.count;

		if (rests_are_of(s, row->pair)) {
			if (r->at)
				rest_end_slice(r, r->at + 1 == at ? PARTLY : ABSENT);
			rests = r->rests + rests_older(&all, row);
			rests = rests < 1 ? 1 : rests;
		}
		row->events =
			(float)(rests < (double)row->sum.count ? rests : (double)row->sum.count);
	}
	free(all.of);
	free(all.polls);
	free(all.older);
}
