/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the rules periodically, retains their findings, and draws the line under the header. */
#include "tui/frame/findings.h"

#include "base/buf.h"
#include "base/clock.h"
#include "tui/frame/command.h"
#include "tui/frame/compare.h"
#include "tui/frame/config.h"
#include "tui/frame/events.h"
#include "tui/screen/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCAN_MS      1900 /* every other tick */
#define SCAN_OPEN_MS 900  /* while the list is shown */
#define SCAN_MOST_MS 9000 /* below STAY_MS, or findings would expire between scans */
#define SCAN_S       60   /* of a longer window only its end is scanned */
#define DUTY         400  /* scans use at most 1/400 of the time */
#define STAY_MS      10000
#define LEAD         0.1 /* lead in share that is needed to move up */
#define ROWS_OWN     12  /* smaller terminals show the line instead of the data quality */
#define COLS_WORD    60

struct ui_findings *findings_begin(void)
{
	struct ui_findings *f = xcalloc(1, sizeof(*f));

	f->rules = findings_new();
	return f;
}

void findings_end(struct ui_findings *f)
{
	if (f)
		findings_free(f->rules);
	free(f);
}

/* Removes findings not seen for stay_ms; keeps the order of the others. */
static void found_expire(struct ui_findings *f, int64_t now_ms, int64_t stay_ms)
{
	unsigned n = 0;

	for (unsigned i = 0; i < f->count; i++)
		if (now_ms - f->list[i].found_ms <= stay_ms)
			f->list[n++] = f->list[i];
	f->count = n;
}

static void found_merge(struct ui *ui, unsigned count)
{
	struct ui_findings *f = ui->findings;

	for (unsigned i = 0; i < count; i++) {
		const struct finding *finding = findings_get(f->rules, i);
		struct found *known = NULL;

		for (unsigned k = 0; k < f->count; k++)
			if (f->list[k].finding.rule == finding->rule &&
				f->list[k].finding.subject == finding->subject)
				known = &f->list[k];
		/* When full, drop stale findings; the current ones always fit. */
		if (!known && f->count == FINDINGS_MAX)
			found_expire(f, ui->now_ms, 0);
		if (!known && f->count < FINDINGS_MAX)
			known = &f->list[f->count++];
		if (known)
			*known = (struct found){*finding, ui->now_ms};
	}
	/* While frozen, only findings of the window are shown. */
	found_expire(f, ui->now_ms, ui->scope.time.frozen ? 0 : STAY_MS);
	for (unsigned i = 1; i < f->count; i++) {
		struct found moved = f->list[i];
		unsigned at = i;

		for (; at > 0; at--) {
			const struct finding *a = &moved.finding, *b = &f->list[at - 1].finding;

			if (a->grade != b->grade ? a->grade < b->grade
						 : a->share <= b->share + LEAD)
				break;
			f->list[at] = f->list[at - 1];
		}
		f->list[at] = moved;
	}
}

void findings_tick(struct ui *ui)
{
	struct ui_findings *f = ui->findings;
	int64_t pause_ms = ui->view == VIEW_FINDINGS ? SCAN_OPEN_MS : SCAN_MS;

	if (!ui->profile || !ui->vitals)
		return;
	/*
	 * Switches off the events that findings_open has switched on, once the user has left the view, unless it was left
	 * to follow a finding. An event that the user has selected since then stays on.
	 */
	f->begun &= ~(1u << ui->scope.event);
	if (f->begun && !ui->ended && ui->view != VIEW_FINDINGS && !ui_found_undo(ui)) {
		for (int event = 0; event < EVENT_USER_FIRST; event++)
			if (f->begun & 1u << event && ui->vitals->events[event].state == VITALS_ON)
				events_switch(ui, event, false, 0, &(struct err){0});
		f->begun = 0;
	}
	struct profile_query q = ui_query(ui);
	q.holders = false;
	if (!ui->scope.time.frozen && !ui->ended)
		findings_vitals(f->rules, ui->vitals);
	if (q.to > SCAN_S && q.from < q.to - SCAN_S)
		q.from = q.to - SCAN_S;
	if (ui->now_ms < f->due_ms || (q.from == f->from && q.to == f->to))
		return;
	if (ui->scope.time.frozen || ui->ended)
		findings_history(f->rules, ui->profile, ui->vitals, q.to);
	uint64_t start = ui_cpu_ns(ui);
	findings_baseline(f->rules, compare_cpu(ui));
	if (ui->options->config)
		findings_set_requests(f->rules, (const char *const *)ui->options->config->requests);
	found_merge(ui, findings_evaluate(f->rules, ui->profile, q.from, q.to));
	f->from = q.from;
	f->to = q.to;
	int64_t cost_ms = (int64_t)((ui_cpu_ns(ui) - start) * DUTY / NS_PER_MS);
	pause_ms = cost_ms > pause_ms ? cost_ms : pause_ms;
	f->due_ms = ui->now_ms + (pause_ms < SCAN_MOST_MS ? pause_ms : SCAN_MOST_MS);
}

void findings_open(struct ui *ui)
{
	/* Not alloc: sampling allocations may have a lasting effect on the JVM. */
	static const int events[] = {EVENT_LOCK, EVENT_WALL};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (events_begin(ui, events[i], &(struct err){0}))
			ui->findings->begun |= 1u << events[i];
	ui->findings->due_ms = 0;
}

static bool line_shown(const struct ui *ui)
{
	return ui->profile && ui->findings->count && ui->view != VIEW_FINDINGS;
}

int findings_rows(const struct ui *ui)
{
	return line_shown(ui) && ui->canvas->rows >= ROWS_OWN;
}

bool findings_replace_quality(const struct ui *ui)
{
	return line_shown(ui) && ui->canvas->rows < ROWS_OWN;
}

enum style findings_style(enum finding_grade grade)
{
	static const enum style styles[] = {[FINDING_WORTH_KNOWING] = STYLE_NORMAL,
		[FINDING_COSTS] = STYLE_WARN,
		[FINDING_BLOCKED] = STYLE_BAD};

	return styles[grade];
}

void findings_draw_line(const struct ui *ui, int row)
{
	const struct finding *worst = &ui->findings->list[0].finding;
	const struct command *open = commands;
	struct canvas *c = ui->canvas;
	char more[32] = "", text[sizeof(worst->what)];
	int end = c->cols - 1, col, at;

	while (open->run != findings_show)
		open++;
	const char *key = command_shown(open, ui);
	if (ui->findings->count > 1)
		snprintf(more, sizeof(more), "+%u more  ", ui->findings->count - 1);
	at = end - text_width(more) - text_width(key) - (c->cols >= COLS_WORD ? 4 : 0);
	col = canvas_printf(c, row, 1, at, findings_style(worst->grade),
		worst->grade == FINDING_WORTH_KNOWING ? "%s" : " %s ", worst->rule->title);
	name_cut(text, sizeof(text), worst->what, at - col - 3, ui->glyphs->ellipsis);
	canvas_text(c, row, col + 1, at - 1, STYLE_STRONG, text);
	col = canvas_text(c, row, at, end, STYLE_NORMAL, more);
	col = canvas_text(c, row, col, end, STYLE_KEY, key);
	canvas_text(c, row, col, end, STYLE_LABEL, " why");
	canvas_hit(c, row, 0, c->cols, HIT_KEY, command_keys(open, ui)[0].key);
}
