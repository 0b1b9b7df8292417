/* SPDX-License-Identifier: Apache-2.0 */
/* A flame graph of both sides of a diff: which boxes changed, and their colours. web/diff.js computes the same ones. */
#include "export/web/flame.h"

#include "profile/diff/diff.h"

#include <math.h>

/* From little to all of it: orange-red and blue are told apart by every eye, and by their glyphs without colours. */
static const unsigned char more[2][3] = {{246, 208, 194}, {214, 88, 48}};
static const unsigned char less[2][3] = {{200, 218, 242}, {62, 122, 200}};
#define SAME 0xe3e4e7

double flame_change(const struct flame *f, const struct flame_node *n)
{
	double a = (double)n->count / f->diff->graph_scale;
	double b = (double)(n->total - n->count) / f->diff->graph_scale;

	return a == b || fabs(b - a) < diff_band(f->diff, a, b) ? 0 : (b - a) / fmax(a, b);
}

static uint32_t color_of_change(const struct flame *f, const struct flame_node *n)
{
	double change = flame_change(f, n);
	const unsigned char(*ramp)[3] = change > 0 ? more : less;
	uint32_t color = 0;

	for (int i = 0; change && i < 3; i++)
		color = color << 8 |
			(uint32_t)(ramp[0][i] + sqrt(fabs(change)) * (ramp[1][i] - ramp[0][i]) +
				   0.5);
	return change ? color : SAME;
}

const struct flame_scheme flame_scheme_diff = {"diff", color_of_change};
