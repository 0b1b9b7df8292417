/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list: cursor and scroll position, the display order of its rows, and their columns.
 *
 * The cursor is independent of the data: rows are indices 0 .. count - 1.
 *
 *        0 ................ hidden above
 *      top ...............  \
 *   cursor ............ >    } rows lines are visible
 *          ...............  /
 *  count-1 ................ hidden below
 *
 * Embedded, plain values. The owner tracks which row is selected: after reordering it calls list_follow (the row moved:
 * scroll after it) or list_anchor (keep the row at its index and shift the others).
 */
#ifndef JHOT_TUI_SCREEN_LIST_H
#define JHOT_TUI_SCREEN_LIST_H

#include "profile/table/rank.h"
#include "tui/screen/canvas.h"
#include "tui/screen/theme.h"

#include <stdbool.h>
#include <stdint.h>

struct list {
	int count, rows;
	int top, cursor;
	int page; /* lines that a page key moves by; 0: the visible ones */
	bool touched; /* the user moved the cursor: it follows its row, until LIST_HOME returns it to the first one */
};

/* Sets the number of rows and of visible lines; clamps the cursor. */
void list_resize(struct list *l, int count, int rows);
void list_to(struct list *l, int index); /* moves the cursor on behalf of the user: sets touched */
/*
 * Moves the cursor to the selected row's new index, and scrolls so that it keeps its screen line. A list that
 * shows its first row continues to do so if the cursor then fits, so that the rows with the highest values
 * are not scrolled out of sight.
 */
void list_follow(struct list *l, int index);
/* Moves ids[index] to the cursor's index; the rows in between shift by one. */
void list_anchor(const struct list *l, uint32_t *ids, int index);

/* Cursor movements, the arguments of key commands. */
enum list_step {
	LIST_UP,
	LIST_DOWN,
	LIST_PAGE_UP,
	LIST_PAGE_DOWN,
	LIST_HALF_UP,
	LIST_HALF_DOWN,
	LIST_HOME,
	LIST_END
};
void list_step(struct list *l, enum list_step step);
/* The same for the boxes of a flame graph. */
enum flame_direction { FLAME_TO_ROOT, FLAME_TO_LEAF, FLAME_LEFT, FLAME_RIGHT };

/* Returns the text of a row, for searching; valid until the next call. */
typedef const char *list_text_fn(const void *ctx, int index);
/* The first row containing needle at or after index (direction 1) or at or before it (-1), wrapping around; -1: none. */
int list_find(const struct list *l, list_text_fn *text, const void *ctx, const char *needle,
	int index, int direction);
int list_count_hits(const struct list *l, list_text_fn *text, const void *ctx, const char *needle);

/* --- display order --------------------------------------------------------------------------------- */

/*
 * The display order of a list's rows: ranked without jitter, with the selected row on a fixed screen line.
 *
 * Each refresh passes all rows with stable ids. rank.h keeps rows in place until the data justifies a swap; then the
 * selected row is moved back to its screen line and the others shift around it. The displayed order is the start of the
 * next refresh, so a row that is no longer selected converges to its rank. Embedded, zero-initialized; end with order_done.
 */

struct order_item {
	uint32_t id;
	uint64_t count;   /* samples, for the statistical error */
	double key;       /* larger first */
	const char *name; /* for sorting by name */
};

struct order {
	uint32_t *rows; /* display position -> index of the item */
	uint32_t count;
	struct rank rank;
	uint32_t *ids; /* ids by display position, as last shown */
	int sort;      /* the owner's sort order */
	bool by_name, reverse;
	const uint32_t *pins; /* ids of rows kept on top; borrowed from the owner */
	uint32_t pin_count;
};

void order_done(struct order *o);
void order_update(struct order *o, struct list *l, struct order_item *items, uint32_t count,
	enum rank_how how);
/* Sorts by this order, or reverses it if it is the current one. */
void order_sort_by(struct order *o, int sort);
/* The id at the cursor. Returns false if the user has not moved the cursor, or the list is empty. */
bool order_selected(const struct order *o, const struct list *l, uint32_t *id);

/* --- columns --------------------------------------------------------------------------------------------- */

/*
 * The columns of a list: a const table per view, laid out for a width.
 *
 * A column is shown when the terminal has at least from_cols columns. One column of the table has width 0 and gets the
 * remaining space. The column's function fills a cell from the view's row. The title of the sort column is followed by
 * a symbol. Stateless.
 */

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
