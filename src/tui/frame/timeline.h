/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time window that is shown, sliding or frozen, and the vitals of each second, so that a frozen screen shows those
 * of its own time.
 *
 *      oldest        since            from ---- window ---- to        now
 *   ----|--------------|----------------|===================|----------|--> seconds of the profile
 *                                                   frozen: to is fixed, now advances
 *
 * A window ends with the last complete second. In the first two seconds after since it includes the current one,
 * because there is nothing else to show. Seconds are those of the profile. Plain values.
 */
#ifndef JHOT_TUI_FRAME_TIMELINE_H
#define JHOT_TUI_FRAME_TIMELINE_H

#include "profile/profile.h"
#include "profile/vitals.h"

struct timeline {
	int window; /* index into timeline_windows */
	bool frozen;
	uint32_t frozen_to;
	/* The second of the last restart, and of the one before it, to which U returns. */
	uint32_t since, since_before;
};

#define TIMELINE_WINDOWS 6
extern const uint32_t timeline_windows[TIMELINE_WINDOWS]; /* seconds; 0 = all */

void timeline_init(struct timeline *t); /* 10 s, not frozen */
/* The end of the window: the first second that is not in it. */
uint32_t timeline_to(const struct timeline *t, const struct profile *p);
/* Sets from and to of a query. */
void timeline_query(const struct timeline *t, const struct profile *p, struct profile_query *q);
const char *timeline_label(const struct timeline *t, char out[16]); /* "10s", "1m", "all" */

/*
 * Freezes the window, or makes it follow new data again. The history before the end of a frozen window does not change
 * (profile_freeze).
 */
void timeline_freeze(struct timeline *t, const struct profile *p, bool frozen);
/* Moves the end of a frozen window. Returns false beyond either end of the history. */
bool timeline_step(struct timeline *t, const struct profile *p, int seconds);

/* The vitals of that second, or the latest of the 10 s before it; NULL if none. Borrowed from the profile. */
const struct vitals_second *history_at(const struct profile *p, uint32_t second);
/* Stores the n values up to and including second, oldest first; -1: not known. */
enum history_what { HISTORY_CPU, HISTORY_HEAP, HISTORY_GC, HISTORY_SAFEPOINT };
void history_values(
	const struct profile *p, enum history_what what, uint32_t second, int64_t *out, int n);

#endif
