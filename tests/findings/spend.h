/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of the synthetic program of judge.h, and their activities. */
#ifndef JHOT_TESTS_FINDINGS_SPEND_H
#define JHOT_TESTS_FINDINGS_SPEND_H

#include "tests/findings/judge.h"

static uint32_t stack_within(uint32_t parent, const char *const *frames)
{
	for (; frames[0]; frames += 2)
		parent = stack_of(parent, frames[0], frames[1]);
	return parent;
}

/* The threads [first, first + count) spend this share of each second in this state and stack. */
static void spend(uint32_t first, uint32_t count, const char *const *frames,
	enum thread_state state, double share)
{
	uint32_t stack = stack_within(PROFILE_ROOT_STACK, frames);

	for (uint32_t at = 0; at < SECONDS; at++)
		for (uint32_t i = first; i < first + count; i++)
			profile_add_sample(profile, EVENT_WALL, at,
				&(struct profile_sample){
					stack, i, state, 20, (uint64_t)(share * 1000) * MS});
	profile_advance(profile, SECONDS);
}

/* Names the threads [first, first + count) "<prefix><id>". */
static void named(uint32_t first, uint32_t count, const char *prefix, enum thread_kind kind)
{
	char name[40];

	for (uint32_t i = first; i < first + count; i++) {
		snprintf(name, sizeof(name), "%s%u", prefix, i);
		profile_thread_set(profile, i,
			&(struct profile_thread){.tid = (int)i + 100, .kind = kind, .name = name});
	}
}

static void seconds(int count)
{
	for (int i = 0; i <= count; i++)
		second();
}

#endif
