/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A perf_events event on a thread costs the kernel some 1 us more each time the thread is given a core. A thread that
 * is given one thousands of times a second, because it starts threads or hands work over, gets a CPU timer instead for
 * the rest of its life: the same times, without kernel frames. The event's status line reports it. An engine that was
 * requested explicitly stays.
 */
#include "sampler/engine/arms.h"
#include "sampler/engine/events.h"

#include "base/clock.h"
#include "sampler/signal/raw.h"
#include "sampler/task.h"

#include <sys/resource.h>

#define OFTEN     5000u /* switches a second */
#define EVERY_NS  (500 * NS_PER_MS)
#define READ_MOST 128u /* threads read per scan; some 10 us each */

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

/* Re-arms the thread as if it had just been found. */
static void thread_to_timer(struct sampler *s, struct thread_slot *slot)
{
	slot->switches_often = true;
	arms_quiet(slot, WIRE_CPU);
	arms_release(s, slot, WIRE_CPU);
	slot->found_ns = 0; /* its past CPU time has been sampled */
	arms_set(s, slot);
	events_degraded(s, WIRE_CPU,
		"threads that switch 5,000 times a second are on CPU timers: no kernel frames");
}

void switches_poll(struct sampler *s, uint64_t now)
{
	const struct event *cpu = &s->events[WIRE_CPU];
	uint32_t high = atomic_load(&s->threads->high);

	if (!atomic_load(&cpu->on) || cpu->engine != &engine_perf || cpu->engine_asked ||
		now - s->switches.polled_ns < EVERY_NS || !process_often(s, now))
		return;
	for (uint32_t i = 0, read = 0; i < high && read < READ_MOST; i++) {
		struct thread_slot *slot = &s->threads->slots[s->switches.cursor++ % high];

		if (!atomic_load(&slot->tid) || atomic_load(&slot->gone) ||
			atomic_load(&slot->arms[THREADS_ARM_CPU].engine) != &engine_perf)
			continue;
		read++;
		if (thread_often(s, slot, now))
			thread_to_timer(s, slot);
	}
}
