/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of the owners of contended locks, weighted by the time that others wait for these locks.
 *
 *   poll k:    waiter -> lock -> owner: half of the time since poll k-1, on the owner's current stack
 *   poll k+1:  the other half, of the time since poll k, on the stack that poll k found, before the next request
 *
 * So these samples add up to the waits. Owners are looked up and sampled before anything slow. A running owner is
 * sampled by a signal, as the wall clock does; a stopped one by a walk from here; and for an owner still in the same
 * place its last trace counts again. Locks without a known owner, and those that are free (a waiter is being woken),
 * have rows of their own. Work of an owner that ends before the request is served is attributed to the work that follows.
 */
#include "sampler/engine/lock/own.h"

#include "base/clock.h"
#include "sampler/engine/ask.h"
#include "sampler/signal/signal.h"
#include "sampler/task.h"
#include "walk/load/mem.h"

#include <string.h>

/*
 * Encoding of an owner in lock_thread and lock_held: 0: not looked up; 1 + the index of its slot; HELD_PARKED + its
 * entry among the parked ones; HELD_UNKNOWN or HELD_FREE.
 */
#define HELD_UNKNOWN UINT32_MAX
#define HELD_FREE    (UINT32_MAX - 1)
#define HELD_PARKED  (1 + THREADS_MAX)

#define RESTS_NS     60000u            /* upper bound of the CPU time of returning from a handler */
#define PATIENCE_NS  (500 * NS_PER_MS) /* after this a thread that does not answer is [unknown] */

/* Records a stack of one frame, as this thread's. */
static void record_row(struct sampler *s, struct thread_slot *thread, uint32_t id, uint64_t frame,
	uint32_t count, uint64_t ns)
{
	struct stack_sample sample = {
		.event = WIRE_LOCK, .state = WIRE_STATE_HOLDS, .count = count, .weight = ns};

	if (count || ns)
		sig_frame_record(s, thread, id, frame, &sample);
}

/* Records time of a wait for a lock without a known owner under the waiting thread. */
static void record_unheld(struct sampler *s, const struct lock_thread *t, uint32_t holder,
	uint32_t count, uint64_t ns)
{
	bool virtual = t >= s->lock->threads + THREADS_MAX;

	record_row(s, lock_slot(s, t), virtual ? t->slot_id : 0,
		s->lock->rows[holder == HELD_FREE ? LOCK_ROW_FREE : LOCK_ROW_UNHELD], count, ns);
}

/* --- charging ---------------------------------------------------------------------------------- */

/* The entry of a parked owner; NULL if it is not one. */
static struct lock_parked *parked_of(struct lock *lock, uint32_t holder)
{
	return holder >= HELD_PARKED && holder < HELD_FREE ? &lock->parked[holder - HELD_PARKED]
							   : NULL;
}

/* Records the time due as [unknown]: no poll has found the owner's stack in the heap. */
static void parked_unanswered(struct sampler *s, struct lock_parked *h)
{
	uint64_t ns = h->due_ns;

	h->due_ns = 0;
	if (!ns)
		return;
	counters_add(&s->counters, COUNTER_UNANSWERED, 1);
	record_row(s, &s->lock->waiting.slot, h->id, s->unknown_frames[WALK_BREAK_NO_FRAME], 1, ns);
}

/*
 * The owner's entry, else a vacant or stale one: not charged since the previous poll. HELD_UNKNOWN if the table is
 * full.
 */
static uint32_t parked_find(struct sampler *s, const struct lock_owner *owner)
{
	struct lock *lock = s->lock;
	struct lock_parked *vacant = NULL, *h;

	for (h = lock->parked; h < lock->parked + LOCK_PARKED && h->number != owner->number; h++)
		if (!vacant && h->polled_ns < lock->last_ns)
			vacant = h;
	if (h == lock->parked + LOCK_PARKED) {
		if (!vacant)
			return HELD_UNKNOWN;
		h = vacant;
		parked_unanswered(s, h);
		*h = (struct lock_parked){.number = owner->number, .id = owner->id};
	}
	h->object = owner->object;
	return HELD_PARKED + (uint32_t)(h - lock->parked);
}

static struct lock_held holder_find(struct sampler *s, const struct lock_wait *wait)
{
	const struct lock_owner owner = lock_wait_owner(&s->lock->reader, wait);
	struct lock_held held = {.lock = wait->lock, .owner = owner.id};

	if (owner.slot)
		held.holder = threads_index(s->threads, owner.slot) + 1;
	else if (owner.object)
		held.holder = parked_find(s, &owner);
	else
		held.holder = owner.free ? HELD_FREE : HELD_UNKNOWN;
	return held;
}

/*
 * The lock's owner, looked up once per lock and poll. With more than LOCK_HELD contended locks the excess is looked up
 * per waiter.
 */
static struct lock_held holder_of(struct sampler *s, const struct lock_wait *wait)
{
	struct lock *lock = s->lock;
	struct lock_held held;
	uint32_t i = 0;

	while (i < lock->held_count && lock->held[i].lock != wait->lock)
		i++;
	if (i < lock->held_count)
		return lock->held[i];
	held = holder_find(s, wait);
	if (i < LOCK_HELD)
		lock->held[lock->held_count++] = held;
	return held;
}

uint32_t holder_id(struct sampler *s, const struct lock_wait *wait)
{
	return holder_of(s, wait).owner;
}

void holder_charge(const struct lock_poll *poll, struct lock_thread *t,
	const struct lock_wait *wait, uint64_t multiplicity)
{
	struct lock *lock = poll->s->lock;
	uint64_t ns = poll->since / 2 * multiplicity;
	struct lock_parked *parked;

	t->holder_now = holder_of(poll->s, wait).holder;
	parked = parked_of(lock, t->holder_now);
	if (t->holder_now >= HELD_FREE) {
		record_unheld(poll->s, t, t->holder_now, 1, ns);
	} else if (parked) {
		parked->due_ns += ns;
		parked->polled_ns = poll->now;
	} else {
		lock->holders[t->holder_now - 1].due_ns += ns;
	}
	lock->virtuals_charged |= t >= lock->threads + THREADS_MAX;
}

/* Records `count` more samples of an owner's last trace. Returns false if that is unknown or the table is full. */
static bool record_again(struct sampler *s, uint32_t id, uint64_t hash, uint32_t count, uint64_t ns)
{
	struct trace_key key = {
		.event = WIRE_LOCK, .thread = id, .flags = WIRE_TRACE_IN_STATE(WIRE_STATE_HOLDS)};

	return hash && trace_table_again(s->table, hash, &key, count, ns);
}

void holder_settle(struct sampler *s, struct lock_thread *t, uint64_t since)
{
	uint64_t ns = t->wait.lock ? since / 2 * t->multiplicity : 0;
	uint32_t holder = t->holder;
	struct lock_parked *parked = parked_of(s->lock, holder);
	struct thread_slot *slot;

	t->holder = 0;
	if (!holder || !ns)
		return;
	if (holder >= HELD_FREE) {
		record_unheld(s, t, holder, 0, ns);
		return;
	}
	if (parked) {
		if (!record_again(s, parked->id, parked->hash, 0, ns))
			parked->due_ns += ns;
		return;
	}
	slot = &s->threads->slots[holder - 1];
	if (record_again(s, atomic_load(&slot->held.id), atomic_load(&slot->held.hash), 0, ns))
		return;
	/* Part of a request that is still outstanding, or, if that was consumed, of the next one. */
	if (!atomic_fetch_add(&slot->asked[THREADS_ASK_HOLDER], ns))
		s->lock->holders[holder - 1].due_ns +=
			atomic_exchange(&slot->asked[THREADS_ASK_HOLDER], 0);
}

void holders_settle(const struct lock_poll *poll)
{
	struct lock *lock = poll->s->lock;
	uint32_t high = atomic_load(&poll->s->threads->high);

	for (uint32_t i = 0; i < high; i++)
		holder_settle(poll->s, &lock->threads[i], poll->since);
	for (uint32_t i = THREADS_MAX; lock->virtuals_charged && i < LOCK_MAX; i++)
		holder_settle(poll->s, &lock->threads[i], poll->since);
	lock->virtuals_charged = false;
}

/* --- sampling ---------------------------------------------------------------------------------- */

struct left_java {
	uint64_t sp, pc;
	bool blocked;
};

static struct left_java left_java(const struct sampler *s, uint64_t java_thread)
{
	const struct walk_layout *l = s->layout;
	uint64_t anchor = java_thread + (uint64_t)l->thread_anchor.offset;

	return (struct left_java){.sp = layout_load(&l->anchor_sp, &s->mem, anchor),
		.pc = layout_load(&l->anchor_pc, &s->mem, anchor),
		.blocked = l->thread_blocked && layout_load(&l->thread_state, &s->mem,
							java_thread) == l->thread_blocked};
}

/* True when the owner left Java where it had at its last sample, and has not run since except in the handler. */
static bool holder_rests(
	const struct lock_holder *h, const struct thread_slot *slot, const struct left_java *now)
{
	uint64_t cpu, then = atomic_load(&slot->held.cpu_ns);

	return now->sp && now->sp == h->sp && now->pc == h->pc && atomic_load(&slot->held.hash) &&
	       task_cpu_ns(atomic_load(&slot->tid), &cpu) &&
	       cpu - (then > h->cpu_ns ? then : h->cpu_ns) < RESTS_NS;
}

/*
 * Walks the owner's stack from this thread and records it. False if the owner ran during the walk, or has no readable
 * stack.
 */
static bool record_walked(struct sampler *s, struct lock_holder *h, struct thread_slot *slot,
	uint64_t java_thread, const struct left_java *before)
{
	_Atomic uint32_t *inside;
	struct stack stack;
	struct left_java after;
	bool same;

	sig_enter(&inside); /* it reads what handlers read */
	sig_stack_java(&stack, s, slot, java_thread);
	after = left_java(s, java_thread);
	same = after.blocked && after.sp == before->sp && after.pc == before->pc && stack.scratch &&
	       stack.flaw < COUNTER_BREAKS;
	if (same) {
		atomic_store(&slot->held.id, stack.id);
		atomic_store(&slot->held.hash,
			sig_stack_record(&stack, &(struct stack_sample){.event = WIRE_LOCK,
							 .state = WIRE_STATE_HOLDS,
							 .count = 1,
							 .weight = h->due_ns}));
		task_cpu_ns(atomic_load(&slot->tid), &h->cpu_ns);
	}
	sig_stack_release(&stack);
	sig_leave(inside);
	return same;
}

static void holder_unanswered(struct sampler *s, struct thread_slot *slot)
{
	ask_unanswered(s, slot, THREADS_ASK_HOLDER, WIRE_LOCK, WIRE_STATE_HOLDS);
}

static void ask(struct sampler *s, struct lock_holder *h, struct thread_slot *slot, uint64_t now)
{
	atomic_store(&slot->held.hash, 0);
	if (atomic_fetch_add(&slot->asked[THREADS_ASK_HOLDER], h->due_ns)) {
		if (now - h->asked_ns > PATIENCE_NS)
			holder_unanswered(s, slot);
		return; /* the signal is pending */
	}
	h->asked_ns = now;
	if (!ask_signal(s, slot, WIRE_LOCK))
		holder_unanswered(s, slot);
}

static void sample(const struct lock_poll *poll, struct lock_holder *h, struct thread_slot *slot)
{
	struct sampler *s = poll->s;
	uint64_t java_thread = atomic_load(&slot->java_thread);
	struct left_java now = left_java(s, java_thread);

	if (holder_rests(h, slot, &now) && record_again(s, atomic_load(&slot->held.id),
						   atomic_load(&slot->held.hash), 1, h->due_ns)) {
		atomic_fetch_add(&s->events[WIRE_LOCK].samples, 1);
		sig_hurry(s);
	} else {
		h->sp = now.sp;
		h->pc = now.pc;
		if (!now.blocked || !now.sp || !record_walked(s, h, slot, java_thread, &now))
			ask(s, h, slot, poll->now);
	}
	h->due_ns = 0;
}

/*
 * Samples an unmounted owner from its stack in the heap. If it is running at the moment, the time stays due until the
 * next poll that finds it.
 */
static void sample_parked(struct sampler *s, struct lock_parked *h)
{
	struct waiting *w = &s->lock->waiting;
	struct unmounted_thread thread;
	struct frozen where;
	struct stack stack;
	uint64_t sp;

	if (!unmounted_read(&w->java, h->object, h->number, &thread) ||
		!waiting_stack(w, &thread, &stack, &where, &sp))
		return;
	stack.id = waiting_id(w, &thread);
	if (stack.id)
		h->hash = sig_stack_record(&stack, &(struct stack_sample){.event = WIRE_LOCK,
							   .state = WIRE_STATE_HOLDS,
							   .count = 1,
							   .weight = h->due_ns});
	h->due_ns = 0;
	sig_stack_release(&stack);
}

void holders_sample(const struct lock_poll *poll)
{
	struct sampler *s = poll->s;
	struct lock_parked *parked = s->lock->parked;
	uint32_t high = atomic_load(&s->threads->high);
	_Atomic uint32_t *inside;

	for (uint32_t i = 0; i < high; i++)
		if (s->lock->holders[i].due_ns)
			sample(poll, &s->lock->holders[i], &s->threads->slots[i]);
	sig_enter(&inside); /* its walks read what handlers read */
	/* The parked owners found by this poll: objects found by an earlier one may have been relocated. */
	for (uint32_t i = 0; i < LOCK_PARKED; i++)
		if (parked[i].due_ns && parked[i].polled_ns == poll->now)
			sample_parked(s, &parked[i]);
	sig_leave(inside);
}

void holders_stop(struct sampler *s)
{
	ask_wait(s, THREADS_ASK_HOLDER);
	for (struct thread_slot *slot = NULL; (slot = threads_after(s->threads, slot));)
		holder_unanswered(s, slot);
	for (uint32_t i = 0; i < LOCK_PARKED; i++)
		parked_unanswered(s, &s->lock->parked[i]);
}
