/* SPDX-License-Identifier: Apache-2.0 */
/* The wall clock's part of measuring the latency of calls. */
#include "sampler/engine/latency.h"

#include "base/clock.h"
#include "sampler/engine/arms.h"
#include "sampler/signal/raw.h"
#include "walk/hotspot/layout.h"
#include "walk/hotspot/threads.h"
#include "walk/load/mem.h"

#define LATENCY_STAY_NS    (5 * NS_PER_S) /* how long a thread stays listed after a call */
#define LATENCY_CHECK_NS   (1 * NS_PER_S)
#define LATENCY_LONGEST_NS (500 * NS_PER_MS)
#define LATENCY_HANDLER_NS \
	60000u              /* upper bound of the CPU time from waking up to the handler's end */
#define LATENCY_VISITS 512u /* slots per tick in which new threads are looked for */
#define LATENCY_ARMS   16u  /* threads per tick that get breakpoints */
#define LATENCY_EARLY  4u   /* polls due within this part of the interval are made at once */
#define LATENCY_SHARE  2u   /* polls of threads inside may use this part of the budget: 1/2 */

/* --- polls ------------------------------------------------------------------------------------ */

/* The heap and libjvm's variables stay where they are, so they are read in place. */
static uint32_t collections(const struct sampler *s, const struct latency *l)
{
	const struct walk_field *count = s->layout ? &s->layout->heap_collections : NULL;

	if (!l->heap)
		return 0;
	return (uint32_t)mem_word_in_place(
		&s->mem, l->heap + (uint64_t)count->offset, count->bytes);
}

/* Hash of a thread's name without digits; of a name that is being changed, any value. */
static uint64_t pool_of(const struct thread_slot *slot)
{
	uint64_t hash = 14695981039346656037ull;

	for (uint32_t i = 0; i < slot->name_bytes && i < THREADS_NAME; i++)
		if (slot->name[i] < '0' || slot->name[i] > '9')
			hash = (hash ^ (uint8_t)slot->name[i]) * 1099511628211ull;
	return hash;
}

static bool pool_is_known(const struct latency *l, uint64_t pool)
{
	for (uint32_t i = 0; i < l->pool_count; i++)
		if (l->pools[i] == pool)
			return true;
	return false;
}

/*
 * Lists a thread that is inside, or is likely to be soon because threads of its pool are: a call that begins while its thread is
 * polled rarely is likely to be missed, or its begin is known badly. While no call has been found, each Java thread is likely.
 */
static void latency_list(
	struct sampler *s, struct latency *l, struct thread_slot *slot, bool inside, uint64_t now)
{
	struct thread_call *call = &slot->call;

	if (!inside && (call->listed || call->ended || l->listed_count >= LATENCY_POOLED))
		return;
	uint64_t pool = pool_of(slot);
	bool likely = l->pool_count ? pool_is_known(l, pool) : atomic_load(&slot->java_thread) != 0;
	if (inside && l->pool_count < LATENCY_POOLS && !pool_is_known(l, pool))
		l->pools[l->pool_count++] = pool;
	if (!inside && !likely)
		return;
	call->inside_ns = now;
	if (call->listed || l->listed_count == LATENCY_LISTED)
		return;
	call->listed = true;
	call->next_ns = 0;
	call->place = l->listed_count;
	l->entered[l->listed_count] = (struct entries_thread){.ring = NULL};
	l->listed[l->listed_count++] = threads_index(s->threads, slot);
}

/* Removes all breakpoints: latency_tick sets them again. */
static void latency_disarm_all(struct sampler *s, struct latency *l)
{
	for (uint32_t i = 0; i < l->listed_count; i++)
		entries_disarm(&l->entries, &l->entered[i], &s->threads->slots[l->listed[i]]);
}

void latency_queue(
	struct sampler *s, struct latency *l, const struct wire_poll *record, uint64_t hash)
{
	uint32_t head = atomic_load(&l->head);

	if (head - atomic_load(&l->tail) == LATENCY_QUEUE) {
		counters_add(&s->counters, COUNTER_LATE, 1);
		return;
	}
	l->queue[head % LATENCY_QUEUE] = (struct latency_poll){.record = *record, .hash = hash};
	atomic_store_explicit(&l->head, head + 1, memory_order_release);
}

/* Queues a poll of a platform thread. */
static void latency_queue_call(struct sampler *s, struct latency *l, const struct thread_call *call,
	const struct entries_report *entries)
{
	bool still = call->cpu_ns - call->asked.cpu_ns < LATENCY_HANDLER_NS;
	struct wire_poll record = {.time_ns = call->time_ns,
		.since_ns = still ? call->asked.time_ns : call->time_ns,
		.before_ns = call->asked.before_ns,
		.frame = call->frame,
		.outside = call->outside,
		.values = call->values,
		.cpu_ns = call->asked.cpu_ns,
		.delay_ns = call->asked.delay_ns,
		.thread = call->id,
		.collections = {call->asked.collections, collections(s, l)},
		.flags = call->flags | (entries->counted ? WIRE_POLL_COUNTED : 0),
		.entries = entries->count,
		.entries_here = entries->here,
		.first_ns = entries->first_ns,
		.last_ns = entries->last_ns};

	/* The clocks of two CPUs may differ slightly. */
	if (record.since_ns > record.time_ns)
		record.since_ns = record.time_ns;
	if (record.before_ns > record.since_ns)
		record.before_ns = record.since_ns;
	latency_queue(s, l, &record, call->hash);
}

/* Queues a poll outside for a thread that was inside and has ended, or has another id now. */
static void latency_left(
	struct sampler *s, struct latency *l, const struct thread_call *call, uint64_t now)
{
	struct thread_call left = {.id = call->inside, .time_ns = now, .asked = call->asked};

	left.cpu_ns = call->asked.cpu_ns;
	left.asked.before_ns = call->answered ? call->polled_ns : call->asked.before_ns;
	left.asked.time_ns = now;
	latency_queue_call(s, l, &left, &(struct entries_report){.counted = false});
}

/* A call keeps the id under which it began, although its thread may have got another name. */
static uint32_t latency_id(const struct thread_call *call, const struct entries_report *entries)
{
	bool known = entries->counted && call->flags & WIRE_POLL_RECORDED;

	if (!call->inside || call->frame != call->last_frame ||
		(known ? entries->here > 0 : call->outside != call->last_outside))
		return call->id;
	return call->inside;
}

/* Sets breakpoints on the present code of the methods, if that has changed. */
static void latency_follow(struct sampler *s, struct latency *l)
{
	uint32_t count = atomic_load(&l->count);
	bool changed = false;

	for (uint32_t i = 0; s->layout && i < count; i++) {
		uint64_t method = atomic_load(&l->methods[i].method);

		if (method && entries_follow(s, &l->entries, method))
			changed = true;
	}
	if (changed)
		latency_disarm_all(s, l);
}

void latency_collect(struct sampler *s, struct thread_slot *slot, uint64_t now)
{
	struct latency *l = latency_on(s);
	struct thread_call *call = &slot->call;
	struct entries_report entries = {.counted = false};

	if (!l)
		return;
	if (!atomic_load_explicit(&call->fresh, memory_order_acquire)) {
		latency_list(s, l, slot, false, now);
		return;
	}
	bool virtual = WIRE_IS_VIRTUAL(call->id);
	latency_list(s, l, slot, call->frame != 0 || (virtual && l->virtuals_inside), now);
	if (call->listed) {
		entries_report(&l->entries, &l->entered[call->place], call->head, call->end, now,
			&entries);
		entries_arm(s, &l->entries, &l->entered[call->place], slot);
	}
	if (entries.count)
		latency_list(s, l, slot, true, now);
	if (virtual) {
		l->carriers_counted = entries.counted;
		latency_virtual_mounted(s, l, call);
		/* The carrier has only the number of entries. */
		call->id = atomic_load(&slot->id);
		call->frame = call->inside ? call->last_frame : 0;
		call->outside = call->last_outside;
		entries.here = 0;
	}
	call->id = latency_id(call, &entries);
	if (call->inside && call->inside != call->id) {
		latency_left(s, l, call, call->asked.time_ns);
		call->inside = 0;
	}
	entries.count += l->dropped;
	l->dropped = 0;
	if (call->frame || call->inside || entries.count)
		latency_queue_call(s, l, call, &entries);
	call->inside = call->frame ? call->id : 0;
	call->last_frame = call->frame;
	call->last_outside = call->outside;
	call->answered = true;
	atomic_store(&call->fresh, 0);
}

void latency_ended(struct sampler *s, struct thread_slot *slot, uint64_t now)
{
	struct latency *l = latency_on(s);

	if (!l)
		return;
	slot->call.ended = true;
	if (atomic_load(&slot->call.fresh))
		latency_collect(s, slot, now);
	if (!slot->call.inside)
		return;
	latency_left(s, l, &slot->call, now);
	slot->call.inside = 0;
}

void latency_rested(struct sampler *s, struct thread_slot *slot, uint64_t now)
{
	if (latency_on(s))
		slot->call.polled_ns = now;
}

void latency_asked(
	struct sampler *s, struct thread_slot *slot, uint64_t cpu, uint64_t delay, uint64_t now)
{
	struct thread_call *call = &slot->call;
	struct latency *l = latency_on(s);

	if (!l)
		return;
	call->asked.time_ns = now;
	/* A request that was not answered is not a poll. A new thread has made no call before it was found. */
	if (call->answered)
		call->asked.before_ns = call->polled_ns;
	else if (!call->asked.before_ns) {
		call->asked.before_ns = slot->found_ns;
		l->first_polls += slot->found_ns > l->started_ns;
	}
	call->answered = false;
	call->asked.cpu_ns = cpu;
	call->asked.delay_ns = delay;
	call->asked.collections = collections(s, l);
	call->polled_ns = now;
}

/* Lengthens the interval while polls of the threads inside cost more than their part of the budget. */
static void latency_pace(struct sampler *s, struct latency *l, uint64_t now)
{
	uint64_t least = atomic_load(&l->interval), interval = l->in_force;
	uint64_t allowed = (now - l->checked_ns) / 1000 * s->budget.per_mille / LATENCY_SHARE;

	if (now - l->checked_ns < LATENCY_CHECK_NS)
		return;
	if (s->budget.per_mille && l->spent_ns > allowed)
		interval = interval * 3 / 2;
	else if (!s->budget.per_mille || l->spent_ns < allowed / 2)
		interval = interval * 2 / 3;
	interval = interval < LATENCY_LONGEST_NS ? interval : LATENCY_LONGEST_NS;
	l->in_force = interval > least ? interval : least;
	l->checked_ns = now;
	l->spent_ns = 0;
}

/* False: its breakpoints cannot be removed yet. */
static bool latency_unlist(struct sampler *s, struct latency *l, uint32_t i)
{
	struct thread_slot *slot = &s->threads->slots[l->listed[i]];
	uint32_t last = l->listed_count - 1;

	if (!entries_disarm(&l->entries, &l->entered[i], slot))
		return false;
	l->dropped += l->entered[i].dropped;
	if (slot->call.place == i)
		slot->call.listed = false;
	l->listed[i] = l->listed[last];
	l->entered[i] = l->entered[last];
	if (s->threads->slots[l->listed[i]].call.place == last)
		s->threads->slots[l->listed[i]].call.place = i;
	l->listed_count = last;
	return true;
}

static void latency_forget(struct sampler *s)
{
	struct latency *l = atomic_load(&s->latency);

	if (!l)
		return;
	for (uint32_t i = l->listed_count; i-- > 0;)
		latency_unlist(s, l, i);
	l->pool_count = 0;
	entries_forget(&l->entries);
	l->dropped = 0;
	latency_virtual_forget(l);
}

/* Lists threads that have started since the last time, if they are likely to make calls. */
static void latency_newcomers(struct sampler *s, struct latency *l, uint64_t now)
{
	uint32_t high = atomic_load(&s->threads->high);

	for (uint32_t n = 0; n < LATENCY_VISITS && n < high; n++) {
		struct thread_slot *slot = &s->threads->slots[l->cursor++ % high];

		if (slot->call.visited || slot->call.ended || !atomic_load(&slot->tid) ||
			atomic_load(&slot->gone))
			continue;
		/* A new thread may have no name yet. */
		if (!slot->name_bytes && l->pool_count && !pool_is_known(l, pool_of(slot)))
			continue;
		latency_list(s, l, slot, false, now);
		/* Without a known pool, the threads that found no space have their turn later. */
		slot->call.visited = slot->call.listed || l->pool_count;
	}
}

void latency_collect_listed(struct sampler *s, uint64_t now)
{
	struct latency *l = latency_on(s);

	for (uint32_t i = 0; l && i < l->listed_count; i++)
		latency_collect(s, &s->threads->slots[l->listed[i]], now);
}

/* Reports how many threads have started, and how many of these lived long enough to be polled. Once a second. */
static void latency_starts(struct sampler *s, struct latency *l, uint64_t now)
{
	uint64_t started = s->thread_layout ? walk_threads_started(s->thread_layout, &s->mem) : 0;
	struct wire_poll record = {.time_ns = now,
		.since_ns = now,
		.before_ns = now,
		.thread = atomic_load(&s->threads->slots[l->listed[0]].id),
		.entries = (uint32_t)(started - l->started),
		.entries_here = l->first_polls,
		.flags = WIRE_POLL_STARTS};

	if (l->started && started > l->started)
		latency_queue(s, l, &record, 0);
	l->started = started;
	l->first_polls = 0;
	l->started_ns = l->started_ns ? l->started_ns : now;
}

/* Counts frequent entries in bursts. Returns the time until it is to be called again. */
static uint64_t latency_bursts(struct sampler *s, struct latency *l)
{
	struct entries_estimate estimate;
	uint64_t next = entries_bursts(&l->entries, l->entered, l->listed_count, &estimate);
	struct wire_poll record = {.time_ns = clock_mono_ns(),
		.before_ns = estimate.since_ns,
		.thread = atomic_load(&s->threads->slots[l->listed[0]].id),
		.entries = estimate.entries < UINT32_MAX ? (uint32_t)estimate.entries : UINT32_MAX,
		.entries_here = estimate.doubt < UINT32_MAX ? (uint32_t)estimate.doubt : UINT32_MAX,
		.flags = WIRE_POLL_ESTIMATE};

	record.since_ns = record.time_ns;
	if (estimate.since_ns)
		latency_queue(s, l, &record, 0);
	return next;
}

uint64_t latency_tick(
	struct sampler *s, void (*poll)(void *ctx, struct thread_slot *slot), void *ctx)
{
	struct latency *l = latency_on(s);
	uint64_t now = clock_mono_ns(), next = UINT64_MAX;
	uint32_t arms = 0;
	uint64_t handlers = atomic_load(&s->events[WIRE_WALL].handlers_ns);

	if (!l) {
		latency_forget(s);
		return UINT64_MAX;
	}
	latency_pace(s, l, now);
	latency_newcomers(s, l, now);
	latency_follow(s, l);
	if (!l->listed_count)
		return l->in_force;
	uint64_t burst = latency_bursts(s, l);
	if (l->checked_ns == now) /* as often as the pace is checked */
		latency_starts(s, l, now);
	uint64_t cost = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	for (uint32_t i = 0; i < l->listed_count; i++) {
		struct thread_slot *slot = &s->threads->slots[l->listed[i]];
		struct thread_call *call = &slot->call;

		if (!atomic_load(&slot->tid) || atomic_load(&slot->gone))
			latency_ended(s, slot, now);
		if (!atomic_load(&slot->tid) || atomic_load(&slot->gone) || call->ended ||
			!call->listed || call->place != i ||
			now > call->inside_ns + LATENCY_STAY_NS) {
			if (latency_unlist(s, l, i))
				i--;
			continue;
		}
		if (l->entered[i].closing || (l->entered[i].ring && atomic_load(&l->entries.off)))
			entries_disarm(&l->entries, &l->entered[i], slot);
		if (!l->entered[i].ring && arms++ < LATENCY_ARMS)
			entries_arm(s, &l->entries, &l->entered[i], slot);
		if (now + l->in_force / LATENCY_EARLY >= call->next_ns) {
			poll(ctx, slot);
			call->next_ns = now + l->in_force * 3 / 4 + arms_random(l->in_force / 2);
		}
		next = call->next_ns < next ? call->next_ns : next;
	}
	l->spent_ns += clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - cost +
		       atomic_load(&s->events[WIRE_WALL].handlers_ns) - handlers;
	now = clock_mono_ns();
	next = next < now + l->in_force ? next : now + l->in_force;
	next = next > now ? next - now : 0;
	return next < burst ? next : burst;
}

void latency_end(struct sampler *s)
{
	struct latency *l = atomic_load(&s->latency);

	latency_forget(s);
	for (int waits = 0; l && l->listed_count && waits < 1000; waits++) {
		raw_sleep(NS_PER_MS);
		latency_forget(s);
	}
}
