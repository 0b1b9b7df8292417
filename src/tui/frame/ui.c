/* SPDX-License-Identifier: Apache-2.0 */
/* State of the live view: what views and commands call. */
#include "tui/frame/ui.h"

#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>

const struct view *ui_view(const struct ui *ui)
{
	return view_table[ui->place.view];
}

struct list *ui_list(struct ui *ui)
{
	return &ui->place.state[ui->place.view]->list;
}

struct area ui_body(const struct ui *ui, enum view_id view)
{
	bool bare = view_table[view]->bare;
	int top = bare ? 0 : header_rows(ui), bottom = bare ? 1 : footer_rows(ui);

	return (struct area){top, 0, ui->canvas.rows - top - bottom, ui->canvas.cols};
}

const char *ui_selected(struct ui *ui)
{
	const struct view *v = ui_view(ui);
	const char *name = v->text ? v->text(ui, ui_list(ui)->cursor) : "";

	return *name ? name : NULL;
}

bool ui_has_event(const struct ui *ui, int event)
{
	if (event >= EVENT_USER_FIRST)
		return ui->profile &&
		       profile_get_event(ui->profile, event) != &profile_events[event];
	return ui->options->events ? ui->options->events >> event & 1 : event == EVENT_CPU;
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

struct profile_query ui_query(const struct ui *ui)
{
	struct profile_query q = {
		.event = ui->scope.event,
		.thread = ui->scope.thread,
		.pool = ui->scope.pool,
		.by_weight = true,
		.holders = ui->scope.holders,
		.filter = ui->scope.filter,
	};

	timeline_query(&ui->scope.time, ui->profile, &q);
	return q;
}

bool ui_order_frozen(const struct ui *ui)
{
	return ui->now_ms < ui->order_frozen_until_ms;
}

void ui_say(struct ui *ui, enum style style, int ms, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ui->place.message.text, sizeof(ui->place.message.text), fmt, ap);
	va_end(ap);
	ui->place.message.style = style;
	ui->place.message.shown = true;
	ui->place.message.since_ms = ui->now_ms;
	ui->place.message.until_ms = ms ? ui->now_ms + ms : UI_STAY;
}

void ui_prompt(struct ui *ui, const char *label, const char *text, void (*change)(struct ui *),
	void (*done)(struct ui *, bool accepted))
{
	ui->place.message.shown = false;
	ui->place.prompt = (struct ui_prompt){
		.label = label, .offered = *text, .change = change, .done = done};
	snprintf(ui->place.prompt.text, sizeof(ui->place.prompt.text), "%s", text);
}

/* --- what is shown ----------------------------------------------------------------------------------- */

static bool covers(enum view_id view)
{
	return view == VIEW_HELP || view == VIEW_PICKER || view == VIEW_ERROR;
}

void ui_show(struct ui *ui, enum view_id view)
{
	const struct view *v = view_table[view];

	if (view != ui->place.view && covers(view) && ui->place.view != VIEW_PICKER &&
		ui->place.view != VIEW_ERROR)
		ui->place.under = ui->place.view;
	ui->drawn = ui->drawn && view == ui->place.view;
	ui->place.view = view;
	if (!ui->place.state[view]) {
		ui->place.state[view] = xcalloc(1, v->bytes);
		ui->place.state[view]->ui = ui;
		if (v->init)
			v->init(ui->place.state[view]);
	}
	list_resize(ui_list(ui), ui_list(ui)->count, ui_body(ui, view).rows - 1);
}
