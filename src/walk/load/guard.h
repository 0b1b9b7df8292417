/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guarded loads inside the own process: a load that faults fails instead of killing the process.
 *
 * Each load is one instruction, in the middle of the code that wants the word; the linker makes a table of where they
 * are, and where to go on when one has faulted. Whoever owns SIGSEGV and SIGBUS calls guard_recover first; it
 * recognises a fault by its pc alone (HotSpot uses both signals for itself, and all its faults have other pcs), moves
 * the pc to where the load has failed and says true: return from the handler. SIGSEGV and SIGBUS must not be blocked
 * where guarded loads run, signal handlers included: so the handler of these two blocks every signal whose own handler loads (sa_mask).
 * No state: any number of threads and nested handlers may load at once.
 */
#ifndef JHOT_WALK_LOAD_GUARD_H
#define JHOT_WALK_LOAD_GUARD_H

#include "walk/types.h"

/* A word at any address, read as no other type would be. */
#define GUARD_WORD(bits)             \
	struct guard_##bits {        \
		uint##bits##_t word; \
	} __attribute__((packed, may_alias))
GUARD_WORD(64);
GUARD_WORD(32);
GUARD_WORD(16);
GUARD_WORD(8);

#if defined(__x86_64__)
#define GUARD_PLACE  "m"
#define GUARD_MOV_64 "mov %[at], %[to]"
#define GUARD_MOV_32 "movl %[at], %k[to]"
#define GUARD_MOV_16 "movzwl %[at], %k[to]"
#define GUARD_MOV_8  "movzbl %[at], %k[to]"
#define GUARD_NONE   "xor %k[to], %k[to]\n	jmp 2b\n"
#define GUARD_FAILED "xor %k[read], %k[read]\n	jmp 2b\n"
#elif defined(__aarch64__)
#define GUARD_PLACE  "Q" /* a register alone: each of the four can address that */
#define GUARD_MOV_64 "ldr %[to], %[at]"
#define GUARD_MOV_32 "ldr %w[to], %[at]"
#define GUARD_MOV_16 "ldrh %w[to], %[at]"
#define GUARD_MOV_8  "ldrb %w[to], %[at]"
#define GUARD_NONE   "mov %[to], xzr\n	b 2b\n"
#define GUARD_FAILED "mov %w[read], wzr\n	b 2b\n"
#endif

/* Where the load is, and where to go on when it has faulted, both from the place of the entry itself. */
#define GUARD_CODE(load, failed)                            \
	"1:	" load "\n"                                 \
	"2:\n"                                              \
	".pushsection .text.unlikely, \"ax\", %%progbits\n" \
	"3:	" failed ".popsection\n"                    \
	".pushsection guard_table, \"a\", %%progbits\n"     \
	"	.balign 4\n"                                      \
	"	.long 1b - ., 3b - .\n"                           \
	".popsection\n"
#define GUARD_AT(bits, addr) (*(const struct guard_##bits *)(uintptr_t)(addr))

/* The word at addr into value (uint64_t), 0 when it cannot be read. */
#define GUARD_READ(bits, addr, value)                             \
	__asm__ volatile(GUARD_CODE(GUARD_MOV_##bits, GUARD_NONE) \
			 : [to] "=r"(value)                       \
			 : [at] GUARD_PLACE(GUARD_AT(bits, addr)))
/* The same, for whom 0 is a word as any other: read (unsigned, 1 before) is 0 when it cannot be read. */
#define GUARD_READ_SURE(bits, addr, value, read)                    \
	__asm__ volatile(GUARD_CODE(GUARD_MOV_##bits, GUARD_FAILED) \
			 : [to] "=&r"(value), [read] "+r"(read)     \
			 : [at] GUARD_PLACE(GUARD_AT(bits, addr)))

/* A walk_mem.load for the own process. Signal-safe. */
bool guard_load(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes)
	__attribute__((visibility("hidden")));

/* In a SIGSEGV or SIGBUS handler: true when the fault was a guarded load's and has been dealt with. */
bool guard_recover(void *ucontext);

#define GUARD_MEM                                                \
	{                                                        \
		.load = guard_load, .ctx = NULL, .is_here = true \
	}

#endif
