/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Permutation test (Westfall and Young, 1993). If nothing changed, it is chance which recordings are those of A. So the highest score is
 * compared with the highest score of other assignments of the recordings to the sides, the next one with the highest of the rest,
 * and so on. Valid whatever the distribution of the noise, and however methods depend on each other.
 */
#include "profile/diff/inside.h"

#include "base/buf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SPLITS_MOST  200u
#define SPLITS_LEAST 34u /* assignments; of fewer, the true one alone exceeds DIFF_LEVEL */
#define COUNTED_RUNS 12  /* up to this many recordings all assignments are enumerated */

struct dealing {
	const struct splits *s;
	int runs;
	unsigned char *ways; /* assignments, one after another; the true one first */
	uint32_t count;
	uint64_t rng;
};

static unsigned char *dealing_add(struct dealing *d)
{
	return d->ways + (size_t)d->count++ * (size_t)d->runs;
}

/* Enumerates all assignments; a set bit is a recording of B. False: there are too many. */
static bool deal_all(struct dealing *d)
{
	uint32_t begin = d->count;

	if (d->runs > COUNTED_RUNS)
		return false;
	for (unsigned ones = 0; ones < 1u << d->runs; ones++) {
		unsigned char *way;

		if (__builtin_popcount(ones) != d->s->runs[DIFF_B])
			continue;
		/* With equally many recordings on both sides, exchanging the sides gives the same scores. */
		if (d->s->runs[DIFF_A] == d->s->runs[DIFF_B] && ones & 1)
			continue;
		if (d->count == SPLITS_MOST) {
			d->count = begin;
			return false;
		}
		way = dealing_add(d);
		for (int run = 0; run < d->runs; run++)
			way[run] = ones >> run & 1;
		if (!memcmp(way, d->ways, (size_t)d->runs))
			d->count--; /* the true one, which is there already */
	}
	return true;
}

static uint32_t dealing_random(struct dealing *d, uint32_t below)
{
	d->rng ^= d->rng << 13;
	d->rng ^= d->rng >> 7;
	d->rng ^= d->rng << 17;
	return (uint32_t)((d->rng >> 32) * below >> 32);
}

/* Random assignments. The generator has a fixed seed, so the same files give the same answer. */
static void deal_some(struct dealing *d)
{
	while (d->count < SPLITS_MOST) {
		unsigned char *way = dealing_add(d);

		memcpy(way, d->ways, (size_t)d->runs);
		for (int i = d->runs - 1; i > 0; i--) {
			uint32_t k = dealing_random(d, (uint32_t)i + 1);
			unsigned char side = way[i];

			way[i] = way[k];
			way[k] = side;
		}
	}
}

static int compare_high(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x > y ? -1 : x < y;
}

/* Compares the highest score from i on with the true one, for each assignment. Returns the limit. */
static double splits_count(const struct splits *s, const struct dealing *d, double *p)
{
	double *first = xreallocarray(NULL, (size_t)s->count + 1, sizeof(*first));
	double *scores = xreallocarray(NULL, (size_t)s->count + 1, sizeof(*scores));
	double highest[SPLITS_MOST], limit;

	s->score(s->ctx, d->ways, first);
	memset(p, 0, s->count * sizeof(*p));
	for (uint32_t way = d->count; way-- > 0;) {
		double high = -INFINITY;

		s->score(s->ctx, d->ways + (size_t)way * (size_t)d->runs, scores);
		for (uint32_t i = s->count; i-- > 0;) {
			high = fmax(high, scores[i]);
			p[i] += high >= first[i];
		}
		highest[way] = high;
	}
	for (uint32_t i = 0; i < s->count; i++)
		p[i] = fmax(p[i] / d->count, i ? p[i - 1] : 0);
	qsort(highest, d->count, sizeof(*highest), compare_high);
	limit = highest[(uint32_t)(DIFF_LEVEL * d->count)];
	/* True differences raise the scores of other assignments, too; significant scores may be lower. */
	for (uint32_t i = 0; i < s->count && p[i] < DIFF_LEVEL; i++)
		limit = fmin(limit, first[i]);
	free(first);
	free(scores);
	return limit;
}

int splits_p(const struct splits *s, double *p, double *limit)
{
	struct dealing d = {
		.s = s, .runs = s->runs[DIFF_A] + s->runs[DIFF_B], .rng = 0x9e3779b97f4a7c15ull};
	int rc = -1;

	d.ways = xcalloc(SPLITS_MOST + 1, (size_t)d.runs);
	memset(dealing_add(&d) + s->runs[DIFF_A], DIFF_B, (size_t)s->runs[DIFF_B]);
	if (!deal_all(&d))
		deal_some(&d);
	if (d.count >= SPLITS_LEAST) {
		*limit = splits_count(s, &d, p);
		rc = 0;
	}
	free(d.ways);
	return rc;
}
