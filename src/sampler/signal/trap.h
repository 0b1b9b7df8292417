/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registers sampled by a breakpoint on a function's first instruction: the first four arguments and the pc. perf
 * writes registers in the order of their bits (asm/perf_regs.h); the enum follows that order.
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
#error "unsupported CPU: define the registers of the first four arguments"
#endif

/* The index of an argument among the sampled registers. */
static inline uint32_t trap_argument(uint64_t number)
{
	static const uint8_t at[4] = {TRAP_ARG_0, TRAP_ARG_1, TRAP_ARG_2, TRAP_ARG_3};

	return at[number & 3];
}

#endif
