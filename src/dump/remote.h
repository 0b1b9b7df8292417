/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Access to another process: its memory through process_vm_readv, its threads through ptrace.
 *
 * remote_capture stops one thread, copies its registers, the used part of its stack and its JavaThread, and resumes it. The
 * walk then uses the copy, and reads everything else from the running process. When remote_capture returns, the thread is
 * detached and runs, on every path; one that did not stop within 500 ms is not stopped later either. Signals that would end or
 * stop jhot are blocked during this time; if jhot is killed, the kernel detaches. A thread of a stopped process stays stopped.
 *
 * One caller at a time. Each capture is made by a tracer thread of its own, which calls while_stopped and stack_end.
 */
#ifndef JHOT_DUMP_REMOTE_H
#define JHOT_DUMP_REMOTE_H

#include "base/err.h"
#include "walk/types.h"

#include <sys/types.h>

struct remote;

/* NULL with an error if the kernel denies reading its memory. `readable`: an address to test that with. */
struct remote *remote_open(pid_t pid, uint64_t readable, struct err *err);
void remote_close(struct remote *r);

/* Reads from the last capture, else from the process, in pages that are cached until the next capture or remote_forget. */
const struct walk_mem *remote_mem(struct remote *r);
void remote_forget(struct remote *r);

/* Work to do while the thread is stopped, besides copying registers and stack. */
struct remote_want {
	uint64_t address;                 /* of its JavaThread, to be copied */
	uint32_t bytes;                   /* 0: nothing */
	void (*while_stopped)(void *ctx); /* called while it is stopped; NULL: nothing */
	void *while_stopped_ctx;
};

/* The end of the mapping that contains sp; 0: unknown. */
typedef uint64_t remote_stack_fn(void *ctx, uint64_t sp);

enum remote_result {
	REMOTE_OK,
	REMOTE_GONE,   /* the thread has ended */
	REMOTE_STUCK,  /* it does not stop: it sleeps uninterruptibly in the kernel */
	REMOTE_DENIED, /* errno says why */
};

enum remote_result remote_capture(struct remote *r, pid_t tid, const struct remote_want *want,
	remote_stack_fn *stack_end, void *ctx, struct walk_regs *regs);

/* Reads the registers of a thread that the calling thread has stopped. */
bool remote_regs(pid_t tid, struct walk_regs *out);

/*
 * The longest stop of a thread in ns, an upper bound: from when it was last seen running until it was detached.
 */
uint64_t remote_longest_pause_ns(const struct remote *r);

#endif
