/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sampling options of the command line: events, intervals, engines, depth, budget.
 *
 * -e EVENT[=INTERVAL],... is repeatable; -i applies to the events of its unit. struct events
 * borrows the command line, and points into itself, so it must not be copied or moved once parsed.
 * Errors are usage errors that list the alternatives. Single-threaded.
 */
#ifndef JHOT_CLI_LINE_EVENTS_H
#define JHOT_CLI_LINE_EVENTS_H

#include "base/err.h"
#include "base/patience.h"
#include "profile/profile.h"
#include "session/session.h"

#include <sys/types.h>

struct args;

#define EVENTS_BUDGET 20 /* the default: thousandths of a core */

struct events {
	int ids[PROFILE_EVENTS];
	struct session_event how[PROFILE_EVENTS]; /* of ids[i] */
	char names[PROFILE_EVENTS][64];           /* of ids[i]; user events' how.name points here */
	bool optional;             /* skip events that are refused, as long as one can be sampled */
	int count;                 /* 0 only if none was given and there is no default */
	int budget;                /* thousandths of a core, 0: unlimited, -1: EVENTS_BUDGET */
	const char *only_threads;  /* NULL: all */
	const char *latency;       /* method whose calls are measured; NULL: none */
	unsigned depth, top, root; /* arguments of session_depth; depth 0: not given */
};

/* fallback: the event used without -e, or -1 for none. */
int events_parse(struct events *out, const struct args *args, int fallback, struct err *err);
/* Appends an event with default settings. p: the profile that defines user events, NULL: none. */
void events_insert(struct events *e, const struct profile *p, int id);
/*
 * events_prepare sends budget, depth and thread filter to a session's agent. events_start does that
 * and starts the events; it stops at the first refusal unless `optional` is set. Both wait for the
 * agent.
 */
int events_prepare(const struct events *e, struct session *s, struct err *err);
int events_start(const struct events *e, struct session *s, struct err *err);

/* -e for an existing profile: its events by name; without -e, all that have samples. */
int events_of_profile(
	struct events *out, const struct args *args, const struct profile *p, struct err *err);

/* True when the profile has samples of the event. */
bool events_sampled(const struct profile *p, int id);

/* --- events_perf.c ----------------------------------------------------------------------------- */

/* perf events in -e, by the names of attach/perf/events.h. */

/* Appends a perf event with the next free id of user events. Does not check that a function of that name exists. */
int events_add_perf(struct events *e, const char *name, struct err *err);

/*
 * Finds the addresses of functions in the target, and sets default intervals. Reads files of the
 * target, which may take seconds; patience may be NULL.
 */
int events_resolve(struct events *e, pid_t pid, const struct patience *patience, struct err *err);

/* Fills in the predefined perf events that this host has and returns their number. Opens each once to find out. */
#define EVENTS_NAMES 96
int events_names(const char *names[EVENTS_NAMES], bool user_only);

/* Adds hints with the nearest event and where to find all. Always -1. */
int events_unknown(const char *name, struct err *err);

#endif
