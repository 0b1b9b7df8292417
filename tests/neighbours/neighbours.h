/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Roles: what native code does in a process that also runs a JVM. A role is a row of `roles` in neighbours.c.
 *
 * Its function runs on a thread of its own from the load of the library to the end of the process. It reports
 * to a struct report, which the test reads: `turns` shows that the role is active, `harms` counts what should
 * not have happened to it. A role must behave the same whether or not jhot samples the process: the test runs
 * every role without jhot, too, and fails when that run is harmed.
 */
#ifndef JHOT_TESTS_NEIGHBOURS_H
#define JHOT_TESTS_NEIGHBOURS_H

#include <jni.h>

#include <stdbool.h>
#include <stdint.h>

/* Shared with the test by a mapped file. Unsigned 64-bit numbers in native byte order, then text. */
struct report {
	_Atomic uint64_t turns;
	_Atomic uint64_t harms;
	char first[240]; /* describes the first harm */
};

struct role {
	const char *name;
	void (*run)(const struct role *role, struct report *report);
	long argument; /* its meaning depends on the role */
	const char *about;
	enum {
		ROLE_LONG, /* `make neighbours` only */
		ROLE_CHECK, /* also in `make check`, where it shares a JVM with the others of its kind */
		ROLE_ALONE, /* also in `make check`, in a JVM of its own */
	} form;
	/* The rest is optional. */
	bool embedded; /* the JVM is created by a program of our own instead of the java command */
	bool refused;  /* jhot may refuse all sessions: the test requires no samples */
	const char *options; /* of the JVM */
};

/* Counts a harm and keeps the first one's description. Async-signal-safe: `what` is copied. */
void role_harm(struct report *report, const char *what, long number);
/* Blocks until this JVM's Java program and that of the control are ready. */
void role_wait_ready(void);
/* True while jhot's shared memory is mapped in this process. Never true in the control. */
bool role_in_session(void);
void role_sleep_ms(unsigned ms);
/* Uses `ms` of CPU time, in a stack frame of a few bytes. */
void role_burn_ms(unsigned ms);
/* The JVM into which the roles were loaded; NULL in a program that embeds one. */
JavaVM *role_vm(void);
/*
 * Runs generated code without unwind info, which uses the frame pointer as a general register: it counts `rounds` down
 * while that register holds `frame`. Returns at once where there is no such code for the CPU.
 */
void role_run_unframed(uint64_t rounds, volatile void *frame);

void role_sigwait(const struct role *role, struct report *report);
void role_sigwait_late(const struct role *role, struct report *report);
void role_signalfd(const struct role *role, struct report *report);
void role_prober(const struct role *role, struct report *report);
void role_guarded(const struct role *role, struct report *report);
void role_flipper(const struct role *role, struct report *report);
void role_altstack(const struct role *role, struct report *report);
void role_coroutine(const struct role *role, struct report *report);
void role_goroutine(const struct role *role, struct report *report);
void role_closer(const struct role *role, struct report *report);
void role_hoarder(const struct role *role, struct report *report);
void role_timers(const struct role *role, struct report *report);
void role_mlockall(const struct role *role, struct report *report);
void role_queued(const struct role *role, struct report *report);
void role_limit(const struct role *role, struct report *report);
void role_seccomp(const struct role *role, struct report *report);
void role_sigquit(const struct role *role, struct report *report);
void role_quit_collector(const struct role *role, struct report *report);
void role_seccomp_fakes(const struct role *role, struct report *report);
void role_seccomp_strict(const struct role *role, struct report *report);
void role_seccomp_thread(const struct role *role, struct report *report);
void role_setxid(const struct role *role, struct report *report);
void role_cancel(const struct role *role, struct report *report);
void role_traced(const struct role *role, struct report *report);
void role_forker(const struct role *role, struct report *report);
void role_no_counter(const struct role *role, struct report *report);
void role_aligned(const struct role *role, struct report *report);
void role_no_pointer(const struct role *role, struct report *report);
void role_stack_hole(const struct role *role, struct report *report);

#endif
