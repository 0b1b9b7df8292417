/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is wrong with a program, in sentences, each with what proves it and where to look.
 *
 * Rules look at the model (a window of it) and at the vitals of the last minute. A rule is a file and a row of
 * finding_rules; it is silent rather than wrong. Findings are the struct's, the worst first, valid until the next look.
 * One thread.
 */
#ifndef JHOT_FINDINGS_FINDINGS_H
#define JHOT_FINDINGS_FINDINGS_H

#include "findings/finding.h"
#include "profile/profile.h"
#include "profile/vitals.h"

#define FINDINGS_MAX 12

struct findings;
struct findings *findings_new(void);
void findings_free(struct findings *f);

/* The vitals of now, once a second or so. */
void findings_vitals(struct findings *f, const struct vitals *v);
/* What cpu was when the user set a baseline, to be kept until another is told; NULL: there is none. */
void findings_baseline(struct findings *f, const struct profile_snapshot *cpu);
/* Looks at [from, to) seconds. Returns the number of findings. */
unsigned findings_look(struct findings *f, const struct profile *p, uint32_t from, uint32_t to);
const struct finding *findings_get(const struct findings *f, unsigned i);

/* All rules; NULL ends them. */
extern const struct finding_rule *const finding_rules[];
/* Can it look: are its events sampled? finding_rule_lacks: the first that is not; -1: it can. */
bool finding_rule_looks(const struct finding_rule *rule, const struct vitals *v);
int finding_rule_lacks(const struct finding_rule *rule, const struct vitals *v);

#endif
