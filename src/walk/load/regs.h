/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of an interrupted thread, read from the ucontext passed to its signal handler. Signal-safe. */
#ifndef JHOT_WALK_LOAD_REGS_H
#define JHOT_WALK_LOAD_REGS_H

#ifndef _GNU_SOURCE
#error "regs.h needs _GNU_SOURCE for the names of registers"
#endif

#include <errno.h>
#include <ucontext.h>

#include "walk/types.h"

/* Indexes of words in the mcontext, and the encoding of the system call instruction. */
#if defined(__x86_64__)
enum {
	REGS_PC = REG_RIP,
	REGS_SP = REG_RSP,
	REGS_FP = REG_RBP,
	REGS_METHOD = REG_RBX,
	REGS_SENDER = REG_R13,
	REGS_SENDER_19 = REG_R13,
	REGS_LINK = REG_RAX, /* some stubs have popped the return address into it */
	REGS_RESULT = REG_RAX,
	REGS_ARGUMENT = REG_RDI,
	REGS_SYSCALL_BYTES = 2,
};
#define REGS_SYSCALL 0x050fu
#elif defined(__aarch64__)
enum { /* sigcontext: fault_address, regs[31], sp, pc */
	REGS_PC = 33,
	REGS_SP = 32,
	REGS_FP = 1 + 29,
	REGS_METHOD = 1 + 12,
	REGS_SENDER = 1 + 19, /* r19_sender_sp in assembler_aarch64.hpp */
	REGS_SENDER_19 = 1 + 13,
	REGS_LINK = 1 + 30,
	REGS_RESULT = 1,
	REGS_ARGUMENT = 1, /* overwritten by the result */
	REGS_SYSCALL_BYTES = 4,
};
#define REGS_SYSCALL 0xd4000001u
#else
#error "unsupported CPU: define the indexes of its registers"
#endif

static inline uint64_t regs_word(const void *ucontext, unsigned which)
{
	uint64_t word;

	__builtin_memcpy(&word,
		(const char *)&((const ucontext_t *)ucontext)->uc_mcontext + 8 * which,
		sizeof(word));
	return word;
}

static inline uint64_t regs_pc(const void *ucontext)
{
	return regs_word(ucontext, REGS_PC);
}

static inline void regs_set_pc(void *ucontext, uint64_t pc)
{
	__builtin_memcpy(
		(char *)&((ucontext_t *)ucontext)->uc_mcontext + 8 * REGS_PC, &pc, sizeof(pc));
}

static inline void regs_read(const void *ucontext, struct walk_regs *out)
{
	out->pc = regs_word(ucontext, REGS_PC);
	out->sp = regs_word(ucontext, REGS_SP);
	out->fp = regs_word(ucontext, REGS_FP);
	out->method = regs_word(ucontext, REGS_METHOD);
	out->sender = regs_word(ucontext, REGS_SENDER);
	out->sender_19 = regs_word(ucontext, REGS_SENDER_19);
	out->link = regs_word(ucontext, REGS_LINK);
}

/*
 * True when the thread was interrupted in a system call that continues after the handler: the kernel restarts it, or makes
 * it return EINTR. A completed call has another result.
 */
static inline bool regs_resumes(const void *ucontext, const struct walk_mem *mem)
{
	bool again = (int64_t)regs_word(ucontext, REGS_RESULT) == -EINTR;
	uint64_t at = regs_pc(ucontext) - (again ? REGS_SYSCALL_BYTES : 0);
	uint32_t code = 0;

	return mem->load(mem, at, &code, REGS_SYSCALL_BYTES) && code == REGS_SYSCALL;
}

/*
 * True when the thread was interrupted in the system call that returns to this pc with this sp. The call may be restarted or
 * may already have completed: a thread that waits for a disk handles the signal only after the call.
 */
static inline bool regs_in_call(const void *ucontext, uint64_t sp, uint64_t pc)
{
	uint64_t at = regs_pc(ucontext);

	return regs_word(ucontext, REGS_SP) == sp && (at == pc || at + REGS_SYSCALL_BYTES == pc);
}

/* Stores the first argument of that system call. Returns false if the result has overwritten it. */
static inline bool regs_argument(const void *ucontext, uint64_t pc, uint64_t *out)
{
	*out = regs_word(ucontext, REGS_ARGUMENT);
	return (int)REGS_ARGUMENT != (int)REGS_RESULT || regs_pc(ucontext) != pc;
}

#endif
