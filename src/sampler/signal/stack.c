/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread's stack: walked once on the thread itself, named, and put into the trace table for every sample
 * that it serves.
 */
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"

#include "walk/frames/unmounted.h"
#include "walk/hotspot/layout.h"
#include "walk/hotspot/oop.h"
#include "walk/load/guard.h"
#include "walk/load/regs.h"

#include <ucontext.h>

#define CLASS_NAME 512u

void sig_lose(struct sampler *s, uint32_t event, unsigned counter, uint64_t n)
{
	atomic_fetch_add_explicit(&s->events[event].samples, n, memory_order_relaxed);
	atomic_fetch_add_explicit(&s->events[event].lost, n, memory_order_relaxed);
	counters_add(&s->counters, counter, n);
}

uint64_t sig_clock(void)
{
	struct timespec now = {0, 0};

	raw(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void sig_hurry(struct sampler *s)
{
	if (trace_table_fill(s->table) > SAMPLER_HURRY &&
		!atomic_exchange_explicit(&s->hurry, 1, memory_order_relaxed))
		raw_futex_wake(&s->shared.control->command_seq);
}

void sig_arms_ask(struct sampler *s, struct thread_slot *slot)
{
	if (atomic_exchange(&slot->arms_asked, 1))
		return;
	slot->arms_next = atomic_load(&s->arms_asked);
	while (!atomic_compare_exchange_weak(
		&s->arms_asked, &slot->arms_next, threads_number(s->threads, slot) + 1))
		;
	raw_futex_wake(&s->shared.control->command_seq);
}

static void stack_count(const struct stack *stack, struct event *event, uint32_t samples)
{
	atomic_fetch_add_explicit(&event->samples, samples, memory_order_relaxed);
	if (stack->flaw)
		counters_add(&stack->s->counters, stack->flaw, samples);
}

uint64_t sig_stack_put(const struct stack *stack, const struct stack_sample *sample)
{
	bool stored;
	struct trace_key key = {.frames = stack->user - sample->before,
		.count = stack->count + sample->before,
		.thread = stack->id ? stack->id : atomic_load(&stack->thread->id),
		.event = (uint16_t)sample->event,
		.flags = (uint16_t)(stack->flags | WIRE_TRACE_IN_STATE(sample->state))};
	struct event *event = &stack->s->events[sample->event];

	if (atomic_load_explicit(&stack->thread->unselected, memory_order_relaxed))
		return 0;
	stored = trace_table_put(stack->s->table, &key, sample->count, sample->weight);
	if (stored)
		stack_count(stack, event, sample->count);
	else
		sig_lose(stack->s, sample->event, COUNTER_TABLE_FULL, sample->count);
	sig_hurry(stack->s);
	return stored && sample->state ? trace_table_hash(&key) : 0;
}

void sig_frame_put(struct sampler *s, struct thread_slot *slot, uint32_t id, uint64_t frame,
	const struct stack_sample *sample)
{
	struct stack stack = {.s = s, .thread = slot, .id = id, .count = 1};

	stack.reason[1] = frame;
	stack.user = &stack.reason[1];
	sig_stack_put(&stack, sample);
}

/* --- taking it -------------------------------------------------------------------------------- */

static struct scratch *scratch_take(struct sampler *s)
{
	for (uint32_t i = 0; i < SAMPLER_SCRATCH; i++) {
		if (!atomic_exchange_explicit(&s->scratch[i].taken, 1, memory_order_acquire))
			return &s->scratch[i];
	}
	return NULL;
}

void sig_stack_give(struct stack *stack)
{
	if (stack->scratch)
		atomic_store_explicit(&stack->scratch->taken, 0, memory_order_release);
	stack->scratch = NULL;
}

/* stack_id: of the virtual thread that is mounted, else of the thread. It has no other one before the walk is over. */
static uint32_t stack_id(const struct stack *stack, uint64_t java_thread)
{
	uint32_t id = sig_virtual(stack->s, stack->mem, stack->thread, java_thread);

	return id ? id : atomic_load(&stack->thread->id);
}

/* stack_unwalked: a stack of which only the reason can be told. */
static void stack_unwalked(struct stack *stack, enum walk_break why, unsigned counter)
{
	counters_add(&stack->s->counters, counter, 1);
	stack->reason[1] = stack->s->unknown_frames[why];
	stack->user = &stack->reason[1];
	stack->count = stack->max = 1;
	stack->flaw = (uint16_t)COUNTER_BREAK(why);
}

static struct walk_cut stack_cut(struct sampler *s)
{
	uint64_t depth = atomic_load_explicit(&s->depth, memory_order_relaxed);

	return (struct walk_cut){
		WIRE_DEPTH_LIMIT(depth), WIRE_DEPTH_TOP(depth), WIRE_DEPTH_ROOT(depth)};
}

/* stack_walk_agct: by the fallback; false when it has nothing to say of this stack. */
static bool stack_walk_agct(struct stack *stack, const ucontext_t *context)
{
	struct sampler *s = stack->s;
	uint64_t java = atomic_load_explicit(&stack->thread->java_thread, memory_order_acquire);
	int32_t tid = atomic_load_explicit(&stack->thread->tid, memory_order_relaxed);
	uint64_t began = cost_ticks();
	struct walk_cut cut = stack_cut(s);
	int count;

	if (!java || !s->thread_layout ||
		walk_thread_tid(s->thread_layout, stack->mem, java) != tid)
		return false;
	count = sig_agct_walk(
		s->agct, java, (void *)context, stack->scratch->frames, cut.limit, stack->user);
	if (count <= 0) {
		counters_add(&s->counters, COUNTER_AGCT_FAILED, 1);
		return false;
	}
	cost_add(&s->cost, cost_class((uint32_t)count), cost_ticks() - began);
	stack->count = (uint32_t)count;
	if (stack->count == cut.limit) { /* it tells nothing of the root */
		stack->count = cut.top;
		stack->flags = WIRE_TRACE_TRUNCATED;
	}
	return true;
}

/* stack_name: what was walked, packed with names. */
static void stack_name(struct stack *stack, const struct walk_result *result, struct tail *tail)
{
	struct sampler *s = stack->s;
	uint32_t unnamed = 0;

	names_resolve(s->names, s->layout, stack->mem, stack->scratch->frames, result->count,
		stack->user, &unnamed);
	frame_cache_keep(
		&stack->scratch->cache, stack->scratch->frames, stack->user, result->count);
	if (tail)
		tail_give(tail, stack->user, result->count);
	if (unnamed)
		counters_add(&s->counters, COUNTER_UNNAMED, unnamed);
	if (result->truncated)
		stack->flaw = COUNTER_TRUNCATED;
	else if (result->why != WALK_BREAK_NONE)
		stack->flaw = (uint16_t)COUNTER_BREAK(result->why);
	stack->count = result->count;
	stack->flags = result->truncated ? WIRE_TRACE_TRUNCATED : 0;
}

/*
 * stack_named: the same, and what it cost. New names are copied once in a session, and not by all profilers while a
 * thread waits: what a walk costs is told without them. Another thread's new names at the same moment count as this
 * one's.
 */
static void stack_named(
	struct stack *stack, const struct walk_result *result, struct tail *tail, uint64_t began)
{
	struct sampler *s = stack->s;
	uint32_t newest = names_newest(s->names);
	uint64_t walked = cost_ticks(), named;

	stack_name(stack, result, tail);
	named = cost_ticks();
	if (names_newest(s->names) == newest)
		walked = named;
	else
		cost_add(&s->cost, COST_NAMES, named - walked);
	cost_add(&s->cost, cost_class(result->count), walked - began);
}

/*
 * stack_of_java: the JavaThread of this thread, with the bounds of its stack. What the slot has may be gone, and its
 * memory another's: it must say that it is this thread's, or, for one load, that it has this thread's stack.
 */
static void stack_of_java(const struct stack *stack, uint64_t java, struct walk_thread *out)
{
	const struct sampler *s = stack->s;
	struct thread_slot *slot = stack->thread;
	struct thread_stack *known = &slot->stack;
	uint64_t hi;

	if (!java || !s->layout)
		return;
	hi = layout_load(&s->layout->thread_stack_base, stack->mem, java);
	if (!hi)
		return;
	if (atomic_load_explicit(&known->java_thread, memory_order_relaxed) != java ||
		known->hi != hi) {
		if (walk_thread_tid(s->layout, stack->mem, java) !=
			atomic_load_explicit(&slot->tid, memory_order_relaxed))
			return;
		atomic_store_explicit(&known->java_thread, 0, memory_order_relaxed);
		atomic_signal_fence(memory_order_seq_cst); /* for a handler in between */
		known->hi = hi;
		known->lo = hi - layout_load(&s->layout->thread_stack_size, stack->mem, java);
		atomic_signal_fence(memory_order_seq_cst);
		atomic_store_explicit(&known->java_thread, java, memory_order_relaxed);
	}
	out->java_thread = java;
	out->stack_hi = known->hi;
	out->stack_lo = known->lo;
}

static void stack_walk(struct stack *stack, const struct walk_regs *regs, uint64_t java)
{
	struct sampler *s = stack->s;
	struct walk_cut cut = stack_cut(s);
	struct walk_thread thread = {.cut = &cut};
	struct walk_result result;
	uint64_t began = cost_ticks();

	thread.rows = atomic_load_explicit(&s->unwind, memory_order_acquire);
	thread.cache = &stack->scratch->cache;
	stack_of_java(stack, java, &thread);
	thread.compiler = thread.java_thread && stack->thread->kind == WIRE_THREAD_COMPILER;
	thread.tail = tail_take(&s->tails[stack->thread - s->threads->slots], stack->thread->id);
	result =
		walk_stack(s->layout, stack->mem, regs, &thread, stack->scratch->frames, cut.limit);
	stack_named(stack, &result, thread.tail, began);
}

bool sig_stack_masked(const void *ucontext)
{
	const ucontext_t *context = ucontext;
	uint64_t blocked = *(const uint64_t *)(const void *)&context->uc_sigmask;

	return blocked & (1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1));
}

/* stack_open: a buffer to walk to; false, and a reason in its place, when all are taken. */
static bool stack_open(struct stack *stack)
{
	stack->scratch = scratch_take(stack->s);
	if (!stack->scratch) {
		stack_unwalked(stack, WALK_BREAK_BUSY, COUNTER_BUSY);
		return false;
	}
	stack->scratch->cache.table = stack->s->cache;
	stack->scratch->cache.epoch = atomic_load_explicit(&stack->s->epoch, memory_order_relaxed);
	stack->user = stack->scratch->packed + SAMPLER_KERNEL;
	stack->max = SAMPLER_KERNEL;
	return true;
}

/* stack_walkable: in this signal handler; false, and a reason in its place, where it is not. */
static bool stack_walkable(struct stack *stack, const ucontext_t *context)
{
	if (!sig_stack_masked(context))
		return true;
	stack_unwalked(stack, WALK_BREAK_NO_FRAME, COUNTER_MASKED);
	return false;
}

void sig_stack_interrupted(
	struct stack *stack, struct sampler *s, struct thread_slot *thread, const void *ucontext)
{
	struct walk_regs regs;
	uint64_t java = atomic_load_explicit(&thread->java_thread, memory_order_acquire);

	*stack = (struct stack){
		.s = s, .mem = sig_mem(s), .thread = thread, .rows = atomic_load(&s->rows)};
	/* Listed as a task before the JVM had listed it; the scan that tells comes a tenth of a second later. */
	if (!java)
		java = sig_java_current(s, stack->mem, atomic_load(&thread->tid));
	stack->id = stack_id(stack, java);
	if (!stack_walkable(stack, ucontext) || !stack_open(stack))
		return;
	regs_read(ucontext, &regs);
	if (!s->agct->call || !stack_walk_agct(stack, ucontext))
		stack_walk(stack, &regs, java);
}

/* stack_drop_stubs: the way out of Java is no news to whoever asks what was allocated or waited for. */
static void stack_drop_stubs(struct stack *stack)
{
	for (; stack->count > 1 && WIRE_FRAME_KIND(*stack->user) == WIRE_FRAME_STUB; stack->count--)
		stack->user++;
}

/* stack_take_java: from its anchor, where it has left Java. */
static void stack_take_java(struct stack *stack, uint64_t java_thread)
{
	struct sampler *s = stack->s;
	struct walk_cut cut = stack_cut(s);
	struct walk_thread walked = {.java_thread = java_thread, .cut = &cut};
	struct walk_result result;

	if (!stack_open(stack))
		return;
	walked.rows = atomic_load_explicit(&s->unwind, memory_order_acquire);
	walked.cache = &stack->scratch->cache;
	result = walk_java(s->layout, stack->mem, &walked, stack->scratch->frames, cut.limit);
	stack_name(stack, &result, NULL);
	stack_drop_stubs(stack);
}

uint32_t sig_class_id(struct sampler *s, uint64_t klass)
{
	char name[CLASS_NAME];
	uint32_t bytes = oop_klass_name(s->layout, &s->mem, klass, name, sizeof(name));

	return bytes ? names_text(s->names, name, bytes) : NAMES_ID_UNLOADED;
}

uint32_t sig_mirror_id(struct sampler *s, uint64_t klass)
{
	char name[CLASS_NAME] = "Class ";
	uint32_t before = 6;
	uint32_t bytes =
		oop_klass_name(s->layout, &s->mem, klass, name + before, sizeof(name) - before);

	return bytes ? names_text(s->names, name, before + bytes) : NAMES_ID_UNLOADED;
}

void sig_stack_java(
	struct stack *stack, struct sampler *s, struct thread_slot *thread, uint64_t java_thread)
{
	*stack = (struct stack){.s = s, .mem = &s->mem, .thread = thread};
	stack->id = stack_id(stack, java_thread);
	stack_take_java(stack, java_thread);
}

void sig_stack_frozen(struct stack *stack, struct sampler *s, struct thread_slot *thread,
	const struct frozen *where)
{
	struct walk_cut cut = stack_cut(s);
	struct walk_thread walked = {.cut = &cut};
	struct walk_result result;

	*stack = (struct stack){.s = s, .mem = &s->mem, .thread = thread};
	if (!stack_open(stack))
		return;
	walked.cache = &stack->scratch->cache;
	result = walk_frozen(
		s->layout, stack->mem, &walked, where, stack->scratch->frames, cut.limit);
	stack_name(stack, &result, NULL);
}

void sig_stack_java_interrupted(struct stack *stack, struct sampler *s, struct thread_slot *thread,
	uint64_t java_thread, const void *ucontext)
{
	*stack = (struct stack){.s = s, .mem = sig_mem(s), .thread = thread};
	stack->id = stack_id(stack, java_thread);
	if (stack_walkable(stack, ucontext))
		stack_take_java(stack, java_thread);
}
