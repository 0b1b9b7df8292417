/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a command and lets something happen at its Nth system call, whichever of its threads and children makes it.
 *
 *   usage: fault_tool WHAT N COMMAND...
 *
 * WHAT is "kill": the command is killed; "child": whoever makes the call, if it is not the command itself; a pid: that process is
 * killed; ENOSPC, EIO, EMFILE, ENOMEM: the Nth of the calls that can fail so does. N 0: nothing happens. The last line on
 * standard error is "calls COUNT", of those that count; the exit status is the command's.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define TASKS 4096
#define CALLS 24

#ifndef SYS_open /* newer CPUs have only what came after these */
#define SYS_open     (-1)
#define SYS_rename   (-1)
#define SYS_fork     (-1)
#define SYS_readlink (-1)
#endif

static const struct failure {
	const char *name;
	int error;
	long calls[CALLS]; /* 0 ends them; SYS_read is 0, and stands first */
} failures[] = {
	{"ENOSPC", ENOSPC,
		{SYS_write, SYS_pwrite64, SYS_writev, SYS_fallocate, SYS_ftruncate, SYS_fsync,
			SYS_symlinkat, SYS_renameat, SYS_rename}},
	{"EIO", EIO,
		{SYS_read, SYS_pread64, SYS_write, SYS_pwrite64, SYS_writev, SYS_fsync,
			SYS_getdents64, SYS_readlink, SYS_readlinkat, SYS_newfstatat}},
	{"EMFILE", EMFILE,
		{SYS_openat, SYS_openat2, SYS_open, SYS_socket, SYS_socketpair, SYS_pipe2,
			SYS_memfd_create, SYS_dup, SYS_dup3, SYS_pidfd_open, SYS_eventfd2,
			SYS_timerfd_create, SYS_signalfd4, SYS_epoll_create1, SYS_perf_event_open}},
	/* not brk, which never returns an error, but where the heap ends */
	{"ENOMEM", ENOMEM, {SYS_mmap, SYS_mremap, SYS_mprotect, SYS_clone, SYS_clone3, SYS_fork}},
};

static const struct failure *failure; /* NULL: something is killed */
static const char *what;
static long at, calls;
static pid_t command;
static bool failing[TASKS]; /* by tid, as a hash: what it has entered shall fail */

static bool counts(const struct __ptrace_syscall_info *info)
{
	if (!failure)
		return true;
	for (int i = 0; i < CALLS && (i == 0 || failure->calls[i]); i++)
		if ((long)info->entry.nr == failure->calls[i])
			return true;
	return false;
}

static pid_t process_of(pid_t tid)
{
	char path[64], line[128];
	pid_t found = tid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Tgid: %d", &found) == 1)
			break;
	if (f)
		fclose(f);
	return found;
}

/* no_call: what this thread has entered becomes no call at all. result_set: and this is what it comes back with. */
#if defined(__x86_64__)
static void no_call(pid_t tid)
{
	ptrace(PTRACE_POKEUSER, tid, offsetof(struct user_regs_struct, orig_rax), -1L);
}

static void result_set(pid_t tid, long result)
{
	ptrace(PTRACE_POKEUSER, tid, offsetof(struct user_regs_struct, rax), result);
}
#elif defined(__aarch64__)
static void no_call(pid_t tid)
{
	int none = -1;
	struct iovec set = {&none, sizeof(none)};

	ptrace(PTRACE_SETREGSET, tid, NT_ARM_SYSTEM_CALL, &set);
}

static void result_set(pid_t tid, long result)
{
	struct user_regs_struct regs;
	struct iovec set = {&regs, sizeof(regs)};

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &set))
		return;
	regs.regs[0] = (unsigned long)result;
	ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &set);
}
#endif

static void happen(pid_t tid)
{
	if (failure) {
		no_call(tid);
		failing[tid % TASKS] = true;
	} else if (!strcmp(what, "kill")) {
		kill(command, SIGKILL);
	} else if (!strcmp(what, "child")) {
		kill(process_of(tid), SIGKILL);
	} else {
		kill(atoi(what), SIGKILL);
	}
}

static void take_call(pid_t tid)
{
	struct __ptrace_syscall_info info = {0};

	if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(info), &info) <= 0)
		return;
	if (info.op == PTRACE_SYSCALL_INFO_EXIT && failing[tid % TASKS]) {
		failing[tid % TASKS] = false;
		result_set(tid, -failure->error);
	} else if (info.op == PTRACE_SYSCALL_INFO_ENTRY && counts(&info) &&
		   (strcmp(what, "child") != 0 || process_of(tid) != command) && ++calls == at) {
		fprintf(stderr, "call %ld is %llu of process %d\n", at,
			(unsigned long long)info.entry.nr, (int)process_of(tid));
		happen(tid);
	}
}

/* The signal that a stopped thread is to be given. */
static int signal_of(pid_t tid, int status)
{
	int signal = WSTOPSIG(status);

	if (signal == (SIGTRAP | 0x80)) {
		take_call(tid);
		return 0;
	}
	if (status >> 16) /* an event: a fork, a clone, an exec */
		return 0;
	return signal == SIGSTOP ? 0 : signal; /* with it a new one begins */
}

static void follow(int *result)
{
	int status;
	pid_t tid;

	while ((tid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
		if (tid <= 0)
			continue;
		if (WIFSTOPPED(status))
			ptrace(PTRACE_SYSCALL, tid, 0, (long)signal_of(tid, status));
		else if (tid == command)
			*result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
}

int main(int argc, char **argv)
{
	int result = 1, status;

	if (argc < 4)
		return 2;
	what = argv[1];
	at = atol(argv[2]);
	for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++)
		if (!strcmp(failures[i].name, what))
			failure = &failures[i];
	command = fork();
	if (command == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		execvp(argv[3], argv + 3);
		_exit(127);
	}
	if (waitpid(command, &status, 0) != command ||
		ptrace(PTRACE_SETOPTIONS, command, 0,
			PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
				PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC)) {
		perror("ptrace");
		return 1;
	}
	ptrace(PTRACE_SYSCALL, command, 0, 0);
	follow(&result);
	fprintf(stderr, "calls %ld\n", calls);
	return result;
}
