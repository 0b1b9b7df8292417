/* SPDX-License-Identifier: Apache-2.0 */
/* The lines above the list: title, tabs, vitals of the JVM, data quality. */
#include "tui/frame/ui.h"

#include "base/clock.h"
#include "profile/table/flat.h"
#include "tui/frame/compare.h"
#include "tui/frame/events.h"
#include "tui/frame/file.h"
#include "tui/frame/findings.h"
#include "tui/frame/search.h"
#include "tui/frame/timeline.h"
#include "tui/screen/text.h"

#include <stdio.h>
#include <string.h>

#define ROWS_VITALS       20 /* smaller terminals omit the line */
#define ROWS_TABS         16
#define TITLE_NAME        20 /* columns that the program's name has at least */
#define TITLE_REST        44 /* columns of the title without the program's name */
#define GC_COLS           25
#define GC_SHARE_COLS     12
#define OWNERS_COLS       27 /* three digits for java, two for the others */
#define WIDE              100
#define GC_S              10
#define BROKEN_BAD        0.1 /* per cent of the stacks */
#define NO_INLINING_SHOWN 0.5 /* per cent of the weight */
#define NO_INLINING_MUCH  10
#define STOPS_MUCH        50 /* in 0.1 %: share of time at safepoints that is highlighted */
#define WIDE_STOPS        140

static bool has_vitals(const struct ui *ui)
{
	return ui->canvas->rows >= ROWS_VITALS && file_has_vitals(ui);
}

int header_rows(const struct ui *ui)
{
	return 2 + has_vitals(ui) + (ui->canvas->rows >= ROWS_TABS) + timestrip_rows(ui) +
	       findings_rows(ui);
}

/* --- title ------------------------------------------------------------------------------------------- */

static const char *interval_text(const struct ui *ui, int64_t interval, char out[TEXT_NUMBER])
{
	if (ui->scope.event == EVENT_CPU && interval > 0)
		snprintf(out, TEXT_NUMBER, "%dHz", (int)(NS_PER_S / (uint64_t)interval));
	else if (ui->scope.event >= EVENT_USER_FIRST)
		text_count(out, interval);
	else
		text_interval(out, interval,
			profile_get_event(ui->profile, ui->scope.event)->weight_is_time);
	return out;
}

/*
 * Adds event, engine and interval. If the agent has lengthened the interval to stay in its budget, the requested one is
 * added; on a narrow screen it is dropped before the JVM's version, since the menu of events shows it, too.
 */
static void add_engine(const struct ui *ui, struct strip *s)
{
	const struct vitals_event *v = &ui->vitals->events[ui->scope.event];
	const char *name = profile_get_event(ui->profile, ui->scope.event)->name;
	int64_t asked = events_requested(ui, ui->scope.event);
	char interval[TEXT_NUMBER] = "", before[TEXT_NUMBER];

	if (v->interval > 1)
		interval_text(ui, v->interval, interval);
	strip_add(s, STYLE_NORMAL, 3, "%s%s%s%s%s", name,
		strcmp(name, v->engine) && *v->engine ? "/" : "",
		strcmp(name, v->engine) ? v->engine : "", asked ? "" : " ", asked ? "" : interval)
		->right = true;
	if (!asked)
		return;
	strip_add(s, STYLE_WARN, 2, " %s", interval)->right = true;
	struct strip_part *part =
		strip_add(s, STYLE_WARN, 5, ", not %s ", interval_text(ui, asked, before));
	part->right = part->joined = true;
}

static void draw_title(const struct ui *ui, int row, const struct vitals_second *point)
{
	const struct vitals *v = ui->vitals;
	int space = ui->canvas->cols - TITLE_REST;
	double refresh_s = (double)ui_refresh_ms(ui) / 1000;
	struct strip s = {0};
	char text[TEXT_NUMBER], name[sizeof(v->name)];

	if (ui->options->file) {
		file_title(ui, &s);
	} else {
		name_program(name, sizeof(name), v->name, space > TITLE_NAME ? space : TITLE_NAME,
			ui->glyphs->ellipsis);
		strip_add(&s, STYLE_STRONG, 0, "jhot %d %s", v->pid, name);
		if (*v->jdk)
			strip_add(&s, STYLE_NORMAL, 4, "JDK %s", v->jdk);
	}
	if (v->uptime_s >= 0)
		strip_add(&s, STYLE_NORMAL, 6, "up %s",
			text_uptime(text, point ? point->uptime_s : v->uptime_s));
	add_engine(ui, &s);
	if (ui->options->file)
		file_state(ui, &s);
	else if (ui->scope.time.frozen)
		strip_add(&s, STYLE_WARN, 0, " FROZEN %s ",
			text_clock(text,
				(int64_t)profile_info(ui->profile).start_wall_ns +
					(int64_t)ui->scope.time.frozen_to * (int64_t)NS_PER_S))
			->right = true;
	else if (ui->ended)
		strip_add(&s, STYLE_BAD, 0, " ENDED ")->right = true;
	else if (v->stalled)
		strip_add(&s, STYLE_WARN, 0, " STALLED ")->right = true;
	else
		strip_add(&s, STYLE_GOOD, 0, "%s %.*fs", *ui_owner(ui) ? "WATCHING" : "LIVE",
			ui_refresh_ms(ui) % 1000 != 0, refresh_s)
			->right = true;
	strip_draw(&s, ui->canvas, row, 1, ui->canvas->cols - 1);
}

/* --- tabs -------------------------------------------------------------------------------------------- */

static void draw_tabs(const struct ui *ui, int row)
{
	struct canvas *c = ui->canvas;
	bool only_shown = c->cols < 76, numbers = c->cols < 120 && events_has_user(ui);
	enum view_id shown = ui_view_id(ui);
	int col = 1;
	char name[24];

	for (int i = 0; i < PROFILE_EVENTS; i++) {
		bool on = i == ui->scope.event, holders = i == EVENT_LOCK && ui->scope.holders;
		enum style style = on                                         ? STYLE_TAB_ON
				   : ui->vitals->events[i].state == VITALS_ON ? STYLE_TAB
									      : STYLE_DIM;
		int start = col;

		if (!ui_has_event(ui, i) || (only_shown && !on))
			continue;
		name_cut(name, sizeof(name),
			on && holders ? "holders" : profile_get_event(ui->profile, i)->name, 14,
			ui->glyphs->ellipsis);
		if (numbers && !only_shown && !on)
			col = canvas_printf(c, row, col, c->cols, style, "%d", i + 1);
		else
			col = canvas_printf(c, row, col, c->cols, style, on ? "[%d %s]" : " %d %s ",
				i + 1, name);
		canvas_hit(c, row, start, col, HIT_EVENT, i);
		col++;
	}
	col = canvas_text(c, row, col, c->cols, STYLE_DIM, "|") + 1;
	/* Views of one method have no tab: they belong to the methods view. */
	shown = shown == VIEW_CALLERS || shown == VIEW_LATENCY ? VIEW_METHODS : shown;
	for (int i = 0; i < VIEW_COUNT; i++) {
		bool on = i == (int)shown;
		int start = col;

		if (!view_table[i]->tab)
			continue;
		col = canvas_printf(c, row, col, c->cols - 3, on ? STYLE_TAB_ON : STYLE_TAB,
			on ? "[%s]" : " %s ", view_table[i]->tab);
		canvas_hit(c, row, start, col, HIT_VIEW, i);
		col++;
	}
	canvas_text(c, row, c->cols - 2, c->cols, STYLE_KEY, "?");
	canvas_hit(c, row, c->cols - 3, c->cols, HIT_KEY, '?');
}

/* --- vitals ------------------------------------------------------------------------------------------ */

static void add_spark(
	const struct ui *ui, struct strip *s, enum history_what what, int n, int64_t unit, int drop)
{
	int64_t values[64];
	char text[GLYPH_SPARK_BYTES(64)];

	history_values(ui->profile, what, timeline_to(&ui->scope.time, ui->profile), values, n);
	glyph_gauge(ui->glyphs, text, values, n, glyph_top(values, n, unit));
	strip_add(s, STYLE_SPARK, drop, "%s", text)->gap = 1;
}

static void add_gc(const struct ui *ui, struct strip *s, const struct vitals_second *p)
{
	uint32_t at = p->second;
	const struct vitals_second *before = at >= GC_S ? history_at(ui->profile, at - GC_S) : NULL;
	char times[40] = "", share[40];
	int64_t ms;

	if (p->gc_pct_x10 < 0 && p->gc_count < 0)
		return;
	if (before && before->gc_count >= 0 && p->gc_count > before->gc_count) {
		ms = (p->gc_time_ns - before->gc_time_ns) / 1000000;
		snprintf(times, sizeof(times), ms < 1000 ? " %d/%ds %.0fms" : " %d/%ds %.1fs",
			(int)(p->gc_count - before->gc_count), GC_S,
			ms < 1000 ? (double)ms : (double)ms / 1000);
	}
	if (p->gc_pct_x10 < 0)
		snprintf(share, sizeof(share), "pauses -");
	else
		snprintf(share, sizeof(share), "pauses %.1f%%", p->gc_pct_x10 / 10.0);
	/* A fixed width, or the parts after it would jump. */
	if (ui->canvas->cols >= WIDE)
		strip_add(s, STYLE_NORMAL, 2, "%s %s%s", share, ui->vitals->gc_name, times)->width =
			GC_COLS;
	else
		strip_add(s, STYLE_NORMAL, 2, "%s", share)->width = GC_SHARE_COLS;
}

static void draw_vitals(const struct ui *ui, int row, const struct vitals_second *p)
{
	int cells = ui->canvas->cols >= 160 ? 30 : ui->canvas->cols >= 120 ? 16 : 8;
	bool wide = ui->canvas->cols >= WIDE_STOPS,
	     stops_much = p && p->safepoint_pct_x10 >= STOPS_MUCH;
	struct strip s = {0};
	char text[TEXT_NUMBER];

	if (!p) {
		canvas_text(
			ui->canvas, row, 1, ui->canvas->cols, STYLE_DIM, ui->vitals->vitals_note);
		return;
	}
	if (p->cpu_pct >= 0) {
		strip_add(&s, STYLE_NORMAL, 0, "CPU %d%%", p->cpu_pct)->width = 8;
		/* The owners of the CPU time. The list below explains only the java part. */
		if (p->cpu.java_pct >= 0)
			strip_add(&s, STYLE_NORMAL, 1, "java %d jit %d gc %d sys %d",
				p->cpu.java_pct, p->cpu.jit_pct, p->cpu.gc_pct, p->cpu.kernel_pct)
				->width = OWNERS_COLS;
		add_spark(ui, &s, HISTORY_CPU, cells, 100, 5);
	}
	if (p->heap_used >= 0) {
		strip_add(&s, STYLE_NORMAL, 1, "heap %s",
			text_bytes_of(text, p->heap_used, p->heap_max))
			->width = 13;
		add_spark(ui, &s, HISTORY_HEAP, cells * 3 / 4, 1 << 20, 6);
	}
	add_gc(ui, &s, p);
	if (p->gc_pct_x10 >= 0 && wide)
		add_spark(ui, &s, HISTORY_GC, 8, 10, 7);

	if (p->safepoint_pct_x10 >= 0)
		strip_add(&s, stops_much ? STYLE_WARN : STYLE_NORMAL, stops_much ? 1 : 8,
			"stopped %.1f%%", p->safepoint_pct_x10 / 10.0);
	if (p->safepoint_pct_x10 >= 0 && wide)
		add_spark(ui, &s, HISTORY_SAFEPOINT, 8, 10, 8);
	if (p->threads_live >= 0)
		strip_add(&s, STYLE_NORMAL, 3, p->threads_running >= 0 ? "thr %d run %d" : "thr %d",
			(int)p->threads_live, p->threads_running);
	if (p->rss_bytes >= 0)
		strip_add(&s, STYLE_NORMAL, 7, "RSS %s", text_bytes(text, p->rss_bytes));
	if (*ui->vitals->vitals_note)
		strip_add(&s, STYLE_DIM, 9, "%s", ui->vitals->vitals_note);
	strip_draw(&s, ui->canvas, row, 1, ui->canvas->cols - 1);
}

/* --- data quality ------------------------------------------------------------------------------------ */

/* Adds the window, its samples, and their total weight unless that is CPU or wall time. */
static void add_window(const struct ui *ui, struct strip *s)
{
	static const char *const what[EVENT_USER_FIRST] = {
		[EVENT_ALLOC] = " allocated", [EVENT_LOCK] = " waited"};
	uint32_t wanted = timeline_windows[ui->scope.time.window], span = ui->sums.covered;
	int event = ui->scope.event;
	char label[16], text[TEXT_NUMBER];

	/* Shorter: sampling began within the window. Longer: the window is in history merged to 10 s steps. */
	if (wanted && span != wanted)
		strip_add(s, STYLE_STRONG, 0, "%s%us (window %s)",
			ui->scope.time.frozen || ui->ended ? "" : "last ", span,
			timeline_label(&ui->scope.time, label));
	else
		strip_add(s, STYLE_STRONG, 0, "window %s", timeline_label(&ui->scope.time, label));
	strip_add(s, STYLE_NORMAL, 1, "%15s",
		text_counted(text, (int64_t)ui->sums.all.count, "sample"));
	if (event == EVENT_CPU || event == EVENT_WALL)
		return;
	events_value(text, profile_get_event(ui->profile, event), ui->sums.all.weight);
	strip_add(s, STYLE_NORMAL, 2, "%5s%s%s", text, event < EVENT_USER_FIRST ? what[event] : "",
		event == EVENT_LOCK && ui->scope.holders ? " for their locks" : "")
		->gap = 1;
}

/* Shows the first words of a note, up to its explanation. */
static void add_badge(struct strip *s, const char *note, int drop)
{
	int len = (int)strcspn(note, ":;,(");

	while (len > 0 && note[len - 1] == ' ')
		len--;
	if (len)
		strip_add(s, STYLE_WARN, drop, " %.*s ", len, note)->right = true;
}

static void draw_quality(const struct ui *ui, int row, const struct vitals_second *p)
{
	const struct vitals *v = ui->vitals;
	const struct ui_sums *sums = &ui->sums;
	double no_inlining = flat_percent(sums->no_inlining.weight, sums->all.weight);
	bool own = ui_view(ui)->own_window;
	struct strip s = {0};
	char text[TEXT_NUMBER];

	if (!own)
		add_window(ui, &s);
	if (ui_view(ui)->quality && !ui->job.on)
		ui_view(ui)->quality(ui, &s);
	if (!own) {
		search_bar(ui, &s);
		compare_bar(ui, &s);
	}
	if (ui_is_restricted(ui) && (!own || ui->scope.pool))
		strip_add(&s, STYLE_WARN, 2, " only %s ", ui_restriction_name(ui));
	strip_add(&s, sums->lost > 0 ? STYLE_BAD : STYLE_NORMAL, 3, "lost %s",
		text_count(text, sums->lost));
	/* The share of stacks not walked to their root, and on wide screens the most frequent reason. */
	if (sums->broken > 0 && sums->walked > 0) {
		double share = (double)sums->broken * 100 / (double)sums->walked;
		bool reason = ui->canvas->cols >= WIDE && sums->reason;

		snprintf(text, sizeof(text), share < 0.01 ? "<0.01" : "%.2f", share);
		strip_add(&s, share > BROKEN_BAD ? STYLE_WARN : STYLE_NORMAL, 5, "broken %s%%%s%s",
			text, ui->canvas->cols >= WIDE ? " " : "", reason ? sums->reason : "");
	}
	/* The rest is CPU time of short-lived threads, or of threads that block the signal. */
	if (ui->scope.event == EVENT_CPU && sums->explained.differs && !own)
		strip_add(&s, STYLE_WARN, 3, "explains %.0f%% of CPU",
			flat_percent(sums->explained.sampled_ns, sums->explained.process_ns));
	if (no_inlining >= NO_INLINING_SHOWN && !own)
		strip_add(&s, no_inlining >= NO_INLINING_MUCH ? STYLE_WARN : STYLE_NORMAL, 3,
			"%.0f%% no inlining info", no_inlining);
	if (p && p->cost_pct_x10 >= 0)
		strip_add(&s, STYLE_NORMAL, 4, "self-cost %.1f%%", p->cost_pct_x10 / 10.0);
	if (ui_order_frozen(ui) && !ui->scope.time.frozen && !own)
		strip_add(&s, STYLE_DIM, 21, "order frozen")->right = true;
	if (*v->walker_note)
		strip_add(&s, STYLE_WARN, 5, " walker %s ", v->walker)->right = true;
	add_badge(&s, ui->names_note, 6);
	add_badge(&s, v->events[ui->scope.event].note, 6);
	strip_draw(&s, ui->canvas, row, 1, ui->canvas->cols - 1);
}

/* --- all --------------------------------------------------------------------------------------------- */

int header_quality_row(const struct ui *ui)
{
	return 1 + (ui->canvas->rows >= ROWS_TABS) + has_vitals(ui);
}

void header_draw(const struct ui *ui)
{
	int row = 0, rows = ui->canvas->rows;

	if (!ui->profile || !ui->vitals)
		return;
	const struct vitals_second *point =
		history_at(ui->profile, timeline_to(&ui->scope.time, ui->profile));
	draw_title(ui, row++, point);
	if (rows >= ROWS_TABS)
		draw_tabs(ui, row++);
	if (has_vitals(ui))
		draw_vitals(ui, row++, point);
	if (findings_replace_quality(ui))
		findings_draw_line(ui, row++);
	else
		draw_quality(ui, row++, point);
	timestrip_draw(ui, row);
	if (findings_rows(ui))
		findings_draw_line(ui, row + timestrip_rows(ui));
}

void header_summary(const struct ui *ui)
{
	struct strip s = {0};

	if (!ui->profile || !ui->vitals) {
		strip_add(&s, STYLE_NORMAL, 0, "jhot: needs 40x8");
	} else {
		strip_add(&s, STYLE_STRONG, 0, "%d", ui->vitals->pid);
		if (ui->findings->count)
			strip_add(&s, findings_style(ui->findings->list[0].finding.grade), 0, "%s",
				ui->findings->list[0].finding.rule->title);
		if (ui->vitals->cpu_pct >= 0)
			strip_add(&s, STYLE_NORMAL, 2, "cpu %d%%", ui->vitals->cpu_pct);
		if (ui_list(ui)->count && ui_view(ui)->text)
			strip_add(&s, STYLE_NORMAL, 1, "%s", ui_view(ui)->text(ui, 0));
		strip_add(&s, STYLE_DIM, 3, "(needs 40x8)");
	}
	strip_draw(&s, ui->canvas, 0, 0, ui->canvas->cols);
}
