/* SPDX-License-Identifier: Apache-2.0 */
/* Findings as text for people and as JSON for scripts (doc/findings.md). */
#ifndef JHOT_CLI_FINDINGS_H
#define JHOT_CLI_FINDINGS_H

#include "cli/sampling.h"
#include "findings/findings.h"
#include "profile/vitals.h"

#include <stdio.h>

/* Who watches a JVM while it is sampled, and what was found in all of that time. */
struct watch {
	struct findings *findings;
	struct vitals vitals; /* the last while it was sampled */
	const struct profile *profile;
	unsigned count;
	const char *file;       /* that was judged in place of a JVM, or NULL */
	double asked_s, seen_s; /* for how long it was to be looked at, and could be */
};

/* watch_vitals: for struct sampling; ctx: the watch. */
int watch_vitals(void *ctx, const struct vitals *v, struct err *err);
/* watch_judge: before the session ends, since then nobody is known to wait. */
void watch_judge(struct watch *w, const struct sampling *s);
/* Nothing was found because less than a quarter of the time was seen. */
bool watch_unseen(const struct watch *w);
void watch_print(const struct watch *w, FILE *out);
void watch_print_json(const struct watch *w, FILE *out);
/* One of them, as everywhere: doc/why.schema.json. */
struct json;
void finding_json(struct json *j, const struct profile *p, const struct finding *f);

#endif
