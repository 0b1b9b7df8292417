/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of this folder: a recording's sums per method, and their tests. Embedded
 * structs of plain values.
 */
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

/*
 * merge.c: interns the run's stacks in `both` and sums them up in *out, which the caller ends with
 * diff_merged_done().
 */
void diff_merge(struct profile *both, const struct diff_run *run, struct diff_merged *out);
void diff_merged_done(struct diff_merged *m);

/* significance.c: sets rows, count, all, noise and limit of d, whose mode and merged recordings must be set. */
void diff_test(
	struct diff *d, const struct diff_question *q, struct diff_merged *merged[DIFF_SIDES]);

/* permutation.c: the permutation test. */
struct permutation {
	int runs[DIFF_SIDES];
	uint32_t count; /* of scores, which are in descending order for the true assignment */
	/* Computes the scores for an assignment: a side per recording, in the order A, B. */
	void (*score)(void *ctx, const unsigned char *side, double *scores);
	void *ctx;
};
/*
 * Sets p of each score: the share of assignments in which it, or a later one, reaches its true
 * value. *limit: the score from which on a test is significant. Scores the true assignment last.
 * -1: too few recordings for a test.
 */
int permutation_p(const struct permutation *s, double *p, double *limit);

#endif
