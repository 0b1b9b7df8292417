/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wall clock: every thread is looked at once per interval, whether it runs or not.
 *
 * A thread of the agent goes round all threads. One that has not run since its last sample, but to go back to sleep
 * from that, is where it was: its trace counts again, without a signal. Any other is asked: the ns that the sample is to
 * stand for and what the thread is doing are put into its slot, and a signal makes its handler look there.
 * A sample stands for all the time since the thread's last one, so that a round that takes longer than the
 * interval, because there are many threads, loses nothing.
 */
#ifndef JHOT_SAMPLER_ENGINE_WALL_H
#define JHOT_SAMPLER_ENGINE_WALL_H

#include "sampler/sampler.h"

/*
 * The state of a sample until it is published: enum wire_thread_state, or this: the thread is in futex(2), or a virtual
 * one parked, and its frames tell why.
 */
#define WALL_IN_FUTEX 15u

/* wall_waiting.c: virtual threads that wait without a carrier; for the wall clock's thread, but for free. */
void wall_waiting_start(struct sampler *s);
/* interval 0: now. */
void wall_waiting_look(struct sampler *s, uint64_t interval);
void wall_waiting_free(struct sampler *s);
uint64_t wall_waiting_memory(const struct sampler *s);

#endif
