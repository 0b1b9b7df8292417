/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the live view needs done outside of tui: the const struct app_ops over sessions, /proc and files.
 *
 * A live owns the session that is shown and its profile; from an attach until ops->forget also those before. One thread.
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
 * Begin without the picker: a JVM already found, with `event` and the command line's others, as far as they can
 * be had; or a recording, as it was seen (cli/live/replay.h), or a file, each at most once and before anything else. A
 * live_attach that fails leaves what is shown as it is.
 */
int live_attach(struct live *l, const struct hotspot *jvm, int event, struct err *err);
/* Asked while live_attach or one of live_ops waits for the JVM; ctx: a struct live. */
void live_patience(void *ctx, const struct patience *patience);
int live_replay(struct live *l, const char *path, bool clock_step, struct err *err);

/* A file that was read, which stays the caller's. */
void live_file(struct live *l, const struct imported *file);

extern const struct app_ops live_ops; /* ctx: a struct live */

/* --- file.c --------------------------------------------------------------------------------------- */

/* Whose profile is shown. */
struct live_source {
	const struct profile *profile;
	const struct vitals *vitals;
	const struct imported *file; /* NULL: none */
	bool here;                   /* it is of a JVM on this host */
};
/* The exporter's table in the words of the live view; its end has no suffix. The caller's to free. */
struct app_format *live_file_formats(void);
/* As struct app_ops has it. A format that holds all events gets those that have samples, the one that is shown first. */
int live_file_write(const struct live_source *source, const struct app_export *what, char *done,
	size_t bytes, struct err *err);
/* The live view of a file, or as plain text if batch wants that; shown: what it says of the file. */
struct batch;
int live_file_show(const struct imported *file, const struct app_file *shown,
	const struct events *events, struct app_options *screen, const struct batch *batch,
	struct err *err);
/* The session itself, as a recording; duration_ns: how long was sampled. */
int live_file_save(const struct live_source *source, uint64_t duration_ns, const char *path,
	char *done, size_t bytes, struct err *err);

/* --- settings.c ---------------------------------------------------------------------------------------- */

/*
 * The settings file: $XDG_CONFIG_HOME/jhot/config, else ~/.config/jhot/config. What stands in it is the business of
 * tui/config/config.h.
 */

/* The settings, empty ones where there is no file; NULL with an error for a file that is wrong or unreadable. */
struct config *settings_load(struct err *err);
/* A new file on stdout, with what holds when there is none. */
void settings_print(void);
/* Bring the values into the file, folders made as needed; done gets one line for the screen. */
int settings_write(const struct config_values *values, char *done, size_t bytes, struct err *err);

#endif
