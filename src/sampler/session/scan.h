/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting and ending threads: each gets a slot in the list and the engines of the active events.
 *
 * Publisher only, except that scan_thread_starts, scan_thread_ends, select_new and select_named may also be called by a
 * JVMTI callback on the thread itself.
 */
#ifndef JHOT_SAMPLER_SESSION_SCAN_H
#define JHOT_SAMPLER_SESSION_SCAN_H

#include "sampler/sampler.h"

/*
 * scan_thread_starts lists a thread; java_thread: its JavaThread, or 0. NULL: the list is full. scan_thread_ends: the
 * thread is no longer a JavaThread.
 */
struct thread_slot *scan_thread_starts(struct sampler *s, int32_t tid, uint64_t java_thread);
void scan_thread_ends(struct sampler *s, int32_t tid);

/*
 * Finds threads in /proc/self/task (s->task) and in the JVM's own list, and retires those that have ended; a slot is
 * freed three flips of the trace table after that. whole: check known threads, too. O(threads).
 */
void scan_threads(struct sampler *s, bool whole);

/* Lists a thread that the JVM lists, with its name. False: it was known, or is the agent's own. */
bool scan_listed(struct sampler *s, const struct walk_listed *thread);

/* --- names.c ----------------------------------------------------------------------------------- */

/*
 * Thread selection: only threads whose name matches a pattern (glob_any) are sampled. While there is a pattern, a
 * thread without a name is not sampled.
 */

/* Sets the pattern; applies to active events at once. */
void select_set(struct sampler *s, const char *pattern);
/* Updates the selection of new and renamed threads. */
void select_update(struct sampler *s);
/* Initializes the selection of a new thread before an engine may be set on it. Also on the thread itself. */
void select_new(struct sampler *s, struct thread_slot *slot);
/*
 * Selects a thread whose name is known at its start at once: a short one would have ended before the next scan. On the
 * thread itself.
 */
void select_named(struct sampler *s, struct thread_slot *slot);

/* --- starts.c ---------------------------------------------------------------------------------- */

/*
 * Polls for thread starts the JVM does not report: the end of its list, where the newest threads are, every 10 to 100
 * ms, and at up to 2,000 Hz for a while after threads have started and ended between two polls.
 *
 * The first sample of a thread includes its CPU time before it was found (arms.c), so only threads that were never found
 * are missing. Times in ns.
 */

/* Polls if this JVM needs it. */
void starts_poll(struct sampler *s, uint64_t now);
/*
 * True while threads start at such a rate that new ones are not listed, and only the process's own clock samples them.
 * May also be called on the new thread.
 */
bool starts_unlisted(const struct sampler *s);
/* Time until the next poll; UINT64_MAX: none is needed. */
uint64_t starts_pause(struct sampler *s, uint64_t now);

#endif
