/* SPDX-License-Identifier: Apache-2.0 */
/* Timers on a CPU clock, of a thread or of the process, and how their signals are known. */
#ifndef JHOT_SAMPLER_ENGINE_CTIMER_H
#define JHOT_SAMPLER_ENGINE_CTIMER_H

#include <stdint.h>
#include <time.h>

/*
 * siginfo's value. Its low half tells a timer's signal from a stranger's, with the event in the low byte; its high half is
 * free: the process's clock keeps the interval there.
 */
#define ENGINE_COOKIE             0x6a486f00
#define ENGINE_COOKIE_MASK        (~0xff)
#define ENGINE_PROCESS            0x80 /* it is the process's own: process_clock.c */
#define ENGINE_INTERVAL_IN(ns)    ((uint64_t)(ns) >> 10 << 32) /* rounded to 1,024 ns, below 73 min */
#define ENGINE_INTERVAL_OF(value) ((uint64_t)(value) >> 32 << 10)

/* A timer on this clock, not set yet, whose signal goes to a thread, or with tid 0 to the process. 0 or -errno. */
int ctimer_create(int32_t clock, int32_t signo, int32_t tid, uint64_t value, int *timer);
/* Deletes it. */
void ctimer_delete(int timer);
/* How many there are, and how many there may be: the kernel counts each against RLIMIT_SIGPENDING. */
uint32_t ctimers_used(void);
void ctimers_allow(uint64_t timers);
struct itimerspec ctimer_every(uint64_t interval, uint64_t first);

#endif
