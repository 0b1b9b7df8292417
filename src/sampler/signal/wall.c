/* SPDX-License-Identifier: Apache-2.0 */
/* The wall clock's sample, on the thread itself. */
#include "sampler/engine/wall.h"
#include "sampler/engine/latency.h"
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"

#include "walk/hotspot/layout.h"
#include "walk/load/regs.h"

#include <sys/resource.h>

/*
 * The thread's state. Only the thread itself can determine in time which monitor it waits for or in, and only if it can
 * be walked.
 */
static uint32_t wall_state(const struct stack *stack)
{
	const struct sampler *s = stack->s;
	uint32_t state = atomic_load(&stack->thread->wall.state);
	uint64_t java = atomic_load_explicit(&stack->thread->java_thread, memory_order_acquire);
	int32_t tid = atomic_load_explicit(&stack->thread->tid, memory_order_relaxed);

	if (state != WALL_IN_FUTEX || !stack->scratch || !java || !s->thread_layout ||
		walk_thread_tid(s->thread_layout, stack->mem, java) != tid)
		return state;
	if (layout_load(&s->thread_layout->thread_pending, stack->mem, java))
		return WIRE_STATE_MONITOR;
	if (layout_load(&s->thread_layout->thread_waiting, stack->mem, java))
		return atomic_load(&stack->thread->wall.enters_again) ? WIRE_STATE_MONITOR
								      : WIRE_STATE_WAITING;
	return state;
}

/*
 * The id of the text for the descriptor that the thread waits for, as the wall-clock thread has found it. 0 unless the
 * thread is still in the same call on the same descriptor, and that is the same file.
 */
static uint32_t wall_io_name(const struct stack *stack, const void *ucontext)
{
	const struct thread_wall_io *io = &stack->thread->wall.io;
	uint32_t name = atomic_load_explicit(&io->name, memory_order_acquire), polled;
	struct statx st;
	uint64_t fd;

	if (!name || !regs_in_call(ucontext, io->sp, io->pc))
		return 0;
	if (io->poll && !stack->mem->load(stack->mem, io->poll, &polled, sizeof(polled)))
		return 0;
	if (io->poll)
		fd = polled;
	else if (!regs_argument(ucontext, io->pc, &fd))
		return 0;
	if ((int32_t)fd != io->fd || raw_stat(io->fd, &st) < 0 || st.stx_ino != io->inode ||
		((uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor) != io->device)
		return 0;
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&io->name, memory_order_relaxed) == name ? name : 0;
}

void sig_wall_record(const struct stack *stack, uint64_t weight, const void *ucontext)
{
	struct thread_wall *wall = &stack->thread->wall;
	struct stack_sample sample = {
		.event = WIRE_WALL, .state = wall_state(stack), .count = 1, .weight = weight};
	uint32_t io = sample.state == WIRE_STATE_IO ? wall_io_name(stack, ucontext) : 0;
	struct rusage used = {.ru_nvcsw = 0};
	struct latency *latency = latency_on(stack->s);

	if (io && stack->max) {
		stack->user[-1] = WALK_PACK(WALK_IO, io);
		sample.before = 1;
	}
	uint64_t hash = sig_stack_record(stack, &sample);
	if (latency)
		sig_latency_record(stack, latency, hash);
	bool awake = sample.state == WIRE_STATE_ON_CPU || sample.state == WIRE_STATE_RUNNABLE;
	if (awake)
		atomic_store(&wall->awake[sample.state == WIRE_STATE_RUNNABLE],
			WIRE_IS_VIRTUAL(stack->id) ? 0 : hash);
	if (awake || !regs_resumes(ucontext, stack->mem))
		hash = 0; /* the thread runs, or its system call has ended */
	atomic_store(&wall->rows, stack->rows);
	atomic_store(&wall->flaw, stack->flaw);
	if (hash) {
		raw(SYS_getrusage, RUSAGE_THREAD, &used);
		atomic_store(&wall->sleeps, (uint64_t)used.ru_nvcsw);
	}
	atomic_store(&wall->cpu_ns, sig_clock());
	atomic_store(&wall->hash, hash);
	if (!WIRE_IS_VIRTUAL(stack->id) && atomic_load(&stack->thread->id) != stack->id)
		thread_wall_forget(
			wall); /* threads_renumber has run since the stack was recorded */
}
