/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Iteration over what a profile has beside samples and names, for writing a whole profile to a file
 * and restoring it.
 *
 * Indices start at 0; the first for which a function returns false ends the iteration. Not
 * thread-safe.
 */
#ifndef JHOT_PROFILE_HISTORY_H
#define JHOT_PROFILE_HISTORY_H

#include "profile/profile.h"

/* The first retained second at or after this one in which any event has samples. PROFILE_NONE: none. */
uint32_t profile_next_retained(const struct profile *p, uint32_t second);
/* CPU time of the process (profile_add_process) in [from, to), with the semantics of a query. */
uint64_t profile_process_ns(const struct profile *p, uint32_t from, uint32_t to);

struct profile_run {
	uint32_t from, to; /* [from, to); to UINT32_MAX: still running */
};
/* Seconds in which an event was sampled (profile_event_runs). */
bool profile_get_run(const struct profile *p, int event, uint32_t i, struct profile_run *out);
/* Gaps (profile_gap); the youngest 4096 are retained. */
bool profile_get_gap(const struct profile *p, uint32_t i, struct profile_run *out);

/*
 * Number of waits ever recorded. Waits are numbered from 0; a wait may still be updated, and false
 * means it was overwritten.
 */
uint64_t profile_wait_count(const struct profile *p);
bool profile_get_wait(const struct profile *p, uint64_t number, struct profile_wait *out);

/*
 * Restores the state of an empty profile: seconds before `oldest` count as dropped, those before
 * merged_before as merged.
 */
void profile_set_retained(struct profile *p, uint32_t oldest, uint32_t merged_before);
/* Seconds from this one on have not been written yet: none is merged or dropped. PROFILE_NONE: no restriction. */
void profile_retain_unwritten(const struct profile *p, uint32_t second);

#endif
