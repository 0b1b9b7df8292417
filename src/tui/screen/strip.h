/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line made of parts; the least important ones are dropped when it does not fit.
 *
 * Parts are placed from the left in the order in which they were added, those flagged right from the right end. A part
 * may begin with a key, in the key style, and may have a minimum width so that changing numbers shift nothing. Embedded,
 * zero-initialized, one per line.
 */
#ifndef JHOT_TUI_SCREEN_STRIP_H
#define JHOT_TUI_SCREEN_STRIP_H

#include "tui/screen/canvas.h"

#define STRIP_PARTS 40

struct strip_part {
	char key[16], text[128];
	uint8_t style; /* enum style, of text */
	uint8_t drop;  /* 0: never; else the highest value is dropped first */
	uint8_t width; /* minimum */
	uint8_t gap;   /* blanks before it; 0: two */
	bool right;
	bool joined; /* no blanks before it */
	int hit;     /* the key that a click sends; 0: none */
};

struct strip {
	struct strip_part parts[STRIP_PARTS];
	int count;
};

/* Adds a part and returns it, to set further fields. When STRIP_PARTS are in use, the last one is replaced. */
struct strip_part *strip_add(struct strip *s, enum style style, int drop, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void strip_draw(const struct strip *s, struct canvas *c, int row, int col, int limit);

#endif
