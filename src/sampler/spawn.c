/* SPDX-License-Identifier: Apache-2.0 */
/* Starts and ends threads that never enter the VM. */
#include "sampler/task.h"

#include "base/clock.h"
#include "sampler/signal/raw.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/prctl.h>

#include "sampler/compat.h"

#define SLICE_NS      100000u /* the shortest slice the kernel grants */
#define SPAWN_LOOK_NS 20000u
#define END_NS        (500 * NS_PER_MS)

static const uint64_t spawn_mask =
	~(1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1) | 1ull << (SIGFPE - 1) |
		1ull << (SIGILL - 1) | 1ull << (SIGTRAP - 1));

/* Runs on the new thread. `taken` is on the starting thread's stack and invalid once tid is set. */
static void *spawn_main(void *taken)
{
	const struct spawn *how = taken;
	void *(*body)(void *) = how->body;
	void *arg = how->arg;

	/* glibc unblocks the signal of pthread_cancel in new threads. */
	raw(SYS_rt_sigprocmask, SIG_BLOCK, &spawn_mask, NULL, sizeof(spawn_mask));
	raw(SYS_prctl, PR_SET_NAME, how->name);
	atomic_store(how->tid, raw_gettid());
	return body(arg);
}

int spawn(const struct spawn *how)
{
	uint64_t before = 0;
	pthread_attr_t attr;
	pthread_t id;
	int error;

	atomic_store(how->tid, 0);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, how->stack_bytes);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	raw(SYS_rt_sigprocmask, SIG_SETMASK, &spawn_mask, &before, sizeof(before));
	error = pthread_create(&id, &attr, spawn_main, (void *)how);
	raw(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
	pthread_attr_destroy(&attr);
	if (error)
		return error;
	while (!atomic_load(how->tid))
		raw_sleep(SPAWN_LOOK_NS);
	return 0;
}

bool spawn_end(_Atomic int32_t *tid, _Atomic uint32_t *leave, _Atomic uint32_t *left)
{
	uint64_t now = clock_mono_ns(), end = now + END_NS;

	atomic_store(leave, 1);
	raw_futex_wake(leave);
	for (; !atomic_load(left) && now < end; now = clock_mono_ns())
		raw_futex_wait(left, 0, end - now);
	if (!atomic_load(left))
		return false;
	atomic_store(tid, 0);
	return true;
}

void spawn_punctual(void)
{
	/*
	 * struct sched_attr of Linux 3.14. From Linux 6.12 on, its runtime is the slice of a normal thread: a thread
	 * with a short slice is scheduled before longer slices end. Older kernels favour threads that wake up, or lack
	 * the feature.
	 */
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = {.size = sizeof(attr)};

	if (raw(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) < 0 || attr.policy != SCHED_OTHER)
		return;
	attr.runtime = SLICE_NS;
	raw(SYS_sched_setattr, 0, &attr, 0);
}
