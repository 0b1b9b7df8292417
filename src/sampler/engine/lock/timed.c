/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The duration of waits. HotSpot has the total of each thread (jvm/waits.c); polls find their places. Polls alone are
 * biased for waits of a few us if a CPU is idle: it is idle because threads wait, and the polling thread then runs on
 * it at once.
 *
 * Time of a wait that several polls have found is recorded at once. Time of one that only one poll has found is a share
 * of the rest of the JVM's total. If polls have found more time than there was, later records are reduced by the
 * excess.
 *
 * The JVM's time does not include reacquiring a monitor after Object.wait, nor a wait that had begun before timing
 * started. It does include waits of a virtual thread on its carrier, and parks for other things than locks. Waits of
 * such threads are recorded as polls have found them.
 */
#include "sampler/engine/lock/own.h"

#include "base/clock.h"

/*
 * A total that exceeds the elapsed time by more than this is not a thread's: the thread has ended and its memory was
 * reused.
 */
#define SLACK_NS NS_PER_S

static bool is_timed(struct sampler *s, const struct lock_thread *t, enum jvm_wait_count which)
{
	return s->lock->timed_ns && t->timed && t->counted == lock_slot(s, t)->id && !t->untimed &&
	       !t->counts[which].doubtful;
}

static uint64_t time_of(struct sampler *s, uint64_t java_thread, enum jvm_wait_count which)
{
	return lock_jvm_read(s, java_thread, jvm_wait_time_at(which));
}

static struct lock_time time_begins(const struct sampler *s, uint64_t now)
{
	return (struct lock_time){
		.from = now, .from_ns = s->lock->last_ns, .upto = now, .last = now};
}

void lock_time_from(struct sampler *s, struct lock_thread *t, uint64_t java_thread,
	const struct lock_wait *wait)
{
	const struct thread_slot *slot = lock_slot(s, t);
	bool born = slot->found_ns > s->lock->timed_ns;
	uint64_t number = 0;

	if (!s->lock->timed_ns || t->counted != slot->id || t->timed)
		return;
	if (wait->lock && !born)
		number = lock_number(s, java_thread, wait->monitor) + 1;
	if (number && !t->first_timed)
		t->first_timed = number;
	if (number && number == t->first_timed)
		return; /* this wait is not timed at all */
	t->timed = true;
	for (uint32_t i = 0; i < JVM_WAIT_COUNTS; i++)
		t->times[i] =
			time_begins(s, born ? 0 : time_of(s, java_thread, (enum jvm_wait_count)i));
}

void lock_time_read(struct sampler *s, struct lock_thread *t, uint64_t java_thread)
{
	for (uint32_t i = 0; i < JVM_WAIT_COUNTS; i++) {
		struct lock_time *time = &t->times[i];
		uint64_t passed_ns = s->lock->last_ns - time->from_ns, now = 0;

		if (is_timed(s, t, (enum jvm_wait_count)i))
			now = time_of(s, java_thread, (enum jvm_wait_count)i);
		if (now && now < time->last) /* the program has reset it */
			*time = time_begins(s, now);
		else if (now && now - time->from <= passed_ns + SLACK_NS)
			time->last = now;
	}
}

bool lock_time_later(struct sampler *s, struct lock_thread *t)
{
	enum jvm_wait_count which = lock_count_kind(&t->wait);

	if (!is_timed(s, t, which) || t->wait.reenters)
		return false;
	if (t->again)
		t->times[which].long_ns += t->weight_ns;
	else
		lock_place(s, t)->brief_ns += t->weight_ns;
	return !t->again;
}

void lock_time_brief(struct sampler *s, struct lock_thread *t, uint32_t index, uint64_t weight_ns)
{
	struct lock_place *place = &lock_places(s, t)[index];

	if (is_timed(s, t, lock_count_kind(&place->wait)))
		place->brief_ns += weight_ns;
	else
		lock_record(s, t, index, 0, weight_ns);
}

void lock_time_flush(struct sampler *s, struct lock_thread *t, uint32_t index)
{
	struct lock_place *place = &lock_places(s, t)[index];

	lock_record(s, t, index, 0, place->brief_ns);
	t->times[lock_count_kind(&place->wait)].long_ns += place->brief_ns;
	place->brief_ns = 0;
}

/* Distributes owed_ns over the places in proportion to the time that polls have found there. */
static void share_out(struct sampler *s, struct lock_thread *t, enum jvm_wait_count which,
	uint64_t owed_ns, uint64_t all_ns)
{
	for (uint32_t i = 0; i < t->places; i++) {
		struct lock_place *place = &lock_places(s, t)[i];
		double share = (double)place->brief_ns / (double)all_ns;

		if (!place->brief_ns || lock_count_kind(&place->wait) != which)
			continue;
		lock_record(s, t, i, 0, (uint64_t)((double)owed_ns * share));
		place->brief_ns = 0;
	}
}

void lock_time_residual(
	struct sampler *s, struct lock_thread *t, enum jvm_wait_count which, uint32_t place)
{
	const struct lock_place *places = lock_places(s, t);
	struct lock_time *time = &t->times[which];
	uint64_t found = 0, owed;

	for (uint32_t i = 0; i < t->places; i++)
		found += lock_count_kind(&places[i].wait) == which ? places[i].brief_ns : 0;
	if (!is_timed(s, t, which)) {
		if (found)
			share_out(s, t, which, found, found);
		return;
	}
	if (time->last - time->upto <= time->long_ns || (!found && !place))
		return;
	owed = time->last - time->upto - time->long_ns;
	if (found)
		share_out(s, t, which, owed, found);
	else
		lock_record(s, t, place - 1, 0, owed);
	time->upto = time->last;
	time->long_ns = 0;
}
