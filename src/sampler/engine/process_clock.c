/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A POSIX timer on the CPU clock of the whole process, for the event cpu: the kernel sends its signal to the thread that is
 * running. Threads with an engine of their own ignore it; the others, which may end before a scan finds them, are
 * sampled by it. So every thread's CPU time is counted by exactly one of the two.
 *
 * The clock is read at the kernel's tick, so it misses or overcounts threads that start in step with the tick: threads
 * that can have an engine of their own get one. A signal represents 1 + si_overrun intervals of
 * its timer. It carries the interval, since it may be pending while that changes; another interval needs another timer.
 * While no unarmed thread is found, the interval is eight times longer, and the clock costs a hundredth of what samples
 * cost.
 *
 * A thread that gets its own engine while this clock is on has run before. perf's first sample accounts for that, so
 * that threads in step with the tick are seen, too. This clock may have accounted for it as well, by a sample of this
 * thread or of another: that time is deducted from its next samples of unlisted threads (process_clock.overlap_ns).
 *
 * Its signal is the one that libc reserves: a thread that begins to wait for signals cannot consume it. But the signal
 * may interrupt that thread's system calls: the agent's threads block it, so where one of these is running, the kernel
 * chooses any other thread. So the clock is paused while a thread may collect signals (collect.h), and stopped once one
 * is known to.
 *
 * Up to Linux 6.3 such a signal went to the process's first thread and would wake it each time; there the clock is not
 * used.
 */
#include "sampler/engine/arms.h"
#include "sampler/engine/collect.h"
#include "sampler/engine/ctimer.h"

#include "base/clock.h"
#include "sampler/procfile.h"
#include "sampler/signal/raw.h"

/* CPUCLOCK_SCHED and CPUCLOCK_VIRT of the calling process in linux/posix-timers.h, as TASK_CLOCK is of a thread. */
#define PROCESS_CLOCK      ((int32_t)(~0u << 3) | 2)
#define PROCESS_USER_CLOCK ((int32_t)(~0u << 3) | 1)
#define MIN_NS             (10 * NS_PER_MS)
#define MAX_NS             (3600 * NS_PER_S) /* fits in a signal's value: ctimer.h */
#define SELDOM             8u
#define BUSY_NS            (1 * NS_PER_S)
/* From this Linux on, a signal to the process goes to the thread that is running. */
#define RELEASE_MAJOR 6u
#define RELEASE_MINOR 4u

/* Starts a timer of this interval. The clock is off if the kernel refuses it. */
static void clock_set(struct sampler *s, uint64_t interval)
{
	struct process_clock *clock = &s->process_clock;
	struct itimerspec spec = ctimer_every(interval, 1 + arms_random(interval));
	bool user_only = s->events[WIRE_CPU].flags & WIRE_START_USER_ONLY;
	int error = ctimer_create(user_only ? PROCESS_USER_CLOCK : PROCESS_CLOCK,
		s->signo_reserved > 0 ? s->signo_reserved : s->signo, 0,
		ENGINE_INTERVAL_IN(interval) | ENGINE_PROCESS | WIRE_CPU, &clock->timer);

	clock->interval = interval;
	atomic_store(&clock->on, error >= 0);
	if (error >= 0)
		raw(SYS_timer_settime, clock->timer, 0, &spec, NULL);
}

/* cpu's interval while unarmed threads are found, else longer; rounded to the resolution of the signal's value. */
static uint64_t clock_interval(struct sampler *s, bool busy)
{
	uint64_t interval = atomic_load(&s->events[WIRE_CPU].interval);

	if (interval < MIN_NS)
		interval = MIN_NS;
	if (!busy)
		interval *= SELDOM;
	if (interval > MAX_NS)
		interval = MAX_NS;
	return ENGINE_INTERVAL_OF(ENGINE_INTERVAL_IN(interval));
}

static void clock_pause(struct sampler *s)
{
	if (atomic_exchange(&s->process_clock.on, 0))
		ctimer_delete(s->process_clock.timer);
}

static void clock_resume(struct sampler *s, uint64_t now)
{
	struct process_clock *clock = &s->process_clock;

	clock->busy_until_ns = now + BUSY_NS;
	atomic_store(&clock->overlap_ns, 0);
	clock_set(s, clock_interval(s, true));
}

void process_clock_start(struct sampler *s)
{
	if (s->events[WIRE_CPU].flags & WIRE_START_KERNEL_ONLY ||
		!procfile_linux_since(RELEASE_MAJOR, RELEASE_MINOR))
		return;
	s->process_clock.wanted = !collect_poll(s, true);
	process_clock_poll(s, clock_mono_ns());
}

void process_clock_stop(struct sampler *s)
{
	s->process_clock.wanted = false;
	clock_pause(s);
}

void process_clock_poll(struct sampler *s, uint64_t now)
{
	struct process_clock *clock = &s->process_clock;

	if (s->collect_exposed)
		clock_pause(s);
	else if (clock->wanted && !atomic_load(&clock->on))
		clock_resume(s, now);
	if (!atomic_load(&clock->on))
		return;
	if (atomic_exchange(&clock->found, 0))
		clock->busy_until_ns = now + BUSY_NS;
	uint64_t interval = clock_interval(s, now < clock->busy_until_ns);
	if (interval == clock->interval)
		return;
	ctimer_delete(clock->timer);
	clock_set(s, interval);
}
