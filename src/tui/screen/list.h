/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cursor and scroll position of a list, and the display order of its rows.
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
 * Moves the cursor to the selected row's new index, and scrolls so that it keeps its screen line. A list that shows its first
 * row continues to do so if the cursor then fits, so that the rows with the highest values are not scrolled out of sight.
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
typedef const char *list_text_fn(void *ctx, int index);
/* The first row containing needle at or after index (direction 1) or at or before it (-1), wrapping around; -1: none. */
int list_find(const struct list *l, list_text_fn *text, void *ctx, const char *needle, int index,
	int direction);
int list_count_hits(const struct list *l, list_text_fn *text, void *ctx, const char *needle);

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

/* Rerank, sort from scratch, or keep every row where it is. */
enum order_how { ORDER_KEEP, ORDER_FRESH, ORDER_FREEZE };

void order_done(struct order *o);
void order_update(struct order *o, struct list *l, struct order_item *items, uint32_t count,
	enum order_how how);
/* Sorts by this order, or reverses it if it is the current one. */
void order_sort_by(struct order *o, int sort);
/* The id at the cursor. Returns false if the user has not moved the cursor, or the list is empty. */
bool order_selected(const struct order *o, const struct list *l, uint32_t *id);

#endif
