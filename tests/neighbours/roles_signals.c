/* SPDX-License-Identifier: Apache-2.0 */
/* Roles that collect signals in a thread, or change signal handlers. */
#include "neighbours.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* Blocks all signals. collected: all but SIGQUIT, by which any attach client wakes the JVM's attach listener. */
static void block_all(sigset_t *collected)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	*collected = all;
	sigdelset(collected, SIGQUIT);
}

void role_sigwait(const struct role *role, struct report *report)
{
	struct timespec patience = {0, 20000000};
	sigset_t collected;

	(void)role;
	block_all(&collected);
	for (;; report->turns++) {
		int sig = sigtimedwait(&collected, NULL, &patience);

		if (sig > 0)
			role_harm(report, "sigtimedwait returned signal", sig);
		else if (errno == EINTR)
			role_harm(report, "sigtimedwait was interrupted", 0);
	}
}

/*
 * Computes for some milliseconds. Returns true if a signal was handled on this stack in that time: the kernel's frame, of
 * at least 800 bytes beyond the red zone, overwrites the bytes below the stack pointer, which nothing else does, as
 * this calls nothing.
 */
__attribute__((noinline)) static int burn_and_watch(void)
{
	volatile unsigned char here = 0, *below = (unsigned char *)((uintptr_t)&here - 700);
	int changed = 0;

	for (int i = 0; i < 64; i++)
		below[i] = 0xa5;
	for (volatile long i = 0; i < 10000000; i++)
		continue;
	for (int i = 0; i < 64; i++)
		changed |= below[i] != 0xa5;
	return changed;
}

void role_signalfd(const struct role *role, struct report *report)
{
	struct signalfd_siginfo info;
	struct pollfd poller = {.events = POLLIN};
	sigset_t collected;

	(void)role;
	block_all(&collected);
	poller.fd = signalfd(-1, &collected, SFD_CLOEXEC);
	for (;; report->turns++) {
		int ready;

		if (burn_and_watch())
			role_harm(report, "a signal was handled", 0);
		ready = poll(&poller, 1, 50);
		if (ready > 0 && read(poller.fd, &info, sizeof(info)) > 0)
			role_harm(report, "the signalfd got signal", (long)info.ssi_signo);
		else if (ready < 0)
			role_harm(report, "poll failed with errno", errno);
	}
}

/* Alternates between collecting signals and handling them as the thread did before. */
void role_sigwait_late(const struct role *role, struct report *report)
{
	struct timespec at_once = {0, 0};
	sigset_t collected, before;

	(void)role;
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	role_wait_ready();
	for (;; report->turns++) {
		int sig;

		for (int turns = 0; turns < 20; turns++) {
			role_burn_ms(10);
			role_sleep_ms(10);
		}
		block_all(&collected);
		for (int turns = 0; turns < 20; turns++) {
			role_burn_ms(10);
			sig = sigtimedwait(&collected, NULL, &at_once);
			if (sig > 0)
				role_harm(report, "sigtimedwait returned signal", sig);
			role_sleep_ms(10);
		}
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
}

/* --- SIGSEGV ---------------------------------------------------------------------------------- */

static sigjmp_buf probe_back;
static _Atomic int probing;
static pthread_t prober;
static struct sigaction before;

/* Faults of other threads belong to the JVM's handler. */
static void probe_fault(int sig, siginfo_t *info, void *context)
{
	if (probing && pthread_equal(prober, pthread_self()))
		siglongjmp(probe_back, 1);
	before.sa_sigaction(sig, info, context);
}

void role_prober(const struct role *role, struct report *report)
{
	volatile char *hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sigaction mine = {
		.sa_sigaction = probe_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};

	(void)role;
	role_wait_ready();
	prober = pthread_self();
	for (;; report->turns++) {
		sigaction(SIGSEGV, NULL, &before);
		sigaction(SIGSEGV, &mine, NULL);
		probing = 1;
		if (!sigsetjmp(probe_back, 1)) {
			*hole = 1;
			role_harm(report, "the access to the protected page did not fault", 0);
		}
		probing = 0;
		sigaction(SIGSEGV, &before, NULL);
		role_sleep_ms(1);
	}
}

/* --- memory whose faults a library handles --------------------------------------------------- */

void role_run_unframed(uint64_t rounds, volatile void *frame)
{
#if defined(__x86_64__)
	/* push rbp; mov rbp, rsi; 1: dec rdi; jnz 1b; pop rbp; ret */
	static const unsigned char code[] = {
		0x55, 0x48, 0x89, 0xf5, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d, 0xc3};
	void (*run)(uint64_t rounds, volatile void *frame);
	void *at = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(at, code, sizeof(code));
	memcpy(&run, &at, sizeof(run));
	run(rounds, frame);
	munmap(at, 4096);
#else
	(void)rounds;
	(void)frame;
#endif
}

static void *unframed_main(void *hole)
{
#if defined(__x86_64__)
	for (;;)
#endif
		role_run_unframed(10000000, hole);
	return NULL;
}

#define GUARD_STACK 65536u
static volatile char *guarded;
static struct report *guard_report;

static void guard_fault(int sig, siginfo_t *info, void *context)
{
	if ((uintptr_t)info->si_addr - (uintptr_t)guarded < 4096)
		role_harm(guard_report, "the guarded page was accessed, signal", sig);
	before.sa_sigaction(sig, info, context);
}

/*
 * Keeps its handler on top of all that others install. A busy thread has a frame pointer that leads to the page right
 * above its stack: any walk that follows frame pointers reads there.
 */
void role_guarded(const struct role *role, struct report *report)
{
	struct sigaction mine = {.sa_sigaction = guard_fault,
				 .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER},
			 now;
	char *stack = mmap(NULL, GUARD_STACK + 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attributes;
	pthread_t thread;

	(void)role;
	guard_report = report;
	guarded = stack + GUARD_STACK;
	mprotect(stack + GUARD_STACK, 4096, PROT_NONE);
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, stack, GUARD_STACK);
	role_wait_ready();
	pthread_create(&thread, &attributes, unframed_main, stack + GUARD_STACK + 256);
	for (;; report->turns++) {
		sigaction(SIGSEGV, NULL, &now);
		if (now.sa_sigaction != guard_fault) {
			before = now;
			sigaction(SIGSEGV, &mine, NULL);
		}
		role_sleep_ms(1);
	}
}

void role_flipper(const struct role *role, struct report *report)
{
	struct sigaction kept;

	(void)role;
	role_wait_ready();
	sigaction(SIGSEGV, NULL, &kept);
	for (;; report->turns++) {
		sigaction(SIGSEGV, &kept, NULL);
		role_sleep_ms(1);
	}
}

/* --- SIGQUIT ---------------------------------------------------------------------------------- */

static struct report *quit_report;

static void quit(int sig)
{
	role_harm(quit_report, "the program's handler got signal", sig);
}

void role_sigquit(const struct role *role, struct report *report)
{
	struct sigaction mine = {.sa_handler = quit, .sa_flags = SA_RESTART};

	char socket[64];

	snprintf(socket, sizeof(socket), "/tmp/.java_pid%d", (int)getpid());
	quit_report = report;
	sigaction(SIGQUIT, &mine, NULL);
	for (;; report->turns++) {
		role_sleep_ms(10);
		if (role->argument)
			unlink(socket);
	}
}

void role_quit_collector(const struct role *role, struct report *report)
{
	const struct timespec second = {1, 0};
	sigset_t set;
	int sig;

	(void)role;
	sigemptyset(&set);
	sigaddset(&set, SIGQUIT);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (;; report->turns++) {
		sig = sigtimedwait(&set, NULL, &second);
		if (sig > 0)
			role_harm(report, "the thread collected signal", sig);
	}
}
