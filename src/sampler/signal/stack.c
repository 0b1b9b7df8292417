/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread's stack: walked once on the thread itself, named, and recorded in the trace table for every sample it
 * serves.
 */
#include "sampler/engine/latency.h"
#include "sampler/signal/entry.h"
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"

#include "walk/frames/unmounted.h"
#include "walk/hotspot/layout.h"
#include "walk/hotspot/oop.h"
#include "walk/load/mem.h"
#include "walk/load/regs.h"

#include <ucontext.h>

#define CLASS_NAME 512u
#define ASK_FIRST  16u
#define ASK_EVERY  64u

void sig_lose(struct sampler *s, uint32_t event, unsigned counter, uint64_t n)
{
	atomic_fetch_add_explicit(&s->events[event].samples, n, memory_order_relaxed);
	atomic_fetch_add_explicit(&s->events[event].lost, n, memory_order_relaxed);
	counters_add(&s->counters, counter, n);
}

uint64_t sig_clock(void)
{
	return raw_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void sig_hurry(struct sampler *s)
{
	if (trace_table_fill(s->table) > SAMPLER_HURRY &&
		!atomic_exchange_explicit(&s->hurry, 1, memory_order_relaxed))
		raw_futex_wake(&s->shared.control->command_seq);
}

void sig_arms_request(struct sampler *s, struct thread_slot *slot)
{
	if (atomic_exchange(&slot->arms_asked, 1))
		return;
	slot->arms_next = atomic_load(&s->arms_asked);
	while (!atomic_compare_exchange_weak(
		&s->arms_asked, &slot->arms_next, threads_index(s->threads, slot) + 1))
		;
	raw_futex_wake(&s->shared.control->command_seq);
}

uint64_t sig_stack_record(const struct stack *stack, const struct stack_sample *sample)
{
	struct trace_key key = {.frames = stack->user - sample->before,
		.count = stack->count + stack->span_words + sample->before,
		.thread = stack->id ? stack->id : atomic_load(&stack->thread->id),
		.event = (uint16_t)sample->event,
		.flags = (uint16_t)(stack->flags | WIRE_TRACE_IN_STATE(sample->state))};
	struct event *event = &stack->s->events[sample->event];

	if (atomic_load_explicit(&stack->thread->unselected, memory_order_relaxed))
		return 0;
	bool stored = trace_table_add(stack->s->table, &key, sample->count, sample->weight);
	if (stored)
		atomic_fetch_add_explicit(&event->samples, sample->count, memory_order_relaxed);
	if (stored && stack->flaw)
		counters_add(&stack->s->counters, stack->flaw, sample->count);
	if (!stored)
		sig_lose(stack->s, sample->event, COUNTER_TABLE_FULL, sample->count);
	sig_hurry(stack->s);
	struct trace_key bare = trace_key_without_span(&key);
	return stored && sample->state ? trace_table_hash(&bare) : 0;
}

void sig_frame_record(struct sampler *s, struct thread_slot *slot, uint32_t id, uint64_t frame,
	const struct stack_sample *sample)
{
	struct stack stack = {.s = s, .thread = slot, .id = id, .count = 1};

	stack.reason[1] = frame;
	stack.user = &stack.reason[1];
	sig_stack_record(&stack, sample);
}

/* --- walking ---------------------------------------------------------------------------------- */

void sig_stack_release(struct stack *stack)
{
	if (stack->scratch)
		sig_scratch_release(stack->scratch);
	stack->scratch = NULL;
}

/* The id of the mounted virtual thread, or of the thread itself. The mount cannot change before the walk is over. */
static uint32_t stack_id(const struct stack *stack, uint64_t java_thread)
{
	uint32_t id = sig_virtual(stack->s, stack->mem, stack->thread, java_thread);

	return id ? id : atomic_load(&stack->thread->id);
}

static struct walk_cut stack_cut(struct sampler *s)
{
	uint64_t depth = atomic_load_explicit(&s->depth, memory_order_relaxed);

	return (struct walk_cut){
		WIRE_DEPTH_LIMIT(depth), WIRE_DEPTH_TOP(depth), WIRE_DEPTH_ROOT(depth)};
}

static uint64_t stack_ticks(const struct stack *stack)
{
	return stack->measured ? cost_ticks() : 0;
}

/* Walks with the fallback walker; false when it does not support this stack. */
static bool stack_walk_agct(struct stack *stack, const ucontext_t *context)
{
	struct sampler *s = stack->s;
	uint64_t java = atomic_load_explicit(&stack->thread->java_thread, memory_order_acquire);
	int32_t tid = atomic_load_explicit(&stack->thread->tid, memory_order_relaxed);
	uint64_t blocked = *(const uint64_t *)(const void *)&context->uc_sigmask;
	uint64_t began = stack_ticks(stack);
	struct walk_cut cut = stack_cut(s);

	/* HotSpot's own walker may fault, and a blocked fault terminates the process. */
	if (blocked & (1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1)))
		return false;
	if (!java || !s->thread_layout ||
		walk_thread_tid(s->thread_layout, stack->mem, java) != tid)
		return false;
	int count = sig_agct_walk(
		s->agct, java, (void *)context, stack->scratch->frames, cut.limit, stack->user);
	if (count <= 0) {
		counters_add(&s->counters, COUNTER_AGCT_FAILED, 1);
		return false;
	}
	if (stack->measured)
		cost_add(&s->cost, cost_class((uint32_t)count), cost_ticks() - began);
	stack->count = (uint32_t)count;
	if (stack->count == cut.limit) { /* it does not report the root */
		stack->count = cut.top;
		stack->flags = WIRE_TRACE_TRUNCATED;
	}
	return true;
}

/* Resolves the walked frames to packed frames with names. */
static void stack_name(struct stack *stack, const struct walk_result *result, struct tail *tail)
{
	struct sampler *s = stack->s;
	uint32_t unnamed = 0;

	names_resolve(s->names, s->layout, stack->mem, &stack->scratch->cache,
		stack->scratch->frames, result->count, stack->user, &unnamed);
	frame_cache_insert(
		&stack->scratch->cache, stack->scratch->frames, stack->user, result->count);
	if (tail)
		tail_release(tail, stack->user, result->count);
	if (unnamed)
		counters_add(&s->counters, COUNTER_UNNAMED, unnamed);
	if (result->truncated)
		stack->flaw = COUNTER_TRUNCATED;
	else if (result->why != WALK_BREAK_NONE)
		stack->flaw = (uint16_t)COUNTER_BREAK(result->why);
	stack->count = result->count;
	stack->flags = result->truncated ? WIRE_TRACE_TRUNCATED : 0;
	stack->stack_hi = result->followed ? 0 : result->stack_hi;
}

/*
 * The same, and records the cost. New names are copied only once per session, and other profilers may do so outside of
 * the walk, so the cost of a walk is reported without them. New names of another thread at the same moment are
 * attributed to this one.
 */
static void stack_named(
	struct stack *stack, const struct walk_result *result, struct tail *tail, uint64_t began)
{
	struct sampler *s = stack->s;
	uint32_t newest = names_newest(s->names);
	uint64_t walked = stack_ticks(stack);

	stack_name(stack, result, tail);
	if (!stack->measured)
		return;
	uint64_t named = cost_ticks();
	if (names_newest(s->names) == newest)
		walked = named;
	else
		cost_add(&s->cost, COST_NAMES, named - walked);
	cost_add(&s->cost, cost_class(result->count), walked - began);
}

/*
 * True when this JavaThread is alive and belongs to the running thread. HotSpot keeps its address in the thread's
 * descriptor (jvm_current_place), which is mapped as long as the thread runs, and clears it before the JavaThread is
 * freed. The first time, both are read through the kernel, and the JavaThread must have this thread's id. Later, an
 * unchanged thread pointer proves that it is the same thread.
 */
static bool java_proved(const struct stack *stack, uint64_t java)
{
	const struct sampler *s = stack->s;
	struct thread_proof *proof = &stack->thread->proof;
	uint64_t word = 0;

	if (atomic_load_explicit(&proof->java_thread, memory_order_relaxed) == java)
		return raw_thread_pointer() == proof->pointer &&
		       mem_in_place_64(proof->current) == java;
	uint64_t pointer = s->current_place ? raw_thread_pointer() : 0;
	if (!pointer || !sig_copy(pointer + (uint64_t)s->current_place, &word, sizeof(word)) ||
		word != java || walk_thread_tid(s->layout, stack->mem, java) != raw_gettid())
		return false;
	proof->pointer = pointer;
	proof->current = pointer + (uint64_t)s->current_place;
	atomic_store_explicit(&proof->java_thread, java, memory_order_relaxed);
	return true;
}

/*
 * The JavaThread of a thread that was listed as a task before the JVM listed it. The scan that sets it runs a tenth of
 * a second later, so most samples of native threads need not check: the first ASK_FIRST do, then one in ASK_EVERY.
 */
static uint64_t java_unlisted(const struct stack *stack)
{
	uint32_t asked = stack->thread->proof.unknown++;
	bool hotspot_own;

	if (atomic_load(&stack->thread->hotspot_own) || (asked >= ASK_FIRST && asked % ASK_EVERY))
		return 0;
	uint64_t java = sig_java_current(
		stack->s, stack->mem, atomic_load(&stack->thread->tid), &hotspot_own);
	if (hotspot_own)
		atomic_store(&stack->thread->hotspot_own, 1);
	return java;
}

/* Makes further loads read the running thread's own JavaThread, and its stack from sp upwards, in place. */
static void stack_in_place(struct stack *stack, uint64_t java, uint64_t sp)
{
	const struct walk_layout *l = stack->s->layout;

	stack->self.own_low = java;
	/* Up to the end of its last page: a CompilerThread is larger than a JavaThread. */
	if (l->thread_bytes)
		stack->self.own_high = ((java + l->thread_bytes - 1) | 4095) + 1;
	uint64_t hi = layout_load(&l->thread_stack_base, stack->mem, java);
	uint64_t bytes = layout_load(&l->thread_stack_size, stack->mem, java);
	if (sp < hi && hi - sp <= bytes)
		self_mem_stack(&stack->self, sp, hi);
}

/* Passes the JavaThread to the walk if it belongs to the running thread; the slot's may be stale and freed. */
static void stack_of_java(const struct stack *stack, uint64_t java, struct walk_thread *out)
{
	const struct walk_layout *l = stack->s->layout;

	if (!java || !l)
		return;
	if (stack->self.own_low != java &&
		walk_thread_tid(l, stack->mem, java) != atomic_load(&stack->thread->tid))
		return;
	out->java_thread = java;
	out->stack_hi = layout_load(&l->thread_stack_base, stack->mem, java);
	out->stack_lo = out->stack_hi - layout_load(&l->thread_stack_size, stack->mem, java);
}

static void stack_walk(struct stack *stack, const struct walk_regs *regs, uint64_t java)
{
	struct sampler *s = stack->s;
	struct walk_cut cut = stack_cut(s);
	struct walk_thread thread = {.cut = &cut};
	struct thread_proof *proof = &stack->thread->proof;
	uint64_t began = stack_ticks(stack);

	thread.rows = atomic_load_explicit(&s->unwind, memory_order_acquire);
	thread.cache = &stack->scratch->cache;
	stack_of_java(stack, java, &thread);
	if (thread.java_thread && stack->thread->kind == WIRE_THREAD_COMPILER) {
		/* Proved by a subclass that only HotSpot creates: a name alone could be the program's. */
		if (proof->compiler != thread.java_thread &&
			sig_owner(s, stack->thread) == THREADS_JAVA_OWN)
			proof->compiler = thread.java_thread;
		thread.compiler = proof->compiler == thread.java_thread;
	}
	/* Frames from a tail lack their place on the stack. */
	if (!latency_on(s))
		thread.tail = tail_acquire(
			&s->tails[stack->thread - s->threads->slots], stack->thread->id);
	struct walk_result result =
		walk_stack(s->layout, stack->mem, regs, &thread, stack->scratch->frames, cut.limit);
	stack_named(stack, &result, thread.tail, began);
}

/* Initializes an empty stack without a buffer. */
static void stack_begin(struct stack *stack, struct sampler *s, struct thread_slot *thread)
{
	*stack = (struct stack){
		.s = s, .mem = &s->mem, .thread = thread, .rows = atomic_load(&s->rows)};
}

/* Acquires a buffer for the walk; if all are in use, returns false and stores a reason instead. */
static bool stack_open(struct stack *stack)
{
	stack->scratch = sig_scratch_acquire(stack->s->scratch);
	if (!stack->scratch) {
		counters_add(&stack->s->counters, COUNTER_BUSY, 1);
		stack->reason[1] = stack->s->unknown_frames[WALK_BREAK_BUSY];
		stack->user = &stack->reason[1];
		stack->count = stack->max = 1;
		stack->flaw = (uint16_t)COUNTER_BREAK(WALK_BREAK_BUSY);
		return false;
	}
	stack->scratch->cache.table = stack->s->cache;
	stack->scratch->cache.epoch = atomic_load_explicit(&stack->s->epoch, memory_order_relaxed);
	stack->user = stack->scratch->packed + SAMPLER_KERNEL;
	stack->max = SAMPLER_KERNEL;
	self_mem_open(
		&stack->self, sig_copy_more, &stack->s->kept, self_lines(&stack->scratch->lines));
	self_keep_constants(&stack->self, stack->s->constants, stack->scratch->cache.epoch);
	self_prefetch_by(&stack->self, sig_copy_lines);
	stack->mem = &stack->self.mem;
	return true;
}

void sig_stack_interrupted(
	struct stack *stack, struct sampler *s, struct thread_slot *thread, const void *ucontext)
{
	struct walk_regs regs;
	uint64_t java = atomic_load_explicit(&thread->java_thread, memory_order_acquire);

	stack_begin(stack, s, thread);
	bool open = stack_open(stack);
	if (!java)
		java = java_unlisted(stack);
	regs_read(ucontext, &regs);
	stack->pc = regs.pc;
	uint32_t walks = atomic_fetch_add_explicit(&s->walks, 1, memory_order_relaxed);
	stack->measured =
		(walks < COST_FIRST || walks % COST_OF == COST_OF / 2) && raw_may_read_counter();
	if (open && java && s->layout && java_proved(stack, java))
		stack_in_place(stack, java, regs.sp);
	stack->id = stack_id(stack, java);
	if (open && (!s->agct->call || !stack_walk_agct(stack, ucontext)))
		stack_walk(stack, &regs, java);
	sig_context_add(stack);
}

/* Walks the Java frames from the thread's anchor, where it has left Java. */
static void stack_walk_java(struct stack *stack, uint64_t java_thread)
{
	struct sampler *s = stack->s;
	struct walk_cut cut = stack_cut(s);
	struct walk_thread walked = {.java_thread = java_thread, .cut = &cut};

	walked.rows = atomic_load_explicit(&s->unwind, memory_order_acquire);
	walked.cache = &stack->scratch->cache;
	struct walk_result result =
		walk_java(s->layout, stack->mem, &walked, stack->scratch->frames, cut.limit);
	stack_name(stack, &result, NULL);
	/* The stubs that lead out of Java are noise in stacks of allocations and waits. */
	for (; stack->count > 1 && WIRE_FRAME_KIND(*stack->user) == WIRE_FRAME_STUB; stack->count--)
		stack->user++;
}

uint32_t sig_class_id(struct sampler *s, const struct walk_mem *mem, uint64_t klass)
{
	char name[CLASS_NAME];
	uint32_t bytes = oop_klass_name(s->layout, mem, klass, name, sizeof(name));

	return bytes ? names_text(s->names, name, bytes) : NAMES_ID_UNLOADED;
}

uint32_t sig_mirror_id(struct sampler *s, const struct walk_mem *mem, uint64_t klass)
{
	char name[CLASS_NAME] = "Class ";
	uint32_t before = 6;
	uint32_t bytes =
		oop_klass_name(s->layout, mem, klass, name + before, sizeof(name) - before);

	return bytes ? names_text(s->names, name, before + bytes) : NAMES_ID_UNLOADED;
}

void sig_stack_java(
	struct stack *stack, struct sampler *s, struct thread_slot *thread, uint64_t java_thread)
{
	stack_begin(stack, s, thread);
	bool open = stack_open(stack);
	stack->id = stack_id(stack, java_thread);
	if (open)
		stack_walk_java(stack, java_thread);
}

void sig_stack_java_own(
	struct stack *stack, struct sampler *s, struct thread_slot *thread, uint64_t java_thread)
{
	stack_begin(stack, s, thread);
	bool open = stack_open(stack);
	if (open)
		stack_in_place(stack, java_thread, (uint64_t)(uintptr_t)__builtin_frame_address(0));
	stack->id = stack_id(stack, java_thread);
	if (open)
		stack_walk_java(stack, java_thread);
	sig_context_add(stack);
}

void sig_stack_frozen(struct stack *stack, struct sampler *s, struct thread_slot *thread,
	const struct frozen *where)
{
	struct walk_cut cut = stack_cut(s);
	struct walk_thread walked = {.cut = &cut};

	stack_begin(stack, s, thread);
	if (!stack_open(stack))
		return;
	walked.cache = &stack->scratch->cache;
	struct walk_result result = walk_frozen(
		s->layout, stack->mem, &walked, where, stack->scratch->frames, cut.limit);
	stack_name(stack, &result, NULL);
}

void sig_stack_java_interrupted(struct stack *stack, struct sampler *s, struct thread_slot *thread,
	uint64_t java_thread, const void *ucontext)
{
	struct walk_regs regs;

	stack_begin(stack, s, thread);
	bool open = stack_open(stack);
	regs_read(ucontext, &regs);
	if (open && java_proved(stack, java_thread))
		stack_in_place(stack, java_thread, regs.sp);
	stack->id = stack_id(stack, java_thread);
	if (open)
		stack_walk_java(stack, java_thread);
	sig_context_add(stack);
}
