/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the histograms of walks to quantiles in nanoseconds. */
#include "sampler/cost.h"

#include "base/clock.h"

void cost_start(struct cost *cost)
{
	cost->start_ns = clock_mono_ns();
	cost->start_ticks = cost_ticks();
}

/* The lower bound of a bucket in ticks. */
static double bucket_from(unsigned bucket)
{
	uint64_t octave = 1ull << (COST_OCTAVE_MIN + bucket / COST_STEPS);

	return (double)(octave + octave / COST_STEPS * (bucket % COST_STEPS));
}

/* The quantile in ticks, interpolated linearly within its bucket. */
static double quantile(const uint32_t *walks, uint64_t total, double share)
{
	double wanted = (double)total * share, below = 0;

	for (unsigned i = 0; i < COST_BUCKETS; i++) {
		if (walks[i] && below + walks[i] >= wanted)
			return bucket_from(i) +
			       (bucket_from(i + 1) - bucket_from(i)) * (wanted - below) / walks[i];
		below += walks[i];
	}
	return 0;
}

static uint32_t to_ns(double ticks, double ticks_per_ns)
{
	double ns = ticks / ticks_per_ns;

	return ns < 4e9 ? (uint32_t)ns : 4000000000u;
}

static void report(const uint32_t *walks, uint64_t ticks, uint32_t depth_max, double ticks_per_ns,
	struct wire_walk_cost *out)
{
	uint64_t total = 0;

	for (unsigned i = 0; i < COST_BUCKETS; i++)
		total += walks[i];
	atomic_store(&out->depth_max, depth_max);
	atomic_store(&out->walks, total);
	if (!total)
		return;
	atomic_store(&out->mean_ns, to_ns((double)ticks / (double)total, ticks_per_ns));
	atomic_store(&out->median_ns, to_ns(quantile(walks, total, 0.5), ticks_per_ns));
	atomic_store(&out->p99_ns, to_ns(quantile(walks, total, 0.99), ticks_per_ns));
}

void cost_report_at(const struct cost *cost, double ticks_per_ns,
	struct wire_walk_cost out[WIRE_WALK_CLASSES], struct wire_walk_cost *names)
{
	uint32_t all[COST_BUCKETS] = {0}, one[COST_BUCKETS];
	uint64_t all_ticks = 0;

	for (unsigned class = 0; class < COST_CLASSES; class ++) {
		uint64_t ticks = atomic_load(&cost->ticks[class]);

		for (unsigned i = 0; i < COST_BUCKETS; i++) {
			one[i] = atomic_load(&cost->walks[class][i]);
			all[i] += one[i];
		}
		all_ticks += ticks;
		report(one, ticks, class < COST_CLASSES - 1 ? 8u << class : UINT32_MAX,
			ticks_per_ns, &out[class + 1]);
	}
	report(all, all_ticks, UINT32_MAX, ticks_per_ns, &out[0]);
	for (unsigned i = 0; i < COST_BUCKETS; i++)
		one[i] = atomic_load(&cost->walks[COST_NAMES][i]);
	report(one, atomic_load(&cost->ticks[COST_NAMES]), UINT32_MAX, ticks_per_ns, names);
}

void cost_report(const struct cost *cost, struct wire_walk_cost out[WIRE_WALK_CLASSES],
	struct wire_walk_cost *names)
{
	uint64_t ns = clock_mono_ns() - cost->start_ns;
	uint64_t ticks = cost_ticks() - cost->start_ticks;

	if (ns && ticks)
		cost_report_at(cost, (double)ticks / (double)ns, out, names);
}
