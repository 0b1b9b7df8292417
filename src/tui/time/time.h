/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time: which seconds are looked at, and what the header's figures were in each.
 *
 * What is looked at is a sliding window, or one that was stopped.
 *
 *      oldest        since            from ---- window ---- to        now
 *   ----|--------------|----------------|===================|----------|--> seconds of the profile
 *                                                   frozen: to stays, now runs on
 *
 * A window ends with the last whole second. In the first two seconds of a session it takes in the
 * running one as well, because there is nothing else to show. Plain values.
 */
#ifndef JHOT_TUI_TIME_TIME_H
#define JHOT_TUI_TIME_TIME_H

#include "profile/profile.h"
#include "profile/vitals.h"

struct timeline {
	int window; /* index into timeline_windows */
	bool frozen;
	uint32_t frozen_to;
	uint32_t since, since_before; /* restarted here, and where it was before (U) */
};

#define TIMELINE_WINDOWS 6
extern const uint32_t timeline_windows[TIMELINE_WINDOWS]; /* seconds; 0 = all */

void timeline_init(struct timeline *t);
uint32_t timeline_to(const struct timeline *t, const struct profile *p);
/* Fill from and to. */
void timeline_query(const struct timeline *t, const struct profile *p, struct profile_query *q);
const char *timeline_label(const struct timeline *t, char out[16]); /* "10s", "1m", "all" */

void timeline_freeze(struct timeline *t, const struct profile *p, bool frozen);
/* Frozen: move the end by so many seconds. Returns false at either end of the history. */
bool timeline_step(struct timeline *t, const struct profile *p, int seconds);

/* --- history.c --------------------------------------------------------------------------------- */

/*
 * What the header's figures were, second by second, so that a frozen screen shows the vitals of its own
 * moment. Keyed by the profile's seconds; embedded, fixed size.
 */

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
