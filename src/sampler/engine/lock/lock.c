/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for locks: a thread of the agent polls every `interval` which lock each Java thread waits for (wait.h).
 *
 * A wait that two successive polls find represents all the time between them; one that only the later or only the
 * earlier finds represents half of it. Sums are thus unbiased, whether waits are many and short or few and long, and a
 * late poll (the machine is busy, or was suspended) does not attribute all of its delay to the wait that it finds. A wait
 * counts once, by the first poll that finds it; a new wait of the thread at the same place is recognized by the CPU
 * time in between. The JVM's per-thread wait counter and wait clock give the number and the duration of the waits that
 * fell between two polls (counted.c, timed.c).
 *
 * Nothing is hooked, and no event of the JVM is enabled; the only cost to a waiting thread is that it reads the clock.
 * A program without contention pays for the polls only, which use 1/PACE_SHARE of a core at most. A thread's stack is
 * walked once per wait and retained; it counts only if the thread was in the same wait before and after the walk. A
 * broken stack may belong to a thread that has continued and waits again: it is walked again, now and at later polls.
 */
#include "sampler/engine/arms.h"

#include "base/clock.h"
#include "sampler/engine/lock/own.h"
#include "sampler/publish/publish.h"
#include "sampler/session/epochs.h"
#include "sampler/session/memory.h"
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"
#include "sampler/task.h"
#include "sampler/text.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define LOCK_STACK_BYTES (128u << 10)
#define SMOOTH           64u
#define LOCK_TRIES       3u
#define LOCK_AGAIN_NS    60000u
#define LOCK_OLD_NS      (200 * NS_PER_MS) /* older waits retry seldom, with all caches cold */
#define LOCK_IDLE_NS     (40 * NS_PER_MS)
#define LOCK_FORGET_NS   (1000 * NS_PER_MS)

/* --- one thread ------------------------------------------------------------------------------- */

/* Walks the stack. Returns false, and releases the stack, if the wait has changed or ended by then. */
static bool lock_stack(struct sampler *s, const struct lock_thread *t, const struct lock_wait *wait,
	struct stack *stack)
{
	struct thread_slot *slot = lock_slot(s, t);
	uint64_t java_thread = atomic_load(&slot->java_thread);
	struct lock_wait after;

	sig_stack_java(stack, s, slot, java_thread);
	after = lock_wait_read(&s->lock->reader, java_thread);
	if (after.lock && lock_wait_same(&after, wait) && stack->scratch &&
		(!t->number || lock_number(s, java_thread, wait->monitor) == t->number))
		return true;
	sig_stack_release(stack);
	return false;
}

static bool lock_broken(uint16_t flaw)
{
	return flaw >= COUNTER_BREAKS;
}

/* Retains the stack of this wait. Returns false if the wait has changed or ended by then. */
static bool lock_walk(
	const struct lock_poll *poll, struct lock_thread *t, const struct lock_wait *wait)
{
	struct stack stack;

	for (uint32_t tries = 0; tries < LOCK_TRIES; tries++) {
		if (tries)
			sig_stack_release(&stack);
		if (!lock_stack(poll->s, t, wait, &stack))
			return false;
		if (!lock_broken(stack.flaw))
			break;
	}
	lock_retain(poll, t, wait, &stack);
	sig_stack_release(&stack);
	return true;
}

static void wait_begins(
	const struct lock_poll *poll, struct lock_thread *t, const struct lock_wait *wait)
{
	struct sampler *s = poll->s;
	const struct thread_slot *slot = lock_slot(s, t);
	uint32_t counts;
	bool brief;

	lock_begins(poll, t, slot->id);
	t->number = lock_number(s, atomic_load(&slot->java_thread), wait->monitor);
	if (!t->number)
		task_cpu_ns(atomic_load(&slot->tid), &t->cpu_ns);
	brief = !lock_walk(poll, t, wait);
	if (brief && !lock_recall(s, t, wait)) {
		if (!lock_count_later(s, t, wait))
			sig_lose(s, WIRE_LOCK, COUNTER_WAIT_OVER, 1);
		return;
	}
	counts = lock_counted(s, t, wait, brief);
	t->count = counts ? t->count + counts - 1 : 0;
	lock_begun(poll, t, wait, t->polled_id != slot->id);
}

/*
 * True when the thread is in the same wait as at the last poll. If the JVM does not count waits, the criterion is that
 * the thread has not run since, except for the JVM's occasional retries. Acquiring the lock and waiting for it again
 * takes more CPU time than a retry.
 */
static bool lock_rests(const struct lock_poll *poll, struct lock_thread *t)
{
	const struct thread_slot *slot = lock_slot(poll->s, t);
	uint64_t before = t->cpu_ns;

	if (t->number)
		return lock_number(poll->s, atomic_load(&slot->java_thread), t->wait.monitor) ==
		       t->number;
	return task_cpu_ns(atomic_load(&slot->tid), &t->cpu_ns) &&
	       t->cpu_ns - before <
		       (poll->now - t->since_ns < LOCK_OLD_NS ? LOCK_AGAIN_NS : 4 * LOCK_AGAIN_NS);
}

static void lock_waits(
	const struct lock_poll *poll, struct lock_thread *t, const struct lock_wait *wait)
{
	const struct lock_place *place = lock_place(poll->s, t);
	bool same = t->wait.lock && t->slot_id == lock_slot(poll->s, t)->id &&
		    lock_wait_same(&t->wait, wait) && lock_rests(poll, t);

	if (!same) {
		wait_begins(poll, t, wait);
		return;
	}
	if (!place->frames || lock_broken(place->flaw))
		lock_walk(poll, t, wait);
	lock_continues(poll, t, wait);
}

/* --- a poll of all threads --------------------------------------------------------------------- */

/* The lock that the thread waits for at this moment; .lock 0: none, or it is not a Java thread. */
static struct lock_wait lock_wait_now(struct sampler *s, uint32_t index)
{
	struct thread_slot *slot = &s->threads->slots[index];
	struct lock_thread *t = &s->lock->threads[index];
	uint64_t java_thread = atomic_load(&slot->java_thread);

	if (!java_thread || !atomic_load(&slot->tid) || atomic_load(&slot->gone))
		return (struct lock_wait){0};
	return t->slot_id == slot->id && lock_wait_still(&s->lock->reader, java_thread, &t->wait) &&
			       (!t->wait.signalled || (t->number && lock_number(s, java_thread,
									    false) == t->number))
		       ? t->wait
		       : lock_wait_read(&s->lock->reader, java_thread);
}

static void lock_poll_thread(const struct lock_poll *poll, uint32_t index)
{
	struct sampler *s = poll->s;
	struct thread_slot *slot = &s->threads->slots[index];
	struct lock_thread *t = &s->lock->threads[index];
	uint64_t java_thread = atomic_load(&slot->java_thread);
	struct lock_wait wait = s->lock->seen[index];

	if (!atomic_load(&slot->tid) || atomic_load(&slot->gone))
		java_thread = 0;
	if (!java_thread || (wait.lock && !lock_is(s, t, java_thread)))
		wait.lock = 0;
	if (wait.lock && !lock_places_make(s, t)) {
		sig_lose(s, WIRE_LOCK, COUNTER_BUSY, 1);
		wait.lock = 0;
	}
	if (java_thread) {
		lock_count_from(s, t, java_thread);
		lock_time_from(s, t, java_thread, &wait);
		lock_count_doubt(s, t, &wait, java_thread);
	}
	if (wait.lock)
		lock_waits(poll, t, &wait);
	else
		lock_ends(s, t, poll->since);
	if (!java_thread)
		lock_count_residual(s, t, true);
	else if (t->places) /* it may end before the next poll */
		lock_count_read(s, t);
	if (!wait.lock || t->wait.lock)
		t->polled_id = slot->id;
}

static void lock_round(struct sampler *s)
{
	struct lock *lock = s->lock;
	uint32_t high = atomic_load(&s->threads->high);
	uint64_t now = clock_mono_ns();
	const struct lock_poll poll = {.s = s, .now = now, .since = now - lock->last_ns};
	bool owners = now - lock->owners_ns >= LOCK_LONG_NS;
	bool rests = now - lock->rests_ns >= LOCK_FLUSH_NS;

	if (now - lock->forgot_ns >= LOCK_FORGET_NS) {
		lock_reader_forget(&lock->reader);
		lock->forgot_ns = now;
	}
	lock->counts = jvm_wait_counts() > 0;
	if (jvm_wait_times() <= 0)
		lock->timed_ns = 0;
	else if (!lock->timed_ns)
		lock->timed_ns = now;
	if (rests)
		lock->rests_ns = now;
	/* All at once, before anything slow: this thread may occupy the core that a lock's owner needs. */
	for (uint32_t i = 0; i < high; i++)
		lock->seen[i] = lock_wait_now(s, i);
	lock->held_count = 0;
	holders_settle(&poll);
	for (uint32_t i = 0; i < high; i++)
		if (lock->seen[i].lock)
			holder_charge(&poll, &lock->threads[i], &lock->seen[i], 1);
	holders_sample(&poll);
	for (uint32_t i = 0; i < high; i++) {
		_Atomic uint32_t *inside;

		sig_enter(&inside); /* its walks read what handlers read */
		lock_poll_thread(&poll, i);
		if (rests)
			lock_count_residual(s, &lock->threads[i], false);
		sig_leave(inside);
		if (owners)
			lock_owners(s, &lock->threads[i], now);
	}
	lock_waiting_poll(&poll);
	holders_sample(&poll);
	for (uint32_t i = THREADS_MAX; owners && i < LOCK_MAX; i++)
		lock_owners(s, &lock->threads[i], now);
	if (owners)
		lock->owners_ns = now;
	lock->last_ns = now;
}

static void *lock_main(void *arg)
{
	struct sampler *s = arg;
	uint64_t before = 0, cost = 0, usual = 0; /* usual: the average cost of a poll */

	spawn_punctual();
	while (!atomic_load(&s->lock->leave)) {
		uint64_t interval = atomic_load(&s->events[WIRE_LOCK].interval);

		interval = pace_pause(&s->lock->pace, sampler_cost_ns(s),
			pace_affordable(interval, usual), LOCK_IDLE_NS);
		/* Jittered, so that polls are not in step with a periodic program. */
		raw_futex_wait(&s->lock->leave, 0, interval / 2 + arms_random(interval));
		lock_round(s);
		before = cost;
		cost = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
		usual = (usual * (SMOOTH - 1) + cost - before) / SMOOTH;
		atomic_fetch_add(&s->events[WIRE_LOCK].thread_ns, cost - before);
	}
	epochs_thread_ends(s, &s->lock->left);
	return NULL;
}

/* --- memory ------------------------------------------------------------------------------------ */

int32_t lock_tid(const struct sampler *s)
{
	return s->lock ? atomic_load(&s->lock->tid) : 0;
}

uint64_t lock_memory(const struct sampler *s)
{
	const struct lock *lock = s->lock;
	uint32_t known;

	if (!lock)
		return 0;
	/* thread records: those in use; the rest: all that is mapped */
	known = atomic_load(&s->threads->high) + (lock->waiting.open ? LOCK_VIRTUALS : 0);
	return known * (uint64_t)sizeof(struct lock_thread) + offsetof(struct lock, threads) +
	       sizeof(lock->waiting) +
	       atomic_load(&lock->blocks_used) * (uint64_t)sizeof(struct lock_block);
}

/* --- on and off ------------------------------------------------------------------------------- */

static const char *const rows[LOCK_ROWS] = {
	[LOCK_ROW_UNHELD] = "[unknown owner]",
	[LOCK_ROW_FREE] = "[free: the waiter is being woken]",
	[LOCK_ROW_NOWHERE] = "[unknown place]",
};

static int lock_start(
	struct sampler *s, const struct engine_target *target, char *text, size_t bytes)
{
	bool parks;

	if (!s->lock)
		s->lock = sampler_part_new(s, sizeof(*s->lock));
	if (!s->lock) {
		text_set(text, bytes,
			"the JVM's limits leave too little memory to track the waits of threads");
		return -ENOMEM;
	}
	if (atomic_load(&s->lock->tid) && !atomic_load(&s->lock->left)) {
		text_set(text, bytes, "the previous lock-polling thread has not ended yet");
		return -EBUSY;
	}
	parks = lock_reader_open(&s->lock->reader, s);
	for (uint32_t i = 0; i < LOCK_ROWS; i++)
		s->lock->rows[i] =
			WALK_PACK(WALK_BREAK, names_text(s->names, rows[i], strlen(rows[i])));
	waiting_open(&s->lock->waiting, s);
	s->lock->reader.virtuals = &s->lock->waiting.java;
	jvm_wait_counts_request(s);
	jvm_wait_times_request(s, true);
	s->lock->timed_ns = 0;
	s->lock->last_ns = s->lock->owners_ns = s->lock->forgot_ns = clock_mono_ns();
	s->lock->rests_ns = s->lock->on_ns = s->lock->last_ns;
	atomic_store(&s->lock->leave, 0);
	atomic_store(&s->lock->left, 0);
	if (epochs_spawn(s,
		    &(struct spawn){"jhot lock", LOCK_STACK_BYTES, lock_main, s, &s->lock->tid})) {
		text_set(text, bytes, "the lock-polling thread could not be started");
		return -EAGAIN;
	}
	publish_agent_thread(s->publish, atomic_load(&s->lock->tid), "jhot lock");
	if (!parks)
		text_set(text, bytes,
			"monitors only: this JVM does not record what threads are parked for");
	return 0;
}

static void lock_stop(struct sampler *s, uint32_t event)
{
	uint32_t high = atomic_load(&s->threads->high);

	if (!spawn_end(&s->lock->tid, &s->lock->leave, &s->lock->left)) {
		jvm_wait_times_request(s, false);
		return; /* its thread still owns all state */
	}
	for (uint32_t i = 0; i < high; i++) {
		struct lock_thread *t = &s->lock->threads[i];

		lock_ends(s, t, 0);
		lock_count_residual(s, t, true);
		lock_forget(s, t);
		t->polled_id = 0;
		t->listed_ns = 0;
		t->timed = false;
	}
	jvm_wait_times_request(s, false);
	lock_waiting_end(s);
	holders_stop(s);
}

static int lock_probe(const struct engine_target *on_self, char *why, size_t bytes)
{
	struct sampler *s = sig_session();

	if (s && s->layout && s->layout->thread_pending.offset >= 0 &&
		s->layout->monitor_object.offset >= 0)
		return 0;
	if (s && !s->layout) {
		struct text text = text_into(why, bytes);

		text_add(&text, "the JVM's memory cannot be read: ");
		text_add(&text, s->shared.status->walker_note);
	} else {
		text_set(why, bytes, "this JVM does not export what threads wait for");
	}
	return -ENOSYS;
}

const struct engine engine_lock = {
	.id = WIRE_ENGINE_LOCK,
	.name = "waits for locks",
	.interval_min = 200000,
	.probe = lock_probe,
	.start = lock_start,
	.stop = lock_stop,
};
