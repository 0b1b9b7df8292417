/* SPDX-License-Identifier: Apache-2.0 */
/* aarch64: x12 and x19 hold Method* and sender sp at interpreter entry, x30 is the link register. */
#ifndef JHOT_WALK_FRAMES_REGS_AARCH64_H
#define JHOT_WALK_FRAMES_REGS_AARCH64_H

#include <errno.h>
#include <ucontext.h>

#include "walk/load/mem.h"

static inline uint64_t regs_pc(const void *ucontext)
{
	return ((const ucontext_t *)ucontext)->uc_mcontext.pc;
}

static inline void regs_set_pc(void *ucontext, uint64_t pc)
{
	((ucontext_t *)ucontext)->uc_mcontext.pc = pc;
}

static inline void regs_read(const void *ucontext, struct walk_regs *out)
{
	const mcontext_t *m = &((const ucontext_t *)ucontext)->uc_mcontext;

	out->pc = m->pc;
	out->sp = m->sp;
	out->fp = m->regs[29];
	out->method = m->regs[12];
	out->sender = m->regs[19];
	out->link = m->regs[30];
}

/*
 * regs_resumes: was the thread interrupted in a system call that goes on afterwards? The kernel lets it be made again, or
 * return EINTR. One that is over has another result.
 */
static inline bool regs_resumes(const void *ucontext, const struct walk_mem *mem)
{
	const mcontext_t *m = &((const ucontext_t *)ucontext)->uc_mcontext;
	uint64_t svc = m->pc - ((int64_t)m->regs[0] == -EINTR ? 4 : 0);

	return mem_u32(mem, svc) == 0xd4000001u;
}

#endif
