/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report of `jhot slow`, about the measured calls (profile/calls) of one method.
 *
 * Borrows the profile, which must have calls of a method (calls_name). Pure output: the caller checks
 * the stream for errors. Single-threaded.
 */
#ifndef JHOT_CLI_LATENCY_H
#define JHOT_CLI_LATENCY_H

#include "profile/calls/calls.h"

#include <stdio.h>

struct latency_report {
	const struct profile *profile;
	uint64_t clock_ns;        /* second 0 of the profile on the JVM's CLOCK_MONOTONIC */
	struct calls_query query; /* all calls that are reported on */
	/* Those that are compared with the others: the slowest 1 %, or a range of durations. */
	struct calls_query slow;
	bool ranged; /* slow: a range that the user gave */
	bool every;  /* JSON: list every call */
};

/* True if there is a call to report on. */
bool latency_seen(const struct latency_report *r);
/* Prints nothing if there is no call. */
void latency_print(const struct latency_report *r, FILE *out);
void latency_print_json(const struct latency_report *r, FILE *out);

#endif
