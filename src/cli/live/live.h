/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements struct app_ops of the live view with sessions, /proc and files, so that tui knows none of these.
 *
 *   event -> command -> job -> update -> draw        (tui/frame, one thread, one poll loop)
 *
 *   tty, timer, signal  --poll-->  app loop
 *     key    -> command table -> ops->event_set, export, attach ...    may block: polls ops->patience, which handles
 *                                                                      keys and draws meanwhile
 *     timer  -> ui_tick -> ops->drain (samples into the profile), ops->vitals, ops->names_note
 *     both   -> ui_update: queries of the model into the view's rows; a large one is a job, done in slices
 *            -> ui_draw: rows to cells, cells to the terminal
 *
 * struct live owns the current session and its profile, and from an attach until ops->forget the previous ones as well.
 * Single-threaded.
 */
#ifndef JHOT_CLI_LIVE_LIVE_H
#define JHOT_CLI_LIVE_LIVE_H

#include "cli/line/events.h"
#include "import/import.h"
#include "session/session.h"
#include "tui/config/config.h"
#include "tui/frame/app.h"

struct live;

/* options and events are kept by pointer until live_free. */
struct live *live_new(const struct session_options *options, const struct events *events);
void live_free(struct live *l);

/*
 * Start without the picker, at most once and before anything else: attach to a JVM, starting `event` and, if possible, the
 * other events of the command line; or replay a recording (replay.h); or show a file. A live_attach that fails changes
 * nothing.
 */
int live_attach(struct live *l, const struct hotspot *jvm, int event, struct err *err);
/* Polled while live_attach or one of live_ops waits for the JVM; ctx: a struct live. */
void live_patience(void *ctx, const struct patience *patience);
int live_replay(struct live *l, const char *path, bool clock_step, struct err *err);

/* Shows a file, which stays the caller's. */
void live_file(struct live *l, const struct imported *file);

extern const struct app_ops live_ops; /* ctx: a struct live */

/* --- file.c --------------------------------------------------------------------------------------- */

/* The source of the profile that is shown. */
struct live_source {
	const struct profile *profile;
	const struct vitals *vitals;
	const struct imported *file; /* NULL: none */
	bool here;                   /* true for a JVM on this host */
};
/* The formats of export/ for the live view; ends with suffix NULL. The caller frees it. */
struct app_format *live_file_formats(void);
/* app_ops.export. A format that holds all events gets those that have samples, the shown one first. */
int live_file_write(const struct live_source *source, const struct app_export *what, char *done,
	size_t bytes, struct err *err);
/* Runs the live view on a file, or prints plain screens if batch->wanted. Blocks until it ends. */
struct batch;
int live_file_show(const struct imported *file, const struct app_file *shown,
	const struct events *events, struct app_options *screen, const struct batch *batch,
	struct err *err);
/* app_ops.save: writes a recording; duration_ns: the sampled time. */
int live_file_save(const struct live_source *source, uint64_t duration_ns, const char *path,
	char *done, size_t bytes, struct err *err);

/* --- settings.c ---------------------------------------------------------------------------------------- */

/* The settings file, $XDG_CONFIG_HOME/jhot/config or ~/.config/jhot/config. tui/config/config.h defines its content. */

/* The settings; empty without a file. NULL with an error if the file is invalid or unreadable. */
struct config *settings_load(struct err *err);
/* Prints a settings file with the defaults on stdout. */
void settings_print(void);
/* Writes the values into the file, creating folders; done receives one line for the screen. */
int settings_write(const struct config_values *values, char *done, size_t bytes, struct err *err);

#endif
