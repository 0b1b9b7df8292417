/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The perf_event that samples a thread's CPU time. The agent opens it on the JVM's threads; where the kernel denies that, the front
 * end opens it and passes the descriptor to the agent. Both use these attributes. Header-only; pure.
 */
#ifndef JHOT_BASE_CPU_CLOCK_H
#define JHOT_BASE_CPU_CLOCK_H

#include <linux/perf_event.h>
#include <stdint.h>

/* PERF_FORMAT_LOST of Linux 6.0, which older headers lack; older kernels refuse it: EINVAL. */
#define CPU_CLOCK_LOST (1u << 4)

/* One sample, with kernel frames, per `period` ns of the thread's CPU time in user and kernel mode. Initially disabled. */
static inline struct perf_event_attr cpu_clock(uint64_t period)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE_VER1,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period,
		.sample_type = PERF_SAMPLE_CALLCHAIN,
		.read_format = CPU_CLOCK_LOST,
		.disabled = 1,
		.wakeup_events = 1,
		.exclude_callchain_user = 1,
		.exclude_hv = 1,
	};
}

#endif
