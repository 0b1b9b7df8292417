/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interface between the entry of the sampling handler, which works in registers on the interrupted stack, and
 * the C functions it calls. Signal-safe; nothing here blocks.
 */
#ifndef JHOT_SAMPLER_SIGNAL_ENTRY_H
#define JHOT_SAMPLER_SIGNAL_ENTRY_H

#include <signal.h>
#include <stdint.h>

/* A power of two; the CPU timers of all CPUs may expire on the same tick. */
#define SIG_STACKS 64

struct scratch;

/* The handler proper, on one of the agent's stacks. tid: of the running thread. */
void sig_handle(int sig, siginfo_t *info, void *ucontext, int32_t tid);
/*
 * Counts a signal for which no stack is free. Runs on the interrupted stack without using it: a leaf function that
 * spills no register.
 */
void sig_refuse(int sig, const siginfo_t *info);
/* Returns and resets the number of timer samples refused. Publisher only. */
uint64_t sig_refused_consume(void);

/*
 * Acquires one of the session's SAMPLER_SCRATCH buffers; the caller must release it. There is one for every handler
 * stack; NULL means that all buffers reserved for other callers are in use. A handler that finds a buffer owned by its
 * own stack reacquires it: the earlier handler on that stack has jumped out.
 */
struct scratch *sig_scratch_acquire(struct scratch *buffers);
void sig_scratch_release(struct scratch *scratch);

#endif
