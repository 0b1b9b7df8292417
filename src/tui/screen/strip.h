/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line made of parts, of which the least important go when it gets narrow.
 *
 * Parts stand from the left in the order they were added, those marked right from the right end. Each may
 * begin with a key in the key style, and may have a least width so that changing figures shift nothing.
 * Embedded, zero-initialised, a new one per line.
 */
#ifndef JHOT_TUI_SCREEN_STRIP_H
#define JHOT_TUI_SCREEN_STRIP_H

#include "tui/screen/canvas.h"

#define STRIP_PARTS 40

struct strip_part {
	char key[16], text[128];
	uint8_t style; /* enum style, of text */
	uint8_t drop;  /* 0 stays; else the highest goes first */
	uint8_t width; /* at least */
	uint8_t gap;   /* blanks before it, 0 = 2 */
	bool right;
	bool joined; /* no blank before it */
	int hit;     /* the key that a click on it is, 0: none */
};

struct strip {
	struct strip_part parts[STRIP_PARTS];
	int count;
};

/* The new part, for further fields; the text is printf's. */
struct strip_part *strip_add(struct strip *s, enum style style, int drop, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void strip_draw(const struct strip *s, struct canvas *c, int row, int col, int limit);

#endif
