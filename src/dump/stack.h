/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts frames to names: the result of walk_stack, and the kernel's own frames.
 *
 * Names of methods are read from the target's memory on demand, and cached. The frames added belong to the dump (dump_done).
 * Single-threaded.
 */
#ifndef JHOT_DUMP_STACK_H
#define JHOT_DUMP_STACK_H

#include "dump/dump.h"
#include "dump/modules.h"
#include "walk/walk.h"

struct stack_namer;

/* NULL if memory is short. layout NULL: for native frames only. Modules and layout are borrowed. */
struct stack_namer *stack_namer_new(struct modules *modules, const struct walk_layout *layout);
void stack_namer_free(struct stack_namer *n);

/* Appends the frames of a walk to the thread's. mem: where names that are not cached yet are read. */
void stack_add(struct stack_namer *n, const struct walk_mem *mem, const struct walk_frame *frames,
	uint32_t count, struct dump_thread *to);

/* Appends the kernel frames of a blocked thread, leaf first, if we may read them (root). Call before stack_add. */
void stack_add_kernel(pid_t pid, struct dump_thread *to);

#endif
