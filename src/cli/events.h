/* SPDX-License-Identifier: Apache-2.0 */
/*
 * -e and -i of the sampling verbs: which events, how often.
 *
 * Plain values. Errors are usage errors that name what there is.
 */
#ifndef JHOT_CLI_EVENTS_H
#define JHOT_CLI_EVENTS_H

#include "base/err.h"
#include "cli/args.h"
#include "profile/profile.h"

struct events {
	int ids[PROFILE_EVENTS];
	int count;         /* 0 only if none was named and no default asked for */
	uint64_t interval; /* 0 = each event's default */
};

/* fallback: the event if -e is not there, or -1. */
int events_parse(struct events *out, const struct args *args, int fallback, struct err *err);

#endif
