/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The marks a view draws beside text, in a UTF-8 and an ASCII set, and sparklines made of them.
 *
 * Each mark is one column wide. ASCII: --ascii, a locale that is not UTF-8, or a console font that lacks
 * the blocks. No braille: many fonts draw it unreadably small.
 */
#ifndef JHOT_TUI_SCREEN_GLYPH_H
#define JHOT_TUI_SCREEN_GLYPH_H

#include <stdint.h>

#define GLYPH_LEVELS 8

struct glyphs {
	const char *spark[GLYPH_LEVELS + 1]; /* 0 = nothing there */
	const char *bar[GLYPH_LEVELS + 1];   /* eighths of a cell, from the left */
	const char *sort;                    /* beside the title that is sorted by */
	const char *plus_minus, *ellipsis, *enter;
	const char *tree_mid, *tree_last, *tree_line;
	const char *gap; /* in a sparkline: nothing was sampled */
	const char *left, *right, *up, *down;
	const char *box_edge; /* the left side of a flame graph's box */
};

extern const struct glyphs glyphs_utf8, glyphs_ascii;

/*
 * glyph_spark: n cells of counts (oldest first; < 0 is a gap) into out.
 *
 * Scaled to the row: its mean stands at 5/8, twice the mean and more is full. A cell that differs from
 * the mean by no more than chance explains (2 standard errors of a count) is drawn at the mean: what
 * moves on the screen has moved in the program, and steady rows cost no bytes. Of fewer than 10 samples
 * only a cell that stands out is drawn.
 */
void glyph_spark(const struct glyphs *g, char *out, const int64_t *counts, int n);
/* glyph_gauge: the same cells for values without sampling error, scaled to max. */
void glyph_gauge(const struct glyphs *g, char *out, const int64_t *values, int n, int64_t max);
/* Such a max: unit doubled until no value is above it, so that it seldom changes. */
int64_t glyph_top(const int64_t *values, int n, int64_t unit);
#define GLYPH_SPARK_BYTES(n) ((n)*4 + 1)

/* glyph_bar: a bar of share (0..1) of width cells, padded with blanks. */
void glyph_bar(const struct glyphs *g, char *out, double share, int width);

#endif
