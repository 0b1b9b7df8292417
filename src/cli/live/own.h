/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the live view's app_ops: their state, shared by the files of this folder. Single-threaded. */
#ifndef JHOT_CLI_LIVE_OWN_H
#define JHOT_CLI_LIVE_OWN_H

#include "attach/jvm/hotspot.h"
#include "cli/line/events.h"
#include "cli/live/fleet.h"
#include "cli/live/remote.h"
#include "cli/live/replay.h"
#include "import/import.h"
#include "session/session.h"
#include "share/share.h"
#include "tui/frame/app.h"

/* The JVMs shown by the picker, scanned in the background. Zero-initialized. */
struct jvms {
	struct hotspot_scan *scan; /* the current scan; NULL: none */
	struct hotspot_list list;  /* result of the last scan, at list_ns; the base for CPU % */
	uint64_t list_ns;
	struct app_jvm *rows; /* rows for `list` */
	bool listed;          /* a scan has been completed */
};

/*
 * The profile shown, and its source: a session, a session of another jhot, a replay or a file; all NULL:
 * nothing is shown. Never relocated, since `how` points to user_names.
 */
struct subject {
	struct profile *profile;
	struct session *session;
	struct share *share;   /* of the session, for other jhot processes; NULL: not possible */
	struct shared *shared; /* another jhot's */
	struct fleet_stream *stream; /* owns profile and shared; NULL: this subject does */
	struct remote *remote;       /* the connection to that jhot, if it is on another host */
	char shared_by[96];          /* its name on the screen: "jhot process 31" */
	pid_t pid; /* of the JVM, if it is in our PID namespace: its threads are read from /proc; else 0 */
	struct session_readings readings; /* of these threads */
	struct replay *replay;
	const struct imported *file; /* owned by the caller, with its profile */

	/* its events */
	struct events resolved;                   /* resolved in this JVM */
	struct session_event how[PROFILE_EVENTS]; /* last requested settings */
	/* Names of events added in the view. */
	char user_names[PROFILE_EVENTS - EVENT_USER_FIRST][64];
};

struct live {
	const struct session_options *options;
	const struct events *events; /* from the command line */
	struct patience patience;    /* of the caller that waits for the session */
	struct subject *now;         /* never NULL */
	/* The subject shown before the current or last successful attach; NULL: none. */
	struct subject *before;
	const char *names[EVENTS_NAMES]; /* names of events that can be added */
	int name_count;                  /* -1: not determined yet */

	struct jvms jvms;
	struct fleet *fleet;        /* --all, instead of jvms; borrowed */
	struct app_thread *threads; /* result of the last call */
	struct app_format *formats; /* created on demand */
};

/* --- jvms.c ------------------------------------------------------------------------------------------ */

/* Returns the previous scan's rows until the new scan is complete; during the first scan, the rows found so far. */
int jvms_list(struct jvms *j, const struct app_jvm **out, struct err *err);
void jvms_done(struct jvms *j);

/* --- events.c ---------------------------------------------------------------------------------------- */

/* Initializes `how`: events of the command line as given there, all others with its options for all events (-u, -k). */
void live_set_how(struct live *l);
/* Implement functions of app_ops; ctx: a struct live. */
int live_event_set(void *ctx, int event, bool on, uint64_t interval, struct err *err);
const char *const *live_event_warning(void *ctx, int event);
int live_event_engine(void *ctx, int event, struct err *err);
int live_event_add(void *ctx, const char *name, struct err *err);
const char *live_event_name(void *ctx, int i);
int live_latency(void *ctx, const char *method, uint64_t *begin_ns, struct err *err);

#endif
