/* SPDX-License-Identifier: Apache-2.0 */
/* The methods view: one row per method, its share of the window, how sure that is, how it moved. */
#include "tui/ui.h"

#include "base/buf.h"
#include "profile/flat.h"
#include "tui/column.h"
#include "tui/command.h"
#include "tui/expect.h"
#include "tui/lines.h"
#include "tui/order.h"
#include "tui/text.h"
#include "tui/view_callers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FEW         EXPECT_FEW
#define RISE_POINTS 1   /* less is not worth a line */
#define RISE_ERRORS 1.8 /* of 400 methods one is beyond 1 by chance at any time */
#define BEFORE_S    20u /* deltas are against the window so long ago */
#define PANE_COLS   160 /* from this width on callers and callees stand beside the list */
#define PANE_ROWS   16
#define DELTA_COLS  120 /* from this width on */

enum { SORT_SELF, SORT_TOTAL, SORT_DELTA, SORT_NAME };

struct methods {
	const struct ui *ui;
	struct flat *flat, *before; /* before: the window 20 s ago, NULL if none */
	struct expect expect;
	struct order order; /* of flat's rows */
	struct list list;
	int sort;
	struct lines *lines; /* hottest, only where there is room for the column */
	struct sandwich_order beside_order;
	struct sandwich *beside; /* of the selected method, for wide terminals */
	uint32_t riser;          /* the row that rose most beyond chance, or PROFILE_NONE */
};

static struct methods *methods_state(const struct ui *ui)
{
	return ui->state[VIEW_METHODS];
}

static void *methods_new(void)
{
	struct methods *m = xcalloc(1, sizeof(*m));

	m->riser = PROFILE_NONE;
	return m;
}

static void methods_free(void *state)
{
	struct methods *m = state;

	flat_free(m->flat);
	flat_free(m->before);
	order_done(&m->order);
	expect_done(&m->expect);
	lines_free(m->lines);
	sandwich_free(m->beside);
	sandwich_order_done(&m->beside_order);
	free(m);
}

static struct list *methods_list(struct ui *ui)
{
	return &methods_state(ui)->list;
}

/* --- figures ----------------------------------------------------------------------------------------- */

static double share(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

/* Points that self gained since the window before; false if within so many errors of no change. */
static bool delta(
	const struct methods *m, const struct flat_row *row, double *points, double errors)
{
	const struct flat_row *old = expect_find(m->before, row->method);
	uint64_t then_count, then_sum;
	double now_error, then_error;

	if (!m->before || !m->before->sum_count)
		return false;
	then_count = old ? old->self_count : 0;
	then_sum = m->before->sum_count;
	now_error = flat_half_width(row->self_count, m->flat->sum_count);
	then_error = flat_half_width(then_count, then_sum);
	*points = share(row->self, m->flat->sum) - share(old ? old->self : 0, m->before->sum);
	return fabs(*points) > errors * sqrt(now_error * now_error + then_error * then_error) &&
	       row->self_count + then_count >= FEW;
}

/* --- columns ----------------------------------------------------------------------------------------- */

static void share_cell(struct column_cell *out, uint64_t count, uint64_t part, uint64_t all)
{
	char text[TEXT_NUMBER];

	if (count >= FEW) {
		strcpy(out->text, text_percent(text, share(part, all)));
		return;
	}
	/* Too few to print a decimal that means anything. */
	out->style = STYLE_DIM;
	if (count)
		snprintf(out->text, COLUMN_TEXT, "~%.0f", ceil(share(part, all)));
	else
		strcpy(out->text, "-");
}

static void cell_self(const void *view, const void *row, struct column_cell *out)
{
	const struct methods *m = view;
	const struct flat_row *r = row;

	share_cell(out, r->self_count, r->self, m->flat->sum);
}

static void cell_total(const void *view, const void *row, struct column_cell *out)
{
	const struct methods *m = view;
	const struct flat_row *r = row;

	share_cell(out, r->total_count, r->total, m->flat->sum);
}

/* The error of what is sorted by. */
static void cell_error(const void *view, const void *row, struct column_cell *out)
{
	const struct methods *m = view;
	const struct flat_row *r = row;
	uint64_t count = m->sort == SORT_TOTAL ? r->total_count : r->self_count;
	double error = flat_half_width(count, m->flat->sum_count);

	out->style = STYLE_DIM;
	if (count < FEW)
		strcpy(out->text, count ? "?" : "-");
	else
		snprintf(out->text, COLUMN_TEXT, "%.*f", error < 9.95, error); /* 3 columns */
}

static void cell_trend(const void *view, const void *row, struct column_cell *out)
{
	const struct flat_row *r = row;
	int64_t counts[FLAT_TREND];

	for (int i = 0; i < FLAT_TREND; i++)
		counts[i] = r->trend[i];
	out->style = r->self_count < FEW ? STYLE_DIM : STYLE_SPARK;
	glyph_spark(out->glyphs, out->text, counts, FLAT_TREND);
}

static void cell_delta(const void *view, const void *row, struct column_cell *out)
{
	const struct methods *m = view;
	double points;

	if (!m->before)
		strcpy(out->text, "-");
	else if (!delta(m, row, &points, 1))
		strcpy(out->text, "~");
	else
		snprintf(out->text, COLUMN_TEXT, "%+.1f", points);
	if (out->text[0] == '~' || !m->before)
		out->style = STYLE_DIM;
}

static void cell_type(const void *view, const void *row, struct column_cell *out)
{
	const struct flat_row *r = row;

	out->text[0] = frame_types[r->type].letter;
	out->text[1] = '\0';
	out->style = theme_frame(r->type);
}

static void cell_name(const void *view, const void *row, struct column_cell *out)
{
	const struct methods *m = view;
	const struct flat_row *r = row;

	name_fit(out->text, COLUMN_TEXT, profile_get_method(m->ui->profile, r->method), out->width,
		m->ui->names, out->glyphs->ellipsis);
	if (r->total_count < FEW)
		out->style = STYLE_DIM;
}

static void cell_line(const void *view, const void *row, struct column_cell *out)
{
	const struct methods *m = view;
	int line = lines_hottest(m->lines, ((const struct flat_row *)row)->method);

	out->style = STYLE_DIM;
	if (line)
		snprintf(out->text, COLUMN_TEXT, "%d", line);
}

static const struct column columns[] = {
	{"SELF%", 1, 5, false, 0, SORT_SELF, cell_self},
	{"±", 2, 3, false, 52, -1, cell_error},
	{"TOTAL%", 1, 6, false, 46, SORT_TOTAL, cell_total},
	{"DELTA", 2, 5, false, DELTA_COLS, SORT_DELTA, cell_delta},
	{"TREND 8s", 2, 8, true, 60, -1, cell_trend},
	{"LINE", 2, 5, false, DELTA_COLS, -1, cell_line},
	{"T", 2, 1, true, 0, -1, cell_type},
	{"METHOD", 1, 0, true, 0, SORT_NAME, cell_name},
};
#define COLUMNS ((int)(sizeof(columns) / sizeof(columns[0])))

/* --- order ------------------------------------------------------------------------------------------- */

static void sort_item(const struct methods *m, const struct flat_row *r, struct order_item *item)
{
	double points = 0;

	expect_rank(&m->expect, m->flat, r, m->sort == SORT_TOTAL, item);
	if (m->sort == SORT_DELTA) {
		delta(m, r, &points, 1);
		item->key = points;
	}
}

static void methods_order(struct ui *ui, struct methods *m, bool fresh)
{
	const struct flat *f = m->flat;
	struct order_item *items = xreallocarray(NULL, f->count, sizeof(*items));

	for (uint32_t i = 0; i < f->count; i++) {
		const struct flat_row *r = &f->rows[i];

		items[i].id = r->method;
		sort_item(m, r, &items[i]);
		items[i].name = profile_get_method(ui->profile, r->method)->full;
	}
	m->order.by_name = m->sort == SORT_NAME;
	order_update(&m->order, &m->list, items, f->count,
		fresh          ? ORDER_FRESH
		: ui_holds(ui) ? ORDER_HOLD
			       : ORDER_KEEP);
	free(items);
}

/* --- updating ---------------------------------------------------------------------------------------- */

static uint8_t type_of(const struct methods *m, uint32_t method)
{
	const struct flat_row *past = expect_find(m->expect.all, method);

	return past ? past->type : FRAME_JAVA;
}

/* The selected method has a row also when it has no sample (any more). */
static void add_selected(struct methods *m)
{
	struct flat *f = m->flat;
	uint32_t method, at = f->count;

	if (!order_selected(&m->order, &m->list, &method) || expect_find(f, method))
		return;
	f->rows = xreallocarray(f->rows, f->count + 1, sizeof(*f->rows));
	while (at > 0 && f->rows[at - 1].method > method) {
		f->rows[at] = f->rows[at - 1];
		at--;
	}
	f->rows[at] = (struct flat_row){.method = method, .type = type_of(m, method)};
	f->count++;
}

static void update_before(struct ui *ui, struct methods *m)
{
	struct profile_query q = ui_query(ui);

	flat_free(m->before);
	m->before = NULL;
	if (!timeline_windows[ui->time.window] || q.from < ui->time.since + BEFORE_S)
		return;
	q.from -= BEFORE_S;
	q.to -= BEFORE_S;
	m->before = flat_new(ui->profile, &q);
}

static void update_riser(struct methods *m)
{
	double points, best = RISE_POINTS;

	m->riser = PROFILE_NONE;
	for (uint32_t i = 0; i < m->flat->count; i++) {
		if (delta(m, &m->flat->rows[i], &points, RISE_ERRORS) && points > best) {
			best = points;
			m->riser = i;
		}
	}
}

static void methods_update(struct ui *ui, bool sort)
{
	struct methods *m = methods_state(ui);
	struct profile_query q = ui_query(ui);

	flat_free(m->flat);
	sandwich_free(m->beside);
	m->beside = NULL;
	lines_free(m->lines);
	m->lines = ui->canvas.cols >= DELTA_COLS ? lines_new(ui->profile, &q) : NULL;
	m->ui = ui;
	m->flat = flat_new(ui->profile, &q);
	add_selected(m);
	expect_update(&m->expect, ui->profile, &q, ui->time.since);
	update_before(ui, m);
	update_riser(m);
	methods_order(ui, m, sort);
}

static const struct flat_row *methods_row(const struct methods *m, int index)
{
	return m->flat && index >= 0 && index < (int)m->flat->count
		       ? &m->flat->rows[m->order.rows[index]]
		       : NULL;
}

static const char *methods_text(void *ctx, int index)
{
	struct ui *ui = ctx;
	const struct flat_row *r = methods_row(methods_state(ui), index);

	return r ? profile_get_method(ui->profile, r->method)->full : "";
}

/* --- drawing ----------------------------------------------------------------------------------------- */

/* Packages are drawn weaker, so that the eye finds Class.method; what was searched for, stronger. */
static void draw_name_marks(
	struct ui *ui, int row, const struct column_place *name, const struct flat_row *r)
{
	const struct profile_method *method = profile_get_method(ui->profile, r->method);
	char text[COLUMN_TEXT];
	const char *hit;
	int lead =
		name_fit(text, sizeof(text), method, name->width, ui->names, ui->glyphs->ellipsis);

	canvas_restyle(&ui->canvas, row, name->col, name->col + lead, STYLE_DIM);
	if (!*ui->search || !text_find(method->full, ui->search))
		return;
	hit = text_find(text, ui->search);
	if (hit) {
		char before[COLUMN_TEXT];
		int col;

		snprintf(before, sizeof(before), "%.*s", (int)(hit - text), text);
		col = name->col + text_width(before);
		canvas_restyle(&ui->canvas, row, col, col + text_width(ui->search), STYLE_HIT);
	} else {
		/* Found in the part that was left out. */
		canvas_restyle(
			&ui->canvas, row, name->col, name->col + text_width(text), STYLE_HIT);
	}
}

static void draw_rows(struct ui *ui, struct area area)
{
	struct methods *m = methods_state(ui);
	struct column_place places[COLUMN_MAX];
	struct canvas *c = &ui->canvas;
	int n = column_layout(columns, COLUMNS, c->cols, area.col, area.cols, places);

	column_titles(c, area.row, area.col, area.col + area.cols, places, n, m->sort, ui->glyphs);
	list_resize(&m->list, (int)m->flat->count, area.rows - 1);
	for (int line = 0; line < m->list.rows; line++) {
		int index = m->list.top + line, row = area.row + 1 + line;
		const struct flat_row *r = methods_row(m, index);

		if (!r)
			break;
		column_row(c, row, places, n, m, r, ui->glyphs);
		draw_name_marks(ui, row, &places[n - 1], r);
		canvas_list_row(
			c, row, area.col, area.col + area.cols, index, index == m->list.cursor);
	}
}

static void draw_idle(struct ui *ui, struct area area)
{
	static const struct {
		const char *nothing;
		const char *hint[2];
	} texts[] = {
		[EVENT_CPU] = {"The JVM used no CPU in the last %s, so there is nothing to sample.",
			{"4   switch to wall clock and see what the threads wait for",
				"3   switch to lock contention"}},
		[EVENT_ALLOC] = {"Nothing was allocated in the last %s beyond what is too little "
				 "to sample.",
			{"1   switch to cpu"}},
		[EVENT_LOCK] = {"No thread waited for a lock in the last %s.",
			{"1   switch to cpu"}},
		[EVENT_WALL] = {"No thread was seen in the last %s.", {"1   switch to cpu"}},
	};
	static const int hint_events[] = {EVENT_WALL, EVENT_LOCK};
	int event = ui->event < EVENT_USER_FIRST ? ui->event : EVENT_WALL;
	int row = area.row + (area.rows > 8 ? 5 : 1), col = area.cols >= 76 ? 12 : 2;
	char label[16], text[160], lost[TEXT_NUMBER], ago[TEXT_NUMBER];
	struct canvas *c = &ui->canvas;

	timeline_label(&ui->time, label);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(text, sizeof(text), texts[event].nothing, label);
#pragma GCC diagnostic pop
	canvas_text(c, row++, col, c->cols, STYLE_NORMAL, text);
	row++;
	for (int i = 0; i < 2; i++) {
		if (texts[event].hint[i] &&
			(event != EVENT_CPU || ui_has_event(ui, hint_events[i])))
			canvas_text(c, row++, col, c->cols, STYLE_NORMAL, texts[event].hint[i]);
	}
	canvas_printf(c, row++, col, c->cols, STYLE_NORMAL, "]   widen the window (now %s)", label);
	row++;
	canvas_printf(c, row, col, c->cols, STYLE_DIM,
		"Attached %s ago, %s lost. This is not an error.",
		text_uptime(ago, (ui->now_ms - ui->attached_ms) / 1000),
		text_count(lost, ui->vitals ? ui->vitals->lost : 0));
}

/* Derived when drawn: the cursor moves without an update. */
static void draw_pane(struct ui *ui, struct area area)
{
	struct methods *m = methods_state(ui);
	const struct flat_row *r = methods_row(m, m->list.cursor);
	struct profile_query q = ui_query(ui);

	if (!r)
		return;
	if (m->beside && m->beside->method != r->method) {
		sandwich_free(m->beside);
		m->beside = NULL;
	}
	if (!m->beside) {
		m->beside = sandwich_new(ui->profile, &q, r->method);
		sandwich_settle(&m->beside_order, m->beside, false, false);
	}
	callers_draw_pane(ui, area, m->beside);
}

static void methods_draw(struct ui *ui, struct area area)
{
	struct methods *m = methods_state(ui);
	struct area pane = area;

	if (!m->flat)
		return;
	if (area.cols >= PANE_COLS && area.rows >= PANE_ROWS && m->flat->sum_count) {
		area.cols = area.cols * 5 / 8;
		pane.col = area.cols + 1;
		pane.cols -= pane.col;
		draw_pane(ui, pane);
	}
	draw_rows(ui, area);
	if (!m->flat->sum_count)
		draw_idle(ui, area);
}

static void methods_quality(struct ui *ui, struct strip *s)
{
	strip_add(s, STYLE_DIM, 20, "%s = 95%%", ui->glyphs->plus_minus);
	if (ui->thread == PROFILE_ANY_THREAD)
		strip_add(s, STYLE_NORMAL, 10, "filter none");
}

static void methods_detail(struct ui *ui, struct strip *s)
{
	struct methods *m = methods_state(ui);
	const struct flat_row *r = methods_row(m, m->list.cursor);
	const struct profile_method *method;
	char parameters[200];
	int shown;

	if (!r)
		return;
	method = profile_get_method(ui->profile, r->method);
	name_parameters(parameters, sizeof(parameters), method->signature);
	strip_add(s, STYLE_STRONG, 0, "%s%s", method->full, parameters);
	shown = (int)m->flat->count - m->list.top;
	strip_add(s, STYLE_DIM, 1, "%d of %u shown", shown < m->list.rows ? shown : m->list.rows,
		m->flat->count)
		->right = true;
}

static void methods_notice(struct ui *ui, struct strip *s)
{
	struct methods *m = methods_state(ui);
	char name[80];
	double points;

	if (*ui->search) {
		strip_add(s, STYLE_NORMAL, 0, "/%s: %d of %d methods", ui->search,
			list_count_hits(&m->list, methods_text, ui, ui->search), m->list.count);
		return;
	}
	if (!m->before || !m->before->sum_count)
		return;
	if (m->riser == PROFILE_NONE) {
		strip_add(s, STYLE_DIM, 0, "steady: no method rose by a point in %u s", BEFORE_S);
		return;
	}
	delta(m, &m->flat->rows[m->riser], &points, 1);
	name_fit(name, sizeof(name),
		profile_get_method(ui->profile, m->flat->rows[m->riser].method), 44, NAME_CLASS,
		ui->glyphs->ellipsis);
	strip_add(s, STYLE_NORMAL, 0, "rising: %s %+.1fpp since %u s ago", name, points, BEFORE_S);
}

/* --- commands ---------------------------------------------------------------------------------------- */

unsigned methods_sort_step(struct ui *ui, int direction)
{
	struct methods *m = methods_state(ui);

	m->sort = column_sort_step(columns, COLUMNS, ui->canvas.cols, m->sort, direction);
	return UI_SORT;
}

static unsigned methods_sort_by(struct ui *ui, int order)
{
	struct methods *m = methods_state(ui);

	if (m->sort == order)
		return methods_reverse(ui, 0);
	m->sort = order;
	m->order.reverse = false;
	return UI_SORT;
}

unsigned methods_self_total(struct ui *ui, int arg)
{
	struct methods *m = methods_state(ui);

	m->sort = m->sort == SORT_SELF ? SORT_TOTAL : SORT_SELF;
	return UI_SORT;
}

unsigned methods_reverse(struct ui *ui, int arg)
{
	struct methods *m = methods_state(ui);

	m->order.reverse = !m->order.reverse;
	return UI_SORT;
}

unsigned methods_callers(struct ui *ui, int arg)
{
	const struct flat_row *r = methods_row(methods_state(ui), methods_state(ui)->list.cursor);

	if (r)
		callers_of_method(ui, r->method);
	return UI_SORT;
}

const char *methods_selected(struct ui *ui)
{
	struct methods *m = methods_state(ui);

	return methods_row(m, m->list.cursor) ? methods_text(ui, m->list.cursor) : NULL;
}

const struct view view_methods = {
	.name = "Methods view",
	.tab = "Methods",
	.new = methods_new,
	.free = methods_free,
	.update = methods_update,
	.draw = methods_draw,
	.quality = methods_quality,
	.detail = methods_detail,
	.notice = methods_notice,
	.list = methods_list,
	.text = methods_text,
	.sort_by = methods_sort_by,
};
