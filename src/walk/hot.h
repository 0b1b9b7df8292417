/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that most walks run. They lie together, so that a handler can ask for all of their code at once: it runs
 * a thousand times a second at most, and what the program does in between leaves nothing of it in the caches. To fetch
 * it line by line takes longer than to run it.
 */
#ifndef JHOT_WALK_HOT_H
#define JHOT_WALK_HOT_H

#define HOT __attribute__((section("jhot_hot"), noinline))

extern const char __start_jhot_hot[] __attribute__((visibility("hidden")));
extern const char __stop_jhot_hot[] __attribute__((visibility("hidden")));

/* Into the second-level cache, which code is fetched from, too. */
static inline void hot_fetch(void)
{
	for (const char *at = __start_jhot_hot; at < __stop_jhot_hot; at += 64)
		__builtin_prefetch(at, 0, 2);
}

#endif
