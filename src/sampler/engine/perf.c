/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_events: the kernel's cpu-clock, or an event that it can count, on each thread, with kernel call chains in a
 * buffer per thread.
 *
 * The kernel starts a thread's clock after giving it a core, and stops it before taking the core back, so the clock
 * does not count the switch itself: some 5 us each time, half of the CPU time of a thread that works for 5 us. The
 * residual between a thread's CPU time and its samples is a row of its own (delivery_record_residual, in handler.c).
 *
 * Samples do not carry their weight: with PERF_SAMPLE_PERIOD the kernel ignores the period of software events and
 * samples each of them. A signal that finds a thread going to sleep causes another context switch, so sampling every switch would
 * never end.
 *
 * Without permission to sample the kernel the engine is not used at all, since it would lose kernel time silently.
 */
#include "sampler/engine/engine.h"

#include "base/cpu_clock.h"
#include "sampler/engine/arms.h"
#include "sampler/engine/perf_fd.h"
#include "sampler/session/threads.h"
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"
#include "sampler/text.h"

#include <errno.h>
#include <sys/ioctl.h>

#define PERF_CLOCK_MIN    100000
#define PERF_SWITCHES_MIN 2
/* Counted events: the shortest first period is 1/64 of the interval. */
#define PERF_FIRST_SHARE 64

/* True for a counted event, false for the clock that samples cpu. */
static bool perf_counts(const struct engine_target *target)
{
	return target->event >= WIRE_USER_FIRST;
}

static uint64_t perf_least(const struct engine_target *target)
{
	if (!perf_counts(target))
		return PERF_CLOCK_MIN;
	return target->perf->type == PERF_TYPE_SOFTWARE &&
			       target->perf->config == PERF_COUNT_SW_CONTEXT_SWITCHES
		       ? PERF_SWITCHES_MIN
		       : 1;
}

/* The shortest period for a start, which is in force until the publisher has set the interval. */
static uint64_t perf_first_least(const struct engine_target *target)
{
	uint64_t least = perf_least(target);

	if (perf_counts(target) && least < target->interval / PERF_FIRST_SHARE)
		least = target->interval / PERF_FIRST_SHARE;
	return least;
}

static uint64_t perf_first(const struct engine_target *target)
{
	uint64_t least = perf_first_least(target);

	return target->first > least ? target->first : least;
}

static struct perf_event_attr perf_attr(const struct engine_target *target)
{
	struct perf_event_attr attr =
		cpu_clock(target->owed ? perf_first_least(target) : perf_first(target));

	attr.exclude_kernel = (target->flags & WIRE_START_USER_ONLY) != 0;
	attr.exclude_user = (target->flags & WIRE_START_KERNEL_ONLY) != 0;
	if (perf_counts(target)) {
		attr.type = target->perf->type;
		attr.bp_type = target->perf->bp_type;
		attr.config = target->perf->config;
		attr.config1 = target->perf->config1;
		attr.config2 = target->perf->config2;
	}
	return attr;
}

static int perf_arm(struct thread_arm *arm, const struct engine_target *target)
{
	struct perf_event_attr attr = perf_attr(target);
	int fd = perf_fd_open(&attr, target->tid, target->borrowed), error = 0;

	if (fd < 0)
		return fd;
	arm->fd = fd;
	arm->ring = perf_fd_ring(fd, &error);
	if (!arm->ring) {
		perf_fd_close(fd, NULL);
		return error;
	}
	arm->lost = 0;
	arm->unseen = (struct thread_unseen){
		.tracked = !perf_counts(target) &&
			   !(target->flags & (WIRE_START_USER_ONLY | WIRE_START_KERNEL_ONLY)),
		.ns = (int64_t)arms_random(target->interval),
	};
	arm->share = target->share;
	atomic_store(&arm->weight, target->interval * target->share);
	arm->first_weight = atomic_load(&arm->weight) * (target->owed ? target->owed : 1);
	arm->second = target->owed ? perf_first(target) : 0;
	arm->counted = perf_fd_count(fd).count; /* a borrowed event has counted before */
	atomic_store(&arm->late, 0);
	atomic_store(&arm->begun, 0);
	atomic_store(&arm->first, attr.sample_period != target->interval ? attr.sample_period : 0);
	atomic_store_explicit(&arm->engine, &engine_perf, memory_order_release);
	error = perf_fd_enable(fd, target->tid, target->signo);
	if (error >= 0)
		return 0;
	atomic_store(&arm->engine, NULL);
	perf_fd_close(fd, arm->ring); /* never enabled: no handler has seen it */
	return error;
}

static void perf_quiet(struct thread_arm *arm)
{
	perf_fd_disable(arm->fd);
}

/*
 * Adds the event's count since the first sample to the next sample's weight, or shortens the second period by
 * it. A sample that arrives between the ioctl and the store to `first` is dropped: one interval too few.
 */
static void perf_begun(struct thread_arm *arm)
{
	uint64_t interval = atomic_load(&arm->weight) / arm->share;
	uint64_t first = atomic_load(&arm->first), next = arm->second ? arm->second : interval;
	uint64_t count = perf_fd_count(arm->fd).count, late = 0;

	if (count > arm->counted + first)
		late = count - arm->counted - first;
	if (arm->second)
		next = late + first < next ? next - late : first;
	raw(SYS_ioctl, arm->fd, PERF_EVENT_IOC_PERIOD, &next);
	if (!arm->second)
		atomic_store(&arm->late, late);
	arm->first_weight = atomic_load(&arm->weight);
	arm->counted = count;
	atomic_store_explicit(&arm->first, arm->second ? next : 0, memory_order_relaxed);
	arm->second = 0;
	atomic_store_explicit(&arm->begun, 0, memory_order_release);
}

/* Changes the weight after the kernel has the new period: a handler in between takes one sample at the old weight. */
static int perf_pace(struct thread_arm *arm, const struct engine_target *target)
{
	uint64_t first = target->first, interval = target->interval;

	if (first < PERF_CLOCK_MIN)
		first = interval < PERF_CLOCK_MIN ? interval : PERF_CLOCK_MIN;
	long error = raw(SYS_ioctl, arm->fd, PERF_EVENT_IOC_PERIOD, &first);
	if (error < 0)
		return (int)error;
	arm->counted = perf_fd_count(arm->fd).count;
	arm->share = target->share;
	atomic_store(&arm->weight, interval * target->share);
	arm->first_weight = interval * target->share;
	arm->second = 0;
	atomic_store(&arm->begun, 0);
	atomic_store(&arm->first, first);
	return 0;
}

static uint32_t perf_release(struct thread_arm *arm)
{
	struct perf_samples samples;
	uint32_t unread = 0;
	uint64_t none, lost = perf_fd_count(arm->fd).lost;

	sig_perf_open(&samples, arm->ring);
	while (sig_perf_next(&samples, &none, 0) >= 0)
		unread++;
	/* includes samples dropped because the thread has not handled our signal and its buffer was full */
	if (!lost)
		lost = arm->lost + samples.lost;
	if (lost > arm->lost)
		unread += (uint32_t)lost - arm->lost;
	if (atomic_load(&arm->first) && unread)
		unread = !atomic_load(&arm->begun);
	perf_fd_close(arm->fd, arm->ring);
	arm->ring = NULL;
	arm->fd = -1;
	return unread;
}

/* Adds the reason for the kernel's refusal. */
static void perf_why(struct text *text, const struct engine_target *target, int error)
{
	bool unknown = error == -ENOENT || error == -ENODEV || error == -EOPNOTSUPP;

	if (perf_counts(target) && unknown && target->perf->type != PERF_TYPE_SOFTWARE) {
		text_add(text, target->perf->type == PERF_TYPE_TRACEPOINT
				       ? "the kernel has no such tracepoint"
				       : "no such hardware counter: the CPU lacks it, or the "
					 "hypervisor hides it");
		return;
	}
	text_add(text, error == -EMFILE ? "no perf_events, too few file descriptors: "
					: "no perf_events: ");
	perf_fd_refused(text, error);
	if (error == -ENOSPC)
		text_add(text, " (all breakpoints of the CPU are in use)");
	if (!perf_counts(target))
		text_add(text, ": no kernel frames");
}

static int perf_probe(const struct engine_target *on_self, char *why, size_t bytes)
{
	struct thread_arm arm = {.fd = -1};
	struct engine_target probe = *on_self;
	struct text text = text_into(why, bytes);

	probe.interval = probe.first = 1ull << 50; /* armed, but never due */
	int error = perf_arm(&arm, &probe);
	if (error == 0) {
		atomic_store(&arm.engine, NULL);
		perf_quiet(&arm);
		perf_release(&arm);
		return 0;
	}
	perf_why(&text, on_self, error);
	return error;
}

const struct engine engine_perf = {
	.id = WIRE_ENGINE_PERF,
	.name = "perf_events",
	.least = perf_least,
	.probe = perf_probe,
	.arm = perf_arm,
	.quiet = perf_quiet,
	.pending = perf_fd_pending,
	.release = perf_release,
	.alive = perf_fd_alive,
	.begun = perf_begun,
	.pace = perf_pace,
};
