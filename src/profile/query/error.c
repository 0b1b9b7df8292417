/* SPDX-License-Identifier: Apache-2.0 */
/* The number of independent samples among wall-clock polls, and the errors of shares. */
#include "profile/query/error.h"

#include "base/buf.h"
#include "profile/query/query.h"

#include <math.h>
#include <stdlib.h>

/* --- rests -------------------------------------------------------------------------------------------- */

/*
 * Estimates the number of rests (a rest: a thread stays in one place) from the wall-clock polls of
 * a row. A resting thread is polled many times, so errors are computed from rests, not polls.
 *
 * n polls of a thread in a slice, k of which found it in one place, are k * (n - k + 1) / n rests
 * on average if their order is random. More is known where the place has all polls of a
 * neighbouring slice, or none: then the polls of a rest lie at that end of the slice, or at the
 * other. Rests that continue in the next slice count once.
 */

/* How many of the thread's polls in a neighbouring slice found it in this place. */
enum beside { NO_POLLS, ALL_POLLS, SOME_POLLS };

/* State of a row after a number of slices. */
struct rest {
	uint32_t at;   /* ordinal of the last slice that has it; 0: none yet */
	uint32_t k, n; /* there: polls of the row, polls of the thread */
	enum beside left;
	double rests;   /* that began before that slice */
	double reach;   /* probability that the slice before it ends in this place */
	uint64_t polls; /* of the row, in all slices */
};

struct rests {
	struct rest *by_pair;
	uint64_t *polls; /* by thread: of the current slice */
	uint64_t *older; /* by thread: of the rows, less those in slices */
};

static enum beside rest_fills(const struct rest *r)
{
	return r->k >= r->n ? ALL_POLLS : SOME_POLLS;
}

/* Accounts for the last slice of a row once its right neighbour is known. */
static void rest_end_slice(struct rest *r, enum beside right)
{
	double fill = (double)r->k / r->n, rests = 1, begins = 1, ends = 1;

	if (rest_fills(r) == SOME_POLLS) {
		if (r->left == SOME_POLLS && right == SOME_POLLS) {
			rests = fill * (r->n - r->k + 1);
			begins = ends = fill;
		} else if (r->left == ALL_POLLS && right == ALL_POLLS) {
			rests = 2;
		} else if (r->left == SOME_POLLS && right == ALL_POLLS) {
			begins = 0;
		} else if (r->left == ALL_POLLS && right == SOME_POLLS) {
			ends = 0;
		}
	}
	r->rests += rests - r->reach * begins;
	r->reach = ends;
}

/* k of n polls of slice `at` found the place. border: the slice has no known predecessor. */
static void rest_add_slice(struct rest *r, uint32_t at, uint32_t k, uint32_t n, bool border)
{
	enum beside fills = k >= n ? ALL_POLLS : SOME_POLLS, left = border ? SOME_POLLS : NO_POLLS;

	if (r->at) {
		bool adjacent = r->at + 1 == at;

		left = adjacent ? rest_fills(r) : left;
		rest_end_slice(r, adjacent ? fills : NO_POLLS);
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

/* Adds all entries of a slice, which may have several for one pair. */
static void rests_add(struct rests *all, const struct slices *s, const struct slice *slice,
	uint32_t at, bool border)
{
	const struct slice_entry *e = slice->entries;

	for (uint32_t i = 0; i < slice->count; i++)
		all->polls[slices_thread(s, e[i].pair)] += e[i].count;
	for (uint32_t i = 0; i < slice->count; i++) {
		struct rest *r = &all->by_pair[e[i].pair];

		if (!rests_are_of(s, e[i].pair) || !e[i].count)
			continue;
		r->polls += e[i].count;
		uint32_t n = (uint32_t)all->polls[slices_thread(s, e[i].pair)];
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

/* Rests among the polls before the slices, whose order is not known. */
static double rests_older(const struct rests *all, const struct query_row *row)
{
	const struct rest *r = &all->by_pair[row->pair];
	double k = (double)(row->sum.count - r->polls), n = (double)all->older[row->thread];

	return k > 0 && n >= k ? k * (n - k + 1) / n - (r->at ? k / n : 0) : 0;
}

void query_wait_events(const struct slices *s, uint32_t from, uint32_t to, struct query_rows *rows)
{
	struct rests all = {0};
	uint32_t at = 1, threads = 0;

	for (uint32_t i = 0; i < rows->count; i++)
		if (rows->list[i].thread >= threads)
			threads = rows->list[i].thread + 1;
	all.by_pair = xcalloc(s->pairs.count, sizeof(*all.by_pair));
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
		struct rest *r = &all.by_pair[row->pair];
		double rests = (double)row->sum.count;

		if (rests_are_of(s, row->pair)) {
			if (r->at)
				rest_end_slice(r, r->at + 1 == at ? SOME_POLLS : NO_POLLS);
			rests = r->rests + rests_older(&all, row);
			rests = rests < 1 ? 1 : rests;
		}
		row->events =
			(float)(rests < (double)row->sum.count ? rests : (double)row->sum.count);
	}
	free(all.by_pair);
	free(all.polls);
	free(all.older);
}

/* --- errors -------------------------------------------------------------------------------------------- */

/*
 * Linearized variance of a ratio of sums of clusters; Wilson's interval (1927) for the equivalent
 * number of samples.
 */
#define Z 1.96

double error_squares(int event, bool by_weight, const struct profile_part *part)
{
	double count = (double)part->count, weight = (double)part->weight;

	if (!by_weight || !part->count)
		return by_weight ? weight * weight : count;
	/* Waits are taken to be exponentially distributed: the expected sum of squares given their number and sum. */
	if (event == EVENT_LOCK)
		return 2 * weight * weight / (count + 1);
	return weight * weight / (part->events > 0 ? part->events : count);
}

double error_samples(const struct error_sums *s)
{
	double share = s->all > 0 ? s->part / s->all : 0;

	if (s->all_squares <= 0)
		return 0;
	double variance = (1 - 2 * share) * s->part_squares + share * share * s->all_squares;
	/* With a share of 0 or 1 the variance is not known: fall back to equal clusters. */
	if (share <= 0 || share >= 1 || variance <= 0)
		return s->all * s->all / s->all_squares;
	return share * (1 - share) * s->all * s->all / variance;
}

double error_window_samples(const struct profile *p, const struct profile_query *q)
{
	struct sums_whole whole = query_whole(p, q);
	double all = (double)query_value(q, &whole.sum);

	return whole.squares ? all * all / ((double)whole.squares / QUERY_SQUARES_UNIT) : 0;
}

struct error_range error_range(double share, double samples)
{
	double z = Z * Z / samples;

	if (samples <= 0)
		return (struct error_range){0, 1};
	double middle = (share + z / 2) / (1 + z);
	double half = Z * sqrt(share * (1 - share) / samples + z / samples / 4) / (1 + z);
	return (struct error_range){fmax(0, middle - half), fmin(1, middle + half)};
}

double error_half_width(double share, double samples)
{
	struct error_range r = error_range(share, samples);

	if (samples <= 0)
		return 0;
	if (share * samples >= ERROR_FEW - 0.5 && (1 - share) * samples >= ERROR_FEW - 0.5)
		return 100 * Z * sqrt(share * (1 - share) / samples);
	return 100 * (r.high - r.low) / 2;
}
