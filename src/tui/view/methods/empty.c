/* SPDX-License-Identifier: Apache-2.0 */
/* No samples is an answer, too. */
#include "tui/view/methods/inside.h"

#include "tui/screen/text.h"

#include <stdio.h>

/* Why there is nothing; a user event is called by its name. */
static const char *empty_reason(const struct ui *ui, const char *label, char *out, size_t bytes)
{
	const struct vitals_event *v = &ui->vitals->events[ui->scope.event];
	const char *part = ui->options->kernel_only ? "in the kernel (-k) "
			   : ui->options->user_only ? "outside of the kernel (-u) "
						    : "";

	if (v->state != VITALS_ON) {
		snprintf(out, bytes, "%s is not being sampled%s",
			profile_get_event(ui->profile, ui->scope.event)->name,
			ui->over ? "." : ": e shows how it stands.");
		return out;
	}
	switch (ui->scope.event) {
	case EVENT_CPU:
		snprintf(out, bytes, "The JVM used no CPU %sin the last %s, %s", part, label,
			*part ? "and nothing else is sampled." : "so there is nothing to sample.");
		break;
	case EVENT_ALLOC:
		snprintf(out, bytes,
			"Nothing was allocated in the last %s beyond what is too little to sample.",
			label);
		break;
	case EVENT_LOCK:
		snprintf(out, bytes,
			ui->scope.holders
				? "Nobody held a lock that others waited for in the last %s."
				: "No thread waited for a lock in the last %s.",
			label);
		break;
	case EVENT_WALL: snprintf(out, bytes, "No thread was seen in the last %s.", label); break;
	default:
		snprintf(out, bytes, "No %s were counted in the last %s.",
			profile_get_event(ui->profile, ui->scope.event)->name, label);
	}
	return out;
}

void empty_draw(struct ui *ui, struct area area)
{
	/* The likeliest to have something first. */
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
	char label[16], text[160], lost[TEXT_NUMBER], ago[TEXT_NUMBER];
	struct canvas *c = &ui->canvas;

	canvas_text(c, row, col, limit, STYLE_NORMAL,
		empty_reason(ui, timeline_label(&ui->scope.time, label), text, sizeof(text)));
	row += 2;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (others[i].event == ui->scope.event || !ui_has_event(ui, others[i].event))
			continue;
		canvas_printf(c, row, col, limit, STYLE_KEY, "%d", others[i].event + 1);
		canvas_text(c, row++, col + 4, limit, STYLE_NORMAL, others[i].what);
	}
	canvas_text(c, row, col, limit, STYLE_KEY, "w");
	canvas_text(c, row++, col + 4, limit, STYLE_NORMAL,
		"what is wrong, if something is: deadlocks and more");
	if (row >= end)
		return;
	canvas_text(c, row, col, limit, STYLE_KEY, "]");
	canvas_printf(c, row, col + 4, limit, STYLE_NORMAL, "widen the window (now %s)", label);
	if (row + 2 >= end)
		return;
	canvas_printf(c, row + 2, col, limit, STYLE_DIM,
		"Attached %s ago, %s lost. This is not an error.",
		text_uptime(ago, (ui->now_ms - ui->attached_ms) / 1000),
		text_count(lost, ui->vitals->lost));
}
