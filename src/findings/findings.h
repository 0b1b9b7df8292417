/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Diagnoses a JVM: findings are sentences with evidence and advice, computed by a fixed set of
 * rules from a window of the model and the vitals of the last minute.
 *
 * Findings are owned by struct findings, sorted by severity, and valid until the next evaluation.
 * The profile is only read. One evaluation is O(stacks + samples of the window). Not thread-safe;
 * never blocks.
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

/*
 * Records the current vitals; to be called about once a second. Copies v. A time before the last
 * one discards all points.
 */
void findings_vitals(struct findings *f, const struct vitals *v);
/*
 * Alternative to findings_vitals() for a past moment: loads the vitals that the profile has of the
 * 60 s before second `to`; fields that are not recorded per second are copied from v.
 */
void findings_history(
	struct findings *f, const struct profile *p, const struct vitals *v, uint32_t to);
/* Sets the CPU baseline of the rule "new" (NULL: none). Borrowed: must outlive f or be replaced. */
void findings_baseline(struct findings *f, const struct profile_snapshot *cpu);
/*
 * Adds entry points of requests to those that the rule "requests" knows: "com.shop.Gateway.handle",
 * or a part of that (calls_pattern_matches). NULL-terminated, borrowed; NULL: none.
 */
void findings_set_requests(struct findings *f, const char *const *methods);
const char *const *findings_requests(const struct findings *f);
/*
 * The entry point of requests in which threads spent most of the time of EVENT_WALL: the method
 * whose calls are to be measured so that the rule can judge them. PROFILE_NONE: none. O(stacks).
 */
uint32_t findings_request_method(const struct findings *f, const struct profile *p);
/* Evaluates all rules over the seconds [from, to). Returns the number of findings. */
unsigned findings_evaluate(struct findings *f, const struct profile *p, uint32_t from, uint32_t to);
const struct finding *findings_get(const struct findings *f, unsigned i); /* i < that number */

/*
 * Evaluates each minute of [from, to) with the vitals at its end. Of findings with equal rule and
 * subject the worst is kept, its `second` set to the start of its minute. Returns the number of
 * findings.
 */
unsigned findings_evaluate_minutes(struct findings *f, const struct profile *p,
	const struct vitals *v, uint32_t from, uint32_t to);

extern const struct finding_rule *const finding_rules[]; /* all rules; ends with NULL */
/*
 * True when the rule could not judge in the last evaluation, with the reason in why: an event is
 * not sampled (*event, otherwise -1), there are too few seconds of vitals, or the JVM is too young.
 * A rule that reported a finding could.
 */
#define FINDING_WHY 80
bool findings_not_judged(const struct findings *f, const struct finding_rule *rule, int *event,
	char why[FINDING_WHY]);

#endif
