/* SPDX-License-Identifier: Apache-2.0 */
/* The text shown for an event without samples. */
#include "tui/view/methods/inside.h"

#include "profile/history.h"
#include "tui/screen/text.h"

#include <stdio.h>

#define BUSY_PCT 1 /* of a core: a JVM that uses this much will have samples soon */

/* The time without samples: only seconds in which the event was sampled count. */
static const char *empty_span(const struct ui *ui, uint32_t covered, char out[32])
{
	if (!timeline_windows[ui->scope.time.window])
		return ui->options->file ? "in this recording" : "since sampling began";
	snprintf(out, 32, ui->scope.time.frozen ? "in these %u s" : "in the last %u s", covered);
	return out;
}

/*
 * Why there are no samples. An absence is stated only for seconds that were sampled, and for CPU time only if the
 * process's own clock agrees.
 */
void empty_reason(const struct ui *ui, char *out, size_t bytes)
{
	const struct vitals_event *v = &ui->vitals->events[ui->scope.event];
	const char *name = profile_get_event(ui->profile, ui->scope.event)->name, *when;
	const char *part = ui->options->kernel_only ? "in the kernel (-k) "
			   : ui->options->user_only ? "outside of the kernel (-u) "
						    : "";
	struct profile_query q = ui_query(ui);
	uint32_t covered = ui->sums.covered;
	bool past = ui->scope.time.frozen || ui->ended || ui->options->file;
	struct profile_run run;
	char span[32];

	if (v->state != VITALS_ON) {
		snprintf(out, bytes, "%s is not being sampled%s", name,
			ui->ended ? "." : ": e shows its state.");
		return;
	}
	if (covered && q.to > profile_info(ui->profile).now) /* the incomplete current second */
		covered--;
	if (!past && !profile_get_run(ui->profile, ui->scope.event, 0, &run)) /* just switched on */
		covered = 0;
	if (!covered) {
		snprintf(out, bytes,
			past ? "%s was not sampled in this window."
			     : "Sampling %s: the first rows appear within a second.",
			name);
		return;
	}
	when = empty_span(ui, covered, span);
	switch (ui->scope.event) {
	case EVENT_CPU:
		if (!*part && ((!past && ui->vitals->cpu_pct >= BUSY_PCT) ||
				      profile_process_ns(ui->profile, q.from, q.to) >
					      2 * (uint64_t)v->interval))
			snprintf(out, bytes,
				"No samples %s yet, although the JVM has used CPU time.", when);
		else
			snprintf(out, bytes, "The JVM used no CPU %s%s, %s", part, when,
				*part ? "and nothing else is sampled."
				      : "so there is nothing to sample.");
		break;
	case EVENT_ALLOC:
		snprintf(out, bytes, "No allocations were sampled %s: too little was allocated.",
			when);
		break;
	case EVENT_LOCK:
		snprintf(out, bytes,
			ui->scope.holders ? "No thread held a lock that others waited for %s."
					  : "No thread waited for a lock %s.",
			when);
		break;
	case EVENT_WALL:
		q.without_idle = false;
		if (profile_sum(ui->profile, &q).count)
			snprintf(out, bytes, "All threads waited for work %s: a shows them.", when);
		else
			snprintf(out, bytes, "No thread was sampled %s.", when);
		break;
	default: snprintf(out, bytes, "No %s were counted %s.", name, when);
	}
}

void empty_draw(const struct ui *ui, struct area area, const char *reason)
{
	/* Ordered by how likely they are to have samples. */
	static const struct {
		int event;
		const char *what;
	} others[] = {
		{EVENT_WALL, "wall clock: what each thread does, and what it waits for"},
		{EVENT_LOCK, "locks: who waits for whom"},
		{EVENT_CPU, "CPU time"},
		{EVENT_ALLOC, "allocated memory"},
	};
	int row = area.row + (area.rows > 12 ? 4 : 1), col = area.cols >= 76 ? 12 : 2;
	int limit = area.col + area.cols, end = area.row + area.rows;
	char label[16], lost[TEXT_NUMBER], ago[TEXT_NUMBER];
	struct canvas *c = ui->canvas;

	canvas_text(c, row, col, limit, STYLE_NORMAL, reason);
	row += 2;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (others[i].event == ui->scope.event || !ui_has_event(ui, others[i].event))
			continue;
		canvas_printf(c, row, col, limit, STYLE_KEY, "%d", others[i].event + 1);
		canvas_text(c, row++, col + 4, limit, STYLE_NORMAL, others[i].what);
	}
	canvas_text(c, row, col, limit, STYLE_KEY, "w");
	canvas_text(c, row++, col + 4, limit, STYLE_NORMAL,
		"findings: deadlocks and other problems, if any");
	if (row >= end)
		return;
	canvas_text(c, row, col, limit, STYLE_KEY, "]");
	canvas_printf(c, row, col + 4, limit, STYLE_NORMAL, "widen the window (now %s)",
		timeline_label(&ui->scope.time, label));
	if (row + 2 >= end)
		return;
	canvas_printf(c, row + 2, col, limit, STYLE_DIM,
		"Attached %s ago, %s lost. This is not an error.",
		text_uptime(ago, (ui->now_ms - ui->attached_ms) / 1000),
		text_count(lost, ui->vitals->lost));
}
