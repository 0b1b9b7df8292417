/* SPDX-License-Identifier: Apache-2.0 */
/* JavaThreads, as the JVM lists them. For agent threads and from outside; handlers ask for a tid and an owner only. */
#ifndef JHOT_WALK_HOTSPOT_THREADS_H
#define JHOT_WALK_HOTSPOT_THREADS_H

#include "walk/hotspot/layout.h"

/*
 * walk_thread_tid: the OS thread id that a JavaThread* says it has, 0 if unreadable. walk_threads_each:
 * visit the JavaThreads that ThreadsSMRSupport (8: Threads) lists; for the rescan thread, not for handlers.
 */
int32_t walk_thread_tid(
	const struct walk_layout *layout, const struct walk_mem *mem, uint64_t java_thread);

/*
 * Who holds a monitor: a thread whose stack the address lies on, or that has the object among those it has locked
 * (since JDK 21 threads keep a list; a monitor that another made of such a lock does not know its owner).
 */
bool walk_thread_on_stack(const struct walk_layout *layout, const struct walk_mem *mem,
	uint64_t java_thread, uint64_t address);
bool walk_thread_has_locked(const struct walk_layout *layout, const struct walk_mem *mem,
	uint64_t java_thread, uint64_t object);

typedef void walk_thread_fn(void *ctx, uint64_t java_thread, int32_t tid);
int walk_threads_each(const struct walk_layout *layout, const struct walk_mem *mem,
	walk_thread_fn *fn, void *ctx);

/* A JavaThread in the list, and the OS thread that runs it. */
struct walk_listed {
	uint64_t java_thread;
	int32_t tid;
};

/*
 * walk_threads_newest: those that were listed last, up to the first that is known, the newest first. The list is read
 * while it changes: -1 when it is another one meanwhile, and what was read may be no thread; look again.
 */
typedef bool walk_thread_known(void *ctx, const struct walk_listed *thread);
int walk_threads_newest(const struct walk_layout *layout, const struct walk_mem *mem,
	struct walk_listed *out, uint32_t max, walk_thread_known *known, void *ctx);

/* How many threads the JVM has started so far; 0: it does not count them. */
uint64_t walk_threads_started(const struct walk_layout *layout, const struct walk_mem *mem);

/*
 * walk_threads_readable: can those above be used? Also after walk_layout_read has failed for a field
 * that they do not need.
 */
bool walk_threads_readable(const struct walk_layout *layout);

#endif
