/* SPDX-License-Identifier: Apache-2.0 */
/* Records finished lock waits in the trace table, and reports long ones to the front end. */
#include "sampler/engine/lock/own.h"

#include "base/clock.h"
#include "sampler/engine/events.h"
#include "sampler/publish/publish.h"
#include "sampler/session/memory.h"
#include "sampler/task.h"
#include "sampler/text.h"

#include <string.h>

/* --- the tally ------------------------------------------------------------------------------- */

void lock_record(struct sampler *s, struct lock_thread *t, uint32_t index, uint32_t count,
	uint64_t weight_ns)
{
	struct lock_place *place = &lock_places(s, t)[index];
	struct stack stack = {.s = s,
		.thread = lock_slot(s, t),
		.id = place->id,
		.user = place->kept,
		.count = place->frames,
		.flags = place->flags,
		.flaw = place->flaw};
	struct stack_sample sample = {.event = WIRE_LOCK,
		.count = count * (uint32_t)t->multiplicity,
		.weight = weight_ns * t->multiplicity};

	if (place->frames && (count || weight_ns))
		sig_stack_record(&stack, &sample);
}

bool lock_places_make(struct sampler *s, const struct lock_thread *t)
{
	_Atomic(struct lock_block *) *block =
		&s->lock->blocks[(uint32_t)(t - s->lock->threads) / LOCK_BLOCK];
	struct lock_block *made;

	if (atomic_load(block))
		return true;
	made = sampler_part_new(s, sizeof(*made));
	if (!made)
		return false;
	atomic_store(block, made);
	atomic_fetch_add(&s->lock->blocks_used, 1);
	return true;
}

bool lock_nowhere(struct sampler *s, struct lock_thread *t)
{
	struct lock_place *place;

	if (!lock_places_make(s, t))
		return false;
	place = &lock_places(s, t)[LOCK_NOWHERE];
	t->multiplicity = 1;
	place->wait.monitor = true;
	place->frames = 1;
	place->brief_ns = 0;
	place->kept[0] = s->lock->rows[LOCK_ROW_NOWHERE];
	return true;
}

static void lock_flush(struct sampler *s, struct lock_thread *t)
{
	lock_record(s, t, t->place, t->count, lock_time_later(s, t) ? 0 : t->weight_ns);
	t->count = 0;
	t->weight_ns = 0;
}

void lock_ends(struct sampler *s, struct lock_thread *t, uint64_t since)
{
	uint32_t report = atomic_load(&t->report);

	if (!t->wait.lock)
		return;
	t->weight_ns += since / 2;
	holder_settle(s, t, since);
	lock_flush(s, t);
	if (!lock_place(s, t)->id)
		lock_count_place(t);
	t->wait.lock = 0;
	if (report != REPORT_BEGUN && report != REPORT_SENT)
		return;
	t->ended_ns = clock_mono_ns();
	atomic_store_explicit(&t->report, REPORT_ENDED, memory_order_release);
}

void lock_begins(const struct lock_poll *poll, struct lock_thread *t, uint32_t id)
{
	lock_ends(poll->s, t, poll->since);
	if (t->slot_id != id)
		lock_forget(poll->s, t);
	t->slot_id = id;
	t->multiplicity = 1;
	t->count = poll->first ? 0 : 1;
	t->holder = t->holder_now;
	t->weight_ns = poll->since / 2; /* it began somewhere between the two polls */
}

void lock_begun(const struct lock_poll *poll, struct lock_thread *t, const struct lock_wait *wait,
	bool at_least)
{
	t->wait = *wait;
	t->again = false;
	t->at_least = at_least;
	t->since_ns = at_least ? poll->now : poll->now - poll->since / 2;
	t->flushed_ns = poll->now;
}

void lock_continues(
	const struct lock_poll *poll, struct lock_thread *t, const struct lock_wait *wait)
{
	t->wait = *wait;
	t->again = true;
	if (poll->now - t->flushed_ns >= LOCK_FLUSH_NS) {
		t->flushed_ns = poll->now;
		lock_flush(poll->s, t);
	}
	t->weight_ns += poll->since;
	t->holder = t->holder_now;
}

void lock_forget(struct sampler *s, struct lock_thread *t)
{
	struct lock_place *places = lock_places(s, t);

	for (uint32_t i = 0; i < t->places; i++)
		places[i].wait.lock = places[i].brief_ns = 0;
	t->place = t->places = 0;
}

static bool place_is_like(const struct lock_place *place, const struct lock_wait *wait)
{
	return place->wait.lock && place->wait.monitor == wait->monitor &&
	       place->wait.klass == wait->klass && place->wait.of == wait->of &&
	       place->wait.sp == wait->sp && place->wait.pc == wait->pc;
}

bool lock_recall(struct sampler *s, struct lock_thread *t, const struct lock_wait *wait)
{
	struct lock_place *places = lock_places(s, t);
	uint32_t like = LOCK_PLACES;

	for (uint32_t i = 0; i < t->places; i++) {
		if (!place_is_like(&places[i], wait))
			continue;
		if (like < LOCK_PLACES)
			return false;
		like = i;
	}
	if (like == LOCK_PLACES || !places[like].frames)
		return false;
	t->place = like;
	return true;
}

/*
 * Sets the wait's place: where this stack is retained already, else a free place, else one in turn, never the last one
 * used.
 */
static void lock_place_for(struct sampler *s, struct lock_thread *t, const struct lock_wait *wait,
	const struct stack *stack, uint32_t frames)
{
	struct lock_place *places = lock_places(s, t);

	if (t->wait.lock) /* walked again */
		return;
	for (uint32_t i = 0; i < t->places; i++) {
		if (place_is_like(&places[i], wait) && places[i].frames == frames &&
			!memcmp(places[i].kept, stack->user - 1, frames * sizeof(uint64_t))) {
			t->place = i;
			return;
		}
	}
	if (t->places < LOCK_PLACES) {
		t->place = t->places++;
		return;
	}
	t->place = (t->place + 1) % LOCK_PLACES;
	lock_time_flush(s, t, t->place);
	for (uint32_t i = 0; i < JVM_WAIT_COUNTS; i++) {
		if (t->counts[i].brief == t->place + 1)
			t->counts[i].brief = 0;
		if (t->counts[i].single == t->place + 1)
			t->counts[i].single = 0;
	}
}

void lock_retain(const struct lock_poll *poll, struct lock_thread *t, const struct lock_wait *wait,
	struct stack *stack)
{
	struct sampler *s = poll->s;
	uint32_t frames = stack->count + 1 <= LOCK_FRAMES ? stack->count + 1 : 0;
	uint32_t class_id = wait->of ? sig_mirror_id(s, &s->mem, wait->of)
				     : sig_class_id(s, &s->mem, wait->klass);
	struct lock_place *place;

	stack->user[-1] = WALK_PACK(WALK_CLASS, class_id);
	lock_place_for(s, t, wait, stack, frames);
	place = lock_place(s, t);
	place->wait = *wait;
	place->class_id = class_id;
	place->frames = frames;
	place->flags = stack->flags;
	place->flaw = stack->flaw;
	place->id = WIRE_IS_VIRTUAL(stack->id) ? stack->id : 0;
	memcpy(place->kept, stack->user - 1, frames * sizeof(uint64_t));
	if (place->id || !frames)
		t->untimed = true;
	if (frames)
		return;
	sig_stack_record(stack, &(struct stack_sample){.event = WIRE_LOCK,
					.before = 1,
					.count = t->count * (uint32_t)t->multiplicity,
					.weight = poll->since * t->multiplicity});
	t->count = 0;
}

/* --- long waits -------------------------------------------------------------------------------- */

/*
 * The present lag of that CPU's run-queue clock. Each CPU has its own clock, which excludes time stolen by the host, so
 * it is read there: this thread migrates to that CPU for a moment. Returns false if it may not.
 */
static bool lock_behind(
	struct lock_clock *clocks, int task_fd, int32_t cpu, uint64_t now, uint64_t *ns)
{
	struct lock_clock *clock = &clocks[(uint32_t)cpu % LOCK_CLOCKS];
	uint64_t stamp;

	if (!clock->read_ns || clock->cpu != cpu || now - clock->read_ns > NS_PER_S) {
		if (!task_ran_on(task_fd, cpu, &stamp))
			return false;
		*clock = (struct lock_clock){cpu, now, clock_mono_ns() - stamp};
	}
	*ns = clock->behind_ns;
	return true;
}

void lock_began(
	struct lock_clock *clocks, int task_fd, int32_t task, uint64_t now, uint64_t *since_ns)
{
	int32_t cpu;
	uint64_t stamp, behind;

	if (task && task_slept(task_fd, task, &cpu, &stamp) &&
		lock_behind(clocks, task_fd, cpu, now, &behind) && stamp + behind < *since_ns)
		*since_ns = stamp + behind;
}

void lock_owners(struct sampler *s, struct lock_thread *t, uint64_t now)
{
	uint32_t report = atomic_load(&t->report), owner;

	if (!t->wait.lock || now - t->since_ns < LOCK_LONG_NS || report == REPORT_ENDED ||
		report == REPORT_BEGUN)
		return;
	if (report == REPORT_NONE && t->at_least && t < s->lock->threads + THREADS_MAX)
		lock_began(s->lock->clocks, s->task.fd,
			sampler_task(s, &s->threads->slots[t - s->lock->threads]), now,
			&t->since_ns);
	owner = holder_id(s, &t->wait);
	if (report == REPORT_SENT && owner == t->record.owner)
		return;
	t->record = (struct wire_wait){.time_ns = now,
		.since_ns = t->since_ns,
		.lock = t->wait.lock,
		.thread = lock_waiter(s, t),
		.owner = owner,
		.method = lock_place(s, t)->class_id,
		.at_least = t->at_least};
	atomic_store_explicit(&t->report, REPORT_BEGUN, memory_order_release);
}

/* --- the publisher's side ---------------------------------------------------------------------- */

/* Publishes the changes of the wait since the last report. Returns false if they cannot be published yet. */
static bool lock_report(struct sampler *s, struct lock_thread *t)
{
	uint32_t report = atomic_load_explicit(&t->report, memory_order_acquire);

	if (report == REPORT_BEGUN) {
		if (!publish_wait(s->publish, &t->record))
			return false;
		t->reported = true;
		/* If the wait has ended in the meantime, the state is REPORT_ENDED and is not changed. */
		atomic_compare_exchange_strong(&t->report, &report, REPORT_SENT);
	} else if (report == REPORT_ENDED) {
		struct wire_wait record = t->record;

		record.time_ns = t->ended_ns;
		record.ended = true;
		if (t->reported && !publish_wait(s->publish, &record))
			return false;
		t->reported = false;
		atomic_store(&t->report, REPORT_NONE);
	}
	return true;
}

static void lock_note(struct sampler *s, const char *what)
{
	if (atomic_load(&s->events[WIRE_LOCK].on) && !s->events[WIRE_LOCK].note[0])
		events_degraded(s, WIRE_LOCK, what);
}

void lock_publish(struct sampler *s)
{
	uint32_t high = s->lock ? atomic_load(&s->threads->high) : 0;

	if (jvm_wait_counts() < 0)
		lock_note(s, "short waits are undercounted: the JVM's own counter was not found");
	else if (jvm_wait_times() < 0)
		lock_note(s, "the duration of waits of a few us may be off by a third: this JVM "
			     "does not measure it");
	for (uint32_t i = 0; i < high; i++) {
		if (!lock_report(s, &s->lock->threads[i]))
			return;
	}
	for (uint32_t i = THREADS_MAX; s->lock && i < LOCK_MAX; i++) {
		if (!lock_report(s, &s->lock->threads[i]))
			return;
	}
}
