/* SPDX-License-Identifier: Apache-2.0 */
/* Cursor, scrolling, searching. */
#include "tui/screen/list.h"

#include "tui/screen/text.h"

#include <string.h>

static int clamp(int v, int low, int high)
{
	return v > high ? (high < low ? low : high) : v < low ? low : v;
}

static void list_show_cursor(struct list *l)
{
	l->cursor = clamp(l->cursor, 0, l->count - 1);
	l->top = clamp(l->top, l->cursor - l->rows + 1, l->cursor);
	l->top = clamp(l->top, 0, l->count - l->rows);
}

void list_resize(struct list *l, int count, int rows)
{
	l->count = count;
	l->rows = rows < 1 ? 1 : rows;
	list_show_cursor(l);
}

void list_to(struct list *l, int index)
{
	l->touched = true;
	l->cursor = index;
	list_show_cursor(l);
}

void list_move(struct list *l, int delta)
{
	list_to(l, l->cursor + delta);
}

void list_follow(struct list *l, int index)
{
	int line = l->cursor - l->top;

	l->cursor = index;
	l->top = index - line;
	list_show_cursor(l);
}

void list_anchor(const struct list *l, uint32_t *ids, int index)
{
	int to = clamp(l->cursor, 0, l->count - 1);
	uint32_t id = ids[index];

	if (index < to)
		memmove(ids + index, ids + index + 1, (size_t)(to - index) * sizeof(*ids));
	else
		memmove(ids + to + 1, ids + to, (size_t)(index - to) * sizeof(*ids));
	ids[to] = id;
}

void list_step(struct list *l, enum list_step step)
{
	static const struct {
		int8_t rows, half_pages, ends;
	} steps[] = {
		[LIST_UP] = {-1, 0, 0},
		[LIST_DOWN] = {1, 0, 0},
		[LIST_PAGE_UP] = {1, -2, 0},
		[LIST_PAGE_DOWN] = {-1, 2, 0},
		[LIST_HALF_UP] = {0, -1, 0},
		[LIST_HALF_DOWN] = {0, 1, 0},
		[LIST_HOME] = {0, 0, -1},
		[LIST_END] = {0, 0, 1},
	};
	int page = l->page ? l->page : l->rows;
	int delta = steps[step].rows + steps[step].half_pages * (page < 2 ? 2 : page) / 2 +
		    steps[step].ends * l->count;

	/* Page keys scroll as well, so that the cursor keeps its screen line. */
	if (steps[step].half_pages)
		l->top = clamp(l->top + delta, 0, l->count - l->rows);
	list_move(l, delta);
}

int list_find(const struct list *l, list_text_fn *text, void *ctx, const char *needle, int index,
	int direction)
{
	if (!l->count || !*needle)
		return -1;
	for (int i = 0; i < l->count; i++) {
		int at = (index + direction * i) % l->count;

		at = at < 0 ? at + l->count : at;
		if (text_find(text(ctx, at), needle))
			return at;
	}
	return -1;
}

int list_count_hits(const struct list *l, list_text_fn *text, void *ctx, const char *needle)
{
	int hits = 0;

	for (int i = 0; i < l->count && *needle; i++)
		hits += text_find(text(ctx, i), needle) != NULL;
	return hits;
}
