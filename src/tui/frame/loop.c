/* SPDX-License-Identifier: Apache-2.0 */
/* The loop: polls for keys, signals, a writable terminal and the next tick, then draws one frame. */
#include "tui/frame/app.h"

#include "base/clock.h"
#include "tui/frame/command.h"
#include "tui/frame/output.h"
#include "tui/frame/ui.h"
#include "tui/term/signals.h"
#include "tui/term/term.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_MS      2000 /* after a session or event began: short ticks */
#define FIRST_TICK_MS 250
#define EMPTY_TICK_MS 50    /* even shorter until the first sample */
#define PHASE_MS      200   /* offset of ticks from the start of the profile's seconds */
#define DRAIN_MS      10000 /* samples are drained at least this often, at any refresh interval */
#define REPORT_MS     1000

struct app {
	struct ui ui;
	struct terminal *term;
	int signals;
	int frame_fd;
	int64_t tick_ms;
	int64_t begun_ms; /* last seen value of ui.begun_ms */
	uint64_t frames, bytes;
	bool stepped; /* --clock=step: time advances by keys only */
	bool draw, repaint, quit;
	/* state of a blocking wait for the JVM */
	int64_t wait_ms, wait_s; /* its start, and the seconds displayed */
	const char *wait_for;    /* text of the message */
	bool attaching, cancelled;
};

static int64_t app_now(void)
{
	return (int64_t)(clock_mono_ns() / NS_PER_MS);
}

static void app_flush(struct app *app)
{
	bool gone = term_flush(app->term) < 0;
	char line[64];
	int n;

	app->quit |= gone;
	if (gone || term_busy(app->term))
		return;
	/* Report to tests that the terminal has accepted a frame. */
	app->frames++;
	n = snprintf(line, sizeof(line), "frame %llu %llu\n", (unsigned long long)app->frames,
		(unsigned long long)(app->term->bytes - app->bytes));
	app->bytes = app->term->bytes;
	if (app->frame_fd >= 0 && write(app->frame_fd, line, (size_t)n) < 0)
		app->frame_fd = -1;
}

static void app_draw(struct app *app)
{
	if (app->ui.copy) {
		term_copy(app->term, app->ui.copy);
		free(app->ui.copy);
		app->ui.copy = NULL;
	}
	/* A slow terminal gets the current state once it has accepted the last frame. */
	if (term_busy(app->term))
		return;
	ui_draw(&app->ui);
	term_draw(app->term, app->ui.canvas, app->repaint);
	app->draw = app->repaint = false;
	app_flush(app);
}

/* Aligned with the profile's seconds, so that each tick sees exactly one more complete second. */
static int64_t app_next_tick(const struct app *app, int64_t now)
{
	const struct ui *ui = &app->ui;
	int64_t interval =
		(int64_t)ui->interval_ms < DRAIN_MS ? (int64_t)ui->interval_ms : DRAIN_MS;

	if (picker_is_listing(ui)) {
		interval = EMPTY_TICK_MS;
	} else if (now - ui->begun_ms < FIRST_MS) {
		struct profile_query all = profile_whole(ui->scope.event);

		interval = ui->profile && !profile_sum(ui->profile, &all).count ? EMPTY_TICK_MS
										: FIRST_TICK_MS;
	} else if (!ui->profile) {
		interval = 1000;
	} else if (ui->options->file) {
		interval = DRAIN_MS;
	}
	uint64_t start = ui->profile ? profile_info(ui->profile).start_wall_ns : 0;
	if (!start || interval % 1000)
		return now + interval;
	int64_t into = (int64_t)((clock_wall_ns() - start) / NS_PER_MS) % 1000 - PHASE_MS;
	/* Less than half a second early: skip to the next second. */
	return now + interval - into + (into > 500 ? 1000 : 0);
}

/* Timeout for poll, in ms; -1: none. */
static int app_timeout(const struct app *app)
{
	int64_t now = app_now(), until = app->tick_ms, wake = ui_wake_ms(&app->ui);

	if (ui_busy(&app->ui))
		return 0;
	if (app->stepped)
		until = -1;
	if (wake >= 0 && (until < 0 || wake < until))
		until = wake;
	if (until < 0)
		return -1;
	return until <= now ? 0 : (int)(until - now);
}

static void app_suspend(struct app *app)
{
	if (app->ui.profile && !app->ui.ended)
		app->ui.ops->park(app->ui.ctx, true);
	term_suspend(app->term);
	signals_stop();
	term_resume(app->term);
	if (app->ui.profile && !app->ui.ended)
		app->ui.ops->park(app->ui.ctx, false);
	app->draw = app->repaint = true;
}

static void app_signals(struct app *app)
{
	int rows, cols;

	for (int number; (number = signals_next()) != 0;) {
		switch (number) {
		case SIGWINCH:
			term_size(app->term, &rows, &cols);
			if (rows == app->ui.canvas->rows && cols == app->ui.canvas->cols)
				break;
			ui_resize(&app->ui, rows, cols);
			app->draw = true;
			break;
		case SIGTSTP: app_suspend(app); break;
		case SIGCONT: /* also after SIGSTOP, which cannot be caught */
			term_resume(app->term);
			app->draw = app->repaint = true;
			break;
		default: app->quit = true; break;
		}
	}
}

static void app_react(struct app *app, unsigned reaction)
{
	static const char *const colors[THEME_DEPTHS] = {"no colors", "16 colors", "256 colors"};
	enum theme_depth before = app->term->depth;

	if (app->ui.begun_ms != app->begun_ms)
		app->tick_ms = app_next_tick(app, app_now());
	app->begun_ms = app->ui.begun_ms;
	app->quit = app->quit || reaction & UI_QUIT;
	/* Cycles through the color depths that the terminal supports. */
	if (reaction & UI_COLORS) {
		term_set_color(app->term, (enum theme_depth)((before + 1) % THEME_DEPTHS));
		if (app->term->depth == before)
			term_set_color(app->term, THEME_MONO);
		app->ui.depth = app->term->depth;
		ui_notify(&app->ui, STYLE_NORMAL, UI_MESSAGE_MS, "%s", colors[app->ui.depth]);
	}
	if (reaction & UI_MOUSE)
		term_set_mouse(app->term, app->ui.mouse);
	if (reaction & (UI_REPAINT | UI_COLORS))
		app->repaint = true;
	if (reaction & UI_SUSPEND)
		app_suspend(app);
}

static void app_keys(struct app *app)
{
	for (int key;
		(key = keys_next(&app->term->keys, app->term->in)) != TKEY_NONE && !app->quit;) {
		struct mouse_click click = app->term->keys.click;

		app->draw = true;
		app_react(app, key == TKEY_MOUSE ? ui_mouse(&app->ui, click.button, click.row,
							   click.col, app_now())
						 : ui_key(&app->ui, key, app_now()));
	}
}

/*
 * Called while waiting for the JVM: shows the elapsed time, handles keys and signals. Returns false to cancel. Esc cancels
 * the wait and drops queued keys. Ctrl-C ends the view, and so does q unless it could be text. While attaching, q cancels
 * as well and other keys are dropped; otherwise they are queued.
 */
static bool app_keep_waiting(void *ctx)
{
	struct app *app = ctx;
	struct pollfd in = {.fd = app->term->in, .events = POLLIN};
	int64_t s = (app_now() - app->wait_ms) / 1000;

	app_signals(app);
	poll(&in, 1, 0);
	for (int key; (in.revents & POLLIN) &&
		      (key = keys_next(&app->term->keys, app->term->in)) != TKEY_NONE;) {
		if (key == TKEY_ESC || (key == 'q' && app->attaching)) {
			app->cancelled = true;
			app->ui.job.key_count = 0;
		} else if (key == TKEY_CTRL('c') || (key == 'q' && !app->ui.job.key_count)) {
			app->quit = true;
		} else if (key != TKEY_MOUSE && !app->attaching) {
			ui_queue_key(&app->ui, key);
		}
	}
	app->quit |= (in.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
	if (s > app->wait_s) {
		ui_notify(&app->ui, STYLE_NORMAL, UI_STAY, "%s ... %lld s   Esc cancels",
			app->ui.waits_for ? app->ui.waits_for : app->wait_for, (long long)s);
		app->wait_s = s;
		app->draw = true;
	}
	if (term_busy(app->term))
		app_flush(app);
	if (app->draw && !app->quit)
		app_draw(app);
	return !app->quit && !app->cancelled;
}

static void app_wait_begin(struct app *app, const char *what)
{
	app->wait_ms = app_now();
	app->wait_s = 0;
	app->wait_for = what;
	app->cancelled = false;
}

/* Hides the message about waiting, unless another one has replaced it. */
static void app_wait_end(struct app *app)
{
	struct ui_message *message = &app->ui.message;

	if (app->wait_s && strstr(message->text, " s   Esc cancels")) {
		message->shown = false;
		app->draw = true;
	}
	app->wait_s = 0;
}

static void app_attach(struct app *app)
{
	char what[40];

	snprintf(what, sizeof(what), "attaching to %d", app->ui.attach_pid);
	app_wait_begin(app, what);
	app->attaching = true;
	ui_attach(&app->ui, app->ui.attach_pid);
	app->attaching = false;
	app_wait_end(app);
	app->tick_ms = app->ui.begun_ms = app_now();
	app->draw = true;
}

/* One round: wait, handle input and time, draw. */
static void app_round(struct app *app)
{
	struct pollfd fds[] = {
		{.fd = app->term->in, .events = POLLIN},
		{.fd = app->signals, .events = POLLIN},
		{.fd = term_busy(app->term) ? app->term->out : -1, .events = POLLOUT},
	};
	int timeout = app->draw && !term_busy(app->term) ? 0 : app_timeout(app);

	if (poll(fds, 3, timeout) < 0 && errno != EINTR)
		app->quit = true;
	app_wait_begin(app, "waiting for the JVM");
	app_signals(app);
	if (fds[2].revents)
		app_flush(app);
	if (fds[0].revents & POLLIN)
		app_keys(app);
	if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
		app->quit = true;
	int64_t now = app_now();
	if (!app->stepped && now >= app->tick_ms) {
		ui_tick(&app->ui, now);
		app->tick_ms = app_next_tick(app, now);
		app->draw = true;
	} else if (ui_wake_ms(&app->ui) >= 0 && now >= ui_wake_ms(&app->ui)) {
		app->draw |= ui_expire(&app->ui, now);
	}
	if (ui_busy(&app->ui) && !app->draw) {
		app_react(app, ui_work(&app->ui));
		app->draw = !ui_busy(&app->ui);
	}
	app_wait_end(app);
	if (app->draw && !app->quit)
		app_draw(app);
	if (app->ui.attach_pid && !app->quit)
		app_attach(app);
}

int app_run(
	const struct app_ops *ops, void *ctx, const struct app_options *options, struct err *err)
{
	struct app app = {.frame_fd = options->frame_fd, .stepped = options->clock_step};
	struct pollfd report = {.fd = STDERR_FILENO, .events = POLLOUT};
	int rows, cols;

	app.signals = signals_open();
	if (app.signals < 0)
		return err_set_errno(err, ERR_FAILED, "The live view cannot start");
	app.term = term_open(options, err);
	if (!app.term) {
		signals_close();
		return -1;
	}
	term_size(app.term, &rows, &cols);
	ui_init(&app.ui, ops, ctx, options, app.term->ascii);
	if (ops->patience)
		ops->patience(ctx, &(const struct patience){app_keep_waiting, &app});
	app.ui.job.measure_cost = true;
	app.ui.job.slice = options->clock_step ? 0 : UI_SLICE;
	app.ui.depth = app.ui.depth_begin = app.term->depth;
	term_set_mouse(app.term, app.ui.mouse);
	ui_resize(&app.ui, rows, cols);
	app.ui.begun_ms = app.tick_ms = app_now();
	app.draw = true;
	while (!app.quit)
		app_round(&app);
	const char *saved = output_end(&app.ui);
	term_close(app.term, options->keep ? app.ui.canvas : NULL);
	/* Skipped when the terminal does not accept output. */
	if (*saved && poll(&report, 1, REPORT_MS) > 0 && report.revents & POLLOUT)
		fprintf(stderr, "%s\n", saved);
	ui_done(&app.ui);
	if (ops->patience)
		ops->patience(ctx, &(const struct patience){0});
	signals_close();
	return 0;
}
