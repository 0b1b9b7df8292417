/* SPDX-License-Identifier: Apache-2.0 */
/* Perf's events in -e, by the names of attach/perf_events.h. */
#ifndef JHOT_CLI_EVENTS_PERF_H
#define JHOT_CLI_EVENTS_PERF_H

#include "cli/events.h"

#include <sys/types.h>

/* One more, under the next free number of user events. A name that may be a function's is believed. */
int events_add_perf(struct events *e, const char *name, struct err *err);

/* Now that there is a JVM: where functions are; the default intervals of those that have none. */
int events_resolve(struct events *e, pid_t pid, struct err *err);

/* Adds to the error what events there are, and which is meant. Always -1. */
int events_unknown(const char *name, struct err *err);

#endif
