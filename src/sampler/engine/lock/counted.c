/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The number of waits. HotSpot counts the waits of each thread (jvm/waits.c); polls find their places.
 *
 * A wait that a poll finds has a number by that count: an unchanged number is the same wait, and the numbers between
 * two found ones are waits that no poll has found. Such waits are short. They are recorded at the place of a found wait
 * that ended before its stack was walked: polls hit the last microseconds of any wait equally often, regardless of its
 * length, so places get proportional shares, except that waits shorter than a walk are underrepresented. Until there is
 * such a place, the place of a wait that only one poll has found is used: at once if it is the thread's only place,
 * otherwise after PATIENCE_NS or when the thread has ended. The monitor waits of a thread that has ended without being
 * found waiting are recorded as "[unknown place]", so that the sum equals the JVM's.
 *
 * HotSpot's count of parks includes parks for other reasons than locks. For a thread that was ever found parked for
 * such a reason, only the waits that polls have found are recorded.
 */
#include "sampler/engine/lock/own.h"

#include "base/clock.h"
#include "walk/load/mem.h"

#define COUNT_MAX   (1u << 24) /* a larger difference is not a count: the thread has ended */
#define PATIENCE_NS NS_PER_S   /* how long a wait that ends before its walk is awaited */

uint64_t lock_jvm_read(struct sampler *s, uint64_t java_thread, uint64_t at)
{
	uint64_t counts = mem_u64(&s->mem, java_thread + (uint64_t)jvm_wait_counts());

	return counts ? mem_u64(&s->mem, counts + at) : 0;
}

static uint64_t count_read(struct sampler *s, uint64_t java_thread, enum jvm_wait_count which)
{
	return lock_jvm_read(s, java_thread, jvm_wait_count_at(which));
}

uint64_t lock_number(struct sampler *s, uint64_t java_thread, bool monitor)
{
	return s->lock->counts ? count_read(s, java_thread, monitor ? JVM_ENTERS : JVM_PARKS) : 0;
}

void lock_count_from(struct sampler *s, struct lock_thread *t, uint64_t java_thread)
{
	const struct thread_slot *slot = lock_slot(s, t);
	/* Threads that existed before are all listed. */
	bool born = slot->found_ns > s->lock->on_ns;
	bool renamed = t->listed_ns == slot->found_ns;
	uint32_t which = JVM_WAIT_COUNTS;

	if (!s->lock->counts || t->counted == slot->id)
		return;
	t->counted = slot->id;
	if (renamed)
		return;
	t->timed = t->untimed = false;
	t->first_timed = 0;
	t->listed_ns = slot->found_ns;
	for (uint32_t i = 0; i < JVM_WAIT_COUNTS; i++) {
		uint64_t upto = born ? 0 : count_read(s, java_thread, (enum jvm_wait_count)i);

		t->counts[i] = (struct lock_count){
			.upto = upto, .last = upto, .rest_ns = s->lock->last_ns};
	}
	if (born)
		return;
	/* the wait in progress counts when it is found */
	if (lock_wait_monitor(&s->lock->reader, java_thread))
		which = JVM_ENTERS;
	else if (layout_load(&s->layout->thread_state, &s->mem, java_thread) ==
		 s->layout->thread_blocked)
		which = JVM_PARKS;
	if (which < JVM_WAIT_COUNTS && t->counts[which].last)
		t->counts[which].upto = --t->counts[which].last;
}

/* Returns the number of waits after upto that no poll has found, and advances upto past them. */
static uint32_t rest_settle(struct lock_count *c)
{
	uint64_t all = c->last - c->upto, known = c->doubtful ? all : c->found;

	c->upto = c->last;
	c->found = 0;
	return known < all ? (uint32_t)(all - known) : 0;
}

/* The count of this kind of waits; NULL if this wait's number is unknown. */
static struct lock_count *count_of(
	struct sampler *s, struct lock_thread *t, const struct lock_wait *wait)
{
	return t->number && t->counted == lock_slot(s, t)->id ? &t->counts[lock_count_kind(wait)]
							      : NULL;
}

uint32_t lock_counted(
	struct sampler *s, struct lock_thread *t, const struct lock_wait *wait, bool brief)
{
	struct lock_count *c = count_of(s, t, wait);

	if (!c || lock_place(s, t)->id)
		return 1;        /* a carrier's count does not cover the virtual thread */
	if (t->number < c->last) /* the count was reset */
		*c = (struct lock_count){.upto = t->number - 1};
	c->last = t->number;
	if (t->number == c->upto || t->number == c->newest)
		return 0; /* recorded with the residual, or found before */
	c->newest = t->number;
	c->found++;
	if (!brief)
		return 1;
	c->brief = t->place + 1;
	return 1 + rest_settle(c);
}

bool lock_count_later(struct sampler *s, struct lock_thread *t, const struct lock_wait *wait)
{
	struct lock_count *c = count_of(s, t, wait);

	if (!c || c->doubtful)
		return false;
	c->later_ns += 2 * t->weight_ns; /* doubled: adds half of the time to the next poll */
	return true;
}

void lock_count_place(struct lock_thread *t)
{
	struct lock_count *c = &t->counts[lock_count_kind(&t->wait)];

	if (!t->again || !c->single)
		c->single = t->place + 1;
}

/*
 * True when the thread is in Object.wait, which the count of parks includes. Waits of the JVM for a class also have a
 * waiting monitor, but not that status.
 */
static bool in_wait(struct sampler *s, uint64_t java_thread)
{
	struct java_waits *java = &s->lock->reader.java;
	struct oop thread;
	uint32_t status;

	mem_refresh(java->mem);
	if (!layout_load(&s->layout->thread_waiting, java->mem, java_thread))
		return false;
	thread = java_thread_object(&java->threads, s->layout, java->mem, java_thread);
	return !thread.klass || !java_wait_status(java, thread.object, &status) ||
	       status & JAVA_NOTIFY;
}

void lock_count_doubt(struct sampler *s, struct lock_thread *t, const struct lock_wait *wait,
	uint64_t java_thread)
{
	struct lock_count *c = &t->counts[JVM_PARKS];

	if (!c->doubtful && (wait->parked || wait->signalled || in_wait(s, java_thread)))
		c->doubtful = lock_is(s, t, java_thread);
}

/* Records the waits of this kind that no poll has found, and the time of the short ones. */
static void count_rest(
	struct sampler *s, struct lock_thread *t, enum jvm_wait_count which, bool last)
{
	struct lock_count *c = &t->counts[which];
	uint64_t later_ns = c->later_ns;
	uint32_t place = c->brief, rest;

	if (!place && (last || t->places == 1 || s->lock->last_ns - c->rest_ns > PATIENCE_NS))
		place = c->single;
	if (place && !lock_places(s, t)[place - 1].frames)
		place = 0;
	if (!place && last && which == JVM_ENTERS) { /* parks may be for anything */
		place = lock_nowhere(s, t) ? LOCK_NOWHERE + 1 : 0;
	}
	if (place || last) {
		c->rest_ns = s->lock->last_ns;
		c->later_ns = 0;
		rest = rest_settle(c);
		if (place) {
			lock_record(s, t, place - 1, rest, 0);
			lock_time_brief(s, t, place - 1, later_ns);
		}
	}
	lock_time_residual(s, t, which, place);
}

void lock_count_read(struct sampler *s, struct lock_thread *t)
{
	const struct thread_slot *slot = lock_slot(s, t);
	uint64_t java_thread = atomic_load(&slot->java_thread);

	if (!s->lock->counts || t->counted != slot->id || !atomic_load(&slot->tid) ||
		!java_thread || atomic_load(&slot->gone) || !lock_is(s, t, java_thread))
		return;
	for (uint32_t i = 0; i < JVM_WAIT_COUNTS; i++) {
		struct lock_count *c = &t->counts[i];
		uint64_t number = 0;

		if (!c->doubtful)
			number = count_read(s, java_thread, (enum jvm_wait_count)i);
		if (number > c->last && number - c->last <= COUNT_MAX)
			c->last = number;
	}
	lock_time_read(s, t, java_thread);
}

void lock_count_residual(struct sampler *s, struct lock_thread *t, bool last)
{
	if (!s->lock->counts || t->counted != lock_slot(s, t)->id)
		return;
	lock_count_read(s, t);
	for (uint32_t i = 0; i < JVM_WAIT_COUNTS; i++)
		count_rest(s, t, (enum jvm_wait_count)i, last);
	if (last)
		t->counted = 0;
}
