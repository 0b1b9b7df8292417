/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that collect signals: they block them, and fetch them by sigwait, a signalfd or the like. A signal of ours would
 * reach such a program as if somebody had sent it, so these threads get no engine and are never asked for a sample.
 * Their CPU and wall time is charged to "[blocks_signals]".
 *
 * The kernel delivers the signals of timers and of perf_events without asking us, also to a thread that begins to
 * collect later. Threads that HotSpot does not know may begin to, so they, and the process as a whole, are sent the
 * signal that libc reserves (sampler_signal): sigfillset and pthread_sigmask leave it out. Engines come off a thread
 * that has begun at the next look at it.
 *
 * The same holds for threads with other seccomp filters than the agent's: one may kill for a call that a handler makes.
 *
 * Only the thread itself changes its mask, and that takes CPU time: what was read is valid until its CPU clock moves.
 */
#ifndef JHOT_SAMPLER_ENGINE_COLLECT_H
#define JHOT_SAMPLER_ENGINE_COLLECT_H

#include "sampler/sampler.h"

/* The signals that listed threads block or wait for, as a mask of bits sig - 1. Publisher only. */
uint64_t collect_signals(struct sampler *s);
/*
 * True when signals of ours may be sent to the thread. A thread that blocks them briefly, in another handler or in
 * pthread_create, is refused, too; it counts as collecting only when every reading for half a second finds it so.
 *
 * libc's own critical sections, such as pthread_create, also block the signals that libc reserves, which no program blocks
 * through libc. A thread found in them for three seconds counts as collecting unless it has handled a signal of ours meanwhile,
 * or is found outside of them by one of several readings within ten milliseconds, for which the caller then waits. Any thread.
 */
bool collect_permits(struct sampler *s, struct thread_slot *slot);
/*
 * True for a Java thread that has just started and was not read yet: it may be armed before it is read, which takes longer than
 * some threads live, with the signal that libc reserves. The next collect_look reads it. Never true once any thread of the
 * session was found to collect signals or to have filters of its own, since a new thread inherits both from its creator.
 */
bool collect_young(struct sampler *s, struct thread_slot *slot);
/*
 * Looks at the threads that HotSpot does not know and at those that were refused, or at all; takes engines off and
 * sets them again. Returns how many collect signals. Publisher only.
 */
uint32_t collect_look(struct sampler *s, bool all);

#endif
