/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Engines on one thread: arming and disarming.
 *
 * Publisher only, unless stated otherwise: engines need descriptors, which exist in the agent's own descriptor table
 * (session/files.h). Other threads request it with sig_arms_ask(). A handler may be reading an arm that is being
 * disarmed: the engine is made quiet, the thread leaves its handler, then the arm is released.
 */
#ifndef JHOT_SAMPLER_ENGINE_ARMS_H
#define JHOT_SAMPLER_ENGINE_ARMS_H

#include "sampler/sampler.h"
#include "sampler/text.h"

#define EVENT_NO_ARM UINT32_MAX /* its engine drives itself */

/* One event: a row of events.c. One without engines cannot be sampled by this version. */
struct event_row {
	const char *name;
	uint64_t interval; /* the default */
	uint32_t arm;      /* which of a thread's arms, or EVENT_NO_ARM */
	const struct engine *engines[ENGINES_PER_EVENT]; /* the best first */
};
extern const struct event_row event_rows[WIRE_EVENTS];

/* Is its interval in ns? */
static inline bool event_is_time(uint32_t event)
{
	return event == WIRE_CPU || event == WIRE_LOCK || event == WIRE_WALL;
}
static inline enum text_unit event_unit(uint32_t event)
{
	return event_is_time(event) ? TEXT_TIME : event == WIRE_ALLOC ? TEXT_BYTES : TEXT_COUNT;
}

/* What an engine is told of an event that is (to be) on; the thread is the caller's to fill in. */
struct engine_target arms_target(struct sampler *s, uint32_t event);

/* Every event that is on gets its engine on this thread, or the next best where that is not possible. */
void arms_set(struct sampler *s, struct thread_slot *slot);
void arms_take_off(struct sampler *s, struct thread_slot *slot);

/* Serves the threads that called sig_arms_ask(): arms them, and sets the interval of those whose first sample is taken. */
void arms_answer(struct sampler *s);
/*
 * The thread's event of perf_events has been lent: cpu is set by it from now on, until the thread or the session has ended
 * (arms_lend_end: no engine is set by it any more).
 */
void arms_lend(struct sampler *s, struct thread_slot *slot, int32_t fd);
void arms_lend_end(struct thread_slot *slot);

/* The two steps of taking one event's engine off. */
void arms_quiet(struct thread_slot *slot, uint32_t event);
void arms_release(struct sampler *s, struct thread_slot *slot, uint32_t event);

/* The event's interval has changed: engines that are set adopt it. */
void arms_pace(struct sampler *s, struct thread_slot *slot, uint32_t event);

/*
 * To arm a thread costs more than a short one does in its life. Where more than some hundreds start in a second, one of
 * `share`, drawn at random, is sampled `share` times as often as it would be, each sample standing for as much as any
 * other, until it has lived through a scan; the others are not armed before. So sums and precision are as they were.
 *
 * Beyond some thousands a second the process's own clock samples them all (arms_clocked): none is armed just to end with
 * its only sample untaken.
 *
 * arms_new: before its engines are set; any thread. arms_stay: it lives on.
 */
void arms_new(struct sampler *s, struct thread_slot *slot);
void arms_stay(struct sampler *s, struct thread_slot *slot);
void arms_count(struct sampler *s, uint64_t now);
bool arms_clocked(const struct sampler *s);

/* In [0, below), from a sequence that goes on; nobody may guess its sampling. */
uint64_t arms_random(uint64_t below);

/* --- process_clock.c ---------------------------------------------------------------------------- */

/* start: nothing where the kernel cannot. look: now and then, for its pace. */
void process_clock_start(struct sampler *s);
void process_clock_stop(struct sampler *s);
void process_clock_look(struct sampler *s, uint64_t now);

/* --- switches.c ---------------------------------------------------------------------------------- */

/* Threads that switch so often that perf_events would slow them down get a CPU timer. */
void switches_look(struct sampler *s, uint64_t now);

bool arms_any(const struct thread_slot *slot);
/* The engine by which the event is set on the thread; NULL: none. */
const struct engine *arms_engine(struct thread_slot *slot, uint32_t event);
/* Does the thread that the engines were set on still live? A tid may have been given to another. */
bool arms_alive(const struct thread_slot *slot);

#endif
