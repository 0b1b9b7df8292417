/* SPDX-License-Identifier: Apache-2.0 */
/* Roles that queue signals, run close to a limit, or forbid system calls. */
#include "neighbours.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* --- queued signals ---------------------------------------------------------------- */

static _Atomic long queued_next, queued_wrong;

static void on_queued(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	queued_wrong += info->si_code != SI_QUEUE || info->si_value.sival_int != queued_next++;
}

/* Signals that the program queues to itself arrive once each and in order. */
void role_queued(const struct role *role, struct report *report)
{
	struct sigaction action = {.sa_sigaction = on_queued, .sa_flags = SA_SIGINFO | SA_RESTART};
	long sent = 0;

	sigaction(SIGRTMIN + 3, &action, NULL);
	for (;; report->turns++) {
		for (int i = 0; i < role->argument; i++, sent++)
			pthread_sigqueue(pthread_self(), SIGRTMIN + 3,
				(union sigval){.sival_int = (int)sent});
		if (queued_next != sent || queued_wrong)
			role_harm(report, "queued signals lost or out of order:", queued_wrong);
		role_sleep_ms(2);
	}
}

/* --- limits ----------------------------------------------------------------------------------- */

/* A line "VmData:  123 kB" of /proc/self/status, in bytes. */
static long status_bytes(const char *key)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	long kb = 0;

	while (file && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, key, strlen(key)))
			sscanf(line + strlen(key), ": %ld", &kb);
	}
	if (file)
		fclose(file);
	return kb * 1024;
}

/* argument: the resource. Leaves 1 MB of data or address space, and nothing of any other resource. */
void role_limit(const struct role *role, struct report *report)
{
	int resource = (int)role->argument;
	rlim_t left = 0;
	struct rlimit limit;

	role_wait_ready();
	if (resource == RLIMIT_DATA)
		left = (rlim_t)status_bytes("VmData") + (1 << 20);
	if (resource == RLIMIT_AS)
		left = (rlim_t)status_bytes("VmSize") + (1 << 20);
	limit = (struct rlimit){left, left};
	if (setrlimit((__rlimit_resource_t)resource, &limit))
		role_harm(report, "setrlimit failed with errno", errno);
	for (;; report->turns++)
		role_sleep_ms(10);
}

/* --- system calls ----------------------------------------------------------------------------- */

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#else
#define ARCH AUDIT_ARCH_AARCH64
#endif

/* argument: a system call that ends the process; negative: -call, which fails with EPERM. For all threads of the process. */
void role_seccomp(const struct role *role, struct report *report)
{
	bool kills = role->argument >= 0;
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 0, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
			(unsigned)(kills ? role->argument : -role->argument), 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K,
			kills ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog program = {sizeof(rules) / sizeof(rules[0]), rules};

	role_wait_ready();
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program))
		role_harm(report, "seccomp failed with errno", errno);
	for (;; report->turns++)
		role_sleep_ms(10);
}

/*
 * argument: a call that does nothing and returns 0, in all threads of the process. A timer that the program has created
 * before must stay.
 */
void role_seccomp_fakes(const struct role *role, struct report *report)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)role->argument, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 0),
	};
	struct sock_fprog program = {sizeof(rules) / sizeof(rules[0]), rules};
	struct sigevent silent = {.sigev_notify = SIGEV_NONE};
	struct itimerspec left;
	timer_t own;

	timer_create(CLOCK_MONOTONIC, &silent, &own);
	role_wait_ready();
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program))
		role_harm(report, "seccomp failed with errno", errno);
	for (;; report->turns++) {
		if (timer_gettime(own, &left))
			role_harm(report, "its own timer was deleted, errno", errno);
		role_sleep_ms(10);
	}
}

/* A thread that computes and sleeps; its own filter kills the process for nearly all other calls. */
void role_seccomp_thread(const struct role *role, struct report *report)
{
	static const unsigned calls[] = {SYS_nanosleep, SYS_clock_nanosleep, SYS_restart_syscall,
		SYS_rt_sigreturn, SYS_exit, SYS_exit_group, SYS_futex};
	struct sock_filter rules[2 * sizeof(calls) / sizeof(calls[0]) + 2] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
	struct sock_fprog program = {1, rules};

	(void)role;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		rules[program.len++] =
			(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i], 0, 1);
		rules[program.len++] =
			(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	rules[program.len++] =
		(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
		role_harm(report, "seccomp failed with errno", errno);
	for (;; report->turns++) {
		for (volatile int i = 0; i < 20000000; i++)
			continue;
		role_sleep_ms(50);
	}
}

static void *strict_main(void *arg)
{
	struct report *report = arg;

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		role_harm(report, "seccomp failed with errno", errno);
	for (;; report->turns++)
		for (volatile int i = 0; i < 20000000; i++)
			continue;
	return NULL;
}

/* A thread that computes in seccomp's strict mode: any call but read, write, exit and sigreturn ends the thread. */
void role_seccomp_strict(const struct role *role, struct report *report)
{
	pthread_t thread;

	(void)role;
	role_wait_ready();
	pthread_create(&thread, NULL, strict_main, report);
	while (pthread_tryjoin_np(thread, NULL))
		role_sleep_ms(20);
	role_harm(report, "the thread was ended after turns:", (long)report->turns);
}
