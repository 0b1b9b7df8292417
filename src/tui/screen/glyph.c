/* SPDX-License-Identifier: Apache-2.0 */
/* The two sets of symbols, and sparklines. */
#include "tui/screen/glyph.h"

#include "profile/query/error.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

const struct glyphs glyphs_utf8 = {
	.spark = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
	.bar = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"},
	.sort = "▼",
	.plus_minus = "±",
	.ellipsis = "…",
	.enter = "⏎",
	.tree_mid = "├",
	.tree_last = "└",
	.tree_line = "│",
	.gap = "·",
	.left = "←",
	.right = "→",
	.up = "↑",
	.down = "↓",
	.box_edge = "▏",
};

const struct glyphs glyphs_ascii = {
	.spark = {" ", ".", ".", ":", ":", "=", "=", "#", "#"},
	.bar = {" ", " ", " ", "-", "-", "=", "=", "#", "#"},
	.sort = "v",
	.plus_minus = "~",
	.ellipsis = "~",
	.enter = "Enter",
	.tree_mid = "|",
	.tree_last = "`",
	.tree_line = "|",
	.gap = "_",
	.left = "<-",
	.right = "->",
	.up = "Up",
	.down = "Down",
	.box_edge = "|",
};

#define MEAN_LEVEL 5

static int level_of(double value, double full)
{
	int level = full > 0 ? (int)lround(GLYPH_LEVELS * value / full) : 0;

	if (level > GLYPH_LEVELS)
		return GLYPH_LEVELS;
	return level < 1 && value > 0 ? 1 : level;
}

void glyph_spark(const struct glyphs *g, char *out, const int64_t *counts, int n)
{
	double sum = 0;
	int known = 0;

	for (int i = 0; i < n; i++) {
		sum += counts[i] < 0 ? 0 : (double)counts[i];
		known += counts[i] >= 0;
	}
	double mean = known ? sum / known : 0, full = mean * GLYPH_LEVELS / MEAN_LEVEL;
	bool few = mean * n < ERROR_FEW;

	*out = '\0';
	for (int i = 0; i < n; i++) {
		double v = (double)counts[i];
		bool chance = fabs(v - mean) <= 2 * sqrt(mean);
		int level = level_of(chance ? mean : v, full);

		if (few && chance)
			level = 0;
		out = stpcpy(out, counts[i] < 0 ? g->gap : g->spark[level]);
	}
}

void glyph_gauge(const struct glyphs *g, char *out, const int64_t *values, int n, int64_t max)
{
	*out = '\0';
	for (int i = 0; i < n; i++)
		out = stpcpy(out, values[i] < 0
					  ? g->spark[0]
					  : g->spark[level_of((double)values[i], (double)max)]);
}

int64_t glyph_top(const int64_t *values, int n, int64_t unit)
{
	int64_t top = unit;

	for (int i = 0; i < n; i++)
		while (values[i] > top && top <= INT64_MAX / 2) /* values of a file are unbounded */
			top *= 2;
	return top;
}

void glyph_bar(const struct glyphs *g, char *out, double share, int width)
{
	int eighths = (int)lround(share * width * GLYPH_LEVELS);

	*out = '\0';
	for (int i = 0; i < width; i++, eighths -= GLYPH_LEVELS)
		out = stpcpy(out, g->bar[eighths >= GLYPH_LEVELS ? GLYPH_LEVELS
					  : eighths > 0          ? eighths
								 : 0]);
}
