/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies a span of a profile into a profile of its own, for writing it to files while the original
 * keeps growing.
 *
 * Single-threaded, does not block. O(samples, threads and waits of the span, plus stacks of the
 * profile).
 */
#ifndef JHOT_PROFILE_CUT_H
#define JHOT_PROFILE_CUT_H

#include "profile/profile.h"
#include "profile/vitals.h"

/*
 * A new profile with everything that belongs to the seconds [from, to): samples, lock owners,
 * waits, vitals, gaps and the spans in which events were sampled. Second `from` becomes second 0.
 * Samples of merged history are in the second in which their step begins. Counters of losses in its
 * vitals count from `from` on. The caller frees it.
 */
struct profile *profile_cut(const struct profile *p, uint32_t from, uint32_t to);

/*
 * Interns a stack of `from` in `to` and returns its id there. copies: scratch space for all calls
 * with the same two profiles, an element per stack of `from` (profile_info), zero-initialized.
 */
uint32_t profile_copy_stack(
	struct profile *to, const struct profile *from, uint32_t stack, uint32_t *copies);
/* Copies the distribution within the second of a query (profile_pulse) to a second and event of `to`. */
void profile_copy_pulse(struct profile *to, int event, uint32_t second, const struct profile *from,
	const struct profile_query *q);

#endif
