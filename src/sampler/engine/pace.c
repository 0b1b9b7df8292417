/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detects idleness by the process's CPU time. The kernel sums that over all threads, so it is read at most every
 * LOOK_NS.
 */
#include "sampler/engine/pace.h"

#include "base/clock.h"

#define LOOK_NS    (20 * NS_PER_MS)
#define IDLE_SHARE 100

uint64_t pace_pause(struct pace *pace, uint64_t own_ns, uint64_t busy_ns, uint64_t idle_ns)
{
	uint64_t now = clock_mono_ns(), since = now - pace->polled_ns, cpu;
	int64_t used;

	if (since < LOOK_NS)
		return pace->pause_ns > busy_ns ? pace->pause_ns : busy_ns;
	cpu = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - own_ns;
	used = (int64_t)(cpu - pace->cpu_ns);
	pace->cpu_ns = cpu;
	pace->polled_ns = now;
	if (used * IDLE_SHARE >= (int64_t)since || pace->pause_ns < busy_ns)
		pace->pause_ns = busy_ns;
	else
		pace->pause_ns = pace->pause_ns * 2 < idle_ns ? pace->pause_ns * 2 : idle_ns;
	return pace->pause_ns > busy_ns ? pace->pause_ns : busy_ns;
}
