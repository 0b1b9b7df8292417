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

#define BAR        9  /* cells */
#define BAR_FROM   56 /* columns */
#define FIGURES    16 /* columns of share and of all */
#define BLOCK      6  /* rows of lines and threads */
#define BLOCK_FROM 15

struct callers {
	/* list: callers, the method, callees; trail: visited methods, the last one is shown */
	struct view_state at;
	enum view_id from;
	struct sandwich *s, *base; /* base: the baseline's, while a difference is shown */
	struct sandwich_order order;
	int callers, callees; /* rows of the list, without those that are summed up */
};

static struct callers *callers_state(const struct ui *ui)
{
	return (struct callers *)ui->place.state[VIEW_CALLERS];
}

static uint32_t shown_method(const struct callers *c)
{
	return (uint32_t)trail_top(&c->at.trail);
}

static void callers_done(void *state)
{
	struct callers *c = state;

	sandwich_free(c->s);
	sandwich_free(c->base);
	sandwich_order_done(&c->order);
}

/* --- one part ---------------------------------------------------------------------------------------- */

static const struct {
	const char *title, *none, *noun;
} kinds[SANDWICH_KINDS] = {
	[SANDWICH_CALLERS] = {"CALLERS (who pays)", "[root of the stack]", "caller"},
	[SANDWICH_CALLEES] = {"CALLEES (where it goes)", "[self]", "callee"},
	[SANDWICH_LINES] = {"LINES", "", "line"},
	[SANDWICH_THREADS] = {"THREADS", "", "thread"},
};

static void row_name(const struct ui *ui, enum sandwich_kind kind, uint32_t id, int width,
	char *out, size_t size)
{
	if (kind == SANDWICH_LINES)
		snprintf(out, size, "line %u", id);
	else if (id == PROFILE_NONE)
		snprintf(out, size, "%s", kinds[kind].none);
	else if (kind == SANDWICH_THREADS)
		name_middle(out, size, profile_get_thread(ui->profile, id)->name, width,
			ui->glyphs->ellipsis);
	else
		ui_fit_method(ui, id, ui->names, width, out, size);
}

/* Narrow parts have figures only. */
static int bar_width(struct area a)
{
	return a.cols >= BAR_FROM ? BAR : 0;
}

/* The baseline of the view's sandwich; NULL for the pane beside other views. */
static const struct sandwich *base_of(const struct ui *ui, const struct sandwich *s)
{
	const struct callers *c = callers_state(ui);

	return c && c->s == s ? c->base : NULL;
}

/* The change of a row's share of all; "" for rows that are summed up. */
static void row_delta(const struct sandwich *s, const struct sandwich *base,
	enum sandwich_kind kind, const struct sandwich_row *r, char *out, size_t size)
{
	const struct sandwich_part *part = &base->parts[kind];
	struct compare_share now = {r->count, s->sum_count, r->value, s->sum, s->samples};
	struct compare_share then = {
		.sum_count = base->sum_count, .sum = base->sum, .samples = base->samples};
	bool summed = r < s->parts[kind].rows || r >= s->parts[kind].rows + s->parts[kind].count;

	for (uint32_t i = 0; i < part->count; i++) {
		if (part->rows[i].id != r->id)
			continue;
		then.count = part->rows[i].count;
		then.value = part->rows[i].value;
	}
	out[0] = '\0';
	if (!summed)
		compare_text(out, size, &now, &then);
}

static void draw_row(struct ui *ui, struct area a, const struct sandwich *s,
	enum sandwich_kind kind, const struct sandwich_row *r, const char *name)
{
	/* Shares of lines refer to self samples, the others to all samples with the method on the stack. */
	uint64_t whole = kind == SANDWICH_LINES ? s->self : s->total;
	int end = a.col + a.cols - 1, bar = end - FIGURES - bar_width(a) - 1;
	bool method = kind <= SANDWICH_CALLEES && r->id != PROFILE_NONE && r->count;
	char text[512];
	const struct sandwich *base;

	if (method)
		canvas_printf(&ui->canvas, a.row, a.col + 2, end, theme_frame(r->type), "%c",
			frame_types[r->type].letter);
	canvas_text(&ui->canvas, a.row, a.col + 4, bar - 1,
		r->count >= 10 ? STYLE_NORMAL : STYLE_DIM, name);
	glyph_bar(ui->glyphs, text, whole ? (double)r->value / (double)whole : 0, bar_width(a));
	canvas_text(&ui->canvas, a.row, bar, end, STYLE_SPARK, text);
	pane_percent(ui, a.row, bar, end - 8, STYLE_NORMAL, flat_percent(r->value, whole));
	base = base_of(ui, s);
	if (!base) {
		pane_percent(ui, a.row, bar, end, STYLE_DIM, flat_percent(r->value, s->sum));
		return;
	}
	row_delta(s, base, kind, r, text, sizeof(text));
	canvas_right(&ui->canvas, a.row, bar, end, STYLE_NORMAL, text);
}

static void draw_more(struct ui *ui, struct area a, const struct sandwich *s,
	enum sandwich_kind kind, uint32_t from)
{
	const struct sandwich_part *part = &s->parts[kind];
	struct sandwich_row sum = {.id = PROFILE_NONE};
	char name[64], number[TEXT_NUMBER], more[TEXT_NUMBER];

	for (uint32_t i = from; i < part->count; i++) {
		sum.count += part->rows[i].count;
		sum.value += part->rows[i].value;
	}
	snprintf(more, sizeof(more), "more %s", kinds[kind].noun);
	snprintf(name, sizeof(name), "%s %s", ui->glyphs->ellipsis,
		text_counted(number, part->count - from, more));
	draw_row(ui, a, s, kind, &sum, name);
}

int callers_draw_part(struct ui *ui, struct area area, const struct sandwich *s,
	enum sandwich_kind kind, int first, int cursor)
{
	const struct sandwich_part *part = &s->parts[kind];
	int rows = area.rows - 1, shown = (int)part->count <= rows ? (int)part->count : rows - 1;
	int width = area.cols - FIGURES - bar_width(area) - 7;
	char name[512];

	if (area.rows < 1)
		return area.row;
	pane_table_titles(ui, area,
		&(struct pane_titles){
			kinds[kind].title, "SHARE", base_of(ui, s) ? "DELTA" : "of all"});
	for (int i = 0; i < shown; i++) {
		struct area at = {++area.row, area.col, 1, area.cols};

		row_name(ui, kind, part->rows[i].id, width, name, sizeof(name));
		draw_row(ui, at, s, kind, &part->rows[i], name);
		if (first >= 0)
			canvas_list_row(&ui->canvas, at.row, at.col, at.col + at.cols, first + i,
				first + i == cursor);
	}
	if (shown >= 0 && shown < (int)part->count)
		draw_more(ui, (struct area){++area.row, area.col, 1, area.cols}, s, kind,
			(uint32_t)shown);
	return area.row + 1;
}

static int least(int a, int b)
{
	return a < b ? a : b;
}

void callers_draw_pane(struct ui *ui, struct area area, const struct sandwich *s)
{
	static const enum sandwich_kind order[] = {
		SANDWICH_CALLERS, SANDWICH_CALLEES, SANDWICH_LINES, SANDWICH_THREADS};
	int end = area.row + area.rows;

	for (int i = 0; i < SANDWICH_KINDS; i++) {
		int count = (int)s->parts[order[i]].count;

		/* The title and the rows, at most a fair share of the space. */
		area.rows = least(count + 1, (end - area.row) / (SANDWICH_KINDS - i));
		if (count && area.rows > 1)
			area.row = callers_draw_part(ui, area, s, order[i], -1, -1);
	}
}

/* --- the view ---------------------------------------------------------------------------------------- */

/* The row at an index of the list, with its part in *kind; NULL for the method itself. */
static const struct sandwich_row *row_at(const struct callers *c, int at, enum sandwich_kind *kind)
{
	if (!c->s || at == c->callers || !c->at.list.count)
		return NULL;
	*kind = at < c->callers ? SANDWICH_CALLERS : SANDWICH_CALLEES;
	at -= at < c->callers ? 0 : c->callers + 1;
	/* Between an update and the next draw there may be fewer rows. */
	return at < (int)c->s->parts[*kind].count ? &c->s->parts[*kind].rows[at] : NULL;
}

static void callers_update(struct ui *ui, bool sort)
{
	struct callers *c = callers_state(ui);
	struct profile_query q = ui_query(ui);
	enum sandwich_kind kind = SANDWICH_CALLERS;
	const struct sandwich_row *r = row_at(c, c->at.list.cursor, &kind);
	bool keep = r && c->at.list.touched;
	uint32_t id = r ? r->id : 0;
	const struct sandwich_part *part;

	if (!c->at.trail.depth)
		return;
	sandwich_free(c->s);
	c->s = sandwich_new(ui->profile, &q, shown_method(c));
	sandwich_free(c->base);
	c->base = compare_query(ui, &q) ? sandwich_new(ui->profile, &q, shown_method(c)) : NULL;
	sandwich_settle(&c->order, c->s, sort, ui_order_frozen(ui));
	/* Move the cursor to the selected row, if that is still displayed. */
	part = &c->s->parts[kind];
	for (int i = 0; keep && i < (kind == SANDWICH_CALLERS ? c->callers : c->callees); i++)
		if (i < (int)part->count && part->rows[i].id == id)
			c->at.list.cursor = (kind == SANDWICH_CALLERS ? 0 : c->callers + 1) + i;
}

static const char *callers_text(void *ctx, int index)
{
	struct ui *ui = ctx;
	struct callers *c = callers_state(ui);
	enum sandwich_kind kind;
	const struct sandwich_row *r = row_at(c, index, &kind);

	if (r && r->id == PROFILE_NONE)
		return kinds[kind].none;
	if (!r && !c->at.trail.depth)
		return "";
	return profile_get_method(ui->profile, r ? r->id : shown_method(c))->full;
}

/* Rows of a part that are in the list; if they do not all fit, the last one sums up the rest. */
static int list_rows(const struct sandwich_part *part, int rows)
{
	return (int)part->count <= rows ? (int)part->count : rows > 0 ? rows - 1 : 0;
}

static void draw_middle(struct ui *ui, struct area a, const struct callers *c)
{
	const struct sandwich *s = c->s;
	char figures[160], number[TEXT_NUMBER];
	int end = a.col + a.cols - 1;

	snprintf(figures, sizeof(figures), "self %.1f%% %s%.1f  total %.1f%%  %s",
		flat_percent(s->self, s->sum), ui->glyphs->plus_minus,
		error_half_width(flat_percent(s->self, s->sum) / 100, s->samples),
		flat_percent(s->total, s->sum),
		text_counted(number, (int64_t)s->total_count, "sample"));
	if (a.cols < BAR_FROM)
		snprintf(figures, sizeof(figures), "total %.1f%%", flat_percent(s->total, s->sum));
	pane_method(ui, (struct area){a.row, a.col + 2, 1, a.cols - text_width(figures) - 8},
		s->type, s->method, STYLE_STRONG);
	canvas_right(&ui->canvas, a.row, a.col, end, STYLE_NORMAL, figures);
	if (c->at.list.cursor == c->callers)
		canvas_list_row(&ui->canvas, a.row, a.col, a.col + a.cols, c->callers, true);
}

static void callers_draw(struct ui *ui, struct area area)
{
	struct callers *c = callers_state(ui);
	int block = area.rows >= 30 ? area.rows / 3 : area.rows >= BLOCK_FROM ? BLOCK : 0;
	int rows = area.rows - block - 3, above;
	struct area half = {area.row + area.rows - block, 0, block, area.cols / 2};

	if (!c->s)
		return;
	/* Callers and callees get half of the space each, plus what the other does not need. */
	above = least((int)c->s->parts[SANDWICH_CALLERS].count, rows / 2);
	if ((int)c->s->parts[SANDWICH_CALLEES].count < rows - above)
		above = least((int)c->s->parts[SANDWICH_CALLERS].count,
			rows - (int)c->s->parts[SANDWICH_CALLEES].count);
	c->callers = list_rows(&c->s->parts[SANDWICH_CALLERS], above);
	c->callees = list_rows(&c->s->parts[SANDWICH_CALLEES], rows - above);
	list_resize(&c->at.list, c->callers + 1 + c->callees, c->callers + 1 + c->callees);
	if (!c->at.list.touched)
		c->at.list.cursor = c->callers;
	callers_draw_part(ui, (struct area){area.row, 0, above + 1, area.cols}, c->s,
		SANDWICH_CALLERS, 0, c->at.list.cursor);
	draw_middle(ui, (struct area){area.row + above + 1, 0, 1, area.cols}, c);
	callers_draw_part(ui, (struct area){area.row + above + 2, 0, rows - above + 1, area.cols},
		c->s, SANDWICH_CALLEES, c->callers + 1, c->at.list.cursor);
	if (!block)
		return;
	callers_draw_part(ui, half, c->s, SANDWICH_LINES, -1, -1);
	half.col = half.cols;
	half.cols = area.cols - half.cols;
	callers_draw_part(ui, half, c->s, SANDWICH_THREADS, -1, -1);
}

static void callers_quality(struct ui *ui, struct strip *s)
{
	const struct callers *c = callers_state(ui);
	char trail[200] = "of", cut[200], name[60];
	int space = ui->canvas.cols / 3;

	for (int i = c->at.trail.depth > 3 ? c->at.trail.depth - 3 : 0; i < c->at.trail.depth;
		i++) {
		ui_fit_method(
			ui, (uint32_t)c->at.trail.ids[i], NAME_METHOD, 24, name, sizeof(name));
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

static void callers_detail(struct ui *ui, struct strip *s)
{
	struct callers *c = callers_state(ui);
	enum sandwich_kind kind;
	const struct sandwich_row *r = row_at(c, c->at.list.cursor, &kind);
	char count[TEXT_NUMBER], name[sizeof(((struct strip_part *)0)->text)];

	if (!c->s || !c->at.trail.depth)
		return;
	if (r && r->id == PROFILE_NONE) {
		strip_add(s, STYLE_STRONG, 0, "%s", kinds[kind].none);
	} else if (text_width(callers_text(ui, c->at.list.cursor)) <= ui->canvas.cols - 20) {
		strip_add(s, STYLE_STRONG, 0, "%s", callers_text(ui, c->at.list.cursor));
	} else {
		ui_fit_method(ui, r ? r->id : shown_method(c), NAME_FULL, ui->canvas.cols - 20,
			name, sizeof(name));
		strip_add(s, STYLE_STRONG, 0, "%s", name);
	}
	strip_add(s, STYLE_NORMAL, 1, "%s",
		text_counted(count, (int64_t)(r ? r->count : c->s->total_count), "sample"));
}

static void callers_notice(struct ui *ui, struct strip *s)
{
	const struct callers *c = callers_state(ui);

	strip_add(s, STYLE_DIM, 0, "%s opens the method of a row, Esc %s", ui->glyphs->enter,
		c->at.trail.depth > 1 ? "goes back" : "returns to the list");
}

/* --- commands ---------------------------------------------------------------------------------------- */

void callers_of_method(struct ui *ui, uint32_t method)
{
	enum view_id from = ui->place.view;
	struct callers *c;

	ui_show(ui, VIEW_CALLERS);
	c = callers_state(ui);
	if (from != VIEW_CALLERS) {
		c->at.trail.depth = 0;
		c->from = from;
	}
	trail_push(ui, &c->at.trail, method);
	c->at.list.touched = false;
}

unsigned callers_walk(struct ui *ui, int arg)
{
	const struct callers *c = callers_state(ui);
	enum sandwich_kind kind;
	const struct sandwich_row *r = row_at(c, c->at.list.cursor, &kind);

	if (!r || r->id == PROFILE_NONE)
		return 0;
	callers_of_method(ui, r->id);
	return UI_SORT;
}

unsigned callers_tree(struct ui *ui, int arg)
{
	const struct callers *c = callers_state(ui);

	if (!c->at.trail.depth)
		return 0;
	tree_of_method(ui, shown_method(c), true);
	return UI_SORT;
}

static void callers_back(struct ui *ui)
{
	struct callers *c = callers_state(ui);

	c->at.list.touched = false;
	if (c->at.trail.depth > 1)
		c->at.trail.depth--;
	else
		ui_show(ui, c->from);
}

static void callers_keep(const struct ui *ui)
{
	const struct callers *c = callers_state(ui);

	for (int i = 0; i < c->at.trail.depth; i++)
		profile_pin(ui->profile, (uint32_t)c->at.trail.ids[i]);
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
	.back = callers_back,
	.keep = callers_keep,
};
