/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cursor and scroll position of a list. Independent of its data: rows are indices 0 .. count - 1.
 *
 *        0 ................ hidden above
 *      top ...............  \
 *   cursor ............ >    } rows lines are visible
 *          ...............  /
 *  count-1 ................ hidden below
 *
 * Embedded, plain values. The owner tracks which row is selected: after reordering it calls list_follow (the row moved:
 * scroll so that it keeps its screen line) or list_anchor (keep the row at its index and shift the others).
 */
#ifndef JHOT_TUI_SCREEN_LIST_H
#define JHOT_TUI_SCREEN_LIST_H

#include <stdbool.h>
#include <stdint.h>

struct list {
	int count, rows;
	int top, cursor;
	int page;     /* lines that a page key moves by; 0: the visible ones */
	bool touched; /* the user moved the cursor: from then on it follows its row */
};

/* Sets the number of rows and of visible lines; clamps the cursor. */
void list_resize(struct list *l, int count, int rows);
void list_move(struct list *l, int delta);
void list_to(struct list *l, int index); /* moves the cursor on behalf of the user: sets touched */
/* The selected row is at index now. */
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

#endif
