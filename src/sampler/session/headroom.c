/* SPDX-License-Identifier: Apache-2.0 */
/* Reads /proc/self/status and the limits, and releases engines when the agent exceeds its share. */
#include "sampler/session/headroom.h"

#include "base/clock.h"
#include "sampler/engine/arms.h"
#include "sampler/engine/ctimer.h"
#include "sampler/engine/events.h"
#include "sampler/engine/perf_fd.h"
#include "sampler/procfile.h"
#include "sampler/publish/modules.h"
#include "sampler/signal/raw.h"

#include <linux/capability.h>
#include <string.h>
#include <sys/resource.h>

#define SHARE          8u /* the agent may use 1 / SHARE of what is free */
#define LOOK_NS        (200 * NS_PER_MS)
#define LOOK_SELDOM_NS (1 * NS_PER_S) /* without CPU timers */
#define MAX_MAP_COUNT  65530u         /* the kernel's default */
#define STATUS_BYTES   4096

/* True when the process has CAP_IPC_LOCK. The line is "CapEff:", a tab and 16 hexadecimal digits. */
static bool may_lock_all(const char *status)
{
	static const char key[] = "\nCapEff:\t";
	size_t left = strlen(status), bytes = sizeof(key) - 1;
	uint64_t set = 0;

	for (; left >= bytes + 16 && memcmp(status, key, bytes); left--)
		status++;
	for (size_t i = bytes; left >= bytes + 16 && i < bytes + 16; i++)
		set = set << 4 |
		      (uint64_t)(status[i] <= '9' ? status[i] - '0' : status[i] - 'a' + 10);
	return set >> CAP_IPC_LOCK & 1;
}

/* The agent's share of a resource: `used` includes `own`, what the agent uses. */
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
static void give_back(struct sampler *s, const struct engine *engine, uint64_t most)
{
	for (uint32_t i = atomic_load(&s->threads->high); i-- && most;) {
		struct thread_slot *slot = &s->threads->slots[i];
		bool taken = false;

		for (uint32_t n = 0; n < WIRE_EVENTS && most; n++) {
			if (arms_engine(slot, n) != engine)
				continue;
			arms_quiet(slot, n);
			arms_release(s, slot, n);
			slot->found_ns = 0; /* CPU time used so far is in samples already */
			taken = true;
			most--;
		}
		if (taken)
			arms_set(s, slot);
	}
}

void headroom_count(struct sampler *s)
{
	uint64_t timers = ctimers_used(), rings = perf_fd_rings(), allowed;
	char status[PROCFILE_STATUS], text[32];

	if (!s->headroom.maps_limit) {
		procfile_read("/proc/sys/vm/max_map_count", text, sizeof(text));
		s->headroom.maps_limit = procfile_number(text, "", 0);
		if (!s->headroom.maps_limit)
			s->headroom.maps_limit = MAX_MAP_COUNT;
	}
	/* The process's own file reports no sizes once its first thread has exited. */
	if (!procfile_read("/proc/thread-self/status", status, sizeof(status)) &&
		!procfile_read("/proc/self/status", status, sizeof(status)))
		return;
	allowed = rings_allowed(s, status);
	perf_fd_rings_allow(allowed);
	if (rings > allowed) {
		give_back(s, &engine_perf, rings - allowed);
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
		give_back(s, &engine_ctimer, timers - allowed);
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
	uint64_t every = ctimers_used() ? LOOK_NS : LOOK_SELDOM_NS;

	if (now - s->headroom.polled_ns < every || !events_any(s))
		return;
	s->headroom.polled_ns = now;
	headroom_count(s);
}
