/* SPDX-License-Identifier: Apache-2.0 */
/* Drives the live view: sessions, updates, time, keys and clicks. */
#include "tui/frame/ui.h"

#include "base/buf.h"
#include "base/clock.h"
#include "profile/query/filter.h"
#include "profile/query/match.h"
#include "tui/frame/command.h"
#include "tui/frame/compare.h"
#include "tui/frame/config.h"
#include "tui/frame/events.h"
#include "tui/frame/file.h"
#include "tui/frame/findings.h"
#include "tui/frame/latency.h"
#include "tui/frame/output.h"
#include "tui/frame/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DUTY        50 /* updates use at most 1/50 of the time: long histories refresh less often */
#define TICK_MAX_MS 10000 /* longest time between ticks */
#define NEWER_MS    10000 /* refresh of the counter on a frozen screen */

static void ui_timeline_init(struct ui *ui)
{
	timeline_init(&ui->scope.time);
	if (ui->options->config && ui->options->config->window >= 0)
		ui->scope.time.window = ui->options->config->window;
}

/* A pin callback of the profile: pins the ids that the view refers to. */
static void ui_pin_ids(void *ctx, enum profile_kind kind, bool leaving)
{
	const struct ui *ui = ctx;

	if (leaving)
		return;
	if (kind == PROFILE_THREADS)
		profile_pin(ui->profile, ui->scope.thread);
	if (kind == PROFILE_POOLS)
		profile_pin(ui->profile, ui->scope.pool);
	for (int i = 0; kind == PROFILE_METHODS && i < VIEW_COUNT; i++)
		if (ui->states[i] && view_table[i]->pin_ids)
			view_table[i]->pin_ids(ui);
}

static void ui_adopt_profile(struct ui *ui)
{
	ui->profile = ui->ops->profile(ui->ctx);
	ui->vitals = ui->ops->vitals(ui->ctx);
	profile_pin_register(ui->profile, ui_pin_ids, ui);
	if (ui->options->instances)
		ui_notify(
			ui, STYLE_NORMAL, UI_STAY, "Esc returns to the list; sampling continues.");
	else if (*ui_owner(ui))
		ui_notify(ui, STYLE_NORMAL, UI_STAY,
			"Watching the session of %s. It continues when you leave.", ui_owner(ui));
}

void ui_init(struct ui *ui, const struct app_ops *ops, void *ctx, const struct app_options *options,
	bool ascii)
{
	*ui = (struct ui){.ops = ops, .ctx = ctx, .options = options};
	ui->canvas = xcalloc(1, sizeof(*ui->canvas));
	canvas_init(ui->canvas, ascii);
	canvas_resize(ui->canvas, 24, 80);
	ui->glyphs = ascii ? &glyphs_ascii : &glyphs_utf8;
	ui->scope.event = options->event;
	ui->scope.thread = PROFILE_ANY_THREAD;
	ui->interval_ms = options->interval_ms ? options->interval_ms : 1000;
	ui_timeline_init(ui);
	search_init(ui, config_framework(options->config));
	if (options->config && options->config->names >= 0)
		ui->names = (enum name_style)options->config->names;
	ui->mouse = options->config && options->config->mouse;
	ui->findings = findings_begin();
	ui->strip = timestrip_new();
	ui->output = output_new(ui);
	ui->events = events_new();
	if (options->attached)
		ui_adopt_profile(ui);
	if (options->file)
		file_begin(ui);
	latency_reset(ui);
	ui_show(ui, options->attached ? VIEW_METHODS : VIEW_PICKER);
	ui_react(ui, UI_UPDATE);
}

static void ui_free_view(struct ui *ui, int view)
{
	struct view_state *s = ui->states[view];

	if (s && view_table[view]->done)
		view_table[view]->done(s);
	if (s)
		order_done(&s->order);
	free(s);
	ui->states[view] = NULL;
}

void ui_done(struct ui *ui)
{
	if (ui->profile)
		profile_pin_unregister(ui->profile, ui);
	for (int i = 0; i < VIEW_COUNT; i++)
		ui_free_view(ui, i);
	canvas_done(ui->canvas);
	free(ui->canvas);
	free(ui->copy);
	free(ui->strip);
	free(ui->output);
	free(ui->events);
	findings_end(ui->findings);
	latency_free(ui->latency);
	compare_free(ui->scope.compare);
	search_done(ui);
}

/* --- jobs ------------------------------------------------------------------------------------------ */

#define SUMS 16 /* stacks summed up in the time that transforming one frame takes */

/*
 * Does one slice of the work that an update of the view depends on: transforming stacks, and summing up a long history.
 * Returns false if more remains.
 */
static bool ui_prepare(struct ui *ui, const struct view *v)
{
	struct profile_query q = ui_query(ui), other;
	bool ready = ui->job.ready && ui->job.ready == profile_stamp(ui->profile, &q);

	/* Must precede profile_stamp, which starts the next transformation. */
	if (!ready &&
		!filter_prepare(ui->profile, &q, ui->job.ticking ? UINT64_MAX : ui->job.slice) &&
		!ui->job.ticking)
		return false;
	uint64_t stamp = profile_stamp(ui->profile, &q);
	ui->job.ready = stamp;
	ui->job.summed = ui->job.summed && ui->job.stamp == stamp;
	if (ui->job.ticking)
		return true;
	/* The window's sums, for searches and filters; a long history uses up the slice. */
	if (!ui->job.summed && (!filter_is_identity(ui->scope.filter) || search_is_active(ui))) {
		ui_update_sums(ui);
		ui->job.summed = true;
		ui->job.stamp = stamp;
		if (profile_query_size(ui->profile) >= ui->job.slice)
			return false;
	}
	return (!v->sums || filter_prepare_sums(ui->profile, &q, ui->job.slice * SUMS)) &&
	       (!v->second_query || !v->second_query(ui, &other) ||
		       filter_prepare_fold(ui->profile, &other, ui->job.slice));
}

void ui_queue_key(struct ui *ui, int key)
{
	if (ui->job.key_count < UI_QUEUED_KEYS)
		ui->job.keys[ui->job.key_count++] = key;
}

/* --- updating ---------------------------------------------------------------------------------------- */

/*
 * The quality of the window's samples: differences between the counters at both ends of the window; the session's totals
 * where the window is the whole session, or where there are no counters per second, as in files of other profilers.
 */
static void update_quality(struct ui *ui, const struct profile_query *q)
{
	const struct vitals_second *end = history_at(ui->profile, q->to);
	const struct vitals_second *begin = q->from ? history_at(ui->profile, q->from) : NULL;
	struct ui_sums *sums = &ui->sums;
	int64_t lost = ui->vitals->lost;

	/* Losses of other events say nothing about the shown one. */
	for (int i = 0; i < PROFILE_EVENTS && i < VITALS_EVENTS; i++)
		lost -= i == ui->scope.event ? 0 : ui->vitals->events[i].lost;
	sums->lost = lost > 0 ? lost : 0;
	sums->broken = vitals_broken(ui->vitals, &sums->walked, &sums->reason);
	/* Decreasing counters are from different sessions. */
	if (!begin || !end || end->lost < begin->lost || end->broken < begin->broken ||
		end->walked < begin->walked)
		return;
	lost = end->lost - begin->lost;
	sums->lost = lost < sums->lost ? lost : sums->lost;
	sums->broken = end->broken - begin->broken;
	sums->walked = end->walked - begin->walked;
}

void ui_update_sums(struct ui *ui)
{
	ui->sums = (struct ui_sums){0};
	if (!ui->profile)
		return;
	struct profile_query q = ui_query(ui);
	ui->sums.all = profile_sum(ui->profile, &q);
	ui->sums.no_inlining = profile_no_inlining(ui->profile, &q);
	ui->sums.explained =
		profile_explained(ui->profile, &q, ui->vitals ? ui->vitals->threads_live : 0);
	ui->sums.searched = match_sum(search_match(ui), ui->profile, &q);
	ui->sums.covered = profile_covered(ui->profile, &q);
	if (ui->vitals)
		update_quality(ui, &q);
}

static void ui_update(struct ui *ui, bool sort)
{
	enum view_id id = ui_view_id(ui);
	const struct view *v = view_table[id];

	sort = sort || (ui->job.on && ui->job.sort);
	uint64_t start = ui_cpu_ns(ui);
	ui->job.on = ui->job.slice && ui->profile && !v->bare && !ui_prepare(ui, v);
	ui->job.sort = sort;
	if (ui->job.on)
		return;
	ui->job.updated_ms = ui->now_ms;

	if (!ui->job.summed)
		ui_update_sums(ui);
	ui->job.summed = false;
	ui->job.ready = 0;
	if (ui->profile)
		timestrip_update(ui);
	if (v->update && (ui->profile || v->bare))
		v->update(ui, sort);
	if (ui->states[id]->warning)
		ui_warn(ui, "%s", ui->states[id]->warning);
	ui->states[id]->warning = NULL;
	ui->job.pane_loaded = false;
	ui->job.update_ns = ui_cpu_ns(ui) - start;
}

void ui_react(struct ui *ui, unsigned reaction)
{
	if (reaction & UI_FREEZE_ORDER)
		ui->order_frozen_until_ms = ui->now_ms + UI_FREEZE_ORDER_MS;
	if (reaction & (UI_UPDATE | UI_SORT))
		ui_update(ui, reaction & UI_SORT);
}

void ui_resize(struct ui *ui, int rows, int cols)
{
	canvas_resize(ui->canvas, rows, cols);
	ui->job.drawn = false;
	ui_show(ui, ui->view);
	/* Columns and lines that appear may need data that was not loaded. */
	ui_update(ui, false);
}

void ui_draw(struct ui *ui)
{
	const struct view *v = ui_view(ui);
	struct canvas *c = ui->canvas;
	bool small = c->rows < 8 || c->cols < 40;

	if (ui->job.on && !small) {
		/* The model may be inconsistent during a job, so the previous frame stays on the screen, unless it
		 * is that of another view or size. */
		if (!ui->job.drawn) {
			canvas_clear(c);
			header_draw(ui);
			footer_draw(ui);
		}
		canvas_text(c, header_quality_row(ui), c->cols - 13, c->cols, STYLE_WARN,
			" working... ");
		return;
	}
	ui->job.drawn = true;
	canvas_clear(c);
	if (small) {
		header_summary(ui);
		return;
	}
	if (!v->bare)
		header_draw(ui);
	/* Not before, since keys may move the cursor many times. The first load counts as part of the update. */
	uint64_t start = ui_cpu_ns(ui);
	if (v->load_pane && ui->profile)
		v->load_pane(ui);
	if (!ui->job.pane_loaded)
		ui->job.update_ns += ui_cpu_ns(ui) - start;
	ui->job.pane_loaded = true;
	v->draw(ui, ui_body(ui, ui->view));
	if (ui->popup)
		ui->popup->draw(ui);
	footer_draw(ui);
}

/* --- time -------------------------------------------------------------------------------------------- */

bool ui_expire(struct ui *ui, int64_t now_ms)
{
	if (!ui->message.shown || ui->message.until_ms == UI_STAY || now_ms < ui->message.until_ms)
		return false;
	ui->message.shown = false;
	return true;
}

void ui_tick(struct ui *ui, int64_t now_ms)
{
	int64_t by_setting;
	char saved[320];

	if (!ui->now_ms)
		ui->attached_ms = now_ms;
	ui->now_ms = now_ms;
	ui_expire(ui, now_ms);
	if (!ui->profile) {
		ui_update(ui, false);
		return;
	}
	if (!ui->ended && ui->ops->drain(ui->ctx, &ui->error) < 0) {
		ui->ended = true;
		output_autosave(ui, saved, sizeof(saved));
		ui_notify(ui, STYLE_WARN, UI_STAY, "%s%s%s%s", ui->error.what,
			command_can_restart(ui) ? " r: attach again" : "", *saved ? "  " : "",
			saved);
	}
	ui->vitals = ui->ops->vitals(ui->ctx);
	snprintf(ui->names_note, sizeof(ui->names_note), "%s",
		ui->ops->names_note ? ui->ops->names_note(ui->ctx) : "");
	if (ui->vitals)
		events_watch(ui);
	if (ui->scope.time.frozen && (!ui->newer || now_ms - ui->newer_ms >= NEWER_MS)) {
		struct profile_query newer = ui_query(ui);

		newer.from = ui->scope.time.frozen_to;
		newer.to = UINT32_MAX;
		ui->newer = profile_sum(ui->profile, &newer).count;
		ui->newer_ms = now_ms;
	}
	findings_tick(ui);
	latency_tick(ui);
	/* The least time between updates: by their cost, and by a refresh interval that exceeds the tick interval. */
	int64_t by_cost = (int64_t)(ui->job.update_ns / NS_PER_MS * DUTY);
	by_setting =
		ui->interval_ms > TICK_MAX_MS ? (int64_t)ui->interval_ms - TICK_MAX_MS / 20 : 0;
	int64_t since_update = now_ms - ui->job.updated_ms;
	if ((ui->scope.time.frozen && !ui_view(ui)->bare) || ui->job.on || since_update < by_cost ||
		since_update < by_setting)
		return;
	ui->job.ticking = true;
	ui_update(ui, false);
	ui->job.ticking = false;
}

uint64_t ui_refresh_ms(const struct ui *ui)
{
	uint64_t least = ui->job.update_ns / NS_PER_MS * DUTY;

	return least > ui->interval_ms ? (least + 999) / 1000 * 1000 : ui->interval_ms;
}

int64_t ui_wake_ms(const struct ui *ui)
{
	return ui->message.shown && ui->message.until_ms != UI_STAY ? ui->message.until_ms : -1;
}

/* Drops all state that refers to the previous profile. */
static void ui_reset(struct ui *ui)
{
	ui->ended = false;
	ui->error = (struct err){0};
	output_restart(ui);
	ui_restrict(ui, PROFILE_ANY_THREAD, 0);
	free(ui->events);
	ui->events = events_new();
	ui_timeline_init(ui);
	findings_end(ui->findings);
	ui->findings = findings_begin();
	latency_reset(ui);
	ui->job.on = false;
	ui->job.key_count = 0;
	search_reset(ui, config_framework(ui->options->config));
	compare_free(ui->scope.compare);
	ui->scope.compare = NULL;
	for (int i = 0; i < VIEW_COUNT; i++)
		if ((VIEWS_DATA | VIEW_BIT(VIEW_LATENCY)) & VIEW_BIT(i))
			ui_free_view(ui, i);
	if (ui->profile)
		profile_pin_unregister(ui->profile, ui);
}

void ui_attach(struct ui *ui, int pid)
{
	char saved[320];

	ui->attach_pid = 0;
	ui->popup = NULL;
	ui->message.shown = false;
	if (ui->ended)
		output_save_unsaved(
			ui, 0, saved, sizeof(saved)); /* the screen promised that it is kept */
	else
		output_autosave(ui, saved, sizeof(saved));
	ui->last_pid = pid;
	ui->refusal = (struct err){0};
	if (ui->ops->attach(ui->ctx, pid, ui->scope.event, &ui->refusal) < 0) {
		ui_show(ui, VIEW_ERROR);
		return;
	}
	ui_reset(ui);
	ui_adopt_profile(ui);
	if (ui->ops->forget)
		ui->ops->forget(ui->ctx);
	ui->attached_ms = ui->now_ms;
	ui_show(ui, VIEW_METHODS);
	ui_update(ui, true);
	if (*saved)
		ui_notify(ui, STYLE_NORMAL, UI_STAY, "%s", saved);
}

/* --- keys -------------------------------------------------------------------------------------------- */

static unsigned ui_handle_key(struct ui *ui, int key, int64_t now_ms)
{
	const struct view *v = ui_view(ui);
	unsigned reaction;
	int arg = 0;

	ui->now_ms = now_ms;
	/* A persistent message disappears at the first key after it could be read. */
	if (ui->message.until_ms != UI_STAY || now_ms - ui->message.since_ms >= UI_MESSAGE_MS)
		ui->message.shown = false;
	if (ui->prompt.label) {
		footer_prompt_key(ui, key);
		return 0;
	}
	if (ui->popup) {
		reaction = ui->popup->key(ui, key);
		ui_react(ui, reaction);
		return reaction;
	}
	if (v->edit && v->edit(ui, key))
		return 0;
	const struct command *c = command_find(ui, key, &arg);
	if (!c && ui->view == VIEW_HELP) {
		ui_show(ui, ui->under);
		return 0;
	}
	if (!c) {
		ui_warn(ui, "no such key - ? for help");
		return 0;
	}
	if (file_refusal(ui, c->name)) {
		ui_notify(ui, STYLE_WARN, UI_STAY, "%s", file_refusal(ui, c->name));
		return 0;
	}
	reaction = c->run(ui, arg);
	ui_react(ui, reaction);
	return reaction;
}

unsigned ui_work(struct ui *ui)
{
	unsigned reaction = 0;

	if (ui->job.on)
		ui_update(ui, false);
	while (!ui->job.on && ui->job.key_count) {
		int key = ui->job.keys[0];

		memmove(ui->job.keys, ui->job.keys + 1,
			--ui->job.key_count * sizeof(*ui->job.keys));
		reaction |= ui_handle_key(ui, key, ui->now_ms);
	}
	return reaction;
}

bool ui_busy(const struct ui *ui)
{
	return ui->job.on || ui->job.key_count;
}

unsigned ui_key(struct ui *ui, int key, int64_t now_ms)
{
	bool text = ui->job.key_count || ui->prompt.label || ui->popup;
	int arg = 0;

	if (!ui_busy(ui))
		return ui_handle_key(ui, key, now_ms);
	ui->now_ms = now_ms;
	/*
	 * During a job, run only commands available in every view, which need no data, and quit unless its key could be
	 * text.
	 */
	const struct command *c = command_find(ui, key, &arg);
	if (c && (c->views == VIEWS_ALL || (!text && !strcmp(c->name, "quit"))))
		return c->run(ui, arg);
	ui_queue_key(ui, key);
	return 0;
}

/* --- clicks ---------------------------------------------------------------------------------------- */

#define WHEEL_ROWS 3

unsigned ui_mouse(struct ui *ui, int button, int row, int col, int64_t now_ms)
{
	unsigned reaction = 0;

	ui->now_ms = now_ms;
	/* Prompts, popups and jobs ignore clicks, which would act on the view below. */
	if (ui_busy(ui) || ui->prompt.label || ui->popup)
		return 0;
	if (button == UI_WHEEL_UP || button == UI_WHEEL_DOWN) {
		for (int i = 0; i < WHEEL_ROWS; i++)
			reaction |= ui_key(ui, button == UI_WHEEL_UP ? TKEY_UP : TKEY_DOWN, now_ms);
		return reaction;
	}
	const struct canvas_hit *hit =
		button == UI_MOUSE_SELECT ? canvas_hit_at(ui->canvas, row, col) : NULL;
	if (!hit)
		return 0;
	switch ((enum canvas_hit_kind)hit->kind) {
	case HIT_KEY: reaction = ui_key(ui, hit->arg, now_ms); break;
	case HIT_EVENT: reaction = events_show(ui, hit->arg); break;
	case HIT_SORT:
		order_sort_by(&ui->states[ui->view]->order, hit->arg);
		reaction = UI_SORT;
		break;
	case HIT_VIEW:
		if ((int)ui->view != hit->arg)
			ui_show(ui, (enum view_id)hit->arg);
		reaction = UI_UPDATE;
		break;
	case HIT_ROW:
		list_to(ui_list(ui), hit->arg);
		reaction = UI_FREEZE_ORDER;
		break;
	}
	ui_react(ui, reaction);
	return reaction;
}
