/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registers that a breakpoint at a function's first instruction brings along: its arguments and where it
 * is. Perf writes them in the order of their bits.
 */
#ifndef JHOT_SAMPLER_SIGNAL_TRAP_H
#define JHOT_SAMPLER_SIGNAL_TRAP_H

#include <asm/perf_regs.h>
#include <stdint.h>

#define TRAP_BIT(reg) (1ull << PERF_REG_##reg)

#if defined(__x86_64__)
#define TRAP_REGS                                                                    \
	(TRAP_BIT(X86_CX) | TRAP_BIT(X86_DX) | TRAP_BIT(X86_SI) | TRAP_BIT(X86_DI) | \
		TRAP_BIT(X86_IP))
enum trap_register { TRAP_ARG_3, TRAP_ARG_2, TRAP_ARG_1, TRAP_ARG_0, TRAP_PC, TRAP_COUNT };
#elif defined(__aarch64__)
#define TRAP_REGS                                                                            \
	(TRAP_BIT(ARM64_X0) | TRAP_BIT(ARM64_X1) | TRAP_BIT(ARM64_X2) | TRAP_BIT(ARM64_X3) | \
		TRAP_BIT(ARM64_PC))
enum trap_register { TRAP_ARG_0, TRAP_ARG_1, TRAP_ARG_2, TRAP_ARG_3, TRAP_PC, TRAP_COUNT };
#else
#error "which registers hold the first four arguments on this CPU? add them here"
#endif

/* The argument's place among the registers. */
static inline uint32_t trap_argument(uint64_t number)
{
	static const uint8_t at[4] = {TRAP_ARG_0, TRAP_ARG_1, TRAP_ARG_2, TRAP_ARG_3};

	return at[number & 3];
}

#endif
