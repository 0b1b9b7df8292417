/* SPDX-License-Identifier: Apache-2.0 */
/* The live view's state outside of tui, shared by live.c, events.c and jvms.c. */
#ifndef JHOT_CLI_LIVE_OWN_H
#define JHOT_CLI_LIVE_OWN_H

#include "cli/live/live.h"
#include "cli/live/replay.h"

/* Which JVMs there are, as the picker shows them. Zero-initialised. */
struct jvms {
	struct hotspot_look *look; /* NULL: none is under way */
	struct hotspot_list list;  /* as last seen, at list_ns: tells CPU % at the next look */
	uint64_t list_ns;
	struct app_jvm *rows; /* of list */
	bool listed;          /* they are all of one look */
};
/* As app_ops.list. */
int jvms_list(struct jvms *j, const struct app_jvm **out, struct err *err);
void jvms_done(struct jvms *j);

/* What is shown: a profile, and whose it is. All NULL: nothing. Never moved, because `how` points to user_names. */
struct subject {
	struct profile *profile;
	struct session *session;
	struct replay *replay;
	const struct imported *file; /* owned by the caller, with its profile */

	/* its events */
	struct events resolved;                                 /* for this JVM */
	struct session_event how[PROFILE_EVENTS];               /* as last asked for */
	char user_names[PROFILE_EVENTS - EVENT_USER_FIRST][64]; /* of those that were added here */
};

struct live {
	const struct session_options *options;
	const struct events *events; /* as the command line has them */
	struct patience patience;    /* of whoever waits for the session */
	struct subject *now;         /* never NULL */
	struct subject
		*before; /* NULL, or what was shown before the attach that runs or succeeded last */
	const char *names[EVENTS_NAMES]; /* of events that could be added */
	int name_count;                  /* -1: not asked for yet */

	struct jvms jvms;
	struct app_thread *threads; /* as last asked for */
	struct app_format *formats; /* made when asked for */
};

/* --- events.c ---------------------------------------------------------------------------------------- */

/* Each as the command line says, or as what is switched on without its -e, with its other options. */
void live_set_how(struct live *l);
/* As app_ops has them. */
int live_event_set(void *ctx, int event, bool on, uint64_t interval, struct err *err);
const char *const *live_event_warning(void *ctx, int event);
int live_event_engine(void *ctx, int event, struct err *err);
int live_event_add(void *ctx, const char *name, struct err *err);
const char *live_event_name(void *ctx, int i);

#endif
