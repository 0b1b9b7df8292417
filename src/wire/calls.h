/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only table of the system calls that the agent makes itself. sampler/signal/raw.h makes them, sampler/calls.c probes them
 * where the JVM runs under a seccomp filter, jhot names them in errors, and tests/places/test_calls.sh forbids each of them
 * in turn. tests/lint/test_agent.sh finds calls without a row.
 *
 * X(name, need, use, lost, arguments): `arguments` are four 32-bit values with which the call has no effect: it fails at once,
 * or writes into SCRATCH, a buffer; EMPTY is an empty string. `lost` names what the user goes without; "": nothing noticeable.
 *
 *   VITAL     any JVM makes it to load a library or start a thread: not probed
 *   NEEDED    a session is refused without it
 *   OPTIONAL  the agent works without it
 *
 * Not listed: calls that libc makes on the agent's behalf as for any thread: in pthread_create and thread exit (clone3
 * or clone, mmap, mprotect, munmap, madvise, set_robust_list, rseq, rt_sigprocmask, futex, exit), in dlopen of libraries that
 * are already loaded, and in clock_gettime through the vDSO.
 */
#ifndef JHOT_WIRE_CALLS_H
#define JHOT_WIRE_CALLS_H

/* clang-format off */
#define WIRE_CALLS(X) \
	X(prlimit64, OPTIONAL, "reading limits", "", 0, RLIMIT_CORE, 0, SCRATCH) \
	X(prctl, OPTIONAL, "naming its threads and memory", "no names of short-lived threads", \
		PR_GET_NAME, SCRATCH, 0, 0) \
	X(wait4, NEEDED, "collecting the child that tries system calls", "", -1, 0, WNOHANG, 0) \
	X(openat, VITAL, "reading /proc", "", 0, 0, 0, 0) \
	X(read, VITAL, "reading /proc", "", 0, 0, 0, 0) \
	X(write, VITAL, "reserving memory where fallocate is forbidden", "", 0, 0, 0, 0) \
	X(close, VITAL, "closing files of /proc", "", 0, 0, 0, 0) \
	X(mmap, VITAL, "its memory", "", 0, 0, 0, 0) \
	X(munmap, VITAL, "giving memory back", "", 0, 0, 0, 0) \
	X(futex, VITAL, "waiting", "", 0, 0, 0, 0) \
	X(rt_sigprocmask, VITAL, "keeping signals from its threads", "", 0, 0, 0, 0) \
	X(rt_sigreturn, VITAL, "the end of its signal handlers", "", 0, 0, 0, 0) \
	X(getpid, NEEDED, "knowing its process", "", 0, 0, 0, 0) \
	X(gettid, NEEDED, "knowing its thread", "", 0, 0, 0, 0) \
	X(clock_gettime, NEEDED, "the CPU time of threads", "", CLOCK_THREAD_CPUTIME_ID, SCRATCH, 0, 0) \
	X(rt_sigaction, NEEDED, "its signal handlers", "", SIGURG, 0, SCRATCH, 8) \
	X(memfd_create, NEEDED, "the memory that it shares with jhot", "", 0, MFD_CLOEXEC | MFD_ALLOW_SEALING, 0, 0) \
	X(fcntl, NEEDED, "sealing that memory", "", -1, F_ADD_SEALS, 0, 0) \
	X(fstat, NEEDED, "noticing new threads", "", -1, SCRATCH, 0, 0) \
	X(lseek, NEEDED, "listing threads", "", -1, 0, SEEK_SET, 0) \
	X(getdents64, NEEDED, "listing threads", "", -1, SCRATCH, 64, 0) \
	X(fallocate, OPTIONAL, "reserving that memory", "", -1, 0, 0, 1) \
	X(madvise, OPTIONAL, "huge pages for its memory", "", 0, 0, MADV_NOHUGEPAGE, 0) \
	X(perf_event_open, OPTIONAL, "perf_events", "", 0, 0, -1, -1) \
	X(ioctl, OPTIONAL, "perf_events", "", -1, PERF_EVENT_IOC_PERIOD, 0, 0) \
	X(ppoll, OPTIONAL, "noticing the end of threads", "", 0, -1, 0, 0) \
	X(timer_create, OPTIONAL, "CPU timers", "no CPU timers, short-lived threads are not sampled", \
		0x7fffffff, 0, 0, 0) \
	X(timer_settime, OPTIONAL, "CPU timers", "no CPU timers, short-lived threads are not sampled", \
		-1, 0, 0, 0) \
	X(timer_delete, OPTIONAL, "CPU timers", "no CPU timers, short-lived threads are not sampled", \
		-1, 0, 0, 0) \
	X(timer_gettime, OPTIONAL, "noticing the end of threads", "", -1, 0, 0, 0) \
	X(rt_tgsigqueueinfo, OPTIONAL, "asking a thread for a sample", \
		"no event wall, no owners of locks", 0, 0, 0, 0) \
	X(process_vm_readv, OPTIONAL, "reading memory that may be gone", "", 0, 0, 0, 0) \
	X(pread64, OPTIONAL, "reading memory where process_vm_readv is forbidden", "", -1, SCRATCH, 1, 0) \
	X(getrusage, OPTIONAL, "noticing that a thread has run", "", 12345, SCRATCH, 0, 0) \
	X(sched_getaffinity, OPTIONAL, "reading a CPU's clock", "", 0, 0, 0, 0) \
	X(sched_setaffinity, OPTIONAL, "reading a CPU's clock", "", -1, 0, 0, 0) \
	X(sched_getattr, OPTIONAL, "a short time slice", "", 0, 0, 0, 0) \
	X(sched_setattr, OPTIONAL, "a short time slice", "", 0, 0, 0, 0) \
	X(statx, OPTIONAL, "naming what a thread reads or writes", "no names of what threads read and write", \
		-1, EMPTY, AT_EMPTY_PATH, 0) \
	X(readlinkat, OPTIONAL, "naming files", "no names of files", \
		-1, EMPTY, SCRATCH, 0) \
	X(getsockname, OPTIONAL, "naming sockets", "no names of sockets", -1, 0, 0, 0) \
	X(getpeername, OPTIONAL, "naming sockets", "no names of sockets", -1, 0, 0, 0) \
	X(getsockopt, OPTIONAL, "naming sockets", "no names of sockets", -1, SOL_SOCKET, SO_TYPE, 0) \
	X(close_range, OPTIONAL, "a descriptor table of its own", "", 1, 0, 0, 0) \
	X(unshare, OPTIONAL, "the same before Linux 5.9", "", 0, 0, 0, 0) \
	X(socket, OPTIONAL, "perf_events that jhot lends", "no lent perf_events", -1, 0, 0, 0) \
	X(bind, OPTIONAL, "perf_events that jhot lends", "no lent perf_events", -1, 0, 0, 0) \
	X(listen, OPTIONAL, "perf_events that jhot lends", "no lent perf_events", -1, 0, 0, 0) \
	X(connect, OPTIONAL, "perf_events that jhot lends", "no lent perf_events", -1, 0, 0, 0) \
	X(accept4, OPTIONAL, "perf_events that jhot lends", "no lent perf_events", -1, 0, 0, 0) \
	X(recvmsg, OPTIONAL, "perf_events that jhot lends", "no lent perf_events", -1, 0, 0, 0) \
	X(recvfrom, OPTIONAL, "perf_events that jhot lends", "no lent perf_events", -1, 0, 0, 0) \
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
