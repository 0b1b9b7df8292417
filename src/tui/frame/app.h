/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live view: one thread, one poll loop, views drawn into a canvas.
 *
 * cli provides a const struct app_ops for everything beyond the screen, so tui depends neither on sessions nor on
 * files. app_run owns the terminal from the first draw until it returns and restores it on every path, including
 * fatal signals. Single-threaded: all callbacks run on the thread that called app_run.
 */
#ifndef JHOT_TUI_FRAME_APP_H
#define JHOT_TUI_FRAME_APP_H

#include "base/err.h"
#include "base/patience.h"
#include "profile/profile.h"
#include "profile/vitals.h"

#include <stdbool.h>

struct app_jvm { /* a row of the picker */
	int id;  /* unique among the rows; for attach */
	int pid; /* 0: not known yet */
	char user[40], jdk[64], name[128], attach[16], why[240];
	int cpu_pct; /* -1: not known yet */
	int64_t rss_bytes, uptime_s;
	int threads;
	bool can_attach;
	/* Only in a list of instances (app_options). Figures are of the last seconds; -1: not known. */
	bool shown; /* its profile is the one that is shown */
	int64_t heap_used, heap_max;
	int gc_pct_x10, hot_pct;
	char hot[128]; /* the hottest method */
	/* The worst finding, "ok", or why there are no figures; `why` has the sentence. */
	char verdict[16];
};

struct app_thread {      /* kernel data for a row of the threads view */
	uint32_t thread; /* id in the profile */
	char state;
	float user_pct, system_pct;
};

struct config;        /* tui/frame/config.h */
struct config_values; /* likewise */

struct app_format { /* an export format */
	const char *suffix, *what;
};

struct app_export {
	const struct profile *profile; /* written in place of the session's; NULL: the session's */
	const char *path;              /* its suffix selects the format */
	struct profile_query query;
	bool threads;   /* the root frame of each stack is its thread */
	bool overwrite; /* replace an existing file */
};
#define APP_EXISTS 1 /* returned by export and save: the file exists and was not overwritten */

struct app_ops {
	/*
	 * JVMs for the picker. *out is valid until the next call. Returns the count or -1. Does not block: ERR_BUSY in
	 * err means that the list is incomplete or stale; call again soon.
	 */
	int (*list)(void *ctx, const struct app_jvm **out, struct err *err);
	/*
	 * Attaches to the JVM of a row of the list, by its id, and starts sampling this event, with a new
	 * profile and vitals. The previous session keeps running, and its profile stays valid, until forget.
	 * Blocks, calling patience. Returns 0, or -1 with err filled; then nothing has changed.
	 */
	int (*attach)(void *ctx, int id, int event, struct err *err);
	/* Ends the session before the last attach and frees its profile. May be NULL. */
	void (*forget)(void *ctx);
	/*
	 * Registers the callback that attach, drain and event_* call 10 to 100 times a second while they wait
	 * for the JVM. It handles keys, draws, and returns false to cancel the operation. May be NULL.
	 */
	void (*patience)(void *ctx, const struct patience *patience);
	const struct profile *(*profile)(void *ctx); /* NULL while detached */
	const struct vitals *(*vitals)(void *ctx);
	/* Adds new samples to the profile. Returns -1 when the session has ended; the data stays valid. */
	int (*drain)(void *ctx, struct err *err);
	/*
	 * The owner of a session that this process only watches, "jhot process 31"; "" if this process owns it. Samples of a
	 * watched session need not be saved. Valid until the next attach. May be NULL.
	 */
	const char *(*owner)(void *ctx);
	/* A sentence about frames whose names are late or missing, "" if none; valid until the next call. May be NULL. */
	const char *(*names_note)(void *ctx);
	/* CPU use of the living threads. Returns their number, 0 if unknown; *out is valid until the next call. */
	int (*threads)(void *ctx, const struct app_thread **out);
	/*
	 * Switches an event on, with this interval (in its unit; 0: the last or the default one), or off. Returns 0, or
	 * -1 with err filled. May block, calling patience.
	 */
	int (*event_set)(void *ctx, int event, bool on, uint64_t interval, struct err *err);
	/*
	 * Two or three lines to confirm before this event is switched on, ending with NULL; NULL: no warning.
	 * May be NULL.
	 */
	const char *const *(*event_warning)(void *ctx, int event);
	/*
	 * Restarts the event with its next engine. Returns 1 if it has only one; on -1 the current one keeps
	 * running. May be NULL.
	 */
	int (*event_engine)(void *ctx, int event, struct err *err);
	/* Adds a perf event by name, switched off. Returns its id, or -1. When all ids are in use it reuses that of an event
	 * that is off and discards that event's samples. May be NULL. */
	int (*event_add)(void *ctx, const char *name, struct err *err);
	/*
	 * Discards the profile's calls (profile/calls) and measures those of a method,
	 * "com.shop.Gateway.handle"; "": stops measuring. Requires the event wall. *begin_ns: when it began,
	 * since second 0. May block, calling patience. May be NULL.
	 */
	int (*latency)(void *ctx, const char *method, uint64_t *begin_ns, struct err *err);
	/* The i-th name that event_add accepts on this host, NULL past the last; valid until the view ends. May be NULL. */
	const char *(*event_name)(void *ctx, int i);
	const struct app_format *(*formats)(void *ctx); /* terminated by suffix NULL */
	/* Writes a file. Returns 0, -1 or APP_EXISTS; on 0 done has a one-line message for the screen. */
	int (*export)(void *ctx, const struct app_export *what, char *done, size_t bytes,
		struct err *err);
	/* Writes the whole profile to a recording; done as for export. Never overwrites: returns APP_EXISTS. */
	int (*save)(void *ctx, const char *path, char *done, size_t bytes, struct err *err);
	/* Updates the settings file; done as for export. */
	int (*config_write)(void *ctx, const struct config_values *values, char *done, size_t bytes,
		struct err *err);
	/* ^Z: pauses sampling, or resumes it. */
	void (*park)(void *ctx, bool parked);
	/* --replay with --clock=step: advances one second. Returns false at the end. NULL for live sessions. */
	bool (*step)(void *ctx);
};

enum app_charset { APP_CHARSET_AUTO, APP_CHARSET_ASCII, APP_CHARSET_UTF8 };
enum app_color { APP_COLOR_AUTO, APP_COLOR_NEVER, APP_COLOR_16, APP_COLOR_256 };

struct app_fact {
	const char *label, *text;
};

/* A file shown instead of a JVM. */
struct app_file {
	const char *name, *host;      /* host: "" if unknown */
	bool timed;                   /* samples have timestamps */
	bool vitals;                  /* it has vitals of the JVM */
	uint32_t from, to;            /* the range shown first, in seconds of the profile */
	bool compared;                /* the range before it is the baseline */
	const struct app_fact *facts; /* further metadata, terminated by label NULL */
};

struct app_options {
	int event;            /* shown first */
	unsigned events;      /* a bit per event that can be sampled; 0: cpu only */
	uint64_t interval_ms; /* refresh, default 1000 */
	enum app_charset charset;
	enum app_color color;
	int frame_fd;                /* -1, or gets one line after each completed draw (tests) */
	bool clock_step;             /* time advances only by ops->step (tests) */
	bool keep;                   /* leave the last screen in the scrollback */
	const struct config *config; /* NULL: no settings file */
	bool user_only, kernel_only; /* restrictions of the sampling */
	const struct app_file *file; /* NULL: a JVM */
	/* The picker is a list of the instances of these names, all of them sampled. NULL: all JVMs. */
	const char *instances;
	bool recorded; /* --replay of a recording */
	bool attached; /* a session exists: start in the methods view, not in the picker */
};

/* Runs the live view until the user quits. Returns 0, or -1 with the error that ended it, for the caller to print. */
int app_run(
	const struct app_ops *ops, void *ctx, const struct app_options *options, struct err *err);

#endif
