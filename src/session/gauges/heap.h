/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heap, collections, safepoints, threads and classes from the JVM's own counters, whichever collector it has.
 *
 * Indices are looked up once. Embedded in struct gauges.
 */
#ifndef JHOT_SESSION_GAUGES_HEAP_H
#define JHOT_SESSION_GAUGES_HEAP_H

#include "attach/hsperf.h"
#include "profile/vitals.h"

#define GAUGES_SPACES     6 /* two generations of up to three */
#define GAUGES_COLLECTORS 3

struct gauges_heap {
	const struct gauges_collector *kind; /* NULL: a collector we do not know */
	int64_t ticks_per_s;
	int used[GAUGES_SPACES];
	int max[2]; /* of the generations */
	int invocations[GAUGES_COLLECTORS], time[GAUGES_COLLECTORS];
	int safepoints, safepoint_time;
	int threads_live, threads_daemon;
	int classes[2];              /* loaded, and loaded from the shared archive */
	int64_t gc_ns, safepoint_ns; /* of the last reading */
};

void gauges_heap_init(struct gauges_heap *h, const struct hsperf *perf);
void gauges_heap_read(struct gauges_heap *h, const struct hsperf *perf, struct vitals *out);

#endif
