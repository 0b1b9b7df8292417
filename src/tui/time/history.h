/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the header's figures were, second by second, so that a frozen screen shows the vitals of its own
 * moment. Keyed by the profile's seconds; embedded, fixed size.
 */
#ifndef JHOT_TUI_TIME_HISTORY_H
#define JHOT_TUI_TIME_HISTORY_H

#include "profile/profile.h"
#include "profile/vitals.h"

struct history_point {
	uint32_t second; /* + 1; 0 = none */
	int cpu_pct, gc_pct_x10, safepoint_pct_x10, threads_running, cost_pct_x10;
	struct vitals_cpu cpu;
	int64_t heap_used, heap_max, rss, gc_count, gc_ms, threads, lost, uptime_s;
};

struct history {
	struct history_point points[PROFILE_HISTORY_S];
};

void history_put(struct history *h, uint32_t second, const struct vitals *v);
/* The point of that second or the last one before it within 10 s; NULL if there is none. */
const struct history_point *history_at(const struct history *h, uint32_t second);
/* n values up to and including second, oldest first, -1 = not known. */
enum history_what { HISTORY_CPU, HISTORY_HEAP, HISTORY_GC, HISTORY_SAFEPOINT };
void history_values(
	const struct history *h, enum history_what what, uint32_t second, int64_t *out, int n);

#endif
