/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What sampling may cost: when it is more, the event that costs most is sampled less often, and again as often
 * as it was asked for when there is room.
 *
 * Every sample says what it stands for, so that shares and totals stay right. Publisher only.
 */
#ifndef JHOT_SAMPLER_SESSION_BUDGET_H
#define JHOT_SAMPLER_SESSION_BUDGET_H

#include "sampler/sampler.h"

/* In thousandths of a core; 0: any. chosen: only events whose interval was left to the agent count, and are lengthened. */
void budget_set(struct sampler *s, uint32_t per_mille, bool chosen);

/* Looks once a second. cost_ns: the CPU time of all that the agent has done. */
void budget_check(struct sampler *s, uint64_t now_ns, uint64_t cost_ns);

#endif
