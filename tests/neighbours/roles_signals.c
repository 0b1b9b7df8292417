/* SPDX-License-Identifier: Apache-2.0 */
/* Roles of signals: threads that collect them, and code that changes handlers. */
#include "neighbours.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* All signals but SIGQUIT, by which any attach client wakes the JVM's attach listener. */
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
	}
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
		role_burn_ms(10);
		if (poll(&poller, 1, 10) > 0 && read(poller.fd, &info, sizeof(info)) > 0)
			role_harm(report, "the signalfd got signal", (long)info.ssi_signo);
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
			role_harm(report, "the touch did not fault", 0);
		}
		probing = 0;
		sigaction(SIGSEGV, &before, NULL);
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
			role_harm(report, "collected signal", sig);
	}
}
