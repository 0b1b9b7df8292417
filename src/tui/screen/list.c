/* SPDX-License-Identifier: Apache-2.0 */
/* Cursor, scrolling and searching; display order: ranking, reversing, pinning, anchoring rows; columns. */
#include "tui/screen/list.h"

#include "base/buf.h"
#include "tui/screen/text.h"

#include <stdlib.h>
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

void list_follow(struct list *l, int index)
{
	int line = l->cursor - l->top;

	l->cursor = index;
	if (l->top > 0 || index >= l->rows)
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
	list_to(l, l->cursor + delta);
	if (step == LIST_HOME)
		l->touched = false;
}

int list_find(const struct list *l, list_text_fn *text, const void *ctx, const char *needle,
	int index, int direction)
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

int list_count_hits(const struct list *l, list_text_fn *text, const void *ctx, const char *needle)
{
	int hits = 0;

	for (int i = 0; i < l->count && *needle; i++)
		hits += text_find(text(ctx, i), needle) != NULL;
	return hits;
}

/* --- display order ----------------------------------------------------------------------------------- */

void order_done(struct order *o)
{
	rank_done(&o->rank);
	free(o->rows);
	free(o->ids);
	*o = (struct order){0};
}

bool order_selected(const struct order *o, const struct list *l, uint32_t *id)
{
	if (!l->touched || l->cursor < 0 || l->cursor >= (int)o->count)
		return false;
	*id = o->ids[l->cursor];
	return true;
}

static int compare_name(const void *a, const void *b, void *items)
{
	const struct order_item *x = (const struct order_item *)items + *(const uint32_t *)a;
	const struct order_item *y = (const struct order_item *)items + *(const uint32_t *)b;
	int order = strverscmp(x->name, y->name);

	return order ? order : x->id < y->id ? -1 : x->id > y->id;
}

/* Sets o->rows: by name, or ranked by key; then reversed if the user wants it. */
static void order_sort(struct order *o, struct order_item *items, enum rank_how how)
{
	struct rank_item *ranked = xreallocarray(NULL, o->count, sizeof(*ranked));

	for (uint32_t i = 0; i < o->count; i++) {
		ranked[i] = (struct rank_item){items[i].id, items[i].count, items[i].key, i};
		o->rows[i] = i;
	}
	if (o->by_name)
		qsort_r(o->rows, o->count, sizeof(*o->rows), compare_name, items);
	else
		rank_update(&o->rank, ranked, o->count, how);
	for (uint32_t i = 0; i < o->count && !o->by_name; i++)
		o->rows[i] = ranked[i].at;
	free(ranked);
	for (uint32_t i = 0, j = o->count; o->reverse && i + 1 < j; i++) {
		uint32_t other = o->rows[--j];

		o->rows[j] = o->rows[i];
		o->rows[i] = other;
	}
}

void order_update(struct order *o, struct list *l, struct order_item *items, uint32_t count,
	enum rank_how how)
{
	uint32_t selected = 0, at = 0;
	bool keep = order_selected(o, l, &selected);

	o->count = count;
	o->rows = xreallocarray(o->rows, count, sizeof(*o->rows));
	o->ids = xreallocarray(o->ids, count, sizeof(*o->ids));
	order_sort(o, items, how);
	/* Pinned rows move to the top, in their order. */
	for (uint32_t i = 0, top = 0; o->pin_count && i < count; i++) {
		uint32_t row = o->rows[i];
		bool pinned = false;

		for (uint32_t k = 0; k < o->pin_count; k++)
			pinned |= o->pins[k] == items[row].id;
		if (!pinned)
			continue;
		memmove(o->rows + top + 1, o->rows + top, (i - top) * sizeof(*o->rows));
		o->rows[top++] = row;
	}
	list_resize(l, (int)count, l->rows);
	/* After a fresh sort the cursor follows the selected row; otherwise the row keeps its line. */
	while (at < count && items[o->rows[at]].id != selected)
		at++;
	if (keep && at < count && how == RANK_SORT)
		list_follow(l, (int)at);
	else if (keep && at < count)
		list_anchor(l, o->rows, (int)at);
	for (uint32_t i = 0; i < count; i++)
		o->ids[i] = items[o->rows[i]].id;
	/* The next refresh starts from the displayed order. */
	for (uint32_t i = 0; i < count && i < o->rank.count && !o->by_name; i++)
		o->rank.ids[i] = o->ids[o->reverse ? count - 1 - i : i];
}

void order_sort_by(struct order *o, int sort)
{
	o->reverse = o->sort == sort && !o->reverse;
	o->sort = sort;
}

/* --- columns --------------------------------------------------------------------------------------------- */

static bool drawn(struct columns columns, const struct column *c, int cols)
{
	return c->from_cols <= cols && !(c->flags & COLUMN_OVER_TIME && columns.timeless);
}

int column_layout(struct columns columns, int cols, int first_col, int width,
	struct column_place places[COLUMN_MAX])
{
	int count = 0, fixed = 0, col = first_col;

	for (int i = 0; i < columns.count && count < COLUMN_MAX; i++) {
		const struct column *c = &columns.table[i];

		if (!drawn(columns, c, cols))
			continue;
		places[count++].column = c;
		fixed += c->gap + c->width;
	}
	for (int i = 0; i < count; i++) {
		const struct column *c = places[i].column;
		int rest = width - fixed;

		places[i].col = col + c->gap;
		places[i].width = c->width ? c->width : rest > 0 ? rest : 0;
		col = places[i].col + places[i].width;
	}
	return count;
}

/* Returns the column after the text. */
static int draw_aligned(
	struct canvas *c, int row, const struct column_place *p, enum style style, const char *text)
{
	int end = p->col + p->width;

	if (p->column->flags & COLUMN_LEFT)
		return canvas_text(c, row, p->col, end, style, text);
	canvas_right(c, row, p->col, end, style, text);
	return end;
}

void column_titles(struct canvas *c, int row, int col, int limit, const struct column_place *places,
	int n, int sort, const struct glyphs *g)
{
	canvas_fill(c, row, col, limit, STYLE_COLUMNS, ' ');
	for (int i = 0; i < n; i++) {
		const struct column *column = places[i].column;
		bool sorted = column->sort >= 0 && column->sort == sort;
		/* The title ± depends on the character set. */
		const char *title = strcmp(column->title, glyphs_utf8.plus_minus) != 0
					    ? column->title
					    : g->plus_minus;
		int end = draw_aligned(
			c, row, &places[i], sorted ? STYLE_SORTED : STYLE_COLUMNS, title);

		if (column->sort >= 0)
			canvas_hit(c, row, places[i].col, places[i].col + places[i].width, HIT_SORT,
				column->sort);
		if (sorted)
			canvas_text(c, row, end, limit, STYLE_SORTED, g->sort);
	}
}

void column_row(struct canvas *c, int row, const struct column_place *places, int n,
	const void *view, const void *item, const struct glyphs *g)
{
	for (int i = 0; i < n; i++) {
		const struct column_place *p = &places[i];
		struct column_cell cell = {.style = STYLE_NORMAL,
			.width = p->width,
			.flags = p->column->flags,
			.glyphs = g};

		p->column->cell(view, item, &cell);
		draw_aligned(c, row, p, cell.style, cell.text);
	}
}

int column_sort_step(struct columns columns, int cols, int sort, int direction)
{
	int orders[COLUMN_MAX], count = 0, at = 0;

	for (int i = 0; i < columns.count && count < COLUMN_MAX; i++) {
		const struct column *c = &columns.table[i];

		if (c->sort < 0 || !drawn(columns, c, cols))
			continue;
		if (c->sort == sort)
			at = count;
		orders[count++] = c->sort;
	}
	return count ? orders[(at + direction + count) % count] : sort;
}
