/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the entry of the sampling handler, which works in registers on whatever stack was interrupted, and the
 * C functions that it calls.
 */
#ifndef JHOT_SAMPLER_SIGNAL_ENTRY_H
#define JHOT_SAMPLER_SIGNAL_ENTRY_H

#include <signal.h>
#include <stdint.h>

#define SIG_STACKS 64 /* a power of two; CPU timers of all CPUs may expire on the same tick */

struct scratch;

/* The handler proper, on a stack of the agent's. tid: of the running thread. */
void sig_handle(int sig, siginfo_t *info, void *ucontext, int32_t tid);
/* All stacks are taken. Runs on the interrupted stack, of which it needs nothing: a leaf that spills no register. */
void sig_refuse(int sig, const siginfo_t *info);
/* Samples of timers that were refused since the last call. Publisher only. */
uint64_t sig_refused_take(void);

/*
 * One of the session's SAMPLER_SCRATCH buffers, for the caller to release. Every handler stack finds one; NULL: all that
 * callbacks may have are in use. A handler that finds a buffer of its own stack acquires that again: the earlier handler
 * has jumped out.
 */
struct scratch *sig_scratch_acquire(struct scratch *buffers);
void sig_scratch_release(struct scratch *scratch);

#endif
