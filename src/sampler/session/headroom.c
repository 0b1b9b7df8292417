/* SPDX-License-Identifier: Apache-2.0 */
/* Reads /proc/self/status, the limits and the numbers of context switches; releases engines that cost too much. */
#include "sampler/session/headroom.h"

#include "base/clock.h"
#include "sampler/engine/arms.h"
#include "sampler/engine/ctimer.h"
#include "sampler/engine/events.h"
#include "sampler/engine/perf_fd.h"
#include "sampler/procfile.h"
#include "sampler/publish/modules.h"
#include "sampler/signal/raw.h"
#include "sampler/task.h"

#include <linux/capability.h>
#include <sys/resource.h>

#define SHARE          8u /* the agent may use 1 / SHARE of the free amount */
#define POLL_NS        (200 * NS_PER_MS)
#define POLL_SELDOM_NS (1 * NS_PER_S) /* without CPU timers */
#define MAX_MAP_COUNT  65530u         /* the kernel's default */

/* True when the process has CAP_IPC_LOCK. */
static bool may_lock_all(const char *status)
{
	const char *at = procfile_find(status, "CapEff:");

	return at && procfile_digits(&at, 16) >> CAP_IPC_LOCK & 1;
}

/* The agent's share of a resource: `used` includes `own`, the agent's use. */
static uint64_t share_of(uint64_t limit, uint64_t used, uint64_t own)
{
	if (limit == UINT64_MAX)
		return UINT64_MAX;
	return ((limit > used ? limit - used : 0) + own) / SHARE;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The number of perf buffers permitted by the tightest limit. */
static uint64_t rings_allowed(struct sampler *s, const char *status)
{
	uint64_t bytes = perf_fd_ring_bytes(), own = perf_fd_rings(), allowed = UINT64_MAX;
	uint64_t locked = raw_limit(RLIMIT_MEMLOCK), pinned = procfile_number(status, "VmPin:", 0)
							      << 10;

	if (s->headroom.maps_limit)
		allowed = share_of(s->headroom.maps_limit, s->modules->maps, own);
	allowed = least(allowed, share_of(raw_limit(RLIMIT_AS),
					 procfile_number(status, "VmSize:", 0) << 10, own * bytes) /
					 bytes);
	if (!may_lock_all(status) && locked != UINT64_MAX && pinned > locked / SHARE)
		allowed = least(
			allowed, own - least(own, (pinned - locked / SHARE + bytes - 1) / bytes));
	return allowed;
}

/* Releases up to `most` arms of this engine, newest slots first. Their threads fall back to the next engine. */
static void release_arms(struct sampler *s, const struct engine *engine, uint64_t most)
{
	for (uint32_t i = atomic_load(&s->threads->high); i-- && most;) {
		struct thread_slot *slot = &s->threads->slots[i];
		bool released = false;

		for (uint32_t n = 0; n < WIRE_EVENTS && most; n++) {
			if (arms_engine(slot, n) != engine)
				continue;
			arms_drop(s, slot, n);
			slot->found_ns = 0; /* its CPU time until now is in samples already */
			released = true;
			most--;
		}
		if (released)
			arms_set(s, slot);
	}
}

void headroom_count(struct sampler *s)
{
	uint64_t timers = ctimers_used(), rings = perf_fd_rings();
	char status[PROCFILE_STATUS], text[32];

	if (!s->headroom.maps_limit) {
		procfile_read("/proc/sys/vm/max_map_count", text, sizeof(text));
		s->headroom.maps_limit = procfile_number(text, "", 0);
		if (!s->headroom.maps_limit)
			s->headroom.maps_limit = MAX_MAP_COUNT;
	}
	if (!procfile_status(status))
		return;
	uint64_t allowed = rings_allowed(s, status);
	perf_fd_rings_allow(allowed);
	if (rings > allowed) {
		release_arms(s, &engine_perf, rings - allowed);
		events_degraded(s, WIRE_CPU,
			"little address space, locked memory or maps left: no kernel frames for "
			"some threads");
		timers = ctimers_used();
	}
	allowed =
		share_of(raw_limit(RLIMIT_SIGPENDING), procfile_number(status, "SigQ:", 0), timers);
	if (!allowed)
		allowed = 1; /* the process's clock, which covers all other threads */
	ctimers_allow(allowed);
	if (timers > allowed) {
		release_arms(s, &engine_ctimer, timers - allowed);
		events_degraded(s, WIRE_CPU,
			atomic_load(&s->process_clock.on)
				? "few signals can be queued (ulimit -i): some threads share one "
				  "CPU timer"
				: "few signals can be queued (ulimit -i): some threads are not "
				  "sampled");
	}
}

void headroom_poll(struct sampler *s, uint64_t now)
{
	uint64_t every = ctimers_used() ? POLL_NS : POLL_SELDOM_NS;

	if (now - s->headroom.polled_ns < every || !events_any(s))
		return;
	s->headroom.polled_ns = now;
	headroom_count(s);
}

/* --- threads that switch often ------------------------------------------------------------------- */

/*
 * A perf_events event on a thread costs the kernel some 1 us more each time the thread is scheduled. A thread that is
 * scheduled thousands of times a second, because it starts threads or passes work to others, gets a CPU timer instead
 * for the rest of its life: the same times, without kernel frames. The event's status line reports it. An engine that
 * was requested explicitly stays.
 */

#define OFTEN    5000u /* switches a second */
#define EVERY_NS (500 * NS_PER_MS)
#define READ_MAX 128u /* threads read per scan; some 10 us each */

/* True when the process as a whole switches that often. Most processes do not, and pay for this check only. */
static bool process_often(struct sampler *s, uint64_t now)
{
	struct rusage used = {0};
	uint64_t since = now - s->switches.polled_ns, before = s->switches.all;

	raw(SYS_getrusage, RUSAGE_SELF, &used);
	s->switches.all = (uint64_t)used.ru_nvcsw;
	s->switches.polled_ns = now;
	return before && (s->switches.all - before) * NS_PER_S / since >= OFTEN;
}

/* True when the thread switches that often, by its count at the previous reading. */
static bool thread_often(struct sampler *s, struct thread_slot *slot, uint64_t now)
{
	uint64_t count, before = slot->sleeps, since = now - slot->sleeps_ns;

	if (!task_sleeps(s->task.fd, sampler_task(s, slot), &count))
		return false;
	slot->sleeps = count;
	slot->sleeps_ns = now;
	return since < 8 * EVERY_NS && (count - before) * NS_PER_S / since >= OFTEN;
}

void switches_poll(struct sampler *s, uint64_t now)
{
	const struct event *cpu = &s->events[WIRE_CPU];
	uint32_t high = atomic_load(&s->threads->high);

	if (!atomic_load(&cpu->on) || cpu->engine != &engine_perf || cpu->engine_asked ||
		now - s->switches.polled_ns < EVERY_NS || !process_often(s, now))
		return;
	for (uint32_t i = 0, read = 0; i < high && read < READ_MAX; i++) {
		struct thread_slot *slot = &s->threads->slots[s->switches.cursor++ % high];

		if (!atomic_load(&slot->tid) || atomic_load(&slot->gone) ||
			atomic_load(&slot->arms[THREADS_ARM_CPU].engine) != &engine_perf)
			continue;
		read++;
		if (!thread_often(s, slot, now))
			continue;
		/* Re-arms the thread as if it had just been found; its past CPU time has been sampled. */
		slot->switches_often = true;
		arms_drop(s, slot, WIRE_CPU);
		slot->found_ns = 0;
		arms_set(s, slot);
		events_degraded(s, WIRE_CPU,
			"threads that switch 5,000 times a second are on CPU timers: no kernel "
			"frames");
	}
}
