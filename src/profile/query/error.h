/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistical error of a share, for samples of any weight.
 *
 * Weights come in clusters that occur by chance as a whole: a CPU sample, a lock wait, a thread's
 * rest however often it was polled. The sum of their squares gives the number of samples of equal
 * weight with the same error, from which Wilson's interval follows, which is also valid near 0 and
 * 1. Pure functions, except error_window_samples().
 */
#ifndef JHOT_PROFILE_QUERY_ERROR_H
#define JHOT_PROFILE_QUERY_ERROR_H

#include "profile/profile.h"

#define ERROR_FEW 10u /* with fewer samples no order, mean or change is meaningful */

/* Sum of the squared clusters of one (stack, thread, state). */
double error_squares(int event, bool by_weight, const struct profile_part *part);

struct error_sums {
	double part, all;                 /* the share is part / all */
	double part_squares, all_squares; /* sums of squared clusters */
};
/* Equivalent number of samples of equal weight. 0: none. */
double error_samples(const struct error_sums *s);
/* The same for all samples of a query, for shares without clusters of their own. */
double error_window_samples(const struct profile *p, const struct profile_query *q);

/* The 95 % confidence interval of a share (0 to 1) estimated from `samples` equivalent samples. */
struct error_range {
	double low, high;
};
struct error_range error_range(double share, double samples);
/* Its half width, in percentage points. */
double error_half_width(double share, double samples);

#endif
