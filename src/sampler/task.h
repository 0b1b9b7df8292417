/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel says of a thread of this process: CPU time by its clock, and files in its directory of
 * /proc/self/task, which is task_fd. For agent threads.
 *
 * tid: as the thread itself knows it. task: what its directory is called, which is another number where /proc is one of
 * an outer PID namespace.
 */
#ifndef JHOT_SAMPLER_TASK_H
#define JHOT_SAMPLER_TASK_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As task_fd, on threads that share the program's table of descriptors (session/files.h): no descriptor is kept. */
#define TASK_BY_PATH AT_FDCWD

/* task_tid: whose directory it is; 0: it is gone, or the kernel does not say. */
int32_t task_tid(int task_fd, int32_t task);

/* The CPU time of a thread in ns; false when it has ended. */
bool task_cpu_ns(int32_t tid, uint64_t *ns);
/* How long it has waited for a core, in ns; false when the kernel does not say. */
bool task_delay_ns(int task_fd, int32_t task, uint64_t *ns);

/* How often it has gone to sleep; false when the kernel does not say. Some 10 us. */
bool task_sleeps(int task_fd, int32_t task, uint64_t *count);

/*
 * task_slept: for a sleeping thread, the CPU that it ran on last, and when, in ns of that CPU's own clock. False when the
 * kernel does not say. task_ran_on reads the same clock now: the calling thread moves to that CPU for a moment. False when
 * it could not, or when the CPU is not in its affinity mask, which it does not leave.
 */
bool task_slept(int task_fd, int32_t task, int32_t *cpu, uint64_t *stamp);
bool task_ran_on(int task_fd, int32_t cpu, uint64_t *stamp);

/* Which signals the thread blocks; false when it has ended or the kernel does not say. Some 30 us. */
struct task_signals {
	uint64_t blocked; /* bit sig - 1 */
	uint32_t filters; /* of system calls: procfile_filters */
	bool waits; /* it is in sigwait or its like: the kernel leaves out of `blocked` what it waits for */
	uint64_t set; /* where that set is in memory */
};
bool task_signals(int task_fd, int32_t task, struct task_signals *out);

/* What it does, as far as its system call tells: enum wire_thread_state, or one of these. */
#define TASK_IN_FUTEX 15u /* the program's frames tell why */
#define TASK_RUNS     14u /* on a core, or waiting for one */
#define TASK_UNKNOWN  13u /* the kernel does not say */
uint32_t task_state(int task_fd, int32_t task);

/* The system call that a blocked thread is in. sp 0: it runs, or the kernel does not say. */
#define TASK_ARGUMENTS 6
#define TASK_NO_CALL   UINT64_MAX
struct task_call {
	uint64_t number; /* TASK_NO_CALL: none, it waits for a page */
	uint64_t arguments[TASK_ARGUMENTS];
	uint64_t sp, pc; /* of the thread when it comes back */
};
/* task_state, and the call. */
uint32_t task_state_call(int task_fd, int32_t task, struct task_call *out);
/* The call for a line of /proc/PID/syscall; false: the line has none, or not all of it. */
bool task_call_of(const char *line, struct task_call *out);

/*
 * Where a thread that is in a system call has its stack, and its name ("VM Thread"). 0, or false: it runs, or
 * the kernel does not say.
 */
uint64_t task_sp(int task_fd, int32_t task);
bool task_name(int task_fd, int32_t task, char *out, size_t bytes);

/* The state for a line of /proc/PID/syscall. */
uint32_t task_state_of(const char *line);

/* --- spawn.c ----------------------------------------------------------------------------------- */

/* Bare threads of the agent: no signal reaches them but those that a fault of their own would raise. */

struct spawn {
	const char *name; /* as the kernel shows it */
	size_t stack_bytes;
	void *(*body)(void *);
	void *arg;
	/* Set when spawn returns: whoever lists threads knows it for the agent's own. */
	_Atomic int32_t *tid;
};

/* spawn: 0 or an error number. */
int spawn(const struct spawn *how);
/*
 * Asks a thread to end: sets *leave and wakes it there. Waits half a second at most until it has set *left, as the last thing
 * that it does with the session's memory, of which it holds a reference (session/rooms.h). Then sets *tid to 0. false: it
 * has not, since it gets no core or a debugger has stopped it. It ends when it runs again.
 */
bool spawn_end(_Atomic int32_t *tid, _Atomic uint32_t *leave, _Atomic uint32_t *left);
/*
 * The calling thread looks at others at times of its own choice: it wants to run when its time has come. Where it has to
 * wait for a CPU, it runs as soon as somebody begins to wait, and finds more who wait than there are.
 */
void spawn_punctual(void);

#endif
