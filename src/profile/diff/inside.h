/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of this folder: a recording's sums per method, and their tests. */
#ifndef JHOT_PROFILE_DIFF_INSIDE_H
#define JHOT_PROFILE_DIFF_INSIDE_H

#include "profile/diff/diff.h"

#define Z95 1.96 /* standard errors of a 95 % half width */

/* A sum of samples, and the squares of their clusters. */
struct diff_sum {
	double value, squares;
	uint64_t samples;
};

/* A recording under the names of `both`. */
struct diff_merged {
	struct diff_sum all;
	struct diff_sum *self, *total; /* per method of `both`; later methods have none */
	uint32_t methods;
	struct diff_part *parts;
	uint32_t part_count, part_cap;
};
struct diff_part {
	uint32_t stack; /* of `both` */
	uint64_t count;
	double value;
};

/* merge.c */
void diff_merge(struct profile *both, const struct diff_run *run, struct diff_merged *out);
void diff_merged_done(struct diff_merged *m);

/* test.c: computes the rows and all values of d that are not about its profile. */
void diff_test(
	struct diff *d, const struct diff_question *q, struct diff_merged *merged[DIFF_SIDES]);

/* splits.c: the permutation test: scores when the same recordings are assigned to the sides in other ways. */
struct splits {
	int runs[DIFF_SIDES];
	uint32_t count; /* of scores; with the true sides they are in descending order */
	/* Computes the scores for an assignment: a side per recording, in the order A, B. */
	void (*score)(void *ctx, const unsigned char *side, double *scores);
	void *ctx;
};
/*
 * p of each score: the share of assignments in which it, or one after it, is as high as with the true sides. *limit: the score from which
 * on anything is significant. The true sides are scored last. -1: too few recordings for a test.
 */
int splits_p(const struct splits *s, double *p, double *limit);

#endif
