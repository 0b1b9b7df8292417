/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's own threads: starting and ending them, and the pacing of those that poll. They never enter the VM, and
 * block all signals except those of their own faults and the one by which libc changes the ids of all threads. Any agent
 * thread. Times are in ns.
 */
#ifndef JHOT_SAMPLER_SPAWN_H
#define JHOT_SAMPLER_SPAWN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spawn {
	const char *name; /* the name shown by the kernel */
	size_t stack_bytes;
	void *(*body)(void *);
	void *arg;
	/* Receives the thread's id before spawn returns, so that thread scans recognize the agent's own threads. */
	_Atomic int32_t *tid;
};

/* Starts a detached thread and waits until *tid is set. Returns 0 or an error number. */
int spawn(const struct spawn *how);
/*
 * Asks a thread to end: sets *leave and wakes its waiters. Waits up to 0.5 s for *left, which the thread sets as its
 * last access to the session's memory; it owns a reference to that memory (session/epochs.h). On success sets *tid to
 * 0. False on a timeout: the thread gets no core or is stopped by a debugger; it will end when it runs again.
 */
bool spawn_end(_Atomic int32_t *tid, _Atomic uint32_t *leave, _Atomic uint32_t *left);
/* Waits until a futex of another thread is not 0, up to ns; returns its value. */
uint32_t spawn_await(_Atomic uint32_t *word, uint64_t ns);
/*
 * Asks the scheduler for low latency: the calling thread samples others at times of its own choice. A thread that has
 * to wait for a CPU tends to run just when others begin to wait, and would overestimate how many do.
 */
void spawn_punctual(void);

/*
 * Adaptive pacing of a thread that polls: at its normal rate while the process works, with exponential back-off while
 * it is idle, so that an idle JVM is hardly woken. Each observation represents the time since the previous poll, so
 * sums stay correct and only become coarser. One instance per thread, owned by it.
 */
struct pace {
	/* When the process's CPU time was last read; that CPU time less the agent's own. */
	uint64_t polled_ns, cpu_ns;
	uint64_t read_ns; /* how long reading it takes, on average */
	uint64_t pause_ns;
};

/*
 * The next pause: busy_ns, or up to idle_ns when the process used less than a hundredth of a core lately, not counting
 * the agent's own CPU time (own_ns, its total until now).
 */
uint64_t pace_pause(struct pace *pace, uint64_t own_ns, uint64_t busy_ns, uint64_t idle_ns);

/*
 * The interval, or a longer one so that polls of this cost use at most 1/PACE_SHARE of a core. cost_ns must be an
 * average, so that one expensive poll does not lengthen the time that the next one represents.
 */
#define PACE_SHARE 50u
static inline uint64_t pace_affordable(uint64_t interval, uint64_t cost_ns)
{
	return interval < cost_ns * PACE_SHARE ? cost_ns * PACE_SHARE : interval;
}

#endif
