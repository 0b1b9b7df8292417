/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's counters: every loss and every fault has a name that appears on the screen.
 *
 * A row is the suffix of COUNTER_..., the name on the status page, and a comment: "lost" means that it counts samples
 * that are in no trace. The reasons why a walk broke follow, named as in walk_break_name without the brackets. Handlers
 * and agent threads increment them; the publisher copies them to the status page.
 */
#ifndef JHOT_SAMPLER_COUNTERS_H
#define JHOT_SAMPLER_COUNTERS_H

#include "walk/walk.h"
#include "wire/status.h"

#include <stdatomic.h>

#define COUNTERS(X)                                                                           \
	X(TABLE_FULL, "table_full")         /* lost: the trace table was full */              \
	X(NO_THREAD, "no_thread")           /* lost: signal on a thread that is not listed */ \
	X(PERF_LOST, "perf_lost")           /* lost: a thread's perf buffer was full */       \
	X(LATE, "late")                     /* lost: arrived after its event was stopped */   \
	X(NO_STACK, "no_stack")             /* lost: all handler stacks were in use */        \
	X(BUSY, "busy")                     /* not walked: all walk buffers were in use */    \
	X(TRUNCATED, "truncated")           /* deeper than the limit: root frames missing */  \
	X(AGCT_FAILED, "agct_failed")       /* stacks that AsyncGetCallTrace rejected */      \
	X(LIVE_FULL, "live_full")           /* lost: too many objects between collections */  \
	X(WAIT_OVER, "wait_over")           /* lost: the wait ended while it was read */      \
	X(MOVED, "moved")                   /* lost: virtual threads relocated by the GC */   \
	X(UNNAMED, "unnamed")               /* frames whose method could not be named */      \
	X(FOREIGN, "foreign_signals")       /* signals of other senders: ignored */           \
	X(RING_FULL, "ring_full")           /* publications interrupted by a full ring */     \
	X(TRACES_FORGOTTEN, "traces_reset") /* resets of the known-traces table */            \
	X(THREADS_FULL, "threads_full")     /* maximum number of threads without a slot */    \
	X(THREADS_MISSED, "threads_missed") /* threads that ended before they were found */   \
	X(ARM_FAILED, "arm_failed")         /* threads without any usable engine */           \
	X(COLLECTORS, "blocks_signals")     /* threads that collect signals: not signalled */ \
	X(UNANSWERED, "unanswered")         /* not walked: signal unanswered for 0.5 s */     \
	X(TIMER_THREADS, "timer_threads")   /* threads on a timer instead of perf_events */   \
	X(MODULES_FULL, "modules_full")     /* mapped files that did not fit in the list */   \
	X(CONTEXTS_LOST, "contexts_lost") /* samples whose request exceeds the limit of requests */

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
