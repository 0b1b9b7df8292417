/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process seen from outside: its memory through process_vm_readv, its threads through ptrace.
 *
 * remote_capture stops one thread, copies its registers, the used part of its stack and its JavaThread, and
 * lets it go on; what is walked afterwards is the copy, and what is not in the copy is read from the running
 * process. When remote_capture returns, the thread is detached and runs, on every path; one that did not stop within
 * half a second is not stopped later either. Signals that would end or stop jhot are blocked meanwhile, and should jhot
 * be killed the kernel detaches. A thread of a stopped process stays stopped.
 *
 * The calls are for one thread at a time; each capture is made by a tracer thread of its own, in which `look` and
 * stack_end are called.
 */
#ifndef JHOT_DUMP_REMOTE_H
#define JHOT_DUMP_REMOTE_H

#include "base/err.h"
#include "walk/types.h"

#include <sys/types.h>

struct remote;

/* NULL when the kernel does not let us read its memory. */
struct remote *remote_open(pid_t pid, uint64_t readable, struct err *err);
void remote_close(struct remote *r);

/* Reads the last capture first, then the process by pages that are kept until the next capture. */
const struct walk_mem *remote_mem(struct remote *r);
void remote_forget(struct remote *r);

/* What else to copy while the thread stands still, its JavaThread (bytes 0: nothing), and to look at. */
struct remote_want {
	uint64_t address;
	uint32_t bytes;
	void (*look)(void *ctx); /* more to read while it stands still; NULL: nothing */
	void *look_ctx;
};

/* stack_end: where the mapping that holds sp ends, 0 if not known. */
typedef uint64_t remote_stack_fn(void *ctx, uint64_t sp);

enum remote_result {
	REMOTE_OK,
	REMOTE_GONE,   /* the thread has ended */
	REMOTE_STUCK,  /* it does not stop: uninterruptible in the kernel */
	REMOTE_DENIED, /* errno says why */
};

enum remote_result remote_capture(struct remote *r, pid_t tid, const struct remote_want *want,
	remote_stack_fn *stack_end, void *ctx, struct walk_regs *regs);

/* The registers of a thread that stands still. */
bool remote_regs(pid_t tid, struct walk_regs *out);

/*
 * The longest time that a thread can have stood still, in ns: an upper bound, from when it was last seen running until
 * it was detached.
 */
uint64_t remote_longest_pause_ns(const struct remote *r);

#endif
