/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time: which seconds are looked at, and what the header's figures were in each, so that a frozen screen shows the
 * vitals of its own moment.
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

/* The vitals of that second or of the last one before it within 10 s; NULL if there are none. */
const struct vitals_second *history_at(const struct profile *p, uint32_t second);
/* n values up to and including second, oldest first, -1 = not known. */
enum history_what { HISTORY_CPU, HISTORY_HEAP, HISTORY_GC, HISTORY_SAFEPOINT };
void history_values(
	const struct profile *p, enum history_what what, uint32_t second, int64_t *out, int n);

#endif
