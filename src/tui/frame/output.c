/* SPDX-License-Identifier: Apache-2.0 */
/* The export dialog, saving as a recording, and copying names. */
#include "tui/frame/output.h"

#include "base/buf.h"
#include "base/clean.h"
#include "base/clock.h"
#include "profile/calls/extract.h"
#include "tui/frame/config.h"
#include "tui/frame/search.h"
#include "tui/screen/text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define AUTOSAVE_S 60 /* shorter sessions are not saved automatically */
#define LABEL_COLS 9
#define BOX_COLS   72
#define BOX_ROWS   7
#define SAVES      99 /* files with the same time stamp, distinguished by a suffix */

enum { ROW_FORMAT, ROW_EVENT, ROW_TIME, ROW_THREADS, ROW_STACKS, ROW_FILE, ROWS };
enum { THREADS_ALL, THREADS_SEPARATE, THREADS_ONE };

struct output {
	int choice[ROWS]; /* per row; unused for ROW_FILE */
	int row;          /* the selected row */
	/* The alternative to all threads: the thread or pool shown, or the one selected in the list. */
	uint32_t thread, pool;
	char path[256];
	char note[640]; /* why the last attempt failed */
	bool exists;    /* Enter again replaces the file */

	uint32_t saved_to; /* the profile's second up to which everything is saved */
	char saved[320];   /* the message of the last automatic save */
	bool discard;      /* the user chose to quit without saving */
};

/* --- file names -------------------------------------------------------------------------------------- */

static const struct app_format *output_format(const struct ui *ui, int number)
{
	return &ui->ops->formats(ui->ctx)[number];
}

static int output_formats(const struct ui *ui)
{
	int n = 0;

	while (output_format(ui, n)->suffix)
		n++;
	return n;
}

/* The format whose suffix a name has; -1: none. */
static int output_format_of(const struct ui *ui, const char *path)
{
	size_t len = strlen(path);

	for (int i = 0; i < output_formats(ui); i++) {
		size_t suffix = strlen(output_format(ui, i)->suffix);

		if (len >= suffix && !strcmp(path + len - suffix, output_format(ui, i)->suffix))
			return i;
	}
	return -1;
}

struct output *output_new(const struct ui *ui)
{
	const struct config *config = ui->options->config;
	struct output *o = xcalloc(1, sizeof(*o));
	int format = config && *config->format ? output_format_of(ui, config->format) : -1;

	o->choice[ROW_FORMAT] = format < 0 ? 0 : format;
	return o;
}

const char *output_suffix(const struct ui *ui)
{
	return output_format(ui, ui->output->choice[ROW_FORMAT])->suffix;
}

/* Formats the proposed file name, JVM-PID-EVENT-TIME.SUFFIX; without EVENT if event is NULL. */
static void output_name(
	const struct ui *ui, char *out, size_t size, const char *event, const char *suffix)
{
	time_t now = (time_t)(clock_wall_ns() / NS_PER_S);
	char stamp[32], name[64] = "jhot";
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
	if (*ui->vitals->name)
		clean_word(name, sizeof(name), ui->vitals->name);
	if (*name == '.' || *name == '-')
		*name = '_';
	snprintf(out, size, "%s-%d%s%s-%s%s", name, ui->vitals->pid, event ? "-" : "",
		event ? event : "", stamp, suffix);
	for (char *c = out; *c; c++) /* perf's names: cpu/cache-misses/ */
		if (strchr("/:", *c))
			*c = '_';
}

/* --- writing ----------------------------------------------------------------------------------------- */

static bool output_of_calls(const struct ui *ui)
{
	return ui_view(ui)->shown_calls != NULL;
}

static void output_write(struct ui *ui)
{
	struct output *o = ui->output;
	struct profile_query shown = ui_query(ui), all = {.by_weight = shown.by_weight};
	bool one = o->choice[ROW_THREADS] == THREADS_ONE;
	unsigned hide = filter_hide(ui->scope.filter);
	struct profile *calls = NULL;
	struct err err = {0};
	char done[320] = "";

	if (!*o->path)
		return;
	/* All stacks: a fresh query, without the view's filter. */
	struct app_export request = {.path = o->path,
		.query = o->choice[ROW_STACKS] ? all : shown,
		.threads = o->choice[ROW_THREADS] == THREADS_SEPARATE,
		.overwrite = o->exists};
	request.query.event = o->choice[ROW_EVENT];
	request.query.from = o->choice[ROW_TIME] ? 0 : shown.from;
	request.query.to = o->choice[ROW_TIME] ? UINT32_MAX : shown.to;
	request.query.thread = one ? o->thread : PROFILE_ANY_THREAD;
	request.query.pool = one ? o->pool : 0;
	if (output_of_calls(ui)) {
		request.profile = calls = calls_extract(ui->profile, ui_view(ui)->shown_calls(ui));
		request.query = profile_whole(EVENT_WALL);
		request.query.by_weight = true;
	}
	/* Files contain the frames that views collapse to save space. */
	if (hide & FILTER_FOLDS)
		filter_set_hide(ui->scope.filter, hide & ~(unsigned)FILTER_FOLDS);
	int rc = ui->ops->export(ui->ctx, &request, done, sizeof(done), &err);
	profile_free(calls);
	if (hide & FILTER_FOLDS)
		filter_set_hide(ui->scope.filter, hide);
	o->exists = rc == APP_EXISTS;
	if (rc == APP_EXISTS) {
		snprintf(o->note, sizeof(o->note),
			"The file exists. Press Enter again to overwrite it.");
	} else if (rc < 0) {
		snprintf(o->note, sizeof(o->note), "%s", err.what);
	} else {
		ui->popup = NULL;
		ui_notify(ui, STYLE_GOOD, UI_STAY, "%s", done);
	}
}

static int output_save_in(
	struct ui *ui, const char *folder, char *done, size_t bytes, struct err *err)
{
	char name[160], suffix[16] = ".jhot", path[PATH_MAX];
	int rc = APP_EXISTS;

	for (int i = 1; rc == APP_EXISTS && i <= SAVES; i++) {
		if (i > 1)
			snprintf(suffix, sizeof(suffix), "-%d.jhot", i);
		output_name(ui, name, sizeof(name), NULL, suffix);
		snprintf(path, sizeof(path), "%s%s%s", folder, *folder ? "/" : "", name);
		rc = ui->ops->save(ui->ctx, path, done, bytes, err);
	}
	if (!rc)
		ui->output->saved_to = profile_info(ui->profile).now;
	return rc;
}

unsigned output_save(struct ui *ui, int arg)
{
	struct err err = {0};
	char done[320] = "";
	int rc = output_save_in(ui, "", done, sizeof(done), &err);

	ui_notify(ui, rc < 0 ? STYLE_BAD : STYLE_GOOD, UI_STAY, "%s", rc < 0 ? err.what : done);
	return 0;
}

/* --- unsaved samples --------------------------------------------------------------------------------- */

uint32_t output_unsaved_s(const struct ui *ui)
{
	uint32_t now;

	if (!ui->profile || ui->options->file || ui->options->recorded || !ui->ops->save ||
		*ui_owner(ui))
		return 0;
	now = profile_info(ui->profile).now;
	return now > ui->output->saved_to ? now - ui->output->saved_to : 0;
}

bool output_save_unsaved(struct ui *ui, uint32_t most_s, char *done, size_t bytes)
{
	const char *home = getenv("HOME");
	struct err err = {0};

	done[0] = '\0';
	if (output_unsaved_s(ui) <= most_s)
		return false;
	if (output_save_in(ui, "", done, bytes, &err) &&
		(!home || *home != '/' || output_save_in(ui, home, done, bytes, NULL))) {
		snprintf(done, bytes, "%s", err.what);
		return false;
	}
	snprintf(ui->output->saved, sizeof(ui->output->saved), "%s", done);
	return true;
}

bool output_autosave(struct ui *ui, char *done, size_t bytes)
{
	return output_save_unsaved(ui, AUTOSAVE_S, done, bytes);
}

const char *output_end(struct ui *ui)
{
	struct output *o = ui->output;
	char done[sizeof(o->saved)] = "";

	if (!o->discard)
		output_autosave(ui, done, sizeof(done));
	if (*done)
		snprintf(o->saved, sizeof(o->saved), "%s", done);
	return o->saved;
}

void output_restart(struct ui *ui)
{
	ui->output->saved_to = 0;
}

/* --- confirming q ------------------------------------------------------------------------------------ */

static unsigned question_key(struct ui *ui, int key)
{
	char done[320];

	ui->popup = NULL;
	if (key == 'q' || key == TKEY_CTRL('c')) {
		ui->output->discard = true;
		return UI_QUIT;
	}
	if (key != 'S')
		return 0;
	if (output_save_unsaved(ui, 0, done, sizeof(done)))
		return UI_QUIT;
	ui_notify(ui, STYLE_BAD, UI_STAY, "%s", done);
	return 0;
}

static void question_draw(const struct ui *ui)
{
	struct area in = popup_frame(ui, "not saved", 1, 58);
	char time[TEXT_NUMBER];

	canvas_printf(ui->canvas, in.row, in.col, in.col + in.cols, STYLE_NORMAL,
		"%s of samples have not been saved.", text_uptime(time, output_unsaved_s(ui)));
}

static const struct ui_popup question = {
	.title = "not saved",
	.keys = "S save and quit  q quit without saving  Esc cancel",
	.key = question_key,
	.draw = question_draw,
};

unsigned output_quit(struct ui *ui, int arg)
{
	static const uint32_t limits_s[] = {
		60, 600, 3600, UINT32_MAX}; /* of the setting `unsaved` */
	const struct config *config = ui->options->config;

	if (output_unsaved_s(ui) > limits_s[config ? config->unsaved : 0]) {
		ui->popup = &question;
		return 0;
	}
	ui->output->discard = true;
	return UI_QUIT;
}

/* --- the dialog -------------------------------------------------------------------------------------- */

static void output_text(const struct ui *ui, int row, char *text, size_t bytes)
{
	const struct output *o = ui->output;
	int choice = o->choice[row];
	char label[16];

	if (output_of_calls(ui) && (row == ROW_EVENT || row == ROW_TIME || row == ROW_STACKS)) {
		snprintf(text, bytes, "%s",
			row == ROW_EVENT  ? "wall: only the calls of the shown range"
			: row == ROW_TIME ? "the window"
					  : "all frames");
		return;
	}
	switch (row) {
	case ROW_FORMAT:
		snprintf(text, bytes, "%s  %s", output_format(ui, choice)->suffix,
			output_format(ui, choice)->what);
		break;
	case ROW_EVENT:
		snprintf(text, bytes, "%s", profile_get_event(ui->profile, choice)->name);
		break;
	case ROW_TIME:
		snprintf(text, bytes, "%s%s%s",
			choice ? "everything since the start" : "the window: ",
			choice ? "" : timeline_label(&ui->scope.time, label),
			!choice && ui->scope.time.frozen ? ", frozen" : "");
		break;
	case ROW_THREADS:
		snprintf(text, bytes, "%s%s",
			choice == THREADS_ALL        ? "all threads, merged"
			: choice == THREADS_SEPARATE ? "all threads, separately"
						     : "only ",
			choice != THREADS_ONE ? ""
			: o->pool             ? profile_pool_name(ui->profile, o->pool)
					      : profile_get_thread(ui->profile, o->thread)->name);
		break;
	case ROW_STACKS:
		snprintf(text, bytes, "%s",
			choice ? "all frames, including hidden ones" : "as shown");
		break;
	default: snprintf(text, bytes, "%s", o->path);
	}
}

static void output_change(struct ui *ui, int direction)
{
	struct output *o = ui->output;
	int n = 2, *choice = &o->choice[o->row], old;
	size_t len = strlen(o->path);

	if (output_of_calls(ui) && o->row != ROW_FORMAT && o->row != ROW_THREADS)
		return;
	switch (o->row) {
	case ROW_FILE: return;
	case ROW_FORMAT: n = output_formats(ui); break;
	case ROW_EVENT: n = PROFILE_EVENTS; break;
	case ROW_THREADS:
		n += !output_of_calls(ui) && (o->pool || o->thread != PROFILE_ANY_THREAD);
		break;
	}
	do
		*choice = (*choice + direction + n) % n;
	while (o->row == ROW_EVENT && *choice != ui->scope.event && !ui_has_event(ui, *choice));
	if (o->row != ROW_FORMAT)
		return;
	/* The file name gets the suffix of the format. */
	old = output_format_of(ui, o->path);
	if (old >= 0)
		len -= strlen(output_format(ui, old)->suffix);
	snprintf(o->path + len, sizeof(o->path) - len, "%s", output_format(ui, *choice)->suffix);
}

static unsigned output_key(struct ui *ui, int key)
{
	struct output *o = ui->output;
	int format;

	if (key == TKEY_ENTER) {
		output_write(ui);
		return 0;
	}
	o->note[0] = '\0';
	o->exists = false;
	if (key == TKEY_ESC || key == TKEY_CTRL('c')) {
		ui->popup = NULL;
	} else if (key == TKEY_UP || key == TKEY_BACK_TAB) {
		o->row = (o->row + ROWS - 1) % ROWS;
	} else if (key == TKEY_DOWN || key == TKEY_TAB) {
		o->row = (o->row + 1) % ROWS;
	} else if (key == TKEY_LEFT || key == TKEY_RIGHT || (key == ' ' && o->row != ROW_FILE)) {
		output_change(ui, key == TKEY_LEFT ? -1 : 1);
	} else if (footer_edit(o->path, sizeof(o->path), key)) {
		/* Text always goes to the file name, whichever row is selected. */
		o->row = ROW_FILE;
		format = output_format_of(ui, o->path);
		if (format >= 0)
			o->choice[ROW_FORMAT] = format;
	}
	return 0;
}

static void output_draw(const struct ui *ui)
{
	static const char *const labels[ROWS] = {
		"format", "event", "time", "threads", "stacks", "file"};
	const char *note = ui->output->note; /* the reason of a failure */
	struct area in = popup_frame(ui, ui->popup->title, BOX_ROWS, BOX_COLS);
	int rows = text_rows(note, in.cols);
	struct canvas *c = ui->canvas;
	char text[400];

	if (rows > 1)
		in = popup_frame(ui, ui->popup->title, BOX_ROWS + rows - 1, BOX_COLS);
	for (int row = 0; row < ROWS && row < in.rows; row++) {
		bool on = row == ui->output->row, file = row == ROW_FILE, arrows = on && !file;
		int at = in.row + row, limit = in.col + in.cols;

		output_text(ui, row, text, sizeof(text));
		canvas_text(c, at, in.col, limit, STYLE_LABEL, labels[row]);
		/* Show the end of a long file name, where the cursor is. */
		int col = canvas_printf(c, at, in.col + LABEL_COLS, limit,
			on ? STYLE_STRONG : STYLE_NORMAL, "%s%s%s", arrows ? "< " : "",
			file ? text_suffix(text, in.cols - LABEL_COLS - 1) : text,
			arrows ? " >" : "");
		if (file && on) {
			c->cursor_row = at;
			c->cursor_col = col;
		}
	}
	rows = rows < in.rows ? rows : in.rows;
	in.row += in.rows - rows;
	in.rows = rows;
	canvas_wrapped(c, in, 0, ui->output->exists ? STYLE_WARN : STYLE_BAD, note);
}

static const struct ui_popup popup_output = {
	.title = "export",
	.keys = "Enter writes  Up/Down choose  Left/Right change  Esc cancels",
	.key = output_key,
	.draw = output_draw,
};

unsigned output_dialog(struct ui *ui, int arg)
{
	struct output *o = ui->output;

	/* Preset to what the screen shows. */
	o->choice[ROW_EVENT] = ui->scope.event;
	o->choice[ROW_TIME] = o->choice[ROW_STACKS] = 0;
	o->choice[ROW_THREADS] =
		ui_is_restricted(ui) && !output_of_calls(ui) ? THREADS_ONE : THREADS_ALL;
	o->thread = ui->scope.thread;
	o->pool = ui->scope.pool;
	if (!ui_is_restricted(ui) && ui_view(ui)->selected_thread)
		ui_view(ui)->selected_thread(ui, &o->thread, &o->pool);
	o->row = ROW_FILE;
	o->note[0] = '\0';
	o->exists = false;
	output_name(ui, o->path, sizeof(o->path),
		output_of_calls(ui) ? "calls"
				    : profile_get_event(ui->profile, ui->scope.event)->name,
		output_suffix(ui));
	ui->message.shown = false;
	ui->popup = &popup_output;
	return 0;
}

/* --- copying ----------------------------------------------------------------------------------------- */

unsigned output_copy(struct ui *ui, int arg)
{
	const char *name = ui_selected(ui);

	if (!name) {
		ui_warn(ui, "nothing is selected");
		return 0;
	}
	free(ui->copy);
	ui->copy = xstrdup(name);
	ui_say(ui, "copied, if the terminal supports it: %s", name);
	return 0;
}
