/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules, by the file of rules/ that defines them. Constants, listed in finding_rules[]. A rule
 * keeps no state, so evaluations of different profiles may run in different threads.
 */
#ifndef JHOT_FINDINGS_RULES_H
#define JHOT_FINDINGS_RULES_H

#include "findings/finding.h"

extern const struct finding_rule rule_deadlock, rule_locks; /* locks.c */
extern const struct finding_rule rule_clinit;               /* clinit.c */
extern const struct finding_rule rule_pool, rule_pinned;    /* pool.c */
extern const struct finding_rule rule_starved, rule_timer;  /* executors.c */
extern const struct finding_rule rule_io;                   /* io.c */
extern const struct finding_rule rule_heap, rule_gc, rule_humongous, rule_finalizers; /* memory.c */
extern const struct finding_rule rule_offheap;                                        /* memory.c */
extern const struct finding_rule rule_jit, rule_codecache, rule_interpreted;          /* code.c */
extern const struct finding_rule rule_deopt, rule_exceptions, rule_collisions;        /* code.c */
extern const struct finding_rule rule_classes, rule_new;                              /* code.c */
extern const struct finding_rule rule_requests;                         /* requests.c */
extern const struct finding_rule rule_safepoint, rule_stops;            /* stops.c */
extern const struct finding_rule rule_throttled, rule_swap, rule_cores; /* host.c */
extern const struct finding_rule rule_threads, rule_descriptors;        /* host.c */

#endif
