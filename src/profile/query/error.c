/* SPDX-License-Identifier: Apache-2.0 */
/* How sure a share is: ratios of sums of clusters, to first order; Wilson (1927) over the samples that this is worth. */
#include "profile/query/error.h"

#include "profile/query/query.h"

#include <math.h>

#define Z 1.96

double error_squares(int event, bool by_weight, const struct profile_part *part)
{
	double count = (double)part->count, weight = (double)part->weight;

	if (!by_weight || !part->count)
		return by_weight ? weight * weight : count;
	/* Waits differ as times until something happens do: of so many with this sum, that is what their squares are. */
	if (event == EVENT_LOCK)
		return 2 * weight * weight / (count + 1);
	return weight * weight / (part->events > 0 ? part->events : count);
}

double error_samples(const struct error_sums *s)
{
	double share = s->all > 0 ? s->part / s->all : 0, variance;

	if (s->all_squares <= 0)
		return 0;
	variance = (1 - 2 * share) * s->part_squares + share * share * s->all_squares;
	/* At an end there is nothing on the other side to know its clusters by. */
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
	double z = Z * Z / samples, middle, half;

	if (samples <= 0)
		return (struct error_range){0, 1};
	middle = (share + z / 2) / (1 + z);
	half = Z * sqrt(share * (1 - share) / samples + z / samples / 4) / (1 + z);
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
