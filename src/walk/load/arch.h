/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU dependencies: constants of HotSpot's frames and the instruction patterns around them. arch_x86_64.c and
 * arch_aarch64.c each define all functions; only one of them is compiled to code. Signal-safe; code is read through a struct
 * walk_mem, and unreadable code matches no pattern.
 */
#ifndef JHOT_WALK_LOAD_ARCH_H
#define JHOT_WALK_LOAD_ARCH_H

#include "walk/types.h"

#if defined(__x86_64__)
#define ARCH_INTERP_BCP_8   (-7)
#define ARCH_INTERP_BCP_9   (-8)
#define ARCH_WRAPPER_SINCE  0 /* every JDK exports frame::entry_frame_call_wrapper_offset */
#define ARCH_WRAPPER_UNTIL  99
#define ARCH_WRAPPER_WORDS  0
#define ARCH_PC_MASK        UINT64_MAX
#define ARCH_COLORS_OVERLAP 1 /* zPointer: x86-64 shifts the colors out on load */
#define ARCH_HAS_LINK       0
#define ARCH_BRANCH_BYTES   6 /* of a conditional branch with a long displacement */
#elif defined(__aarch64__)
#define ARCH_INTERP_BCP_8   (-7)
#define ARCH_INTERP_BCP_9   (-9)
#define ARCH_WRAPPER_SINCE  100 /* exported by no JDK: -8 words in stubGenerator_aarch64.cpp */
#define ARCH_WRAPPER_UNTIL  0
#define ARCH_WRAPPER_WORDS  (-8)
#define ARCH_PC_MASK        0x0000ffffffffffffull /* strips pointer-authentication bits */
#define ARCH_COLORS_OVERLAP 0
#define ARCH_HAS_LINK       1
#define ARCH_BRANCH_BYTES   4
#else
#error "no arch_*.c for this CPU"
#endif

/* Where the caller of interrupted code is, according to the instructions around pc. */
enum arch_prologue {
	ARCH_BODY,     /* nothing special: the frame is as its description says */
	ARCH_LEAVING,  /* likewise, but the next instructions remove the frame */
	ARCH_NO_FRAME, /* x86-64: the return address is at [sp]; aarch64: in lr */
	ARCH_PUSHED,   /* x86-64: [sp] is the saved fp, [sp + 8] the return address */
	ARCH_UNSAVED,  /* the frame has its full size but does not hold the caller's fp yet */
};

/* True when the instruction before pc is a call. */
bool arch_after_call(const struct walk_mem *mem, uint64_t pc);
/* Target of the direct call that ends at pc; 0: there is none. */
uint64_t arch_call_target(const struct walk_mem *mem, uint64_t pc);

/* True when the instruction before pc is a direct call to code in [low, end). */
static inline bool arch_after_call_of(
	const struct walk_mem *mem, uint64_t pc, uint64_t low, uint64_t end)
{
	uint64_t target = arch_call_target(mem, pc);

	return target && target - low < end - low;
}

/* End of the memory-accessing instruction at pc; 0: unknown form. */
uint64_t arch_access_end(const struct walk_mem *mem, uint64_t pc);

/* Finds the first conditional branch with a long displacement in [*at, limit): sets *target, and *at to the branch's end. */
bool arch_branch_next(const struct walk_mem *mem, uint64_t *at, uint64_t limit, uint64_t *target);

/*
 * For pc, the return address of a call made by a C1 slow path: bytes of arguments that were pushed for the call and that the
 * code at pc pops. *back: target of the jump that follows immediately; 0: execution falls through.
 */
uint64_t arch_arguments(const struct walk_mem *mem, uint64_t pc, uint64_t *back);

/* Target of the first jump in C2's slow path in [pc, end) that leads into [low, pc); 0: none does. */
uint64_t arch_jump_back(const struct walk_mem *mem, uint64_t pc, uint64_t low, uint64_t end);

/* True when pc is at a signal trampoline, to which signal handlers return. */
bool arch_at_trampoline(const struct walk_mem *mem, uint64_t pc);

/* State of compiled code interrupted at pc: prologue, epilogue or poll. entry: where the frame is built. */
enum arch_prologue arch_compiled_prologue(
	const struct walk_mem *mem, uint64_t pc, uint64_t entry, uint64_t complete);

/* State of a native function or stub that keeps a frame pointer: prologue or return. */
enum arch_prologue arch_native_prologue(const struct walk_mem *mem, uint64_t pc);

#endif
