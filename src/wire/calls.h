/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only table of the system calls that the agent makes itself. sampler/signal/raw.h makes them, sampler/calls.c probes them
 * where the JVM runs under a seccomp filter, jhot names them in errors, and tests/places/test_calls.sh forbids each of them
 * in turn. tests/lint/test_agent.sh finds calls without a row.
 *
 * X(name, need, use, lost, arguments). `use`: the agent's purpose of the call. `lost`: the feature that is missing if the
 * call is forbidden, "" if nothing noticeable. `arguments`: four 32-bit values for a probe without side effects: the call
 * fails at once, or only writes to the buffer SCRATCH. EMPTY is an empty string.
 *
 *   VITAL     any JVM makes it to load a library or start a thread: not probed
 *   NEEDED    a session is refused without it
 *   OPTIONAL  the agent works without it
 *
 * Not listed: calls that libc makes in pthread_create and at thread exit (clone3 or clone, mmap, mprotect, munmap, madvise,
 * set_robust_list, rseq, rt_sigprocmask, futex, exit), in dlopen of libraries that are already loaded, and in clock_gettime
 * through the vDSO.
 */
#ifndef JHOT_WIRE_CALLS_H
#define JHOT_WIRE_CALLS_H

/* clang-format off */
#define WIRE_CALLS(X) \
	X(prlimit64, OPTIONAL, "reading limits", "", 0, RLIMIT_CORE, 0, SCRATCH) \
	X(prctl, OPTIONAL, "naming its threads and memory", "no names of short-lived threads", \
		PR_GET_NAME, SCRATCH, 0, 0) \
	X(wait4, NEEDED, "reaping the child that probes system calls", "", -1, 0, WNOHANG, 0) \
	X(openat, VITAL, "reading /proc", "", 0, 0, 0, 0) \
	X(read, VITAL, "reading /proc", "", 0, 0, 0, 0) \
	X(write, VITAL, "reserving memory where fallocate is forbidden", "", 0, 0, 0, 0) \
	X(close, VITAL, "closing files of /proc", "", 0, 0, 0, 0) \
	X(mmap, VITAL, "allocating memory", "", 0, 0, 0, 0) \
	X(munmap, VITAL, "releasing memory", "", 0, 0, 0, 0) \
	X(futex, VITAL, "waiting and waking threads", "", 0, 0, 0, 0) \
	X(rt_sigprocmask, VITAL, "blocking signals in its threads", "", 0, 0, 0, 0) \
	X(rt_sigreturn, VITAL, "returning from its signal handlers", "", 0, 0, 0, 0) \
	X(getpid, NEEDED, "identifying its process", "", 0, 0, 0, 0) \
	X(gettid, NEEDED, "identifying its threads", "", 0, 0, 0, 0) \
	X(clock_gettime, NEEDED, "reading the CPU time of threads", "", CLOCK_THREAD_CPUTIME_ID, SCRATCH, 0, 0) \
	X(rt_sigaction, NEEDED, "installing its signal handlers", "", SIGURG, 0, SCRATCH, 8) \
	X(memfd_create, NEEDED, "creating the memory that it shares with jhot", "", 0, MFD_CLOEXEC | MFD_ALLOW_SEALING, 0, 0) \
	X(fcntl, NEEDED, "sealing the memory that it shares with jhot", "", -1, F_ADD_SEALS, 0, 0) \
	X(fstat, NEEDED, "detecting new threads", "", -1, SCRATCH, 0, 0) \
	X(lseek, NEEDED, "listing threads", "", -1, 0, SEEK_SET, 0) \
	X(getdents64, NEEDED, "listing threads", "", -1, SCRATCH, 64, 0) \
	X(fallocate, OPTIONAL, "reserving the memory that it shares with jhot", "", -1, 0, 0, 1) \
	X(madvise, OPTIONAL, "choosing huge pages for its memory", "", 0, 0, MADV_NOHUGEPAGE, 0) \
	X(perf_event_open, OPTIONAL, "using perf_events", "", 0, 0, -1, -1) \
	X(ioctl, OPTIONAL, "using perf_events", "", -1, PERF_EVENT_IOC_PERIOD, 0, 0) \
	X(ppoll, OPTIONAL, "detecting the end of threads", "", 0, -1, 0, 0) \
	X(timer_create, OPTIONAL, "using CPU timers", "no CPU timers, short-lived threads are not sampled", \
		0x7fffffff, 0, 0, 0) \
	X(timer_settime, OPTIONAL, "using CPU timers", "no CPU timers, short-lived threads are not sampled", \
		-1, 0, 0, 0) \
	X(timer_delete, OPTIONAL, "using CPU timers", "no CPU timers, short-lived threads are not sampled", \
		-1, 0, 0, 0) \
	X(timer_gettime, OPTIONAL, "detecting the end of threads", "", -1, 0, 0, 0) \
	X(rt_tgsigqueueinfo, OPTIONAL, "requesting a sample from a thread", \
		"no event wall, no owners of locks", 0, 0, 0, 0) \
	X(process_vm_readv, OPTIONAL, "reading memory that may be unmapped", "", 0, 0, 0, 0) \
	X(pread64, OPTIONAL, "reading memory where process_vm_readv is forbidden", "", -1, SCRATCH, 1, 0) \
	X(getrusage, OPTIONAL, "detecting that a thread has run", "", 12345, SCRATCH, 0, 0) \
	X(sched_getaffinity, OPTIONAL, "reading a CPU's clock", "", 0, 0, 0, 0) \
	X(sched_setaffinity, OPTIONAL, "reading a CPU's clock", "", -1, 0, 0, 0) \
	X(sched_getattr, OPTIONAL, "requesting a short time slice", "", 0, 0, 0, 0) \
	X(sched_setattr, OPTIONAL, "requesting a short time slice", "", 0, 0, 0, 0) \
	X(statx, OPTIONAL, "naming files and sockets that a thread reads or writes", "no names of what threads read and write", \
		-1, EMPTY, AT_EMPTY_PATH, 0) \
	X(readlinkat, OPTIONAL, "naming files", "no names of files", \
		-1, EMPTY, SCRATCH, 0) \
	X(getsockname, OPTIONAL, "naming sockets", "no names of sockets", -1, 0, 0, 0) \
	X(getpeername, OPTIONAL, "naming sockets", "no names of sockets", -1, 0, 0, 0) \
	X(getsockopt, OPTIONAL, "naming sockets", "no names of sockets", -1, SOL_SOCKET, SO_TYPE, 0) \
	X(close_range, OPTIONAL, "a separate descriptor table", "", 1, 0, 0, 0) \
	X(unshare, OPTIONAL, "a separate descriptor table before Linux 5.9", "", 0, 0, 0, 0) \
	X(socket, OPTIONAL, "borrowing perf_events from jhot", "no borrowed perf_events", -1, 0, 0, 0) \
	X(bind, OPTIONAL, "borrowing perf_events from jhot", "no borrowed perf_events", -1, 0, 0, 0) \
	X(listen, OPTIONAL, "borrowing perf_events from jhot", "no borrowed perf_events", -1, 0, 0, 0) \
	X(connect, OPTIONAL, "borrowing perf_events from jhot", "no borrowed perf_events", -1, 0, 0, 0) \
	X(accept4, OPTIONAL, "borrowing perf_events from jhot", "no borrowed perf_events", -1, 0, 0, 0) \
	X(recvmsg, OPTIONAL, "borrowing perf_events from jhot", "no borrowed perf_events", -1, 0, 0, 0) \
	X(recvfrom, OPTIONAL, "borrowing perf_events from jhot", "no borrowed perf_events", -1, 0, 0, 0) \
	WIRE_CALLS_OF_CPU(X)
#if defined(__x86_64__)
#define WIRE_CALLS_OF_CPU(X) \
	X(arch_prctl, OPTIONAL, "naming threads that have just started", "", 0, 0, 0, 0)
#else
#define WIRE_CALLS_OF_CPU(X)
#endif
/* clang-format on */

/* Rows of the table, such as CALL_statx. Added to AGENT_FORBIDDEN in an agent_result: see wire/layout.h. */
enum wire_call {
#define WIRE_CALL_ENUM(name, ...) CALL_##name,
	WIRE_CALLS(WIRE_CALL_ENUM)
#undef WIRE_CALL_ENUM
		CALL_COUNT
};

#endif
