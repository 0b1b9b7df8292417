/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Styles and their attributes with no, 16 or 256 colors, and symbols in two character sets. Views use style
 * ids, never colors.
 *
 * The background is the terminal's own, except for bars, which set both colors and so are legible on dark and
 * light terminals. No dark blue. No information is conveyed by color alone. Constant tables.
 */
#ifndef JHOT_TUI_SCREEN_THEME_H
#define JHOT_TUI_SCREEN_THEME_H

#include <stdint.h>

enum style {
	STYLE_NORMAL,
	STYLE_DIM,     /* packages, weak rows, hints */
	STYLE_STRONG,  /* important names and figures */
	STYLE_TAB,     /* the tab strip */
	STYLE_TAB_ON,  /* the selected tab */
	STYLE_COLUMNS, /* the line of column titles */
	STYLE_SORTED,  /* the title of the sort column */
	STYLE_CURSOR,  /* the selected row */
	STYLE_KEY,     /* a key in the key line and in help */
	STYLE_LABEL,   /* its description */
	STYLE_GOOD,
	STYLE_WARN,  /* badges: degraded, frozen */
	STYLE_BAD,   /* errors, losses */
	STYLE_HIT,   /* search match */
	STYLE_SPARK, /* sparklines */
	STYLE_TREE,  /* branches of the tree */
	STYLE_PROMPT,
	STYLE_JAVA, /* frame types: their letters in lists */
	STYLE_INLINED,
	STYLE_INTERPRETED,
	STYLE_NATIVE,
	STYLE_VM,
	STYLE_KERNEL,
	STYLE_CLASS,
	STYLE_BREAK,
	STYLE_BOX, /* flame graph boxes: the root's, then two shades per frame type */
	STYLE_BOX_FIRST,
	STYLE_BOX_LAST = STYLE_BOX_FIRST + 15,
	STYLE_COUNT
};

enum theme_depth { THEME_MONO, THEME_16, THEME_256, THEME_DEPTHS };

enum text_attr { ATTR_BOLD = 1, ATTR_DIM = 2, ATTR_REVERSE = 4, ATTR_UNDERLINE = 8 };

struct appearance {
	int16_t fg, bg; /* -1: the terminal's default */
	uint8_t attrs;  /* enum text_attr */
};

const struct appearance *theme_appearance(enum theme_depth depth, enum style style);
/* The name of a style in the settings file; NULL for STYLE_BOX and above. */
const char *theme_name(enum style style);
int theme_find(const char *name);           /* -1: none */
char theme_letter(uint8_t style);           /* for canvas_dump: '.' is normal, then a b c ... */
enum style theme_frame(uint8_t frame_type); /* enum frame_type */
/* The box style of a frame type in one of two shades; FRAME_TYPES: the root's. */
enum style theme_box(uint8_t frame_type, unsigned shade);

/* --- symbols --------------------------------------------------------------------------------------------- */

/*
 * Symbols in a UTF-8 and an ASCII set, and the sparklines and bars drawn with them.
 *
 * The ASCII set is used with --ascii, in locales that are not UTF-8, and on consoles whose font lacks the blocks. No
 * braille: many fonts draw it unreadably small. Constant data, pure functions.
 */

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
