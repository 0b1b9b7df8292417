/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cost of walks: a histogram per class of stack depth, in ticks of the CPU's own clock.
 *
 * Handlers measure the first COST_FIRST walks, which meet most new names, and then every COST_OF-th, unless the thread may
 * not read that clock. The publisher converts the histograms to quantiles in ns on the status page. The clock also runs while
 * a thread is preempted, so the highest quantiles reflect the load of the machine as well.
 */
#ifndef JHOT_SAMPLER_COST_H
#define JHOT_SAMPLER_COST_H

#include "wire/status.h"

#include <stdatomic.h>
#include <stdint.h>

#define COST_FIRST      64u
#define COST_OF         8u
#define COST_OCTAVE_MIN 6u  /* clamp: fewer than 64 ticks count as 64 */
#define COST_OCTAVES    22u /* the last one is open-ended */
#define COST_STEPS      4u  /* buckets per octave */
#define COST_BUCKETS    (COST_OCTAVES * COST_STEPS)
#define COST_CLASSES    (WIRE_WALK_CLASSES - 1)
#define COST_NAMES      COST_CLASSES /* a separate row: resolving new names */
#define COST_ROWS       (COST_CLASSES + 1)

struct cost {
	uint64_t start_ticks, start_ns; /* the same instant on both clocks */
	_Atomic uint64_t ticks[COST_ROWS];
	_Atomic uint32_t walks[COST_ROWS][COST_BUCKETS];
};

static inline uint64_t cost_ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#endif
}

/* Class i contains depths up to 8 << i; the last class is open-ended. */
static inline unsigned cost_class(uint32_t depth)
{
	unsigned class = 0;

	while (class < COST_CLASSES - 1 && depth > 8u << class)
		class ++;
	return class;
}

static inline unsigned cost_bucket(uint64_t ticks)
{
	unsigned octave, bucket;

	if (ticks < 1u << COST_OCTAVE_MIN)
		ticks = 1u << COST_OCTAVE_MIN;
	octave = 63u - (unsigned)__builtin_clzll(ticks);
	bucket = (octave - COST_OCTAVE_MIN) * COST_STEPS +
		 (unsigned)(ticks >> (octave - 2) & (COST_STEPS - 1));
	return bucket < COST_BUCKETS ? bucket : COST_BUCKETS - 1;
}

/* Records a duration. row: cost_class of the number of frames walked, or COST_NAMES. Signal-safe. */
static inline void cost_add(struct cost *cost, unsigned row, uint64_t ticks)
{
	atomic_fetch_add_explicit(&cost->ticks[row], ticks, memory_order_relaxed);
	atomic_fetch_add_explicit(&cost->walks[row][cost_bucket(ticks)], 1, memory_order_relaxed);
}

/* Publisher only. */
void cost_start(struct cost *cost);
void cost_report(const struct cost *cost, struct wire_walk_cost out[WIRE_WALK_CLASSES],
	struct wire_walk_cost *names);
/* As cost_report, for a given tick rate. */
void cost_report_at(const struct cost *cost, double ticks_per_ns,
	struct wire_walk_cost out[WIRE_WALK_CLASSES], struct wire_walk_cost *names);

#endif
