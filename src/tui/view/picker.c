/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The picker: the running JVMs, and whether each can be profiled. With options->instances, a list of JVMs
 * that are all sampled, with their current figures. The error screen, when attaching to one has failed.
 */
#include "tui/frame/ui.h"

#include "base/buf.h"
#include "base/clean.h"
#include "tui/frame/command.h"
#include "tui/screen/text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REFRESH_MS           2000
#define REFRESH_INSTANCES_MS 1000

struct picker {
	struct view_state view;
	struct app_jvm *rows; /* the last list */
	struct app_jvm *jvms; /* those that match the filter */
	int all, count;
	int selected; /* id */
	char filter[64];
	int64_t listed_ms;
	bool listed;
	struct err error;
};

static void picker_done(void *state)
{
	struct picker *p = state;

	free(p->rows);
	free(p->jvms);
}

static void picker_filter(struct picker *p)
{
	char line[256];

	p->count = 0;
	for (int i = 0; i < p->all; i++) {
		const struct app_jvm *j = &p->rows[i];

		snprintf(line, sizeof(line), "%d %s %s %s", j->pid, j->user, j->jdk, j->name);
		if (!*p->filter || text_find(line, p->filter))
			p->jvms[p->count++] = *j;
	}
	list_resize(&p->view.list, p->count, p->view.list.rows);
	for (int i = 0; i < p->count && p->view.list.touched; i++)
		if (p->jvms[i].id == p->selected)
			list_follow(&p->view.list, i);
}

static void picker_update(const struct ui *ui, bool sort)
{
	struct picker *p = ui_state(ui, VIEW_PICKER);
	const struct app_jvm *rows = NULL;
	int64_t refresh_ms = ui->options->instances ? REFRESH_INSTANCES_MS : REFRESH_MS;

	if (p->listed && p->error.kind != ERR_BUSY && ui->now_ms - p->listed_ms < refresh_ms)
		return;
	if (p->count)
		p->selected = p->jvms[p->view.list.cursor].id;
	p->error = (struct err){0};
	int n = ui->ops->list(ui->ctx, &rows, &p->error);
	p->all = n < 0 ? 0 : n;
	p->rows = xreallocarray(p->rows, (size_t)p->all, sizeof(*p->rows));
	p->jvms = xreallocarray(p->jvms, (size_t)p->all, sizeof(*p->jvms));
	if (p->all)
		memcpy(p->rows, rows, (size_t)p->all * sizeof(*p->rows));
	picker_filter(p);
	p->listed_ms = ui->now_ms;
	p->listed = true;
}

static bool picker_edit(const struct ui *ui, int key)
{
	struct picker *p = ui_state(ui, VIEW_PICKER);
	size_t len = strlen(p->filter);

	/* Keys that are commands, always or while the filter is empty. */
	if (key <= ' ' || (!len && (key == TKEY_BACKSPACE || key == 'q')) ||
		!footer_edit(p->filter, sizeof(p->filter), key))
		return false;
	picker_filter(p);
	return true;
}

bool picker_is_listing(const struct ui *ui)
{
	const struct picker *p = ui_state(ui, VIEW_PICKER);

	return ui->view == VIEW_PICKER && p->error.kind == ERR_BUSY;
}

bool picker_has_back(const struct ui *ui)
{
	const struct picker *p = ui_state(ui, VIEW_PICKER);

	return *p->filter || ui->profile;
}

static unsigned picker_leave(struct ui *ui)
{
	ui_show(ui, ui->under);
	return UI_UPDATE;
}

unsigned picker_back(struct ui *ui, int arg)
{
	struct picker *p = ui_state(ui, VIEW_PICKER);

	if (!*p->filter)
		return picker_leave(ui);
	p->filter[0] = '\0';
	picker_filter(p);
	return 0;
}

unsigned picker_choose(struct ui *ui, int arg)
{
	struct picker *p = ui_state(ui, VIEW_PICKER);
	const struct app_jvm *j = p->count ? &p->jvms[p->view.list.cursor] : NULL;
	bool shown;

	if (!j)
		return 0;
	shown = ui->options->instances ? j->shown : ui->vitals && j->pid == ui->vitals->pid;
	if (ui->profile && !ui->ended && shown)
		return picker_leave(ui);
	if (!j->can_attach) {
		ui_notify(ui, STYLE_WARN, UI_STAY, "%s: %s", j->name,
			*j->why ? j->why : "It is still being attached.");
		return 0;
	}
	ui->attach_pid = j->id;
	ui_notify(ui, STYLE_NORMAL, UI_STAY, "attaching to %d %s ...", j->pid, j->name);
	return 0;
}

#define CELL_TEXT(name, format, ...)                                                        \
	static void cell_##name(const void *view, const void *row, struct column_cell *out) \
	{                                                                                   \
		const struct app_jvm *j = row;                                              \
		char number[TEXT_NUMBER];                                                   \
                                                                                            \
		(void)number;                                                               \
		snprintf(out->text, COLUMN_TEXT, format, __VA_ARGS__);                      \
		if (!j->can_attach)                                                         \
			out->style = STYLE_DIM;                                             \
	}
CELL_TEXT(pid, "%d", j->pid)
CELL_TEXT(user, "%s", j->user)
CELL_TEXT(jdk, "%s", j->jdk)
CELL_TEXT(rss, "%s", text_bytes(number, j->rss_bytes))
CELL_TEXT(threads, "%s", text_count(number, j->threads))
CELL_TEXT(uptime, "%s", text_uptime(number, j->uptime_s))
CELL_TEXT(cpu, "%s", text_count(number, j->cpu_pct))
CELL_TEXT(attach, "%s", j->attach)

static void cell_name(const void *view, const void *row, struct column_cell *out)
{
	const struct app_jvm *j = row;

	name_program(out->text, COLUMN_TEXT, j->name, out->width, out->glyphs->ellipsis);
	out->style = j->can_attach ? STYLE_STRONG : STYLE_DIM;
}

static const struct column columns[] = {
	{"PID", 1, 7, 0, 0, -1, cell_pid},
	{"USER", 1, 8, COLUMN_LEFT, 60, -1, cell_user},
	{"JDK", 1, 8, COLUMN_LEFT, 52, -1, cell_jdk},
	{"CPU%", 1, 4, 0, 46, -1, cell_cpu},
	{"RSS", 1, 5, 0, 60, -1, cell_rss},
	{"THR", 1, 4, 0, 70, -1, cell_threads},
	{"UP", 1, 6, COLUMN_LEFT, 70, -1, cell_uptime},
	{"MAIN / JAR", 1, 0, COLUMN_LEFT, 0, -1, cell_name},
	{"ATTACH", 1, 8, COLUMN_LEFT, 0, -1, cell_attach},
};

CELL_TEXT(known_pid, j->pid ? "%d" : "-", j->pid)
CELL_TEXT(heap, "%s", text_bytes(number, j->heap_used))
CELL_TEXT(gc, "%s", j->gc_pct_x10 < 0 ? "-" : text_percent(number, j->gc_pct_x10 / 10.0))

static void cell_hot(const void *view, const void *row, struct column_cell *out)
{
	const struct app_jvm *j = row;
	char method[sizeof(j->hot)];

	if (j->hot_pct < 0)
		return;
	name_cut(method, sizeof(method), j->hot, out->width - 5, out->glyphs->ellipsis);
	snprintf(out->text, COLUMN_TEXT, "%3d%% %s", j->hot_pct, method);
}

static void cell_verdict(const void *view, const void *row, struct column_cell *out)
{
	const struct app_jvm *j = row;

	snprintf(out->text, COLUMN_TEXT, "%s", j->verdict);
	if (!j->can_attach)
		out->style = STYLE_DIM;
	else if (*j->why)
		out->style = STYLE_WARN;
}

static const struct column instance_columns[] = {
	{"PID", 1, 7, 0, 0, -1, cell_known_pid},
	{"NAME", 1, 14, COLUMN_LEFT, 0, -1, cell_name},
	{"JDK", 1, 8, COLUMN_LEFT, 100, -1, cell_jdk},
	{"CPU%", 1, 4, 0, 0, -1, cell_cpu},
	{"HEAP", 1, 5, 0, 52, -1, cell_heap},
	{"GC%", 1, 4, 0, 60, -1, cell_gc},
	{"HOTTEST METHOD", 1, 0, COLUMN_LEFT, 0, -1, cell_hot},
	{"VERDICT", 1, 11, COLUMN_LEFT, 0, -1, cell_verdict},
};

static struct columns picker_columns(const struct ui *ui)
{
	return ui->options->instances ? COLUMNS(instance_columns) : COLUMNS(columns);
}

static const void *picker_row(const void *state, int index)
{
	const struct picker *p = state;

	return index < p->count ? &p->jvms[index] : NULL;
}

static void picker_draw(const struct ui *ui, struct area area)
{
	const struct picker *p = ui_state(ui, VIEW_PICKER);
	struct canvas *c = ui->canvas;
	int row = area.row, last = area.row + area.rows - 1;
	const char *instances = ui->options->instances;

	canvas_text(c, row, 1, c->cols, STYLE_STRONG,
		instances ? "jhot - instances" : "jhot - choose a JVM");
	canvas_right(c, row, 0, c->cols - 1, STYLE_DIM, instances ? "refresh 1s" : "refresh 2s");
	row += area.rows > 14 ? 2 : 1;
	canvas_text(c, row, 3, c->cols, STYLE_DIM, "type to filter: ");
	c->cursor_row = row;
	c->cursor_col = canvas_text(c, row, 19, c->cols - 1, STYLE_PROMPT, p->filter);
	row += area.rows > 14 ? 2 : 1;
	view_draw_rows(ui, VIEW_PICKER, (struct area){row, 0, last - 1 - row, c->cols},
		(uint32_t)p->count);
	row += 2;
	if (!p->count && p->all) {
		canvas_printf(c, row, 3, c->cols, STYLE_NORMAL, "None of %d JVMs matches \"%s\".",
			p->all, p->filter);
	} else if (!p->count && p->error.kind) {
		canvas_text(c, row, 3, c->cols, STYLE_NORMAL, p->error.what);
	} else if (!p->count && instances) {
		canvas_printf(c, row, 3, c->cols, STYLE_NORMAL, "No running JVM matches \"%s\".",
			instances);
		canvas_text(c, row + 1, 3, c->cols, STYLE_DIM,
			"JVMs that start later will appear here.");
	} else if (!p->count) {
		canvas_text(c, row, 3, c->cols, STYLE_NORMAL, "No running JVM found.");
		canvas_text(c, row + 1, 3, c->cols, STYLE_DIM,
			"JVMs of other users are visible only to root: sudo jhot");
	} else {
		const struct app_jvm *j = &p->jvms[p->view.list.cursor];
		char word[sizeof(j->name)];

		/* Why the selected JVM cannot be profiled, or the command that attaches to it. */
		clean_word(word, sizeof(word), j->name);
		if (*j->why && !j->pid)
			canvas_text(c, last, 1, c->cols - 1, STYLE_NORMAL, j->why);
		else if (*j->why)
			canvas_printf(
				c, last, 1, c->cols - 1, STYLE_NORMAL, "%d: %s", j->pid, j->why);
		else if (!instances)
			canvas_printf(c, last, 1, c->cols - 1, STYLE_DIM, "Next time: jhot %d%s%s",
				j->pid, strcmp(word, j->name) ? "" : " or jhot ",
				strcmp(word, j->name) ? "" : j->name);
	}
}

const struct view view_picker = {
	.name = "Picker",
	.bare = true,
	.bytes = sizeof(struct picker),
	.done = picker_done,
	.update = picker_update,
	.draw = picker_draw,
	.columns = picker_columns,
	.row = picker_row,
	.edit = picker_edit,
};

/* --- the error screen ------------------------------------------------------------------------------------ */

struct error_state {
	struct view_state view;
	bool details_hidden;
};

static int draw_lines(struct canvas *c, int row, const char *title, const char *text, bool numbered)
{
	int number = 1;
	char line[1024];

	if (!*text)
		return row;
	canvas_text(c, row++, 1, c->cols, STYLE_STRONG, title);
	while (*text && row < c->rows - 2) {
		int len = (int)strcspn(text, "\n"), col = numbered ? 7 : 3;

		if (numbered)
			canvas_printf(c, row, 3, c->cols, STYLE_KEY, "%d", number++);
		snprintf(line, sizeof(line), "%.*s", len, text);
		row = canvas_wrapped(c,
			(struct area){row, col, c->rows - 2 - row, c->cols - col - 2}, 0,
			STYLE_NORMAL, line);
		text += len + (text[len] == '\n');
	}
	return row + 1;
}

static void error_draw(const struct ui *ui, struct area area)
{
	const struct error_state *e = ui_state(ui, VIEW_ERROR);
	struct canvas *c = ui->canvas;
	int row = area.row;

	canvas_text(c, row, 1, c->cols, STYLE_BAD, " jhot: the JVM cannot be profiled ");
	row = draw_lines(c, row + 2, ERR_HEADING_WHAT, ui->refusal.what, false);
	row = draw_lines(c, row, ERR_HEADING_HINT, ui->refusal.hint, true);
	if (!e->details_hidden)
		row = draw_lines(c, row, ERR_HEADING_DETAILS, ui->refusal.details, false);
	if (row < c->rows - 2)
		canvas_printf(c, c->rows - 3, 1, c->cols, STYLE_DIM, "exit status %d",
			(int)ui->refusal.kind);
}

unsigned error_details(struct ui *ui, int arg)
{
	struct error_state *e = ui_state(ui, VIEW_ERROR);

	e->details_hidden = !e->details_hidden;
	return 0;
}

unsigned error_retry(struct ui *ui, int arg)
{
	ui->attach_pid = ui->last_pid;
	return 0;
}

bool error_has_back(const struct ui *ui)
{
	return ui->profile;
}

unsigned error_back(struct ui *ui, int arg)
{
	ui_show(ui, ui->under);
	return UI_UPDATE;
}

/* Copies the first command to try, without its explanation. */
unsigned error_copy(struct ui *ui, int arg)
{
	char command[640];

	if (!*ui->refusal.hint)
		return 0;
	const char *end = strstr(ui->refusal.hint, "  ");
	snprintf(command, sizeof(command), "%.*s",
		(int)(end ? (size_t)(end - ui->refusal.hint) : strcspn(ui->refusal.hint, "\n")),
		ui->refusal.hint);
	command[strcspn(command, "\n")] = '\0';
	free(ui->copy);
	ui->copy = xstrdup(command);
	ui_say(ui, "copied: %s", command);
	return 0;
}

const struct view view_error = {
	.name = "Error",
	.bare = true,
	.bytes = sizeof(struct error_state),
	.draw = error_draw,
};
