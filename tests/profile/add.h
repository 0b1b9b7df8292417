/* SPDX-License-Identifier: Apache-2.0 */
/* Adds samples without a thread state in one line. */
#ifndef JHOT_TESTS_PROFILE_ADD_H
#define JHOT_TESTS_PROFILE_ADD_H

#include "profile/profile.h"

static inline void profile_add(struct profile *p, int event, uint32_t second, uint32_t stack,
	uint32_t thread, uint32_t count, uint64_t weight)
{
	profile_add_sample(p, event, second,
		&(struct profile_sample){stack, thread, THREAD_STATE_NONE, count, weight});
}

#endif
