/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that collect signals: they block them and consume them with sigwait, a signalfd or the like. Such a
 * program would treat a sampling signal as one of its own, so these threads get no engine and are never asked for a
 * sample. Their CPU and wall time is charged to "[blocks_signals]".
 *
 * The kernel delivers the signals of timers and of perf_events unconditionally, even to a thread that begins to collect
 * later. Threads unknown to HotSpot may do so, so they, and the process as a whole, are sent the signal that libc
 * reserves (sampler_signal), which sigfillset and pthread_sigmask omit. A thread that has begun to collect is
 * disarmed at the next scan.
 *
 * The same rules apply to threads with other seccomp filters than the agent's: a filter may kill the process for a
 * system call that a handler makes.
 *
 * Only the thread itself changes its mask, and that takes CPU time: a reading is valid until the thread's CPU clock
 * advances.
 */
#ifndef JHOT_SAMPLER_ENGINE_COLLECT_H
#define JHOT_SAMPLER_ENGINE_COLLECT_H

#include "sampler/sampler.h"

/* The signals that listed threads block or wait for, as a mask of bits sig - 1. Publisher only. */
uint64_t collect_signals(struct sampler *s);
/*
 * True when signals of ours may be sent to the thread. A thread that blocks them briefly, in another handler or in
 * pthread_create, is refused as well; it counts as collecting only when every reading for half a second finds them
 * blocked.
 *
 * libc's own critical sections, such as pthread_create, also block the signals that libc reserves, which no program
 * blocks through libc. A thread found in them for three seconds counts as collecting, unless it has handled a signal of
 * ours in this time or one of several readings within ten milliseconds finds it outside; the caller blocks for those. Any
 * thread.
 */
bool collect_permits(struct sampler *s, struct thread_slot *slot);
/*
 * True for a Java thread that has just started and has not been read yet. It may be armed at once, with the signal that
 * libc reserves, because a reading takes longer than some threads live. The next collect_poll reads it. Never true once
 * any thread of the session was found to collect signals or to have its own filters, since new threads inherit both
 * from their creators. Publisher only.
 */
bool collect_young(struct sampler *s, struct thread_slot *slot);
/*
 * Scans the threads that HotSpot does not know and those that were refused, or all of them; disarms and re-arms them
 * accordingly, and charges the CPU time of collecting threads. Sets s->collect_exposed. Returns how many threads collect
 * signals. Publisher only.
 */
uint32_t collect_poll(struct sampler *s, bool all);

#endif
