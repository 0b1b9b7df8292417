/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locates a sample in a measured call.
 *
 * Java code stores all values that are live across a call in the caller's frame, and only the thread itself writes there. So
 * these words are constant during the call, except that a collection may relocate references. Before its next call, a
 * caller has usually changed at least one of them: a loop counter, a local variable, a return address. The frames of the
 * two innermost callers are hashed.
 */
#include "sampler/engine/latency.h"
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"

#include "walk/load/mem.h"

#include <linux/perf_event.h>

#define LATENCY_FRAMES 2u   /* physical frames of callers that are hashed */
#define LATENCY_WORDS  512u /* at most this many words of them */

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

static bool frame_is_java(uint64_t packed)
{
	return walk_type_is_java((unsigned)(packed >> 56));
}

/* Method and bci of a packed Java frame, however it was executed. */
static uint64_t place_of(uint64_t packed)
{
	return frame_is_java(packed) ? packed & ((1ull << 56) - 1) : 0;
}

/* A selected method's outermost frame. */
struct place {
	uint32_t frame, method; /* their indices */
	bool recursive;
};

static bool find_call(
	const struct latency *l, const struct stack *stack, uint32_t until, struct place *out)
{
	uint32_t count = atomic_load_explicit(&l->count, memory_order_relaxed), found = 0;

	for (uint32_t i = 0; i < until; i++) {
		if (!frame_is_java(stack->user[i]))
			continue;
		for (uint32_t m = 0; m < count; m++) {
			if ((uint32_t)stack->user[i] != atomic_load(&l->methods[m].id))
				continue;
			*out = (struct place){i, m, found++ > 0};
			break;
		}
	}
	return found > 0;
}

/* Index of a virtual thread's outermost frame; below it are its carrier's. stack->count: unknown. */
static uint32_t virtual_root(const struct latency *l, const struct stack *stack)
{
	uint32_t root = atomic_load(&l->virtual_root), i = 0;

	while (i < stack->count &&
		(!root || !frame_is_java(stack->user[i]) || (uint32_t)stack->user[i] != root))
		i++;
	return i;
}

/*
 * A virtual thread's frames move whenever it is mounted: the call is identified by its depth in Java frames, and by the methods and
 * positions of its callers.
 */
static void describe_virtual(
	struct thread_call *call, const struct stack *stack, uint32_t at, uint32_t root)
{
	const struct walk_frame *frames = stack->scratch->frames;

	if (at < root && frames[at + 1].from_base == frames[at].from_base)
		call->flags |= WIRE_POLL_INLINED;
	for (uint32_t i = at; i <= root; i++) {
		call->frame += frame_is_java(stack->user[i]);
		if (i > at)
			call->outside = mix(call->outside, place_of(stack->user[i]));
	}
	call->values = call->outside;
}

bool sig_latency_frozen(const struct stack *stack, struct latency *l, struct thread_call *call)
{
	struct place at;

	if (stack->flaw || !stack->count || !frame_is_java(stack->user[stack->count - 1]))
		return false;
	atomic_store(&l->virtual_root, (uint32_t)stack->user[stack->count - 1]);
	if (!find_call(l, stack, stack->count, &at))
		return true;
	call->flags = at.recursive ? WIRE_POLL_RECURSIVE : 0;
	describe_virtual(call, stack, at.frame, stack->count - 1);
	return true;
}

/* Determines which code a compiled frame runs, by its pc: the return address of its callee, or the interrupted one. */
static void describe_code(
	struct thread_call *call, const struct latency *l, const struct stack *stack, uint32_t at)
{
	const struct walk_frame *frames = stack->scratch->frames;
	unsigned type = (unsigned)(stack->user[at] >> 56);
	uint64_t pc = stack->pc;

	if (call->flags & WIRE_POLL_INLINED || type == WALK_INTERPRETED)
		return;
	if (frames[at].from_base != frames[0].from_base)
		pc = mem_u64(stack->mem, stack->stack_hi - 8ull * frames[at].from_base - 8);
	if (entries_recorded(&l->entries, pc))
		call->flags |= WIRE_POLL_RECORDED;
}

static void describe(struct thread_call *call, const struct latency *l, const struct stack *stack,
	uint32_t at, uint32_t parameters)
{
	const struct walk_frame *frames = stack->scratch->frames;
	uint32_t caller = at + 1, until, above = 0;
	uint64_t low;

	if (caller < stack->count)
		call->outside = call->values = place_of(stack->user[caller]);
	while (caller < stack->count && frames[caller].from_base >= frames[at].from_base)
		caller++;
	if (caller > at + 1)
		call->flags |= WIRE_POLL_INLINED;
	if (caller == stack->count) {
		call->frame = 1;
		return;
	}
	call->frame = frames[caller].from_base;
	for (until = caller; until < stack->count && above < LATENCY_FRAMES; until++)
		above += until + 1 == stack->count ||
			 frames[until + 1].from_base < frames[until].from_base;
	describe_code(call, l, stack, at);
	call->end = low = stack->stack_hi - 8ull * call->frame;
	/* An interpreted method keeps its parameters where its caller has pushed them. */
	if (stack->user[at] >> 56 == WALK_INTERPRETED)
		low += 8ull * parameters;
	uint64_t high = until < stack->count ? stack->stack_hi - 8ull * frames[until].from_base
					     : stack->stack_hi;
	uint64_t bytes = high > low ? high - low : 0;
	bytes = bytes < 8ull * LATENCY_WORDS ? bytes : 8ull * LATENCY_WORDS;
	for (uint64_t at_word = low; at_word < low + bytes; at_word += 8) {
		uint64_t word = mem_u64(stack->mem, at_word);

		call->outside = mix(call->outside, word);
		if (word < l->heap_low || word >= l->heap_high)
			call->values = mix(call->values, word);
	}
}

void sig_latency_record(const struct stack *stack, struct latency *l, uint64_t hash)
{
	struct thread_call *call = &stack->thread->call;
	struct place at = {.frame = 0};

	/* Not collected yet: another handler's answer to the same request. */
	if (atomic_load_explicit(&call->fresh, memory_order_acquire))
		return;
	call->id = stack->id ? stack->id : atomic_load(&stack->thread->id);
	call->time_ns = raw_clock_ns(CLOCK_MONOTONIC);
	call->cpu_ns = sig_clock();
	call->frame = call->outside = call->values = 0;
	call->flags = 0;
	call->end = 0;
	call->hash = hash;
	const struct perf_event_mmap_page *ring =
		atomic_load_explicit(&call->ring, memory_order_acquire);
	call->head = ring ? 1 + __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE) : 0;
	uint32_t until = stack->count;
	if (WIRE_IS_VIRTUAL(call->id)) {
		until = virtual_root(l, stack);
		if (until == stack->count)
			return;
	}
	if (stack->scratch && find_call(l, stack, until, &at)) {
		call->flags = at.recursive ? WIRE_POLL_RECURSIVE : 0;
		if (WIRE_IS_VIRTUAL(call->id)) {
			describe_virtual(call, stack, at.frame, until);
			describe_code(call, l, stack, at.frame);
		} else if (stack->stack_hi)
			describe(call, l, stack, at.frame,
				atomic_load(&l->methods[at.method].parameters));
		else
			return; /* the stack's end is unknown */
	}
	atomic_store_explicit(&call->fresh, 1, memory_order_release);
}
