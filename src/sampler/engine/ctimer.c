/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A POSIX timer on the CPU clock of each thread: no descriptor, no privilege, no kernel frames.
 *
 * The timer only decides when a sample is taken. It expires at the kernel's tick, several intervals late if these are
 * shorter, and overruns do not identify the interval that they counted; from Linux 6.13 on timer_settime discards a
 * pending signal. So a sample's weight is what the handler reads on the same clock (delivery_cpu_since_last in signal/handler.c),
 * in whole intervals.
 *
 * libc's timer_create refuses the clock of another thread (TASK_CLOCK), the kernel does not. Timer id 0 is valid.
 */
#include "sampler/engine/ctimer.h"
#include "sampler/engine/arms.h"
#include "sampler/engine/engine.h"

#include "sampler/session/threads.h"
#include "sampler/signal/raw.h"
#include "sampler/task.h"
#include "sampler/text.h"

#include <errno.h>

/* The kernel's struct sigevent, as far as it is used (include/uapi/asm-generic/siginfo.h). */
struct ctimer_sigevent {
	union sigval value;
	int32_t signo;
	int32_t notify;
	int32_t tid;
	int32_t pad[11];
};
_Static_assert(sizeof(struct ctimer_sigevent) == 64, "struct sigevent of the kernel");

static _Atomic uint32_t timers_used;
static _Atomic uint64_t timers_allowed;

static struct timespec ctimer_time(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

struct itimerspec ctimer_every(uint64_t interval, uint64_t first)
{
	return (struct itimerspec){ctimer_time(interval), ctimer_time(first)};
}

int ctimer_create(int32_t clock, int32_t signo, int32_t tid, uint64_t value, int *timer)
{
	struct ctimer_sigevent event = {
		.value.sival_ptr = (void *)(uintptr_t)(ENGINE_COOKIE | value),
		.signo = signo,
		.notify = tid ? SIGEV_THREAD_ID : SIGEV_SIGNAL,
		.tid = tid,
	};
	long error = -EAGAIN;

	*timer = -1;
	/* a timer that cannot be armed or deleted would be useless, and would stay */
	if (raw_refusal(SYS_timer_settime) || raw_refusal(SYS_timer_delete))
		return -EPERM;
	if (atomic_fetch_add(&timers_used, 1) < atomic_load(&timers_allowed))
		error = raw(SYS_timer_create, clock, &event, timer);
	if (error >= 0 && *timer == -1)
		error = -EPERM; /* a filter pretends success: 0 would be a timer of the program */
	if (error < 0)
		atomic_fetch_sub(&timers_used, 1);
	return (int)error;
}

void ctimer_delete(int timer)
{
	raw(SYS_timer_delete, timer);
	atomic_fetch_sub(&timers_used, 1);
}

uint32_t ctimers_used(void)
{
	return atomic_load(&timers_used);
}

void ctimers_allow(uint64_t timers)
{
	atomic_store(&timers_allowed, timers);
}

static int ctimer_arm(struct thread_arm *arm, const struct engine_target *target)
{
	struct itimerspec spec = ctimer_every(target->interval, target->owed ? 1 : target->first);
	int timer = -1;
	bool user_only = target->flags & WIRE_START_USER_ONLY;
	int32_t clock = user_only ? TASK_USER_CLOCK(target->tid) : TASK_CLOCK(target->tid);
	struct timespec now = {0, 0};
	int error = (int)raw(SYS_clock_gettime, clock, &now);

	if (error >= 0)
		error = ctimer_create(clock, target->signo, target->tid, target->event, &timer);
	if (error < 0)
		return error;
	arm->fd = -1;
	arm->timer = timer;
	arm->share = target->share;
	atomic_store(&arm->weight, target->interval * target->share);
	arm->unseen = (struct thread_unseen){
		.clock = user_only ? TASK_USER_CLOCK(0) : TASK_CLOCK(0),
		.first = !target->owed,
		.cpu_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec,
		/*
		 * Samples are late by part of the kernel's tick, which stays in the remainder. A random remainder has the
		 * same average with and without it.
		 */
		.ns = (int64_t)((target->interval * (1 + target->owed) - target->first +
					arms_random(target->interval)) *
				target->share),
		.weight = target->interval * target->share,
	};
	atomic_store_explicit(&arm->engine, &engine_ctimer, memory_order_release);
	error = (int)raw(SYS_timer_settime, timer, 0, &spec, NULL);
	if (error >= 0)
		return 0;
	atomic_store(&arm->engine, NULL);
	ctimer_delete(timer);
	return error;
}

static void ctimer_quiet(struct thread_arm *arm)
{
	struct itimerspec never = {{0, 0}, {0, 0}};

	raw(SYS_timer_settime, arm->timer, 0, &never, NULL);
}

/* Changes the interval only. When the share changes, arms_stay rearms the timer. */
static int ctimer_pace(struct thread_arm *arm, const struct engine_target *target)
{
	struct itimerspec spec = ctimer_every(target->interval, target->first);

	atomic_store(&arm->weight, target->interval * arm->share);
	return (int)raw(SYS_timer_settime, arm->timer, 0, &spec, NULL);
}

static uint32_t ctimer_release(struct thread_arm *arm)
{
	ctimer_delete(arm->timer);
	return 0;
}

/* A timer whose thread has ended is disarmed. */
static bool ctimer_alive(const struct thread_arm *arm)
{
	struct itimerspec now = {{0, 0}, {0, 0}};

	return raw(SYS_timer_gettime, arm->timer, &now) < 0 || now.it_value.tv_sec ||
	       now.it_value.tv_nsec;
}

static int ctimer_probe(const struct engine_target *on_self, char *why, size_t bytes)
{
	struct thread_arm arm = {.fd = -1};
	struct engine_target probe = *on_self;
	struct text text = text_into(why, bytes);

	if (on_self->flags & WIRE_START_KERNEL_ONLY) {
		text_add(&text, "CPU timers cannot distinguish kernel time from user time");
		return -EOPNOTSUPP;
	}
	probe.interval = probe.first = 3600000000000ull;
	int error = ctimer_arm(&arm, &probe);
	if (error == 0) {
		ctimer_release(&arm);
		return 0;
	}
	text_add(&text, "no CPU timers: ");
	text_add_errno(&text, -error);
	return error;
}

const struct engine engine_ctimer = {
	.id = WIRE_ENGINE_CTIMER,
	.name = "CPU timers",
	.interval_min = 100000,
	.probe = ctimer_probe,
	.arm = ctimer_arm,
	.quiet = ctimer_quiet,
	.release = ctimer_release,
	.alive = ctimer_alive,
	.pace = ctimer_pace,
};
