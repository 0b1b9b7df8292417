/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual threads that wait for a lock without a carrier. As of other threads, what two looks in a row find stands for
 * all the time between them, what one finds for half of it, and a wait counts by the first look that finds it. Where
 * there are many, some are looked at and stand for the others; these are exchanged for others now and then, by a last
 * look at the old ones and a first look at the new ones at the same moment, whose waits do not count as begun then.
 *
 * CPU time cannot tell two waits of one at the same place; its stack does, which is written anew each time. A
 * collector changes it, too, but then it moves it.
 */
#include "sampler/engine/lock/own.h"

#include "base/clock.h"

#define STAY_NS NS_PER_S /* the same places */
#define WINDOW  16u
#define WORDS   48u

static struct thread_slot *slot_of(struct sampler *s)
{
	return &s->lock->waiting.slot;
}

static struct lock_thread *thread_of(struct sampler *s, const struct lock_virtual *v)
{
	return &s->lock->threads[THREADS_MAX + (v - s->lock->virtuals)];
}

/* virtual_entry: its own, or a free one; NULL: there is no room. */
static struct lock_virtual *virtual_entry(struct lock *lock, uint64_t number)
{
	struct lock_virtual *vacant = NULL;

	for (uint32_t i = 0; i < WINDOW; i++) {
		struct lock_virtual *v = &lock->virtuals[(number + i) & (LOCK_VIRTUALS - 1)];

		if (v->number == number)
			return v;
		if (!v->number && !vacant)
			vacant = v;
	}
	return vacant;
}

/* place_read: where its stack is, and what is on it. */
static bool place_read(
	struct sampler *s, const struct unmounted_thread *thread, struct lock_virtual *out)
{
	struct waiting *w = &s->lock->waiting;
	uint64_t words[WORDS], hash = 0xcbf29ce484222325ull, sp;
	struct frozen where;

	if (!unmounted_frozen(&w->java, thread, &where))
		return false;
	sp = frozen_sp(&s->mem, &where);
	out->chunk = where.chunk;
	out->depth = sp - where.chunk;
	for (uint32_t i = 0; i < WORDS; i++)
		words[i] = mem_u64(&s->mem, sp + 8ull * i);
	for (uint32_t i = 0; i < WORDS; i++)
		hash = (hash ^ words[i]) * 0x100000001b3ull;
	out->words = hash;
	return true;
}

static bool is_same(const struct lock_virtual *v, const struct lock_virtual *now,
	const struct lock_thread *t, const struct lock_wait *wait)
{
	return t->wait.lock && t->wait.klass == wait->klass && t->wait.monitor == wait->monitor &&
	       (!wait->monitor || t->wait.lock == wait->lock) && v->depth == now->depth &&
	       (v->chunk != now->chunk || v->words == now->words);
}

struct look {
	struct sampler *s;
	uint64_t now, since;
	bool first; /* of these threads: what is found has begun before */
};

/* virtual_walk: its stack, kept or put; false: it went on meanwhile. */
static bool virtual_walk(struct look *look, struct lock_thread *t, uint32_t id,
	const struct unmounted_thread *thread, const struct lock_wait *wait)
{
	struct sampler *s = look->s;
	struct frozen where;
	struct stack stack;
	uint64_t sp;

	if (!waiting_stack(&s->lock->waiting, thread, &stack, &where, &sp))
		return false;
	stack.id = id;
	lock_keep(s, t, wait, &stack, look->since);
	sig_stack_give(&stack);
	return true;
}

static void virtual_begins(struct look *look, struct lock_virtual *v, struct lock_thread *t,
	const struct unmounted_thread *thread, const struct lock_wait *wait)
{
	uint32_t id = waiting_id(&look->s->lock->waiting, thread);

	lock_ends(look->s, slot_of(look->s), t, look->since);
	if (!id)
		return;
	lock_forget(look->s, t);
	t->slot_id = id;
	t->stands_for = thread->stands_for;
	t->count = look->first ? 0 : 1;
	t->weight_ns = look->since / 2;
	if (!virtual_walk(look, t, id, thread, wait)) {
		sig_lose(look->s, WIRE_LOCK, COUNTER_WAIT_OVER, t->count);
		return;
	}
	t->at_least = look->first;
	t->since_ns = look->first ? look->now : look->now - look->since / 2;
	t->flushed_ns = look->now;
	t->wait = *wait;
	v->number = thread->number;
}

static void virtual_goes_on(struct look *look, struct lock_thread *t,
	const struct unmounted_thread *thread, const struct lock_wait *wait)
{
	if (!lock_place(look->s, t)->frames)
		virtual_walk(look, t, lock_place(look->s, t)->id, thread, wait);
	lock_goes_on(look->s, slot_of(look->s), t, wait, look->now, look->since);
}

static void virtual_look(void *ctx, const struct unmounted_thread *thread)
{
	struct look *look = ctx;
	struct lock *lock = look->s->lock;
	struct lock_wait wait = lock_wait_virtual(&lock->reader, &lock->waiting.java, thread);
	struct lock_virtual *v, now;
	struct lock_thread *t;

	if (thread->stands_for > lock->most)
		lock->most = thread->stands_for;
	if (!wait.lock)
		return;
	v = virtual_entry(lock, thread->number);
	if (!v || !place_read(look->s, thread, &now)) {
		sig_lose(look->s, WIRE_LOCK, v ? COUNTER_WAIT_OVER : COUNTER_LATE, 1);
		return;
	}
	t = thread_of(look->s, v);
	if (v->number && is_same(v, &now, t, &wait))
		virtual_goes_on(look, t, thread, &wait);
	else
		virtual_begins(look, v, t, thread, &wait);
	v->round = lock->round;
	v->chunk = now.chunk;
	v->depth = now.depth;
	v->words = now.words;
}

/* virtuals_end: of those that this look has not found, or of all. */
static void virtuals_end(struct sampler *s, bool all, uint64_t since)
{
	struct lock *lock = s->lock;

	for (uint32_t i = 0; i < LOCK_VIRTUALS; i++) {
		struct lock_virtual *v = &lock->virtuals[i];

		if (!v->number || (!all && v->round == lock->round))
			continue;
		lock_ends(s, slot_of(s), thread_of(s, v), since);
		v->number = 0;
	}
}

static void look_at_all(struct sampler *s, uint64_t now, uint64_t since, bool first)
{
	struct look look = {.s = s, .now = now, .since = since, .first = first};
	_Atomic uint32_t *inside;

	s->lock->round++;
	s->lock->most = 1;
	sig_enter(&inside); /* its walks read what handlers read */
	waiting_each(&s->lock->waiting, WIRE_LOCK, virtual_look, &look);
	sig_leave(inside);
	virtuals_end(s, false, since);
}

void lock_waiting_look(struct sampler *s, uint64_t now, uint64_t since)
{
	struct waiting *w = &s->lock->waiting;

	if (!waiting_ready(w, now))
		return;
	look_at_all(s, now, since, false);
	if (now - w->moved_ns < STAY_NS)
		return;
	if (s->lock->most == 1) {
		waiting_stay(w, now);
		return;
	}
	virtuals_end(s, true, 0);
	waiting_move(w, now);
	look_at_all(s, now, 0, true);
}

void lock_waiting_end(struct sampler *s)
{
	virtuals_end(s, true, 0);
}
