/* SPDX-License-Identifier: Apache-2.0 */
/* The table of events, and the engines on the threads. */
#include "sampler/events.h"

#include "sampler/raw.h"
#include "sampler/sig.h"
#include "sampler/text.h"

#include <errno.h>
#include <string.h>

/* One event per row; one without engines cannot be sampled by this version. */
static const struct event_row {
	const char *name;
	uint64_t interval; /* the default */
	uint32_t arm;
	const struct engine *engines[ENGINES_PER_EVENT]; /* the best first */
} event_rows[WIRE_EVENTS] = {
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

/* --- on one thread ---------------------------------------------------------------------------- */

/*
 * arm_set: the event's engine, or the next one where it cannot be set on this thread. Slot locked.
 */
static int arm_set(struct sampler *s, uint32_t number, struct thread_slot *slot)
{
	const struct event_row *row = &event_rows[number];
	struct event *event = &s->events[number];
	struct thread_arm *arm = &slot->arms[row->arm];
	struct engine_target target = {.tid = atomic_load(&slot->tid),
		.event = number,
		.interval = atomic_load(&event->interval),
		.signo = s->signo};
	int error = -ENODEV;

	if (atomic_load(&arm->engine))
		return 0;
	for (uint32_t i = 0; i < ENGINES_PER_EVENT && row->engines[i]; i++) {
		const struct engine *engine = row->engines[i];

		if (engine != event->engine && error == -ENODEV)
			continue; /* better, but known not to work here */
		error = engine->arm(arm, &target);
		if (error == 0 && engine != event->engine)
			counters_add(&s->counters, COUNTER_TIMER_THREADS, 1);
		if (error == 0 || error == -ESRCH)
			return error;
	}
	if (!atomic_exchange(&slot->failed, 1))
		counters_add(&s->counters, COUNTER_ARM_FAILED, 1);
	return error;
}

static void slot_arm(struct sampler *s, struct thread_slot *slot)
{
	if (!threads_try_lock(slot))
		return;
	for (uint32_t i = 0; i < WIRE_EVENTS; i++) {
		if (atomic_load(&s->events[i].on) && !atomic_load(&slot->gone))
			arm_set(s, i, slot);
	}
	threads_unlock(slot);
}

/*
 * arm_quiet, then arm_release: no more signals, wait until the thread has left its handler, give
 * back.
 */
static void arm_quiet(struct thread_arm *arm)
{
	const struct engine *engine = atomic_load(&arm->engine);

	if (engine)
		engine->quiet(arm);
}

static void arm_release(struct sampler *s, struct thread_slot *slot, uint32_t number)
{
	struct thread_arm *arm = &slot->arms[event_rows[number].arm];
	const struct engine *engine = atomic_exchange(&arm->engine, NULL);
	struct timespec pause = {0, 100000};
	uint32_t unread;

	if (!engine)
		return;
	while (atomic_load(&slot->inside))
		raw(SYS_nanosleep, &pause, 0);
	unread = engine->release(arm);
	atomic_fetch_add(&s->events[number].samples, unread);
	atomic_fetch_add(&s->events[number].lost, unread);
	counters_add(&s->counters, COUNTER_LATE, unread);
}

static bool slot_disarm(struct sampler *s, struct thread_slot *slot)
{
	if (!threads_try_lock(slot))
		return false;
	for (uint32_t i = 0; i < WIRE_EVENTS; i++) {
		if (!event_rows[i].engines[0] || !event_rows[i].engines[0]->arm)
			continue;
		arm_quiet(&slot->arms[event_rows[i].arm]);
		arm_release(s, slot, i);
	}
	threads_unlock(slot);
	return true;
}

static bool slot_alive(const struct thread_slot *slot)
{
	for (uint32_t i = 0; i < THREADS_ARMS; i++) {
		const struct engine *engine = atomic_load(&slot->arms[i].engine);

		if (engine && !engine->alive(&slot->arms[i]))
			return false;
	}
	return true;
}

/* --- on all threads --------------------------------------------------------------------------- */

static void event_arm_all(struct sampler *s)
{
	uint32_t high = atomic_load(&s->threads->high);

	for (uint32_t i = 0; i < high; i++) {
		struct thread_slot *slot = &s->threads->slots[i];

		if (atomic_load(&slot->tid) && !atomic_load(&slot->gone))
			slot_arm(s, slot);
	}
}

/* event_disarm_all: on is already 0, so that no callback sets the engine again. */
static void event_disarm_all(struct sampler *s, uint32_t number)
{
	uint32_t high = atomic_load(&s->threads->high), arm = event_rows[number].arm;
	struct timespec pause = {0, 100000};

	for (uint32_t i = 0; i < high; i++) {
		struct thread_slot *slot = &s->threads->slots[i];

		while (!threads_try_lock(slot))
			raw(SYS_nanosleep, &pause, 0);
		arm_quiet(&slot->arms[arm]);
	}
	for (uint32_t i = 0; i < high; i++) {
		struct thread_slot *slot = &s->threads->slots[i];

		arm_release(s, slot, number);
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
	if (!atomic_exchange(&s->events[number].on, 0))
		return 0;
	event_disarm_all(s, number);
	event_announce(s, number, WIRE_EVENT_OFF, "");
	return 0;
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
		if (atomic_exchange(&s->events[i].on, 0))
			event_disarm_all(s, i);
	}
}

void events_resume(struct sampler *s)
{
	for (uint32_t i = 0; i < WIRE_EVENTS; i++)
		atomic_store(&s->events[i].on, s->events[i].wanted);
	event_arm_all(s);
}

/* --- threads that come and go ----------------------------------------------------------------- */

/* slot_retire: out of the index; scan_gone does the rest. */
static void slot_retire(struct sampler *s, struct thread_slot *slot)
{
	threads_unlist(s->threads, slot);
	atomic_store(&slot->gone, 1);
}

/* slot_stale: does the listed slot belong to an earlier thread with the same tid? */
static bool slot_stale(const struct thread_slot *slot, uint64_t java_thread)
{
	uint64_t known = atomic_load(&slot->java_thread);

	return (known && java_thread && known != java_thread) || !slot_alive(slot);
}

struct thread_slot *events_thread_starts(struct sampler *s, int32_t tid, uint64_t java_thread)
{
	struct thread_slot *slot = threads_find(s->threads, tid);

	if (slot && slot_stale(slot, java_thread)) {
		slot_retire(s, slot);
		slot = NULL;
	}
	if (!slot)
		slot = threads_add(s->threads, tid);
	if (!slot) /* the scan was faster, or the list is full */
		slot = threads_find(s->threads, tid);
	if (!slot) {
		counters_add(&s->counters, COUNTER_THREADS_FULL, 1);
		return NULL;
	}
	if (java_thread)
		atomic_store(&slot->java_thread, java_thread);
	slot_arm(s, slot);
	return slot;
}

void events_thread_ends(struct sampler *s, int32_t tid)
{
	struct thread_slot *slot = threads_find(s->threads, tid);

	if (slot)
		atomic_store(&slot->java_thread, 0);
}

/* --- the scan --------------------------------------------------------------------------------- */

struct scan {
	struct sampler *s;
	uint32_t number; /* of this scan, never 0 */
	bool whole; /* look at what is known, too: tids given to others, threads left without engine */
};

struct scan_dirent {
	uint64_t ino;
	int64_t off;
	uint16_t bytes;
	uint8_t type;
	char name[];
};

static void scan_found(const struct scan *scan, int32_t tid)
{
	struct sampler *s = scan->s;
	struct thread_slot *slot = threads_find(s->threads, tid);

	if (tid == atomic_load(&s->publisher_tid) || tid == atomic_load(&s->names_tid))
		return;
	if (!slot || scan->whole)
		slot = events_thread_starts(s, tid, 0);
	if (slot)
		slot->scan = scan->number;
}

/* scan_tid: a tid from a directory entry, 0 for "." and "..". */
static int32_t scan_tid(const char *name)
{
	int32_t tid = 0;

	for (; *name >= '0' && *name <= '9'; name++)
		tid = tid * 10 + (*name - '0');
	return tid;
}

static bool scan_tasks(const struct scan *scan, int task_fd)
{
	char buffer[8192] __attribute__((aligned(8)));
	long got;

	raw(SYS_lseek, task_fd, 0, SEEK_SET);
	while ((got = raw(SYS_getdents64, task_fd, buffer, sizeof(buffer))) > 0) {
		for (long at = 0; at < got;) {
			struct scan_dirent *entry = (struct scan_dirent *)(void *)(buffer + at);
			int32_t tid = scan_tid(entry->name);

			if (tid)
				scan_found(scan, tid);
			at += entry->bytes;
		}
	}
	return got == 0;
}

/* scan_java: the JVM says that this JavaThread runs on this tid. */
static void scan_java(void *ctx, uint64_t java_thread, int32_t tid)
{
	struct sampler *s = ctx;
	struct thread_slot *slot = threads_find(s->threads, tid);

	if (tid == atomic_load(&s->names_tid))
		return;
	if (slot)
		atomic_store(&slot->java_thread, java_thread);
	else
		events_thread_starts(s, tid, java_thread);
}

void events_scan_java(struct sampler *s)
{
	walk_threads_each(s->thread_layout, &s->mem, scan_java, s);
}

/*
 * scan_gone: retire threads that were not seen and twins of one tid; give away what nothing names.
 */
static void scan_gone(const struct scan *scan, uint64_t flips)
{
	struct threads *threads = scan->s->threads;
	uint32_t high = atomic_load(&threads->high);

	for (uint32_t i = 0; i < high; i++) {
		struct thread_slot *slot = &threads->slots[i];
		int32_t tid = atomic_load(&slot->tid);

		if (!tid)
			continue;
		if (slot->scan == 0)
			slot->scan = scan->number;
		if (!atomic_load(&slot->gone) &&
			(slot->scan != scan->number || threads_find(threads, tid) != slot))
			slot_retire(scan->s, slot);
		if (!atomic_load(&slot->gone) || !slot_disarm(scan->s, slot))
			continue;
		if (!slot->gone_flips)
			slot->gone_flips = flips + 1;
		else if (flips > slot->gone_flips + 1)
			threads_free(threads, slot);
	}
}

void events_scan(struct sampler *s, int task_fd, uint32_t number, uint64_t flips, bool whole)
{
	struct scan scan = {.s = s, .number = number, .whole = whole};

	if (!scan_tasks(&scan, task_fd))
		return; /* /proc failed in the middle: nobody is gone because of that */
	if (s->thread_layout)
		events_scan_java(s);
	scan_gone(&scan, flips);
}
