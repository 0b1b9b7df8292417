/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs jhot and injects a fault at the Nth system call of a phase (fault_phase.h), whichever of its threads and children makes
 * it.
 *
 *   usage: fault_tool [-k KEYS | -w N] WHAT PHASE:N jhot ARGUMENT...
 *
 * -k: jhot runs in a terminal of 80x24, whose output goes to stdout. Each time that the main loop waits, the next of KEYS is
 *     typed; a '~' types nothing, and stays the next one until something has been sampled or the fault has been
 *     injected.
 * -w N: jhot gets SIGTERM when its main loop has waited N times.
 * WHAT: kill                        jhot is killed
 *       child                       the process that makes the call is killed; calls by jhot itself do not count
 *       PID                         this process is killed
 *       ENOSPC EIO EMFILE ENOMEM    the call fails with this error; only calls that can fail so count
 * PHASE:N: "-" injects nothing.
 *
 * Prints "call PHASE:N ..." to stderr when it injects the fault, and in the end "points WHAT PHASE COUNT", the number of calls
 * of each kind. The exit status is jhot's, or 128 + the signal that killed it.
 */
#include "fault_phase.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define TASKS 4096
#define CALLS 24

#ifndef SYS_open /* newer architectures have only their successors */
#define SYS_open     (-1)
#define SYS_rename   (-1)
#define SYS_fork     (-1)
#define SYS_readlink (-1)
#endif

static const struct failure {
	const char *name;
	int error;
	long calls[CALLS]; /* ends with 0; SYS_read, which is 0, can only be the first */
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
	/* not brk, which returns the end of the heap and never an error */
	{"ENOMEM", ENOMEM, {SYS_mmap, SYS_mremap, SYS_mprotect, SYS_clone, SYS_clone3, SYS_fork}},
};

#define FAILURES (sizeof(failures) / sizeof(failures[0]))
#define KILL     FAILURES       /* a kind of points beside failures[]: all calls */
#define CHILD    (FAILURES + 1) /* calls of children */
#define KINDS    (FAILURES + 2)

static const struct failure *failure; /* NULL: a process is killed */
static const char *what;              /* the argument WHAT */
static size_t kind = KILL;
static enum phase at_phase = PHASES;   /* PHASES: nothing is injected */
static long at, points[KINDS][PHASES]; /* the N of PHASE:N; calls so far */
static pid_t command;
static bool injected;
static const char *keys = ""; /* not typed yet */
static long waits;            /* of the main loop until SIGTERM; 0: no SIGTERM */
/* After the fault, once the live view is not in PHASE_SAMPLE and so gets no keys: its waits until SIGTERM. */
static long last_waits = 3;
static int terminal = -1;
static bool failing[TASKS]; /* by tid % TASKS: the call that the thread has entered is to fail */

static bool can_fail(const struct failure *f, uint64_t number)
{
	for (int i = 0; i < CALLS && (i == 0 || f->calls[i]); i++)
		if ((long)number == f->calls[i])
			return true;
	return false;
}

static pid_t process_of(pid_t tid)
{
	static pid_t known[TASKS][2]; /* cache by tid % TASKS: tid, process */
	char path[64], line[128];
	pid_t found = tid;
	FILE *f;

	if (known[tid % TASKS][0] == tid)
		return known[tid % TASKS][1];
	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Tgid: %d", &found) == 1)
			break;
	if (f)
		fclose(f);
	known[tid % TASKS][0] = tid;
	known[tid % TASKS][1] = found;
	return found;
}

/* no_call: cancels the call that the thread has entered. result_set: sets the result of the call that it leaves. */
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

static void inject(pid_t tid)
{
	injected = true;
	if (failure) {
		no_call(tid);
		failing[tid % TASKS] = true;
	} else if (kind == CHILD) {
		kill(process_of(tid), SIGKILL);
	} else {
		kill(!strcmp(what, "kill") ? command : atoi(what), SIGKILL);
	}
}

/* To be called when the main loop waits: types the next key or terminates jhot. */
static void steer(enum phase phase)
{
	if (phase == PHASE_SAMPLE && waits > 0 && --waits == 0)
		kill(command, SIGTERM);
	if (phase == PHASE_SAMPLE && *keys &&
		(*keys == '~' ? phase_has_samples(command) || injected
			      : write(terminal, keys, 1) == 1))
		keys++;
	if (phase != PHASE_SAMPLE && injected && terminal >= 0 && --last_waits == 0)
		kill(command, SIGTERM);
}

/* True when the call is a point of this kind. */
static bool is_point(size_t of, pid_t tid, uint64_t number)
{
	if (of == CHILD)
		return process_of(tid) != command;
	return of == KILL || can_fail(&failures[of], number);
}

static void enter_call(pid_t tid, const struct __ptrace_syscall_info *info)
{
	struct phase_call call = {.tid = tid, .number = info->entry.nr};
	enum phase phase;
	bool here = false;

	memcpy(call.args, info->entry.args, sizeof(call.args));
	phase = phase_of(command, &call);
	if (phase_waits(&call))
		steer(phase);
	for (size_t i = 0; i < KINDS; i++)
		if (is_point(i, tid, call.number) && ++points[i][phase] == at && i == kind)
			here = phase == at_phase;
	if (!here)
		return;
	fprintf(stderr, "call %s:%ld is %ld of process %d\n", phase_names[phase], at,
		(long)call.number, (int)process_of(tid));
	inject(tid);
}

static void handle_call(pid_t tid)
{
	struct __ptrace_syscall_info info = {0};

	if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(info), &info) <= 0)
		return;
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
		enter_call(tid, &info);
	} else if (info.op == PTRACE_SYSCALL_INFO_EXIT) {
		phase_result(tid, info.exit.rval);
		if (failing[tid % TASKS])
			result_set(tid, -failure->error);
		failing[tid % TASKS] = false;
	}
}

/* The signal to deliver to a stopped thread; 0: none. */
static int signal_of(pid_t tid, int status)
{
	int signal = WSTOPSIG(status);

	if (signal == (SIGTRAP | 0x80)) {
		handle_call(tid);
		return 0;
	}
	if (status >> 16) /* PTRACE_EVENT_*: a fork, a clone, an exec */
		return 0;
	return signal == SIGSTOP ? 0 : signal; /* new threads begin with it */
}

/* Traces all threads until the last one has ended. result: the exit status. */
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

/* --- beginning ------------------------------------------------------------------------------------------ */

/* Copies the terminal's output to stdout, so that jhot never blocks when it writes. */
static void *terminal_read(void *ctx)
{
	char screen[4096];
	ssize_t n;

	for (;;) { /* reading fails until jhot has opened the terminal, and after it has closed it */
		n = read(terminal, screen, sizeof(screen));
		if (n <= 0 || write(STDOUT_FILENO, screen, (size_t)n) != n)
			usleep(10000);
	}
	return ctx;
}

static int terminal_open(char *name, size_t bytes)
{
	struct winsize size = {.ws_row = 24, .ws_col = 80};
	pthread_t reader;

	terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (terminal < 0 || grantpt(terminal) || unlockpt(terminal) ||
		ptsname_r(terminal, name, bytes) || ioctl(terminal, TIOCSWINSZ, &size))
		return -1;
	return pthread_create(&reader, NULL, terminal_read, NULL);
}

static void command_run(const char *tty, char **argv)
{
	if (terminal >= 0) {
		setsid();
		close(STDIN_FILENO);
		if (open(tty, O_RDWR) != STDIN_FILENO || dup2(STDIN_FILENO, STDOUT_FILENO) < 0)
			_exit(127);
	}
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	raise(SIGSTOP);
	execvp(argv[0], argv);
	_exit(127);
}

static int trace(int *result)
{
	int status;

	if (waitpid(command, &status, 0) != command ||
		ptrace(PTRACE_SETOPTIONS, command, 0,
			PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
				PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC)) {
		perror("ptrace");
		return -1;
	}
	ptrace(PTRACE_SYSCALL, command, 0, 0);
	follow(result);
	return 0;
}

static bool point_parse(const char *point)
{
	const char *colon = strchr(point, ':');

	for (int i = 0; colon && i < PHASES; i++)
		if (strlen(phase_names[i]) == (size_t)(colon - point) &&
			!strncmp(phase_names[i], point, (size_t)(colon - point)))
			at_phase = (enum phase)i;
	at = colon ? atol(colon + 1) : 0;
	return at_phase != PHASES || !strcmp(point, "-");
}

static void print_points(void)
{
	for (size_t i = 0; i < KINDS; i++)
		for (int j = 0; j < PHASES; j++)
			if (points[i][j])
				fprintf(stderr, "points %s %s %ld\n",
					i == KILL    ? "kill"
					: i == CHILD ? "child"
						     : failures[i].name,
					phase_names[j], points[i][j]);
}

static void kind_parse(const char *name)
{
	what = name;
	if (!strcmp(name, "child"))
		kind = CHILD;
	for (size_t i = 0; i < FAILURES; i++)
		if (!strcmp(failures[i].name, name))
			kind = i;
	failure = kind < FAILURES ? &failures[kind] : NULL;
}

int main(int argc, char **argv)
{
	char tty[64] = "";
	int result = 1;

	if (argc > 2 && !strcmp(argv[1], "-k")) {
		keys = argv[2];
		if (terminal_open(tty, sizeof(tty))) {
			perror("terminal");
			return 1;
		}
	} else if (argc > 2 && !strcmp(argv[1], "-w")) {
		waits = atol(argv[2]);
	}
	if (argv[1] && argv[1][0] == '-') {
		argc -= 2;
		argv += 2;
	}
	if (argc < 4 || !point_parse(argv[2]))
		return 2;
	kind_parse(argv[1]);
	command = fork();
	if (command == 0)
		command_run(tty, argv + 3);
	if (trace(&result))
		return 1;
	print_points();
	return result;
}
