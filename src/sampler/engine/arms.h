/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Engines on one thread: arming and disarming.
 *
 * Publisher only, unless stated otherwise: engines need descriptors, which exist in the agent's own descriptor table
 * (session/files.h). Other threads request it with sig_arms_request(). A handler may be reading an arm that is being
 * disarmed, so disarming has two steps: the engine is silenced, the thread leaves its handler, then the arm is
 * released.
 *
 * Intervals are in the event's unit (event_unit), times in ns.
 */
#ifndef JHOT_SAMPLER_ENGINE_ARMS_H
#define JHOT_SAMPLER_ENGINE_ARMS_H

#include "sampler/sampler.h"
#include "sampler/text.h"

#define EVENT_NO_ARM UINT32_MAX /* the event's engine drives itself */

/* One event: a row of events.c. An event without engines cannot be sampled by this version. */
struct event_row {
	const char *name;
	uint64_t interval; /* default */
	uint32_t arm;      /* index of the thread's arm, or EVENT_NO_ARM */
	/* In order of preference. */
	const struct engine *engines[ENGINES_PER_EVENT];
};
extern const struct event_row event_rows[WIRE_EVENTS];

/* True when the event's interval is in ns. */
static inline bool event_is_time(uint32_t event)
{
	return event == WIRE_CPU || event == WIRE_LOCK || event == WIRE_WALL;
}
static inline enum text_unit event_unit(uint32_t event)
{
	return event_is_time(event) ? TEXT_TIME : event == WIRE_ALLOC ? TEXT_BYTES : TEXT_COUNT;
}

/* The target for an event that is on or about to be; tid stays for the caller to fill in. */
struct engine_target arms_target(struct sampler *s, uint32_t event);

/*
 * Arms the thread for every event that is on, with the event's engine or the next best that works on this thread.
 * Idempotent: arms that are set do not change. Does nothing for threads that have ended, are deselected or must get no
 * signals (collect.h).
 */
void arms_set(struct sampler *s, struct thread_slot *slot);
void arms_disarm(struct sampler *s, struct thread_slot *slot);

/*
 * Serves the requests made with sig_arms_request(): arms those threads, and sets the regular interval of engines whose
 * first sample has been consumed.
 */
void arms_serve(struct sampler *s);
/*
 * Adopts the borrowed perf_events descriptor `fd` for the thread and re-arms cpu by it. The slot owns the descriptor
 * until the thread or the session has ended. Call arms_borrow_end only when no engine uses the descriptor any more.
 */
void arms_borrow(struct sampler *s, struct thread_slot *slot, int32_t fd);
void arms_borrow_end(struct thread_slot *slot);

/* The two steps of disarming one event; between them the thread leaves its handler (arms_release waits for that). */
void arms_quiet(struct thread_slot *slot, uint32_t event);
void arms_release(struct sampler *s, struct thread_slot *slot, uint32_t event);
/* Both steps at once. */
void arms_drop(struct sampler *s, struct thread_slot *slot, uint32_t event);

/* The event's interval has changed: an engine that is set adopts it. */
void arms_pace(struct sampler *s, struct thread_slot *slot, uint32_t event);

/* True when any engine is set on the thread. */
bool arms_any(const struct thread_slot *slot);
/* The engine that is set for the event on the thread; NULL if none is. */
const struct engine *arms_engine(struct thread_slot *slot, uint32_t event);
/* True while the thread that the engines were set on lives; its tid may have been reused. */
bool arms_alive(const struct thread_slot *slot);

/*
 * Bursts of short-lived threads. Arming a thread costs more CPU time than a short one uses in its life. When more than
 * a few hundred threads start per second, one in `share`, drawn at random, is sampled at 1/share of the interval until
 * it has survived a scan; the others are not armed before that. Every sample has the same weight, so sums and precision
 * do not change.
 *
 * Beyond a few thousand starts per second the process clock samples them all (arms_clocked), since most would end
 * before their first sample was consumed.
 *
 * arms_new: call before a new thread's engines are set; any thread. arms_stay: the thread has survived a scan.
 * arms_count: updates `share` from the rate of starts; `now` is in ns.
 */
void arms_new(struct sampler *s, struct thread_slot *slot);
void arms_stay(struct sampler *s, struct thread_slot *slot);
void arms_count(struct sampler *s, uint64_t now);
bool arms_clocked(const struct sampler *s);

/*
 * A uniform random number in [0, below). Unpredictable to the program, which must not be able to anticipate when it is
 * sampled. Any thread.
 */
uint64_t arms_random(uint64_t below);

/* --- process_clock.c ---------------------------------------------------------------------------- */

/*
 * start does nothing where the kernel or the event's flags rule the clock out; poll adapts the clock's interval and is
 * called periodically. Publisher only.
 */
void process_clock_start(struct sampler *s);
void process_clock_stop(struct sampler *s);
void process_clock_poll(struct sampler *s, uint64_t now);

#endif
