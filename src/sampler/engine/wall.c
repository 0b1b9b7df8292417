/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wall clock: polls every thread once per interval, whether it runs or not.
 *
 * A thread of the agent polls the others in rounds. A thread that has not run since its last sample, except to go back
 * to sleep after that, is still where it was: its trace counts again, without a signal. Any other thread is asked for a
 * sample: the ns that the sample is to represent and the thread's state are stored in its slot, and a signal makes its
 * handler walk the stack.
 *
 * Most threads of a large process rest. The longer one has rested, the less often it is polled.
 *
 * A sample represents all the time since the thread's last one, so a round that takes longer than the interval, because
 * there are many threads, loses nothing.
 */

#include "sampler/engine/wall.h"
#include "base/clock.h"
#include "sampler/engine/arms.h"
#include "sampler/engine/ask.h"
#include "sampler/engine/latency.h"
#include "sampler/engine/lock/wait.h"
#include "sampler/publish/publish.h"
#include "sampler/session/epochs.h"
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"
#include "sampler/task.h"
#include "sampler/text.h"
#include "walk/hotspot/layout.h"

#include <errno.h>

#define WALL_STACK      (128u << 10)
#define WALL_TICK_NS    (10 * NS_PER_MS)
#define WALL_POLLS      100u   /* threads polled per tick at most */
#define WALL_SIGNALS    16u    /* threads signalled per tick at most */
#define WALL_HANDLER_NS 60000u /* upper bound of the CPU time of returning from a handler */
/* After this a thread that does not answer is [unknown]. */
#define WALL_PATIENCE_NS  (500 * NS_PER_MS)
#define WALL_NEVER_ASLEEP 32 /* polls since it was last found asleep */
#define WALL_STARVED_NS   (5 * NS_PER_MS)
#define WALL_ROWS_NS      (1 * NS_PER_S)
#define WALL_BEGIN_NS     (600 * NS_PER_MS)
#define WALL_QUIET_NS     (60 * NS_PER_MS)
/* With more threads than this, those at rest are polled less often: see round_due. */
#define WALL_EVERY     50u
#define WALL_REST_PART 16u

_Static_assert(WALL_IN_FUTEX == TASK_IN_FUTEX, "the state goes through as it is");

/* --- one thread ------------------------------------------------------------------------------- */

/* The result of a poll: the sample's state and weight, and what remains for later samples. */
struct poll {
	uint32_t state;
	uint64_t weight;
	struct thread_wall_share left;
};

/*
 * The weight of a poll that finds the thread awake, in ns. Sleep time is attributed to polls that find the thread
 * asleep; if none has for WALL_NEVER_ASLEEP polls, it is added here. The kernel counts a wait when it is over, so
 * `wanted` may be 0, which is replaced by 1: a weight of 0 requests nothing.
 */
static uint64_t poll_runnable(struct poll *poll, uint64_t wanted, uint64_t since)
{
	wanted += !wanted;
	poll->left.slept_ns += (int64_t)since - (int64_t)wanted;
	if (poll->left.slept_ns < (int64_t)since * WALL_NEVER_ASLEEP)
		return wanted;
	wanted += (uint64_t)poll->left.slept_ns;
	poll->left.slept_ns = 0;
	return wanted;
}

/*
 * Sets *awake to the ns for which the thread has run or waited for a core and which no sample accounts for yet, and
 * accounts for them in *left. *runnable: true if their sample is to show the thread waiting for a core. Returns false if
 * the kernel does not report the wait; *left is unchanged then.
 */
static bool share_awake(struct sampler *s, const struct thread_slot *slot, uint64_t cpu,
	struct thread_wall_share *left, uint64_t *awake, bool *runnable)
{
	uint64_t delay, ran = cpu - left->cpu_ns;

	if (!task_delay_ns(s->task.fd, sampler_task(s, slot), &delay))
		return false;
	*awake = ran + delay - left->delay_ns;
	left->cpu_ns = cpu;
	left->delay_ns = delay;
	left->ran_ns += (int64_t)ran;
	*runnable = 2 * left->ran_ns < (int64_t)*awake;
	return true;
}

/*
 * The thread runs or waits for a core. The kernel counts the time of both; their sum since the last such poll is this
 * sample's weight. For the rest of the time since the last poll the thread slept, which is attributed to polls that
 * find it asleep. (Weights by state alone would be biased towards running: the polling thread takes a core from threads
 * that want one.)
 */
static void poll_share(struct sampler *s, const struct thread_slot *slot, uint64_t cpu,
	uint64_t since, struct poll *poll)
{
	bool begins = !poll->left.cpu_ns, runnable;
	int64_t ran_ns = poll->left.ran_ns;
	uint64_t awake;

	poll->state = WIRE_STATE_ON_CPU;
	poll->weight = since;
	if (!share_awake(s, slot, cpu, &poll->left, &awake, &runnable))
		return;
	if (begins && awake > since) { /* not a new thread, but one not seen before */
		poll->left.ran_ns = ran_ns;
		return;
	}
	if (runnable)
		poll->state = WIRE_STATE_RUNNABLE;
	else
		poll->left.ran_ns -= (int64_t)awake;
	poll->weight = poll_runnable(poll, awake, since);
}

/*
 * Accounts for time awake that no poll has seen: the thread sleeps, but has run since the last poll. The time is
 * attributed to the stack with which the thread was last found awake. Most polls find a thread asleep that works
 * briefly and rarely; on a busy machine all of them may, since the polling thread gets a core when others sleep.
 */
static void poll_missed(struct sampler *s, struct thread_slot *slot, uint64_t cpu)
{
	struct thread_wall *wall = &slot->wall;
	struct thread_wall_share left = wall->share;
	struct trace_key key = {.thread = slot->id, .event = WIRE_WALL};
	uint64_t hashes[] = {atomic_load(&wall->awake[0]), atomic_load(&wall->awake[1])}, awake;
	bool runnable;

	if (!left.cpu_ns || cpu - left.cpu_ns < WALL_HANDLER_NS || !(hashes[0] | hashes[1]) ||
		!share_awake(s, slot, cpu, &left, &awake, &runnable))
		return;
	if (!hashes[runnable])
		runnable = !runnable;
	if (!trace_table_again(s->table, hashes[runnable], &key, 0, awake))
		return;
	left.ran_ns -= runnable ? 0 : (int64_t)awake;
	left.slept_ns -= (int64_t)awake;
	wall->share = left;
	sig_hurry(s);
}

/*
 * The weight of a poll that finds the thread asleep: the time since the last poll, plus the sleep time that polls which
 * found it awake did not record, minus their excess.
 */
static uint64_t poll_asleep(struct thread_wall_share *left, uint64_t since)
{
	int64_t slept = left->slept_ns + (int64_t)since;
	uint64_t weight = slept > 0 ? (uint64_t)slept : 1;

	left->slept_ns = slept - (int64_t)weight;
	return weight;
}

static void poll_classify(struct sampler *s, struct thread_slot *slot, uint64_t cpu, uint64_t ran,
	uint64_t since, struct poll *poll)
{
	struct task_call call;

	poll->state = ran >= since / 10 * 9
			      ? TASK_RUNS
			      : task_state_call(s->task.fd, sampler_task(s, slot), &call);
	if (poll->state == TASK_RUNS) {
		poll_share(s, slot, cpu, since, poll);
		return;
	}
	poll_missed(s, slot, cpu);
	poll->left = slot->wall.share;
	if (poll->state == WIRE_STATE_IO)
		wall_io_note(s, slot, &call);
	if (poll->state == TASK_UNKNOWN)
		poll->state = WALL_IN_FUTEX;
	poll->weight = poll_asleep(&poll->left, since);
}

/* Requests a sample of this weight from the thread's own handler. Returns false if the signal could not be sent. */
static bool wall_ask(struct sampler *s, struct thread_slot *slot, uint64_t weight, uint32_t state)
{
	struct thread_wall *wall = &slot->wall;
	uint64_t owed = atomic_exchange(&wall->owed, 0);

	atomic_store(&wall->hash, 0);
	atomic_store(&wall->state, state);
	atomic_store(&slot->asked[THREADS_ASK_WALL], weight + owed);
	if (ask_signal(s, slot, WIRE_WALL)) {
		wall->answered = true;
		atomic_fetch_add(&s->wall.signals, 1);
		return true;
	}
	if (atomic_load(&slot->collect.refused)) {
		ask_unanswered(s, slot, THREADS_ASK_WALL, WIRE_WALL, state);
		return true;
	}
	/* unless a handler that was running anyway consumed it */
	if (atomic_exchange(&slot->asked[THREADS_ASK_WALL], 0))
		atomic_fetch_add(&wall->owed, owed);
	return false;
}

/* True when the thread is runnable without a core: it will answer as soon as it has one. */
static bool wall_starves(struct sampler *s, struct thread_slot *slot, uint64_t cpu)
{
	return cpu - slot->wall.seen_cpu_ns < WALL_STARVED_NS &&
	       task_state(s->task.fd, sampler_task(s, slot)) == TASK_RUNS;
}

/*
 * True when the thread's stack may have become walkable since its last sample. The front end sends unwind rows one
 * module after the other: a broken stack is walked again after each module, any other stack once, when no more rows
 * arrive.
 */
static bool wall_walkable(struct sampler *s, const struct thread_wall *wall, uint64_t now)
{
	return atomic_load(&wall->rows) != s->wall.rows &&
	       (atomic_load(&wall->flaw) || now - s->wall.rows_ns > WALL_ROWS_NS);
}

/*
 * True when the thread is where it was at its last sample: it has not run since or, if a handler took that sample, has
 * only gone back to sleep. The kernel counts sleeps; anything the thread was woken for at that moment would take more
 * CPU time.
 */
static bool wall_rests(struct sampler *s, struct thread_slot *slot, uint64_t cpu)
{
	struct thread_wall *wall = &slot->wall;
	uint64_t used = cpu - atomic_load(&wall->cpu_ns), usual = s->wall.back_ns, sleeps;

	if (cpu == wall->seen_cpu_ns)
		return true;
	if (!wall->answered || used >= WALL_HANDLER_NS ||
		!task_sleeps(s->task.fd, sampler_task(s, slot), &sleeps) ||
		sleeps != atomic_load(&wall->sleeps) + 1)
		return false;
	/* A running average of the CPU time that returning to sleep takes on this machine. */
	s->wall.back_ns = (usual * 15 + (used < 4 * usual ? used : 4 * usual)) / 16;
	return used < 3 * usual;
}

/*
 * True when the thread was notified in Object.wait and waits for the monitor now. It does not run to do so, so its CPU
 * time does not advance. It must run to enter Object.wait, so a thread that rests outside of it is not examined again.
 */
static bool wall_enters_again(
	struct sampler *s, struct lock_reader *reader, struct thread_slot *slot, bool ran)
{
	uint64_t java = atomic_load(&slot->java_thread);

	if (ran || slot->wall.in_wait)
		slot->wall.in_wait =
			java && s->layout && layout_load(&s->layout->thread_waiting, &s->mem, java);
	return slot->wall.in_wait && java &&
	       walk_thread_tid(s->layout, &s->mem, java) == atomic_load(&slot->tid) &&
	       lock_wait_monitor(reader, java);
}

/* Counts the thread's last stack once more. Returns false if it may have changed. */
static bool wall_again(struct sampler *s, struct thread_slot *slot, uint64_t cpu, uint64_t since)
{
	struct thread_wall *wall = &slot->wall;
	uint64_t hash = atomic_load_explicit(&wall->hash, memory_order_acquire);
	struct trace_key key = {.thread = slot->id, .event = WIRE_WALL};
	struct thread_wall_share left = wall->share;

	if (!hash || !wall_rests(s, slot, cpu))
		return false;
	wall->answered = false;
	wall->seen_cpu_ns = cpu;
	if (!trace_table_again(s->table, hash, &key, 1, poll_asleep(&left, since)))
		return false;
	wall->share = left;
	atomic_fetch_add(&s->events[WIRE_WALL].samples, 1);
	if (atomic_load(&wall->flaw))
		counters_add(&s->counters, atomic_load(&wall->flaw), 1);
	sig_hurry(s);
	return true;
}

/* Polls one thread, unless its last poll is less than `least` ns ago. Returns true if a signal was sent. */
static bool wall_poll_thread(struct sampler *s, struct lock_reader *reader,
	struct thread_slot *slot, uint64_t now, uint64_t least)
{
	struct thread_wall *wall = &slot->wall;
	uint64_t cpu;
	struct poll poll;

	if (!wall->last_ns)
		wall->last_ns = now - s->wall.cycle_ns;
	uint64_t since = now - wall->last_ns;
	if (since < least)
		return false;
	if (!task_cpu_ns(atomic_load(&slot->tid), &cpu)) {
		latency_ended(s, slot, now);
		return false;
	}
	latency_collect(s, slot, now);
	if (atomic_load(&slot->asked[THREADS_ASK_WALL])) {
		if (now - wall->asked_ns > WALL_PATIENCE_NS && !wall_starves(s, slot, cpu))
			ask_unanswered(
				s, slot, THREADS_ASK_WALL, WIRE_WALL, atomic_load(&wall->state));
		return false; /* the unanswered time is part of the next sample */
	}
	bool enters_again = wall_enters_again(s, reader, slot, cpu != wall->seen_cpu_ns);
	if (enters_again == atomic_load(&wall->enters_again) && !wall_walkable(s, wall, now) &&
		wall_again(s, slot, cpu, since)) {
		latency_rested(s, slot, now);
		wall->last_ns = now;
		wall->rest_ns += since;
		return false;
	}
	wall->rest_ns = 0;
	poll.left = wall->share;
	poll_classify(s, slot, cpu, wall->seen_cpu_ns ? cpu - wall->seen_cpu_ns : 0, since, &poll);
	wall->seen_cpu_ns = cpu;
	wall->asked_ns = now;
	atomic_store(&wall->enters_again, enters_again);
	latency_asked(s, slot, cpu, poll.left.delay_ns, now);
	if (!wall_ask(s, slot, poll.weight, poll.state))
		return false;
	wall->share = poll.left;
	wall->last_ns = now;
	return true;
}

static bool wall_selects(const struct thread_slot *slot)
{
	return atomic_load(&slot->tid) && !atomic_load(&slot->gone) &&
	       !atomic_load(&slot->unselected);
}

/* --- the round -------------------------------------------------------------------------------- */

struct round {
	uint64_t tick_ns, began_ns;
	uint64_t next_ns; /* when the next round begins */
	struct pace pace;
	struct lock_reader reader;
	/* Number of threads, and of those that did not rest: in the last round, and in this one up to now. */
	struct round_threads {
		uint32_t listed, active;
	} last, now;
};

/*
 * True when the thread is to be polled in this round. In a process with many threads, the time between polls of a
 * thread at rest is a fraction of its rest, so that the end of the rest is known to within 6 %. (CPU time and run-queue
 * delay are exact anyway: the kernel counts them.)
 */
static bool round_due(const struct round *round, const struct thread_wall *wall, uint64_t now)
{
	uint64_t longest = wall_round_longest(round->last.listed);
	uint64_t gap = round->last.listed > WALL_EVERY ? wall->rest_ns / WALL_REST_PART : 0;

	return now - wall->last_ns >= (gap < longest ? gap : longest);
}

/* The next thread; NULL at the end of the round. */
static struct thread_slot *round_next(struct sampler *s, struct round *round)
{
	uint32_t high = atomic_load(&s->threads->high);

	while (s->wall.cursor < high) {
		struct thread_slot *slot = &s->threads->slots[s->wall.cursor++];

		if (wall_selects(slot)) {
			round->now.listed++;
			return slot;
		}
	}
	return NULL;
}

/*
 * Begins the next round if it is due. Rounds are an interval apart on average, with random jitter: polls in step with a
 * periodic program would be biased.
 */
static bool round_end(struct sampler *s, struct round *round, uint64_t now)
{
	uint64_t interval = atomic_load(&s->events[WIRE_WALL].interval);

	if (now < round->next_ns)
		return false;
	/* Too many threads: start the next round immediately. */
	if (round->next_ns + interval < now)
		round->next_ns = now;
	round->next_ns += interval / 2 + arms_random(interval);
	s->wall.cycle_ns = now - round->began_ns;
	round->began_ns = now;
	atomic_store(&s->wall.active, round->now.active);
	round->last = round->now;
	round->now = (struct round_threads){0};
	s->wall.cursor = 0;
	return true;
}

/* Threads to visit per tick, so that the shortest round covers all. */
static uint32_t round_share(struct sampler *s, const struct round *round)
{
	uint64_t interval = atomic_load(&s->events[WIRE_WALL].interval);

	return (uint32_t)((2 * round->last.listed * round->tick_ns + interval - 1) / interval + 1);
}

/*
 * True while unwind rows are still arriving at the start of a session. Samples taken slightly later lose no time, and
 * their stacks can be walked.
 */
static bool round_waits(struct sampler *s, uint64_t now)
{
	uint32_t rows = atomic_load(&s->rows);

	if (rows != s->wall.rows) {
		s->wall.rows = rows;
		s->wall.rows_ns = now;
	}
	return now - s->start_ns < WALL_BEGIN_NS &&
	       (!rows || now - s->wall.rows_ns < WALL_QUIET_NS);
}

static void round_tick(struct sampler *s, struct round *round)
{
	uint32_t share = round_share(s, round), signals = 0;
	uint64_t now = clock_mono_ns();

	if (round_waits(s, now))
		return;
	for (uint32_t visits = 0, polls = 0;
		visits < share && polls < WALL_POLLS && signals < WALL_SIGNALS; visits++) {
		struct thread_slot *slot = round_next(s, round);

		if (!slot && !round_end(s, round, now))
			return;
		if (!slot || !round_due(round, &slot->wall, now))
			continue;
		polls++;
		signals += wall_poll_thread(s, &round->reader, slot, clock_mono_ns(),
			atomic_load(&s->events[WIRE_WALL].interval) / 2);
		round->now.active += !slot->wall.rest_ns;
	}
}

struct latency_round {
	struct sampler *s;
	struct round *round;
};

static void round_poll_inside(void *ctx, struct thread_slot *slot)
{
	struct latency_round *l = ctx;

	if (wall_selects(slot))
		wall_poll_thread(l->s, &l->round->reader, slot, clock_mono_ns(), 0);
}

/* The pause in ns until the next tick. An idle process is polled once per interval, as many threads per tick as fit in. */
static uint64_t round_pause(struct sampler *s, struct round *round, uint64_t interval)
{
	uint64_t busy = interval / 2 < WALL_TICK_NS ? interval / 2 : WALL_TICK_NS;
	uint64_t now = clock_mono_ns(), next = round->next_ns > now ? round->next_ns - now : 0;

	round->tick_ns = pace_pause(&round->pace, sampler_cost_ns(s), busy,
		round->last.listed <= WALL_POLLS ? interval : busy);
	if (round->tick_ns <= busy || s->wall.cursor < atomic_load(&s->threads->high))
		return round->tick_ns;
	return next > busy ? next : busy;
}

/* At the end of sampling: accounts for threads that still rest, and for time awake that no poll has seen. */
static void round_last(struct sampler *s)
{
	uint64_t now = clock_mono_ns(), cpu;

	for (struct thread_slot *slot = NULL; (slot = threads_after(s->threads, slot));) {
		struct thread_wall *wall = &slot->wall;

		if (!wall_selects(slot) || !wall->last_ns || wall->last_ns >= now ||
			!task_cpu_ns(atomic_load(&slot->tid), &cpu))
			continue;
		if (!wall_again(s, slot, cpu, now - wall->last_ns))
			poll_missed(s, slot, cpu);
	}
}

static void *wall_main(void *arg)
{
	struct sampler *s = arg;
	uint64_t cost = 0;
	struct round round = {
		.began_ns = clock_mono_ns(), .last.listed = atomic_load(&s->threads->high)};

	lock_reader_open(&round.reader, s);
	while (!atomic_load(&s->wall.leave)) {
		uint64_t before = cost;
		uint64_t interval = atomic_load(&s->events[WIRE_WALL].interval);

		round_tick(s, &round);
		uint64_t inside = latency_tick(
			s, round_poll_inside, &(struct latency_round){.s = s, .round = &round});
		uint64_t waiting = wall_waiting_poll(s, interval);
		inside = waiting < inside ? waiting : inside;
		cost = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
		atomic_fetch_add(&s->events[WIRE_WALL].thread_ns, cost - before);
		uint64_t pause = round_pause(s, &round, interval);
		raw_futex_wait(&s->wall.leave, 0, pause < inside ? pause : inside);
	}
	wall_waiting_poll(s, 0); /* accounts for the time since the last poll */
	round_last(s);
	latency_end(s);
	epochs_thread_ends(s, &s->wall.left);
	return NULL;
}

/* --- on and off ------------------------------------------------------------------------------- */

/* Resets the wall clock: existing threads count as sampled up to now, at their present CPU time and run delay. */
static void wall_prepare(struct sampler *s)
{
	uint64_t now = clock_mono_ns();

	for (struct thread_slot *slot = NULL; (slot = threads_after(s->threads, slot));) {
		struct thread_wall_share share = {.cpu_ns = 0};

		thread_wall_forget(&slot->wall);
		slot->wall.last_ns = now;
		slot->wall.seen_cpu_ns = 0;
		slot->wall.rest_ns = 0;
		if (task_cpu_ns(atomic_load(&slot->tid), &share.cpu_ns))
			task_delay_ns(s->task.fd, sampler_task(s, slot), &share.delay_ns);
		slot->wall.share = share;
	}
	s->wall.back_ns = WALL_HANDLER_NS / 3;
	s->wall.ports.run = wall_io_run;
	s->wall.ports.runner = s;
	s->wall.cursor = 0;
	s->wall.cycle_ns = atomic_load(&s->events[WIRE_WALL].interval);
	atomic_store(&s->wall.leave, 0);
	atomic_store(&s->wall.left, 0);
}

static int wall_start(
	struct sampler *s, const struct engine_target *target, char *text, size_t bytes)
{
	if (atomic_load(&s->wall.tid) && !atomic_load(&s->wall.left)) {
		text_set(text, bytes, "the previous wall-clock thread has not ended yet");
		return -EBUSY;
	}
	wall_prepare(s);
	wall_waiting_start(s);
	int error = epochs_spawn(
		s, &(struct spawn){"jhot wall", WALL_STACK, wall_main, s, &s->wall.tid});
	if (error)
		text_set(text, bytes, "the wall-clock thread could not be started");
	else
		publish_agent_thread(s->publish, atomic_load(&s->wall.tid), "jhot wall");
	return -error;
}

static void wall_stop(struct sampler *s, uint32_t event)
{
	spawn_end(&s->wall.tid, &s->wall.leave, &s->wall.left);
	/* Waits for outstanding samples; unanswered ones are counted as lost. */
	ask_wait(s, THREADS_ASK_WALL);
	for (struct thread_slot *slot = NULL; (slot = threads_after(s->threads, slot));) {
		if (atomic_exchange(&slot->asked[THREADS_ASK_WALL], 0))
			sig_lose(s, WIRE_WALL, COUNTER_LATE, 1);
	}
}

static int wall_probe(const struct engine_target *on_self, char *why, size_t bytes)
{
	uint64_t cpu;

	if (raw_refusal(SYS_rt_tgsigqueueinfo)) {
		text_set(why, bytes, "the JVM's seccomp filter forbids rt_tgsigqueueinfo");
		return -EPERM;
	}
	if (task_cpu_ns(on_self->tid, &cpu))
		return 0;
	text_set(why, bytes, "the CPU time of threads cannot be read");
	return -ENOSYS;
}

const struct engine engine_wall = {
	.id = WIRE_ENGINE_WALL,
	.name = "wall clock",
	.interval_min = 1000000,
	.probe = wall_probe,
	.start = wall_start,
	.stop = wall_stop,
};
