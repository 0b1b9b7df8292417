/* SPDX-License-Identifier: Apache-2.0 */
/* The pane beside a list, small tables of methods, and the parts of a sandwich, whose columns align with theirs. */
#include "tui/view/pane.h"

#include "base/buf.h"
#include "profile/query/error.h"
#include "profile/table/flat.h"
#include "tui/frame/compare.h"
#include "tui/screen/text.h"

#include <stdio.h>
#include <stdlib.h>

#define PANE_COLS 160 /* minimum width of the body */
#define PANE_ROWS 16
#define FIGURE    8 /* columns of one share */
#define BAR       9 /* cells */

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

void pane_invalidate(struct pane *p)
{
	sandwich_free(p->sandwich);
	p->sandwich = NULL;
}

void pane_done(struct pane *p)
{
	pane_invalidate(p);
	sandwich_order_done(&p->order);
}

void pane_load(struct ui *ui, struct pane *p, int sixteenths, uint32_t method)
{
	struct area body = ui_body(ui, ui->place.view), pane;

	if (p->sandwich && p->sandwich->method != method)
		pane_invalidate(p);
	if (p->sandwich || method == PROFILE_NONE || !pane_split(body, sixteenths, &body, &pane))
		return;
	struct profile_query q = ui_query(ui);
	p->sandwich = sandwich_new(ui->profile, &q, method);
	sandwich_rank(&p->order, p->sandwich, false, false);
}

struct area pane_draw(struct ui *ui, struct pane *p, struct area body, uint32_t method)
{
	const struct sandwich *s = p->sandwich;
	struct area pane;

	if (!pane_split(body, PANE_LIST, &body, &pane) || method == PROFILE_NONE)
		return body;
	int end = pane.row + pane.rows;
	for (int kind = 0; s && kind < SANDWICH_KINDS; kind++) {
		int count = (int)s->parts[kind].count,
		    fair = (end - pane.row) / (SANDWICH_KINDS - kind);

		/* The title and the rows, at most a fair share of the space. */
		pane.rows = count + 1 < fair ? count + 1 : fair;
		if (count && pane.rows > 1)
			pane.row =
				pane_part_draw(ui, pane, s, NULL, (enum sandwich_kind)kind, -1, -1);
	}
	return body;
}

/* --- tables ------------------------------------------------------------------------------------------- */

static void draw_titles(struct ui *ui, struct area area, const struct pane_titles *titles)
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

	draw_titles(ui, area, titles);
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

/* --- parts of a sandwich ------------------------------------------------------------------------------ */

static void part_row_name(const struct ui *ui, enum sandwich_kind kind, uint32_t id, int width,
	char *out, size_t size)
{
	if (kind == SANDWICH_LINES)
		snprintf(out, size, "line %u", id);
	else if (id == PROFILE_NONE)
		snprintf(out, size, "%s", sandwich_words[kind].none);
	else if (kind == SANDWICH_THREADS)
		name_middle(out, size, profile_get_thread(ui->profile, id)->name, width,
			ui->glyphs->ellipsis);
	else
		ui_fit_method(ui, id, ui->names, width, out, size);
}

/* The change of a row's share of all. */
static void part_row_delta(const struct sandwich *s, const struct sandwich *base,
	enum sandwich_kind kind, const struct sandwich_row *r, char *out, size_t size)
{
	const struct sandwich_part *part = &base->parts[kind];
	struct compare_share now = {r->count, s->sum_count, r->value, s->sum, s->samples};
	struct compare_share then = {
		.sum_count = base->sum_count, .sum = base->sum, .samples = base->samples};

	for (uint32_t i = 0; i < part->count; i++) {
		if (part->rows[i].id != r->id)
			continue;
		then.count = part->rows[i].count;
		then.value = part->rows[i].value;
	}
	compare_text(out, size, &now, &then);
}

int pane_part_draw(struct ui *ui, struct area area, const struct sandwich *s,
	const struct sandwich *base, enum sandwich_kind kind, int first, int cursor)
{
	const struct sandwich_part *part = &s->parts[kind];
	const struct sandwich_words *words = &sandwich_words[kind];
	/* Shares of lines refer to self samples, the others to all samples with the method on the stack. */
	uint64_t whole = kind == SANDWICH_LINES ? s->self : s->total;
	int rows = area.rows - 1, shown = (int)part->count <= rows ? (int)part->count : rows - 1;
	int bar_cells = area.cols >= PANE_BAR_FROM ? BAR : 0;
	int end = area.col + area.cols - 1, bar = end - 2 * FIGURE - bar_cells - 1;
	struct sandwich_row more = {.id = PROFILE_NONE};
	struct canvas *c = &ui->canvas;
	char text[512], number[TEXT_NUMBER], noun[TEXT_NUMBER];

	if (area.rows < 1)
		return area.row;
	draw_titles(
		ui, area, &(struct pane_titles){words->title, "SHARE", base ? "DELTA" : "of all"});
	for (uint32_t i = shown > 0 ? (uint32_t)shown : 0; i < part->count; i++) {
		more.count += part->rows[i].count;
		more.value += part->rows[i].value;
	}
	for (int i = 0; i < rows && i < (int)part->count; i++) {
		bool summed = i == shown;
		const struct sandwich_row *r = summed ? &more : &part->rows[i];
		int row = ++area.row;

		if (summed) {
			snprintf(noun, sizeof(noun), "more %s", words->noun);
			snprintf(text, sizeof(text), "%s %s", ui->glyphs->ellipsis,
				text_counted(number, (int64_t)part->count - shown, noun));
		} else {
			part_row_name(ui, kind, r->id, bar - area.col - 5, text, sizeof(text));
		}
		if (kind <= SANDWICH_CALLEES && r->id != PROFILE_NONE && r->count)
			canvas_printf(c, row, area.col + 2, end, theme_frame(r->type), "%c",
				frame_types[r->type].letter);
		canvas_text(c, row, area.col + 4, bar - 1,
			r->count >= ERROR_FEW ? STYLE_NORMAL : STYLE_DIM, text);
		glyph_bar(
			ui->glyphs, text, whole ? (double)r->value / (double)whole : 0, bar_cells);
		canvas_text(c, row, bar, end, STYLE_SPARK, text);
		pane_percent(
			ui, row, bar, end - FIGURE, STYLE_NORMAL, flat_percent(r->value, whole));
		if (!base) {
			pane_percent(ui, row, bar, end, STYLE_DIM, flat_percent(r->value, s->sum));
		} else if (!summed) {
			part_row_delta(s, base, kind, r, text, sizeof(text));
			canvas_right(c, row, bar, end, STYLE_NORMAL, text);
		}
		if (first >= 0 && !summed)
			canvas_list_row(c, row, area.col, area.col + area.cols, first + i,
				first + i == cursor);
	}
	return area.row + 1;
}
