/* SPDX-License-Identifier: Apache-2.0 */
/* The wall clock: declarations shared by its files, and its interface to the rest of the agent. Times are in ns. */
#ifndef JHOT_SAMPLER_ENGINE_WALL_H
#define JHOT_SAMPLER_ENGINE_WALL_H

#include "base/clock.h"

#include <stdbool.h>
#include <stdint.h>

struct sampler;
struct thread_slot;

/*
 * The state of a sample until it is published: enum wire_thread_state, or this one for a thread in futex(2) or a parked
 * virtual thread, whose frames show the reason.
 */
#define WALL_IN_FUTEX 15u

/*
 * The longest interval, in ns, of polling this many threads: 500 ms, or more if there would be over 400 polls a second.
 */
static inline uint64_t wall_round_longest(uint32_t threads)
{
	uint64_t round = threads * 5ull / 2 * NS_PER_MS, least = 500 * NS_PER_MS;

	return round > least ? round : least;
}

/*
 * wall_io.c: stores the object that a thread in this system call waits for in its slot, for the thread's next sample.
 * Wall clock's thread only.
 */
struct task_call;
struct descriptor_call;
struct descriptor_file;
void wall_io_note(struct sampler *s, struct thread_slot *slot, const struct task_call *call);

/* descriptor_ports.run */
bool wall_io_run(void *sampler, void (*function)(void *), void *ctx);

/* The id of the descriptor's description; 0: the name table is full. Wall clock's thread only. */
uint32_t wall_io_text(
	struct sampler *s, const struct descriptor_call *call, const struct descriptor_file *file);

/*
 * wall_waiting.c: unmounted virtual threads. Call wall_waiting_start before the wall clock's thread starts;
 * wall_waiting_poll is for that thread.
 */
void wall_waiting_start(struct sampler *s);
/*
 * Polls them if a poll is due; interval 0: unconditionally. Returns the time until the next poll if methods are measured, since that may
 * be less than the interval; else UINT64_MAX.
 */
uint64_t wall_waiting_poll(struct sampler *s, uint64_t interval);
uint64_t wall_waiting_memory(const struct sampler *s);

#endif
