/* SPDX-License-Identifier: Apache-2.0 */
/*
 * -e, -i and what else says how to sample: which events, how often, what of them, at what cost.
 *
 * -e EVENT[=INTERVAL],... may be given again. -i is for those events whose unit it has. Plain values that point
 * into the command line; errors are usage errors that name what there is.
 */
#ifndef JHOT_CLI_LINE_EVENTS_H
#define JHOT_CLI_LINE_EVENTS_H

#include "base/err.h"
#include "base/patience.h"
#include "profile/profile.h"
#include "session/session.h"

#include <sys/types.h>

struct args;

#define EVENTS_BUDGET 20 /* thousandths of a core, if none is given */

struct events {
	int ids[PROFILE_EVENTS];
	struct session_event how[PROFILE_EVENTS]; /* of ids[i] */
	char names[PROFILE_EVENTS][64];           /* of ids[i]; user events' how.name points here */
	bool as_can;               /* what is refused is left out, as long as one can be sampled */
	int count;                 /* 0 only if none was named and no default asked for */
	int budget;                /* thousandths of a core, 0 = any; -1: EVENTS_BUDGET */
	const char *only_threads;  /* NULL: all */
	unsigned depth, top, root; /* of stacks, as session_depth takes them; depth 0: not said */
};

/* fallback: the event if -e is not there, or -1. struct events must stay where it is. */
int events_parse(struct events *out, const struct args *args, int fallback, struct err *err);
/* One more, as it is sampled unless somebody says otherwise; p: NULL unless it has user events of its own. */
void events_put(struct events *e, const struct profile *p, int id);
/* Tell a session's agent what is for all events; events_start: and start them. The first refusal ends it. */
int events_prepare(const struct events *e, struct session *s, struct err *err);
int events_start(const struct events *e, struct session *s, struct err *err);

/* -e for a profile that was sampled before: its events by their names; without -e those that have samples. */
int events_of_profile(
	struct events *out, const struct args *args, const struct profile *p, struct err *err);

/* --- events_perf.c ----------------------------------------------------------------------------- */

/* Perf's events in -e, by the names of attach/perf/events.h. */

/* One more, under the next free number of user events. A name that may be a function's is believed. */
int events_add_perf(struct events *e, const char *name, struct err *err);

/* Now that there is a JVM: where functions are; the default intervals of those that have none. */
int events_resolve(struct events *e, pid_t pid, const struct patience *patience, struct err *err);

/*
 * functions_find: where a native function is in a JVM, a perf_events_function; ctx is a struct functions_in. What a library
 * exports is found first, in the order of the mappings; then what symbol tables and separate debug files tell.
 */
struct functions_in {
	pid_t pid;
	struct patience patience; /* asked while files are read, which another thread does */
};
int functions_find(
	void *ctx, const char *library, const char *function, uint64_t *address, struct err *err);

/* The names of those predefined ones that this host has: how many. Asks the kernel for each of them. */
#define EVENTS_NAMES 96
int events_names(const char *names[EVENTS_NAMES], bool user_only);

/* Adds to the error what events there are, and which is meant. Always -1. */
int events_unknown(const char *name, struct err *err);

#endif
