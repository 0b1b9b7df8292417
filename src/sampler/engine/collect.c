/* SPDX-License-Identifier: Apache-2.0 */
/* Detection of threads that collect signals, and the charging of their CPU time. */
#include "sampler/engine/collect.h"

#include "base/clock.h"
#include "sampler/calls.h"
#include "sampler/engine/arms.h"
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"
#include "sampler/task.h"

#define BIT(sig)     (1ull << ((sig)-1))
#define LIBC_SIGNALS (BIT(32) | BIT(33))
#define COLLECTS_NS  500000000u  /* blocked at every reading for this long */
#define CRITICAL_NS  3000000000u /* the same where libc's own signals are blocked, too */
#define STEADY_READS 20
#define STEADY_NS    500000u
#define YOUNG_NS     10000000u

static uint64_t collect_ours(const struct sampler *s)
{
	return (s->signo > 0 ? BIT(s->signo) : 0) |
	       (s->signo_reserved > 0 ? BIT(s->signo_reserved) : 0);
}

uint64_t collect_signals(struct sampler *s)
{
	uint64_t all = 0, set;

	for (struct thread_slot *slot = NULL; (slot = threads_next(s->threads, slot));) {
		struct task_signals task;

		if (!task_signals(s->task.fd, sampler_task(s, slot), &task))
			continue;
		all |= task.blocked;
		if (task.waits && s->mem.load(&s->mem, task.set, &set, sizeof(set)))
			all |= set;
	}
	return all;
}

/*
 * True when the thread blocks our signals at each of STEADY_READS readings, half a millisecond apart. Blocks for up to
 * 10 ms.
 */
static bool collect_steady(struct sampler *s, struct thread_slot *slot)
{
	struct task_signals task;

	for (int i = 0; i < STEADY_READS; i++) {
		raw_sleep(STEADY_NS);
		if (!task_signals(s->task.fd, sampler_task(s, slot), &task) ||
			!(task.blocked & collect_ours(s)))
			return false;
	}
	return true;
}

/*
 * Handles a reading that refuses the thread: it blocks a signal of ours, perhaps only briefly, or, with certain, waits
 * for signals or has other seccomp filters.
 */
static void collect_found(struct sampler *s, struct thread_slot *slot,
	const struct task_signals *task, uint64_t cpu_ns, bool certain)
{
	uint64_t now = clock_mono_ns(), none = 0;
	bool critical = (task->blocked & LIBC_SIGNALS) == LIBC_SIGNALS;
	bool answered = atomic_exchange(&slot->collect.answered, 0);

	atomic_store(&slot->collect.exposed,
		s->signo_reserved <= 0 || !(task->blocked & BIT(s->signo_reserved)));
	atomic_store(&slot->collect.refused, 1);
	if (critical && answered && !certain)
		atomic_store(&slot->collect.since_ns, 0); /* it unblocks them in between */
	atomic_compare_exchange_strong(&slot->collect.since_ns, &none, now);
	uint64_t since = atomic_load(&slot->collect.since_ns);
	if (certain)
		atomic_store(&slot->collect.waited, 1);
	else if (now - since < (critical ? CRITICAL_NS : COLLECTS_NS))
		return;
	else if (critical && !atomic_load(&slot->collect.certain) && !collect_steady(s, slot)) {
		atomic_store(&slot->collect.since_ns, 0);
		return;
	}
	atomic_store(&s->collect_seen, 1);
	if (atomic_exchange(&slot->collect.certain, 1))
		return;
	/* CPU time before this has been sampled by its own engine or the process clock. */
	atomic_store(&slot->collect.charged_ns, cpu_ns);
	counters_add(&s->counters, COUNTER_COLLECTORS, 1);
}

bool collect_permits(struct sampler *s, struct thread_slot *slot)
{
	int32_t tid = atomic_load(&slot->tid);
	struct task_signals task = {.waits = false};
	uint64_t cpu_ns = 0;

	if (!task_cpu_ns(tid, &cpu_ns))
		return true; /* it has ended; arming it will fail */
	if (tid == raw_gettid())
		raw(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &task.blocked, sizeof(task.blocked));
	else if (atomic_load(&slot->collect.valid_ns) == cpu_ns &&
		 (!atomic_load(&slot->collect.refused) || atomic_load(&slot->collect.certain)))
		return !atomic_load(&slot->collect.refused);
	else if (!task_signals(s->task.fd, sampler_task(s, slot), &task))
		/* In an outer PID namespace a scan may not have seen the thread's directory yet. */
		return !s->task_other;
	bool certain = task.waits || (tid != raw_gettid() && !calls_are_of(task.filters));
	if (certain || task.blocked & collect_ours(s))
		collect_found(s, slot, &task, cpu_ns, certain);
	atomic_store(&slot->collect.valid_ns, cpu_ns);
	return !certain && !(task.blocked & collect_ours(s)) && !atomic_load(&slot->collect.waited);
}

bool collect_young(struct sampler *s, struct thread_slot *slot)
{
	uint64_t on_ns = atomic_load(&s->events[WIRE_CPU].on_ns), cpu_ns;

	if (atomic_load(&s->collect_seen) || s->signo_reserved <= 0 || !on_ns ||
		slot->found_ns < on_ns || !atomic_load(&slot->java_thread) ||
		atomic_load(&slot->collect.valid_ns) || atomic_load(&slot->collect.refused) ||
		!task_cpu_ns(atomic_load(&slot->tid), &cpu_ns) || cpu_ns > YOUNG_NS)
		return false;
	atomic_store(&slot->collect.unread, 1);
	return true;
}

/* Charges the CPU time since the last charge, in whole intervals. */
static void collect_charge(struct sampler *s, struct thread_slot *slot, uint64_t cpu_ns)
{
	uint64_t interval = atomic_load(&s->events[WIRE_CPU].interval);
	uint64_t charged_ns = atomic_load(&slot->collect.charged_ns);
	/* collect_found may have read the clock later */
	uint64_t used = cpu_ns > charged_ns ? cpu_ns - charged_ns : 0;
	struct stack_sample sample = {.event = WIRE_CPU, .count = (uint32_t)(used / interval)};

	sample.weight = sample.count * interval;
	atomic_fetch_add(&slot->collect.charged_ns, sample.weight);
	if (sample.count)
		sig_frame_record(s, slot, 0, s->unknown_frames[WALK_BREAK_COLLECTS], &sample);
}

static bool collect_may(const struct thread_slot *slot)
{
	return atomic_load(&slot->collect.refused) || atomic_load(&slot->collect.unread) ||
	       sampler_native(slot);
}

uint32_t collect_poll(struct sampler *s, bool all)
{
	bool charges = atomic_load(&s->events[WIRE_CPU].on) && s->collect_charges;
	uint32_t collecting = 0;
	uint64_t cpu_ns;

	s->collect_charges = atomic_load(&s->events[WIRE_CPU].on);
	s->collect_exposed = false;
	for (struct thread_slot *slot = NULL; (slot = threads_next(s->threads, slot));) {
		if ((!all && !collect_may(slot)) || !task_cpu_ns(atomic_load(&slot->tid), &cpu_ns))
			continue;
		if (collect_permits(s, slot)) {
			if (atomic_exchange(&slot->collect.unread, 0)) {
				arms_disarm(s, slot);
				slot->found_ns = 0; /* its past CPU time has been sampled */
				arms_set(s, slot);
			}
			if (atomic_exchange(&slot->collect.refused, 0)) {
				atomic_store(&slot->collect.since_ns, 0);
				atomic_store(&slot->collect.certain, 0);
				arms_set(s, slot);
			}
			continue;
		}
		s->collect_exposed |= atomic_load(&slot->collect.exposed) != 0;
		if (atomic_exchange(&slot->collect.unread, 0))
			arms_disarm(s, slot);
		if (!atomic_load(&slot->collect.certain))
			continue;
		collecting++;
		if (arms_any(slot))
			arms_disarm(s, slot);
		if (charges)
			collect_charge(s, slot, cpu_ns);
		else
			atomic_store(&slot->collect.charged_ns, cpu_ns);
	}
	return collecting;
}
