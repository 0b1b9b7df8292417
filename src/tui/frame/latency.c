/* SPDX-License-Identifier: Apache-2.0 */
/* Begins and ends the measurement of a method's calls. */
#include "tui/frame/latency.h"

#include "base/buf.h"
#include "base/clock.h"
#include "profile/calls/calls.h"
#include "tui/frame/events.h"
#include "tui/frame/findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DELAY_MS 200 /* polls are published every 100 ms */

/* Why calls cannot be measured here, a sentence; NULL: they can. */
static const char *refusal(const struct ui *ui, char out[200])
{
	if (ui->options->file || ui->options->recorded || !ui->ops->latency)
		return "This recording has no single calls: jhot record --latency METHOD adds "
		       "them.";
	if (ui->ended)
		return "The session has ended: the latency of calls is measured only in a live "
		       "JVM.";
	if (ui->scope.time.frozen)
		return "The screen is frozen: press space first. Calls are measured from then on.";
	if (!*ui_owner(ui))
		return NULL;
	snprintf(out, 200, "Only the owner of the session, %s, can measure the latency of calls.",
		ui_owner(ui));
	return out;
}

static bool refuse(struct ui *ui, enum style style, const char *sentence)
{
	ui_notify(ui, style, UI_STAY, "%s", sentence);
	return false;
}

/*
 * Switches on wall, which is required, and lock, which adds the owners of locks. An event that the findings
 * have switched on is taken over from them.
 */
static bool events_acquire(struct ui *ui, struct err *err)
{
	static const int events[] = {EVENT_WALL, EVENT_LOCK};
	struct ui_latency *l = ui->latency;

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		unsigned bit = 1u << events[i];

		l->owned |= ui->findings->begun & bit;
		ui->findings->begun &= ~bit;
		if (ui->vitals->events[events[i]].state == VITALS_ON)
			continue;
		if (events_begin(ui, events[i], err))
			l->owned |= bit;
		else if (events[i] == EVENT_WALL && *err->what)
			return false;
		else if (events[i] == EVENT_WALL)
			return !err_set(err, ERR_FAILED,
				"Measuring calls needs the event wall, which cannot be sampled "
				"here.");
	}
	return true;
}

static void events_release(struct ui *ui)
{
	struct err err = {0};

	/* An event that the user has selected stays on. */
	for (int event = 0; event < EVENT_USER_FIRST && !ui->ended; event++)
		if (ui->latency->owned & 1u << event && event != ui->scope.event &&
			ui->vitals->events[event].state == VITALS_ON)
			events_switch(ui, event, false, 0, &err);
	ui->latency->owned = 0;
}

/* A measurement has begun, or the method's recorded calls are to be shown. */
static void latency_set(struct ui *ui, const char *method, bool recorded)
{
	struct ui_latency *l = ui->latency;
	char *name = xstrdup(method); /* may be l->method */

	free(l->method);
	l->method = name;
	l->serial++;
	l->recorded = recorded;
	l->on = !recorded;
	l->refused = false;
	l->begin_ms = ui->now_ms;
}

bool latency_begin(struct ui *ui, const char *method)
{
	struct ui_latency *l = ui->latency;
	const char *why, *recorded = NULL;
	struct err err = {0};
	char text[200];

	/* A recording, or a session that is only watched, has the calls of one method at most. */
	if (ui->options->file || ui->options->recorded || *ui_owner(ui))
		recorded = calls_name(ui->profile);
	if (recorded && calls_pattern_matches(recorded, method)) {
		latency_set(ui, method, true);
		return true;
	}
	if (recorded) {
		snprintf(text, sizeof(text), "Only the calls of %.150s were measured.", recorded);
		return refuse(ui, STYLE_WARN, text);
	}
	why = refusal(ui, text);
	if (why)
		return refuse(ui, STYLE_WARN, why);
	if (!events_acquire(ui, &err) ||
		ui->ops->latency(ui->ctx, method, &l->begin_ns, &err) < 0) {
		if (!l->on)
			events_release(ui);
		return refuse(ui, STYLE_BAD, err.what);
	}
	latency_set(ui, method, false);
	ui->begun_ms = ui->now_ms;
	return true;
}

static void latency_end(struct ui *ui)
{
	struct err err = {0};
	uint64_t now_ns;

	if (!ui->ended)
		ui->ops->latency(ui->ctx, "", &now_ns, &err);
	ui->latency->on = false;
	events_release(ui);
}

void latency_tick(struct ui *ui)
{
	struct ui_latency *l = ui->latency;
	enum view_id view = ui_view_id(ui);

	if (!l->method || !ui->profile)
		return;
	if (l->on && view != VIEW_LATENCY && view != VIEW_FINDINGS && view != VIEW_INFO)
		latency_end(ui);
	else if (!l->on && view == VIEW_LATENCY && !l->refused && !l->recorded && !ui->ended)
		l->refused = !latency_begin(ui, l->method);
}

void latency_reset(struct ui *ui)
{
	unsigned serial = ui->latency ? ui->latency->serial : 0;

	latency_free(ui->latency);
	ui->latency = xcalloc(1, sizeof(*ui->latency));
	ui->latency->serial = serial + 1;
	ui->latency->window = TIMELINE_WINDOWS - 1;
}

void latency_free(struct ui_latency *l)
{
	if (l)
		free(l->method);
	free(l);
}

uint64_t latency_now_ns(const struct ui *ui)
{
	int64_t ms = ui->now_ms - ui->latency->begin_ms - DELAY_MS;

	return ui->latency->begin_ns + (ms > 0 ? (uint64_t)ms * NS_PER_MS : 1);
}
