/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the entry of the sampling handler, which works in registers on whatever stack was interrupted, and the
 * C functions that it calls. Called by sig_sample in entry.c only, but for sig_refused_take.
 */
#ifndef JHOT_SAMPLER_SIGNAL_ENTRY_H
#define JHOT_SAMPLER_SIGNAL_ENTRY_H

#include <signal.h>
#include <stdint.h>

/* The handler proper, on a stack of the agent's. tid: of the running thread. */
void sig_handle(int sig, siginfo_t *info, void *ucontext, int32_t tid);
/* All stacks are taken. Runs on the interrupted stack, of which it needs nothing: a leaf that spills no register. */
void sig_refuse(int sig, const siginfo_t *info);
/* Samples of timers that were refused since the last call. Publisher only. */
uint64_t sig_refused_take(void);

#endif
