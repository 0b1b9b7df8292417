/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a style id looks like with no, 16 or 256 colours. Views name styles, never colours.
 *
 * The terminal's own background everywhere except on bars, which set both colours and so read on dark and
 * on light; no dark blue; nothing is told by colour alone. Constant tables.
 */
#ifndef JHOT_TUI_SCREEN_THEME_H
#define JHOT_TUI_SCREEN_THEME_H

#include <stdint.h>

enum style {
	STYLE_NORMAL,
	STYLE_DIM,     /* packages, weak rows, hints */
	STYLE_STRONG,  /* names and figures that a header is about */
	STYLE_TAB,     /* the tab strip */
	STYLE_TAB_ON,  /* its selected part */
	STYLE_COLUMNS, /* the line of column titles */
	STYLE_SORTED,  /* the title that is sorted by */
	STYLE_CURSOR,  /* the selected row */
	STYLE_KEY,     /* a key in the key line and in help */
	STYLE_LABEL,   /* what the key does */
	STYLE_GOOD,
	STYLE_WARN,  /* badges: degraded, frozen */
	STYLE_BAD,   /* errors, losses */
	STYLE_HIT,   /* what a search found */
	STYLE_SPARK, /* sparklines */
	STYLE_TREE,  /* branches of the tree */
	STYLE_PROMPT,
	STYLE_JAVA, /* how a frame ran: its letter in lists */
	STYLE_INLINED,
	STYLE_INTERPRETED,
	STYLE_NATIVE,
	STYLE_VM,
	STYLE_KERNEL,
	STYLE_CLASS,
	STYLE_BREAK,
	STYLE_BOX, /* boxes of the flame graph: the root's, then two shades for each of the above */
	STYLE_BOX_FIRST,
	STYLE_BOX_LAST = STYLE_BOX_FIRST + 15,
	STYLE_COUNT
};

enum theme_depth { THEME_MONO, THEME_16, THEME_256, THEME_DEPTHS };

enum look_attr { LOOK_BOLD = 1, LOOK_DIM = 2, LOOK_REVERSE = 4, LOOK_UNDERLINE = 8 };

struct look {
	int16_t fg, bg; /* -1: the terminal's own */
	uint8_t attrs;  /* enum look_attr */
};

const struct look *theme_look(enum theme_depth depth, enum style style);
/* The name of a style for the settings file; NULL from the boxes on. */
const char *theme_name(enum style style);
int theme_find(const char *name);           /* -1: none */
char theme_letter(uint8_t style);           /* for dumps in tests: '.' normal, then a b c ... */
enum style theme_frame(uint8_t frame_type); /* of profile.h */
/* The box of a frame in one of its two shades; FRAME_TYPES: the root's. */
enum style theme_box(uint8_t frame_type, unsigned shade);

#endif
