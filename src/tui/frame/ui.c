/* SPDX-License-Identifier: Apache-2.0 */
/* What views and commands call: the shown view, queries, messages; rows, pages and popups. */
#include "tui/frame/ui.h"

#include "base/buf.h"
#include "base/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct view *ui_view(const struct ui *ui)
{
	return view_table[ui->view];
}

struct list *ui_list(const struct ui *ui)
{
	return &ui->states[ui->view]->list;
}

struct area ui_body(const struct ui *ui, enum view_id view)
{
	bool bare = view_table[view]->bare;
	int top = bare ? 0 : header_rows(ui), bottom = bare ? 1 : footer_rows(ui);

	return (struct area){top, 0, ui->canvas->rows - top - bottom, ui->canvas->cols};
}

const char *ui_selected(const struct ui *ui)
{
	const struct view *v = ui_view(ui);
	const char *name = v->text ? v->text(ui, ui_list(ui)->cursor) : "";

	return *name ? name : NULL;
}

const char *ui_owner(const struct ui *ui)
{
	return ui->ops->owner ? ui->ops->owner(ui->ctx) : "";
}

bool ui_has_event(const struct ui *ui, int event)
{
	if (event >= EVENT_USER_FIRST)
		return ui->profile &&
		       profile_get_event(ui->profile, event) != &profile_events[event];
	return ui->options->events ? ui->options->events >> event & 1 : event == EVENT_CPU;
}

int ui_fit_method(const struct ui *ui, uint32_t method, enum name_style style, int width, char *out,
	size_t size)
{
	return name_fit(out, size, profile_get_method(ui->profile, method), width, style,
		ui->glyphs->ellipsis);
}

bool ui_is_restricted(const struct ui *ui)
{
	return ui->scope.thread != PROFILE_ANY_THREAD || ui->scope.pool;
}

const char *ui_restriction_name(const struct ui *ui)
{
	return ui->scope.pool ? profile_pool_name(ui->profile, ui->scope.pool)
			      : profile_get_thread(ui->profile, ui->scope.thread)->name;
}

uint64_t ui_cpu_ns(const struct ui *ui)
{
	return ui->job.measure_cost ? clock_read_ns(CLOCK_THREAD_CPUTIME_ID) : 0;
}

unsigned ui_undo_id(struct ui *ui)
{
	return ++ui->scope.last_undo;
}

void ui_restrict(struct ui *ui, uint32_t thread, uint32_t pool)
{
	ui->scope.only_undo = ui_undo_id(ui);
	ui->scope.thread = thread;
	ui->scope.pool = pool;
}

bool ui_may_hide_idle(const struct ui *ui)
{
	return ui->scope.event == EVENT_WALL && !ui_is_restricted(ui);
}

bool ui_hides_idle(const struct ui *ui)
{
	return ui_may_hide_idle(ui) && !ui->scope.idle;
}

struct profile_query ui_query(const struct ui *ui)
{
	struct profile_query q = {
		.event = ui->scope.event,
		.thread = ui->scope.thread,
		.pool = ui->scope.pool,
		.by_weight = true,
		.holders = ui->scope.holders,
		.without_idle = ui_hides_idle(ui),
		.filter = ui->scope.filter,
	};

	timeline_query(&ui->scope.time, ui->profile, &q);
	return q;
}

bool ui_order_frozen(const struct ui *ui)
{
	return ui->now_ms < ui->order_frozen_until_ms;
}

void ui_notify(struct ui *ui, enum style style, int ms, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ui->message.text, sizeof(ui->message.text), fmt, ap);
	va_end(ap);
	ui->message.style = style;
	ui->message.shown = true;
	ui->message.since_ms = ui->now_ms;
	ui->message.until_ms = ms ? ui->now_ms + ms : UI_STAY;
}

void ui_prompt(struct ui *ui, const char *label, const char *text, void (*change)(struct ui *),
	void (*done)(struct ui *, bool accepted))
{
	ui->message.shown = false;
	ui->prompt = (struct ui_prompt){
		.label = label, .offered = *text, .change = change, .done = done};
	snprintf(ui->prompt.text, sizeof(ui->prompt.text), "%s", text);
}

void ui_show(struct ui *ui, enum view_id view)
{
	const struct view *v = view_table[view];
	bool covers = view == VIEW_HELP || view == VIEW_PICKER || view == VIEW_ERROR;

	if (view != ui->view && covers && ui->view != VIEW_PICKER && ui->view != VIEW_ERROR)
		ui->under = ui->view;
	ui->job.drawn = ui->job.drawn && view == ui->view;
	ui->view = view;
	if (!ui->states[view]) {
		ui->states[view] = xcalloc(1, v->bytes);
		ui->states[view]->ui = ui;
		if (v->init)
			v->init(ui->states[view]);
	}
	list_resize(ui_list(ui), ui_list(ui)->count, ui_body(ui, view).rows - 1);
}

/* --- views --------------------------------------------------------------------------------------------- */

const struct view *const view_table[VIEW_COUNT] = {
	[VIEW_METHODS] = &view_methods,
	[VIEW_THREADS] = &view_threads,
	[VIEW_TREE] = &view_tree,
	[VIEW_FLAME] = &view_flame,
	[VIEW_CALLERS] = &view_callers,
	[VIEW_LATENCY] = &view_latency,
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

void view_draw_rows(const struct ui *ui, enum view_id view, struct area area, uint32_t count)
{
	const struct view *v = view_table[view];
	struct view_state *s = ui->states[view];
	struct column_place places[COLUMN_MAX];
	struct canvas *c = ui->canvas;
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

/* --- pages --------------------------------------------------------------------------------------------- */

#define PAGE_ROWS 120

void page_begin(const struct ui *ui, struct page *p)
{
	p->canvas.ascii = ui->canvas->ascii;
	canvas_resize(&p->canvas, PAGE_ROWS, ui->canvas->cols);
	p->rows = 0;
}

void page_text(struct page *p, int col, int hang, enum style style, const char *text)
{
	struct area rest = {p->rows, col, p->canvas.rows - p->rows, p->canvas.cols - col - 1};

	p->rows = canvas_wrapped(&p->canvas, rest, hang, style, text);
}

bool page_draw(const struct ui *ui, struct page *p, struct area area)
{
	int rows = p->rows < PAGE_ROWS ? p->rows : PAGE_ROWS, hidden = rows - area.rows;
	struct canvas *c = ui->canvas;

	/* The list's cursor is the first visible row. */
	list_resize(&p->view.list, (hidden > 0 ? hidden : 0) + 1, 1);
	p->view.list.page = area.rows;
	for (int i = 0; i < area.rows && p->view.list.cursor + i < rows; i++)
		memcpy(c->cells + (size_t)(area.row + i) * (size_t)c->cols,
			canvas_row(&p->canvas, p->view.list.cursor + i),
			(size_t)c->cols * sizeof(*c->cells));
	return p->view.list.cursor < p->view.list.count - 1;
}

void page_done(void *page)
{
	canvas_done(&((struct page *)page)->canvas);
}

/* --- popups -------------------------------------------------------------------------------------------- */

#define NARROW_MARGIN 10 /* columns */

struct area popup_frame(const struct ui *ui, const char *title, int rows, int cols)
{
	static const char *const corners[4] = {"┌", "┐", "└", "┘"};
	struct canvas *c = ui->canvas;
	int max_rows = c->rows - 1, max_cols = c->cols; /* the key line stays */
	bool framed = rows + 2 <= max_rows;
	struct area in;

	in.cols = cols < max_cols - 4 ? cols : max_cols - 4;
	in.rows = rows < max_rows ? rows : max_rows;
	in.col = (max_cols - in.cols) / 2;
	in.row = (max_rows - in.rows) / 2;
	int top = in.row - 1, bottom = in.row + in.rows, left = in.col - 2,
	    right = in.col + in.cols + 1;
	/* A margin of at most NARROW_MARGIN columns beside the box would not be readable, so it is blanked as well. */
	int from = left > NARROW_MARGIN ? left : 0;
	int to = max_cols - right - 1 > NARROW_MARGIN ? right + 1 : max_cols;
	for (int row = in.row - framed; row < bottom + framed; row++)
		canvas_fill(c, row, from, to, STYLE_NORMAL, ' ');
	if (!framed)
		return in;
	canvas_fill(c, top, left, right + 1, STYLE_STRONG, c->ascii ? '-' : 0x2500);
	canvas_fill(c, bottom, left, right + 1, STYLE_STRONG, c->ascii ? '-' : 0x2500);
	for (int row = in.row; row < bottom; row++) {
		canvas_fill(c, row, left, left + 1, STYLE_STRONG, c->ascii ? '|' : 0x2502);
		canvas_fill(c, row, right, right + 1, STYLE_STRONG, c->ascii ? '|' : 0x2502);
	}
	for (int i = 0; i < 4; i++)
		canvas_text(c, i < 2 ? top : bottom, i % 2 ? right : left, c->cols, STYLE_STRONG,
			c->ascii ? "+" : corners[i]);
	canvas_printf(c, top, in.col, in.col + in.cols, STYLE_STRONG, " %s ", title);
	return in;
}
