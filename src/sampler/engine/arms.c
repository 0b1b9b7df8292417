/* SPDX-License-Identifier: Apache-2.0 */
/* Engines on one thread: choosing, arming, pacing and disarming. */
#include "sampler/engine/arms.h"

#include "base/clock.h"
#include "sampler/engine/collect.h"
#include "sampler/engine/perf_fd.h"
#include "sampler/signal/raw.h"
#include "sampler/task.h"

#include <errno.h>

#define STUCK_POLL_NS 100000
#define STUCK_NS      (1 * NS_PER_S)
#define ARM_MIN_NS    100000u /* the shortest interval of any engine for cpu */
/* Thread starts per second up to which every thread is armed; arming takes 70 us where a kernel is slow. */
#define STARTS_ARMED  256u
#define CLOCKED_SHARE 8u
#define SHARES_NS     (100 * NS_PER_MS)

static bool event_armed(uint32_t id)
{
	return event_rows[id].arm != EVENT_NO_ARM;
}

static struct thread_arm *arm_of(struct thread_slot *slot, uint32_t id)
{
	return &slot->arms[event_rows[id].arm];
}

uint64_t arms_random(uint64_t below)
{
	static _Atomic uint64_t state;
	uint64_t x = atomic_fetch_add(&state, 0x9e3779b97f4a7c15ull) + clock_mono_ns();

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	x ^= x >> 31;
	return (uint64_t)((unsigned __int128)x * below >> 64);
}

/*
 * True when the process clock accounts for the CPU time that a thread used before it was armed. perf accounts for that
 * itself at the moment of arming (process_clock.c). A timer cannot, since it expires at a tick.
 */
static bool arm_late(const struct sampler *s, const struct engine *engine)
{
	const struct event *cpu = &s->events[WIRE_CPU];

	return atomic_load(&s->process_clock.on) &&
	       (engine != &engine_perf ||
		       cpu->flags & (WIRE_START_USER_ONLY | WIRE_START_KERNEL_ONLY));
}

/*
 * Sets when the thread's first sample is due: after a random part of the interval, so that threads that never complete
 * an interval are sampled in proportion to their CPU time. A thread found while the event was on has already run;
 * samples for that time are due at once.
 */
static void arm_first(struct sampler *s, const struct thread_slot *slot,
	const struct engine *engine, struct engine_target *target)
{
	uint64_t on_ns = atomic_load(&s->events[target->event].on_ns), now = clock_mono_ns(), used;

	target->owed = 0;
	target->first = 1 + arms_random(target->interval);
	if (target->event != WIRE_CPU || arm_late(s, engine) || slot->found_ns < on_ns ||
		now <= on_ns || !task_cpu_ns(target->tid, &used))
		return;
	used = used < now - on_ns ? used : now - on_ns;
	if (used < target->first) {
		target->first -= used;
		return;
	}
	target->owed = 1 + (used - target->first) / target->interval;
	target->first += target->owed * target->interval - used;
}

struct engine_target arms_target(struct sampler *s, uint32_t id)
{
	const struct event *event = &s->events[id];

	return (struct engine_target){.event = id,
		.interval = atomic_load(&event->interval),
		.first = atomic_load(&event->interval),
		.share = 1,
		.signo = s->signo,
		.flags = event->flags,
		.perf = &event->perf};
}

/*
 * Applies the thread's share. Returns false if another thread or the process clock represents this thread's CPU time.
 */
static bool arm_share(const struct thread_slot *slot, struct engine_target *target)
{
	uint32_t share = atomic_load(&slot->share);

	if (target->event != WIRE_CPU || share == 1)
		return true;
	if (!share || share == THREADS_NEWCOMER)
		return false;
	target->share = share;
	target->interval /= share;
	if (target->interval < ARM_MIN_NS)
		target->interval = ARM_MIN_NS;
	return true;
}

/* Arms the thread with the event's engine, or the next one that works on it. Returns 0 or -errno. */
static int arm_set(struct sampler *s, uint32_t id, struct thread_slot *slot)
{
	const struct event_row *row = &event_rows[id];
	struct event *event = &s->events[id];
	struct thread_arm *arm = arm_of(slot, id);
	struct engine_target target = arms_target(s, id);
	int error = -ENODEV;

	if (atomic_load(&arm->engine) || !arm_share(slot, &target))
		return 0;
	target.tid = atomic_load(&slot->tid);
	target.signo = sampler_signal(s, slot);
	target.borrowed = id == WIRE_CPU ? slot->borrowed : 0;
	arm->event = id;
	for (uint32_t i = 0; i < ENGINES_PER_EVENT && row->engines[i]; i++) {
		const struct engine *engine = row->engines[i];

		if (engine != event->engine && (error == -ENODEV || event->engine_asked))
			/* Better, but known not to work here; or another one was requested. */
			continue;
		if (id == WIRE_CPU && slot->switches_often && engine == &engine_perf &&
			!event->engine_asked) {
			error = -EAGAIN;
			continue;
		}
		if (engine->java_only && !atomic_load(&slot->java_thread))
			return 0;
		arm_first(s, slot, engine, &target);
		error = engine->arm(arm, &target);
		if (error == 0 && engine != event->engine)
			counters_add(&s->counters, COUNTER_TIMER_THREADS, 1);
		if (error == 0 || error == -ESRCH)
			return error;
	}
	if (!atomic_exchange(&slot->failed, 1))
		counters_add(&s->counters, COUNTER_ARM_FAILED, 1);
	return error;
}

/* True when the thread lacks an engine that it should have. */
static bool arms_missing(struct sampler *s, struct thread_slot *slot)
{
	for (uint32_t i = 0; i < WIRE_EVENTS; i++) {
		if (event_armed(i) && atomic_load(&s->events[i].arming) &&
			s->events[i].engine->arm && !atomic_load(&arm_of(slot, i)->engine))
			return !atomic_load(&slot->gone) && !atomic_load(&slot->unselected);
	}
	return false;
}

void arms_set(struct sampler *s, struct thread_slot *slot)
{
	if (!arms_missing(s, slot) || !(collect_young(s, slot) || collect_permits(s, slot)))
		return;
	for (uint32_t i = 0; i < WIRE_EVENTS; i++) {
		if (event_armed(i) && atomic_load(&s->events[i].arming) &&
			s->events[i].engine->arm && !atomic_load(&slot->gone) &&
			!atomic_load(&slot->unselected))
			arm_set(s, i, slot);
	}
}

void arms_serve(struct sampler *s)
{
	uint32_t next = atomic_exchange(&s->arms_asked, 0);

	while (next) {
		struct thread_slot *slot = &s->threads->slots[next - 1];

		next = slot->arms_next;
		atomic_store(&slot->arms_asked, 0);
		if (!atomic_load(&slot->tid) || atomic_load(&slot->gone))
			continue;
		for (uint32_t i = 0; i < THREADS_ARMS; i++) {
			struct thread_arm *arm = &slot->arms[i];
			const struct engine *engine = atomic_load(&arm->engine);

			if (engine && engine->begun && atomic_load(&arm->begun))
				engine->begun(arm);
		}
		arms_set(s, slot);
	}
}

void arms_borrow_end(struct thread_slot *slot)
{
	if (slot->borrowed)
		perf_fd_close(slot->borrowed, NULL);
	slot->borrowed = 0;
}

void arms_borrow(struct sampler *s, struct thread_slot *slot, int32_t fd)
{
	arms_borrow_end(slot);
	slot->borrowed = fd;
	if (atomic_load(&arm_of(slot, WIRE_CPU)->engine)) {
		arms_drop(s, slot, WIRE_CPU);
		slot->found_ns = 0; /* its past CPU time has been sampled */
	}
	arms_set(s, slot);
}

void arms_quiet(struct thread_slot *slot, uint32_t id)
{
	struct thread_arm *arm = arm_of(slot, id);
	const struct engine *engine = atomic_load(&arm->engine);

	if (engine)
		engine->quiet(arm);
}

void arms_pace(struct sampler *s, struct thread_slot *slot, uint32_t id)
{
	struct thread_arm *arm = arm_of(slot, id);
	const struct engine *engine = atomic_load(&arm->engine);

	struct engine_target target = arms_target(s, id);

	if (!engine)
		return;
	arm_share(slot, &target);
	target.first = 1 + arms_random(target.interval);
	engine->pace(arm, &target);
}

/* --- bursts of short-lived threads -------------------------------------------------------------- */

bool arms_clocked(const struct sampler *s)
{
	return atomic_load(&s->process_clock.on) && atomic_load(&s->shares.share) >= CLOCKED_SHARE;
}

void arms_new(struct sampler *s, struct thread_slot *slot)
{
	uint32_t share = atomic_load(&s->shares.share);

	atomic_fetch_add(&s->shares.started, 1);
	if (arms_clocked(s))
		atomic_store(&slot->share, THREADS_NEWCOMER);
	else if (share > 1 && atomic_load(&s->events[WIRE_CPU].arming))
		atomic_store(&slot->share, arms_random(share) ? 0 : share);
}

void arms_stay(struct sampler *s, struct thread_slot *slot)
{
	uint32_t share = atomic_load(&slot->share);

	if (share == 1)
		return;
	atomic_store(&slot->share, 1);
	slot->found_ns = 0; /* its past CPU time was represented by others */
	if (arms_engine(slot, WIRE_CPU) == &engine_ctimer) {
		arms_drop(s, slot, WIRE_CPU);
	} else if (share && share != THREADS_NEWCOMER) {
		arms_pace(s, slot, WIRE_CPU);
	}
	arms_set(s, slot);
}

void arms_count(struct sampler *s, uint64_t now)
{
	uint64_t since = now - s->shares.counted_ns, least = ARM_MIN_NS;
	uint64_t interval = atomic_load(&s->events[WIRE_CPU].interval);

	if (since < SHARES_NS)
		return;
	s->shares.counted_ns = now;
	uint64_t share = atomic_exchange(&s->shares.started, 0) * NS_PER_S / since / STARTS_ARMED;
	if (share > interval / least)
		share = interval / least;
	atomic_store(&s->shares.share, share ? (uint32_t)share : 1);
}

/*
 * Waits until no handler on this thread reads the arm. A thread that has ended inside its handler stays inside: waits
 * for such threads are limited to STUCK_NS per session, then their resources leak deliberately.
 */
static bool arm_quiescent(struct sampler *s, const struct thread_slot *slot)
{
	for (; atomic_load(&slot->inside); s->stuck_ns += STUCK_POLL_NS) {
		if (s->stuck_ns >= STUCK_NS)
			return false;
		raw_sleep(STUCK_POLL_NS);
	}
	return true;
}

void arms_release(struct sampler *s, struct thread_slot *slot, uint32_t id)
{
	struct thread_arm *arm = arm_of(slot, id);
	const struct engine *engine = atomic_exchange(&arm->engine, NULL);

	if (!engine || !arm_quiescent(s, slot))
		return;
	uint32_t unread = engine->release(arm);
	atomic_fetch_add(&s->events[id].samples, unread);
	atomic_fetch_add(&s->events[id].lost, unread);
	counters_add(&s->counters, COUNTER_LATE, unread);
}

void arms_drop(struct sampler *s, struct thread_slot *slot, uint32_t id)
{
	arms_quiet(slot, id);
	arms_release(s, slot, id);
}

void arms_disarm(struct sampler *s, struct thread_slot *slot)
{
	for (uint32_t i = 0; i < WIRE_EVENTS; i++) {
		if (event_armed(i))
			arms_drop(s, slot, i);
	}
}

const struct engine *arms_engine(struct thread_slot *slot, uint32_t id)
{
	return event_armed(id) ? atomic_load(&arm_of(slot, id)->engine) : NULL;
}

bool arms_any(const struct thread_slot *slot)
{
	for (uint32_t i = 0; i < THREADS_ARMS; i++) {
		if (atomic_load(&slot->arms[i].engine))
			return true;
	}
	return false;
}

bool arms_alive(const struct thread_slot *slot)
{
	for (uint32_t i = 0; i < THREADS_ARMS; i++) {
		const struct engine *engine = atomic_load(&slot->arms[i].engine);

		if (engine && !engine->alive(&slot->arms[i]))
			return false;
	}
	return true;
}
