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

#endif
