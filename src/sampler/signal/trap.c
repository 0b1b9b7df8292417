/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of the breakpoints at which JDK 8 reports an allocation: its class, size and stack.
 *
 * perf's record is exact, no matter how late the signal is. The stack is the thread's present one: it belongs to the
 * last record, and only if the thread has not continued.
 *
 * A sample of a new buffer represents the whole buffer, because the probability that its first object is of a class
 * equals that class's share of the bytes.
 */
#include "sampler/signal/trap.h"
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"

#include "walk/hotspot/oop.h"
#include "walk/load/regs.h"

/*
 * The weight of a sample of an object or buffer of this size; 0: it is no sample. One at least as large as the interval
 * has its own size as weight; of smaller ones, the one that completes an interval has the interval as weight.
 */
static uint64_t trap_weight(struct thread_slot *thread, uint64_t bytes, uint64_t interval)
{
	if (bytes >= interval)
		return bytes;
	thread->trap_bytes += bytes;
	if (thread->trap_bytes < interval)
		return 0;
	thread->trap_bytes = (thread->trap_bytes - interval) % interval;
	return interval;
}

static void trap_record(struct sampler *s, struct thread_slot *thread, const uint64_t *at,
	uint64_t weight, const void *ucontext)
{
	bool outside = at[TRAP_PC] == s->events[WIRE_ALLOC].perf.config1;
	struct stack_sample sample = {
		.event = WIRE_ALLOC, .before = 1, .count = 1, .weight = weight};
	uint64_t java = atomic_load_explicit(&thread->java_thread, memory_order_acquire);
	int32_t tid = atomic_load_explicit(&thread->tid, memory_order_relaxed);
	struct stack stack;

	if (java && walk_thread_tid(s->layout, &s->mem, java) == tid)
		sig_stack_java_interrupted(&stack, s, thread, java, ucontext);
	else
		sig_stack_interrupted(&stack, s, thread, ucontext);
	/* JDK 8 passes a KlassHandle, a struct with the Klass* as its only field. */
	stack.user[-1] = WALK_PACK(outside ? WALK_CLASS_OUTSIDE : WALK_CLASS,
		sig_class_id(s, stack.mem, at[TRAP_ARG_0]));
	sig_stack_record(&stack, &sample);
	sig_stack_release(&stack);
}

void sig_trap_consume(
	struct sampler *s, struct thread_slot *thread, struct thread_arm *arm, const void *ucontext)
{
	const struct event *event = &s->events[WIRE_ALLOC];
	uint64_t interval = atomic_load_explicit(&event->interval, memory_order_relaxed);
	uint64_t at[TRAP_COUNT];
	struct perf_samples samples;
	struct walk_regs regs;

	regs_read(ucontext, &regs);
	sig_perf_open(&samples, arm->ring);
	while (sig_perf_regs(&samples, at, TRAP_COUNT)) {
		uint64_t weight =
			trap_weight(thread, at[trap_argument(event->perf.config2)], interval);
		if (!weight)
			continue;
		if (samples.at == samples.head && regs.pc == at[TRAP_PC])
			trap_record(s, thread, at, weight, ucontext);
		else
			sig_lose(s, WIRE_ALLOC, COUNTER_LATE, 1);
	}
	if (samples.lost)
		sig_lose(s, WIRE_ALLOC, COUNTER_PERF_LOST, samples.lost);
	sig_perf_close(&samples);
}
