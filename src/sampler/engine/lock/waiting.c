/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lock waits of unmounted virtual threads. As for other threads, a wait found by two successive polls represents all
 * the time between them, one found by a single poll half of it, and a wait counts by the first poll that finds it. If
 * there are many threads, a part of them is polled and scaled up. The part is replaced regularly: the last poll of the
 * old one and the first poll of the new one happen at the same moment, and waits that the latter finds count as in
 * progress, not as begun then.
 *
 * CPU time cannot distinguish two waits of a virtual thread at the same place. Its stack can, since it is rewritten
 * each time. A collector that changes the stack also relocates it.
 */
#include "sampler/engine/lock/own.h"

#include "base/clock.h"

#define STAY_NS NS_PER_S /* how long the same places are polled */
#define WINDOW  16u
#define WORDS   48u

/* The thread's entry, else a free one; NULL: the window is full. */
static struct lock_thread *virtual_entry(struct lock *lock, uint64_t number)
{
	struct lock_thread *vacant = NULL;

	for (uint32_t i = 0; i < WINDOW; i++) {
		struct lock_thread *t =
			&lock->threads[THREADS_MAX + ((number + i) & (LOCK_VIRTUALS - 1))];

		if (t->virtual == number)
			return t;
		if (!t->virtual && !vacant)
			vacant = t;
	}
	return vacant;
}

bool lock_frozen_read(struct sampler *s, struct unmounted *u, const struct unmounted_thread *thread,
	struct lock_frozen *out)
{
	uint64_t words[WORDS], hash = 0xcbf29ce484222325ull, sp;
	struct frozen where;

	if (!unmounted_frozen(u, thread, &where))
		return false;
	sp = frozen_sp(&s->mem, &where);
	out->chunk = where.chunk;
	out->depth = sp - where.chunk;
	if (!mem_load(&s->mem, sp, words, sizeof(words)))
		return false;
	for (uint32_t i = 0; i < WORDS; i++)
		hash = (hash ^ words[i]) * 0x100000001b3ull;
	out->words = hash;
	return true;
}

bool lock_frozen_same(const struct lock_frozen *before, const struct lock_frozen *now)
{
	return before->depth == now->depth &&
	       (before->chunk != now->chunk || before->words == now->words);
}

static bool is_same(
	const struct lock_thread *t, const struct lock_frozen *now, const struct lock_wait *wait)
{
	return t->virtual && t->wait.lock && t->wait.klass == wait->klass &&
	       t->wait.monitor == wait->monitor && (!wait->monitor || t->wait.lock == wait->lock) &&
	       lock_frozen_same(&t->frozen, now);
}

/*
 * Walks the stack and retains or records it. Returns false if the thread ran during the walk, or has no readable stack.
 */
static bool virtual_walk(const struct lock_poll *poll, struct lock_thread *t, uint32_t id,
	const struct unmounted_thread *thread, const struct lock_wait *wait)
{
	struct frozen where;
	struct stack stack;
	uint64_t sp;

	if (!waiting_stack(&poll->s->lock->waiting, thread, &stack, &where, &sp))
		return false;
	stack.id = id;
	lock_retain(poll, t, wait, &stack);
	sig_stack_release(&stack);
	return true;
}

static void virtual_begins(const struct lock_poll *poll, struct lock_thread *t,
	const struct unmounted_thread *thread, const struct lock_wait *wait)
{
	uint32_t id = waiting_id(&poll->s->lock->waiting, thread);

	if (!id) {
		lock_ends(poll->s, t, poll->since);
		return;
	}
	lock_begins(poll, t, id);
	lock_forget(poll->s, t);
	t->multiplicity = thread->multiplicity;
	if (!virtual_walk(poll, t, id, thread, wait)) {
		sig_lose(poll->s, WIRE_LOCK, COUNTER_WAIT_OVER, t->count);
		return;
	}
	lock_begun(poll, t, wait, poll->first);
	t->virtual = thread->number;
}

static void virtual_poll(void *ctx, const struct unmounted_thread *thread)
{
	const struct lock_poll *poll = ctx;
	struct lock *lock = poll->s->lock;
	struct lock_wait wait = lock_wait_virtual(&lock->reader, &lock->waiting.java, thread);
	struct lock_frozen now;
	struct lock_thread *t;

	if (thread->multiplicity > lock->most)
		lock->most = thread->multiplicity;
	if (!wait.lock)
		return;
	t = virtual_entry(lock, thread->number);
	if (t && !lock_places_make(poll->s, t))
		t = NULL;
	if (!t || !lock_frozen_read(poll->s, &lock->waiting.java, thread, &now)) {
		sig_lose(poll->s, WIRE_LOCK, t ? COUNTER_WAIT_OVER : COUNTER_LATE, 1);
		return;
	}
	holder_charge(poll, t, &wait, thread->multiplicity);
	if (is_same(t, &now, &wait)) {
		if (!lock_place(poll->s, t)->frames)
			virtual_walk(poll, t, lock_place(poll->s, t)->id, thread, &wait);
		lock_continues(poll, t, &wait);
	} else {
		virtual_begins(poll, t, thread, &wait);
	}
	t->round = lock->round;
	t->frozen = now;
}

/* Ends the waits of those that this poll has not found, or all. */
static void virtuals_end(struct sampler *s, bool all, uint64_t since)
{
	struct lock *lock = s->lock;

	for (struct lock_thread *t = lock->threads + THREADS_MAX; t < lock->threads + LOCK_MAX;
		t++) {
		if (!t->virtual || (!all && t->round == lock->round))
			continue;
		lock_ends(s, t, since);
		t->virtual = 0;
	}
}

static void virtuals_poll(struct lock_poll poll)
{
	struct lock *lock = poll.s->lock;
	_Atomic uint32_t *inside;

	lock->round++;
	lock->most = 1;
	sig_enter(&inside); /* its walks read what handlers read */
	waiting_each(&lock->waiting, WIRE_LOCK, virtual_poll, &poll);
	sig_leave(inside);
	virtuals_end(poll.s, false, poll.since);
}

void lock_waiting_poll(const struct lock_poll *poll)
{
	struct waiting *w = &poll->s->lock->waiting;

	if (!waiting_ready(w, poll->now))
		return;
	virtuals_poll(*poll);
	if (poll->now - w->placed_ns < STAY_NS)
		return;
	if (poll->s->lock->most == 1) {
		waiting_keep_places(w, poll->now);
		return;
	}
	virtuals_end(poll->s, true, 0);
	waiting_new_places(w, poll->now);
	virtuals_poll((struct lock_poll){.s = poll->s, .now = poll->now, .first = true});
}

void lock_waiting_end(struct sampler *s)
{
	virtuals_end(s, true, 0);
}
