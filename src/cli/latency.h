/* SPDX-License-Identifier: Apache-2.0 */
/* The report of `jhot slow`. */
#ifndef JHOT_CLI_LATENCY_H
#define JHOT_CLI_LATENCY_H

#include "profile/calls/calls.h"

#include <stdio.h>

struct latency_report {
	const struct profile *profile;
	uint64_t clock_ns;        /* second 0 of the profile on the JVM's CLOCK_MONOTONIC */
	struct calls_query query; /* all calls that are reported on */
	struct calls_query
		slow; /* those that are compared with the others: the slowest 1 %, or a range of durations */
	bool ranged; /* slow: a range that the user gave */
	bool every;  /* JSON: list every call */
};

bool latency_seen(const struct latency_report *r);
void latency_print(const struct latency_report *r, FILE *out);
void latency_print_json(const struct latency_report *r, FILE *out);

#endif
