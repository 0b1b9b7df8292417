/* SPDX-License-Identifier: Apache-2.0 */
/* The methods view: one row per method, with its share of the window, the error and the change of that. */
#include "tui/view/methods/inside.h"

#include "base/buf.h"
#include "profile/query/filter.h"
#include "tui/frame/command.h"
#include "tui/frame/search.h"
#include "tui/screen/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOVERS_REST 60 /* columns of the line of movers without their names */
#define RISE_POINTS 1  /* smaller changes are not reported */
/* In compare_errors. Stricter than a delta's 1: of 400 methods, one exceeds 0.7 by chance at any time. */
#define RISE_ERRORS 1.3
#define BEFORE_S    20u /* minimum age of the window that deltas refer to */

static void methods_init(void *state)
{
	struct methods *m = state;

	m->riser = m->faller = PROFILE_NONE;
}

static void methods_done(void *state)
{
	struct methods *m = state;

	flat_free(m->flat);
	flat_free(m->before);
	free(m->types);
	lines_free(m->lines);
	pane_done(&m->pane);
}

static void order_rows(const struct ui *ui, struct methods *m, bool sort)
{
	const struct flat *f = m->flat;
	struct order_item *items = xreallocarray(NULL, f->count, sizeof(*items));
	bool deltas = m->view.order.sort == SORT_DELTA || m->view.order.sort == SORT_TOTAL_DELTA;
	bool total = m->view.order.sort == SORT_TOTAL || m->view.order.sort == SORT_TOTAL_DELTA;

	for (uint32_t i = 0; i < f->count; i++) {
		const struct flat_row *r = &f->rows[i];
		/* On ties the program's own methods come first: weights are integers. */
		double key = (double)(total ? r->total : r->self) + (r->own ? 0.25 : 0);

		/* A change that is not significant is shown as "~" and sorts as 0. */
		if (deltas && !methods_delta(m, r, total, &key))
			key = 0;
		items[i] = (struct order_item){r->method, total ? r->total_count : r->self_count,
			key, profile_get_method(ui->profile, r->method)->full};
	}
	m->view.order.by_name = m->view.order.sort == SORT_NAME;
	m->view.order.pins = m->pins;
	m->view.order.pin_count = m->pin_count;
	order_update(&m->view.order, &m->view.list, items, f->count, ui_order_how(ui, sort));
	free(items);
}

static void remember_types(struct methods *m, const struct flat *f)
{
	uint32_t count = f->count ? f->rows[f->count - 1].method + 1 : 0; /* sorted by method */

	if (count > m->type_count) {
		m->types = xreallocarray(m->types, count, 1);
		memset(m->types + m->type_count, 0, count - m->type_count);
		m->type_count = count;
	}
	for (uint32_t i = 0; i < f->count; i++)
		m->types[f->rows[i].method] = f->rows[i].type + 1;
}

/* Adds a row without samples, unless the method has a row. */
static void add_row(const struct ui *ui, struct methods *m, uint32_t method)
{
	struct flat *f = m->flat;
	uint32_t at = f->count;
	bool known = method < m->type_count && m->types[method];

	if (flat_find(f, method))
		return;
	f->rows = xreallocarray(f->rows, f->count + 1, sizeof(*f->rows));
	while (at > 0 && f->rows[at - 1].method > method) {
		f->rows[at] = f->rows[at - 1];
		at--;
	}
	f->rows[at] = (struct flat_row){.method = method,
		.type = known ? m->types[method] - 1
			      : (uint8_t)profile_method_type(
					profile_get_method(ui->profile, method))};
	f->count++;
}

/* Adds rows for the selected, the wanted and the pinned methods, even without samples. */
static void add_selected(const struct ui *ui, struct methods *m)
{
	uint32_t generation = filter_generation(ui->scope.filter), method;
	bool selected = order_selected(&m->view.order, &m->view.list, &method);

	if (selected && generation != m->filtered && !flat_find(m->flat, method)) {
		/* A new filter has removed it: deselect it. */
		list_to(&m->view.list, 0);
		m->view.list.touched = selected = false;
	}
	m->filtered = generation;
	if (selected)
		add_row(ui, m, method);
	if (m->wanted)
		add_row(ui, m, m->wanted - 1);
	for (uint32_t i = 0; i < m->pin_count; i++)
		add_row(ui, m, m->pins[i]);
}

/* Computes the rows; if the query has not changed, only removes the rows added to the last result. */
static void update_flat(const struct ui *ui, struct methods *m, const struct profile_query *q)
{
	uint64_t stamp = profile_stamp(ui->profile, q);
	uint32_t n = 0;

	if (!m->flat || m->flat_stamp != stamp) {
		flat_free(m->flat);
		m->flat = flat_new(ui->profile, q);
		m->flat_stamp = stamp;
		remember_types(m, m->flat);
		return;
	}
	for (uint32_t i = 0; i < m->flat->count; i++)
		if (m->flat->rows[i].total_count)
			m->flat->rows[n++] = m->flat->rows[i];
	m->flat->count = n;
}

/* The distance to the window of deltas: at least the window itself, so that both are disjoint and errors independent. */
static uint32_t before_s(const struct ui *ui)
{
	uint32_t window = timeline_windows[ui->scope.time.window];

	return window > BEFORE_S ? window : BEFORE_S;
}

/* The query that rows are compared with: the baseline, else the earlier window. */
static bool methods_second_query(const struct ui *ui, struct profile_query *q)
{
	if (compare_query(ui, q))
		return true;
	*q = ui_query(ui);
	if (!timeline_windows[ui->scope.time.window] ||
		q->from < ui->scope.time.since + before_s(ui))
		return false;
	q->from -= before_s(ui);
	q->to -= before_s(ui);
	return true;
}

/* The largest changes of SELF%, or of TOTAL%. Counts the deltas of RISE_POINTS or more in m->deltas. */
static void update_movers(struct methods *m, bool total)
{
	double points, most = RISE_POINTS, least = -RISE_POINTS;

	m->riser = m->faller = PROFILE_NONE;
	m->movers_total = total;
	for (uint32_t i = 0; i < m->flat->count; i++) {
		const struct flat_row *r = &m->flat->rows[i];

		if (!methods_delta(m, r, total, &points))
			continue;
		m->deltas += fabs(points) >= RISE_POINTS;
		/* Stricter than for the delta of one method: this is the largest of hundreds. */
		struct compare_share now = methods_share(m->flat, r, total);
		struct compare_share then =
			methods_share(m->before, flat_find(m->before, r->method), total);
		if (fabs(points) <= RISE_ERRORS * compare_errors(&now, &then))
			continue;
		if (points > most) {
			most = points;
			m->riser = i;
		} else if (points < least) {
			least = points;
			m->faller = i;
		}
	}
}

static void methods_update(const struct ui *ui, bool sort)
{
	struct methods *m = ui_state(ui, VIEW_METHODS);
	struct profile_query q = ui_query(ui);
	bool compared = compare_on(ui);
	double points;

	pane_invalidate(&m->pane);
	lines_free(m->lines);
	m->lines = ui->canvas->cols >= METHODS_DELTA_COLS && !compared ? lines_new(ui->profile, &q)
								       : NULL;
	update_flat(ui, m, &q);
	if (!m->flat->sum)
		empty_reason(ui, m->empty, sizeof(m->empty));
	add_selected(ui, m);
	/* A baseline is queried again only when it, or its filter, has changed. */
	if (!m->before || !compared || m->before_stamp != compare_stamp(ui)) {
		flat_free(m->before);
		m->before = methods_second_query(ui, &q) ? flat_new(ui->profile, &q) : NULL;
		m->before_stamp = compared ? compare_stamp(ui) : 0;
		if (m->before)
			remember_types(m, m->before);
	}
	/* Rows for methods that only the baseline has. */
	for (uint32_t i = 0; compared && i < m->before->count; i++)
		if (methods_delta(m, &(struct flat_row){.method = m->before->rows[i].method}, true,
			    &points))
			add_row(ui, m, m->before->rows[i].method);
	if (!compared && m->view.order.sort == SORT_TOTAL_DELTA)
		m->view.order.sort = SORT_DELTA;
	m->deltas = 0;
	update_movers(m, false);
	/* With a difference the list shows the changes of both shares. */
	if (compared && m->riser == PROFILE_NONE && m->faller == PROFILE_NONE)
		update_movers(m, true);
	order_rows(ui, m, sort);
	for (uint32_t i = 0; m->wanted && i < m->view.order.count; i++)
		if (m->view.order.ids[i] == m->wanted - 1)
			list_to(&m->view.list, (int)i);
	m->wanted = 0;
}

static const void *methods_row(const void *state, int index)
{
	const struct methods *m = state;

	return m->flat && index >= 0 && index < (int)m->flat->count
		       ? &m->flat->rows[m->view.order.rows[index]]
		       : NULL;
}

static const char *methods_text(const void *ctx, int index)
{
	const struct ui *ui = ctx;
	const struct flat_row *r = methods_row(ui_state(ui, VIEW_METHODS), index);

	return r ? profile_get_method(ui->profile, r->method)->full : "";
}

static bool methods_pinned(const struct methods *m, uint32_t method)
{
	for (uint32_t i = 0; i < m->pin_count; i++)
		if (m->pins[i] == method)
			return true;
	return false;
}

/* Dims packages, highlights search matches, flags pinned rows. */
static void methods_decorate(
	const struct ui *ui, int row, const struct column_place *places, int n, const void *item)
{
	const struct column_place *name = &places[n - 1];
	const struct flat_row *r = item;
	const struct profile_method *method = profile_get_method(ui->profile, r->method);
	char text[COLUMN_TEXT];
	int lead = ui_fit_method(ui, r->method, ui->names, name->width, text, sizeof(text));

	canvas_restyle(ui->canvas, row, name->col, name->col + lead, STYLE_DIM);
	search_highlight(ui, row, name->col, text, method->full);
	if (methods_pinned(ui_state(ui, VIEW_METHODS), r->method))
		canvas_text(ui->canvas, row, 0, 1, STYLE_KEY, "*");
}

static uint32_t methods_selected_method(const struct ui *ui)
{
	const struct methods *m = ui_state(ui, VIEW_METHODS);
	const struct flat_row *r = methods_row(m, m->view.list.cursor);

	return r ? r->method : PROFILE_NONE;
}

static void methods_load_pane(const struct ui *ui)
{
	struct methods *m = ui_state(ui, VIEW_METHODS);

	if (m->flat && m->flat->sum)
		pane_load(ui, &m->pane, PANE_LIST, methods_selected_method(ui));
}

static void methods_draw(const struct ui *ui, struct area area)
{
	struct methods *m = ui_state(ui, VIEW_METHODS);
	struct canvas *c = ui->canvas;
	int col;

	if (!m->flat)
		return;
	if (m->flat->sum)
		area = pane_draw(ui, &m->pane, area, methods_selected_method(ui));
	view_draw_rows(ui, VIEW_METHODS, area, m->flat->count);
	if (!m->flat->sum && filter_count(ui->scope.filter)) {
		col = area.cols >= 76 ? 12 : 2;
		canvas_text(c, area.row + 3, col, c->cols, STYLE_NORMAL,
			"No sample of this window passes the filters.");
		canvas_text(c, area.row + 5, col, c->cols, STYLE_NORMAL,
			"Esc undoes the last filter     ] widens the window");
	} else if (!m->flat->sum) {
		empty_draw(ui, area, m->empty);
	}
}

static void methods_quality(const struct ui *ui, struct strip *s)
{
	strip_add(s, STYLE_DIM, 20, "%s = 95%%", ui->glyphs->plus_minus);
}

static void methods_detail(const struct ui *ui, struct strip *s)
{
	struct methods *m = ui_state(ui, VIEW_METHODS);
	const struct flat_row *r = methods_row(m, m->view.list.cursor);
	const struct profile_method *method;
	char parameters[200], name[sizeof(((struct strip_part *)0)->text)];
	int width = ui->canvas->cols - 2;

	if (!r)
		return;
	method = profile_get_method(ui->profile, r->method);
	name_parameters(parameters, sizeof(parameters), method->signature);
	width = width < (int)sizeof(name) ? width : (int)sizeof(name) - 1;
	if (text_width(method->full) + text_width(parameters) <= width) {
		strip_add(s, STYLE_STRONG, 0, "%s%s", method->full, parameters);
	} else {
		ui_fit_method(ui, r->method, NAME_FULL, width, name, sizeof(name));
		strip_add(s, STYLE_STRONG, 0, "%s", name);
	}
	int shown = (int)m->flat->count - m->view.list.top;
	strip_add(s, STYLE_DIM, 1, "%d of %u shown",
		shown < m->view.list.rows ? shown : m->view.list.rows, m->flat->count)
		->right = true;
}

static void add_mover(
	const struct ui *ui, struct strip *s, const char *what, uint32_t row, const char *since)
{
	struct methods *m = ui_state(ui, VIEW_METHODS);
	char name[120];
	double points;
	int width = (ui->canvas->cols - MOVERS_REST) / 2;

	if (row == PROFILE_NONE)
		return;
	methods_delta(m, &m->flat->rows[row], m->movers_total, &points);
	ui_fit_method(ui, m->flat->rows[row].method, NAME_CLASS, width > 30 ? width : 30, name,
		sizeof(name));
	strip_add(s, STYLE_NORMAL, *what == 'f', "%s: %s%s %+.1fpp%s", what, name,
		m->movers_total ? " total" : "", points, since);
}

static void methods_notice(const struct ui *ui, struct strip *s)
{
	struct methods *m = ui_state(ui, VIEW_METHODS);
	char since[40] = " against the baseline", number[TEXT_NUMBER];
	int hits = 0;

	if (search_is_active(ui)) {
		/* By method id: names are matched once per search, not once per draw. */
		for (uint32_t i = 0; i < m->flat->count; i++)
			hits += search_hit_method(ui, m->flat->rows[i].method);
		search_count(ui, s, hits, m->view.list.count, "methods");
		return;
	}
	if (!m->before || !m->before->sum_count)
		return;
	if (ui->options->file && ui->options->file->compared)
		snprintf(since, sizeof(since), " from A to B");
	else if (!compare_on(ui))
		snprintf(since, sizeof(since), " in %u s", before_s(ui));
	if (m->riser == PROFILE_NONE && m->faller == PROFILE_NONE && m->deltas)
		strip_add(s, STYLE_DIM, 0, "uncertain: %s of 1 point or more%s",
			text_counted(number, m->deltas, "delta"), since);
	else if (m->riser == PROFILE_NONE && m->faller == PROFILE_NONE)
		strip_add(s, STYLE_DIM, 0, "steady: no SELF%% has changed significantly%s", since);
	add_mover(ui, s, "rising", m->riser, m->faller == PROFILE_NONE ? since : "");
	add_mover(ui, s, "falling", m->faller, since);
	strip_add(s, STYLE_DIM, 5, "(B, D: diff)")->right = true;
}

unsigned methods_self_total(struct ui *ui, int arg)
{
	struct methods *m = ui_state(ui, VIEW_METHODS);

	m->view.order.sort = m->view.order.sort == SORT_SELF ? SORT_TOTAL : SORT_SELF;
	return UI_SORT;
}

unsigned methods_pin(struct ui *ui, int arg)
{
	struct methods *m = ui_state(ui, VIEW_METHODS);
	const struct flat_row *r = methods_row(m, m->view.list.cursor);
	uint32_t n = 0;

	if (!r)
		return 0;
	if (methods_pinned(m, r->method)) {
		for (uint32_t i = 0; i < m->pin_count; i++)
			if (m->pins[i] != r->method)
				m->pins[n++] = m->pins[i];
		m->pin_count = n;
	} else if (m->pin_count < METHODS_PINS) {
		m->pins[m->pin_count++] = r->method;
	} else {
		ui_warn(ui, "no more than %d rows can be pinned", METHODS_PINS);
	}
	m->view.list.touched = true;
	return UI_SORT;
}

void methods_select(struct ui *ui, uint32_t method)
{
	ui_show(ui, VIEW_METHODS);
	struct methods *m = ui_state(ui, VIEW_METHODS);
	m->wanted = method + 1;
	m->view.order.sort = SORT_TOTAL;
}

static void methods_pin_ids(const struct ui *ui)
{
	const struct methods *m = ui_state(ui, VIEW_METHODS);
	uint32_t method;

	for (uint32_t i = 0; i < m->pin_count; i++)
		profile_pin(ui->profile, m->pins[i]);
	if (order_selected(&m->view.order, &m->view.list, &method))
		profile_pin(ui->profile, method);
	if (m->wanted)
		profile_pin(ui->profile, m->wanted - 1);
}

const struct view view_methods = {
	.name = "Methods view",
	.tab = "Methods",
	.sums = true,
	.bytes = sizeof(struct methods),
	.init = methods_init,
	.done = methods_done,
	.update = methods_update,
	.second_query = methods_second_query,
	.load_pane = methods_load_pane,
	.draw = methods_draw,
	.quality = methods_quality,
	.detail = methods_detail,
	.notice = methods_notice,
	.text = methods_text,
	.selected_method = methods_selected_method,
	.columns = methods_columns,
	.row = methods_row,
	.decorate = methods_decorate,
	.pin_ids = methods_pin_ids,
};
