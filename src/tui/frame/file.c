/* SPDX-License-Identifier: Apache-2.0 */
/* Showing a file in the live view. */
#include "tui/frame/file.h"

#include "base/clock.h"
#include "tui/frame/compare.h"
#include "tui/screen/text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define STEPS 60 /* steps from one end of a file to the other */

/* Commands by their names. */
static const struct {
	const char *name, *why;
} refusals[] = {
	{"freeze", "A recording is not live: , and . move through its time, [ and ] change the "
		   "window."},
	{"restart", "A recording is not live and cannot restart: [ and ] change the window."},
	{"undo-restart",
		"A recording is not live, so no restart can be undone: [ and ] change the window."},
	{"delay", "A recording does not change, so it has no refresh interval."},
	{"other", "This is a recording, not a JVM: q quits, and jhot alone lists running JVMs."},
};

void file_begin(struct ui *ui)
{
	const struct app_file *f = ui->options->file;
	struct timeline *t = &ui->scope.time;

	t->window = TIMELINE_WINDOWS - 1;
	timeline_freeze(t, ui->profile, true);
	if (f->to < t->frozen_to)
		t->frozen_to = f->to;
	t->since = t->since_before = f->from;
	if (f->compared)
		compare_begin(ui, f->from);
}

const char *file_refusal(const struct ui *ui, const char *command)
{
	for (size_t i = 0; ui->options->file && i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (!strcmp(refusals[i].name, command))
			return refusals[i].why;
	if (ui->options->file && !ui->options->file->timed &&
		(!strcmp(command, "step") || !strcmp(command, "window")))
		return "The samples of this file have no timestamps.";
	return NULL;
}

bool file_has_vitals(const struct ui *ui)
{
	return !ui->options->file || ui->options->file->vitals;
}

bool file_has_time(const struct ui *ui)
{
	return !ui->options->file || ui->options->file->timed;
}

int file_step(const struct ui *ui)
{
	uint32_t seconds = timeline_windows[ui->scope.time.window];
	uint32_t part = profile_info(ui->profile).now / STEPS;

	if (!ui->options->file)
		return 1;
	return (int)(seconds ? seconds : part ? part : 1);
}

void file_title(const struct ui *ui, struct strip *s)
{
	const struct vitals *v = ui->vitals;
	const struct app_file *f = ui->options->file;

	strip_add(s, STYLE_STRONG, 0, "jhot %s", f->name);
	if (strcmp(v->name, f->name) != 0)
		strip_add(s, STYLE_NORMAL, 3, "%s", v->name);
	if (v->pid > 0)
		strip_add(s, STYLE_NORMAL, 5, "pid %d", v->pid);
	if (*f->host)
		strip_add(s, STYLE_NORMAL, 6, "on %s", f->host);
	if (*v->jdk)
		strip_add(s, STYLE_NORMAL, 4, "JDK %s", v->jdk);
}

/* The time at which the window ends, with the date if there is space. */
void file_state(const struct ui *ui, struct strip *s)
{
	uint64_t start = profile_info(ui->profile).start_wall_ns;
	time_t at = (time_t)(start / NS_PER_S + ui->scope.time.frozen_to);
	char text[40];
	struct tm tm;

	if (!start || !localtime_r(&at, &tm) ||
		!strftime(text, sizeof(text), ui->canvas->cols < 100 ? "%H:%M:%S" : "%F %H:%M:%S",
			&tm))
		text[0] = '\0';
	strip_add(s, STYLE_WARN, 0, " FILE%s%s ", *text ? " " : "", text)->right = true;
}

/* "1:05", "2:00:07" */
static const char *file_clock(char out[TEXT_NUMBER], uint32_t s)
{
	if (s < 3600)
		snprintf(out, TEXT_NUMBER, "%u:%02u", s / 60, s % 60);
	else
		snprintf(out, TEXT_NUMBER, "%u:%02u:%02u", s / 3600, s / 60 % 60, s % 60);
	return out;
}

void file_notice(const struct ui *ui, struct strip *s)
{
	const struct profile_query q = ui_query(ui);
	char from[TEXT_NUMBER], to[TEXT_NUMBER], all[TEXT_NUMBER];

	strip_add(s, STYLE_NORMAL, 0, "%s to %s of %s  ([ ] window; , . back/forward %d s)",
		file_clock(from, q.from), file_clock(to, q.to),
		file_clock(all, profile_info(ui->profile).now), file_step(ui));
}
