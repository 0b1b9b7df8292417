/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list's cursor and scrolling. Knows nothing of its data: rows are indices 0 .. count - 1.
 *
 *        0 ................ hidden above
 *      top ...............  \
 *   cursor ............ >    } rows lines are visible
 *          ...............  /
 *  count-1 ................ hidden below
 *
 * Embedded, plain values. What is selected is the owner's business: after its rows were reordered it
 * calls list_follow (the row went elsewhere: scroll so that it keeps its screen line) or list_anchor
 * (keep it where it is and let the others flow around it).
 */
#ifndef JHOT_TUI_SCREEN_LIST_H
#define JHOT_TUI_SCREEN_LIST_H

#include <stdbool.h>
#include <stdint.h>

struct list {
	int count, rows;
	int top, cursor;
	int page;     /* lines that a page key moves by, 0: as many as are visible */
	bool touched; /* the user has moved the cursor: from then on it follows what it is on */
};

/* The list has so many rows, the screen so many lines: clamps. */
void list_resize(struct list *l, int count, int rows);
void list_move(struct list *l, int delta);
void list_to(struct list *l, int index); /* the user's wish */
/* What was under the cursor is at index now. */
void list_follow(struct list *l, int index);
/* list_anchor: move ids[index] to the cursor's place, the rows between shift by one. */
void list_anchor(const struct list *l, uint32_t *ids, int index);

/* The movements that keys stand for. */
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
/* Those over the boxes of a flame graph. */
enum flame_direction { FLAME_TO_ROOT, FLAME_TO_LEAF, FLAME_LEFT, FLAME_RIGHT };

/* The text of a row, for searching; valid until the next call. */
typedef const char *list_text_fn(void *ctx, int index);
/* The first row with needle at or behind index (direction +1) or before it (-1), around the end; -1: none. */
int list_find(const struct list *l, list_text_fn *text, void *ctx, const char *needle, int index,
	int direction);
int list_count_hits(const struct list *l, list_text_fn *text, void *ctx, const char *needle);

#endif
