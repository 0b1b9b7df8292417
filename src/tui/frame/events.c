/* SPDX-License-Identifier: Apache-2.0 */
/* Switching events on and off, and their menu. */
#include "tui/frame/events.h"

#include "base/buf.h"
#include "tui/frame/compare.h"
#include "tui/screen/text.h"

#include <stdio.h>
#include <string.h>

#define BOX_COLS 74

/* The window of an event while another one is shown, and how it is sampled. */
struct event_state {
	bool shown; /* the next three are set */
	int window;
	uint32_t since, since_before;
	uint32_t begun;    /* second in which this view switched it on */
	int64_t requested; /* the requested interval; 0: not known yet */
	bool confirmed;    /* the user has confirmed its warning */
};

struct ui_events {
	struct event_state each[PROFILE_EVENTS];
	/* The menu. */
	int row;
	int warned; /* the event of the open warning */
	char note[640];
};

struct ui_events *events_new(void)
{
	return xcalloc(1, sizeof(struct ui_events));
}

/* --- values ------------------------------------------------------------------------------------------ */

char *events_value(char *out, const struct profile_event *event, uint64_t value)
{
	static const char *const times[] = {"ns", "us", "ms", "s"};
	static const char *const counts[] = {"", "k", "M", "G", "T"};

	if (!strcmp(event->unit, "bytes"))
		return text_bytes(out, value < INT64_MAX ? (int64_t)value : INT64_MAX);
	return event->weight_is_time ? text_scaled(out, (double)value, 1000, times, 4)
				     : text_scaled(out, (double)value, 1000, counts, 5);
}

/* --- which one is shown ------------------------------------------------------------------------------ */

static bool event_is_on(const struct ui *ui, int event)
{
	return ui->vitals && ui->vitals->events[event].state == VITALS_ON;
}

static const char *const *event_warning(const struct ui *ui, int event)
{
	if (!ui->ops->event_warning || ui->ended || ui->events->each[event].confirmed)
		return NULL;
	return ui->ops->event_warning(ui->ctx, event);
}

static unsigned warning_key(struct ui *ui, int key)
{
	ui->popup = NULL;
	if (key != 'y')
		return 0;
	ui->events->each[ui->events->warned].confirmed = true;
	return events_show(ui, ui->events->warned);
}

static void warning_draw(const struct ui *ui)
{
	const char *const *lines = event_warning(ui, ui->events->warned);
	int count = 0;

	while (lines && lines[count])
		count++;
	struct area in = popup_frame(ui, ui->popup->title, count, BOX_COLS);
	for (int i = 0; i < count; i++)
		canvas_text(
			ui->canvas, in.row + i, in.col, in.col + in.cols, STYLE_NORMAL, lines[i]);
}

static const struct ui_popup popup_warning = {
	.title = "switch on?",
	.keys = "y switch on  Esc cancel",
	.key = warning_key,
	.draw = warning_draw,
};

/* Opens the warning of an event, if it has one. Returns true when it is open. */
static bool event_warns(struct ui *ui, int event)
{
	if (!event_warning(ui, event))
		return false;
	ui->events->warned = event;
	ui->popup = &popup_warning;
	return true;
}

int events_switch(struct ui *ui, int event, bool on, uint64_t interval, struct err *err)
{
	int rc = ui->ops->event_set(ui->ctx, event, on, interval, err);

	if (!rc)
		ui->events->each[event].requested = 0;
	ui->vitals = ui->ops->vitals(ui->ctx);
	return rc;
}

/* Begins the window of an event that is not shown at this second. */
static void event_start_window(struct ui *ui, int event, uint32_t second)
{
	struct event_state *e = &ui->events->each[event];

	e->shown = true;
	e->window = ui->scope.time.window;
	e->begun = e->since = e->since_before = second;
	profile_anchor(ui->profile, event, second, 0);
}

unsigned events_show(struct ui *ui, int event)
{
	struct err err = {0};
	bool begins = !event_is_on(ui, event);
	struct event_state *old = &ui->events->each[ui->scope.event];
	struct event_state *new = &ui->events->each[event];
	struct timeline *t = &ui->scope.time;

	if (event == ui->scope.event && !begins)
		return 0;
	if (!ui_has_event(ui, event)) {
		ui_warn(ui, ui->options->file ? "the file has no samples of this event"
					      : "no event has this key; e adds one");
		return 0;
	}
	if (begins && event_warns(ui, event))
		return 0;
	if (begins && !ui->ended && events_switch(ui, event, true, 0, &err) < 0) {
		ui_notify(ui, STYLE_BAD, UI_STAY, "%s", err.what);
		return 0;
	}
	if (begins)
		ui->begun_ms = ui->now_ms;
	if (event == ui->scope.event)
		return UI_SORT;
	/* Each event has its own window, which initially equals that of the event shown before. */
	old->shown = true;
	old->window = t->window;
	old->since = t->since;
	old->since_before = t->since_before;
	if (!new->shown)
		event_start_window(ui, event,
			ui->options->file      ? ui->options->file->from
			: begins && !ui->ended ? profile_info(ui->profile).now
					       : 0);
	t->window = new->window;
	t->since = new->since;
	t->since_before = new->since_before;
	ui->scope.event = event;
	return UI_SORT;
}

bool events_has_holders(const struct ui *ui)
{
	return ui->profile && ui_has_event(ui, EVENT_LOCK) &&
	       (ui->scope.event == EVENT_LOCK || ui->scope.event == EVENT_WALL);
}

unsigned events_holders(struct ui *ui, int arg)
{
	unsigned reaction = events_show(ui, EVENT_LOCK);

	if (ui->scope.event != EVENT_LOCK || ui->popup)
		return reaction;
	/* Coming from another event always shows the holders. */
	ui->scope.holders = reaction || !ui->scope.holders;
	ui_say(ui, ui->scope.holders ? "what lock holders did while others waited; o: the waiters"
				     : "who waited for locks; o: what the holders did");
	return reaction | UI_SORT;
}

bool events_has_user(const struct ui *ui)
{
	for (int i = EVENT_USER_FIRST; i < PROFILE_EVENTS; i++)
		if (ui->profile && ui_has_event(ui, i))
			return true;
	return false;
}

void events_watch(struct ui *ui)
{
	for (int i = 0; i < PROFILE_EVENTS; i++) {
		const struct vitals_event *v = &ui->vitals->events[i];
		struct event_state *e = &ui->events->each[i];

		if (v->state != VITALS_ON)
			e->requested = 0;
		else if (!e->requested || v->interval < e->requested)
			e->requested = v->interval;
	}
}

int64_t events_requested(const struct ui *ui, int event)
{
	const struct event_state *e = &ui->events->each[event];

	return e->requested && ui->vitals->events[event].interval > e->requested ? e->requested : 0;
}

uint32_t events_since(const struct ui *ui, int event)
{
	return ui->events->each[event].begun;
}

/* --- the menu ---------------------------------------------------------------------------------------- */

static int menu_event(const struct ui *ui, int row)
{
	for (int i = 0; i < PROFILE_EVENTS; i++)
		if (ui_has_event(ui, i) && !row--)
			return i;
	return -1;
}

static int menu_rows(const struct ui *ui)
{
	int n = 0;

	while (menu_event(ui, n) >= 0)
		n++;
	return n;
}

bool events_begin(struct ui *ui, int event, struct err *err)
{
	if (!ui->profile || ui->ended || event_is_on(ui, event) || !ui_has_event(ui, event) ||
		event_warning(ui, event) || events_switch(ui, event, true, 0, err) < 0)
		return false;
	if (event != ui->scope.event && !ui->events->each[event].shown)
		event_start_window(ui, event, profile_info(ui->profile).now);
	ui->begun_ms = ui->now_ms;
	return event_is_on(ui, event);
}

static void menu_set(struct ui *ui, int event, bool on, uint64_t interval)
{
	bool begins = on && !event_is_on(ui, event);
	struct err err = {0};

	if (events_switch(ui, event, on, interval, &err) < 0)
		snprintf(ui->events->note, sizeof(ui->events->note), "%s", err.what);
	else if (begins && event != ui->scope.event && !ui->events->each[event].shown)
		event_start_window(ui, event, profile_info(ui->profile).now);
}

static void menu_interval(struct ui *ui, int event, bool longer)
{
	const struct vitals_event *v = &ui->vitals->events[event];
	uint64_t now = v->interval > 0 ? (uint64_t)v->interval
				       : profile_get_event(ui->profile, event)->default_interval;

	if (v->state != VITALS_ON)
		snprintf(ui->events->note, sizeof(ui->events->note),
			"The event is off. Switch it on with Space to change its interval.");
	else if (longer || now > 1)
		menu_set(ui, event, true, longer ? now * 2 : now / 2);
}

static void menu_engine(struct ui *ui, int event)
{
	const struct vitals_event *v = &ui->vitals->events[event];
	struct err err = {0};

	if (v->state != VITALS_ON) {
		snprintf(ui->events->note, sizeof(ui->events->note),
			"The event is off. Switch it on with Space to change its engine.");
		return;
	}
	int rc = ui->ops->event_engine ? ui->ops->event_engine(ui->ctx, event, &err) : 1;
	if (rc < 0)
		snprintf(ui->events->note, sizeof(ui->events->note), "%s", err.what);
	else if (rc)
		snprintf(ui->events->note, sizeof(ui->events->note),
			"%s has only one engine; cpu has several.",
			profile_get_event(ui->profile, event)->name);
	ui->vitals = ui->ops->vitals(ui->ctx);
}

static void add_done(struct ui *ui, bool accepted)
{
	char before[PROFILE_EVENTS][64];
	struct err err = {0};

	if (!accepted || !*ui->prompt.text)
		return;
	for (int i = 0; i < PROFILE_EVENTS; i++)
		snprintf(before[i], sizeof(before[i]), "%s",
			profile_get_event(ui->profile, i)->name);
	ui->waits_for = "reading symbol tables";
	int event = ui->ops->event_add(ui->ctx, ui->prompt.text, &err);
	ui->waits_for = NULL;
	if (event < 0) {
		ui_notify(ui, STYLE_BAD, UI_STAY, "%s", err.what);
		return;
	}
	/* If the event has reused the id of another one, forget that one's state. */
	if (strcmp(profile_get_event(ui->profile, event)->name, before[event]) != 0) {
		ui->events->each[event] = (struct event_state){0};
		compare_free(ui->scope.compare);
		ui->scope.compare = NULL;
		if (event == ui->scope.event) {
			ui->scope.time.since = ui->scope.time.since_before =
				profile_info(ui->profile).now;
			profile_anchor(ui->profile, event, ui->scope.time.since, 0);
		}
	}
	ui_react(ui, events_show(ui, event));
}

static const char *add_choice(const struct ui *ui, int i)
{
	return ui->ops->event_name(ui->ctx, i);
}

static unsigned menu_key(struct ui *ui, int key)
{
	int rows = menu_rows(ui), event;
	bool changes; /* how the event is sampled */

	ui->events->note[0] = '\0';
	ui->events->row = ui->events->row < rows ? ui->events->row : rows - 1;
	event = menu_event(ui, ui->events->row);
	changes = key == TKEY_LEFT || key == TKEY_RIGHT ||
		  (key >= ' ' && key < 0x7f && strchr(" -+ga", key));
	if (changes && ui->options->file) {
		snprintf(ui->events->note, sizeof(ui->events->note),
			"The events of a recording cannot be changed.");
		return 0;
	}
	switch (key) {
	case TKEY_UP:
	case 'k': ui->events->row = (ui->events->row + rows - 1) % rows; return 0;
	case TKEY_DOWN:
	case 'j': ui->events->row = (ui->events->row + 1) % rows; return 0;
	case ' ':
		if (event_is_on(ui, event) || !event_warns(ui, event))
			menu_set(ui, event, !event_is_on(ui, event), 0);
		return UI_UPDATE;
	case TKEY_LEFT:
	case '-': menu_interval(ui, event, false); return UI_UPDATE;
	case TKEY_RIGHT:
	case '+': menu_interval(ui, event, true); return UI_UPDATE;
	case 'g': menu_engine(ui, event); return UI_UPDATE;
	case 'a':
		ui->popup = NULL;
		if (!ui->ops->event_add || ui->ended) {
			ui_warn(ui, "events can only be added to a live JVM");
			return 0;
		}
		ui_prompt(ui, "perf event, tracepoint, function: ", "", NULL, add_done);
		ui->prompt.choice = ui->ops->event_name ? add_choice : NULL;
		return 0;
	case TKEY_ENTER: ui->popup = NULL; return events_show(ui, event);
	default:
		ui->popup = NULL;
		return key > '0' && key <= '0' + PROFILE_EVENTS ? events_show(ui, key - '1') : 0;
	}
}

static void menu_draw(const struct ui *ui)
{
	static const char *const states[] = {"off", "on", "failed"};
	int rows = menu_rows(ui);
	struct area in = popup_frame(ui, ui->popup->title, rows + 4, BOX_COLS);
	struct canvas *c = ui->canvas;
	int limit = in.col + in.cols, at = in.row;

	canvas_text(c, at, in.col, limit, STYLE_LABEL,
		"  EVENT            STATE  ENGINE INTERVAL   SAMPLES  NOTE");
	for (int row = 0; row < rows; row++) {
		int event = menu_event(ui, row);
		const struct profile_event *e = profile_get_event(ui->profile, event);
		const struct vitals_event *v = &ui->vitals->events[event];
		bool on = v->state == VITALS_ON;
		enum style style = on                          ? STYLE_NORMAL
				   : v->state == VITALS_FAILED ? STYLE_WARN
							       : STYLE_DIM;
		char interval[TEXT_NUMBER] = "-", samples[TEXT_NUMBER], name[24];

		at++;
		if (on)
			text_interval(interval, v->interval, e->weight_is_time);
		name_cut(name, sizeof(name), e->name, 16, ui->glyphs->ellipsis);
		canvas_printf(c, at, in.col, limit, STYLE_KEY, "%d", event + 1);
		canvas_text(c, at, in.col + 2, limit, style, name);
		canvas_text(c, at, in.col + 19, limit, style, states[v->state]);
		canvas_text(c, at, in.col + 26, limit, style, on ? v->engine : "");
		canvas_right(c, at, in.col + 33, in.col + 41, style, interval);
		canvas_right(
			c, at, in.col + 42, in.col + 52, style, text_count(samples, v->samples));
		if (events_requested(ui, event))
			canvas_printf(c, at, in.col + 54, limit, STYLE_WARN, "not %s",
				text_interval(
					interval, events_requested(ui, event), e->weight_is_time));
		else
			canvas_text(c, at, in.col + 54, limit, STYLE_DIM, v->note);
		if (row == ui->events->row)
			canvas_restyle(c, at, in.col - 1, limit, STYLE_CURSOR);
	}
	int event = menu_event(ui, ui->events->row);
	if (*ui->events->note)
		canvas_text(c, at + 2, in.col, limit, STYLE_BAD, ui->events->note);
	else if (event >= 0)
		canvas_text(c, at + 2, in.col, limit, STYLE_WARN, ui->vitals->events[event].note);
	if (ui->vitals->cost_pct_x10 >= 0)
		canvas_printf(c, at + 3, in.col, limit, STYLE_DIM, "total cost: %.1f%% of a core",
			ui->vitals->cost_pct_x10 / 10.0);
}

static const struct ui_popup popup_events = {
	.title = "events",
	.keys = "Space on/off  - + interval  g engine  Enter show  a add perf event  Esc",
	.key = menu_key,
	.draw = menu_draw,
};

/* Events of a file are read-only. */
static const struct ui_popup popup_file_events = {
	.title = "events of the file",
	.keys = "Enter show  Esc",
	.key = menu_key,
	.draw = menu_draw,
};

unsigned events_menu(struct ui *ui, int arg)
{
	ui->popup = ui->options->file ? &popup_file_events : &popup_events;
	ui->events->note[0] = '\0';
	ui->events->row = 0;
	for (int row = 0; menu_event(ui, row) >= 0; row++)
		if (menu_event(ui, row) == ui->scope.event)
			ui->events->row = row;
	return 0;
}
