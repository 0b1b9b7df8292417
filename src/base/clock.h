/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two clocks, in nanoseconds. clock_mono_ns orders events, and is comparable between the agent and the front end of one
 * host and time namespace; clock_wall_ns is for people. Header-only, so that the agent may use it. Async-signal-safe; any
 * thread.
 */
#ifndef JHOT_BASE_CLOCK_H
#define JHOT_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_US 1000ull
#define NS_PER_MS 1000000ull
#define NS_PER_S  1000000000ull

static inline uint64_t clock_read_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

static inline uint64_t clock_mono_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

static inline uint64_t clock_wall_ns(void)
{
	return clock_read_ns(CLOCK_REALTIME);
}

#endif
