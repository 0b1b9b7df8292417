/* SPDX-License-Identifier: Apache-2.0 */
/* The table of events; starting, pacing and stopping them on all threads. */
#include "sampler/engine/events.h"
#include "sampler/engine/arms.h"
#include "sampler/engine/collect.h"

#include "base/clock.h"
#include "sampler/engine/latency.h"
#include "sampler/engine/lock/lock.h"
#include "sampler/engine/perf_fd.h"
#include "sampler/engine/wall.h"
#include "sampler/publish/publish.h"
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"
#include "sampler/text.h"

#include <errno.h>
#include <string.h>

#define SETTLE_NS      2000000
#define SETTLE_TRIES   10
#define SIGNAL_LOST_NS 2000000000u /* time without a signal before events fail */

const struct event_row event_rows[WIRE_EVENTS] = {
	[WIRE_CPU] = {"cpu", 10000000, THREADS_ARM_CPU, {&engine_perf, &engine_ctimer}},
	[WIRE_ALLOC] = {"alloc", 524288, THREADS_ARM_TRAP, {&engine_alloc, &engine_trap}},
	[WIRE_LOCK] = {"lock", 5000000, EVENT_NO_ARM, {&engine_lock}},
	[WIRE_WALL] = {"wall", 50000000, EVENT_NO_ARM, {&engine_wall}},
	[WIRE_USER_FIRST + 0] = {"perf event 1", 1, 1, {&engine_perf}},
	[WIRE_USER_FIRST + 1] = {"perf event 2", 1, 2, {&engine_perf}},
	[WIRE_USER_FIRST + 2] = {"perf event 3", 1, 3, {&engine_perf}},
	[WIRE_USER_FIRST + 3] = {"perf event 4", 1, 4, {&engine_perf}},
};
_Static_assert(WIRE_EVENTS - WIRE_USER_FIRST + 1 == THREADS_ARM_TRAP, "an arm for each perf event");

/* True when the event's engines send signals. */
static bool event_signals(uint32_t id)
{
	return event_rows[id].arm != EVENT_NO_ARM || id == WIRE_WALL;
}

static struct wire_event_status *event_status(struct sampler *s, uint32_t event)
{
	return &s->shared.status->events[event];
}

/* Publishes the event's state: the note first, then the state that makes it valid. */
static void event_announce(
	struct sampler *s, uint32_t id, enum wire_event_state state, const char *note)
{
	struct wire_event_status *status = event_status(s, id);
	struct event *event = &s->events[id];
	bool on = state == WIRE_EVENT_ON;

	text_set(status->note, sizeof(status->note), note);
	text_set(event->note, sizeof(event->note), note);
	atomic_store(&status->engine, on ? event->engine->id : WIRE_ENGINE_NONE);
	atomic_store(&status->interval, on ? atomic_load(&event->interval) : 0);
	atomic_store(&status->state, state);
}

void events_note(struct sampler *s, uint32_t id, const char *note)
{
	struct text text = text_into(event_status(s, id)->note, sizeof(((struct event *)0)->note));

	text_add(&text, note);
	text_add(&text, *note && s->events[id].note[0] ? "; " : "");
	text_add(&text, s->events[id].note);
}

void events_degraded(struct sampler *s, uint32_t id, const char *what)
{
	text_set(s->events[id].note, sizeof(s->events[id].note), what);
	events_note(s, id, "");
}

static bool event_pending(struct sampler *s, uint32_t arm)
{
	for (struct thread_slot *slot = NULL; (slot = threads_after(s->threads, slot));) {
		const struct engine *engine = atomic_load(&slot->arms[arm].engine);

		if (engine && engine->pending && engine->pending(&slot->arms[arm]))
			return true;
	}
	return false;
}

/* Disarms the event on all threads. `arming` is already false, so none is armed again. */
static void event_disarm_all(struct sampler *s, uint32_t id)
{
	uint32_t high = atomic_load(&s->threads->high);

	for (uint32_t i = 0; i < high; i++)
		arms_quiet(&s->threads->slots[i], id);
	/* Gives threads up to 20 ms to handle pending signals. */
	for (int i = 0; i < SETTLE_TRIES && event_pending(s, event_rows[id].arm); i++)
		raw_sleep(SETTLE_NS);
	atomic_store(&s->events[id].on, 0);
	for (uint32_t i = 0; i < high; i++)
		arms_release(s, &s->threads->slots[i], id);
}

/* Starts the event's engine on present and future threads. Returns 0 or -errno with a sentence. */
static int event_enable(struct sampler *s, uint32_t id, char *note, size_t bytes)
{
	struct event *event = &s->events[id];
	struct engine_target target = arms_target(s, id);
	uint64_t used = publish_cpu_used(s->publish);
	struct thread_slot *slot = NULL;
	int error = 0;

	atomic_store(&event->on_ns, clock_mono_ns());
	atomic_store(&event->on, 1);
	atomic_store(&event->arming, 1);
	if (event->engine->start)
		error = event->engine->start(s, &target, note, bytes);
	while (!event->engine->start && (slot = threads_next(s->threads, slot)))
		arms_set(s, slot);
	if (error < 0) {
		atomic_store(&event->arming, 0);
		atomic_store(&event->on, 0);
	} else if (id == WIRE_CPU) {
		/* Threads were armed one after the other: on average, counting starts at the middle. */
		process_clock_start(s);
		publish_cpu_counts(
			s->publish, true, used + (publish_cpu_used(s->publish) - used) / 2);
	}
	return error;
}

/* Disarms the event. Returns false if it was not enabled. */
static bool event_disable(struct sampler *s, uint32_t id)
{
	struct event *event = &s->events[id];

	if (!atomic_exchange(&event->arming, 0))
		return false;
	if (id == WIRE_CPU) {
		process_clock_stop(s);
		publish_cpu_counts(s->publish, false, publish_cpu_used(s->publish));
	}
	if (event->engine->stop)
		event->engine->stop(s, id);
	else
		event_disarm_all(s, id);
	atomic_store(&event->on, 0);
	return true;
}

/* True when the engine works by descriptors that the front end lends, thread by thread. */
static bool event_borrowed(const struct sampler *s, uint32_t id, const struct engine *engine)
{
	return id == WIRE_CPU && engine == &engine_perf && sampler_borrows(s);
}

/* Chooses the first engine that works here, or the requested one. The note explains why no better one was chosen. */
static int event_choose(struct sampler *s, uint32_t id, char *note, size_t bytes)
{
	const struct event_row *row = &event_rows[id];
	struct event *event = &s->events[id];
	struct engine_target target = arms_target(s, id);
	struct text text = text_into(note, bytes);
	char why[160];
	int error = -ENODEV;

	target.tid = raw_gettid();
	for (uint32_t i = 0; i < ENGINES_PER_EVENT && row->engines[i]; i++) {
		if (event->engine_asked && event->engine_asked != row->engines[i]->id)
			continue;
		bool borrowed = event_borrowed(s, id, row->engines[i]);
		error = borrowed ? 0 : row->engines[i]->probe(&target, why, sizeof(why));
		if (error == 0) {
			event->engine = row->engines[i];
			if (borrowed)
				text_add(&text, "borrowed perf_events: no kernel frames in a "
						"thread's first 0.1 s");
			if (event->engine_asked && event->engine == &engine_ctimer)
				text_add(&text, "CPU timers, as requested: no kernel frames");
			return 0;
		}
		text_add(&text, *note ? "; " : "");
		text_add(&text, why);
	}
	if (!*note)
		text_add(&text, "the requested engine cannot sample this event");
	return error;
}

/* Adds to the note how many threads have a lesser engine because descriptors or memory are short. */
static void event_note_others(struct sampler *s, uint32_t id, char *note, size_t bytes)
{
	uint32_t threads = 0, others = 0;
	struct text text = text_into(note + strlen(note), bytes - strlen(note));

	if (event_rows[id].arm == EVENT_NO_ARM || event_borrowed(s, id, s->events[id].engine))
		return;
	for (struct thread_slot *slot = NULL; (slot = threads_after(s->threads, slot));) {
		const struct engine *engine = atomic_load(&slot->arms[event_rows[id].arm].engine);

		threads += engine != NULL;
		others += engine && engine != s->events[id].engine;
	}
	if (!others)
		return;
	text_add_number(&text, others);
	text_add(&text, " of ");
	text_add_number(&text, threads);
	text_add(&text, " threads without perf_events: short of file descriptors or memory");
}

/* Clamps the interval to the engine's minimum, and notes it. */
static void event_limit(struct sampler *s, uint32_t id, char *note, size_t bytes)
{
	struct event *event = &s->events[id];
	struct engine_target target = arms_target(s, id);
	uint64_t least =
		event->engine->least ? event->engine->least(&target) : event->engine->interval_min;
	struct text text = text_into(note + strlen(note), bytes - strlen(note));

	if (target.interval >= least)
		return;
	atomic_store(&event->interval, least);
	text_add(&text, *note ? "; every " : "every ");
	text_add_interval(&text, least, event_unit(id));
	text_add(&text, ", not ");
	text_add_interval(&text, target.interval, event_unit(id));
	text_add(&text, ": ");
	text_add(&text, event->engine->name);
	text_add(&text, " cannot sample faster");
}

/*
 * True when the signal is still ours or a replacement was found. Call with engines disarmed: threads inside our handler
 * block all signals and would be mistaken for collectors. If none is found, the caller retries later.
 */
static bool signal_found(struct sampler *s)
{
	if (s->signo <= 0 || !sig_reinstall(s->signo))
		s->signo = sig_choose_again(collect_signals(s));
	return s->signo > 0;
}

/* Returns 0 if this version can sample the event and a signal is available for it; else -errno with a sentence. */
static int event_possible(struct sampler *s, uint32_t id, struct text *out)
{
	const struct event_row *row = &event_rows[id < WIRE_EVENTS ? id : 0];

	if (id >= WIRE_EVENTS || !row->engines[0]) {
		text_add(out, "this agent cannot sample ");
		text_add(out, id < WIRE_EVENTS && row->name ? row->name : "that event");
		return -ENOSYS;
	}
	if (event_signals(id))
		events_check_signal(s, clock_mono_ns());
	if (event_signals(id) && !signal_found(s)) {
		text_add(out, "no free signal: the process handles or collects every signal that "
			      "could be used");
		return s->signo;
	}
	return 0;
}

int events_start(struct sampler *s, const struct wire_command *command, char *text, size_t bytes)
{
	uint32_t id = command->event;
	struct text out = text_into(text, bytes);
	int error = event_possible(s, id, &out);

	if (error < 0)
		return error;
	struct event *event = &s->events[id];
	events_stop(s, id, text, bytes);
	if (id >= WIRE_USER_FIRST &&
		memcmp(&event->perf, &command->perf, sizeof(event->perf)) != 0) {
		atomic_store(&event->samples, 0); /* they belonged to another event under this id */
		atomic_store(&event->lost, 0);
	}
	event->flags = command->flags;
	event->engine_asked = (uint32_t)command->arg;
	event->perf = command->perf;
	atomic_store(
		&event->interval, command->interval ? command->interval : event_rows[id].interval);
	error = event_choose(s, id, text, bytes);
	if (error == 0) {
		event_limit(s, id, text, bytes);
		error = event_enable(s, id, text, bytes);
	}
	if (error < 0) {
		event_announce(s, id, WIRE_EVENT_FAILED, text);
		return error;
	}
	event->wanted = true;
	event->is_default = !command->interval || command->flags & WIRE_START_CHOSEN;
	event->asked = atomic_load(&event->interval);
	event_note_others(s, id, text, bytes);
	event_announce(s, id, WIRE_EVENT_ON, text);
	text_into(text, bytes);
	return 0;
}

void events_pace(struct sampler *s, uint32_t id, uint64_t interval)
{
	struct event *event = &s->events[id];
	struct thread_slot *slot = NULL;

	if (!atomic_load(&event->on) || !interval)
		return;
	atomic_store(&event->interval, interval);
	atomic_store(&event_status(s, id)->interval, interval);
	if (event->engine->repace)
		event->engine->repace(s, id);
	while (event->engine->pace && (slot = threads_after(s->threads, slot)))
		arms_pace(s, slot, id);
}

int events_stop(struct sampler *s, uint32_t id, char *text, size_t bytes)
{
	text_set(text, bytes, id < WIRE_EVENTS ? "" : "there is no such event");
	if (id >= WIRE_EVENTS)
		return -EINVAL;
	s->events[id].wanted = false;
	if (event_disable(s, id))
		event_announce(s, id, WIRE_EVENT_OFF, "");
	return 0;
}

void events_sweep(struct sampler *s)
{
	for (struct thread_slot *slot = NULL; (slot = threads_after(s->threads, slot));)
		arms_disarm(s, slot);
}

void events_stop_all(struct sampler *s)
{
	char text[8];

	for (uint32_t i = 0; i < WIRE_EVENTS; i++)
		events_stop(s, i, text, sizeof(text));
}

void events_warm_up(struct sampler *s)
{
	char note[160];

	event_choose(s, WIRE_CPU, note, sizeof(note));
}

/*
 * Switches all threads to signo after the reserved signal was lost: libc has begun to use it and its handler replaced
 * ours, or the program handles SIGIO.
 */
static void reserved_lost(struct sampler *s)
{
	bool clock = s->process_clock.wanted;

	if (clock)
		process_clock_stop(s);
	s->signo_reserved = -EBUSY;
	for (struct thread_slot *slot = NULL; (slot = threads_next(s->threads, slot));) {
		if (!arms_any(slot))
			continue;
		arms_disarm(s, slot);
		arms_set(s, slot);
	}
	if (clock)
		process_clock_start(s);
}

/* Disarms the wanted events that depend on signals. Returns them as a mask. */
static uint32_t signals_off(struct sampler *s)
{
	uint32_t mask = 0;

	for (uint32_t i = 0; i < WIRE_EVENTS; i++) {
		if (!s->events[i].wanted || !event_signals(i))
			continue;
		event_disable(s, i);
		mask |= 1u << i;
	}
	return mask;
}

/* Re-enables these events with another signal or, with failed, ends them. */
static void signals_on(struct sampler *s, uint32_t mask, bool failed)
{
	char note[160];

	for (uint32_t i = 0; i < WIRE_EVENTS; i++) {
		if (!(mask >> i & 1))
			continue;
		text_set(note, sizeof(note),
			"another part of the process has installed its own handler for the signal");
		int error = failed ? -EBUSY : event_enable(s, i, note, sizeof(note));
		if (error == 0)
			continue;
		s->events[i].wanted = false;
		event_announce(s, i, WIRE_EVENT_FAILED, note);
	}
	if (!failed)
		publish_note(s->publish, WIRE_NOTE_TEXT, clock_mono_ns(), 0,
			"another part of the process has taken over the sampling signal; sampling "
			"continues with another signal");
}

void events_check_signal(struct sampler *s, uint64_t now)
{
	if (s->signo_reserved > 0 && !sig_reinstall_reserved(s->signo_reserved))
		reserved_lost(s);
	if (s->paused || (s->signo > 0 && !s->signal_lost_ns && sig_reinstall(s->signo)))
		return;
	uint32_t mask = signals_off(s);
	if (!mask)
		return;
	bool found = signal_found(s);
	if (!s->signal_lost_ns)
		s->signal_lost_ns = now;
	if (!found && now - s->signal_lost_ns < SIGNAL_LOST_NS)
		return;
	s->signal_lost_ns = 0;
	signals_on(s, mask, !found);
}

uint64_t events_memory(const struct sampler *s)
{
	return engine_perf_memory() + lock_memory(s) + cycles_memory(s) + wall_waiting_memory(s) +
	       latency_memory(s);
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
	for (uint32_t i = 0; i < WIRE_EVENTS; i++)
		event_disable(s, i);
}

void events_resume(struct sampler *s)
{
	char note[160];

	if (!s->signal_lost_ns && !signal_found(s))
		s->signal_lost_ns = clock_mono_ns();
	for (uint32_t i = 0; i < WIRE_EVENTS; i++) {
		if (!s->events[i].wanted || (s->signal_lost_ns && event_signals(i)))
			continue;
		if (event_enable(s, i, note, sizeof(note)) < 0)
			event_announce(s, i, WIRE_EVENT_FAILED, note);
	}
}
