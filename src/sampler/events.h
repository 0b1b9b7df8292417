/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events: starting and stopping them, and setting their engines on threads that come and go.
 *
 * events_start, events_stop, events_pause and events_scan belong to the publisher's thread.
 * events_thread_starts and _ends are for a JVMTI callback, on the thread itself.
 */
#ifndef JHOT_SAMPLER_EVENTS_H
#define JHOT_SAMPLER_EVENTS_H

#include "sampler/sampler.h"

/*
 * events_start: sample this event every `interval` (0: its default) on all threads, now and later.
 * A running event is started anew. 0 or -errno with a sentence; what is degraded goes to the
 * status page.
 */
int events_start(struct sampler *s, uint32_t event, uint64_t interval, char *text, size_t bytes);
int events_stop(struct sampler *s, uint32_t event, char *text, size_t bytes);
void events_stop_all(struct sampler *s);

/* Opens and closes what the first start would find cold (the kernel's switch for perf_events). */
void events_warm_up(struct sampler *s);
/* Is the signal still ours? Events whose signal somebody has taken over are stopped and say so. */
void events_check_signal(struct sampler *s);
/* Bytes mapped for engines now. */
uint64_t events_memory(void);
/* Is any event on? */
bool events_any(const struct sampler *s);

/* Parked: all engines off, to be set again as they were. */
void events_pause(struct sampler *s);
void events_resume(struct sampler *s);

/* A Java thread begins (its JavaThread*, or 0) or ends; called on that thread. */
struct thread_slot *events_thread_starts(struct sampler *s, int32_t tid, uint64_t java_thread);
void events_thread_ends(struct sampler *s, int32_t tid);

/*
 * events_scan: find threads by /proc/self/task (open as task_fd) and by the JVM's own list, give
 * up those that are gone. number: counts up from 1. flips: how often the trace table was drained;
 * a slot is given away two flips after its thread was found gone. whole: look at known threads,
 * too.
 */
void events_scan(struct sampler *s, int task_fd, uint32_t number, uint64_t flips, bool whole);

/* Only the JVM's list of Java threads: adds those that are new. */
void events_scan_java(struct sampler *s);

#endif
