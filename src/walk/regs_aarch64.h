/* SPDX-License-Identifier: Apache-2.0 */
/* aarch64: x12 and x19 hold Method* and sender sp at interpreter entry, x30 is the link register. */
#ifndef JHOT_WALK_REGS_AARCH64_H
#define JHOT_WALK_REGS_AARCH64_H

#include <ucontext.h>

#include "walk/walk.h"

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

#endif
