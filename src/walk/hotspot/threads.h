/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JVM's list of JavaThreads, read by agent threads or from another process; signal handlers may only call walk_thread_tid
 * and the functions on lock owners. Nothing is locked: the list may change while it is read.
 */
#ifndef JHOT_WALK_HOTSPOT_THREADS_H
#define JHOT_WALK_HOTSPOT_THREADS_H

#include "walk/hotspot/layout.h"

/* The OS thread id stored in a JavaThread*, 0 if unreadable. */
int32_t walk_thread_tid(
	const struct walk_layout *layout, const struct walk_mem *mem, uint64_t java_thread);

/*
 * Whether this thread owns a monitor: true when the address is on its stack, or the object is in its list of locked objects
 * (threads have one since JDK 21; a monitor inflated from such a lock by another thread does not record its owner).
 */
bool walk_thread_on_stack(const struct walk_layout *layout, const struct walk_mem *mem,
	uint64_t java_thread, uint64_t address);
bool walk_thread_has_locked(const struct walk_layout *layout, const struct walk_mem *mem,
	uint64_t java_thread, uint64_t object);

/*
 * Visits the JavaThreads that ThreadsSMRSupport (JDK 8: Threads) lists. Returns 0, or -1 if the list is unreadable or keeps
 * changing. Not for signal handlers.
 */
typedef void walk_thread_fn(void *ctx, uint64_t java_thread, int32_t tid);
int walk_threads_each(const struct walk_layout *layout, const struct walk_mem *mem,
	walk_thread_fn *fn, void *ctx);

/* A JavaThread in the list, and the OS thread that runs it. */
struct walk_listed {
	uint64_t java_thread;
	int32_t tid;
};

/*
 * Stores the newest threads, newest first, up to the first one that `known` accepts, at most max. Returns their number, or -1
 * if the list was replaced while it was read: the words stored may not be threads; retry.
 */
typedef bool walk_thread_known(void *ctx, const struct walk_listed *thread);
int walk_threads_newest(const struct walk_layout *layout, const struct walk_mem *mem,
	struct walk_listed *out, uint32_t max, walk_thread_known *known, void *ctx);

/* Number of threads that the JVM has ever started; 0: not counted. */
uint64_t walk_threads_started(const struct walk_layout *layout, const struct walk_mem *mem);

/*
 * True when the functions above work, possibly even after walk_layout_read has failed for a field that they do not need.
 */
bool walk_threads_readable(const struct walk_layout *layout);

#endif
