/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What differs between the CPUs: constants of HotSpot's frames and the instruction patterns around them.
 * arch_x86_64.c and arch_aarch64.c each define all functions; only one of them is not empty.
 */
#ifndef JHOT_WALK_LOAD_ARCH_H
#define JHOT_WALK_LOAD_ARCH_H

#include "walk/types.h"

#if defined(__x86_64__)
#define ARCH_INTERP_BCP_8    (-7)
#define ARCH_INTERP_BCP_9    (-8)
#define ARCH_WRAPPER_SINCE   0 /* frame::entry_frame_call_wrapper_offset is exported by all */
#define ARCH_WRAPPER_UNTIL   99
#define ARCH_WRAPPER_WORDS   0
#define ARCH_PC_MASK         UINT64_MAX
#define ARCH_COLOURS_OVERLAP 1 /* zPointer: x86-64 shifts its colours out as it loads */
#define ARCH_HAS_LINK        0
#define ARCH_BRANCH_BYTES    6 /* of a conditional branch that leads far */
#elif defined(__aarch64__)
#define ARCH_INTERP_BCP_8    (-7)
#define ARCH_INTERP_BCP_9    (-9)
#define ARCH_WRAPPER_SINCE   100 /* by none: stubGenerator_aarch64.cpp has kept it at -8 words */
#define ARCH_WRAPPER_UNTIL   0
#define ARCH_WRAPPER_WORDS   (-8)
#define ARCH_PC_MASK         0x0000ffffffffffffull /* return addresses may carry a signature */
#define ARCH_COLOURS_OVERLAP 0
#define ARCH_HAS_LINK        1
#define ARCH_BRANCH_BYTES    4
#else
#error "no arch_*.c for this CPU"
#endif

/* Where the sender of an interrupted piece of code is, as its instructions tell. */
enum arch_prologue {
	ARCH_BODY,     /* nothing special at this pc: the frame is as its description says */
	ARCH_LEAVING,  /* the same, but what comes next removes it */
	ARCH_NO_FRAME, /* x86-64: the return address is at [sp]; aarch64: in lr */
	ARCH_PUSHED,   /* x86-64: [sp] is the saved fp, [sp + 8] the return address */
	ARCH_UNSAVED,  /* the frame has its size but does not hold the caller's fp yet */
};

/* Whether the instruction before pc is a call. */
bool arch_after_call(const struct walk_mem *mem, uint64_t pc);
/* Whether it is a direct one, of code from low to end. */
bool arch_after_call_of(const struct walk_mem *mem, uint64_t pc, uint64_t low, uint64_t end);

/* Where the direct call that ends at pc leads; 0: there is none. */
uint64_t arch_call_target(const struct walk_mem *mem, uint64_t pc);

/* The end of the instruction at pc, which accesses memory; 0: it is of an unknown form. */
uint64_t arch_access_end(const struct walk_mem *mem, uint64_t pc);

/* Finds the first conditional branch with a long displacement in [*at, limit). True: sets *target, and moves *at past the branch. */
bool arch_branch_next(const struct walk_mem *mem, uint64_t *at, uint64_t limit, uint64_t *target);

/*
 * The code that a call of C1's slow paths returns to, at pc: how many bytes of arguments it takes from the stack that were put there
 * for the call. *back: where it jumps to then, and nothing else; 0: it goes on.
 */
uint64_t arch_arguments(const struct walk_mem *mem, uint64_t pc, uint64_t *back);

/* Where the first jump in C2's slow path from pc to end leads that goes to between low and pc; 0: none does. */
uint64_t arch_jump_back(const struct walk_mem *mem, uint64_t pc, uint64_t low, uint64_t end);

/* Whether signal handlers return to pc. */
bool arch_at_trampoline(const struct walk_mem *mem, uint64_t pc);

/* Prologue, epilogue or poll of compiled code that was interrupted at pc. entry: where its frame is built. */
enum arch_prologue arch_compiled_prologue(
	const struct walk_mem *mem, uint64_t pc, uint64_t entry, uint64_t complete);

/* Prologue or return of a native function, or of a stub, that keeps a frame pointer. */
enum arch_prologue arch_native_prologue(const struct walk_mem *mem, uint64_t pc);

#endif
