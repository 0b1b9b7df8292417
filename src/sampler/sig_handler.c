/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sampling handler: which thread, which event, walk, name, store, count.
 *
 * Its cost is the thread's own CPU time (a wall clock would count whoever ran while the handler was
 * preempted), by a raw system call that takes as long as some frames: every eighth handler is measured
 * and stands for eight.
 */
#include "sampler/raw.h"
#include "sampler/sig.h"

#include "walk/guard.h"
#include "walk/regs.h"

#include <ucontext.h>

#define WALK_STACK_BYTES 4096u /* what walk_stack and names_resolve take at most */
#define MEASURED_OF      8u
#define TRACE_TRUNCATED  1u /* WIRE_TRACE_TRUNCATED */

/* Samples of one event that arrived on one thread. */
struct arrival {
	struct sampler *s;
	struct thread_slot *thread;
	struct event *event;
	uint16_t event_number;
	uint64_t weight; /* of each sample */
	bool by_kernel;  /* the samples are in a perf buffer, with kernel frames */
	struct perf_samples samples;
};

static void arrival_lose(const struct arrival *a, unsigned counter, uint64_t n)
{
	atomic_fetch_add_explicit(&a->event->samples, n, memory_order_relaxed);
	atomic_fetch_add_explicit(&a->event->lost, n, memory_order_relaxed);
	counters_add(&a->s->counters, counter, n);
}

static void arrival_put(
	const struct arrival *a, const uint64_t *frames, uint32_t count, uint16_t flags)
{
	struct trace_key key = {.frames = frames,
		.count = count,
		.thread = a->thread->id,
		.event = a->event_number,
		.flags = flags};

	if (trace_table_put(a->s->table, &key, 1, a->weight))
		atomic_fetch_add_explicit(&a->event->samples, 1, memory_order_relaxed);
	else
		arrival_lose(a, COUNTER_TABLE_FULL, 1);
	if (trace_table_fill(a->s->table) > SAMPLER_HURRY &&
		!atomic_exchange_explicit(&a->s->hurry, 1, memory_order_relaxed))
		raw_futex_wake(&a->s->shared.control->command_seq);
}

/* arrival_store: every sample of the kernel's is a trace of its own over the same user frames. */
static void arrival_store(
	struct arrival *a, uint64_t *user, uint32_t count, uint32_t room, uint16_t flags)
{
	int kernel;

	if (!a->by_kernel) {
		arrival_put(a, user, count, flags);
		return;
	}
	while ((kernel = sig_perf_next(&a->samples, user, room)) >= 0)
		arrival_put(a, user - kernel, count + (uint32_t)kernel, flags);
	if (a->samples.lost)
		arrival_lose(a, COUNTER_PERF_LOST, a->samples.lost);
	sig_perf_close(&a->samples);
}

/* arrival_unwalked: a stack of which only the reason can be told. */
static void arrival_unwalked(struct arrival *a, enum walk_break why, unsigned counter)
{
	uint64_t frame = a->s->unknown_frames[why];

	counters_add(&a->s->counters, counter, 1);
	arrival_store(a, &frame, 1, 0, 0);
}

static struct scratch *scratch_take(struct sampler *s)
{
	for (uint32_t i = 0; i < SAMPLER_SCRATCH; i++) {
		if (!atomic_exchange_explicit(&s->scratch[i].taken, 1, memory_order_acquire))
			return &s->scratch[i];
	}
	return NULL;
}

static void scratch_give(struct scratch *scratch)
{
	atomic_store_explicit(&scratch->taken, 0, memory_order_release);
}

/* arrival_walk_agct: by the fallback; false when it has nothing to say of this stack. */
static bool arrival_walk_agct(struct arrival *a, struct scratch *scratch, const ucontext_t *context)
{
	struct sampler *s = a->s;
	uint64_t *user = scratch->packed + SAMPLER_KERNEL;
	uint64_t java = atomic_load_explicit(&a->thread->java_thread, memory_order_acquire);
	int32_t tid = atomic_load_explicit(&a->thread->tid, memory_order_relaxed);
	int count;

	if (!java || !s->thread_layout || walk_thread_tid(s->thread_layout, &s->mem, java) != tid)
		return false;
	count = sig_agct_walk(s->agct, java, (void *)context, scratch->frames, SAMPLER_DEPTH, user);
	if (count <= 0)
		counters_add(&s->counters, COUNTER_AGCT_FAILED, 1);
	else
		arrival_store(a, user, (uint32_t)count, SAMPLER_KERNEL,
			count == (int)SAMPLER_DEPTH ? TRACE_TRUNCATED : 0);
	return count > 0;
}

static void arrival_walk(struct arrival *a, struct scratch *scratch, const ucontext_t *context)
{
	struct sampler *s = a->s;
	struct walk_thread thread = {0};
	struct walk_result result;
	struct walk_regs regs;
	uint64_t *user = scratch->packed + SAMPLER_KERNEL;
	uint64_t java = atomic_load_explicit(&a->thread->java_thread, memory_order_acquire);
	int32_t tid = atomic_load_explicit(&a->thread->tid, memory_order_relaxed);
	uint32_t unnamed = 0;

	regs_read(context, &regs);
	thread.rows = atomic_load_explicit(&s->unwind, memory_order_acquire);
	if (java && s->layout && walk_thread_tid(s->layout, &s->mem, java) == tid)
		thread.java_thread = java;
	result = walk_stack(s->layout, &s->mem, &regs, &thread, scratch->frames, SAMPLER_DEPTH);
	names_resolve(s->names, s->layout, &s->mem, scratch->frames, result.count, user, &unnamed);
	if (unnamed)
		counters_add(&s->counters, COUNTER_UNNAMED, unnamed);
	if (result.truncated)
		counters_add(&s->counters, COUNTER_TRUNCATED, 1);
	else if (result.why != WALK_BREAK_NONE)
		counters_add(&s->counters, COUNTER_BREAK(result.why), 1);
	arrival_store(
		a, user, result.count, SAMPLER_KERNEL, result.truncated ? TRACE_TRUNCATED : 0);
}

/*
 * arrival_masked: a guarded load that faults on a thread which blocks these would end the process.
 */
static bool arrival_masked(const ucontext_t *context)
{
	uint64_t blocked = *(const uint64_t *)(const void *)&context->uc_sigmask;

	return blocked & (1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1));
}

/*
 * arrival_cramped: on an alternate stack (Rust's threads have 8 kB) there must be room for the walk, and for
 * the frame of a fault inside it, which is as large as the one that is already there.
 */
static bool arrival_cramped(const ucontext_t *context)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	uintptr_t low = (uintptr_t)context->uc_stack.ss_sp;
	size_t bytes = context->uc_stack.ss_size;

	return here - low < bytes && here - low < WALK_STACK_BYTES + (low + bytes - here);
}

static void arrival_take(struct arrival *a, const ucontext_t *context)
{
	struct scratch *scratch;

	if (arrival_masked(context)) {
		arrival_unwalked(a, WALK_BREAK_NO_FRAME, COUNTER_MASKED);
		return;
	}
	if (arrival_cramped(context)) {
		arrival_unwalked(a, WALK_BREAK_NO_FRAME, COUNTER_CRAMPED);
		return;
	}
	scratch = scratch_take(a->s);
	if (!scratch) {
		arrival_unwalked(a, WALK_BREAK_BUSY, COUNTER_BUSY);
		return;
	}
	if (!a->s->agct->call || !arrival_walk_agct(a, scratch, context))
		arrival_walk(a, scratch, context);
	scratch_give(scratch);
}

/* arrival_from_timer: value = cookie and event; every overrun is an interval more. */
static bool arrival_from_timer(struct arrival *a, const siginfo_t *info)
{
	uint32_t number = (uint32_t)info->si_value.sival_int & 0xff;

	if (number >= WIRE_EVENTS)
		return false;
	a->event_number = (uint16_t)number;
	a->event = &a->s->events[number];
	a->weight = atomic_load_explicit(&a->event->interval, memory_order_relaxed);
	a->weight *= 1u + (info->si_overrun > 0 ? (uint32_t)info->si_overrun : 0);
	return true;
}

/* arrival_from_perf: which of the thread's buffers, and is there anything in it. */
static bool arrival_from_perf(struct arrival *a, const siginfo_t *info)
{
	a->event_number = WIRE_CPU;
	a->event = &a->s->events[WIRE_CPU];
	a->weight = atomic_load_explicit(&a->event->interval, memory_order_relaxed);
	if (!a->thread)
		return true;
	for (uint32_t i = 0; i < THREADS_ARMS; i++) {
		struct thread_arm *arm = &a->thread->arms[i];

		if (!atomic_load_explicit(&arm->engine, memory_order_acquire) ||
			arm->fd != info->si_fd)
			continue;
		a->by_kernel = true;
		sig_perf_open(&a->samples, arm->ring);
		return a->samples.at != a->samples.head;
	}
	return false; /* closed a moment ago: what was in the buffer was read then */
}

static bool arrival_source(struct arrival *a, const siginfo_t *info)
{
	return info->si_code == SI_TIMER ? arrival_from_timer(a, info) : arrival_from_perf(a, info);
}

static void arrival_decide(struct arrival *a, const ucontext_t *context)
{
	if (!atomic_load_explicit(&a->event->on, memory_order_relaxed))
		arrival_lose(a, COUNTER_LATE, 1);
	else if (!a->thread)
		arrival_lose(a, COUNTER_NO_THREAD, 1);
	else
		arrival_take(a, context);
}

static void sig_arrived(struct sampler *s, const siginfo_t *info, const ucontext_t *context)
{
	struct arrival a = {.s = s, .thread = threads_find(s->threads, raw_gettid())};

	if (a.thread)
		atomic_fetch_add(&a.thread->inside, 1);
	if (arrival_source(&a, info))
		arrival_decide(&a, context);
	if (a.thread)
		atomic_fetch_sub_explicit(&a.thread->inside, 1, memory_order_release);
}

/*
 * sig_ours: from perf (POLL_IN and its like) or from one of our timers; never from kill or
 * sigqueue.
 */
static bool sig_ours(const siginfo_t *info)
{
	if (info->si_code == SI_TIMER)
		return (info->si_value.sival_int & ENGINE_COOKIE_MASK) == ENGINE_COOKIE;
	return info->si_code >= POLL_IN && info->si_code <= POLL_HUP;
}

static uint64_t handler_clock(void)
{
	struct timespec now = {0, 0};

	raw(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void sig_measured(struct sampler *s, const siginfo_t *info, const ucontext_t *context)
{
	uint64_t start = handler_clock();

	sig_arrived(s, info, context);
	atomic_fetch_add_explicit(
		&s->handler_ns, (handler_clock() - start) * MEASURED_OF, memory_order_relaxed);
}

void sig_sample(int sig, siginfo_t *info, void *context)
{
	struct sampler *s = sig_enter();

	if (s && !sig_ours(info))
		counters_add(&s->counters, COUNTER_FOREIGN, 1);
	else if (s && atomic_fetch_add(&s->handlers, 1) % MEASURED_OF == 0)
		sig_measured(s, info, context);
	else if (s)
		sig_arrived(s, info, context);
	sig_leave();
}
