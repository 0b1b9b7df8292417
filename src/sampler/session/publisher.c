/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One session's life: wait for the one before, set up, loop, take down.
 *
 * The order of the end matters: engines off; no handler or callback can find the session any more, and
 * those that had found it get the time to leave; what is left is published, their samples with it; the visiting
 * thread gets the time to leave the JVM; the state is LEFT; the memfd goes, and the memory
 * with the last who holds it. Nothing of this waits without bound: a session whose front end is gone ends within three
 * seconds, whatever the JVM and its threads do.
 */
#include "sampler/session/publisher.h"

#include "base/clock.h"
#include "sampler/calls.h"
#include "sampler/engine/alloc/alloc.h"
#include "sampler/engine/arms.h"
#include "sampler/engine/collect.h"
#include "sampler/engine/events.h"
#include "sampler/engine/lent.h"
#include "sampler/engine/lock/lock.h"
#include "sampler/jvm/jvm.h"
#include "sampler/publish/publish.h"
#include "sampler/session/files.h"
#include "sampler/session/headroom.h"
#include "sampler/session/kept.h"
#include "sampler/session/lease.h"
#include "sampler/session/memory.h"
#include "sampler/session/rooms.h"
#include "sampler/session/scan.h"
#include "sampler/signal/entry.h"
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"
#include "sampler/task.h"
#include "walk/hotspot/code_cache.h"

#define PUBLISHER_STACK (256u << 10)
#define TICK_NS         (100 * NS_PER_MS)
/* After a command somebody waits for its first effect: an event's first samples are out at once. */
#define QUICK_NS       (250 * NS_PER_MS)
#define QUICK_TICK_NS  (10 * NS_PER_MS)
#define SCAN_WHOLE_NS  (2 * NS_PER_S)
#define NAMES_NS       (10 * NS_PER_S)
#define NAMES_SOON_NS  (1 * NS_PER_S)
#define EPOCH_NS       (4 * NS_PER_S)
#define CODE_NS        (1 * NS_PER_S)
#define CODE_SHARE     1000u
#define LAST_WORDS_NS  (300 * NS_PER_MS)
#define PREDECESSOR_NS (10 * NS_PER_S)
#define OPEN_NS        (5 * NS_PER_S)
#define LOCK_NS        (1 * NS_PER_S)
#define DRAIN_NS       (1 * NS_PER_S) /* a handler may have lost its core for that long */
#define VISITOR_NS     (300 * NS_PER_MS)

/* The session that is alive or ending, and the one that waits for it. Under session_lock. */
static _Atomic uint32_t session_lock;
static struct sampler *session_now, *session_next;
static _Atomic uint32_t session_ended; /* futex: moves when a session has left */

/* sessions_lock: whoever has the lock holds it for some instructions. false: it has been stopped there for LOCK_NS. */
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

/* pause_check: nothing is sampled for a front end that is parked, or lives but does not get to run. */
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
	atomic_store(&s->beat_ns, now); /* the lease counts anew */
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
	atomic_store(&status->memory_bytes, sampler_memory(s) + events_memory(s) + rooms_kept());
}

static void publication_announce(struct sampler *s)
{
	status_update(s);
	atomic_fetch_add(&s->shared.status->publish_seq, 1);
	raw_futex_wake(&s->shared.status->publish_seq);
}

/* look_for_threads: when the number of threads moved, once more after new ones, or every two seconds. */
static void look_for_threads(struct sampler *s, uint64_t now)
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

/* ask_names: now and then for names that have changed, soon when a Java thread has none. */
static void ask_names(struct sampler *s, uint64_t now)
{
	bool soon = publish_wants_names(s->publish) || s->select.wants_names;
	uint64_t every = soon ? NAMES_SOON_NS : NAMES_NS;

	if (alloc_round_after(s) < every)
		every = alloc_round_after(s);
	if (now - s->names_ns < every || !events_any(s))
		return;
	s->names_ns = now;
	jvm_visit_ask(s);
	publish_renamed(s->publish, true);
}

/* pause_length: how long nothing has to be done. */
static uint64_t pause_length(struct sampler *s, uint64_t now, uint64_t next)
{
	uint64_t left = next - now, look = starts_pause(s, now);

	return left < look ? left : look;
}

/* memory_keep: the JVM's memory can still be read; a sandbox may come at any time. */
static void memory_keep(struct sampler *s, uint64_t now)
{
	kept_update(s);
	if (kept_readable(s) || s->unreadable_said)
		return;
	s->unreadable_said = publish_note(s->publish, WIRE_NOTE_TEXT, now, 0, SIG_MEM_NONE);
}

/* carrier_note: on JDK 22 to 24 nothing tells where a virtual thread's stack ends and its carrier's begins. */
static void carrier_note(struct sampler *s, uint64_t now)
{
	struct virtuals *v = s->virtuals;

	if (v->carrier_said || !atomic_load(&v->any) || s->layout->cont_entry.offset >= 0)
		return;
	v->carrier_said = publish_note(s->publish, WIRE_NOTE_TEXT, now, 0,
		"stacks of virtual threads may end below what carries them: this JDK does not say "
		"where that is");
}

/* unseen_note: why those without a carrier are not seen, on the line of the events that would see them. */
static void unseen_note(struct sampler *s)
{
	static const uint32_t events[] = {WIRE_WALL, WIRE_LOCK};
	const char *why = atomic_load(&s->virtuals->unseen);

	for (size_t i = 0; why && i < sizeof(events) / sizeof(events[0]); i++) {
		struct event *event = &s->events[events[i]];
		struct text text = text_into(event->note, sizeof(event->note));

		if (event->note[0])
			continue;
		text_add(&text, "virtual threads without a carrier are not seen: ");
		text_add(&text, why);
		events_note(s, events[i], "");
	}
}

/* code_look: how full the code cache is, so seldom that it takes a thousandth of a core. */
static void code_look(struct sampler *s, uint64_t now)
{
	struct wire_status *status = s->shared.status;
	uint64_t start_ns, cost_ns;
	struct code_fill fill;

	if (!s->layout || now < s->code_due_ns || s->paused)
		return;
	start_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	if (code_cache_fill(s->layout, &s->mem, &fill)) {
		atomic_store(&status->code_used, fill.used);
		atomic_store(&status->code_bytes, fill.bytes);
	}
	cost_ns = (clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns) * CODE_SHARE;
	s->code_due_ns = now + (cost_ns > CODE_NS ? cost_ns : CODE_NS);
}

/* collectors_look: takes engines off threads that must not get signals any more (collect.h), and turns the process's clock off. */
static void collectors_look(struct sampler *s, bool all)
{
	uint32_t collecting = events_any(s) ? collect_look(s, all) : 0;

	if (!collecting)
		return;
	process_clock_stop(s);
	if (!s->collect_said)
		s->collect_said = publish_note(s->publish, WIRE_NOTE_TEXT, clock_mono_ns(), 0,
			"threads that collect signals, or have a seccomp filter of their own, get "
			"no "
			"signals: their time is shown as [blocks_signals], without stacks");
}

/* refused_count: timers' signals for which no stack was free (signal/entry.c). */
static void refused_count(struct sampler *s)
{
	uint64_t refused = sig_refused_take();

	if (refused)
		sig_lose(s, WIRE_CPU, COUNTER_NO_STACK, refused);
}

static void publisher_tick(struct sampler *s, uint64_t now)
{
	atomic_store_explicit(&s->epoch, (uint32_t)(now / EPOCH_NS), memory_order_relaxed);
	calls_look(s);
	memory_keep(s, now);
	look_for_threads(s, now);
	events_check_signal(s, now);
	collectors_look(s, s->whole_scan_ns == now);
	lent_take(s);
	refused_count(s);
	arms_count(s, now);
	process_clock_look(s, now);
	headroom_look(s, now);
	switches_look(s, now);
	ask_names(s, now);
	renames_tick(s, now);
	carrier_note(s, now);
	unseen_note(s);
	lock_publish(s);
	circles_look(s, now);
	code_look(s, now);
	alloc_publish(s);
	select_update(s);
	budget_check(s, now, sampler_cost_ns(s));
	publish_table(s->publish, now, false);
	publication_announce(s);
}

/* --- from beginning to end -------------------------------------------------------------------- */

/*
 * tick_after: by the beat of the seconds since the start, so that what was sampled by half way between two is of a
 * twentieth of one second.
 */
static uint64_t tick_after(const struct sampler *s, uint64_t now, bool quick)
{
	return quick ? now + QUICK_TICK_NS : now + TICK_NS - (now - s->start_ns) % TICK_NS;
}

/*
 * half_before: when to look between the publication that has just been and the next; there itself where the process had
 * used less than a hundredth of a core since the one before: an idle JVM is not woken up for it.
 */
static uint64_t half_before(const struct sampler *s, uint64_t next, uint64_t *used_ns)
{
	uint64_t before = *used_ns;

	*used_ns = publish_cpu_at(s->publish);
	return *used_ns - before < TICK_NS / 100 ? next : next - TICK_NS / 2;
}

static void publisher_loop(struct sampler *s)
{
	uint64_t now = clock_mono_ns(), next = now, half = now, quick_until = 0, used_ns = 0;

	while (lease_runs(s)) {
		uint32_t seq = atomic_load(&s->shared.control->command_seq);
		bool commanded;

		lease_check(s, now);
		pause_check(s, now);
		commanded = commands_run(s, seq);
		now = clock_mono_ns(); /* both may have waited and published meanwhile */
		if (commanded) {
			next = now;
			quick_until = now + QUICK_NS;
			if (s->leave_asked)
				lease_end(s, SAMPLER_DETACH);
		}
		starts_look(s, now);
		arms_answer(s);
		if (now >= next || atomic_exchange(&s->hurry, 0)) {
			next = tick_after(s, now, now < quick_until);
			publisher_tick(s, now);
			half = half_before(s, next, &used_ns);
		} else if (now >= half && half < next) {
			half = next;
			publish_half_way(s->publish, now);
		}
		now = clock_mono_ns();
		if (lease_runs(s) && now < next)
			raw_futex_wait(&s->shared.control->command_seq, seq,
				pause_length(s, now, half > now ? half : next));
		now = clock_mono_ns();
	}
}

static void left_announce(struct sampler *s)
{
	atomic_store(&s->shared.status->left, atomic_load(&s->stop));
	atomic_store(&s->shared.status->agent_state, WIRE_AGENT_LEFT);
	publication_announce(s);
}

/* last_words: publish what all halves hold, as long as somebody reads. */
static void last_words(struct sampler *s)
{
	uint64_t end = clock_mono_ns() + LAST_WORDS_NS;

	for (int left = 3; left > 0 && clock_mono_ns() < end;) {
		if (publish_table(s->publish, clock_mono_ns(), false))
			left--;
		else if (atomic_load(&s->stop) == SAMPLER_LEASE)
			break;
		else
			raw_sleep(2 * NS_PER_MS);
	}
	publish_table(s->publish, clock_mono_ns(), true);
	status_update(s);
	if (atomic_load(&s->stop) == SAMPLER_EXIT)
		left_announce(s);            /* what follows may not come to its end any more */
	atomic_fetch_add(&session_ended, 1); /* publisher_exit waits for the last words */
	raw_futex_wake(&session_ended);
}

/*
 * sessions_leave: the next session may begin when this one has nothing in its way any more. Without the lock the pointers are
 * cleared one by one, which is all that is done to them here.
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

static void visitor_leaves(struct sampler *s, bool exits)
{
	uint64_t now = clock_mono_ns(), end = now + VISITOR_NS;

	for (; !exits && !atomic_load(&s->visits.left) && now < end; now = clock_mono_ns())
		raw_futex_wait(&s->visits.left, 0, end - now);
}

/* publisher_close: what the session has had from its beginning. */
static void publisher_close(struct sampler *s)
{
	if (s->shared.status) /* none if the session could not get its memory */
		left_announce(s);
	files_end(s);
	sampler_unshare(s);
	files_close(&s->task);
	sessions_leave(s);
	rooms_let_go(s);
}

static void publisher_leave(struct sampler *s)
{
	bool exits = atomic_load(&s->stop) == SAMPLER_EXIT;

	debug_info_end(s);
	events_stop_all(s);
	rooms_close(s);
	rooms_drain(s, DRAIN_NS);
	jvm_events_want(0, JVM_TELLS_ALL, 0);
	jvm_visits_leave(s, exits);
	last_words(s);
	events_sweep(s);
	lent_close(s);
	visitor_leaves(s, exits);
	jvm_gate_take_away();
	kept_end(s);
	publisher_close(s);
}

/*
 * sessions_turn: wait until the session before has left; false when this one is to end before it
 * began.
 */
static bool sessions_turn(struct sampler *s)
{
	uint64_t end = clock_mono_ns() + PREDECESSOR_NS;

	while (lease_runs(s) && clock_mono_ns() < end) {
		uint32_t ended = atomic_load(&session_ended);
		bool mine;

		if (!sessions_lock())
			return false;
		mine = session_now == s || !session_now;
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

/* publisher_open: descriptors and the memory that the front end waits for. An AGENT_* result. */
static int publisher_open(struct sampler *s)
{
	int result = AGENT_NO_THREAD;

	if (files_begin(s) == 0)
		result = sampler_share(s);
	if (result == AGENT_OK && others_live(s))
		result = AGENT_OTHER;
	return result;
}

/* admitted: waits for publisher_start's decision. */
static bool admitted(struct sampler *s)
{
	uint64_t now = clock_mono_ns(), end = now + PREDECESSOR_NS;

	for (; !atomic_load(&s->open.go) && now < end; now = clock_mono_ns())
		raw_futex_wait(&s->open.go, 0, end - now);
	return atomic_load(&s->open.go) && lease_runs(s);
}

static void *publisher_main(void *arg)
{
	struct sampler *s = arg;

	atomic_store(&s->open.opened, 1 + (uint32_t)publisher_open(s));
	raw_futex_wake(&s->open.opened);
	if (!admitted(s) || !sessions_turn(s) || !rooms_take(s)) {
		publisher_close(s);
		return NULL;
	}
	spawn_punctual(); /* threads that live for a moment are seen if it looks just then */
	setup_session(s);
	atomic_store(&s->beat_ns, clock_mono_ns());
	publisher_loop(s);
	publisher_leave(s);
	return NULL;
}

/* opened: what the publisher has made of it; AGENT_NO_THREAD if it does not answer. */
static int opened(struct sampler *s)
{
	uint64_t now = clock_mono_ns(), end = now + OPEN_NS;

	for (; !atomic_load(&s->open.opened) && now < end; now = clock_mono_ns())
		raw_futex_wait(&s->open.opened, 0, end - now);
	return atomic_load(&s->open.opened) ? (int)atomic_load(&s->open.opened) - 1
					    : AGENT_NO_THREAD;
}

/* sessions_busy: true when a session must not be replaced. Under sessions_lock. */
static bool sessions_busy(bool take)
{
	return session_next || (session_now && !take && lease_runs(session_now) &&
				       !lease_lost(session_now, clock_mono_ns()));
}

/* sessions_enter: makes it the session, or the next one. An AGENT_* result. */
static int sessions_enter(struct sampler *s, bool take)
{
	int result = AGENT_OK;

	if (!sessions_lock())
		return AGENT_BUSY;
	if (sessions_busy(take))
		result = AGENT_BUSY;
	else if (session_now)
		lease_end(session_now, SAMPLER_DETACH);
	if (result == AGENT_OK)
		*(session_now ? &session_next : &session_now) = s;
	sessions_unlock();
	return result;
}

int publisher_start(struct sampler *s, bool take)
{
	uint32_t ended = atomic_load(&session_ended);
	bool before = session_now != NULL, locked = sessions_lock();
	bool busy = !locked || sessions_busy(take);
	int result;

	if (locked)
		sessions_unlock();
	/* Here already, before there is shared memory that the front end would mistake for the living session's. */
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
	result = opened(s);
	/* What was seen may have been a session of this agent, which is another matter. */
	if (result == AGENT_OTHER && (before || ended != atomic_load(&session_ended)))
		result = AGENT_OK;
	if (result == AGENT_OK)
		result = sessions_enter(s, take);
	if (result != AGENT_OK)
		lease_end(s, SAMPLER_DETACH);
	atomic_store(&s->open.go, 1);
	raw_futex_wake(&s->open.go);
	rooms_let_go(s);
	return result;
}

/* publisher_exit: called by exit(), in the target or in a child of it that did not exec. */
static void publisher_exit(void *pid)
{
	uint64_t end = clock_mono_ns() + LAST_WORDS_NS;
	uint32_t ended;
	bool runs;

	if ((long)pid != raw(SYS_getpid) || !sessions_lock())
		return;
	ended = atomic_load(&session_ended);
	runs = session_now != NULL;
	if (runs)
		lease_end(session_now, SAMPLER_EXIT);
	if (session_next)
		lease_end(session_next, SAMPLER_EXIT);
	sessions_unlock();
	while (runs && atomic_load(&session_ended) == ended && clock_mono_ns() < end)
		raw_futex_wait(&session_ended, ended, TICK_NS);
}

/* What atexit is made of; the agent has no start files that would bring it along. */
extern int __cxa_atexit(void (*function)(void *), void *argument, void *object);

void publisher_at_exit(void)
{
	static bool done;

	if (!done)
		done = __cxa_atexit(publisher_exit, (void *)raw(SYS_getpid), NULL) == 0;
}
