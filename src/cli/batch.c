/* SPDX-License-Identifier: Apache-2.0 */
/* Prints screens one after the other: the counterpart of tui/frame/loop.c for output that is not a terminal. */
#include "cli/batch.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/json.h"
#include "cli/findings.h"
#include "cli/line/units.h"
#include "profile/query/error.h"
#include "profile/table/flat.h"
#include "tui/frame/command.h"
#include "tui/frame/findings.h"
#include "tui/frame/ui.h"
#include "tui/term/signals.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define ROWS        50
#define COLS        132
#define DRAIN_MS    5000
#define FIRST_MS    10000
#define LIST_MS     15000
#define POLL_MS     50
#define SCREENS_MAX 999999999

/* --- options ----------------------------------------------------------------------------------------- */

static int env_number(const char *name, int otherwise)
{
	const char *text = getenv(name);
	int n = text ? atoi(text) : 0;

	return n > 0 && n <= 1000 ? n : otherwise;
}

int batch_options(struct batch *b, const struct args *args, struct err *err)
{
	const char *count = args_get(args, OPT_SCREENS), *size = args_get(args, OPT_DUMP_SCREEN);
	struct winsize ws = {0};
	int used = 0;

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws);
	*b = (struct batch){.json = args_has(args, OPT_JSON),
		.last = size != NULL,
		.keys = args_get(args, OPT_KEYS),
		.rows = env_number("LINES", ws.ws_row ? ws.ws_row : ROWS),
		.cols = env_number("COLUMNS", ws.ws_col ? ws.ws_col : COLS)};
	b->wanted = args_has(args, OPT_BATCH) || b->json || b->last;
	if (count && units_count(count, "--count", SCREENS_MAX, &b->count, err))
		return -1;
	if (size && !count && !args_has(args, OPT_REPLAY))
		b->count = 1; /* a live session has no last screen */
	if (size && (sscanf(size, "%dx%d%n", &b->cols, &b->rows, &used) != 2 || size[used] ||
			    b->cols < 1 || b->rows < 1 || b->cols > 1000 || b->rows > 1000))
		return err_set(err, ERR_USAGE,
			"--dump-screen takes COLUMNSxROWS, such as 80x24, not \"%s\".", size);
	if (b->json && b->last)
		return err_set(err, ERR_USAGE, "--json and --dump-screen cannot be used together.");
	if (count && !b->wanted)
		return err_set(
			err, ERR_USAGE, "--count needs -b or --json: jhot top -b -n %s.", count);
	return 0;
}

static void json_event(struct json *j, const struct ui *ui, int event)
{
	const struct vitals_event *v = &ui->vitals->events[event];
	struct profile_query q = ui_query(ui);

	q.event = event;
	struct flat *flat = flat_new(ui->profile, &q);
	qsort(flat->rows, flat->count, sizeof(*flat->rows), flat_compare);
	json_begin(j, NULL, '{');
	json_str(j, "event", profile_get_event(ui->profile, event)->name);
	json_str(j, "unit", profile_get_event(ui->profile, event)->unit);
	json_str(j, "engine", v->engine);
	json_int(j, "interval", v->interval);
	json_int(j, "samples", (int64_t)flat->sum_count);
	json_int(j, "value", (int64_t)flat->sum);
	json_num(j, "coarse_pct",
		flat_percent(profile_no_inlining(ui->profile, &q).weight,
			profile_sum(ui->profile, &q).weight));
	if (event == EVENT_CPU) {
		struct profile_explained e =
			profile_explained(ui->profile, &q, ui->vitals->threads_live);

		/* NAN, printed as null: unknown is not 0 %. */
		json_num(j, "explains_pct",
			e.process_ns ? flat_percent(e.sampled_ns, e.process_ns) : NAN);
	}
	json_int(j, "lost", v->lost);
	json_begin(j, "methods", '[');
	for (uint32_t i = 0; i < flat->count; i++) {
		const struct flat_row *r = &flat->rows[i];
		char type[2] = {frame_types[r->type].letter, '\0'};
		json_begin(j, NULL, '{');
		json_str(j, "name", profile_get_method(ui->profile, r->method)->full);
		json_str(j, "type", type);
		json_int(j, "self", (int64_t)r->self);
		json_int(j, "total", (int64_t)r->total);
		json_int(j, "self_samples", (int64_t)r->self_count);
		json_int(j, "total_samples", (int64_t)r->total_count);
		json_num(j, "self_pct", flat_percent(r->self, flat->sum));
		json_num(j, "self_error_pct",
			error_half_width(flat_percent(r->self, flat->sum) / 100, r->self_samples));
		json_num(j, "total_pct", flat_percent(r->total, flat->sum));
		json_end(j, '}');
	}
	json_end(j, ']');
	json_end(j, '}');
	flat_free(flat);
}

/* The list of instances. */
static void print_json_list(const struct ui *ui)
{
	const struct app_jvm *rows = NULL;
	struct buf out = {0};
	struct json j = {.out = &out};
	int count = ui->ops->list(ui->ctx, &rows, NULL);

	json_begin(&j, NULL, '{');
	json_int(&j, "time_ns", (int64_t)clock_wall_ns());
	json_begin(&j, "jvms", '[');
	for (int i = 0; i < count; i++) {
		const struct app_jvm *row = &rows[i];

		json_begin(&j, NULL, '{');
		json_int(&j, "pid", row->pid);
		json_str(&j, "name", row->name);
		json_str(&j, "jdk", row->jdk);
		json_bool(&j, "sampled", row->can_attach);
		json_int(&j, "cpu_pct", row->cpu_pct);
		json_int(&j, "heap_used", row->heap_used);
		json_int(&j, "heap_max", row->heap_max);
		json_num(&j, "gc_pause_pct", row->gc_pct_x10 < 0 ? -1 : row->gc_pct_x10 / 10.0);
		json_str(&j, "hottest", row->hot_pct < 0 ? NULL : row->hot);
		json_int(&j, "hottest_pct", row->hot_pct);
		json_str(&j, "verdict", row->verdict);
		json_str(&j, "why", row->why);
		json_end(&j, '}');
	}
	json_end(&j, ']');
	json_end(&j, '}');
	json_print(&j, stdout);
}

static void print_json(const struct ui *ui, const struct events *events)
{
	const struct vitals *v = ui->vitals;
	struct profile_query q = ui_query(ui);
	struct profile_info info = profile_info(ui->profile);
	struct buf out = {0};
	struct json j = {.out = &out};

	json_begin(&j, NULL, '{');
	json_int(&j, "time_ns", (int64_t)(info.start_wall_ns + (uint64_t)q.to * NS_PER_S));
	json_int(&j, "pid", v->pid);
	json_str(&j, "name", v->name);
	json_str(&j, "jdk", v->jdk);
	json_int(&j, "window_s", profile_covered(ui->profile, &q));
	json_bool(&j, "ended", ui->ended);
	json_int(&j, "cpu_pct", v->cpu_pct);
	json_int(&j, "cpu_java_pct", v->cpu.java_pct);
	json_int(&j, "cpu_jit_pct", v->cpu.jit_pct);
	json_int(&j, "cpu_gc_pct", v->cpu.gc_pct);
	json_int(&j, "cpu_kernel_pct", v->cpu.kernel_pct);
	json_num(&j, "gc_pause_pct", v->gc_pct_x10 < 0 ? -1 : v->gc_pct_x10 / 10.0);
	json_int(&j, "heap_used", v->heap_used);
	json_int(&j, "heap_max", v->heap_max);
	json_int(&j, "threads", v->threads_live);
	json_int(&j, "lost", v->lost);
	json_num(&j, "self_cost_pct", v->cost_pct_x10 < 0 ? -1 : v->cost_pct_x10 / 10.0);
	json_begin(&j, "findings", '[');
	for (unsigned i = 0; i < ui->findings->count; i++)
		finding_json(&j, ui->profile, &ui->findings->list[i].finding);
	json_end(&j, ']');
	json_begin(&j, "events", '[');
	for (int i = 0; i < events->count; i++)
		json_event(&j, ui, events->ids[i]);
	json_end(&j, ']');
	json_end(&j, '}');
	json_print(&j, stdout);
}

/* --- text -------------------------------------------------------------------------------------------- */

/* whole: with the key line and trailing blank lines. */
static void print_text(struct ui *ui, bool whole)
{
	struct canvas *c = ui->canvas;
	struct buf out = {0};
	int rows = c->rows;

	c->rows -= !whole && rows > 1;
	canvas_dump(c, &out, false);
	c->rows = rows;
	while (!whole && out.len > 1 && out.data[out.len - 2] == '\n')
		out.data[--out.len] = '\0';
	fputs(buf_str(&out), stdout);
	if (!whole)
		putchar('\n');
	buf_done(&out);
}

/* --- the run ----------------------------------------------------------------------------------------- */

struct run {
	const struct batch *b;
	const struct events *events;
	struct ui ui;
	int signals;
	int64_t now_ms;
	bool stepped, end;
};

static void run_signals(struct run *r)
{
	for (int signo; (signo = signals_next()) != 0;) {
		if (signo == SIGTSTP) {
			r->ui.ops->park(r->ui.ctx, true);
			signals_stop();
			r->ui.ops->park(r->ui.ctx, false);
		} else if (signo != SIGWINCH && signo != SIGCONT) {
			r->end = true;
		}
	}
}

static void run_poll(struct run *r, int ms)
{
	struct pollfd p = {.fd = r->signals, .events = POLLIN};

	if (poll(&p, 1, ms) < 0 && errno != EINTR)
		r->end = true;
	run_signals(r);
	r->now_ms = (int64_t)(clock_mono_ns() / NS_PER_MS);
}

/* A live session: sleeps until the next refresh is due or a signal ends the run. */
static void run_wait(struct run *r)
{
	int64_t due = r->now_ms + (int64_t)r->ui.interval_ms;

	while (!r->end && r->now_ms < due) {
		int64_t left = due - r->now_ms;
		struct err err;

		run_poll(r, left < DRAIN_MS ? (int)left : DRAIN_MS);
		/* Without drains the lease would expire. The next refresh reports the error. */
		if (left > DRAIN_MS && r->ui.ops->drain(r->ui.ctx, &err) < 0)
			break;
	}
}

/*
 * Waits until the first screen of a live session can cover one whole interval of samples, or until
 * the list of instances is complete, at most FIRST_MS or LIST_MS beyond the interval, in case the
 * JVM delivers none.
 */
static void run_first(struct run *r)
{
	uint32_t wanted = r->ui.interval_ms < 1000 ? 1 : (uint32_t)(r->ui.interval_ms / 1000);

	run_wait(r);
	for (int64_t end = r->now_ms + LIST_MS; !r->ui.profile && !r->end && r->now_ms < end;) {
		ui_tick(&r->ui, r->now_ms);
		if (!picker_is_listing(&r->ui))
			return;
		run_poll(r, POLL_MS);
	}
	for (int64_t end = r->now_ms + FIRST_MS; r->ui.profile && !r->end && r->now_ms < end;) {
		ui_tick(&r->ui, r->now_ms);
		struct profile_query q = ui_query(&r->ui);
		uint32_t covered = profile_covered(r->ui.profile, &q);
		if (covered &&
			q.to > profile_info(r->ui.profile).now) /* the second that still runs */
			covered--;
		if (r->ui.ended || covered >= wanted)
			break;
		run_poll(r, POLL_MS);
	}
}

/* A recording: advances it by one interval without waiting. The view is ticked for each second, as it was live. */
static void run_steps(struct run *r)
{
	int steps = (int)((r->ui.interval_ms + 999) / 1000);

	run_signals(r);
	for (int i = 0; i < steps && !r->end; i++) {
		r->end |= !r->ui.ops->step(r->ui.ctx);
		r->now_ms += 1000;
		if (i + 1 < steps)
			ui_tick(&r->ui, r->now_ms);
	}
}

static void run_screens(struct run *r)
{
	for (unsigned n = 0; !r->end && (!r->b->count || n < r->b->count); n++) {
		if (r->ui.options->file)
			run_signals(r);
		else if (r->stepped)
			run_steps(r);
		else if (!n)
			run_first(r);
		else
			run_wait(r);
		ui_tick(&r->ui, r->now_ms);
		for (const char *k = n ? NULL : r->b->keys; k && *k && !r->end; k++)
			r->end |= (ui_key(&r->ui, *k == '\n' ? TKEY_ENTER : *k, r->now_ms) &
					  UI_QUIT) != 0;
		r->end |= r->ui.ended;
		if (r->b->last || (r->end && !r->ui.ended && !r->stepped))
			continue;
		ui_draw(&r->ui);
		if (r->b->json && !r->ui.profile)
			print_json_list(&r->ui);
		else if (r->b->json)
			print_json(&r->ui, r->events);
		else
			print_text(&r->ui, false);
		r->end |= fflush(stdout) != 0;
	}
	if (r->b->last) {
		ui_draw(&r->ui);
		print_text(&r->ui, true);
	}
}

int batch_run(const struct batch *b, const struct app_ops *ops, void *ctx,
	const struct app_options *screen, const struct events *events, struct err *err)
{
	bool ascii = screen->charset == APP_CHARSET_ASCII ||
		     (screen->charset == APP_CHARSET_AUTO && !env_is_utf8());
	struct run r = {.b = b,
		.events = events,
		.stepped = screen->clock_step,
		.now_ms = (int64_t)(clock_mono_ns() / NS_PER_MS)};
	int rc = 0;

	r.signals = signals_open();
	if (r.signals < 0)
		return err_set_errno(err, ERR_FAILED, "Cannot receive signals");
	ui_init(&r.ui, ops, ctx, screen, ascii);
	ui_resize(&r.ui, b->rows, b->cols);
	run_screens(&r);
	if (r.ui.ended && b->count && r.ui.error.kind == ERR_GONE && !r.stepped) {
		*err = r.ui.error;
		rc = -1;
	}
	ui_done(&r.ui);
	signals_close();
	return rc;
}
