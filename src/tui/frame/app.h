/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live view: one thread, one poll loop, views drawn into a canvas.
 *
 * What the screen needs done outside comes as a const struct app_ops from cli, so that tui knows neither
 * sessions nor files. app_run owns the terminal from the first draw to its return and restores it on
 * every path, signals included.
 */
#ifndef JHOT_TUI_FRAME_APP_H
#define JHOT_TUI_FRAME_APP_H

#include "base/err.h"
#include "base/patience.h"
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

struct config;        /* of tui/frame/config.h */
struct config_values; /* likewise */

struct app_format { /* of a file to be written */
	const char *suffix, *what;
};

struct app_export {
	const char *path; /* the format by its suffix */
	struct profile_query query;
	bool threads;   /* each stack begins with its thread */
	bool overwrite; /* a file of that name may be replaced */
};
#define APP_EXISTS 1 /* what export returns when it may not replace what there is */

struct app_ops {
	/*
	 * JVMs for the picker; *out is valid until the next call. Returns the count or -1. Does not block: ERR_BUSY in
	 * err means that the list is incomplete, or as of last time, so call again soon.
	 */
	int (*list)(void *ctx, const struct app_jvm **out, struct err *err);
	/*
	 * Attach and begin with this event: a fresh profile and vitals. Those before, whose session goes on, stay valid until
	 * forget. -1: err for the error screen, and nothing has changed.
	 */
	int (*attach)(void *ctx, int pid, int event, struct err *err);
	/* Ends the session before the last attach and frees its profile. May be NULL. */
	void (*forget)(void *ctx);
	/*
	 * Whom attach, drain and event_* ask whether to go on, 10 to 100 times a second, while they wait for the JVM: it
	 * handles keys and draws. May be NULL.
	 */
	void (*patience)(void *ctx, const struct patience *patience);
	const struct profile *(*profile)(void *ctx); /* NULL while detached */
	const struct vitals *(*vitals)(void *ctx);
	/* Take in what is new: samples, or -1 when the session is over (data stays). */
	int (*drain)(void *ctx, struct err *err);
	/* One sentence about names of frames that are late or missing, "" if none; valid until the next call. May be NULL. */
	const char *(*names_note)(void *ctx);
	int (*threads)(void *ctx, const struct app_thread **out);
	int (*event_set)(void *ctx, int event, bool on, uint64_t interval, struct err *err);
	/* What somebody should know before this event is switched on, as two or three lines; NULL: nothing. May be NULL. */
	const char *const *(*event_warning)(void *ctx, int event);
	/* Start it anew by the next of its engines: 0; 1 if it has one only; -1, and it goes on by the one it had. May be NULL. */
	int (*event_engine)(void *ctx, int event, struct err *err);
	/* One of perf's events by its name: its number, or -1. It is off. Where all numbers were given out it has that of
	 * another that is off, whose samples are gone. May be NULL. */
	int (*event_add)(void *ctx, const char *name, struct err *err);
	/* Names for event_add that this host has, i from 0 on, NULL behind the last; they stay. May be NULL. */
	const char *(*event_name)(void *ctx, int i);
	const struct app_format *(*formats)(void *ctx); /* ends with suffix NULL */
	/* Write to a file: 0, -1 or APP_EXISTS. Fills done with one line for the screen. */
	int (*export)(void *ctx, const struct app_export *what, char *done, size_t bytes,
		struct err *err);
	/* All there is, into a recording; done as for export. Never over a file that is there: APP_EXISTS. */
	int (*save)(void *ctx, const char *path, char *done, size_t bytes, struct err *err);
	/* Bring these values into the settings file; done as for export. */
	int (*config_write)(void *ctx, const struct config_values *values, char *done, size_t bytes,
		struct err *err);
	/* ^Z: stop sampling for now and go on later. */
	void (*park)(void *ctx, bool parked);
	/* Replay with --clock=step: one more second; NULL for live sessions. false at the end. */
	bool (*step)(void *ctx);
};

enum app_charset { APP_CHARSET_AUTO, APP_CHARSET_ASCII, APP_CHARSET_UTF8 };
enum app_color { APP_COLOR_AUTO, APP_COLOR_NEVER, APP_COLOR_16, APP_COLOR_256 };

struct app_fact {
	const char *label, *text;
};

/* A file that is looked at in place of a JVM. */
struct app_file {
	const char *name, *host;      /* host: "" if not known */
	bool timed;                   /* it tells when its samples were taken */
	bool vitals;                  /* and how the JVM was */
	uint32_t from, to;            /* what of it is shown first, in seconds of the profile */
	bool compared;                /* with what is before that */
	const struct app_fact *facts; /* what else it says; ends with label NULL */
};

struct app_options {
	int event;            /* shown first */
	unsigned events;      /* bit per event that can be sampled at all; 0: cpu only */
	uint64_t interval_ms; /* refresh, default 1000 */
	enum app_charset charset;
	enum app_color color;
	int frame_fd;                /* -1, or gets one line after each completed draw (tests) */
	bool clock_step;             /* time moves only by ops->step, driven by frames (tests) */
	bool keep;                   /* leave the last screen in the scrollback */
	const struct config *config; /* NULL: no settings file */
	bool user_only, kernel_only; /* so is sampled */
	const struct app_file *file; /* NULL: it is a JVM */
	bool recorded;               /* it is a recording, as it was seen: --replay */
	bool attached; /* a session is there already: start in the methods view, not in the picker */
};

/* Returns 0, or -1 with an error that ended the view (printed by the caller after the terminal is back). */
int app_run(
	const struct app_ops *ops, void *ctx, const struct app_options *options, struct err *err);

#endif
