/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts of threads where the JVM does not tell of them: the end of its list, where the newest are, is looked at often,
 * and ten times more often for a while after it has started threads that were gone by the next look.
 *
 * What a thread ran before it was found is in its first sample (arms.c), so only those that never were are missing.
 * Publisher only. Times in ns.
 */
#ifndef JHOT_SAMPLER_SESSION_STARTS_H
#define JHOT_SAMPLER_SESSION_STARTS_H

#include "sampler/sampler.h"

/* Looks, if it is needed in this JVM. */
void starts_look(struct sampler *s, uint64_t now);
/* How long until the next look; UINT64_MAX: there is no need. */
uint64_t starts_pause(struct sampler *s, uint64_t now);

#endif
