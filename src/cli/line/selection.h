/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --longer and --shorter: measured calls (profile/calls) of a range of durations.
 *
 * Borrows the command line and the profile. Errors are usage errors, or ERR_FAILED if a percentile is
 * not known or no call is in the range. Does not block; single-threaded.
 */
#ifndef JHOT_CLI_LINE_SELECTION_H
#define JHOT_CLI_LINE_SELECTION_H

#include "cli/line/args.h"
#include "profile/calls/calls.h"

/* True if the command line selects calls by their duration. */
bool selection_wanted(const struct args *args);
/* Checks the syntax of --longer and --shorter. */
int selection_check(const struct args *args, struct err *err);
/*
 * Sets the limits of q from --longer and --shorter, each a duration ("100ms") or a percentile of
 * the calls that q selects ("p99"). Without both, and with slowest, the slowest 1 %.
 */
int selection_limits(const struct args *args, const struct profile *p, bool slowest,
	struct calls_query *q, struct err *err);
/* "412 ms or more", "100 ms to 200 ms", "less than 20 ms". */
#define SELECTION_TEXT 64
const char *selection_text(const struct calls_query *q, char out[SELECTION_TEXT]);
/* The selected calls as a profile (calls_extract). NULL: *file has no calls, or none of them is selected. */
struct profile *selection_extract(
	const struct args *args, const struct profile *p, const char *file, struct err *err);

#endif
