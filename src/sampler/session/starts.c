/* SPDX-License-Identifier: Apache-2.0 */
/* Polls the newest threads; counts those that ended before a poll found them. */

#include "base/clock.h"
#include "sampler/engine/arms.h"
#include "sampler/engine/events.h"
#include "sampler/jvm/jvm.h"
#include "sampler/session/scan.h"

#define POLL_NS      (10 * NS_PER_MS)
#define POLL_IDLE_NS (100 * NS_PER_MS)
#define SOON_NS      (500 * NS_PER_US)
#define SOON_SHARE   30 /* upper bound of the cost: 1 / SOON_SHARE of a core */
#define SMOOTH       16
#define SOON_FOR_NS  (1 * NS_PER_S)

#define NEWEST       64u /* if more start at once, the rest waits for the whole scan */
#define NEWEST_TRIES 4

/* True when nothing else reports new threads (no JVMTI ThreadStart). */
static bool starts_are_polled(const struct sampler *s)
{
	return s->thread_layout && !jvm_events_are_set(JVM_REPORTS_THREADS);
}

/* True when an event is on whose samples of new threads do not come from the process's own clock. */
static bool starts_have_other_events(const struct sampler *s)
{
	for (uint32_t i = 0; i < WIRE_EVENTS; i++) {
		if (atomic_load(&s->events[i].on) &&
			(i != WIRE_CPU || !atomic_load(&s->process_clock.on)))
			return true;
	}
	return false;
}

bool starts_unlisted(const struct sampler *s)
{
	return arms_clocked(s) && !starts_have_other_events(s);
}

/*
 * Switches the JVM's ThreadStart events off while they are redundant: the process's own clock samples all new threads,
 * and the JVM counts them. An event costs a short thread more than its samples. They are switched on again one second
 * after the rate has dropped.
 */
static void starts_reported(struct sampler *s, uint64_t now)
{
	struct starts *t = &s->starts;

	if (!jvm_reports_starts() || !s->thread_layout)
		return;
	if (starts_unlisted(s) && walk_threads_started(s->thread_layout, &s->mem))
		t->silent_until_ns = now + SOON_FOR_NS;
	bool silent = now < t->silent_until_ns && !starts_have_other_events(s);
	if (silent == t->silent)
		return;
	t->silent = silent;
	jvm_events_request(silent ? 0 : JVM_REPORTS_THREADS, silent ? JVM_REPORTS_THREADS : 0, 0);
	jvm_vm_call_request(s);
}

static bool newest_known(void *ctx, const struct walk_listed *thread)
{
	struct sampler *s = ctx;
	struct thread_slot *slot = threads_find(s->threads, thread->tid);

	return slot && atomic_load(&slot->java_thread) == thread->java_thread;
}

/* Lists the newest threads; returns how many were new. */
static uint32_t poll_newest(struct sampler *s)
{
	struct walk_listed listed[NEWEST];
	uint32_t found = 0;
	int count = -1;

	for (int i = 0; i < NEWEST_TRIES && count < 0; i++) {
		self_mem_refresh(&s->poll_mem);
		count = walk_threads_newest(
			s->thread_layout, &s->poll_mem.mem, listed, NEWEST, newest_known, s);
	}
	for (int i = 0; i < count; i++)
		found += scan_listed(s, &listed[i]);
	/* Select by the kernel's name: short threads would have ended by the next publication. */
	if (found && s->select.pattern[0])
		select_update(s);
	return found;
}

/*
 * True when threads have started and ended since the last poll. The JVM's count includes the agent's VM calls; while
 * one is in progress, the answer is the previous one.
 */
static bool starts_missed(struct sampler *s, bool soon)
{
	struct starts *t = &s->starts;
	uint64_t started = walk_threads_started(s->thread_layout, &s->mem), before = t->started;

	t->found += starts_unlisted(s) ? 0 : poll_newest(s);
	if (atomic_load(&s->vm_calls.requested) != atomic_load(&s->vm_calls.done))
		return soon; /* decided when the VM call is complete */
	int64_t found = t->found;
	uint64_t vm_calls = atomic_load(&s->vm_calls.made);
	int64_t missed = (int64_t)(started - before) - (int64_t)(vm_calls - t->vm_calls) - found;
	t->started = started;
	t->vm_calls = vm_calls;
	t->found = 0;
	/* The JVM does not count: if one thread has started there may be others. */
	if (!started)
		return found > 0;
	if (!before || missed <= 0)
		return false;
	atomic_fetch_add(&s->shares.started, (uint32_t)missed);
	if (starts_have_other_events(s))
		counters_add(&s->counters, COUNTER_THREADS_MISSED, (uint64_t)missed);
	return true;
}

void starts_poll(struct sampler *s, uint64_t now)
{
	struct starts *t = &s->starts;
	uint64_t usual = t->cost_ns * 2 + SOON_NS / SOON_SHARE;

	starts_reported(s, now);
	if (!starts_are_polled(s)) {
		t->started = 0;
		return;
	}
	uint64_t begin = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	if (starts_missed(s, now < t->soon_until_ns) && !arms_clocked(s))
		t->soon_until_ns = now + SOON_FOR_NS;
	uint64_t cost = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
	/* Clamp: a poll that finds many at once must not delay the next ones. */
	if (cost > usual)
		cost = usual;
	t->cost_ns = (t->cost_ns * (SMOOTH - 1) + cost) / SMOOTH;
}

uint64_t starts_pause(struct sampler *s, uint64_t now)
{
	uint64_t soon = s->starts.cost_ns * SOON_SHARE;

	if (!starts_are_polled(s) || !events_any(s))
		return UINT64_MAX;
	if (now < s->starts.soon_until_ns)
		return soon > SOON_NS ? soon : SOON_NS;
	return pace_pause(&s->pace, sampler_cost_ns(s), POLL_NS, POLL_IDLE_NS);
}
