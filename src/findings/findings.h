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
/*
 * In place of findings_vitals, for another moment than now: the vitals that the profile has kept of the minute before second
 * `to`, and of the rest what v says.
 */
void findings_history(
	struct findings *f, const struct profile *p, const struct vitals *v, uint32_t to);
/* What cpu was when the user set a baseline, to be kept until another is told; NULL: there is none. */
void findings_baseline(struct findings *f, const struct profile_snapshot *cpu);
/* Looks at [from, to) seconds. Returns the number of findings. */
unsigned findings_look(struct findings *f, const struct profile *p, uint32_t from, uint32_t to);
const struct finding *findings_get(const struct findings *f, unsigned i);

/*
 * findings_look over each minute of [from, to), which ends with its own vitals: of findings of one rule about the same thing the
 * worst is kept, with `second` where its minute begins. Returns their number.
 */
unsigned findings_look_back(struct findings *f, const struct profile *p, const struct vitals *v,
	uint32_t from, uint32_t to);

/* All rules; NULL ends them. */
extern const struct finding_rule *const finding_rules[];
/*
 * Whether a rule could not judge in the last look: an event that it needs is not sampled (returned, else -1 is in *event), it has
 * not looked for long enough, or the JVM is too young. why: the reason in a few words.
 */
#define FINDING_WHY 80
bool findings_blind(const struct findings *f, const struct finding_rule *rule, int *event,
	char why[FINDING_WHY]);

#endif
