/* SPDX-License-Identifier: Apache-2.0 */
/* The latency view: its data, computed at each refresh, and its commands. */
#include "tui/view/latency/inside.h"

#include "base/buf.h"
#include "base/clock.h"
#include "tui/frame/command.h"
#include "tui/frame/latency.h"
#include "tui/screen/name.h"
#include "tui/screen/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATE_SHOWN 0.005 /* a state with less has no column */

/* --- single calls ---------------------------------------------------------------------------- */

const struct latency_call *latency_selected(const struct latency *l)
{
	int at = l->view.list.cursor;

	return latency_lists_calls(l) && at >= 0 && at < (int)l->row_count ? &l->rows[at] : NULL;
}

static void call_free(struct latency_call *c)
{
	free(c->phases);
	*c = (struct latency_call){0};
}

static void call_load(const struct ui *ui, struct latency_call *c)
{
	free(c->phases);
	c->phases = call_phases(ui->profile, &c->call, &c->phase_count);
}

static void rows_free(struct latency *l)
{
	while (l->row_count)
		call_free(&l->rows[--l->row_count]);
}

static void timeline_close(struct latency *l)
{
	if (!l->opened)
		return;
	l->opened = false;
	l->view.list = l->calls;
	call_free(&l->open);
}

static void tree_close(struct latency *l)
{
	if (!l->compared)
		return;
	l->compared = false;
	l->view.list = l->calls;
	calls_comparison_free(l->both);
	l->both = NULL;
}

static void latency_done(void *state)
{
	struct latency *l = state;

	calls_comparison_free(l->both);
	rows_free(l);
	call_free(&l->open);
}

/* --- updating -------------------------------------------------------------------------------- */

/* Reads the slowest calls. The cursor stays on its call. */
static void rows_update(const struct ui *ui, struct latency *l)
{
	struct list *list = latency_lists_calls(l) ? &l->view.list : &l->calls;
	bool follow = list->touched && list->cursor < (int)l->row_count;
	uint64_t number = follow ? l->rows[list->cursor].call.number : 0;
	struct call calls[LATENCY_ROWS];
	uint32_t count =
		calls_slowest(ui->profile, l->range ? &l->slow : &l->query, calls, LATENCY_ROWS);

	rows_free(l);
	for (uint32_t i = 0; i < count; i++) {
		struct latency_call *row = &l->rows[l->row_count++];

		row->call = calls[i];
		snprintf(row->thread, sizeof(row->thread), "%s",
			profile_get_thread(ui->profile, row->call.thread)->name);
		call_lock_text(ui->profile, &row->call, row->lock);
		/* Newer polls overwrite older ones, but a frozen screen stays complete. */
		if (l->frozen)
			call_load(ui, row);
		if (follow && row->call.number == number)
			list_follow(list, (int)i);
	}
	list_resize(list, (int)count, list->rows);
}

/* A call whose timeline is shown may be in progress. */
static void timeline_update(const struct ui *ui, struct latency *l)
{
	if (!l->opened || l->open.call.end_to != UINT64_MAX || l->frozen)
		return;
	for (uint32_t i = 0; i < l->row_count; i++)
		if (l->rows[i].call.number == l->open.call.number) {
			l->open.call = l->rows[i].call;
			call_load(ui, &l->open);
		}
}

static void add_note(void *ctx, const char *brief, const char *sentence)
{
	struct latency *l = ctx;
	struct latency_note *note = &l->notes[l->note_count];

	if (l->note_count == LATENCY_NOTES)
		return;
	l->note_count++;
	snprintf(note->brief, sizeof(note->brief), "%s", brief);
	snprintf(note->sentence, sizeof(note->sentence), "%s", sentence);
}

/*
 * A percentile as the limit of a range. One that is unknown, because its calls are shorter than polls can
 * measure or still in progress, is replaced by two intervals, or by a limit above the longest known call.
 */
static uint64_t limit_of(const struct calls_summary *sum, uint64_t ns)
{
	if (ns != CALLS_UNKNOWN)
		return ns;
	return sum->p50 == CALLS_UNKNOWN || sum->max < 2 * sum->interval_ns ? 2 * sum->interval_ns
									    : sum->max + 1;
}

/* Ranges of durations, in the order of the keys < and >. */
enum { RANGE_SLOWEST, RANGE_TENTH, RANGE_TAIL, RANGE_MIDDLE, RANGE_FAST, RANGES };

static void range_update(const struct ui *ui, struct latency *l)
{
	uint64_t p50 = limit_of(&l->sum, l->sum.p50), p90 = limit_of(&l->sum, l->sum.p90);
	const uint64_t limits[RANGES][2] = {
		{l->sum.slow_ns, 0}, {p90, 0}, {p90, l->sum.slow_ns}, {p50, p90}, {0, p50}};
	char from[CALLS_TEXT], to[CALLS_TEXT];

	l->slow = l->query;
	l->slow.min_ns = limits[l->range][0];
	l->slow.max_ns = limits[l->range][1];
	calls_duration_text(l->slow.min_ns, from);
	calls_duration_text(l->slow.max_ns, to);
	if (l->range == RANGE_SLOWEST)
		snprintf(l->slow_label, sizeof(l->slow_label), "slowest 1 %%");
	else if (!l->slow.max_ns)
		snprintf(l->slow_label, sizeof(l->slow_label), ">%s", from);
	else if (!l->slow.min_ns)
		snprintf(l->slow_label, sizeof(l->slow_label), "<%s", to);
	else
		snprintf(l->slow_label, sizeof(l->slow_label), "%s-%s", from, to);
	l->slow_count = calls_states(ui->profile, &l->slow, l->slow_states);
	if (l->compared) {
		calls_comparison_free(l->both);
		l->both = calls_compare(ui->profile, &l->slow);
	}
}

static void compute(const struct ui *ui, struct latency *l)
{
	l->computed = true;
	calls_summarize(ui->profile, &l->query, &l->sum);
	range_update(ui, l);
	uint32_t causes = calls_causes(ui->profile, &l->slow, l->causes);
	l->cause_count = 0;
	for (uint32_t i = 0; i < causes; i++)
		if (l->causes[i].slow - l->causes[i].other > CALLS_DIFFERS)
			l->causes[l->cause_count++] = l->causes[i];
	rows_update(ui, l);
	timeline_update(ui, l);
	l->note_count = 0;
	calls_notes(&l->sum, add_note, l);
	for (unsigned s = 0; s < CALL_STATES; s++)
		if (l->sum.all[s] >= STATE_SHOWN || l->slow_states[s] >= STATE_SHOWN)
			l->states |= 1u << s;
	for (int b = 0; b < CALLS_BUCKETS; b++) {
		if (l->sum.histogram[b] <= 0)
			continue;
		if (l->bucket_first == l->bucket_to)
			l->bucket_first = b;
		l->bucket_first = b < l->bucket_first ? b : l->bucket_first;
		l->bucket_to = b >= l->bucket_to ? b + 1 : l->bucket_to;
	}
}

/* Drops the columns of states and the buckets of the histogram that calls shown before needed. */
static void columns_reset(struct latency *l)
{
	l->states = 0;
	l->bucket_first = l->bucket_to = 0;
}

/*
 * Moves the end of the window, unless it is frozen; only ticks do, so most keys compute nothing. Freezing
 * keeps the figures of the last refresh, and steps back and forth move the end by whole seconds. Returns
 * false if the window is the same as before.
 */
static bool query_move(const struct ui *ui, struct latency *l, bool changes)
{
	const struct timeline *time = &ui->scope.time;

	if (!time->frozen && !ui->ended && (ui->job.ticking || changes || l->frozen)) {
		l->query.to_ns = latency_now_ns(ui);
		changes = true;
	} else if (time->frozen && !l->frozen) {
		l->frozen_to = time->frozen_to;
		for (uint32_t i = 0; i < l->row_count; i++)
			call_load(ui, &l->rows[i]);
	} else if (time->frozen && l->frozen_to != time->frozen_to) {
		l->query.to_ns += (time->frozen_to - (uint64_t)l->frozen_to) * NS_PER_S;
		l->frozen_to = time->frozen_to;
		changes = true;
	}
	l->frozen = time->frozen;
	return changes;
}

/* Sets the window of calls that are measured here, which is separate from that of the samples. False: the same as before. */
static bool query_measured(const struct ui *ui, struct latency *l, bool changes)
{
	uint64_t window_ns = timeline_windows[l->window] * NS_PER_S;

	if (!query_move(ui, l, changes))
		return false;
	l->query.from_ns = ui->latency->begin_ns;
	if (window_ns && l->query.to_ns > l->query.from_ns + window_ns)
		l->query.from_ns = l->query.to_ns - window_ns;
	return true;
}

/* Sets the window of recorded calls, which is that of the samples. False: the same as before. */
static bool query_recorded(const struct ui *ui, struct latency *l, bool changes)
{
	struct profile_query q = ui_query(ui);
	uint64_t from_ns = q.from * NS_PER_S, to_ns = q.to * NS_PER_S;

	if (!changes && l->asked.from_ns == from_ns && l->asked.to_ns == to_ns)
		return false;
	l->query.from_ns = from_ns;
	l->query.to_ns = to_ns;
	return true;
}

/*
 * Sets which calls are shown: of a window, and of a pool if restricted to one. Returns false if they are the
 * same as before.
 */
static bool query_update(const struct ui *ui, struct latency *l)
{
	int window = ui->latency->recorded ? ui->scope.time.window : ui->latency->window;
	bool begins = l->serial != ui->latency->serial || !l->computed;
	bool changes = begins || l->window != window;

	if (begins) {
		timeline_close(l);
		tree_close(l);
		rows_free(l);
		l->range = 0;
		l->frozen = false;
		l->query.to_ns = ui->latency->begin_ns;
	}
	if (changes)
		columns_reset(l);
	l->serial = ui->latency->serial;
	l->window = window;
	if (!(ui->latency->recorded ? query_recorded(ui, l, changes)
				    : query_measured(ui, l, changes)))
		return false;
	l->query.pool = ui->scope.pool;
	l->asked = l->query;
	calls_query_counted(ui->profile, &l->query);
	if (l->query.to_ns <= l->query.from_ns)
		l->query.to_ns = l->query.from_ns + 1;
	return true;
}

static void latency_update(const struct ui *ui, bool sort)
{
	struct latency *l = latency_state(ui);

	if (query_update(ui, l))
		compute(ui, l);
}

/* --- drawing --------------------------------------------------------------------------------- */

static void latency_draw(const struct ui *ui, struct area area)
{
	struct latency *l = latency_state(ui);

	if (l->opened)
		calls_draw_timeline(ui, area);
	else if (l->compared)
		calls_draw_tree(ui, area);
	else if (!l->sum.seen)
		figures_draw_empty(ui, area);
	else
		calls_draw_list(ui, figures_draw(ui, area));
}

/* "Gateway.handle", as far as it fits. */
static void add_method(const struct ui *ui, struct strip *s)
{
	const char *full = ui->latency->method, *dot = strrchr(full, '.');
	char class_name[512], name[sizeof(((struct strip_part *)0)->text)];
	struct profile_method m = {.class_name = class_name,
		.name = dot ? dot + 1 : full,
		.signature = "",
		.module = "",
		.full = full};

	snprintf(class_name, sizeof(class_name), "%.*s", dot ? (int)(dot - full) : 0, full);
	name_fit(name, sizeof(name), &m, ui->canvas->cols / 4, NAME_CLASS, ui->glyphs->ellipsis);
	strip_add(s, STYLE_STRONG, 0, "%s", name);
}

static void latency_quality(const struct ui *ui, struct strip *s)
{
	const struct latency *l = latency_state(ui);
	const struct timeline window = {.window = l->window};
	char label[16], number[TEXT_NUMBER], interval[CALLS_TEXT];
	uint32_t seconds =
		(uint32_t)((l->query.to_ns - l->query.from_ns + NS_PER_S / 2) / NS_PER_S);
	bool ends = ui->scope.time.frozen || ui->ended;

	if (!ui->latency->method)
		return;
	add_method(ui, s);
	if (timeline_windows[l->window] && seconds < timeline_windows[l->window])
		strip_add(s, STYLE_NORMAL, 1, "%s%us (window %s)", ends ? "" : "last ", seconds,
			timeline_label(&window, label));
	else
		strip_add(s, STYLE_NORMAL, 1, "%s%us", ends ? "" : "last ", seconds);
	strip_add(s, STYLE_NORMAL, 1, "%s seen", text_counted(number, l->sum.seen, "call"));
	if (l->sum.seen)
		strip_add(s, STYLE_NORMAL, 2, "polled every %s",
			calls_duration_text(l->sum.interval_ns, interval));
}

/* The method of the selected phase or node; the thread and lock of the selected call; the measured method. */
static void latency_detail(const struct ui *ui, struct strip *s)
{
	const struct latency *l = latency_state(ui);
	const struct latency_call *selected = latency_selected(l);
	const struct calls_node *node = l->compared ? calls_selected_node(l) : NULL;
	int at = l->view.list.cursor;
	char lock[CALLS_LOCK];

	if (node)
		strip_add(s, STYLE_STRONG, 0, "%s",
			profile_get_method(l->both->diff->both, node->method)->full);
	if (l->opened && at < (int)l->open.phase_count) {
		const struct call_phase *p = &l->open.phases[at];

		strip_add(
			s, STYLE_STRONG, 0, "%s", profile_get_method(ui->profile, p->method)->full);
		if (p->lock != PROFILE_NONE || p->owner != PROFILE_NONE)
			strip_add(s, STYLE_NORMAL, 0, "%s", calls_lock_text(ui->profile, p, lock));
	}
	if (selected)
		strip_add(s, STYLE_STRONG, 0, "%s", selected->thread);
	if (selected && *selected->lock)
		strip_add(s, STYLE_NORMAL, 1, "%s", selected->lock);
	if (ui->latency->method)
		strip_add(s, l->opened ? STYLE_DIM : STYLE_NORMAL, 3, "%s", ui->latency->method);
	if (l->view.list.count)
		strip_add(s, STYLE_DIM, 2, "%d of %d %s", at + 1, l->view.list.count,
			l->opened     ? "phases"
			: l->compared ? "nodes"
			: l->range    ? "calls"
				      : "slowest calls")
			->right = true;
}

static void latency_notice(const struct ui *ui, struct strip *s)
{
	const struct latency *l = latency_state(ui);

	for (unsigned i = 0; i < l->note_count && latency_lists_calls(l); i++)
		strip_add(s, STYLE_DIM, (int)i + 1, "%s%s", i ? "" : "note: ", l->notes[i].brief);
}

static void call_pin(const struct ui *ui, const struct latency_call *c)
{
	for (uint32_t i = 0; c->phases && i < c->phase_count; i++) {
		profile_pin(ui->profile, c->phases[i].method);
		if (c->phases[i].lock != PROFILE_NONE)
			profile_pin(ui->profile, c->phases[i].lock);
		if (c->phases[i].owner_place != PROFILE_NONE)
			profile_pin(ui->profile, c->phases[i].owner_place);
	}
}

static void latency_pin_ids(const struct ui *ui)
{
	const struct latency *l = latency_state(ui);

	for (uint32_t i = 0; i < l->row_count; i++)
		call_pin(ui, &l->rows[i]);
	call_pin(ui, &l->open);
}

/* --- commands -------------------------------------------------------------------------------- */

unsigned latency_of_method(struct ui *ui, uint32_t method)
{
	const struct profile_method *m = profile_get_method(ui->profile, method);
	enum view_id from = ui->view;
	/*
	 * The name of a wait is that of its method, followed by " waits for ..." or ": socket read ..."; by
	 * line, by ":123".
	 */
	int bytes = (int)strcspn(m->name, *m->signature == '(' ? ":" : ": ");
	char name[512];

	if (method == PROFILE_NONE)
		return 0;
	if (!*m->class_name || *m->module || !bytes) {
		ui_notify(ui, STYLE_WARN, UI_STAY,
			"Select a Java method: the latency of other functions is not measured.");
		return 0;
	}
	snprintf(name, sizeof(name), "%s.%.*s", m->class_name, bytes, m->name);
	if (!latency_begin(ui, name))
		return 0;
	ui_show(ui, VIEW_LATENCY);
	latency_state(ui)->from = from;
	latency_state(ui)->view.list = (struct list){0};
	return UI_UPDATE;
}

unsigned latency_restart(struct ui *ui)
{
	if (!latency_begin(ui, ui->latency->method))
		return 0;
	ui_notify(ui, STYLE_NORMAL, UI_MESSAGE_MS, "restarted: calls are measured from now on");
	return UI_UPDATE;
}

int *latency_window(struct ui *ui)
{
	bool own = ui->view == VIEW_LATENCY && !ui->latency->recorded;

	return own ? &ui->latency->window : &ui->scope.time.window;
}

unsigned latency_open(struct ui *ui, int arg)
{
	struct latency *l = latency_state(ui);
	const struct latency_call *selected = latency_selected(l);

	if (!selected)
		return 0;
	l->open = *selected;
	l->open.phases = NULL;
	if (selected->phases) {
		l->open.phases = xcalloc(selected->phase_count, sizeof(*selected->phases));
		memcpy(l->open.phases, selected->phases,
			selected->phase_count * sizeof(*selected->phases));
	} else {
		call_load(ui, &l->open);
	}
	l->calls = l->view.list;
	l->view.list = (struct list){0};
	l->opened = true;
	return 0;
}

static const struct calls_query *latency_shown_calls(const struct ui *ui)
{
	return &latency_state(ui)->slow;
}

bool latency_can_open(const struct ui *ui)
{
	return latency_selected(latency_state(ui)) != NULL;
}

unsigned latency_range(struct ui *ui, int direction)
{
	struct latency *l = latency_state(ui);

	l->range = (l->range + direction + RANGES) % RANGES;
	columns_reset(l);
	compute(ui, l);
	return 0;
}

unsigned latency_tree(struct ui *ui, int arg)
{
	struct latency *l = latency_state(ui);

	l->calls = l->view.list;
	l->view.list = (struct list){0};
	l->compared = true;
	range_update(ui, l);
	return 0;
}

bool latency_has_calls(const struct ui *ui)
{
	const struct latency *l = latency_state(ui);

	return latency_lists_calls(l) && l->sum.seen;
}

bool latency_has_range(const struct ui *ui)
{
	const struct latency *l = latency_state(ui);

	return !l->opened && l->sum.seen;
}

unsigned latency_back(struct ui *ui, int arg)
{
	struct latency *l = latency_state(ui);

	if (!latency_lists_calls(l)) {
		timeline_close(l);
		tree_close(l);
		return 0;
	}
	ui_show(ui, l->from);
	return UI_UPDATE;
}

const struct view view_latency = {
	.name = "Latency view",
	.own_window = true,
	.bytes = sizeof(struct latency),
	.done = latency_done,
	.update = latency_update,
	.draw = latency_draw,
	.quality = latency_quality,
	.detail = latency_detail,
	.notice = latency_notice,
	.shown_calls = latency_shown_calls,
	.pin_ids = latency_pin_ids,
};
