/* SPDX-License-Identifier: Apache-2.0 */
/* x86-64: rbx and r13 hold Method* and sender sp at interpreter entry, rax the popped return address. */
#ifndef JHOT_WALK_REGS_X86_64_H
#define JHOT_WALK_REGS_X86_64_H

#include <ucontext.h>

#include "walk/walk.h"

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

#endif
