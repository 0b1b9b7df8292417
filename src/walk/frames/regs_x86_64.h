/* SPDX-License-Identifier: Apache-2.0 */
/* x86-64: rbx and r13 hold Method* and sender sp at interpreter entry, rax the popped return address. */
#ifndef JHOT_WALK_FRAMES_REGS_X86_64_H
#define JHOT_WALK_FRAMES_REGS_X86_64_H

#include <errno.h>
#include <ucontext.h>

#include "walk/load/mem.h"

static inline uint64_t regs_pc(const void *ucontext)
{
	return (uint64_t)((const ucontext_t *)ucontext)->uc_mcontext.gregs[REG_RIP];
}

static inline void regs_set_pc(void *ucontext, uint64_t pc)
{
	((ucontext_t *)ucontext)->uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
}

static inline void regs_read(const void *ucontext, struct walk_regs *out)
{
	const greg_t *g = ((const ucontext_t *)ucontext)->uc_mcontext.gregs;

	out->pc = (uint64_t)g[REG_RIP];
	out->sp = (uint64_t)g[REG_RSP];
	out->fp = (uint64_t)g[REG_RBP];
	out->method = (uint64_t)g[REG_RBX];
	out->sender = (uint64_t)g[REG_R13];
	out->link = (uint64_t)g[REG_RAX];
}

/*
 * regs_resumes: was the thread interrupted in a system call that goes on afterwards? The kernel lets it be made again, or
 * return EINTR. One that is over has another result.
 */
static inline bool regs_resumes(const void *ucontext, const struct walk_mem *mem)
{
	const greg_t *g = ((const ucontext_t *)ucontext)->uc_mcontext.gregs;
	uint64_t syscall = (uint64_t)g[REG_RIP] - (g[REG_RAX] == -EINTR ? 2 : 0);

	return mem_u16(mem, syscall) == 0x050f;
}

#endif
