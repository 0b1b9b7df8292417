/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements struct app_ops of the live view with sessions, /proc and files, so that tui knows none of these.
 *
 *   event -> command -> job -> update -> draw        (tui/frame, one thread, one poll loop)
 *
 *   tty, timer, signal  --poll-->  app loop
 *     key    -> command table -> ops->event_set, export, attach ...    may block: polls ops->patience, which handles
 *                                                                      keys and draws during the wait
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
#include "tui/frame/app.h"

struct live;

/* Both must outlive the result. */
struct live *live_new(const struct session_options *session, const struct events *events);
void live_free(struct live *l);

/* Before anything else: the picker shows these instances, and attaching is to watch one of them. Borrowed. */
struct fleet;
void live_fleet(struct live *l, struct fleet *fleet);

/*
 * Start without the picker, at most once and before anything else: attach to a JVM, starting `event` and, if possible, the
 * other events of the command line; or replay a recording (replay.h). A live_attach that fails changes nothing.
 */
int live_attach(struct live *l, const struct hotspot *jvm, int event, struct err *err);
/* Polled while live_attach or one of live_ops waits for the JVM; ctx: a struct live. */
void live_patience(void *ctx, const struct patience *patience);
int live_replay(struct live *l, const char *path, bool clock_step, struct err *err);

/* Watches the session behind an open connection, which is the live view's from then on. */
struct remote;
int live_remote(struct live *l, struct remote *remote, const char *target, struct err *err);

extern const struct app_ops live_ops; /* ctx: a struct live */

/*
 * Runs the live view on a file, which stays the caller's, or prints plain screens of it if batch->wanted. Blocks until the
 * user or the last screen ends it.
 */
struct batch;
int live_show_file(const struct imported *file, const struct app_file *shown,
	const struct events *events, struct app_options *screen, const struct batch *batch,
	struct err *err);

#endif
