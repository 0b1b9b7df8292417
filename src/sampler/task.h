/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about one thread of this process from the kernel: its CPU clock, and the files in its directory of
 * /proc/self/task, which task_fd refers to. Agent threads only; no call blocks on the thread.
 *
 * tid: the thread's id as the thread itself knows it. task: the name of its directory, a different number if /proc
 * belongs to an outer PID namespace. False, or 0, means that the thread has ended or that the kernel does not report
 * it.
 */
#ifndef JHOT_SAMPLER_TASK_H
#define JHOT_SAMPLER_TASK_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For task_fd on threads that share the program's descriptor table (session/files.h): keeps no descriptor open. */
#define TASK_BY_PATH AT_FDCWD

/* The tid of the thread whose directory it is; 0: it has ended, or the kernel does not report it. */
int32_t task_tid(int task_fd, int32_t task);

/*
 * The kernel's ids of a thread's CPU clocks: all its CPU time, or user time only; tid 0: of the calling thread.
 * (CPUCLOCK_PERTHREAD with CPUCLOCK_SCHED or CPUCLOCK_VIRT, linux/posix-timers.h.)
 */
#define TASK_CLOCK(tid)      ((int32_t)(~(uint32_t)(tid) << 3) | 6)
#define TASK_USER_CLOCK(tid) ((int32_t)(~(uint32_t)(tid) << 3) | 5)

/* The CPU time of a thread in ns; false when it has ended. */
bool task_cpu_ns(int32_t tid, uint64_t *ns);
/* The time it has waited for a core, in ns; false when the kernel does not report it. */
bool task_delay_ns(int task_fd, int32_t task, uint64_t *ns);

/* The number of its voluntary context switches; false when the kernel does not report it. Takes about 10 us. */
bool task_sleeps(int task_fd, int32_t task, uint64_t *count);

/*
 * task_slept: for a sleeping thread, the CPU it last ran on and the time it last ran there, in ns of that CPU's own
 * clock. False when the kernel does not report it. task_ran_on reads the same clock now by moving the calling thread to
 * that CPU for a moment. False when that fails or when the CPU is outside the caller's affinity mask, which is
 * restored.
 */
bool task_slept(int task_fd, int32_t task, int32_t *cpu, uint64_t *stamp);
bool task_ran_on(int task_fd, int32_t cpu, uint64_t *stamp);

/* The signals a thread blocks; false when it has ended or the kernel does not report them. Takes about 30 us. */
struct task_signals {
	uint64_t blocked; /* bit sig - 1 */
	uint32_t filters; /* seccomp filters: see procfile_filters */
	/* True in sigwait and the like. The kernel then omits the awaited signals from `blocked`. */
	bool waits;
	uint64_t set; /* address of the awaited set in memory */
};
bool task_signals(int task_fd, int32_t task, struct task_signals *out);

/* State of a thread according to its system call: enum wire_thread_state, or one of these. */
#define TASK_IN_FUTEX 15u /* the reason is in its stack */
#define TASK_RUNS     14u /* on a core, or waiting for one */
#define TASK_UNKNOWN  13u /* the kernel does not report it */
uint32_t task_state(int task_fd, int32_t task);

/* The system call a blocked thread is in. sp 0: it is running, or the kernel does not report it. */
#define TASK_ARGUMENTS 6
#define TASK_NO_CALL   UINT64_MAX
struct task_call {
	uint64_t number; /* TASK_NO_CALL: none, it waits for a page */
	uint64_t arguments[TASK_ARGUMENTS];
	uint64_t sp, pc; /* registers of the thread when the call returns */
};
/* As task_state, with the call. */
uint32_t task_state_call(int task_fd, int32_t task, struct task_call *out);
/* Parses a line of /proc/PID/syscall; false when the line has no call or is incomplete. */
bool task_call_of(const char *line, struct task_call *out);

/*
 * task_sp: the stack pointer of a thread in a system call; 0: it is running, or the kernel does not report it.
 * task_name: its name ("VM Thread") and a line feed; false when the kernel does not report it.
 */
uint64_t task_sp(int task_fd, int32_t task);
bool task_name(int task_fd, int32_t task, char *out, size_t bytes);

/* The state for a line of /proc/PID/syscall. */
uint32_t task_state_of(const char *line);

#endif
