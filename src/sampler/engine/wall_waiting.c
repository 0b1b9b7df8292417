/* SPDX-License-Identifier: Apache-2.0 */
/* The wall clock of unmounted virtual threads. Each sample of a poll represents the time since the previous poll. */
#include "sampler/engine/arms.h"
#include "sampler/engine/wall.h"

#include "base/clock.h"
#include "sampler/descriptor.h"
#include "sampler/engine/latency.h"
#include "sampler/engine/waiting.h"
#include "sampler/session/memory.h"
#include "sampler/signal/raw.h"

#define SMOOTH  8u                /* polls whose cost is averaged */
#define STAY_NS (250 * NS_PER_MS) /* how long the same places are polled */
#define SEEN    1024u
#define SEEN_NS (1 * NS_PER_S) /* then a stack is walked again */

/* A thread found by recent polls, indexed by its id; valid until the thread runs again. */
struct seen {
	uint64_t number, chunk, sp, walked_ns;
	uint64_t hash; /* hash of its trace; 0: walk it again */
	/* Time of polls that found the thread, but could not read its stack: part of its next sample. */
	uint64_t owed_ns;
	uint32_t id, state;
	struct unmounted_poll poll; /* node 0: not found waiting for a descriptor */
};

struct wall_waiting {
	struct waiting w;
	uint64_t last_ns, next_ns;
	uint64_t since, now;               /* of this poll */
	uint64_t usual_ns;                 /* average cost of a poll */
	uint64_t probe_ns, usual_probe_ns; /* next_ns and usual_ns of the probes between polls */
	/* Methods whose calls are measured; NULL: none. */
	struct latency *latency;
	uint32_t visited; /* threads, in the last poll */
	struct seen seen[SEEN];
	struct unmounted_word words[UNMOUNTED_WORDS];
};

static uint32_t state_of(const struct unmounted_thread *thread)
{
	static const uint8_t states[] = {
		[UNMOUNTED_READY] = WIRE_STATE_CARRIER,
		[UNMOUNTED_PARKED] = WALL_IN_FUTEX, /* its frames show the reason */
		[UNMOUNTED_ENTERS] = WIRE_STATE_MONITOR,
		[UNMOUNTED_WAITS] = WIRE_STATE_WAITING,
	};

	return states[thread->state];
}

/* Counts the thread's trace once more. Returns false if the thread may have moved on. */
static bool seen_again(
	struct wall_waiting *ww, struct seen *seen, const struct unmounted_thread *thread)
{
	struct sampler *s = ww->w.s;
	struct trace_key key = {.thread = seen->id, .event = WIRE_WALL};
	struct frozen where;

	if (seen->number != thread->number || seen->state != state_of(thread) || !seen->hash ||
		ww->now - seen->walked_ns > SEEN_NS ||
		!unmounted_frozen(&ww->w.java, thread, &where) || where.chunk != seen->chunk ||
		frozen_sp(&ww->w.self.mem, &where) != seen->sp ||
		(seen->poll.node && !unmounted_polls_still(&ww->w.java, thread, &seen->poll)))
		return false;
	if (!trace_table_again(s->table, seen->hash, &key, 1, ww->since * thread->multiplicity))
		return false;
	atomic_fetch_add(&s->events[WIRE_WALL].samples, 1);
	return true;
}

/*
 * The id of the description of the descriptor that the thread waits for; 0: none. Valid only if a later
 * unmounted_polls_still confirms the same wait: until then the descriptor was open and the same.
 */
static uint32_t polled(
	struct wall_waiting *ww, const struct unmounted_thread *thread, struct unmounted_poll *poll)
{
	struct descriptor_file file;
	struct frozen where;

	*poll = (struct unmounted_poll){.node = 0};
	if (!unmounted_frozen(&ww->w.java, thread, &where) ||
		!unmounted_polls(&ww->w.java, ww->words, thread, &where, poll))
		return 0;
	struct descriptor_call call =
		(struct descriptor_call){(int32_t)poll->fd, poll->writes ? "write" : "read"};
	return descriptor_file(call.fd, &file) ? wall_io_text(ww->w.s, &call, &file) : 0;
}

static void seen_anew(struct wall_waiting *ww, struct seen *seen,
	const struct unmounted_thread *thread, struct latency_virtual *v)
{
	struct stack_sample sample = {.event = WIRE_WALL,
		.state = state_of(thread),
		.count = 1,
		.weight = ww->since * thread->multiplicity};
	struct unmounted_poll poll;
	struct frozen where;
	struct stack stack;
	struct thread_call call = {.frame = 0};
	uint64_t sp;
	uint32_t name = polled(ww, thread, &poll);

	if (seen->number == thread->number)
		sample.weight += seen->owed_ns;
	*seen = (struct seen){.number = thread->number, .owed_ns = sample.weight};
	if (!waiting_stack(&ww->w, thread, &stack, &where, &sp)) {
		sig_lose(ww->w.s, WIRE_WALL, COUNTER_WAIT_OVER, 1);
		return;
	}
	seen->owed_ns = 0;
	stack.id = waiting_id(&ww->w, thread);
	if (name && stack.max && unmounted_polls_still(&ww->w.java, thread, &poll)) {
		stack.user[-1] = WALK_PACK(WALK_IO, name);
		sample.before = 1;
	}
	if (stack.id)
		*seen = (struct seen){.number = thread->number,
			.chunk = where.chunk,
			.sp = sp,
			.walked_ns = ww->now,
			.hash = sig_stack_record(&stack, &sample),
			.id = stack.id,
			.state = sample.state,
			.poll = poll};
	if (v && stack.id && sig_latency_frozen(&stack, ww->latency, &call)) {
		call.hash = seen->hash;
		latency_virtual_found(ww->w.s, ww->latency, v, &call, ww->now);
		latency_virtual_walked(v, &ww->w.java, thread, &where, sp);
	}
	/*
	 * A Poller in its frames, but no wait recorded: that wait is just over, and the next may be for another socket.
	 */
	if (!poll.node && poll.poller)
		seen->hash = 0;
	sig_stack_release(&stack);
}

static void wall_thread(void *ctx, const struct unmounted_thread *thread)
{
	struct wall_waiting *ww = ctx;
	struct seen *seen = &ww->seen[thread->number % SEEN];
	struct latency_virtual *v = NULL;

	ww->visited++;
	if (ww->latency)
		v = latency_virtual_visit(ww->w.s, ww->latency, thread, ww->now);
	if (thread->state == UNMOUNTED_RUNS)
		return;
	if ((v && !v->known) || !seen_again(ww, seen, thread))
		seen_anew(ww, seen, thread, v);
}

/* A thread of the subset was found elsewhere between two rounds. The time until now is part of the next round's sample. */
static void wall_moved(void *ctx, struct latency_virtual *v, const struct unmounted_thread *thread)
{
	struct wall_waiting *ww = ctx;

	seen_anew(ww, &ww->seen[thread->number % SEEN], thread, v);
}

/* Polls the threads whose calls are measured. */
static void waiting_probe(struct wall_waiting *ww)
{
	uint64_t since = ww->since;

	ww->since = 1; /* the next round's sample represents the time until then */
	latency_collect_listed(ww->w.s, ww->now);
	latency_virtual_probe(ww->w.s, ww->latency, &ww->w.java, ww->now, wall_moved, ww);
	ww->since = since;
}

/* Visits the threads in the chosen places. While calls are measured, these stay the same. */
static void waiting_round(struct wall_waiting *ww)
{
	if (ww->now - ww->w.placed_ns > STAY_NS) {
		if (ww->latency)
			waiting_keep_places(&ww->w, ww->now);
		else
			waiting_new_places(&ww->w, ww->now);
		__builtin_memset(ww->words, 0, sizeof(ww->words));
	}
	ww->w.pick.mounted = ww->latency;
	ww->visited = 0;
	ww->since = ww->now - ww->last_ns;
	if (waiting_each(&ww->w, WIRE_WALL, wall_thread, ww))
		ww->last_ns = ww->now;
	if (ww->latency && !ww->w.unread)
		latency_virtual_round(ww->w.s, ww->latency, &ww->w.java, ww->now);
}

/* The time until a poll that costs as much as lately is due again, with random jitter. */
static uint64_t waiting_pause(uint64_t *usual_ns, uint64_t cost_ns, uint64_t interval)
{
	*usual_ns = (*usual_ns * (SMOOTH - 1) + cost_ns) / SMOOTH;
	interval = pace_affordable(interval, *usual_ns);
	return interval / 2 + arms_random(interval);
}

uint64_t wall_waiting_poll(struct sampler *s, uint64_t interval)
{
	struct wall_waiting *ww = s->wall.waiting;
	uint64_t now = clock_mono_ns(), cost[3];
	_Atomic uint32_t *inside;

	if (!ww || !waiting_ready(&ww->w, now))
		return UINT64_MAX;
	ww->latency = ww->visited || !interval ? latency_on(s) : NULL;
	bool round = !interval || now >= ww->next_ns;
	if (!round && ww->latency && now < ww->probe_ns)
		return ww->probe_ns - now;
	if (!round && !ww->latency)
		return UINT64_MAX;
	ww->now = now;
	cost[0] = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	sig_enter(&inside);
	if (ww->latency)
		waiting_probe(ww);
	cost[1] = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	if (round)
		waiting_round(ww);
	sig_leave(inside);
	cost[2] = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	if (ww->latency) {
		interval = interval ? ww->latency->in_force : 0;
		ww->probe_ns =
			now + waiting_pause(&ww->usual_probe_ns, cost[1] - cost[0], interval);
	}
	if (round)
		ww->next_ns = now + waiting_pause(&ww->usual_ns, cost[2] - cost[1], interval);
	if (!ww->latency)
		return UINT64_MAX;
	return (ww->probe_ns < ww->next_ns ? ww->probe_ns : ww->next_ns) - now;
}

void wall_waiting_start(struct sampler *s)
{
	struct wall_waiting *ww = s->wall.waiting;
	if (!s->layout || s->layout->jdk < 21)
		return;
	if (!ww)
		ww = s->wall.waiting = sampler_part_new(s, sizeof(*ww));
	if (!ww)
		return;
	for (uint32_t i = 0; i < SEEN; i++)
		ww->seen[i].number = 0;
	waiting_open(&ww->w, s);
	ww->last_ns = clock_mono_ns();
	ww->next_ns = 0;
	ww->usual_ns = 0;
}

uint64_t wall_waiting_memory(const struct sampler *s)
{
	return s->wall.waiting ? sizeof(*s->wall.waiting) : 0;
}
