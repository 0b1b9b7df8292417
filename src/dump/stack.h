/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames with names: what walk_stack found, and what the kernel tells of its own frames.
 *
 * Names of methods are read from the target's memory as they are met. One thread.
 */
#ifndef JHOT_DUMP_STACK_H
#define JHOT_DUMP_STACK_H

#include "dump/dump.h"
#include "dump/modules.h"
#include "walk/walk.h"

struct stack_namer;

struct stack_namer *stack_namer_new(struct modules *modules, const struct walk_layout *layout);
void stack_namer_free(struct stack_namer *n);

/* Adds the frames to the thread's; layout NULL: they are native ones only. */
void stack_add(struct stack_namer *n, const struct walk_mem *mem, const struct walk_frame *frames,
	uint32_t count, struct dump_thread *to);

/* The kernel's frames of a thread that waits in it, where we may see them (root). */
void stack_add_kernel(pid_t pid, struct dump_thread *to);

#endif
