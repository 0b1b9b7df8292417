/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of a program that has not changed it is chance which recordings are those of A. So the highest score of all is looked at
 * in other ways to deal them out: as often as those are as high as the true one, it is chance (Westfall and Young, 1993).
 * That holds whatever the noise is like and however much methods depend on one another. The highest is compared with the
 * highest, the next with the highest of the others, and so on.
 */
#include "profile/diff/inside.h"

#include "base/buf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SPLITS_MOST  200u
#define SPLITS_LEAST 34u /* with fewer the true one alone were more than DIFF_LEVEL of them */
#define COUNTED_RUNS 12  /* of so many recordings all ways are gone through */

struct dealing {
	const struct splits *s;
	int runs;
	unsigned char *ways; /* the sides of each way, one behind the other; the true one first */
	uint32_t count;
	uint64_t rng;
};

static unsigned char *dealing_add(struct dealing *d)
{
	return d->ways + (size_t)d->count++ * (size_t)d->runs;
}

/* With as many recordings on both sides, to exchange the sides changes nothing. */
static bool is_mirrored(const struct dealing *d, unsigned ones)
{
	return d->s->runs[DIFF_A] == d->s->runs[DIFF_B] && ones & 1;
}

/* Every way, as long as there are not too many: a set bit is a recording of B. false: there are. */
static bool deal_all(struct dealing *d)
{
	uint32_t begin = d->count;

	if (d->runs > COUNTED_RUNS)
		return false;
	for (unsigned ones = 0; ones < 1u << d->runs; ones++) {
		unsigned char *way;

		if (__builtin_popcount(ones) != d->s->runs[DIFF_B] || is_mirrored(d, ones))
			continue;
		if (d->count == SPLITS_MOST) {
			d->count = begin;
			return false;
		}
		way = dealing_add(d);
		for (int run = 0; run < d->runs; run++)
			way[run] = ones >> run & 1;
		if (!memcmp(way, d->ways, (size_t)d->runs))
			d->count--; /* the true one is there already */
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

/* The same files give the same answer, so chance is the same each time. */
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

/* Of each way the highest score from i on, beside that of the true way. */
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
	/* Large differences are large in other ways, too; what is sure without them is nearer. */
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
