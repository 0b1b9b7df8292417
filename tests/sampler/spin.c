/* SPDX-License-Identifier: Apache-2.0 */
/* A library for java.lang.System.load: native code without frame pointers, four calls deep, for a while. */
#include <stdint.h>

uint64_t Java_Loader_spin(void *env, void *class, uint64_t rounds);

#define DEEPER __attribute__((noinline, noclone, optimize("omit-frame-pointer")))

/* The frame pointer's register holds other data: a walk by frame pointers fails here. */
static DEEPER uint64_t spin_leaf(uint64_t x, uint64_t rounds)
{
#if defined(__x86_64__)
	__asm__ volatile("mov %0, %%rbp" : : "r"(x) : "rbp");
#elif defined(__aarch64__)
	__asm__ volatile("mov x29, %0" : : "r"(x) : "x29");
#endif
	for (uint64_t i = 0; i < rounds; i++)
		x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9ull;
	return x;
}

static DEEPER uint64_t spin_middle(volatile uint64_t *x, uint64_t rounds)
{
	uint64_t space[32];

	space[*x & 31] = *x;
	*x ^= spin_leaf(space[*x & 31], rounds);
	return *x;
}

static DEEPER uint64_t spin_top(uint64_t rounds)
{
	volatile uint64_t x = rounds;

	for (int i = 0; i < 100; i++)
		spin_middle(&x, rounds / 100);
	return x;
}

uint64_t Java_Loader_spin(void *env, void *class, uint64_t rounds)
{
	uint64_t x = spin_top(rounds);

	(void)env;
	(void)class;
	return x ^ rounds; /* no tail call */
}
