/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's counters: every loss and every fault has a name, and the name reaches the screen.
 *
 * A row is COUNTER, the name in the status page, whether it means samples that are in no trace. The
 * reasons for which a walk broke follow them, under walk_break_name without its brackets. Bumped by
 * handlers and agent threads; the publisher copies them to the status page.
 */
#ifndef JHOT_SAMPLER_COUNTERS_H
#define JHOT_SAMPLER_COUNTERS_H

#include "walk/walk.h"
#include "wire/status.h"

#include <stdatomic.h>

#define COUNTERS(X)                                                                               \
	X(TABLE_FULL, "table_full")   /* lost: the trace table had no space */                    \
	X(NO_THREAD, "no_thread")     /* lost: a signal on a thread that is not listed */         \
	X(PERF_LOST, "perf_lost")     /* lost: the kernel's buffer of a thread was full */        \
	X(LATE, "late")               /* lost: came when its event was already stopped */         \
	X(NO_STACK, "no_stack")       /* lost: all of the handlers' own stacks were taken */      \
	X(BUSY, "busy")               /* not walked: all buffers for stacks were taken */         \
	X(TRUNCATED, "truncated")     /* deeper than the limit: the root is missing */            \
	X(AGCT_FAILED, "agct_failed") /* stacks that AsyncGetCallTrace refused */                 \
	X(LIVE_FULL, "live_full")     /* lost: more objects between two collections than fit */   \
	X(WAIT_OVER, "wait_over")     /* lost: a wait that ended while it was being read */       \
	X(MOVED, "moved")             /* lost: virtual threads that a collector has moved */      \
	X(UNNAMED, "unnamed")         /* frames whose method could not be named */                \
	X(FOREIGN, "foreign_signals") /* signals that are not the agent's: ignored */             \
	X(RING_FULL, "ring_full")     /* publications that had to be continued later */           \
	X(TRACES_FORGOTTEN, "traces_reset") /* times the list of known traces was emptied */      \
	X(THREADS_FULL, "threads_full")     /* threads without space in the list, at one time */  \
	X(THREADS_MISSED, "threads_missed") /* threads that had ended before they were found */   \
	X(ARM_FAILED, "arm_failed")         /* threads that no engine could be set on */          \
	X(COLLECTORS, "blocks_signals") /* threads that collect signals: they get none of ours */ \
	X(UNANSWERED, "unanswered")     /* not walked: the thread took no signal for 0.5 s */     \
	X(TIMER_THREADS, "timer_threads") /* threads on a timer where perf_events was meant */    \
	X(MODULES_FULL, "modules_full")   /* mapped files that found no space in the list */

#define COUNTER_ENUM(name, text) COUNTER_##name,
enum counter { COUNTERS(COUNTER_ENUM) COUNTER_BREAKS };
#define COUNTER_BREAK(why) (COUNTER_BREAKS + (unsigned)(why)-1)
#define COUNTER_COUNT      (COUNTER_BREAKS + WALK_BREAK_COUNT - 1)

_Static_assert(COUNTER_COUNT <= WIRE_COUNTERS, "the status page has space for all counters");

struct counters {
	_Atomic uint64_t values[COUNTER_COUNT];
};

static inline void counters_add(struct counters *counters, unsigned which, uint64_t n)
{
	atomic_fetch_add_explicit(&counters->values[which], n, memory_order_relaxed);
}

#endif
