/* SPDX-License-Identifier: Apache-2.0 */
/* The rules: each is in rules/, in a file of its name. */
#ifndef JHOT_FINDINGS_RULES_H
#define JHOT_FINDINGS_RULES_H

#include "findings/finding.h"

extern const struct finding_rule rule_deadlock, rule_heap, rule_gc, rule_jit, rule_exceptions;
extern const struct finding_rule rule_codecache, rule_interpreted, rule_deopt;
extern const struct finding_rule rule_throttled, rule_swap, rule_stops, rule_classes;
extern const struct finding_rule rule_safepoint, rule_new;
extern const struct finding_rule rule_locks, rule_pool, rule_io, rule_cores;
extern const struct finding_rule rule_pinned, rule_starved, rule_finalizers, rule_threads;
extern const struct finding_rule rule_descriptors, rule_humongous;

#endif
