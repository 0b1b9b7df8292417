/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns of a list: a const table per view, laid out for a width.
 *
 * A column is shown when the terminal has at least from_cols columns. One column of the table has width 0 and gets the
 * remaining space. The column's function fills a cell from the view's row. The title of the sort column is followed by
 * a symbol. Stateless.
 */
#ifndef JHOT_TUI_SCREEN_COLUMN_H
#define JHOT_TUI_SCREEN_COLUMN_H

#include "tui/screen/canvas.h"
#include "tui/screen/glyph.h"

#define COLUMN_MAX  16
#define COLUMN_TEXT 512

struct column_cell { /* filled by a cell function */
	char text[COLUMN_TEXT];
	enum style style;
	int width;     /* columns available */
	uint8_t flags; /* of the column */
	const struct glyphs *glyphs;
};

enum column_flag {
	COLUMN_LEFT = 1,      /* left-aligned */
	COLUMN_OVER_TIME = 2, /* shows a change over time */
	COLUMN_SECOND = 4,    /* for a cell function of two columns: the second one */
};

struct column {
	const char *title;
	uint8_t gap, width; /* blanks before it; width 0: the rest */
	uint8_t flags;      /* enum column_flag */
	uint16_t from_cols;
	int8_t sort; /* the view's sort order; -1: not sortable */
	void (*cell)(const void *view, const void *row, struct column_cell *out);
};

/* A table of columns. */
struct columns {
	const struct column *table;
	int count;
	bool timeless; /* without COLUMN_OVER_TIME */
};
#define COLUMNS(array) ((struct columns){array, (int)(sizeof(array) / sizeof((array)[0])), false})

struct column_place {
	const struct column *column;
	int col, width;
};

/* Lays the columns out in width columns from first_col; cols is the terminal's width. Returns how many are shown. */
int column_layout(struct columns columns, int cols, int first_col, int width,
	struct column_place places[COLUMN_MAX]);
void column_titles(struct canvas *c, int row, int col, int limit, const struct column_place *places,
	int n, int sort, const struct glyphs *g);
/* Draws the cells of one row. */
void column_row(struct canvas *c, int row, const struct column_place *places, int n,
	const void *view, const void *item, const struct glyphs *g);

/* The sort order of the next sortable column to the left (-1) or right (+1) of the current one, cyclically. */
int column_sort_step(struct columns columns, int cols, int sort, int direction);

#endif
