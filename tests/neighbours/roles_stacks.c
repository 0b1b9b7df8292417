/* SPDX-License-Identifier: Apache-2.0 */
/* Roles with small stacks, or with locked memory. */
#include "neighbours.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define MARGIN  16384 /* bytes below a stack that are checked for overruns */
#define PATTERN 0x5a

/* Allocates a stack, which is never freed, with MARGIN bytes of the pattern below it. */
static unsigned char *stack_new(size_t bytes)
{
	unsigned char *memory = mmap(NULL, MARGIN + bytes + 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(memory, PATTERN, MARGIN);
	return memory + MARGIN;
}

/* How many bytes below the stack have been overwritten. */
static size_t stack_overrun(const unsigned char *stack)
{
	size_t intact = 0;

	while (intact < MARGIN && stack[(ptrdiff_t)intact - MARGIN] == PATTERN)
		intact++;
	return MARGIN - intact;
}

static void stack_check(unsigned char *stack, struct report *report)
{
	size_t overrun = stack_overrun(stack);

	if (overrun) {
		role_harm(report, "bytes overwritten below the stack:", (long)overrun);
		memset(stack - MARGIN, PATTERN, MARGIN);
	}
}

void role_altstack(const struct role *role, struct report *report)
{
	unsigned char *stack = stack_new((size_t)role->argument);
	stack_t alternate = {.ss_sp = stack, .ss_size = (size_t)role->argument};

	if (sigaltstack(&alternate, NULL))
		role_harm(report, "sigaltstack refused a stack of this size:", role->argument);
	for (;; report->turns++) {
		role_burn_ms(10);
		stack_check(stack, report);
		role_sleep_ms(90);
	}
}

/* One coroutine for each row: rows may share a JVM. */
struct coroutine {
	ucontext_t thread, own;
};

static void coroutine_main(unsigned high, unsigned low)
{
	struct coroutine *me = (void *)((uintptr_t)high << 32 | low);

	for (;;) {
		role_burn_ms(10);
		swapcontext(&me->own, &me->thread);
	}
}

void role_coroutine(const struct role *role, struct report *report)
{
	static struct coroutine coroutines[8];
	static _Atomic unsigned used;
	struct coroutine *me = &coroutines[used++];
	unsigned char *stack = stack_new((size_t)role->argument);

	getcontext(&me->own);
	me->own.uc_stack = (stack_t){.ss_sp = stack, .ss_size = (size_t)role->argument};
	makecontext(&me->own, (void (*)(void))coroutine_main, 2, (unsigned)((uintptr_t)me >> 32),
		(unsigned)(uintptr_t)me);
	for (;; report->turns++) {
		swapcontext(&me->thread, &me->own);
		stack_check(stack, report);
		role_sleep_ms(90);
	}
}

static void preempt(int sig)
{
	(void)sig;
}

/*
 * As Go does in a library: handles SIGURG on an alternate stack of 32 kB, and runs on a stack that is too small for a
 * signal handler.
 */
void role_goroutine(const struct role *role, struct report *report)
{
	struct sigaction handler = {.sa_handler = preempt, .sa_flags = SA_ONSTACK | SA_RESTART};
	stack_t alternate = {.ss_sp = stack_new(32768), .ss_size = 32768};

	sigaction(SIGURG, &handler, NULL);
	sigaltstack(&alternate, NULL);
	role_coroutine(role, report);
}

void role_mlockall(const struct role *role, struct report *report)
{
	(void)role;
	role_wait_ready();
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		role_harm(report, "mlockall failed", 0);
	for (;; report->turns++)
		role_sleep_ms(90);
}
