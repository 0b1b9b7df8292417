/* SPDX-License-Identifier: Apache-2.0 */
/* The info view: the JVM, its memory, the events, the cost of sampling, the history. */
#include "tui/frame/ui.h"

#include "base/buf.h"
#include "base/clock.h"
#include "tui/frame/command.h"
#include "tui/frame/file.h"
#include "tui/screen/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_COLS 14

struct info {
	struct page page;
	enum view_id from;
	/* Only of a file, whose last vitals may be older than its last samples. */
	uint64_t samples[VITALS_EVENTS];
};

static void add_title(struct page *p, const char *title)
{
	p->rows += p->rows > 0;
	canvas_text(&p->canvas, p->rows++, 1, p->canvas.cols, STYLE_STRONG, title);
}

__attribute__((format(printf, 3, 4))) static void add(
	struct page *p, const char *label, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	canvas_text(&p->canvas, p->rows, 2, p->canvas.cols, STYLE_KEY, label);
	canvas_text(&p->canvas, p->rows++, LABEL_COLS, p->canvas.cols, STYLE_NORMAL, text);
}

static void add_text(struct page *p, const char *label, const char *text)
{
	struct area rest = {
		p->rows, LABEL_COLS, p->canvas.rows - p->rows, p->canvas.cols - LABEL_COLS - 2};

	if (*text)
		canvas_text(&p->canvas, p->rows, 2, p->canvas.cols, STYLE_KEY, label);
	p->rows = canvas_wrapped(&p->canvas, rest, 0, STYLE_NORMAL, text);
}

static void write_jvm(const struct ui *ui, struct page *p)
{
	const struct vitals *v = ui->vitals;
	char up[TEXT_NUMBER];

	add_title(p, "JVM");
	add(p, "process", "%d   user %s   up %s%s", v->pid, v->user, text_uptime(up, v->uptime_s),
		v->alive ? "" : "   ended");
	add(p, "version", "%s   JDK %s", v->vm, v->jdk);
	add_text(p, "command", *v->command ? v->command : v->name);
	add_text(p, "arguments", *v->vm_args ? v->vm_args : "none");
	if (*v->vm_flags)
		add_text(p, "flags file", v->vm_flags);
}

static const char *tenths(char out[TEXT_NUMBER], int value)
{
	if (value < 0)
		return strcpy(out, "-");
	snprintf(out, TEXT_NUMBER, "%.1f%%", value / 10.0);
	return out;
}

static void write_memory(const struct vitals *v, struct page *p)
{
	char a[TEXT_NUMBER], b[TEXT_NUMBER];

	add_title(p, "MEMORY, THREADS");
	add(p, "heap", "%s used of %s", text_bytes(a, v->heap_used), text_bytes(b, v->heap_max));
	add(p, "resident", "%s", text_bytes(a, v->rss_bytes));
	add(p, "GC pauses", "%s   %s, %.2f s in total   %s of the last 10 s", v->gc_name,
		text_count(a, v->gc_count), v->gc_time_ms < 0 ? 0 : (double)v->gc_time_ms / 1000,
		tenths(b, v->gc_pct_x10));
	if (v->cpu.java_pct >= 0)
		add(p, "CPU", "Java %d%%   compilers %d%%   collector %d%%   kernel %d%%",
			v->cpu.java_pct, v->cpu.jit_pct, v->cpu.gc_pct, v->cpu.kernel_pct);
	if (v->safepoint_count >= 0)
		add(p, "safepoints", "%s, %.2f s in total   %s of the last 10 s",
			text_count(a, v->safepoint_count), (double)v->safepoint_time_ms / 1000,
			tenths(b, v->safepoint_pct_x10));
	else if (v->safepoint_pct_x10 >= 0)
		add(p, "safepoints", "%.1f%% of the last 10 s", v->safepoint_pct_x10 / 10.0);
	add(p, "threads", "%s live, %s daemons, %d running", text_count(a, v->threads_live),
		text_count(b, v->threads_daemon), v->threads_running);
	add(p, "classes", "%s loaded", text_count(a, v->classes_loaded));
	if (v->code_max > 0)
		add(p, "code cache", "%s of %s", text_bytes(a, v->code_used),
			text_bytes(b, v->code_max));
	if (*v->vitals_note)
		add(p, "note", "%s", v->vitals_note);
}

static void info_update(const struct ui *ui, bool sort)
{
	struct info *info = ui_state(ui, VIEW_INFO);

	for (int i = 0; ui->options->file && i < VITALS_EVENTS && i < PROFILE_EVENTS; i++) {
		struct profile_query all = profile_whole(i);

		info->samples[i] = profile_sum(ui->profile, &all).count;
	}
}

static void write_events(const struct ui *ui, struct page *p)
{
	static const char *const states[] = {"off   ", "on   ", "failed   "};
	const struct info *info = ui_state(ui, VIEW_INFO);
	char samples[TEXT_NUMBER], lost[TEXT_NUMBER], interval[TEXT_NUMBER];

	add_title(p, "EVENTS");
	for (int i = 0; i < VITALS_EVENTS && i < PROFILE_EVENTS; i++) {
		const struct vitals_event *e = &ui->vitals->events[i];
		int64_t count = ui->options->file ? (int64_t)info->samples[i] : e->samples;

		if (!e->state && count <= 0)
			continue;
		text_interval(
			interval, e->interval, profile_get_event(ui->profile, i)->weight_is_time);
		add(p, profile_get_event(ui->profile, i)->name, "%s%s%s%s%s%s%s, %s lost",
			ui->options->file ? ""
					  : states[e->state >= 0 && e->state < 3 ? e->state : 2],
			e->engine, e->interval > 1 && *e->engine ? " " : "",
			e->interval > 1 ? "every " : "", e->interval > 1 ? interval : "",
			*e->engine || e->interval > 1 ? "   " : "",
			text_counted(samples, count, "sample"), text_count(lost, e->lost));
		add_text(p, "", e->note);
	}
}

static void write_agent(const struct ui *ui, struct page *p)
{
	const struct vitals *v = ui->vitals;
	char a[TEXT_NUMBER], up[TEXT_NUMBER], since[40] = "";

	if (!ui->options->file)
		snprintf(since, sizeof(since), "   attached %s ago",
			text_uptime(up, (ui->now_ms - ui->attached_ms) / 1000));
	add_title(p, "AGENT");
	if (*ui_owner(ui))
		add(p, "session", "owned by %s; watched here", ui_owner(ui));
	add(p, "cost", "%.1f%% of one core %s, %.2f s of CPU in total%s",
		v->cost_pct_x10 < 0 ? 0 : v->cost_pct_x10 / 10.0,
		ui->options->file ? "at the end" : "now", (double)v->cost_ns / NS_PER_S, since);
	add(p, "memory", "%s mapped in the JVM; only touched pages use memory",
		text_bytes(a, v->agent_bytes));
	add(p, "walker", "%s", v->walker);
	add_text(p, "", v->walker_note);
	add_text(p, "", v->agent_note);
	add_text(p, "", ui->names_note);
	add(p, "lost", "%s", text_counted(a, v->lost, "sample"));
	for (int i = 0; i < v->counter_count && i < VITALS_COUNTERS; i++)
		if (v->counters[i].value)
			add(p, "", "%-24s %s", v->counters[i].name,
				text_count(a, v->counters[i].value));
}

static void info_draw(const struct ui *ui, struct area area)
{
	struct page *p = ui_state(ui, VIEW_INFO);
	char nodes[TEXT_NUMBER], bytes[TEXT_NUMBER];

	if (!ui->vitals || !ui->profile)
		return;
	page_begin(ui, p);
	if (ui->options->file) {
		add_title(p, "FILE");
		for (const struct app_fact *f = ui->options->file->facts; f->label; f++)
			add_text(p, f->label, f->text);
	} else {
		write_jvm(ui, p);
	}
	if (file_has_vitals(ui))
		write_memory(ui->vitals, p);
	write_events(ui, p);
	if (file_has_vitals(ui))
		write_agent(ui, p);
	struct profile_info h = profile_info(ui->profile);
	add_title(p, "HISTORY");
	add(p, "retained", "%u s, of which %u s in steps of 10 s", h.now - h.oldest,
		h.merged_before > h.oldest ? h.merged_before - h.oldest : 0);
	add(p, "stacks", "%s, %s of jhot's memory", text_counted(nodes, h.stacks, "node"),
		text_bytes(bytes, (int64_t)h.bytes));
	page_draw(ui, p, area);
}

static void info_notice(const struct ui *ui, struct strip *s)
{
	const struct list *l = ui_list(ui);

	if (l->cursor < l->count - 1)
		strip_add(s, STYLE_DIM, 0, "%s more below", ui->glyphs->down)->right = true;
}

unsigned info_show(struct ui *ui, int arg)
{
	const struct info *info = ui_state(ui, VIEW_INFO);
	enum view_id from = ui->view;

	ui_show(ui, from == VIEW_INFO ? info->from : VIEW_INFO);
	if (from != VIEW_INFO)
		((struct info *)ui_state(ui, VIEW_INFO))->from = from;
	return UI_UPDATE;
}

const struct view view_info = {
	.name = "JVM info",
	.bytes = sizeof(struct info),
	.done = page_done,
	.update = info_update,
	.draw = info_draw,
	.notice = info_notice,
};
