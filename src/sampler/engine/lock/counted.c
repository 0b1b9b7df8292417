/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many waits there were: HotSpot counts those of each thread (wait_counts.c), looks tell where they are.
 *
 * A wait that is found has a number by that count: as long as the number stays it is the same wait, and all numbers
 * between two that were found are waits that no look has found. Such waits are short. They are put down to the place of
 * a found one that was over at once, before its stack had been walked: looks meet the last microseconds of any wait
 * equally often, however long it is, so each place has its share, but that of waits shorter than a walk is too small.
 * Until there is one, the place of a wait that one look only has found takes them: at once if that is all that is known
 * of the thread, else after a while.
 *
 * With parks HotSpot counts also those for other things than locks: a thread that has ever been found in such has no
 * more than looks have found.
 */
#include "sampler/engine/lock/own.h"

#include "base/clock.h"
#include "walk/load/mem.h"

#define COUNT_MOST  (1u << 24) /* more at a time is no count: the thread has ended */
#define PATIENCE_NS NS_PER_S   /* a wait that is over at once is awaited so long */

static uint64_t count_read(struct sampler *s, uint64_t java_thread, enum jvm_wait_count which)
{
	uint64_t counts = mem_u64(&s->mem, java_thread + (uint64_t)jvm_wait_counts());

	return counts ? mem_u64(&s->mem, counts + jvm_wait_count_at(which)) : 0;
}

uint64_t lock_number(struct sampler *s, uint64_t java_thread, bool monitor)
{
	return s->lock->counts ? count_read(s, java_thread, monitor ? JVM_ENTERS : JVM_PARKS) : 0;
}

void lock_count_from(struct sampler *s, struct lock_thread *t, uint64_t java_thread)
{
	const struct thread_slot *slot = lock_slot(s, t);
	bool born = slot->found_ns > s->lock->on_ns; /* those before are all listed */
	bool renamed = t->listed_ns == slot->found_ns;

	if (!s->lock->counts || t->counted == slot->id)
		return;
	t->counted = slot->id;
	if (renamed)
		return;
	t->listed_ns = slot->found_ns;
	for (uint32_t i = 0; i < JVM_WAIT_COUNTS; i++)
		t->counts[i] = (struct lock_count){
			.upto = born ? 0 : count_read(s, java_thread, (enum jvm_wait_count)i),
			.rest_ns = s->lock->last_ns};
	if (born)
		return;
	/* The wait that it is in counts when it is found. */
	if (lock_wait_monitor(&s->lock->reader, java_thread))
		t->counts[JVM_ENTERS].upto--;
	else if (layout_load(&s->layout->thread_state, &s->mem, java_thread) ==
		 s->layout->thread_blocked)
		t->counts[JVM_PARKS].upto--;
}

/* rest_take: how many there were up to this one that no look has found; from then on anew. */
static uint32_t rest_take(struct lock_count *c, uint64_t number)
{
	uint64_t all = number - c->upto, known = c->doubtful ? all : c->found;

	c->upto = number;
	c->found = 0;
	return all <= COUNT_MOST && known < all ? (uint32_t)(all - known) : 0;
}

uint32_t lock_counted(
	struct sampler *s, struct lock_thread *t, const struct lock_wait *wait, bool brief)
{
	struct lock_count *c = &t->counts[wait->monitor ? JVM_ENTERS : JVM_PARKS];

	if (!t->number || t->counted != lock_slot(s, t)->id || lock_place(s, t)->id)
		return 1; /* a carrier's count says nothing of what it carries */
	if (t->number == c->upto)
		return 0;        /* with the rest */
	if (t->number < c->upto) /* somebody has set it back */
		*c = (struct lock_count){.upto = t->number - 1};
	c->found++;
	if (!brief)
		return 1;
	c->brief = t->place + 1;
	return 1 + rest_take(c, t->number);
}

void lock_count_doubt(struct sampler *s, struct lock_thread *t, const struct lock_wait *wait,
	uint64_t java_thread)
{
	if (wait->parked || wait->signalled)
		t->counts[JVM_PARKS].doubtful = true;
	if (layout_load(&s->layout->thread_waiting, &s->mem, java_thread))
		t->counts[JVM_PARKS].doubtful = true;
}

static void count_rest(struct sampler *s, struct lock_thread *t, bool monitor, bool last)
{
	uint64_t number = lock_number(s, atomic_load(&lock_slot(s, t)->java_thread), monitor);
	struct lock_count *c = &t->counts[monitor ? JVM_ENTERS : JVM_PARKS];
	uint32_t place = c->brief, rest;

	if (!place && (last || t->places == 1 || s->lock->last_ns - c->rest_ns > PATIENCE_NS))
		place = c->single;
	if (place && !s->lock->places[t - s->lock->threads][place - 1].frames)
		place = 0;
	if (!place && !last)
		return;
	c->rest_ns = s->lock->last_ns;
	rest = rest_take(c, number);
	if (place)
		lock_put(s, t, place - 1, rest, 0);
	else if (monitor && rest)
		sig_lose(s, WIRE_LOCK, COUNTER_WAIT_OVER, rest);
}

void lock_count_rest(struct sampler *s, struct lock_thread *t, bool last)
{
	const struct thread_slot *slot = lock_slot(s, t);
	uint64_t java_thread = atomic_load(&slot->java_thread);
	int32_t tid = atomic_load(&slot->tid);

	if (!s->lock->counts || t->counted != slot->id || !tid || !java_thread ||
		atomic_load(&slot->gone) || walk_thread_tid(s->layout, &s->mem, java_thread) != tid)
		return;
	count_rest(s, t, true, last);
	count_rest(s, t, false, last);
}
