/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How sure a share is, whatever the event's samples are worth.
 *
 * Weights add up in clusters, each of which is there by chance as a whole: a sample of the CPU, a wait for a lock, a
 * rest of a thread, however often it was polled meanwhile. The sum of their squares says how many samples of equal weight would be
 * as sure, and from these Wilson's interval follows, which holds also where a share is near 0 or 1.
 */
#ifndef JHOT_PROFILE_QUERY_ERROR_H
#define JHOT_PROFILE_QUERY_ERROR_H

#include "profile/profile.h"

#define ERROR_FEW 10u /* samples: fewer say nothing of an order, a mean, a change */

/* The squares of the clusters of one (stack, thread, state). */
double error_squares(int event, bool by_weight, const struct profile_part *part);

struct error_sums {
	double part, all;                 /* values: the share is part of all */
	double part_squares, all_squares; /* of their clusters */
};
/* As many equal samples are as sure as these; 0: there are none. */
double error_samples(const struct error_sums *s);
/* The same of a query as a whole, for shares whose own clusters are not told apart. */
double error_window_samples(const struct profile *p, const struct profile_query *q);

/* The 95 % interval of a share (0 to 1) of so many equal samples. */
struct error_range {
	double low, high;
};
struct error_range error_range(double share, double samples);
/* Its half width, in points. */
double error_half_width(double share, double samples);

#endif
