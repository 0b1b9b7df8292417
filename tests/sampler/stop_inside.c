/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stops a thread inside the agent's signal handler, as if it had lost its core there:
 *
 *    stop_inside TID [LIBRARY]
 *
 * Waits for a signal whose handler is in the mapped file of this name, steps some way into it, prints "inside", and
 * releases the thread when standard input ends. Without LIBRARY it stops the thread anywhere. Exit status: 0; 77 if
 * the thread cannot be traced; else 1.
 */
#include <elf.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Deep enough that the handler has its arguments but has not stored the sample: looking up the thread takes about 100
 * instructions, a walk thousands.
 */
#define STEPS 600

struct span {
	uint64_t from, to;
};

/* code_of: the address range of this file's code in a process. */
static struct span code_of(int pid, const char *name)
{
	struct span span = {0, 0};
	char path[64], line[512], access[8];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "r");
	while (maps && fgets(line, sizeof(line), maps)) {
		uint64_t from, to;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &from, &to, access) == 3 &&
			access[2] == 'x' && strstr(line, name))
			span = (struct span){from, to};
	}
	if (maps)
		fclose(maps);
	return span;
}

static uint64_t pc_of(int tid)
{
	struct user_regs_struct regs;
	struct iovec part = {&regs, sizeof(regs)};

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &part) < 0)
		return 0;
#if defined(__x86_64__)
	return regs.rip;
#else
	return regs.pc;
#endif
}

static bool is_inside(int tid, struct span code)
{
	uint64_t pc = pc_of(tid);

	return pc >= code.from && pc < code.to;
}

/* next_stop: the status of the next stop; -1 if the thread exited. */
static int next_stop(int tid)
{
	int status;

	return waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status) ? status : -1;
}

/* step: one instruction, after delivering this signal. */
static bool step(int tid, int sig)
{
	return ptrace(PTRACE_SINGLESTEP, tid, NULL, (void *)(intptr_t)sig) == 0 &&
	       next_stop(tid) != -1;
}

static bool steps(int tid)
{
	for (int i = 0; i < STEPS; i++) {
		if (!step(tid, 0))
			return false;
	}
	return true;
}

/* go_inside: continues through the sampler's signals until one enters the handler. */
static bool go_inside(int tid, struct span code)
{
	int sig = 0;

	for (;;) {
		int status;

		if (ptrace(PTRACE_CONT, tid, NULL, (void *)(intptr_t)sig) < 0 ||
			(status = next_stop(tid)) == -1)
			return false;
		sig = status >> 16 ? 0 : WSTOPSIG(status);
		if (sig != SIGURG && sig != SIGPROF && sig != SIGVTALRM && sig != SIGSTKFLT)
			continue;
		if (!step(tid, sig))
			return false;
		sig = 0;
		if (is_inside(tid, code))
			return steps(tid) && is_inside(tid, code);
	}
}

int main(int argc, char **argv)
{
	int tid = argc == 2 || argc == 3 ? atoi(argv[1]) : 0;
	struct span code = {0, 0};
	bool inside;

	if (tid && argc == 3)
		code = code_of(tid, argv[2]);
	if (!tid || (argc == 3 && !code.to))
		return fprintf(stderr, "usage: stop_inside TID [LIBRARY] (one that is mapped)\n"),
		       1;
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0)
		return 77;
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0 || next_stop(tid) == -1)
		return 1;
	inside = argc == 2 || go_inside(tid, code);
	if (inside) {
		puts("inside");
		fflush(stdout);
		while (getchar() != EOF)
			;
	}
	ptrace(PTRACE_DETACH, tid, NULL, NULL);
	return inside ? 0 : 1;
}
