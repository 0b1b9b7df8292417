/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POSIX timers on the CPU clock of a thread or of the process, and the tag that identifies their signals. Any thread;
 * nothing blocks. Times are in ns.
 */
#ifndef JHOT_SAMPLER_ENGINE_CTIMER_H
#define JHOT_SAMPLER_ENGINE_CTIMER_H

#include <stdint.h>
#include <time.h>

/*
 * siginfo's value. The low half distinguishes a timer's signal from a foreign one and has the event in its low byte.
 * The process clock stores its interval in the high half.
 */
#define ENGINE_COOKIE      0x6a486f00
#define ENGINE_COOKIE_MASK (~0xff)
#define ENGINE_PROCESS     0x80 /* set for the process clock (process_clock.c) */
/* In units of 1,024 ns; below 73 min. */
#define ENGINE_INTERVAL_IN(ns)    ((uint64_t)(ns) >> 10 << 32)
#define ENGINE_INTERVAL_OF(value) ((uint64_t)(value) >> 32 << 10)

/*
 * Creates a disarmed timer on the clock. Its signal is sent to thread `tid`, or with tid 0 to the process. Returns 0 or
 * -errno; -EAGAIN when the budget is used up, -EPERM when the seccomp filter forbids timer_settime or timer_delete.
 */
int ctimer_create(int32_t clock, int32_t signo, int32_t tid, uint64_t value, int *timer);
/* Deletes the timer and returns it to the budget. */
void ctimer_delete(int timer);
/* The number of timers, and its upper bound: the kernel counts each against RLIMIT_SIGPENDING. */
uint32_t ctimers_used(void);
void ctimers_allow(uint64_t timers);
/* The setting of a periodic timer; `first` is the time to its first expiry. */
struct itimerspec ctimer_every(uint64_t interval, uint64_t first);

#endif
