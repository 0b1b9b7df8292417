/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HotSpot stack walker: a library over memory.
 *
 * It reads a JVM's memory only through a struct walk_mem: in place or through the kernel inside the JVM
 * (load/here.h), process_vm_readv from outside, a recorded image in tests. Everything it knows of HotSpot's layout is in struct
 * walk_layout, read from HotSpot's own exported tables (gHotSpotVMStructs and friends); a required field
 * that is missing leaves the walker unavailable, with that field's name.
 *
 * walk_stack and all it calls are signal-safe: no locks, allocation, TLS, libc. Nothing here includes
 * anything outside this folder. Addresses are uint64_t in the target's space; 0 is never valid.
 */
#ifndef JHOT_WALK_WALK_H
#define JHOT_WALK_WALK_H

#include "walk/types.h"

/*
 * walk_stack: the user-space frames of a thread, leaf first, up to max. layout NULL: native frames by
 * frame pointers only. A walk that fails ends in a WALK_BREAK frame. Signal-safe. With a cut, `frames` must hold
 * limit + WALK_CUT_SPARE.
 */
struct walk_result walk_stack(const struct walk_layout *layout, const struct walk_mem *mem,
	const struct walk_regs *regs, const struct walk_thread *thread, struct walk_frame *frames,
	uint32_t max);

/*
 * walk_java: the frames of a thread that has left Java, from its newest Java frame on; what it does in native
 * code or in the JVM is not in it. The thread is the caller's own, or one that waits: after the walk it has to
 * be looked at again whether it did so all the time. Count 0: it has no Java frames.
 */
struct walk_result walk_java(const struct walk_layout *layout, const struct walk_mem *mem,
	const struct walk_thread *thread, struct walk_frame *frames, uint32_t max);

/*
 * walk_layout_test: what cannot be of this JVM if the layout is, in a sentence; NULL: nothing speaks against it. Not for
 * handlers; some ms.
 */
const char *walk_layout_test(const struct walk_layout *layout, const struct walk_mem *mem);

#endif
