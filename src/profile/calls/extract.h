/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The selected calls as a profile of their own, for views and files that know only samples.
 *
 * Single-threaded, does not block. O(polls of the calls).
 */
#ifndef JHOT_PROFILE_CALLS_EXTRACT_H
#define JHOT_PROFILE_CALLS_EXTRACT_H

#include "profile/calls/calls.h"

/*
 * A new profile of the calls that q selects. EVENT_WALL has the stacks of their polls, each weighted with the time until the next
 * poll, so that the weights of a call add up to its duration. The calls themselves, with their lock waits, are included. Seconds
 * are those of p. The caller frees it.
 */
struct profile *calls_extract(const struct profile *p, const struct calls_query *q);

#endif
