/* SPDX-License-Identifier: Apache-2.0 */
/* Monitors the front end, and ends orphaned sessions. */
#include "sampler/session/lease.h"

#include "base/clock.h"
#include "sampler/publish/publish.h"
#include "sampler/signal/raw.h"

#define AWAIT_TICK_NS   (50 * NS_PER_MS)
#define LEASE_NS        (1500 * NS_PER_MS)
#define LEASE_FIRST_NS  (5 * NS_PER_S)  /* until the front end has found the memfd */
#define LEASE_SILENT_NS (10 * NS_PER_S) /* the front end is alive but gets no core */
/* It cannot send heartbeats, and the kernel does not report whether it is alive. */
#define LEASE_PARKED_NS (600 * NS_PER_S)

void lease_end(struct sampler *s, enum sampler_stop why)
{
	uint32_t runs = SAMPLER_RUNS;

	atomic_compare_exchange_strong(&s->stop, &runs, why);
	raw_futex_wake(&s->shared.control->command_seq);
}

bool lease_runs(struct sampler *s)
{
	return atomic_load(&s->stop) == SAMPLER_RUNS;
}

static bool lease_silent(struct sampler *s, uint64_t now, uint64_t ns)
{
	return now - atomic_load(&s->beat_ns) >= ns;
}

bool lease_quiet(struct sampler *s, uint64_t now)
{
	return atomic_load(&s->heard) && lease_silent(s, now, LEASE_NS);
}

bool lease_lost(struct sampler *s, uint64_t now)
{
	uint32_t front_end = atomic_load(&s->shared.control->front_end);
	uint64_t limit_ns = !atomic_load(&s->heard) ? LEASE_FIRST_NS
			    : front_end             ? LEASE_SILENT_NS
			    : s->paused             ? LEASE_PARKED_NS
						    : LEASE_NS;

	return front_end & WIRE_FRONT_END_DIED || lease_silent(s, now, limit_ns);
}

void lease_check(struct sampler *s, uint64_t now)
{
	struct wire_control *control = s->shared.control;
	uint32_t beat = atomic_load(&control->beat);

	if (beat != s->beat)
		atomic_store(&s->heard, 1);
	/* The kernel reports the end of a parked front end. */
	if (beat != s->beat || (atomic_load(&control->parked) && atomic_load(&control->front_end)))
		atomic_store(&s->beat_ns, now);
	s->beat = beat;
	if (lease_lost(s, now))
		lease_end(s, SAMPLER_LEASE);
}

bool lease_await(struct sampler *s, _Atomic uint32_t *word, uint32_t number, uint64_t timeout_ns)
{
	uint64_t now = clock_mono_ns(), end = now + timeout_ns;

	while (lease_runs(s) && now < end) {
		uint32_t seen = atomic_load(word);

		if ((int32_t)(seen - number) >= 0)
			return true;
		raw_futex_wait(word, seen, AWAIT_TICK_NS);
		now = clock_mono_ns();
		lease_check(s, now);
		publish_table(s->publish, now, false);
	}
	return (int32_t)(atomic_load(word) - number) >= 0;
}
