/* SPDX-License-Identifier: Apache-2.0 */
/* What the wall clock's files share, and what others ask of them. */
#ifndef JHOT_SAMPLER_ENGINE_WALL_H
#define JHOT_SAMPLER_ENGINE_WALL_H

#include <stdbool.h>
#include <stdint.h>

struct sampler;
struct thread_slot;

/*
 * The state of a sample until it is published: enum wire_thread_state, or this: the thread is in futex(2), or a virtual
 * one parked, and its frames tell why.
 */
#define WALL_IN_FUTEX 15u

/*
 * wall_io.c: what a thread waits for that is in this system call, into its slot, for the handler that is asked next; for
 * the wall clock's thread.
 */
struct task_call;
struct descriptor_call;
struct descriptor_file;
void wall_io_note(struct sampler *s, struct thread_slot *slot, const struct task_call *call);

/* descriptor_ports.run */
bool wall_io_run(void *sampler, void (*function)(void *), void *ctx);

/* What this descriptor is, as a name's id; 0: there is no space for it. Likewise. */
uint32_t wall_io_text(
	struct sampler *s, const struct descriptor_call *call, const struct descriptor_file *file);

/* wall_waiting.c: virtual threads that wait without a carrier; for the wall clock's thread. */
void wall_waiting_start(struct sampler *s);
/* interval 0: now. */
void wall_waiting_look(struct sampler *s, uint64_t interval);
uint64_t wall_waiting_memory(const struct sampler *s);

#endif
