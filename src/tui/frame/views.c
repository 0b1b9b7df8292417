/* SPDX-License-Identifier: Apache-2.0 */
/* The table of views, and drawing common to them. */
#include "tui/frame/ui.h"

#include <string.h>

#define PAGE_ROWS 120

const struct view *const view_table[VIEW_COUNT] = {
	[VIEW_METHODS] = &view_methods,
	[VIEW_THREADS] = &view_threads,
	[VIEW_TREE] = &view_tree,
	[VIEW_FLAME] = &view_flame,
	[VIEW_CALLERS] = &view_callers,
	[VIEW_HELP] = &view_help,
	[VIEW_PICKER] = &view_picker,
	[VIEW_ERROR] = &view_error,
	[VIEW_INFO] = &view_info,
	[VIEW_FINDINGS] = &view_findings,
};

void trail_push(struct ui *ui, struct trail *t, uint64_t id)
{
	if (t->depth == TRAIL_MAX) {
		t->depth--;
		memmove(t->ids, t->ids + 1, (size_t)t->depth * sizeof(*t->ids));
		memmove(t->undo, t->undo + 1, (size_t)t->depth * sizeof(*t->undo));
	}
	t->undo[t->depth] = ui_undo_id(ui);
	t->ids[t->depth++] = id;
}

void view_draw_rows(struct ui *ui, enum view_id view, struct area area, uint32_t count)
{
	const struct view *v = view_table[view];
	struct view_state *s = ui->place.state[view];
	struct column_place places[COLUMN_MAX];
	struct canvas *c = &ui->canvas;
	int end = area.col + area.cols;
	int n = column_layout(v->columns(ui), c->cols, area.col, area.cols, places);

	column_titles(c, area.row, area.col, end, places, n, s->order.sort, ui->glyphs);
	list_resize(&s->list, (int)count, area.rows - 1);
	for (int line = 0; line < s->list.rows; line++) {
		int index = s->list.top + line, row = area.row + 1 + line;
		const void *item = v->row(s, index);

		if (!item)
			break;
		column_row(c, row, places, n, s, item, ui->glyphs);
		if (v->decorate)
			v->decorate(ui, row, places, n, item);
		canvas_list_row(c, row, area.col, end, index, index == s->list.cursor);
	}
}

/* --- pages ------------------------------------------------------------------------------------------- */

void page_begin(struct ui *ui, struct page *p)
{
	p->canvas.ascii = ui->canvas.ascii;
	canvas_resize(&p->canvas, PAGE_ROWS, ui->canvas.cols);
	p->rows = 0;
}

bool page_draw(struct ui *ui, struct page *p, struct area area)
{
	int rows = p->rows < PAGE_ROWS ? p->rows : PAGE_ROWS, hidden = rows - area.rows;
	struct canvas *c = &ui->canvas;

	/* The list's cursor is the first visible row. */
	list_resize(&p->at.list, (hidden > 0 ? hidden : 0) + 1, 1);
	p->at.list.page = area.rows;
	for (int i = 0; i < area.rows && p->at.list.cursor + i < rows; i++)
		memcpy(c->cells + (size_t)(area.row + i) * (size_t)c->cols,
			canvas_row(&p->canvas, p->at.list.cursor + i),
			(size_t)c->cols * sizeof(*c->cells));
	return p->at.list.cursor < p->at.list.count - 1;
}

void page_done(void *page)
{
	canvas_done(&((struct page *)page)->canvas);
}
