/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often a thread of the agent looks: at its own pace while the process works, ever more seldom while it is idle, so
 * that an idle JVM is hardly woken up. What such a look finds stands for all of the time since the one before, so sums
 * stay right; they only get coarser. One for each thread, in its own hands.
 */
#ifndef JHOT_SAMPLER_ENGINE_PACE_H
#define JHOT_SAMPLER_ENGINE_PACE_H

#include <stdint.h>

struct pace {
	uint64_t looked_ns,
		cpu_ns; /* when the process's CPU time was read last; the others' part of it */
	uint64_t pause_ns;
};

/*
 * The next pause in ns: busy_ns, or up to idle_ns where less than a hundredth of a core has been used lately, besides what
 * the agent uses (own_ns, all it ever did).
 */
uint64_t pace_pause(struct pace *pace, uint64_t own_ns, uint64_t busy_ns, uint64_t idle_ns);

#endif
