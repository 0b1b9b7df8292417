/* SPDX-License-Identifier: Apache-2.0 */
/* The JVM's and the session's figures as text: how it was started, its heap, what sampling costs it, notes. */
#include "tui/frame/ui.h"

#include "base/buf.h"
#include "base/clock.h"
#include "tui/frame/command.h"
#include "tui/screen/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INFO_ROWS  120
#define INFO_TEXT  400
#define LABEL_COLS 14

struct info_row {
	bool title;
	char label[24];
	char text[INFO_TEXT];
};

struct info {
	struct view_state at; /* its list: scrolling only */
	enum view_id from;
	struct info_row rows[INFO_ROWS];
	int count;
};

static struct info *info_state(const struct ui *ui)
{
	return (struct info *)ui->place.state[VIEW_INFO];
}

/* --- writing ----------------------------------------------------------------------------------------- */

static void add_title(struct info *in, const char *title)
{
	if (in->count + 2 > INFO_ROWS)
		return;
	if (in->count)
		in->rows[in->count++] = (struct info_row){0};
	in->rows[in->count] = (struct info_row){.title = true};
	snprintf(in->rows[in->count++].label, sizeof(in->rows[0].label), "%s", title);
}

__attribute__((format(printf, 3, 4))) static void add(
	struct info *in, const char *label, const char *fmt, ...)
{
	struct info_row *r = &in->rows[in->count];
	va_list ap;

	if (in->count == INFO_ROWS)
		return;
	*r = (struct info_row){0};
	snprintf(r->label, sizeof(r->label), "%s", label);
	va_start(ap, fmt);
	vsnprintf(r->text, sizeof(r->text), fmt, ap);
	va_end(ap);
	in->count++;
}

/* A long text in as many rows as it needs, broken at blanks where there are some. */
static void add_wrapped(struct info *in, const char *label, const char *text, int width)
{
	for (const char *next; *text; text = next, label = "") {
		int bytes = (int)text_wrap(text, width, &next);

		if (next == text)
			return;
		add(in, label, "%.*s", bytes, text);
	}
}

static const char *ago(char out[TEXT_NUMBER], int64_t seconds)
{
	return seconds < 0 ? strcpy(out, "-") : text_uptime(out, seconds);
}

static void write_jvm(const struct ui *ui, struct info *in, int width)
{
	const struct vitals *v = ui->vitals;
	char up[TEXT_NUMBER];

	add_title(in, "JVM");
	add(in, "process", "%d   user %s   up %s%s", v->pid, v->user, ago(up, v->uptime_s),
		v->alive ? "" : "   it has ended");
	add(in, "version", "%s   JDK %s", v->vm, v->jdk);
	add_wrapped(in, "command", *v->command ? v->command : v->name, width);
	add_wrapped(in, "arguments", *v->vm_args ? v->vm_args : "none", width);
	if (*v->vm_flags)
		add_wrapped(in, "flags file", v->vm_flags, width);
}

static const char *tenths(char out[TEXT_NUMBER], int value)
{
	if (value < 0)
		return strcpy(out, "-");
	snprintf(out, TEXT_NUMBER, "%.1f%%", value / 10.0);
	return out;
}

static void write_memory(const struct vitals *v, struct info *in)
{
	char a[TEXT_NUMBER], b[TEXT_NUMBER];

	add_title(in, "MEMORY, THREADS");
	add(in, "heap", "%s used of %s", text_bytes(a, v->heap_used), text_bytes(b, v->heap_max));
	add(in, "resident", "%s", text_bytes(a, v->rss_bytes));
	add(in, "GC pauses", "%s   %s, %.2f s in all   %s of the last 10 s", v->gc_name,
		text_count(a, v->gc_count), v->gc_time_ms < 0 ? 0 : (double)v->gc_time_ms / 1000,
		tenths(b, v->gc_pct_x10));
	if (v->cpu.java_pct >= 0)
		add(in, "CPU", "Java %d%%   compilers %d%%   collector %d%%   kernel %d%%",
			v->cpu.java_pct, v->cpu.jit_pct, v->cpu.gc_pct, v->cpu.kernel_pct);
	if (v->safepoint_count >= 0)
		add(in, "safepoints", "%s, %.2f s in all   %s of the last 10 s",
			text_count(a, v->safepoint_count), (double)v->safepoint_time_ms / 1000,
			tenths(b, v->safepoint_pct_x10));
	else if (v->safepoint_pct_x10 >= 0)
		add(in, "safepoints", "%.1f%% of the last 10 s", v->safepoint_pct_x10 / 10.0);
	add(in, "threads", "%s live, %s of them daemons, %d running",
		text_count(a, v->threads_live), text_count(b, v->threads_daemon),
		v->threads_running);
	add(in, "classes", "%s loaded", text_count(a, v->classes_loaded));
	if (*v->vitals_note)
		add(in, "note", "%s", v->vitals_note);
}

static void write_events(const struct ui *ui, struct info *in, int width)
{
	static const char *const states[] = {"off", "on", "failed"};
	char samples[TEXT_NUMBER], lost[TEXT_NUMBER], interval[TEXT_NUMBER];

	add_title(in, "EVENTS");
	for (int i = 0; i < VITALS_EVENTS && i < PROFILE_EVENTS; i++) {
		const struct vitals_event *e = &ui->vitals->events[i];

		if (!e->state && e->samples <= 0)
			continue;
		add(in, profile_events[i].name, "%s   %s every %s   %s, %s lost",
			states[e->state >= 0 && e->state < 3 ? e->state : 2], e->engine,
			text_interval(interval, e->interval, profile_events[i].weight_is_time),
			text_counted(samples, e->samples, "sample"), text_count(lost, e->lost));
		add_wrapped(in, "", e->note, width);
	}
}

static void write_agent(const struct ui *ui, struct info *in, int width)
{
	const struct vitals *v = ui->vitals;
	char a[TEXT_NUMBER], up[TEXT_NUMBER];

	add_title(in, "AGENT");
	add(in, "cost", "%.1f%% of one core now, %.2f s of CPU in all   attached %s ago",
		v->cost_pct_x10 < 0 ? 0 : v->cost_pct_x10 / 10.0, (double)v->cost_ns / NS_PER_S,
		ago(up, (ui->now_ms - ui->attached_ms) / 1000));
	add(in, "memory", "%s mapped in the JVM; only what is used takes any",
		text_bytes(a, v->agent_bytes));
	add(in, "walker", "%s", v->walker);
	add_wrapped(in, "", v->walker_note, width);
	add_wrapped(in, "", v->agent_note, width);
	add(in, "lost", "%s", text_counted(a, v->lost, "sample"));
	for (int i = 0; i < v->counter_count && i < VITALS_COUNTERS; i++)
		if (v->counters[i].value)
			add(in, "", "%-24s %s", v->counters[i].name,
				text_count(a, v->counters[i].value));
}

static void write_history(const struct ui *ui, struct info *in)
{
	struct profile_info p = profile_info(ui->profile);
	char a[TEXT_NUMBER], b[TEXT_NUMBER];

	add_title(in, "HISTORY");
	add(in, "held", "%u s, of them %u s in steps of 10 s", p.now - p.oldest,
		p.merged_before > p.oldest ? p.merged_before - p.oldest : 0);
	add(in, "stacks", "%s, %s in this program", text_counted(a, p.stacks, "node"),
		text_bytes(b, (int64_t)p.bytes));
}

/* --- showing ----------------------------------------------------------------------------------------- */

static void info_draw(struct ui *ui, struct area area)
{
	struct info *in = info_state(ui);
	struct canvas *c = &ui->canvas;
	int hidden, width = area.cols - LABEL_COLS - 2;

	in->count = 0;
	if (!ui->vitals || !ui->profile)
		return;
	write_jvm(ui, in, width);
	write_memory(ui->vitals, in);
	write_events(ui, in, width);
	write_agent(ui, in, width);
	write_history(ui, in);
	/* Moving scrolls, as in help. */
	hidden = in->count - area.rows;
	list_resize(&in->at.list, (hidden > 0 ? hidden : 0) + 1, 1);
	for (int i = 0; i < area.rows && in->at.list.cursor + i < in->count; i++) {
		const struct info_row *r = &in->rows[in->at.list.cursor + i];

		canvas_text(c, area.row + i, area.col + (r->title ? 1 : 2), area.col + area.cols,
			r->title ? STYLE_STRONG : STYLE_KEY, r->label);
		canvas_text(c, area.row + i, area.col + LABEL_COLS, area.col + area.cols,
			STYLE_NORMAL, r->text);
	}
}

static void info_notice(struct ui *ui, struct strip *s)
{
	const struct info *in = info_state(ui);

	if (in->at.list.cursor < in->at.list.count - 1)
		strip_add(s, STYLE_DIM, 0, "%s more below", ui->glyphs->down)->right = true;
}

unsigned info_show(struct ui *ui, int arg)
{
	enum view_id from = ui->place.view;

	if (from == VIEW_INFO) {
		ui_show(ui, info_state(ui)->from);
		return UI_UPDATE;
	}
	ui_show(ui, VIEW_INFO);
	info_state(ui)->from = from;
	return 0;
}

const struct view view_info = {
	.name = "JVM info",
	.bytes = sizeof(struct info),
	.draw = info_draw,
	.notice = info_notice,
};
