/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Permutation test (Westfall and Young, 1993). If nothing changed, it is chance which recordings
 * belong to A. So the highest score is compared with the highest score of every other assignment of
 * the recordings to the sides, the second one with the highest of the remaining scores, and so on.
 * Valid for any distribution of the noise and any dependence between methods.
 */
#include "profile/diff/inside.h"

#include "base/buf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PERMUTATIONS_MOST  200u
#define PERMUTATIONS_LEAST 34u /* with fewer even the smallest p, 1 / count, exceeds DIFF_LEVEL */
#define ENUMERATED_RUNS    12  /* up to this many recordings all assignments are enumerated */

struct assignments {
	const struct permutation *s;
	int runs;
	unsigned char
		*sides; /* of each recording, assignment after assignment, the true one first */
	uint32_t count;
	uint64_t rng;
};

static unsigned char *assignments_add(struct assignments *a)
{
	return a->sides + (size_t)a->count++ * (size_t)a->runs;
}

/* Enumerates all assignments; a set bit is a recording of B. False: there are too many. */
static bool assignments_enumerate(struct assignments *a)
{
	uint32_t begin = a->count;

	if (a->runs > ENUMERATED_RUNS)
		return false;
	for (unsigned ones = 0; ones < 1u << a->runs; ones++) {
		if (__builtin_popcount(ones) != a->s->runs[DIFF_B])
			continue;
		/* With equally many recordings on both sides, exchanging the sides gives the same scores. */
		if (a->s->runs[DIFF_A] == a->s->runs[DIFF_B] && ones & 1)
			continue;
		if (a->count == PERMUTATIONS_MOST) {
			a->count = begin;
			return false;
		}
		unsigned char *assignment = assignments_add(a);
		for (int run = 0; run < a->runs; run++)
			assignment[run] = ones >> run & 1;
		if (!memcmp(assignment, a->sides, (size_t)a->runs))
			a->count--; /* the true one, which is there already */
	}
	return true;
}

static int compare_high(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x > y ? -1 : x < y;
}

/*
 * Sets p[i] to the share of assignments whose highest score from i on reaches the true score i.
 * Returns the limit (permutation_p).
 */
static double permutation_count(const struct permutation *s, const struct assignments *a, double *p)
{
	double *first = xreallocarray(NULL, (size_t)s->count + 1, sizeof(*first));
	double *scores = xreallocarray(NULL, (size_t)s->count + 1, sizeof(*scores));
	double highest[PERMUTATIONS_MOST];

	s->score(s->ctx, a->sides, first);
	memset(p, 0, s->count * sizeof(*p));
	for (uint32_t assignment = a->count; assignment-- > 0;) {
		double high = -INFINITY;

		s->score(s->ctx, a->sides + (size_t)assignment * (size_t)a->runs, scores);
		for (uint32_t i = s->count; i-- > 0;) {
			high = fmax(high, scores[i]);
			p[i] += high >= first[i];
		}
		highest[assignment] = high;
	}
	for (uint32_t i = 0; i < s->count; i++)
		p[i] = fmax(p[i] / a->count, i ? p[i - 1] : 0);
	qsort(highest, a->count, sizeof(*highest), compare_high);
	double limit = highest[(uint32_t)(DIFF_LEVEL * a->count)];
	/* True differences raise the scores of other assignments, too; significant scores may be lower. */
	for (uint32_t i = 0; i < s->count && p[i] < DIFF_LEVEL; i++)
		limit = fmin(limit, first[i]);
	free(first);
	free(scores);
	return limit;
}

int permutation_p(const struct permutation *s, double *p, double *limit)
{
	struct assignments a = {
		.s = s, .runs = s->runs[DIFF_A] + s->runs[DIFF_B], .rng = 0x9e3779b97f4a7c15ull};
	int rc = -1;

	a.sides = xcalloc(PERMUTATIONS_MOST + 1, (size_t)a.runs);
	memset(assignments_add(&a) + s->runs[DIFF_A], DIFF_B, (size_t)s->runs[DIFF_B]);
	if (!assignments_enumerate(&a)) {
		/* Too many to enumerate: draw some at random, with a fixed seed, so that results are reproducible. */
		while (a.count < PERMUTATIONS_MOST) {
			unsigned char *assignment = assignments_add(&a);

			memcpy(assignment, a.sides, (size_t)a.runs);
			for (int i = a.runs - 1; i > 0; i--) {
				a.rng ^= a.rng << 13;
				a.rng ^= a.rng >> 7;
				a.rng ^= a.rng << 17;
				uint32_t k = (uint32_t)((a.rng >> 32) * ((uint32_t)i + 1) >> 32);
				unsigned char side = assignment[i];

				assignment[i] = assignment[k];
				assignment[k] = side;
			}
		}
	}
	if (a.count >= PERMUTATIONS_LEAST) {
		*limit = permutation_count(s, &a, p);
		rc = 0;
	}
	free(a.sides);
	return rc;
}
