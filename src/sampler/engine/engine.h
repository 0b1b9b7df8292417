/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Engines: what makes a signal arrive when a thread is to be sampled.
 *
 * An engine is a const struct engine. Those that are set on each thread have arm/disarm; one that
 * drives itself (wall clock, allocation, locks) has start/stop instead. Which engines an event may use,
 * in which order, is a row of events.c. All functions run outside handlers and return 0 or -errno.
 */
#ifndef JHOT_SAMPLER_ENGINE_ENGINE_H
#define JHOT_SAMPLER_ENGINE_ENGINE_H

#include "wire/control.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sampler;
struct thread_slot;
struct thread_arm;
struct event;

/* On which thread, for which event, at which interval, by which signal. */
struct engine_target {
	int32_t tid;
	uint32_t event;
	uint64_t interval;
	uint32_t share; /* so many intervals a sample stands for: others are not sampled */
	uint64_t first; /* after how much the first sample is due */
	uint64_t owed;  /* so much is due at once, in whole intervals */
	int32_t signo;
	uint64_t flags;                     /* WIRE_START_* */
	const struct wire_perf_event *perf; /* what to count, for WIRE_USER_FIRST and above */
	int32_t lent; /* of the thread: perf_events' descriptor that the front end has opened; 0: none */
};

struct engine {
	enum wire_engine id;
	const char *name;
	uint64_t interval_min;
	bool java_only; /* set on the JVM's own threads only */
	/* The shortest interval for this event, where that is not the same for all. */
	uint64_t (*least)(const struct engine_target *target);
	/*
	 * Whether it can work here; if not, why, as the start of a sentence ("no perf_events:
	 * EACCES").
	 */
	int (*probe)(const struct engine_target *on_self, char *why, size_t bytes);
	int (*arm)(struct thread_arm *arm, const struct engine_target *target);
	/*
	 * Two steps, since the handler may be reading what arm mapped: no more signals; give it
	 * back.
	 */
	void (*quiet)(struct thread_arm *arm);
	/* Does it hold samples whose signal the thread has not taken yet? NULL: it never does. */
	bool (*pending)(const struct thread_arm *arm);
	/* Returns how many samples it still held: signals that the thread had no time to take. */
	uint32_t (*release)(struct thread_arm *arm);
	/* Whether the thread it was set on still lives: a tid may have been given to another. */
	bool (*alive)(const struct thread_arm *arm);
	/* The first sample has been taken (thread_arm.begun): sets the next period. NULL: nothing is to be done. */
	void (*begun)(struct thread_arm *arm);
	/* From now on at this interval; the next sample is due after `first`, whatever has passed of the one before. */
	int (*pace)(struct thread_arm *arm, const struct engine_target *target);

	/*
	 * An engine that drives itself has these instead of arm to pace. start: a sentence when it fails, what
	 * is degraded when it does not. stop returns when no sample is on its way any more. The interval is the
	 * event's; repace takes over one that has changed, NULL: it is read for each sample.
	 */
	int (*start)(
		struct sampler *s, const struct engine_target *target, char *text, size_t bytes);
	void (*stop)(struct sampler *s, uint32_t event);
	void (*repace)(struct sampler *s, uint32_t event);
};

extern const struct engine engine_perf, engine_ctimer, engine_wall, engine_alloc, engine_trap,
	engine_lock;

#define ENGINES_PER_EVENT 2

/* The state of one event. on, interval and the counts are read and bumped by handlers. */
struct event {
	_Atomic uint32_t arming;   /* threads are to get its engine */
	_Atomic uint32_t on;       /* samples are taken: until the last engine is off */
	_Atomic uint64_t interval; /* in force */
	_Atomic uint64_t samples, lost;
	/* CPU time for it: of a thread of its own, and of handlers and callbacks, which is part of what threads use. */
	_Atomic uint64_t thread_ns, handlers_ns;
	const struct engine *engine; /* the best that works here */
	uint64_t asked;              /* the interval that it was started with */
	_Atomic uint64_t on_ns;      /* since when threads are given its engine */
	char note[96];               /* what is degraded since its start */
	bool chosen;                 /* that interval was left to the agent */
	bool wanted;                 /* started by the front end; off while parked */
	uint32_t engine_asked;       /* enum wire_engine; 0: the best that works */
	uint64_t flags;              /* WIRE_START_* */
	struct wire_perf_event perf; /* what to count */
};

#endif
