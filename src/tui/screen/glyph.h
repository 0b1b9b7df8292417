/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols in a UTF-8 and an ASCII set, and the sparklines and bars drawn with them.
 *
 * The ASCII set is used with --ascii, in locales that are not UTF-8, and on consoles whose font lacks the blocks. No
 * braille: many fonts draw it unreadably small. Constant data, pure functions.
 */
#ifndef JHOT_TUI_SCREEN_GLYPH_H
#define JHOT_TUI_SCREEN_GLYPH_H

#include <stdint.h>

#define GLYPH_LEVELS 8

struct glyphs {
	const char *spark[GLYPH_LEVELS + 1]; /* 0: blank */
	const char *bar[GLYPH_LEVELS + 1];   /* eighths of a cell, from the left */
	const char *sort;                    /* after the title of the sort column */
	const char *plus_minus, *ellipsis, *enter;
	const char *tree_mid, *tree_last, *tree_line;
	const char *gap; /* in a sparkline: not sampled */
	const char *left, *right, *up, *down;
	const char *box_edge; /* the left side of a flame graph's box */
};

extern const struct glyphs glyphs_utf8, glyphs_ascii;

/*
 * glyph_spark: formats n cells of counts, oldest first, a negative one being a gap.
 *
 * Scaled per row: the mean is at 5/8 of the height, 1.6 times the mean and above is full. A cell within 2 standard
 * errors of the mean is drawn at the mean, so that only significant changes are visible and a steady row sends no bytes.
 * Of fewer than 10 samples only significant cells are drawn. out needs GLYPH_SPARK_BYTES(n).
 */
void glyph_spark(const struct glyphs *g, char *out, const int64_t *counts, int n);
/* glyph_gauge: the same for values without sampling error, scaled to max. */
void glyph_gauge(const struct glyphs *g, char *out, const int64_t *values, int n, int64_t max);
/* A suitable max: unit, doubled until no value exceeds it, so that it rarely changes. */
int64_t glyph_top(const int64_t *values, int n, int64_t unit);
#define GLYPH_SPARK_BYTES(n) ((n)*4 + 1)

/* glyph_bar: a bar for a share (0..1) of width cells, padded with blanks. */
void glyph_bar(const struct glyphs *g, char *out, double share, int width);

#endif
