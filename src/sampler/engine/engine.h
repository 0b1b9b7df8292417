/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Engines: sources of the signals by which threads are sampled.
 *
 * An engine is a const struct engine. One that is set on each thread has arm, quiet and release; one that drives itself
 * (wall clock, allocation, locks) has start and stop instead. A row of events.c lists the engines of an event in order
 * of preference. All functions run outside handlers and return 0 or -errno. Intervals are in the event's unit: ns,
 * bytes or counts.
 *
 * Weight of perf's samples on one thread, from arm to release (struct thread_arm; I: interval, S: share):
 *
 *   event's count   0        first           first + late              + I              + I
 *                   |----------|--------------------|-------------------|----------------|-------|
 *   publisher       arm                             begun: period = I                    pace    release
 *                   weight = I * S                  first = 0, late = ...                first = random
 *   handler                    sample: first_weight        sample:            sample:            counted as lost:
 *                              begun = 1, requests         (I + late) * S     I * S              samples still in the
 *                              the publisher                                                     buffer
 *
 * first is random in (0, I], so that threads that end within an interval are sampled in proportion to their time, with
 * first_weight = I * S. If samples are owed for time before arming, first_weight includes them, and `second` is the random
 * period that follows. Samples between begun and the new period are dropped: the event's count until then is `late`. pace stores the new weight after the kernel has the new period. Lost records are counted, not weighted.
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

/* The thread, event, interval and signal that an engine is set for. */
struct engine_target {
	int32_t tid;
	uint32_t event;
	uint64_t interval;
	/* A sample weighs this many intervals, since it also represents threads that are not sampled. */
	uint32_t share;
	uint64_t first; /* distance to the first sample, in the interval's unit */
	uint64_t owed;  /* samples due at once, for time before arming; in whole intervals */
	int32_t signo;
	uint64_t flags;                     /* WIRE_START_* */
	const struct wire_perf_event *perf; /* the counted event, for events >= WIRE_USER_FIRST */
	/* The thread's borrowed perf_events descriptor, opened by the front end; 0: none. */
	int32_t borrowed;
};

struct engine {
	enum wire_engine id;
	const char *name;
	uint64_t interval_min;
	bool java_only; /* true for engines that are set on Java threads only */
	/* The shortest interval for the target; NULL: interval_min. */
	uint64_t (*least)(const struct engine_target *target);
	/* Returns 0 if the engine works here. Otherwise `why` is the start of a sentence ("no perf_events: EACCES"). */
	int (*probe)(const struct engine_target *on_self, char *why, size_t bytes);
	int (*arm)(struct thread_arm *arm, const struct engine_target *target);
	/*
	 * Disarming has two steps, since a handler may be reading the memory that arm mapped: quiet stops the signals, release
	 * frees the resources.
	 */
	void (*quiet)(struct thread_arm *arm);
	/* True when the arm has samples whose signal the thread has not handled yet. NULL: never. */
	bool (*pending)(const struct thread_arm *arm);
	/* Returns how many samples were still pending: their signals came too late. */
	uint32_t (*release)(struct thread_arm *arm);
	/* True while the thread that it was set on lives; its tid may have been reused. */
	bool (*alive)(const struct thread_arm *arm);
	/* The first sample has been consumed (thread_arm.begun): sets the next period. NULL: not needed. */
	void (*begun)(struct thread_arm *arm);
	/*
	 * Changes the interval. The next sample is due after target->first, regardless of what the old period had
	 * accumulated.
	 */
	int (*pace)(struct thread_arm *arm, const struct engine_target *target);

	/*
	 * An engine that drives itself has these instead of arm to pace. start: on failure `text` is a sentence, on
	 * success it names the limitations, if any. stop returns once no sample is in flight. repace adopts a changed
	 * interval of the event; NULL: the engine reads it for each sample.
	 */
	int (*start)(
		struct sampler *s, const struct engine_target *target, char *text, size_t bytes);
	void (*stop)(struct sampler *s, uint32_t event);
	void (*repace)(struct sampler *s, uint32_t event);
};

extern const struct engine engine_perf, engine_ctimer, engine_wall, engine_alloc, engine_trap,
	engine_lock;

#define ENGINES_PER_EVENT 2

/*
 * The state of one event. Handlers read on and interval and increment the counts. The publisher owns the plain fields.
 */
struct event {
	_Atomic uint32_t arming; /* true while threads are to be armed */
	/* True while samples are recorded: until the last engine is released. */
	_Atomic uint32_t on;
	_Atomic uint64_t interval; /* the interval in force */
	_Atomic uint64_t samples, lost;
	/* CPU time spent on the event: by its own thread; by handlers and callbacks, as part of the threads' own time. */
	_Atomic uint64_t thread_ns, handlers_ns;
	const struct engine *engine; /* the preferred one that works here */
	uint64_t asked;              /* the interval with which it was started */
	_Atomic uint64_t on_ns;      /* when arming began */
	char note[96];               /* limitations since the start; "": none */
	bool is_default;             /* true when that interval is a default: WIRE_START_CHOSEN */
	bool wanted;           /* true from start to stop by the front end, also while paused */
	uint32_t engine_asked; /* enum wire_engine; 0: the preferred one that works */
	uint64_t flags;        /* WIRE_START_* */
	struct wire_perf_event perf; /* the counted event */
};

#endif
