/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adaptive pacing of an agent thread that polls: at its normal rate while the process works, with exponential back-off
 * while it is idle, so that an idle JVM is hardly woken. A finding represents all the time since the previous poll, so
 * sums stay right and only become coarser. One instance per thread, owned by it. All values are in ns.
 */
#ifndef JHOT_SAMPLER_ENGINE_PACE_H
#define JHOT_SAMPLER_ENGINE_PACE_H

#include <stdint.h>

struct pace {
	/* When the process's CPU time was last read; that CPU time less the agent's own. */
	uint64_t polled_ns, cpu_ns;
	uint64_t pause_ns;
};

/*
 * The next pause: busy_ns, or up to idle_ns when the process used less than a hundredth of a core lately, not counting
 * the agent's own CPU time (own_ns, its total so far).
 */
uint64_t pace_pause(struct pace *pace, uint64_t own_ns, uint64_t busy_ns, uint64_t idle_ns);

/*
 * The interval, or a longer one so that polls of this cost use at most 1/PACE_SHARE of a core. cost_ns must be an average: a
 * poll with much to do is expensive, and the next one must not represent a longer time because of that.
 */
#define PACE_SHARE 50u
static inline uint64_t pace_affordable(uint64_t interval, uint64_t cost_ns)
{
	return interval < cost_ns * PACE_SHARE ? cost_ns * PACE_SHARE : interval;
}

#endif
