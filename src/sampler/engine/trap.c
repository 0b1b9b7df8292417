/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations in JDK 8: breakpoints on its threads at the functions by which HotSpot reports them to its own tracing.
 *
 * A thread allocates from buffers. Each new buffer, and each object that bypasses them, makes HotSpot call
 * AllocTracer::send_allocation_in_new_tlab_event or _outside_tlab_event, with the class and the size. The breakpoints
 * are hardware breakpoints, set by perf_events: the program's code is not changed, nothing must be undone if the front
 * end dies, and the kernel records the registers at the first instruction. The front end finds the addresses in
 * libjvm's symbols.
 *
 * Both breakpoints of a thread write to one buffer; each has its own descriptor.
 */
#include "sampler/engine/engine.h"

#include "sampler/engine/perf_fd.h"
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"
#include "sampler/signal/trap.h"
#include "sampler/text.h"

#include <errno.h>
#include <sys/ioctl.h>

static int trap_open(uint64_t address, int32_t tid)
{
	struct perf_event_attr attr = {.size = PERF_ATTR_SIZE_VER3,
		.sample_type = PERF_SAMPLE_REGS_USER,
		.sample_regs_user = TRAP_REGS};

	return perf_fd_breakpoint(&attr, address, tid);
}

/* Opens both into one buffer, still disabled. Returns 0 or -errno. */
static int trap_set(struct thread_arm *arm, const struct engine_target *target)
{
	int error = 0;

	arm->fd = trap_open(target->perf->config, target->tid);
	if (arm->fd < 0)
		return arm->fd;
	arm->fd_other = trap_open(target->perf->config1, target->tid);
	if (arm->fd_other < 0) {
		perf_fd_close(arm->fd, NULL);
		return arm->fd_other;
	}
	arm->ring = perf_fd_ring(arm->fd, &error);
	if (arm->ring)
		error = (int)raw(SYS_ioctl, arm->fd_other, PERF_EVENT_IOC_SET_OUTPUT, arm->fd);
	if (error >= 0)
		return 0;
	perf_fd_close(arm->fd_other, NULL);
	perf_fd_close(arm->fd, arm->ring);
	return error;
}

static void trap_quiet(struct thread_arm *arm)
{
	perf_fd_disable(arm->fd);
	perf_fd_disable(arm->fd_other);
}

/* Closes both; the buffer was mapped through the first. */
static void trap_close(struct thread_arm *arm)
{
	perf_fd_close(arm->fd_other, NULL);
	perf_fd_close(arm->fd, arm->ring);
	arm->ring = NULL;
	arm->fd = arm->fd_other = -1;
}

static int trap_arm(struct thread_arm *arm, const struct engine_target *target)
{
	int error = trap_set(arm, target);

	if (error < 0)
		return error;
	atomic_store_explicit(&arm->engine, &engine_trap, memory_order_release);
	error = perf_fd_enable(arm->fd_other, target->tid, target->signo);
	if (error >= 0)
		error = perf_fd_enable(arm->fd, target->tid, target->signo);
	if (error >= 0)
		return 0;
	trap_quiet(arm);
	atomic_store(&arm->engine, NULL);
	trap_close(arm); /* never enabled, or the thread has ended: no handler has seen it */
	return error;
}

static uint32_t trap_release(struct thread_arm *arm)
{
	uint64_t registers[TRAP_COUNT];
	struct perf_samples samples;
	uint32_t unread = 0;

	sig_perf_open(&samples, arm->ring);
	while (sig_perf_regs(&samples, registers, TRAP_COUNT))
		unread++;
	trap_close(arm);
	return unread;
}

static int trap_probe(const struct engine_target *on_self, char *why, size_t bytes)
{
	struct text text = text_into(why, bytes);
	struct thread_arm arm = {.fd = -1};

	if (on_self->perf->type != PERF_TYPE_BREAKPOINT || !on_self->perf->config ||
		!on_self->perf->config1) {
		text_add(&text, "the JVM's reporting function was not found");
		return -ENOSYS;
	}
	if (on_self->flags & WIRE_START_LIVE) {
		text_add(&text, "tracking live objects requires JDK 11 or later");
		return -ENOSYS;
	}
	int error = trap_set(&arm, on_self);
	if (error == 0) {
		trap_close(&arm);
	} else if (error == -ENOSPC) {
		text_add(&text, "all breakpoints of the CPU are in use");
	} else {
		text_add(&text, "no breakpoints by perf_events: ");
		perf_fd_refused(&text, error);
	}
	return error;
}

const struct engine engine_trap = {
	.id = WIRE_ENGINE_TRAP,
	.name = "breakpoints",
	.interval_min = 1,
	.java_only = true,
	.probe = trap_probe,
	.arm = trap_arm,
	.quiet = trap_quiet,
	.pending = perf_fd_pending,
	.release = trap_release,
	.alive = perf_fd_alive,
};
