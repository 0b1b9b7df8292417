/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sampling handler: finds the thread, collects the samples due on it, walks its stack, records and counts them.
 *
 * A signal is only a trigger, because equal pending signals merge into one: one walk serves everything due on this
 * thread, for any event. Due are the sample announced by a timer's signal, the samples in the thread's perf buffers,
 * and those requested by the wall clock and the lock event.
 *
 * The handler's cost is measured as CPU time of the thread (a wall clock would include the threads that preempted the
 * handler), by a raw system call as expensive as a few frames. Therefore only every eighth handler is measured,
 * with weight eight.
 */
#include "sampler/engine/ctimer.h"
#include "sampler/signal/entry.h"
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"

#define MEASURED_OF    8u
#define BUFFER_OF_TRAP (1u << THREADS_ARM_TRAP)
#define OVERLAP_MAX_NS 160000000u
#define LATE_MAX_NS \
	(int64_t)20000000 /* two ticks at 100 Hz; a signal that is later was not delayed by ticks */

/* The samples due on one thread. */
struct delivery {
	struct sampler *s;
	struct thread_slot *thread; /* NULL: not listed */
	/* The event of the timer that fired, or WIRE_EVENTS. */
	uint32_t timer;
	uint64_t timer_weight;
	uint64_t asked[THREADS_ASKS]; /* weights of the requested samples; 0: no request */
	uint32_t buffers;             /* bit set of arms whose buffers have samples */
};

static const uint32_t asked_events[THREADS_ASKS] = {
	[THREADS_ASK_WALL] = WIRE_WALL,
	[THREADS_ASK_HOLDER] = WIRE_LOCK,
};

static bool event_on(struct sampler *s, uint32_t event)
{
	return atomic_load_explicit(&s->events[event].on, memory_order_relaxed);
}

/*
 * Deducts CPU time that engines have accounted for from the weight of a sample of the process's clock; returns the
 * rest.
 */
static uint64_t overlap_deduct(struct process_clock *clock, uint64_t weight)
{
	uint64_t overlap = atomic_load_explicit(&clock->overlap_ns, memory_order_relaxed), part;

	do {
		part = overlap < weight ? overlap : weight;
	} while (part &&
		 !atomic_compare_exchange_weak(&clock->overlap_ns, &overlap, overlap - part));
	return weight - part;
}

/* A sample of the process's clock. Threads that are sampled in other ways ignore it: returns false. */
static bool delivery_from_process_clock(struct delivery *v, const siginfo_t *info)
{
	struct process_clock *clock = &v->s->process_clock;

	if (!atomic_load_explicit(&clock->on, memory_order_relaxed))
		return false;
	v->timer_weight = ENGINE_INTERVAL_OF((uintptr_t)info->si_value.sival_ptr) *
			  (1u + (info->si_overrun > 0 ? (uint32_t)info->si_overrun : 0));
	if (!v->thread) {
		atomic_store_explicit(&clock->found, 1, memory_order_relaxed);
		v->timer_weight = overlap_deduct(clock, v->timer_weight);
		if (!v->timer_weight)
			return false;
		v->thread = sig_newcomer(v->s);
		if (v->thread)
			atomic_fetch_add(&v->thread->inside, 1);
	}
	if (v->thread && (atomic_load(&v->thread->arms[THREADS_ARM_CPU].engine) ||
				 atomic_load(&v->thread->share) == 0 ||
				 atomic_load(&v->thread->collect.certain)))
		return false;
	atomic_store_explicit(&clock->found, 1, memory_order_relaxed);
	return true;
}

/*
 * Returns the thread's CPU time since its last sample, in whole intervals. When the interval changes, the remainder is scaled,
 * and half of the difference is added: at the change half of an interval had passed since the last sample, on average.
 *
 * The time after the last sample never counts. For that, a thread begins with the part of an interval before its first sample,
 * and if this one is late by the kernel's tick, with that delay.
 */
static uint64_t delivery_cpu_since_last(struct thread_arm *arm)
{
	struct thread_unseen *unseen = &arm->unseen;
	int64_t weight = (int64_t)atomic_load_explicit(&arm->weight, memory_order_relaxed);
	int64_t before = (int64_t)unseen->weight, ns = unseen->ns, counted, since;
	uint64_t cpu_ns = raw_clock_ns(unseen->clock);

	since = (int64_t)(cpu_ns - unseen->cpu_ns) * arm->share;
	ns += since;
	if (unseen->first && since > before && since - before < LATE_MAX_NS * arm->share)
		ns += since - before;
	unseen->first = false;
	counted = ns < before ? 0 : ns - ns % before;
	unseen->cpu_ns = cpu_ns;
	unseen->ns = ns - counted;
	if (weight != before)
		unseen->ns = unseen->ns * 1024 / before * weight / 1024 + (weight - before) / 2;
	unseen->weight = (uint64_t)weight;
	return (uint64_t)counted;
}

/* The signal's value holds a cookie and the event. A thread's own timer may expire before a whole interval is due. */
static void delivery_from_timer(struct delivery *v, const siginfo_t *info)
{
	uint32_t value = (uint32_t)info->si_value.sival_int & 0xff;
	uint32_t number = value & ~(uint32_t)ENGINE_PROCESS;
	struct thread_arm *arm = v->thread ? &v->thread->arms[THREADS_ARM_CPU] : NULL;

	v->timer = WIRE_EVENTS;
	if (info->si_code != SI_TIMER || number >= WIRE_EVENTS)
		return;
	if (value & ENGINE_PROCESS) {
		if (!delivery_from_process_clock(v, info))
			return;
	} else if (arm && atomic_load_explicit(&arm->engine, memory_order_acquire) &&
		   arm->unseen.clock) {
		v->timer_weight = delivery_cpu_since_last(arm);
		if (!v->timer_weight)
			return;
	}
	if (!event_on(v->s, number) || !v->thread || !v->timer_weight) {
		sig_lose(v->s, number, v->thread ? COUNTER_LATE : COUNTER_NO_THREAD, 1);
		return;
	}
	v->timer = number;
}

static void delivery_find_buffers(struct delivery *v)
{
	for (uint32_t i = 0; v->thread && i < THREADS_ARMS; i++) {
		struct thread_arm *arm = &v->thread->arms[i];
		struct perf_samples samples;

		if (!atomic_load_explicit(&arm->engine, memory_order_acquire) || !arm->ring ||
			!event_on(v->s, arm->event))
			continue;
		sig_perf_open(&samples, arm->ring);
		if (samples.at != samples.head)
			v->buffers |= 1u << i;
	}
}

/*
 * Accounts for CPU time of the thread beyond the `samples` received from perf's clock, once it amounts to an interval.
 */
static void delivery_record_residual(struct delivery *v, struct thread_arm *arm, uint32_t samples)
{
	struct thread_unseen *unseen = &arm->unseen;
	uint64_t weight = atomic_load_explicit(&arm->weight, memory_order_relaxed);
	int64_t interval = (int64_t)(weight / arm->share);
	uint64_t cpu_ns = sig_clock();
	struct stack_sample sample = {.event = arm->event};

	if (unseen->cpu_ns)
		unseen->ns += (int64_t)(cpu_ns - unseen->cpu_ns) - samples * interval;
	unseen->cpu_ns = cpu_ns;
	if (unseen->ns < interval)
		return;
	sample.count = (uint32_t)(unseen->ns / interval);
	sample.weight = sample.count * weight;
	unseen->ns %= interval;
	sig_frame_record(v->s, v->thread, 0, WALK_PACK(WALK_KERNEL, WIRE_KERNEL_SWITCH), &sample);
}

/* Every sample of the kernel becomes a trace of its own over the same user frames. */
static void delivery_record_buffer(
	struct delivery *v, const struct stack *stack, struct thread_arm *arm)
{
	struct stack_sample sample = {.event = arm->event, .count = 1};
	struct perf_samples samples;
	_Atomic uint64_t *overlap_ns = &v->s->process_clock.overlap_ns;
	uint32_t quota = UINT32_MAX, accepted = 0;
	uint64_t late = 0;
	int kernel;

	sample.weight = atomic_load_explicit(&arm->weight, memory_order_relaxed);
	sig_perf_open(&samples, arm->ring);
	if (atomic_load_explicit(&arm->first, memory_order_acquire)) {
		quota = !atomic_load_explicit(&arm->begun, memory_order_relaxed);
		sample.weight = arm->first_weight;
		/*
		 * This sample accounts for CPU time from before the engine was set, which the process's clock may count
		 * again. Time which that clock has not counted soon is hardly ever counted, so the sum is bounded.
		 */
		if (arm->event == WIRE_CPU && arm->second && quota &&
			atomic_load_explicit(overlap_ns, memory_order_relaxed) < OVERLAP_MAX_NS)
			atomic_fetch_add(overlap_ns, sample.weight);
		atomic_store_explicit(&arm->begun, 1, memory_order_release);
		sig_arms_request(v->s, v->thread);
	} else {
		late = atomic_exchange_explicit(&arm->late, 0, memory_order_relaxed);
	}
	/* The samples until now do not represent one interval each. */
	if (quota != UINT32_MAX || late)
		arm->unseen.cpu_ns = 0;
	sample.weight += late * arm->share;
	while ((kernel = sig_perf_next(&samples, stack->user, stack->max)) >= 0) {
		if (!quota)
			continue;
		quota--;
		accepted++;
		sample.before = (uint32_t)kernel;
		sig_stack_record(stack, &sample);
		sample.weight = atomic_load_explicit(&arm->weight, memory_order_relaxed);
	}
	if (samples.lost)
		sig_lose(v->s, sample.event, COUNTER_PERF_LOST, samples.lost);
	arm->lost += (uint32_t)samples.lost;
	sig_perf_close(&samples);
	if (arm->unseen.tracked)
		delivery_record_residual(v, arm, accepted + (uint32_t)samples.lost);
}

static void delivery_record_holder(const struct stack *stack, uint64_t weight)
{
	struct thread_held *held = &stack->thread->held;
	uint64_t hash = sig_stack_record(stack, &(struct stack_sample){.event = WIRE_LOCK,
							.state = WIRE_STATE_HOLDS,
							.count = 1,
							.weight = weight});

	atomic_store(&held->cpu_ns, sig_clock());
	atomic_store(&held->id, stack->id);
	atomic_store(&held->hash, hash);
}

static void delivery_record(struct delivery *v, const void *context)
{
	struct stack stack;

	sig_stack_interrupted(&stack, v->s, v->thread, context);
	if (v->timer < WIRE_EVENTS)
		sig_stack_record(
			&stack, &(struct stack_sample){
					.event = v->timer, .count = 1, .weight = v->timer_weight});
	if (v->asked[THREADS_ASK_WALL])
		sig_wall_record(&stack, v->asked[THREADS_ASK_WALL], context);
	if (v->asked[THREADS_ASK_HOLDER])
		delivery_record_holder(&stack, v->asked[THREADS_ASK_HOLDER]);
	for (uint32_t i = 0; i < THREADS_ARMS; i++) {
		if (v->buffers & ~BUFFER_OF_TRAP & 1u << i)
			delivery_record_buffer(v, &stack, &v->thread->arms[i]);
	}
	sig_stack_release(&stack);
}

static uint32_t delivery_events(const struct delivery *v)
{
	uint32_t events = v->timer < WIRE_EVENTS ? 1u << v->timer : 0;

	for (uint32_t i = 0; i < THREADS_ASKS; i++) {
		if (v->asked[i])
			events |= 1u << asked_events[i];
	}
	for (uint32_t i = 0; i < THREADS_ARMS; i++) {
		if (v->buffers & 1u << i)
			events |= 1u << v->thread->arms[i].event;
	}
	return events;
}

/* Returns the bit set of events served. */
static uint32_t sig_arrived(
	struct sampler *s, const siginfo_t *info, const void *context, int32_t tid)
{
	struct delivery v = {.s = s, .thread = threads_find(s->threads, tid)};

	if (v.thread) {
		atomic_fetch_add(&v.thread->inside, 1);
		atomic_store_explicit(&v.thread->collect.answered, 1, memory_order_relaxed);
	}
	delivery_from_timer(&v, info);
	delivery_find_buffers(&v);
	for (uint32_t i = 0; v.thread && i < THREADS_ASKS; i++) {
		v.asked[i] = atomic_exchange(&v.thread->asked[i], 0);
		if (v.asked[i] && !event_on(s, asked_events[i])) {
			sig_lose(s, asked_events[i], COUNTER_LATE, 1);
			v.asked[i] = 0;
		}
	}
	if (!v.thread && info->si_code > 0 && info->si_code != SI_TIMER)
		sig_lose(s, WIRE_CPU, COUNTER_NO_THREAD, 1);
	if (v.timer < WIRE_EVENTS || v.buffers & ~BUFFER_OF_TRAP || v.asked[THREADS_ASK_WALL] ||
		v.asked[THREADS_ASK_HOLDER])
		delivery_record(&v, context);
	/* Walks a stack of its own, without the frames below Java. */
	if (v.buffers & BUFFER_OF_TRAP)
		sig_trap_consume(s, v.thread, &v.thread->arms[THREADS_ARM_TRAP], context);
	if (v.thread)
		atomic_fetch_sub_explicit(&v.thread->inside, 1, memory_order_release);
	return delivery_events(&v);
}

/*
 * True for signals from perf (POLL_IN and the like) and from one of our timers or threads; false for kill and foreign
 * sigqueue.
 */
static bool sig_ours(const siginfo_t *info)
{
	if (info->si_code == SI_TIMER || info->si_code == SI_QUEUE)
		return (info->si_value.sival_int & ENGINE_COOKIE_MASK) == ENGINE_COOKIE;
	/* Sent in place of a signal that could not be queued. */
	if (info->si_signo == SIGIO)
		return info->si_code == SI_KERNEL;
	return info->si_code >= POLL_IN && info->si_code <= POLL_HUP;
}

static void sig_measured(struct sampler *s, const siginfo_t *info, const void *context, int32_t tid)
{
	uint64_t start = sig_clock();
	uint32_t events = sig_arrived(s, info, context, tid), each = 0;

	events = events ? events : 1u << WIRE_CPU; /* no sample: too late, or foreign */
	for (uint32_t i = 0; i < WIRE_EVENTS; i++)
		each += events >> i & 1;
	uint64_t cost = (sig_clock() - start) * MEASURED_OF / each;
	for (uint32_t i = 0; i < WIRE_EVENTS; i++) {
		if (events >> i & 1)
			atomic_fetch_add_explicit(
				&s->events[i].handlers_ns, cost, memory_order_relaxed);
	}
}

void sig_handle(int sig, siginfo_t *info, void *context, int32_t tid)
{
	_Atomic uint32_t *inside;
	struct sampler *s = sig_enter(&inside);

	if (s && !sig_ours(info))
		counters_add(&s->counters, COUNTER_FOREIGN, 1);
	else if (s && atomic_fetch_add(&s->handlers, 1) % MEASURED_OF == 0)
		sig_measured(s, info, context, tid);
	else if (s)
		sig_arrived(s, info, context, tid);
	sig_leave(inside);
}
