/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live view: one thread, one poll loop, views drawn into a canvas.
 *
 * What the screen needs done outside comes as a const struct app_ops from cli, so that tui knows neither
 * sessions nor files. app_run owns the terminal from the first draw to its return and restores it on
 * every path, signals included.
 */
#ifndef JHOT_TUI_APP_H
#define JHOT_TUI_APP_H

#include "base/err.h"
#include "profile/profile.h"
#include "profile/vitals.h"

#include <stdbool.h>

struct app_jvm { /* a row of the picker */
	int pid;
	char user[40], jdk[64], name[128], attach[16], why[240];
	int cpu_pct; /* -1 = not known yet */
	int64_t rss_bytes, uptime_s;
	int threads;
	bool can_attach;
};

struct app_thread {      /* a row of the threads view, beside the model's */
	uint32_t thread; /* of the profile */
	char state;
	float user_pct, system_pct;
};

struct app_ops {
	/* JVMs for the picker; *out is valid until the next call. Returns the count or -1. */
	int (*list)(void *ctx, const struct app_jvm **out, struct err *err);
	/* Attach and begin with this event; the profile is fresh. -1: err for the error screen. */
	int (*attach)(void *ctx, int pid, int event, struct err *err);
	void (*detach)(void *ctx);
	const struct profile *(*profile)(void *ctx); /* NULL while detached */
	const struct vitals *(*vitals)(void *ctx);
	/* Take in what is new: samples, or -1 when the session is over (data stays). */
	int (*drain)(void *ctx, struct err *err);
	int (*threads)(void *ctx, const struct app_thread **out);
	int (*event_set)(void *ctx, int event, bool on, uint64_t interval, struct err *err);
	/* Write the query to a file; the format by suffix. Fills done with one line for the screen. */
	int (*export)(void *ctx, const char *path, const struct profile_query *q, char *done,
		size_t bytes, struct err *err);
	/* ^Z: stop sampling for now and go on later. */
	void (*park)(void *ctx, bool parked);
	/* Replay with --clock=step: one more second; NULL for live sessions. false at the end. */
	bool (*step)(void *ctx);
};

enum app_charset { APP_CHARSET_AUTO, APP_CHARSET_ASCII, APP_CHARSET_UTF8 };
enum app_color { APP_COLOR_AUTO, APP_COLOR_NEVER, APP_COLOR_16, APP_COLOR_256 };

struct app_options {
	int event;            /* shown first */
	unsigned events;      /* bit per event that can be sampled at all; 0: cpu only */
	uint64_t interval_ms; /* refresh, default 1000 */
	enum app_charset charset;
	enum app_color color;
	int frame_fd;    /* -1, or gets one line after each completed draw (tests) */
	bool clock_step; /* time moves only by ops->step, driven by frames (tests) */
	bool keep;       /* leave the last screen in the scrollback */
	bool attached; /* a session is there already: start in the methods view, not in the picker */
};

/* Returns 0, or -1 with an error that ended the view (printed by the caller after the terminal is back). */
int app_run(
	const struct app_ops *ops, void *ctx, const struct app_options *options, struct err *err);

#endif
