/* SPDX-License-Identifier: Apache-2.0 */
/* The callers view: one method between its callers and callees, and moving from one method to the next. */
#include "tui/view/pane.h"

#include "base/buf.h"
#include "profile/query/error.h"
#include "profile/table/flat.h"
#include "tui/frame/command.h"
#include "tui/frame/compare.h"
#include "tui/screen/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK      6 /* rows of lines and threads */
#define BLOCK_FROM 15

struct callers {
	/* list: callers, the method, callees; trail: visited methods, the last one is shown */
	struct view_state view;
	enum view_id from;
	struct sandwich *s, *base; /* base: the baseline's, while a difference is shown */
	struct sandwich_order order;
	int callers, callees; /* rows of the list, without those that are summed up */
};

static uint32_t shown_method(const struct callers *c)
{
	return (uint32_t)trail_top(&c->view.trail);
}

static void callers_done(void *state)
{
	struct callers *c = state;

	sandwich_free(c->s);
	sandwich_free(c->base);
	sandwich_order_done(&c->order);
}

/* The row at an index of the list, with its part in *kind; NULL for the method itself. */
static const struct pane_row *row_at(const struct callers *c, int at, enum sandwich_kind *kind)
{
	if (!c->s || at == c->callers || !c->view.list.count)
		return NULL;
	*kind = at < c->callers ? SANDWICH_CALLERS : SANDWICH_CALLEES;
	at -= at < c->callers ? 0 : c->callers + 1;
	/* Between an update and the next draw there may be fewer rows. */
	return at < (int)c->s->parts[*kind].count ? &c->s->parts[*kind].rows[at] : NULL;
}

static void callers_update(const struct ui *ui, bool sort)
{
	struct callers *c = ui_state(ui, VIEW_CALLERS);
	struct profile_query q = ui_query(ui);
	enum sandwich_kind kind = SANDWICH_CALLERS;
	const struct pane_row *r = row_at(c, c->view.list.cursor, &kind);
	bool keep = r && c->view.list.touched;
	uint32_t id = r ? r->id : 0;

	if (!c->view.trail.depth)
		return;
	sandwich_free(c->s);
	c->s = sandwich_new(ui->profile, &q, shown_method(c));
	sandwich_free(c->base);
	c->base = compare_query(ui, &q) ? sandwich_new(ui->profile, &q, shown_method(c)) : NULL;
	sandwich_rank(&c->order, c->s, ui_order_how(ui, sort));
	/* Move the cursor to the selected row, if that is still displayed. */
	const struct sandwich_part *part = &c->s->parts[kind];
	for (int i = 0; keep && i < (kind == SANDWICH_CALLERS ? c->callers : c->callees); i++)
		if (i < (int)part->count && part->rows[i].id == id)
			c->view.list.cursor = (kind == SANDWICH_CALLERS ? 0 : c->callers + 1) + i;
}

static const char *callers_text(const void *ctx, int index)
{
	const struct ui *ui = ctx;
	struct callers *c = ui_state(ui, VIEW_CALLERS);
	enum sandwich_kind kind;
	const struct pane_row *r = row_at(c, index, &kind);

	if (r && r->id == PROFILE_NONE)
		return sandwich_words[kind].none;
	if (!r && !c->view.trail.depth)
		return "";
	return profile_get_method(ui->profile, r ? r->id : shown_method(c))->full;
}

/* Rows of a part that are in the list; if they do not all fit, the last one sums up the rest. */
static int list_rows(const struct sandwich_part *part, int rows)
{
	return (int)part->count <= rows ? (int)part->count : rows > 0 ? rows - 1 : 0;
}

static void callers_draw(const struct ui *ui, struct area area)
{
	struct callers *c = ui_state(ui, VIEW_CALLERS);
	const struct sandwich *s = c->s;
	int block = area.rows >= 30 ? area.rows / 3 : area.rows >= BLOCK_FROM ? BLOCK : 0;
	int rows = area.rows - block - 3;
	char figures[160], number[TEXT_NUMBER];

	if (!s)
		return;
	/* Callers and callees get half of the space each, plus the space that the other does not need. */
	int callers = (int)s->parts[SANDWICH_CALLERS].count;
	int callees = (int)s->parts[SANDWICH_CALLEES].count;
	int above = callees < rows - rows / 2 ? rows - callees : rows / 2;
	above = above < callers ? above : callers;
	c->callers = list_rows(&s->parts[SANDWICH_CALLERS], above);
	c->callees = list_rows(&s->parts[SANDWICH_CALLEES], rows - above);
	list_resize(&c->view.list, c->callers + 1 + c->callees, c->callers + 1 + c->callees);
	if (!c->view.list.touched)
		c->view.list.cursor = c->callers;
	pane_part_draw(ui, (struct area){area.row, 0, above + 1, area.cols}, s, c->base,
		SANDWICH_CALLERS, 0, c->view.list.cursor);
	/* The method itself. */
	int middle = area.row + above + 1;
	double self = flat_percent(s->self, s->sum), total = flat_percent(s->total, s->sum);
	if (area.cols < PANE_BAR_FROM)
		snprintf(figures, sizeof(figures), "total %.1f%%", total);
	else
		snprintf(figures, sizeof(figures), "self %.1f%% %s%.1f  total %.1f%%  %s", self,
			ui->glyphs->plus_minus, error_half_width(self / 100, s->samples), total,
			text_counted(number, (int64_t)s->total_count, "sample"));
	pane_method(ui, (struct area){middle, 2, 1, area.cols - text_width(figures) - 8}, s->type,
		s->method, STYLE_STRONG);
	canvas_right(ui->canvas, middle, 0, area.cols - 1, STYLE_NORMAL, figures);
	if (c->view.list.cursor == c->callers)
		canvas_list_row(ui->canvas, middle, 0, area.cols, c->callers, true);
	pane_part_draw(ui, (struct area){middle + 1, 0, rows - above + 1, area.cols}, s, c->base,
		SANDWICH_CALLEES, c->callers + 1, c->view.list.cursor);
	if (!block)
		return;
	struct area half = {area.row + area.rows - block, 0, block, area.cols / 2};
	pane_part_draw(ui, half, s, c->base, SANDWICH_LINES, -1, -1);
	half.col = half.cols;
	half.cols = area.cols - half.cols;
	pane_part_draw(ui, half, s, c->base, SANDWICH_THREADS, -1, -1);
}

static void callers_quality(const struct ui *ui, struct strip *s)
{
	const struct callers *c = ui_state(ui, VIEW_CALLERS);
	char trail[200] = "of", cut[200], name[60];
	int space = ui->canvas->cols / 3;

	for (int i = c->view.trail.depth > 3 ? c->view.trail.depth - 3 : 0; i < c->view.trail.depth;
		i++) {
		ui_fit_method(
			ui, (uint32_t)c->view.trail.ids[i], NAME_METHOD, 24, name, sizeof(name));
		snprintf(trail + strlen(trail), sizeof(trail) - strlen(trail), "%s %s",
			strlen(trail) > 2 ? " >" : "", name);
	}
	/* Keep the end, the current method. */
	if (text_width(trail) > space)
		snprintf(cut, sizeof(cut), "%s%s", ui->glyphs->ellipsis,
			text_suffix(trail, space - 1));
	else
		snprintf(cut, sizeof(cut), "%s", trail);
	strip_add(s, STYLE_STRONG, 2, "%s", cut);
}

static void callers_detail(const struct ui *ui, struct strip *s)
{
	struct callers *c = ui_state(ui, VIEW_CALLERS);
	enum sandwich_kind kind;
	const struct pane_row *r = row_at(c, c->view.list.cursor, &kind);
	char count[TEXT_NUMBER], name[sizeof(((struct strip_part *)0)->text)];

	if (!c->s || !c->view.trail.depth)
		return;
	if (r && r->id == PROFILE_NONE) {
		strip_add(s, STYLE_STRONG, 0, "%s", sandwich_words[kind].none);
	} else if (text_width(callers_text(ui, c->view.list.cursor)) <= ui->canvas->cols - 20) {
		strip_add(s, STYLE_STRONG, 0, "%s", callers_text(ui, c->view.list.cursor));
	} else {
		ui_fit_method(ui, r ? r->id : shown_method(c), NAME_FULL, ui->canvas->cols - 20,
			name, sizeof(name));
		strip_add(s, STYLE_STRONG, 0, "%s", name);
	}
	strip_add(s, STYLE_NORMAL, 1, "%s",
		text_counted(count, (int64_t)(r ? r->count : c->s->total_count), "sample"));
}

static void callers_notice(const struct ui *ui, struct strip *s)
{
	const struct callers *c = ui_state(ui, VIEW_CALLERS);

	strip_add(s, STYLE_DIM, 0, "%s opens the method of a row, Esc %s", ui->glyphs->enter,
		c->view.trail.depth > 1 ? "goes back" : "returns to the list");
}

void callers_of_method(struct ui *ui, uint32_t method)
{
	enum view_id from = ui->view;

	ui_show(ui, VIEW_CALLERS);
	struct callers *c = ui_state(ui, VIEW_CALLERS);
	if (from != VIEW_CALLERS) {
		c->view.trail.depth = 0;
		c->from = from;
	}
	trail_push(ui, &c->view.trail, method);
	c->view.list.touched = false;
}

unsigned callers_walk(struct ui *ui, int arg)
{
	const struct callers *c = ui_state(ui, VIEW_CALLERS);
	enum sandwich_kind kind;
	const struct pane_row *r = row_at(c, c->view.list.cursor, &kind);

	if (!r || r->id == PROFILE_NONE)
		return 0;
	callers_of_method(ui, r->id);
	return UI_SORT;
}

unsigned callers_tree(struct ui *ui, int arg)
{
	const struct callers *c = ui_state(ui, VIEW_CALLERS);

	if (!c->view.trail.depth)
		return 0;
	tree_of_method(ui, shown_method(c), true);
	return UI_SORT;
}

/* The method of the selected row, or the one shown. */
static uint32_t callers_selected_method(const struct ui *ui)
{
	const struct callers *c = ui_state(ui, VIEW_CALLERS);
	enum sandwich_kind kind;
	const struct pane_row *r = row_at(c, c->view.list.cursor, &kind);

	return !c->view.trail.depth ? PROFILE_NONE : r ? r->id : shown_method(c);
}

static void callers_back(struct ui *ui)
{
	struct callers *c = ui_state(ui, VIEW_CALLERS);

	c->view.list.touched = false;
	if (c->view.trail.depth > 1)
		c->view.trail.depth--;
	else
		ui_show(ui, c->from);
}

static void callers_pin_ids(const struct ui *ui)
{
	const struct callers *c = ui_state(ui, VIEW_CALLERS);

	for (int i = 0; i < c->view.trail.depth; i++)
		profile_pin(ui->profile, (uint32_t)c->view.trail.ids[i]);
}

const struct view view_callers = {
	.name = "Callers view",
	.bytes = sizeof(struct callers),
	.done = callers_done,
	.update = callers_update,
	.draw = callers_draw,
	.quality = callers_quality,
	.detail = callers_detail,
	.notice = callers_notice,
	.text = callers_text,
	.selected_method = callers_selected_method,
	.back = callers_back,
	.pin_ids = callers_pin_ids,
};
