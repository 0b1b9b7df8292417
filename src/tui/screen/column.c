/* SPDX-License-Identifier: Apache-2.0 */
/* Laying out and drawing columns. */
#include "tui/screen/column.h"

#include <string.h>

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
