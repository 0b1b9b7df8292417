/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a session: wait for the predecessor, set up, loop, tear down.
 *
 * The order of the end matters: engines off; handlers and callbacks no longer find the session, and those inside get
 * time to leave; the remaining samples are published, theirs included; the VM-call thread gets time to leave the JVM;
 * the state becomes LEFT; the memfd is closed, and the memory is freed with its last reference. No step waits without
 * bound: an orphaned session ends within three seconds, in any state of the JVM and its threads.
 */
#include "sampler/session/publisher.h"

#include "base/clock.h"
#include "sampler/calls.h"
#include "sampler/contexts.h"
#include "sampler/engine/alloc/alloc.h"
#include "sampler/engine/arms.h"
#include "sampler/engine/borrowed.h"
#include "sampler/engine/collect.h"
#include "sampler/engine/events.h"
#include "sampler/engine/latency.h"
#include "sampler/engine/lock/lock.h"
#include "sampler/jvm/jvm.h"
#include "sampler/publish/publish.h"
#include "sampler/session/epochs.h"
#include "sampler/session/files.h"
#include "sampler/session/headroom.h"
#include "sampler/session/kept.h"
#include "sampler/session/lease.h"
#include "sampler/session/memory.h"
#include "sampler/session/scan.h"
#include "sampler/signal/entry.h"
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"
#include "walk/hotspot/code_cache.h"

#define PUBLISHER_STACK (256u << 10)
#define TICK_NS         (100 * NS_PER_MS)
/* After a command a user waits for its first effect: an event's first samples are published at once. */
#define QUICK_NS       (250 * NS_PER_MS)
#define QUICK_TICK_NS  (10 * NS_PER_MS)
#define SCAN_WHOLE_NS  (2 * NS_PER_S)
#define NAMES_NS       (10 * NS_PER_S)
#define NAMES_SOON_NS  (1 * NS_PER_S)
#define EPOCH_NS       (4 * NS_PER_S)
#define CODE_NS        (1 * NS_PER_S)
#define CODE_SHARE     1000u
#define REMAINING_NS   (300 * NS_PER_MS)
#define PREDECESSOR_NS (10 * NS_PER_S)
#define OPEN_NS        (5 * NS_PER_S)
#define LOCK_NS        (1 * NS_PER_S)
#define DRAIN_NS       (1 * NS_PER_S) /* a handler may lose its core for that long */
#define VM_CALL_NS     (300 * NS_PER_MS)

/* The session that is alive or ending, and its successor. Under session_lock. */
static _Atomic uint32_t session_lock;
static struct sampler *session_now, *session_next;
static _Atomic uint32_t session_ended; /* futex: incremented when a session has left */

/* The lock is held for a few instructions only. False: its holder has been stopped for LOCK_NS. */
static bool sessions_lock(void)
{
	uint64_t end = clock_mono_ns() + LOCK_NS;

	while (atomic_exchange_explicit(&session_lock, 1, memory_order_acquire)) {
		if (clock_mono_ns() > end)
			return false;
		raw_sleep(50000);
	}
	return true;
}

static void sessions_unlock(void)
{
	atomic_store_explicit(&session_lock, 0, memory_order_release);
}

/* Pauses sampling while the front end is parked, or alive without getting a core. */
static void pause_check(struct sampler *s, uint64_t now)
{
	bool parked = atomic_load(&s->shared.control->parked) != 0;
	bool pause = parked || lease_quiet(s, now);

	if (pause == s->paused)
		return;
	s->paused = pause;
	if (pause) {
		s->paused_since_ns = now;
		events_pause(s);
		return;
	}
	atomic_store(&s->beat_ns, now); /* the lease restarts */
	publish_note(s->publish, WIRE_NOTE_GAP, now, s->paused_since_ns, "paused");
	events_resume(s);
}

/* --- a tick ----------------------------------------------------------------------------------- */

static void status_update(struct sampler *s)
{
	struct wire_status *status = s->shared.status;

	for (uint32_t i = 0; i < COUNTER_COUNT; i++)
		atomic_store(&status->counters[i].value, atomic_load(&s->counters.values[i]));
	for (uint32_t i = 0; i < WIRE_EVENTS; i++) {
		atomic_store(&status->events[i].samples, atomic_load(&s->events[i].samples));
		atomic_store(&status->events[i].lost, atomic_load(&s->events[i].lost));
	}
	atomic_store(&s->publisher_cpu_ns, clock_read_ns(CLOCK_THREAD_CPUTIME_ID));
	atomic_store(&status->cost_ns, sampler_cost_ns(s));
	cost_report(&s->cost, status->walk_cost, &status->name_cost);
	atomic_store(
		&status->memory_bytes, sampler_memory(s) + events_memory(s) + epochs_retained());
}

static void publication_announce(struct sampler *s)
{
	status_update(s);
	atomic_fetch_add(&s->shared.status->publish_seq, 1);
	raw_futex_wake(&s->shared.status->publish_seq);
}

/* Scans for threads when their number has changed, once more after new ones, and every two seconds. */
static void poll_threads(struct sampler *s, uint64_t now)
{
	bool whole = now - s->whole_scan_ns >= SCAN_WHOLE_NS;
	struct stat stat = {0};

	if (s->task.fd < 0 || raw(SYS_fstat, s->task.fd, &stat) < 0 || stat.st_ino != s->task.inode)
		return;
	if (!whole && !s->scan_again && stat.st_nlink == s->links)
		return;
	s->links = stat.st_nlink;
	scan_threads(s, whole);
	if (!whole)
		return;
	s->whole_scan_ns = now;
	publish_renamed(s->publish, false);
}

/* Requests names: every ten seconds for renamed threads, every second while a Java thread has none. */
static void request_names(struct sampler *s, uint64_t now)
{
	bool soon = publish_wants_names(s->publish) || s->select.wants_names;
	uint64_t every = soon ? NAMES_SOON_NS : NAMES_NS;

	if (alloc_round_after(s) < every)
		every = alloc_round_after(s);
	if (now - s->names_ns < every || !events_any(s))
		return;
	s->names_ns = now;
	jvm_vm_call_request(s);
	publish_renamed(s->publish, true);
}

/*
 * Reports limitations of virtual threads: on JDK 22 to 24 the boundary between the stack of one and its carrier's is
 * unknown; and, on the lines of the events that poll unmounted ones, why these are not sampled.
 */
static void note_virtuals(struct sampler *s, uint64_t now)
{
	static const uint32_t events[] = {WIRE_WALL, WIRE_LOCK};
	struct virtuals *v = s->virtuals;
	const char *why = atomic_load(&v->unseen);

	if (!v->carrier_reported && atomic_load(&v->any) && s->layout->cont_entry.offset < 0)
		v->carrier_reported = publish_note(s->publish, WIRE_NOTE_TEXT, now, 0,
			"stacks of virtual threads may end below their carrier's frames: this JDK "
			"does not export where those begin");
	for (size_t i = 0; why && i < sizeof(events) / sizeof(events[0]); i++) {
		struct event *event = &s->events[events[i]];
		struct text text = text_into(event->note, sizeof(event->note));

		if (event->note[0])
			continue;
		text_add(&text, "unmounted virtual threads are not sampled: ");
		text_add(&text, why);
		events_note(s, events[i], "");
	}
}

/* Measures the fill level of the code cache, at a rate that costs at most a thousandth of a core. */
static void poll_code_cache(struct sampler *s, uint64_t now)
{
	struct wire_status *status = s->shared.status;
	struct code_fill fill;

	if (!s->layout || now < s->code_due_ns || s->paused)
		return;
	uint64_t start_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	if (code_cache_fill(s->layout, &s->mem, &fill)) {
		atomic_store(&status->code_used, fill.used);
		atomic_store(&status->code_bytes, fill.bytes);
	}
	uint64_t cost_ns = (clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns) * CODE_SHARE;
	s->code_due_ns = now + (cost_ns > CODE_NS ? cost_ns : CODE_NS);
}

/* Disarms threads that must no longer receive signals (collect.h), and stops the process's clock. */
static void collectors_poll(struct sampler *s, bool all)
{
	uint32_t collecting = events_any(s) ? collect_poll(s, all) : 0;

	if (!collecting)
		return;
	process_clock_stop(s);
	if (!s->collect_reported)
		s->collect_reported = publish_note(s->publish, WIRE_NOTE_TEXT, clock_mono_ns(), 0,
			"threads that collect signals, or have their own seccomp filter, are not "
			"signalled: their time is shown as [blocks_signals], without stacks");
}

static void publisher_tick(struct sampler *s, uint64_t now)
{
	atomic_store_explicit(&s->epoch, (uint32_t)(now / EPOCH_NS), memory_order_relaxed);
	calls_poll(s);
	kept_update(s);
	/* A sandbox may be set up at any time. */
	if (!kept_readable(s) && !s->unreadable_reported)
		s->unreadable_reported =
			publish_note(s->publish, WIRE_NOTE_TEXT, now, 0, SIG_MEM_NONE);
	poll_threads(s, now);
	events_check_signal(s, now);
	collectors_poll(s, s->whole_scan_ns == now);
	borrowed_receive_all(s);
	uint64_t refused = sig_refused_consume();
	if (refused) /* timer signals for which no stack was free: signal/entry.c */
		sig_lose(s, WIRE_CPU, COUNTER_NO_STACK, refused);
	arms_count(s, now);
	process_clock_poll(s, now);
	headroom_poll(s, now);
	switches_poll(s, now);
	request_names(s, now);
	renames_tick(s, now);
	note_virtuals(s, now);
	lock_publish(s);
	cycles_poll(s, now);
	poll_code_cache(s, now);
	select_update(s);
	budget_check(s, now, sampler_cost_ns(s));
	contexts_tick(s, now);
	publish_table(s->publish, now, false);
	latency_publish(s);
	publication_announce(s);
}

/* --- from beginning to end -------------------------------------------------------------------- */

static void publisher_loop(struct sampler *s)
{
	uint64_t now = clock_mono_ns(), quick_until = 0, used_ns = 0;
	/* When the next tick and the half-way snapshot before it are due; half == next: there is no snapshot. */
	uint64_t next = now, half = now;

	while (lease_runs(s)) {
		uint32_t seq = atomic_load(&s->shared.control->command_seq);

		lease_check(s, now);
		pause_check(s, now);
		bool commanded = commands_run(s, seq);
		now = clock_mono_ns(); /* both may have waited, and published */
		if (commanded) {
			next = now;
			quick_until = now + QUICK_NS;
			if (s->leave_asked)
				lease_end(s, SAMPLER_DETACH);
		}
		starts_poll(s, now);
		arms_serve(s);
		if (now >= next || atomic_exchange(&s->hurry, 0)) {
			/*
			 * Aligned to tenths of a second since the start, so that each half between two ticks covers a
			 * twentieth of one second.
			 */
			next = now < quick_until ? now + QUICK_TICK_NS
						 : now + TICK_NS - (now - s->start_ns) % TICK_NS;
			publisher_tick(s, now);
			uint64_t before_ns = used_ns;
			used_ns = publish_cpu_at(s->publish);
			/* An idle JVM is not woken for a snapshot: it has used less than a hundredth of a core. */
			half = used_ns - before_ns < TICK_NS / 100 ? next : next - TICK_NS / 2;
		} else if (now >= half && half < next) {
			half = next;
			publish_half_way(s->publish, now);
		}
		now = clock_mono_ns();
		if (lease_runs(s) && now < next) {
			uint64_t due_ns = (half > now ? half : next) - now;
			uint64_t poll_ns = starts_pause(s, now);

			raw_futex_wait(&s->shared.control->command_seq, seq,
				due_ns < poll_ns ? due_ns : poll_ns);
		}
		now = clock_mono_ns();
	}
}

/* Tells the front end, and waiters of the page, that the session has ended. */
static void announce_left(struct sampler *s)
{
	atomic_store(&s->shared.status->left, atomic_load(&s->stop));
	atomic_store(&s->shared.status->agent_state, WIRE_AGENT_LEFT);
	publication_announce(s);
}

/* Publishes the contents of all parts of the table, as long as the front end reads. */
static void publish_remaining(struct sampler *s)
{
	uint64_t end = clock_mono_ns() + REMAINING_NS;

	for (int left = 3; left > 0 && clock_mono_ns() < end;) {
		if (publish_table(s->publish, clock_mono_ns(), false))
			left--;
		else if (atomic_load(&s->stop) == SAMPLER_LEASE)
			break;
		else
			raw_sleep(2 * NS_PER_MS);
	}
	publish_table(s->publish, clock_mono_ns(), true);
	latency_publish(s);
	status_update(s);
	if (atomic_load(&s->stop) == SAMPLER_EXIT)
		announce_left(s);            /* the process may exit before the next step */
	atomic_fetch_add(&session_ended, 1); /* publisher_exit waits for this */
	raw_futex_wake(&session_ended);
}

/*
 * Removes the session from the pointers, so that the next one may begin. This is safe without the lock, too: each
 * pointer is only cleared, and only if it refers to s.
 */
static void sessions_leave(struct sampler *s)
{
	bool locked = sessions_lock();

	if (session_now == s)
		session_now = NULL;
	if (session_next == s)
		session_next = NULL;
	atomic_fetch_add(&session_ended, 1);
	if (locked)
		sessions_unlock();
	raw_futex_wake(&session_ended);
}

/* Releases the resources that publisher_open has created, and the publisher's reference. */
static void publisher_close(struct sampler *s)
{
	if (s->shared.status) /* NULL if the session could not get its memory */
		announce_left(s);
	files_end(s);
	sampler_unshare(s);
	raw_file_close(&s->task);
	sessions_leave(s);
	epochs_release(s);
}

static void publisher_leave(struct sampler *s)
{
	bool exits = atomic_load(&s->stop) == SAMPLER_EXIT;

	debug_info_end(s);
	events_stop_all(s);
	epochs_close(s);
	epochs_drain(s, DRAIN_NS);
	jvm_events_request(0, JVM_REPORTS_ALL, 0);
	jvm_vm_calls_end(s, exits);
	publish_remaining(s);
	events_sweep(s);
	borrowed_close(s);
	if (!exits)
		spawn_await(&s->vm_calls.left, VM_CALL_NS);
	jvm_gate_remove();
	kept_end(s);
	publisher_close(s);
}

/* Waits until the predecessor has left; false when this session is to end before it began. */
static bool sessions_await_turn(struct sampler *s)
{
	uint64_t end = clock_mono_ns() + PREDECESSOR_NS;

	while (lease_runs(s) && clock_mono_ns() < end) {
		uint32_t ended = atomic_load(&session_ended);

		if (!sessions_lock())
			return false;
		bool mine = session_now == s || !session_now;
		if (mine && session_next == s) {
			session_now = s;
			session_next = NULL;
		}
		sessions_unlock();
		if (mine)
			return true;
		raw_futex_wait(&session_ended, ended, TICK_NS);
	}
	return false;
}

/* Creates the descriptors and the memory that the front end waits for. Returns an AGENT_* result. */
static int publisher_open(struct sampler *s)
{
	int result = AGENT_NO_THREAD;

	if (files_begin(s) == 0)
		result = sampler_share(s);
	if (result == AGENT_OK && others_live(s))
		result = AGENT_OTHER;
	return result;
}

static void *publisher_main(void *arg)
{
	struct sampler *s = arg;

	atomic_store(&s->open.opened, 1 + (uint32_t)publisher_open(s));
	raw_futex_wake(&s->open.opened);
	/* Waits for the decision of publisher_start, then for the predecessor. */
	if (!spawn_await(&s->open.go, PREDECESSOR_NS) || !lease_runs(s) ||
		!sessions_await_turn(s) || !epochs_acquire(s)) {
		publisher_close(s);
		return NULL;
	}
	spawn_punctual(); /* polling must be punctual to see short-lived threads */
	setup_session(s);
	atomic_store(&s->beat_ns, clock_mono_ns());
	publisher_loop(s);
	publisher_leave(s);
	return NULL;
}

/* True when the current session must not be replaced. Under sessions_lock. */
static bool sessions_busy(bool replace)
{
	return session_next || (session_now && !replace && lease_runs(session_now) &&
				       !lease_lost(session_now, clock_mono_ns()));
}

/* Makes s the current session, or the successor of the current one. Returns an AGENT_* result. */
static int sessions_enter(struct sampler *s, bool replace)
{
	int result = AGENT_OK;

	if (!sessions_lock())
		return AGENT_BUSY;
	if (sessions_busy(replace))
		result = AGENT_BUSY;
	else if (session_now)
		lease_end(session_now, SAMPLER_DETACH);
	if (result == AGENT_OK)
		*(session_now ? &session_next : &session_now) = s;
	sessions_unlock();
	return result;
}

int publisher_start(struct sampler *s, bool replace)
{
	uint32_t ended = atomic_load(&session_ended);
	bool before = session_now != NULL, locked = sessions_lock();
	bool busy = !locked || sessions_busy(replace);

	if (locked)
		sessions_unlock();
	/* Checked before shared memory exists that the front end would mistake for the live session's. */
	if (busy) {
		sampler_free(s);
		return AGENT_BUSY;
	}
	atomic_fetch_add(&s->references, 1);
	if (spawn(&(struct spawn){
		    PUBLISHER_NAME, PUBLISHER_STACK, publisher_main, s, &s->publisher_tid})) {
		sampler_free(s);
		return AGENT_NO_THREAD;
	}
	uint32_t opened = spawn_await(&s->open.opened, OPEN_NS);
	int result =
		opened ? (int)opened - 1 : AGENT_NO_THREAD; /* 0: the publisher does not answer */
	/* The memory seen may have belonged to a session of this agent, which is handled below. */
	if (result == AGENT_OTHER && (before || ended != atomic_load(&session_ended)))
		result = AGENT_OK;
	if (result == AGENT_OK)
		result = sessions_enter(s, replace);
	if (result != AGENT_OK)
		lease_end(s, SAMPLER_DETACH);
	atomic_store(&s->open.go, 1);
	raw_futex_wake(&s->open.go);
	epochs_release(s);
	return result;
}

/* Called by exit(), in the target or in a child of it that did not exec. */
static void publisher_exit(void *pid)
{
	uint64_t end = clock_mono_ns() + REMAINING_NS;

	if ((long)pid != raw(SYS_getpid) || !sessions_lock())
		return;
	uint32_t ended = atomic_load(&session_ended);
	bool runs = session_now != NULL;
	if (runs)
		lease_end(session_now, SAMPLER_EXIT);
	if (session_next)
		lease_end(session_next, SAMPLER_EXIT);
	sessions_unlock();
	while (runs && atomic_load(&session_ended) == ended && clock_mono_ns() < end)
		raw_futex_wait(&session_ended, ended, TICK_NS);
}

/* The basis of atexit; the agent has no start files to provide that. */
extern int __cxa_atexit(void (*function)(void *), void *argument, void *object);

void publisher_at_exit(void)
{
	static bool done;

	if (!done)
		done = __cxa_atexit(publisher_exit, (void *)raw(SYS_getpid), NULL) == 0;
}
