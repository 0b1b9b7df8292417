/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the rules of findings/ over a sampled JVM or a recording, and prints the result as text or
 * JSON (doc/findings.md, doc/why.schema.json). Single-threaded.
 */
#ifndef JHOT_CLI_FINDINGS_H
#define JHOT_CLI_FINDINGS_H

#include "cli/sampling.h"
#include "findings/findings.h"
#include "profile/vitals.h"

#include <stdio.h>

struct diagnosis {
	struct findings *findings;
	struct vitals vitals; /* the last ones with an event switched on */
	const struct profile *profile;
	unsigned count;     /* of findings */
	const char *file;   /* name of the recording that was judged; NULL: a JVM */
	double requested_s; /* time since sampling began, or the length of the recording */
	double observed_s;  /* the part of it in which the agent could observe the JVM */
};

/* A callback for sampling.poll that passes the vitals to the rules; ctx is a struct diagnosis. Always 0. */
int diagnosis_vitals(void *ctx, const struct vitals *v, struct err *err);
/* Runs the rules. Call it before session_finish, after which no thread waits in the profile. */
void diagnosis_judge(struct diagnosis *d, const struct sampling *s);
/* True when nothing was found and less than a quarter of the requested time was observed. */
bool diagnosis_inconclusive(const struct diagnosis *d);
void diagnosis_print(const struct diagnosis *d, FILE *out);
void diagnosis_print_json(const struct diagnosis *d, FILE *out);
/* Writes one finding as an object. */
struct json;
void finding_json(struct json *j, const struct profile *p, const struct finding *f);

#endif
