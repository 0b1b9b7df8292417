/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a profile holds beside samples and names, one by one: for who writes all of it down, and reads it back.
 *
 * Numbers i go from 0 up to the first that gives false. One thread.
 */
#ifndef JHOT_PROFILE_WHOLE_H
#define JHOT_PROFILE_WHOLE_H

#include "profile/profile.h"

/* The first second at or after this one that any event has something in; PROFILE_NONE: there is none. */
uint32_t profile_next_held(const struct profile *p, uint32_t second);
/* CPU time of the process (profile_add_process), by seconds as in a query. */
uint64_t profile_process_ns(const struct profile *p, uint32_t from, uint32_t to);

struct profile_run {
	uint32_t from, to; /* [from, to); to UINT32_MAX: it goes on */
};
/* In which seconds an event was sampled (profile_event_runs). */
bool profile_get_run(const struct profile *p, int event, uint32_t i, struct profile_run *out);
/* In which nothing was; only the youngest are kept. */
bool profile_get_gap(const struct profile *p, uint32_t i, struct profile_run *out);

/* Waits ever set, of which those that are kept have the last numbers; a number stays, what it says may change. */
uint64_t profile_wait_count(const struct profile *p);
bool profile_get_wait(const struct profile *p, uint64_t number, struct profile_wait *out);

/* Of a profile without samples: those of seconds before `oldest` go into the total alone, before merged_before into steps. */
void profile_set_held(struct profile *p, uint32_t oldest, uint32_t merged_before);
/* From this second on they are still to be written down one by one: none is merged or dropped. PROFILE_NONE: no more. */
void profile_hold_unwritten(const struct profile *p, uint32_t second);

#endif
