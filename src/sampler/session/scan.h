/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that come and go: each gets a slot in the list and the engines of the events that are on.
 *
 * scan_thread_starts and _ends are for a JVMTI callback, on the thread itself, too; the rest is the
 * publisher's.
 */
#ifndef JHOT_SAMPLER_SESSION_SCAN_H
#define JHOT_SAMPLER_SESSION_SCAN_H

#include "sampler/sampler.h"

/* A thread begins (its JavaThread*, or 0), or ends to be Java's. NULL: there is no room for it. */
struct thread_slot *scan_thread_starts(struct sampler *s, int32_t tid, uint64_t java_thread);
void scan_thread_ends(struct sampler *s, int32_t tid);

/*
 * scan_threads: find threads by /proc/self/task (open as task_fd) and by the JVM's own list, give up
 * those that are gone. number: counts up from 1. flips: how often the trace table was drained; a slot is
 * given away two flips after its thread was found gone. whole: look at known threads, too.
 */
void scan_threads(struct sampler *s, int task_fd, uint32_t number, uint64_t flips, bool whole);

/* The JVM lists it: it has its slot and its name from then on. false: it was known, or is the agent's own. */
bool scan_listed(struct sampler *s, const struct walk_listed *thread);

#endif
