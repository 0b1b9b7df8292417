/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share: a recording's sums per method, and the tests made of them. */
#ifndef JHOT_PROFILE_DIFF_INSIDE_H
#define JHOT_PROFILE_DIFF_INSIDE_H

#include "profile/diff/diff.h"

#define Z95 1.96 /* standard errors of a 95 % half width */

/* A sum of samples, and the squares of their clusters. */
struct diff_sum {
	double value, squares;
	uint64_t samples;
};

/* A recording, under the names of both. */
struct diff_merged {
	struct diff_sum all;
	struct diff_sum *self, *total; /* per method of both; those that came later have none */
	uint32_t methods;
	struct diff_part *parts;
	uint32_t part_count, part_cap;
};
struct diff_part {
	uint32_t stack; /* of both */
	uint64_t count;
	double value;
};

/* merge.c */
void diff_merge(struct profile *both, const struct diff_run *run, struct diff_merged *out);
void diff_merged_done(struct diff_merged *m);

/* test.c: what all of d but its profile is made of. */
void diff_test(
	struct diff *d, const struct diff_question *q, struct diff_merged *merged[DIFF_SIDES]);

/* splits.c: how high scores are when the same recordings are dealt to the sides in other ways. */
struct splits {
	int runs[DIFF_SIDES];
	uint32_t count; /* scores; those of the true sides are the highest first */
	/* Scores for these sides, a byte per recording, those of A first. */
	void (*score)(void *ctx, const unsigned char *side, double *scores);
	void *ctx;
};
/*
 * p of each score: in how many of the ways it, or one behind it, is as high as here; *limit: from which score on anything is
 * surely no chance. The true sides are scored last. -1: there are too few recordings to tell anything.
 */
int splits_p(const struct splits *s, double *p, double *limit);

#endif
