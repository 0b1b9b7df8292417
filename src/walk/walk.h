/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HotSpot stack walker: a library over memory, with no state of its own.
 *
 * It reads a JVM's memory only through a struct walk_mem: in place or through the kernel inside the JVM (load/self.h), with
 * process_vm_readv from outside, from a recorded image in tests. All knowledge of HotSpot's layout is in struct walk_layout,
 * read from HotSpot's own exported tables (gHotSpotVMStructs and friends). If a required field is missing, the walker is
 * unavailable and the note names that field.
 *
 * walk_stack and everything it calls are signal-safe: no locks, allocation, TLS or libc. Nothing here includes anything
 * outside this folder. Addresses are uint64_t in the target's address space; 0 is never a valid address.
 */
#ifndef JHOT_WALK_WALK_H
#define JHOT_WALK_WALK_H

#include "walk/types.h"

/*
 * Stores the user-space frames of a thread, leaf first, at most max. A NULL layout restricts the walk to native frames by
 * frame pointers. A walk that fails ends in a WALK_BREAK frame. With thread->cut, `frames` must hold limit +
 * WALK_CUT_SPARE frames. Signal-safe.
 */
struct walk_result walk_stack(const struct walk_layout *layout, const struct walk_mem *mem,
	const struct walk_regs *regs, const struct walk_thread *thread, struct walk_frame *frames,
	uint32_t max);

/*
 * Stores the frames of a thread that has left Java, from its newest Java frame outwards; frames of native code or of the JVM
 * below that are omitted. The thread must be the caller's own, or be blocked: the caller must verify after the walk that it
 * stayed blocked throughout. Count 0: the thread has no Java frames.
 */
struct walk_result walk_java(const struct walk_layout *layout, const struct walk_mem *mem,
	const struct walk_thread *thread, struct walk_frame *frames, uint32_t max);

/*
 * Sanity check of a layout. Returns a sentence about the first finding that contradicts it, NULL if there is none. Takes a
 * few ms; not for signal handlers.
 */
const char *walk_layout_test(const struct walk_layout *layout, const struct walk_mem *mem);

#endif
