/* SPDX-License-Identifier: Apache-2.0 */
/* The pane beside a list, and its tables, whose columns align with those of the callers' parts. */
#include "tui/view/pane.h"

#include "base/buf.h"
#include "profile/query/error.h"
#include "tui/screen/text.h"

#include <stdio.h>
#include <stdlib.h>

#define PANE_COLS 160 /* minimum width of the body */
#define PANE_ROWS 16
#define FIGURE    8 /* columns of one share */

bool pane_split(struct area body, int sixteenths, struct area *list, struct area *pane)
{
	*list = *pane = body;
	if (body.cols < PANE_COLS || body.rows < PANE_ROWS)
		return false;
	list->cols = body.cols * sixteenths / 16;
	pane->col = list->cols + 1;
	pane->cols -= pane->col;
	return true;
}

void pane_stale(struct pane *p)
{
	sandwich_free(p->sandwich);
	p->sandwich = NULL;
}

void pane_done(struct pane *p)
{
	pane_stale(p);
	sandwich_order_done(&p->order);
}

void pane_load(struct ui *ui, struct pane *p, int sixteenths, uint32_t method)
{
	struct area body = ui_body(ui, ui->place.view), pane;
	struct profile_query q;

	if (p->sandwich && p->sandwich->method != method)
		pane_stale(p);
	if (p->sandwich || method == PROFILE_NONE || !pane_split(body, sixteenths, &body, &pane))
		return;
	q = ui_query(ui);
	p->sandwich = sandwich_new(ui->profile, &q, method);
	sandwich_settle(&p->order, p->sandwich, false, false);
}

struct area pane_draw(struct ui *ui, struct pane *p, struct area body, uint32_t method)
{
	struct area pane;

	if (!pane_split(body, PANE_LIST, &body, &pane) || method == PROFILE_NONE)
		return body;
	if (p->sandwich)
		callers_draw_pane(ui, pane, p->sandwich);
	return body;
}

/* --- tables ------------------------------------------------------------------------------------------- */

void pane_table_titles(struct ui *ui, struct area area, const struct pane_titles *titles)
{
	struct canvas *c = &ui->canvas;
	int end = area.col + area.cols - 1;

	canvas_fill(c, area.row, area.col, area.col + area.cols, STYLE_COLUMNS, ' ');
	canvas_text(c, area.row, area.col + 1, end, STYLE_COLUMNS, titles->what);
	canvas_right(c, area.row, area.col, end - FIGURE, STYLE_COLUMNS, titles->first);
	canvas_right(c, area.row, area.col, end, STYLE_COLUMNS, titles->second);
}

void pane_percent(struct ui *ui, int row, int col, int end, enum style style, double percent)
{
	char number[TEXT_NUMBER], text[TEXT_NUMBER + 1];

	snprintf(text, sizeof(text), "%s%%", text_percent(number, percent));
	canvas_right(&ui->canvas, row, col, end, style, text);
}

void pane_method(struct ui *ui, struct area area, uint8_t type, uint32_t method, enum style style)
{
	struct canvas *c = &ui->canvas;
	char name[512];

	canvas_printf(
		c, area.row, area.col, c->cols, theme_frame(type), "%c", frame_types[type].letter);
	ui_fit_method(ui, method, ui->names, area.cols, name, sizeof(name));
	canvas_text(c, area.row, area.col + 2, c->cols, style, name);
}

void pane_table_set(
	struct pane_table *t, struct pane_row *rows, uint32_t count, bool fresh, bool frozen)
{
	struct rank_item *items = xreallocarray(NULL, (size_t)count + 1, sizeof(*items));

	pane_table_clear(t);
	t->rows = xreallocarray(NULL, (size_t)count + 1, sizeof(*t->rows));
	t->count = count;
	for (uint32_t i = 0; i < count; i++)
		items[i] = (struct rank_item){
			rows[i].method, rows[i].count, (double)rows[i].weight, i};
	rank_update(&t->rank, items, count, fresh, frozen);
	for (uint32_t i = 0; i < count; i++)
		t->rows[i] = rows[items[i].at];
	free(items);
	free(rows);
}

void pane_table_clear(struct pane_table *t)
{
	free(t->rows);
	t->rows = NULL;
	t->count = 0;
}

void pane_table_done(struct pane_table *t)
{
	pane_table_clear(t);
	rank_done(&t->rank);
}

int pane_table_draw(struct ui *ui, struct area area, const struct pane_titles *titles,
	const struct pane_table *t)
{
	int end = area.col + area.cols - 1, names = area.cols - 2 * FIGURE - 1;

	pane_table_titles(ui, area, titles);
	for (uint32_t i = 0; i < t->count && (int)i < area.rows - 1; i++) {
		const struct pane_row *r = &t->rows[i];
		int row = area.row + 1 + (int)i;

		pane_method(ui, (struct area){row, area.col + 2, 1, names - 5}, r->type, r->method,
			r->count >= ERROR_FEW ? STYLE_NORMAL : STYLE_DIM);
		pane_percent(ui, row, area.col, end - FIGURE, STYLE_NORMAL, r->first);
		pane_percent(ui, row, end - FIGURE, end, STYLE_DIM, r->second);
	}
	return area.row + 1 + ((int)t->count < area.rows - 1 ? (int)t->count : area.rows - 1);
}
