/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of --when, evaluated about once a second over vitals and profile.
 *
 *   cpu>80%  cpu>80% for 5s  heap>90%  heap>2G  rss>3.5G  gc>10%  stops>5%  throttled>5%  threads>500  fds>90%  swap>1M
 *   pool:http-*=busy for 10s     why     why:gc,lock
 *
 * A threshold fires when its condition was true at every reading for the whole duration, and is rearmed by a reading at which it is
 * false. A rule of `why` fires when its finding appears, and is rearmed by an evaluation without it.
 *
 * Borrows the command line. Single-threaded, never blocks.
 */
#ifndef JHOT_CLI_RECORDER_TRIGGERS_H
#define JHOT_CLI_RECORDER_TRIGGERS_H

#include "base/err.h"
#include "cli/line/args.h"
#include "findings/findings.h"

#include <stdbool.h>

#define TRIGGERS_MAX 16

struct trigger_metric;
struct trigger {
	const char *text;                    /* as given */
	const struct trigger_metric *metric; /* NULL: findings */
	char pool[128];                      /* the pattern of its name */
	uint64_t rules;                      /* of findings: a bit per rule in finding_rules */
	bool below, percent;
	double limit;
	uint64_t for_ns;

	uint64_t since_ns; /* vitals.time_ns from which on the condition is true; 0: it is false */
	uint32_t since;    /* since_ns as a second of the profile */
	bool fired;        /* since since_ns */
};

struct triggers {
	struct trigger list[TRIGGERS_MAX];
	int count;
	bool need_findings, need_wall; /* inputs of the rules */
	struct findings *findings;     /* NULL unless needed */
	uint64_t had;                  /* bit set of rules with a finding at the last evaluation */
	struct vitals last;            /* of the previous evaluation; time_ns 0: none */
	uint32_t judged;               /* second of the last evaluation of findings */
};

/* A rule that fired; texts are valid until the next evaluation. */
struct trigger_event {
	const char *rule; /* as given on the command line */
	const char *what; /* a sentence */
	char word[48];    /* for the file's name: "cpu", "why-gc" */
	uint32_t since;   /* second of the profile in which it began */
};

int triggers_parse(struct triggers *t, const struct args *args, struct err *err);
/* Forgets everything but the rules: before another JVM is recorded. */
void triggers_reset(struct triggers *t);
void triggers_done(struct triggers *t);
/* Returns the number of rules that fire now, at most `most`. */
int triggers_evaluate(struct triggers *t, const struct profile *p, const struct vitals *v,
	struct trigger_event *out, int most);

#endif
