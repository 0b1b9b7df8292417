/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns of a list: a const table per view, laid out for a width.
 *
 * A column is drawn where the terminal has at least from_cols columns; one column of the table, with
 * width 0, takes what is left. A cell's text comes from the column's function, which knows the view's
 * row. Titles stand above their cells; the one that is sorted by has a mark behind it.
 */
#ifndef JHOT_TUI_SCREEN_COLUMN_H
#define JHOT_TUI_SCREEN_COLUMN_H

#include "tui/screen/canvas.h"
#include "tui/screen/glyph.h"

#define COLUMN_MAX  16
#define COLUMN_TEXT 512

struct column_cell { /* what a cell function fills */
	char text[COLUMN_TEXT];
	enum style style;
	int width; /* columns there are */
	const struct glyphs *glyphs;
};

enum column_flag {
	COLUMN_LEFT = 1,  /* aligned to the left */
	COLUMN_MOVES = 2, /* it says how a value rises and falls in time */
};

struct column {
	const char *title;
	uint8_t gap, width; /* blanks before it; 0 = the rest */
	uint8_t flags;      /* enum column_flag */
	uint16_t from_cols;
	int8_t sort; /* the view's sort order, -1: none */
	void (*cell)(const void *view, const void *row, struct column_cell *out);
};

/* A table of columns as long as it is. */
struct columns {
	const struct column *table;
	int count;
	bool still; /* without those of COLUMN_MOVES */
};
#define COLUMNS(array) ((struct columns){array, (int)(sizeof(array) / sizeof((array)[0])), false})

struct column_place {
	const struct column *column;
	int col, width;
};

/* Returns the number of places. */
int column_layout(struct columns columns, int cols, int first_col, int width,
	struct column_place places[COLUMN_MAX]);
void column_titles(struct canvas *c, int row, int col, int limit, const struct column_place *places,
	int n, int sort, const struct glyphs *g);
/* One row: its cells, each in its column. */
void column_row(struct canvas *c, int row, const struct column_place *places, int n,
	const void *view, const void *item, const struct glyphs *g);

/* The next sort order to the left (-1) or right (+1) of sort among the columns that can be sorted by. */
int column_sort_step(struct columns columns, int cols, int sort, int direction);

#endif
