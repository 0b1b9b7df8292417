/* SPDX-License-Identifier: Apache-2.0 */
/* Starts, ends and paces threads that never enter the VM. */
#include "sampler/spawn.h"

#include "base/clock.h"
#include "sampler/signal/raw.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/prctl.h>

#include "sampler/compat.h"

#define SLICE_NS      100000u /* the shortest slice the kernel grants */
#define SPAWN_POLL_NS 20000u
#define END_NS        (500 * NS_PER_MS)
/*
 * The kernel sums the process's CPU time over all threads, which takes 0.1 to 0.4 us per thread. Reads are at least
 * PACE_NS apart and take at most 1/PACE_READS of the time.
 */
#define PACE_NS    (20 * NS_PER_MS)
#define PACE_READS 500
#define PACE_READ_MAX \
	(2 * NS_PER_MS) /* clamp of one measured duration, which includes preemption */
#define IDLE_SHARE 100

#define BIT(sig)   (1ull << ((sig)-1))
/*
 * setuid and the like interrupt every thread that libc knows by this signal, and wait until each has changed its own
 * ids, holding a lock that pthread_create needs. A thread that blocks the signal stops the program forever. Programs
 * cannot use it: it is below libc's SIGRTMIN.
 */
#define SETXID_GLIBC 33
#define SETXID_MUSL  34

/* The signals that agent threads block. Finds out the libc at the first call, which is made by the loading thread. */
static uint64_t spawn_mask(void)
{
	static _Atomic uint64_t mask;

	if (!atomic_load(&mask))
		atomic_store(&mask,
			~(BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | BIT(SIGTRAP) |
				(dlsym(RTLD_DEFAULT, "gnu_get_libc_version") ? BIT(SETXID_GLIBC)
									     : BIT(SETXID_MUSL))));
	return atomic_load(&mask);
}

/* glibc places a thread's TLS, which may be large, in the memory of its stack; musl beside it. */
static size_t spawn_tls_bytes(const pthread_attr_t *attr)
{
	size_t (*least)(const pthread_attr_t *) = (size_t(*)(const pthread_attr_t *))(
		uintptr_t)dlsym(RTLD_DEFAULT, "__pthread_get_minstack");

	return least ? least(attr) : 0;
}

/* Runs on the new thread. `how` is on the starting thread's stack and invalid once tid is set. */
static void *spawn_main(void *on_stack)
{
	const struct spawn *how = on_stack;
	void *(*body)(void *) = how->body;
	void *arg = how->arg;
	uint64_t mask = spawn_mask();

	/* glibc unblocks the signal of pthread_cancel in new threads. */
	raw(SYS_rt_sigprocmask, SIG_BLOCK, &mask, NULL, sizeof(mask));
	raw(SYS_prctl, PR_SET_NAME, how->name);
	atomic_store(how->tid, raw_gettid());
	return body(arg);
}

int spawn(const struct spawn *how)
{
	uint64_t mask = spawn_mask(), before = 0;
	pthread_attr_t attr;
	pthread_t id;

	atomic_store(how->tid, 0);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, how->stack_bytes + spawn_tls_bytes(&attr));
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	raw(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &before, sizeof(before));
	int error = pthread_create(&id, &attr, spawn_main, (void *)how);
	raw(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
	pthread_attr_destroy(&attr);
	if (error)
		return error;
	while (!atomic_load(how->tid))
		raw_sleep(SPAWN_POLL_NS);
	return 0;
}

uint32_t spawn_await(_Atomic uint32_t *word, uint64_t ns)
{
	uint64_t now = clock_mono_ns(), end = now + ns;

	for (; !atomic_load(word) && now < end; now = clock_mono_ns())
		raw_futex_wait(word, 0, end - now);
	return atomic_load(word);
}

bool spawn_end(_Atomic int32_t *tid, _Atomic uint32_t *leave, _Atomic uint32_t *left)
{
	atomic_store(leave, 1);
	raw_futex_wake(leave);
	if (!spawn_await(left, END_NS))
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

uint64_t pace_pause(struct pace *pace, uint64_t own_ns, uint64_t busy_ns, uint64_t idle_ns)
{
	uint64_t now = clock_mono_ns(), since = now - pace->polled_ns;

	if (since < PACE_NS || since < pace->read_ns * PACE_READS)
		return pace->pause_ns > busy_ns ? pace->pause_ns : busy_ns;
	uint64_t cpu = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - own_ns;
	uint64_t took = clock_mono_ns() - now;
	pace->read_ns = (pace->read_ns * 3 + (took < PACE_READ_MAX ? took : PACE_READ_MAX)) / 4;
	int64_t used = (int64_t)(cpu - pace->cpu_ns);
	pace->cpu_ns = cpu;
	pace->polled_ns = now;
	if (used * IDLE_SHARE >= (int64_t)since || pace->pause_ns < busy_ns)
		pace->pause_ns = busy_ns;
	else
		pace->pause_ns = pace->pause_ns * 2 < idle_ns ? pace->pause_ns * 2 : idle_ns;
	return pace->pause_ns > busy_ns ? pace->pause_ns : busy_ns;
}
