/* SPDX-License-Identifier: Apache-2.0 */
/* The table of events; starting and stopping them on all threads. */
#include "sampler/events.h"

#include "sampler/arms.h"
#include "sampler/raw.h"
#include "sampler/sig.h"
#include "sampler/text.h"

#include <errno.h>
#include <string.h>

#define SETTLE_NS    2000000
#define SETTLE_TRIES 10

const struct event_row event_rows[WIRE_EVENTS] = {
	[WIRE_CPU] = {"cpu", 10000000, 0, {&engine_perf, &engine_ctimer}},
	[WIRE_ALLOC] = {"alloc", 524288, 0, {NULL}},
	[WIRE_LOCK] = {"lock", 10000, 0, {NULL}},
	[WIRE_WALL] = {"wall", 50000000, 0, {NULL}},
};

static struct wire_event_status *event_status(struct sampler *s, uint32_t event)
{
	return &s->shared.status->events[event];
}

/* event_announce: note first, then the state that makes it valid. */
static void event_announce(
	struct sampler *s, uint32_t number, enum wire_event_state state, const char *note)
{
	struct wire_event_status *status = event_status(s, number);
	struct event *event = &s->events[number];
	struct text text = text_into(status->note, sizeof(status->note));
	bool on = state == WIRE_EVENT_ON;

	text_add(&text, note);
	atomic_store(&status->engine, on ? event->engine->id : WIRE_ENGINE_NONE);
	atomic_store(&status->interval, on ? atomic_load(&event->interval) : 0);
	atomic_store(&status->state, state);
}

static void event_arm_all(struct sampler *s)
{
	uint32_t high = atomic_load(&s->threads->high);

	for (uint32_t i = 0; i < high; i++) {
		struct thread_slot *slot = &s->threads->slots[i];

		if (atomic_load(&slot->tid) && !atomic_load(&slot->gone))
			arms_set(s, slot);
	}
}

static bool event_pending(struct sampler *s, uint32_t arm)
{
	uint32_t high = atomic_load(&s->threads->high);

	for (uint32_t i = 0; i < high; i++) {
		const struct thread_arm *a = &s->threads->slots[i].arms[arm];
		const struct engine *engine = atomic_load(&a->engine);

		if (engine && engine->pending && engine->pending(a))
			return true;
	}
	return false;
}

/* event_settle: threads that are to take a signal as soon as they run get the time for it. */
static void event_settle(struct sampler *s, uint32_t arm)
{
	struct timespec pause = {0, SETTLE_NS};

	for (int i = 0; i < SETTLE_TRIES && event_pending(s, arm); i++)
		raw(SYS_nanosleep, &pause, 0);
}

/* event_disarm_all: arming is already 0, so that no callback sets the engine again. */
static void event_disarm_all(struct sampler *s, uint32_t number)
{
	uint32_t high = atomic_load(&s->threads->high), arm = event_rows[number].arm;
	struct timespec pause = {0, 100000};

	for (uint32_t i = 0; i < high; i++) {
		struct thread_slot *slot = &s->threads->slots[i];

		while (!threads_try_lock(slot))
			raw(SYS_nanosleep, &pause, 0);
		arms_quiet(slot, number);
	}
	event_settle(s, arm);
	atomic_store(&s->events[number].on, 0);
	for (uint32_t i = 0; i < high; i++) {
		struct thread_slot *slot = &s->threads->slots[i];

		arms_release(s, slot, number);
		threads_unlock(slot);
	}
}

/* event_choose: the first engine that works here; why not the better ones goes to note. */
static int event_choose(
	struct sampler *s, uint32_t number, uint64_t interval, char *note, size_t bytes)
{
	const struct event_row *row = &event_rows[number];
	struct event *event = &s->events[number];
	struct engine_target target = {
		.tid = raw_gettid(), .event = number, .interval = interval, .signo = s->signo};
	struct text text = text_into(note, bytes);
	char why[96];
	int error = -ENODEV;

	for (uint32_t i = 0; i < ENGINES_PER_EVENT && row->engines[i]; i++) {
		error = row->engines[i]->probe(&target, why, sizeof(why));
		if (error == 0) {
			event->engine = row->engines[i];
			break;
		}
		text_add(&text, i ? "; " : "");
		text_add(&text, why);
	}
	return error;
}

/*
 * event_note_others: threads that had to take a lesser engine, for want of descriptors or memory.
 */
static void event_note_others(struct sampler *s, uint32_t number, char *note, size_t bytes)
{
	uint32_t high = atomic_load(&s->threads->high), threads = 0, others = 0;
	struct text text = text_into(note + strlen(note), bytes - strlen(note));

	for (uint32_t i = 0; i < high; i++) {
		const struct thread_slot *slot = &s->threads->slots[i];
		const struct engine *engine =
			atomic_load(&slot->arms[event_rows[number].arm].engine);

		threads += engine != NULL;
		others += engine && engine != s->events[number].engine;
	}
	if (!others)
		return;
	text_add_number(&text, others);
	text_add(&text, " of ");
	text_add_number(&text, threads);
	text_add(&text, " threads without perf_events: file descriptors or memory are short");
}

int events_start(struct sampler *s, uint32_t number, uint64_t interval, char *text, size_t bytes)
{
	const struct event_row *row = &event_rows[number < WIRE_EVENTS ? number : 0];
	struct text out = text_into(text, bytes);
	char note[96];
	struct event *event;
	int error;

	if (number >= WIRE_EVENTS || !row->engines[0]) {
		text_add(&out, "this agent cannot sample ");
		text_add(&out, number < WIRE_EVENTS && row->name ? row->name : "that event");
		return -ENOSYS;
	}
	if (s->signo < 0) {
		text_add(&out, "SIGPROF, SIGVTALRM and SIGSTKFLT all have handlers of the program");
		return s->signo;
	}
	event = &s->events[number];
	events_stop(s, number, text, bytes);
	interval = interval ? interval : row->interval;
	error = event_choose(s, number, interval, note, sizeof(note));
	if (error < 0) {
		text_add(&out, note);
		event_announce(s, number, WIRE_EVENT_FAILED, note);
		return error;
	}
	if (interval < event->engine->interval_min)
		interval = event->engine->interval_min;
	atomic_store(&event->interval, interval);
	event->wanted = true;
	atomic_store(&event->on, 1);
	atomic_store(&event->arming, 1);
	event_arm_all(s);
	event_note_others(s, number, note, sizeof(note));
	event_announce(s, number, WIRE_EVENT_ON, note);
	return 0;
}

int events_stop(struct sampler *s, uint32_t number, char *text, size_t bytes)
{
	struct text out = text_into(text, bytes);

	if (number >= WIRE_EVENTS) {
		text_add(&out, "there is no such event");
		return -EINVAL;
	}
	s->events[number].wanted = false;
	if (!atomic_exchange(&s->events[number].arming, 0))
		return 0;
	event_disarm_all(s, number);
	event_announce(s, number, WIRE_EVENT_OFF, "");
	return 0;
}

void events_sweep(struct sampler *s)
{
	uint32_t high = atomic_load(&s->threads->high);

	for (uint32_t i = 0; i < high; i++)
		arms_take_off(s, &s->threads->slots[i]);
}

void events_stop_all(struct sampler *s)
{
	char text[8];

	for (uint32_t i = 0; i < WIRE_EVENTS; i++)
		events_stop(s, i, text, sizeof(text));
}

void events_warm_up(struct sampler *s)
{
	char note[96];

	event_choose(s, WIRE_CPU, event_rows[WIRE_CPU].interval, note, sizeof(note));
}

void events_check_signal(struct sampler *s)
{
	char text[8];

	for (uint32_t i = 0; i < WIRE_EVENTS; i++) {
		if (!atomic_load(&s->events[i].on) || sig_owned(s->signo))
			continue;
		events_stop(s, i, text, sizeof(text));
		event_announce(s, i, WIRE_EVENT_FAILED,
			"another part of the process has installed its own handler for the signal");
	}
}

uint64_t events_memory(void)
{
	return engine_perf_memory();
}

bool events_any(const struct sampler *s)
{
	for (uint32_t i = 0; i < WIRE_EVENTS; i++) {
		if (atomic_load(&s->events[i].on))
			return true;
	}
	return false;
}

void events_pause(struct sampler *s)
{
	for (uint32_t i = 0; i < WIRE_EVENTS; i++) {
		if (atomic_exchange(&s->events[i].arming, 0))
			event_disarm_all(s, i);
	}
}

void events_resume(struct sampler *s)
{
	for (uint32_t i = 0; i < WIRE_EVENTS; i++) {
		atomic_store(&s->events[i].on, s->events[i].wanted);
		atomic_store(&s->events[i].arming, s->events[i].wanted);
	}
	event_arm_all(s);
}
