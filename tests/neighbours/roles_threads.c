/* SPDX-License-Identifier: Apache-2.0 */
/* Roles whose threads run with unusual registers, permissions or stacks, or are changed by others. */
#include "neighbours.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 20000000ul /* some 10 ms */

/* --- changed by others ------------------------------------------------------------------------------------ */

static long elapsed_ms(const struct timespec *since)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - since->tv_sec) * 1000 + (now.tv_nsec - since->tv_nsec) / 1000000;
}

/* Changes its effective group to the same one: libc does so in every thread of the process, and waits for each. */
void role_setxid(const struct role *role, struct report *report)
{
	struct timespec begin;

	(void)role;
	role_wait_ready();
	for (;; report->turns++) {
		clock_gettime(CLOCK_MONOTONIC, &begin);
		if (setegid(getegid()))
			role_harm(report, "setegid failed with errno", errno);
		if (elapsed_ms(&begin) > 3000)
			role_harm(report, "setegid took ms:", elapsed_ms(&begin));
		role_sleep_ms(50);
	}
}

static void *cancelled_main(void *asynchronous)
{
	if (asynchronous)
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;) {
		for (volatile int i = 0; i < 100000; i++)
			continue;
		pthread_testcancel();
		usleep(100);
	}
	return NULL;
}

/* Starts threads and cancels them while they run or wait. */
void role_cancel(const struct role *role, struct report *report)
{
	pthread_t threads[4];

	(void)role;
	role_wait_ready();
	for (;; report->turns++) {
		for (int i = 0; i < 4; i++)
			pthread_create(&threads[i], NULL, cancelled_main, i & 1 ? report : NULL);
		role_sleep_ms(20);
		for (int i = 0; i < 4; i++) {
			struct timespec end;
			void *result = NULL;

			pthread_cancel(threads[i]);
			clock_gettime(CLOCK_REALTIME, &end);
			end.tv_sec += 10;
			if (pthread_timedjoin_np(threads[i], &result, &end))
				role_harm(report, "a cancelled thread does not end:", i);
			else if (result != PTHREAD_CANCELED)
				role_harm(report, "a cancelled thread returned:", i);
		}
	}
}

/* Seizes the threads of this process that are not seized yet; interrupts them all if asked to. */
static void seize(pid_t pid, bool seized[4096], bool interrupt)
{
	struct dirent *entry;
	char path[64];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		int tid = atoi(entry->d_name);

		if (tid > 0 && !seized[tid % 4096])
			seized[tid % 4096] = !ptrace(PTRACE_SEIZE, tid, 0, 0);
		if (tid > 0 && interrupt)
			ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	}
	if (tasks)
		closedir(tasks);
}

/* A debugger: delivers all signals of its tracees, and interrupts them now and then. */
static void trace(pid_t pid)
{
	static bool seized[4096];

	for (unsigned turn = 0; !kill(pid, 0) && getppid() == pid; turn++) {
		int status, tid;

		if (turn % 50 == 0)
			seize(pid, seized, turn % 200 == 0);
		while ((tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0) {
			if (WIFSTOPPED(status))
				ptrace(PTRACE_CONT, tid, 0, status >> 16 ? 0 : WSTOPSIG(status));
			else
				seized[tid % 4096] = false;
		}
		role_sleep_ms(1);
	}
	_exit(0);
}

/* A child process traces all threads of this one. */
void role_traced(const struct role *role, struct report *report)
{
	pid_t parent = getpid();

	(void)role;
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	role_wait_ready();
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		trace(parent);
	}
	for (;; report->turns++)
		role_sleep_ms(50);
}

/* --- forks ------------------------------------------------------------------------------------------------- */

/* In the child: signals that are ignored by default are ignored, also where handlers are inherited. */
static int forked_main(void)
{
	for (int i = 0; i < 20; i++) {
		kill(getpid(), SIGURG);
		pthread_kill(pthread_self(), SIGWINCH);
		role_sleep_ms(5);
	}
	return 0;
}

/* Forks children that run for a while without exec, and get signals. */
void role_forker(const struct role *role, struct report *report)
{
	(void)role;
	role_wait_ready();
	for (;; report->turns++) {
		int status = 0;
		pid_t pid = fork();

		if (pid == 0)
			_exit(forked_main());
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			continue;
		if (status)
			role_harm(report, "a child ended with status", status);
		role_sleep_ms(5);
	}
}

/* --- registers and permissions ----------------------------------------------------------------------------- */

/* A busy thread that may not read the time stamp counter. */
void role_no_counter(const struct role *role, struct report *report)
{
	(void)role;
	role_wait_ready();
#if defined(__x86_64__)
	if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0))
		role_harm(report, "prctl failed with errno", errno);
#endif
	for (;; report->turns++) {
		struct timespec pause = {0, 20000000};

		for (volatile unsigned long i = 0; i < ROUNDS; i++)
			continue;
		syscall(SYS_nanosleep, &pause, NULL);
	}
}

/* A busy thread in which misaligned accesses fault. */
void role_aligned(const struct role *role, struct report *report)
{
	(void)role;
	role_wait_ready();
	for (;; report->turns++) {
#if defined(__x86_64__)
		unsigned long rounds = ROUNDS;

		__asm__ volatile("sub $256, %%rsp; pushfq; orl $0x40000, (%%rsp); popfq\n"
				 "1: dec %0; jnz 1b\n"
				 "pushfq; andl $~0x40000, (%%rsp); popfq; add $256, %%rsp\n"
				 : "+r"(rounds)
				 :
				 : "cc", "memory");
#endif
		role_sleep_ms(20);
	}
}

/* A thread attached to the JVM, and a method of Java. */
struct java {
	JNIEnv *env;
	jclass class;
	jmethodID method;
};

static struct java java_attach(struct report *report)
{
	JavaVM *vm = role_vm();
	struct java java = {NULL, NULL, NULL};

	if ((*vm)->AttachCurrentThreadAsDaemon(vm, (void **)&java.env, NULL))
		role_harm(report, "the thread cannot be attached", 0);
	java.class = (*java.env)->FindClass(java.env, "java/lang/System");
	java.method = (*java.env)->GetStaticMethodID(java.env, java.class, "nanoTime", "()J");
	return java;
}

/* Runs Java for some milliseconds: jhot knows the thread as a Java thread then. */
static void java_run(const struct java *java)
{
	for (int i = 0; i < 20000; i++)
		(*java->env)->CallStaticLongMethod(java->env, java->class, java->method);
}

/* A Java thread whose native code has no thread pointer while it is busy. */
void role_no_pointer(const struct role *role, struct report *report)
{
	struct java java;

	(void)role;
	role_wait_ready();
	java = java_attach(report);
	for (;; report->turns++) {
		java_run(&java);
#if defined(__x86_64__)
		unsigned long rounds = ROUNDS, before = 0;

		syscall(SYS_arch_prctl, 0x1003 /* ARCH_GET_FS */, &before);
		__asm__ volatile("sub $256, %%rsp\n"
				 "mov $158, %%eax; mov $0x1002, %%edi; xor %%esi, %%esi; syscall\n"
				 "1: dec %0; jnz 1b\n"
				 "mov $158, %%eax; mov $0x1002, %%edi; mov %1, %%rsi; syscall\n"
				 "add $256, %%rsp\n"
				 : "+r"(rounds)
				 : "r"(before)
				 : "rax", "rdi", "rsi", "rcx", "r11", "cc", "memory");
#endif
		role_sleep_ms(20);
	}
}

static _Atomic unsigned long holes_run;

static void *hole_main(void *report)
{
	unsigned char frame[3 * 4096];
	unsigned char *hole = (unsigned char *)(((uintptr_t)frame + 4095) & ~(uintptr_t)4095);
	struct java java = java_attach(report);

	for (;; holes_run++) {
		java_run(&java);
		mprotect(hole, 4096, PROT_NONE);
		role_run_unframed(ROUNDS / 2, hole + 256);
		mprotect(hole, 4096, PROT_READ | PROT_WRITE);
		role_sleep_ms(20);
	}
	return NULL;
}

/*
 * A Java thread whose native code protects a page of its own frame, to which its frame pointer leads. HotSpot takes a
 * fault on a thread's own stack for a growing stack, and repeats the access: the thread never comes back.
 */
void role_stack_hole(const struct role *role, struct report *report)
{
	unsigned long run = 0;
	struct timespec cpu;
	pthread_t thread;
	clockid_t clock;
	long begin = 0;

	(void)role;
	role_wait_ready();
	if (pthread_create(&thread, NULL, hole_main, report) ||
		pthread_getcpuclockid(thread, &clock))
		role_harm(report, "no thread", 0);
	for (;; report->turns++) {
		clock_gettime(clock, &cpu);
		if (run != holes_run)
			begin = cpu.tv_sec;
		run = holes_run;
		if (cpu.tv_sec - begin > 1)
			role_harm(report,
				"seconds of CPU time for a turn of 10 ms:", cpu.tv_sec - begin);
		role_sleep_ms(50);
	}
}
