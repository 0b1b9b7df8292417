/* SPDX-License-Identifier: Apache-2.0 */
/* The histogram of walk times: classes of depth, buckets, quantiles, and the conversion to ns. */
#include "tests/tap.h"

#include "sampler/cost.h"

static void put(struct cost *cost, unsigned class, uint64_t ticks, uint32_t times)
{
	atomic_fetch_add(&cost->walks[class][cost_bucket(ticks)], times);
	atomic_fetch_add(&cost->ticks[class], ticks * times);
}

static void test_classes(void)
{
	is_int(cost_class(0), 0, "no frame is of the first class");
	is_int(cost_class(8), 0, "eight frames are");
	is_int(cost_class(9), 1, "nine are not");
	is_int(cost_class(512), 6, "512 frames have a class with a limit");
	is_int(cost_class(513), 7, "deeper stacks have the last");
	is_int(cost_class(2048), 7, "as have the deepest");
}

static void test_buckets(void)
{
	bool ascending = true;

	is_int(cost_bucket(0), 0, "no time is in the first bucket");
	is_int(cost_bucket(64), 0, "and so are 64 ticks");
	is_int(cost_bucket(80), 1, "a quarter more is the next one");
	is_int(cost_bucket(128), COST_STEPS, "twice as much is an octave more");
	is_int(cost_bucket(UINT64_MAX), COST_BUCKETS - 1,
		"the last bucket holds whatever is longer");
	for (uint64_t ticks = 1; ticks < 1u << 20; ticks += 7)
		ascending &= cost_bucket(ticks) <= cost_bucket(ticks + 7);
	ok(ascending, "more ticks are never in an earlier bucket");
}

/* Of walks that all took about the same, every quantile is that, to a quarter of an octave. */
static bool about(uint32_t got, uint32_t wanted)
{
	return got >= wanted * 3 / 4 && got <= wanted * 5 / 4;
}

static void test_report(void)
{
	static struct cost cost;
	struct wire_walk_cost out[WIRE_WALK_CLASSES], names;

	memset(out, 0, sizeof(out));
	memset(&names, 0, sizeof(names));
	cost_report_at(&cost, 2.0, out, &names);
	is_int(out[0].walks, 0, "nothing was walked: no walks");
	is_int(names.walks, 0, "and no stacks with new names");
	is_int(out[0].median_ns, 0, "and no median");

	put(&cost, 1, 2000, 970);
	put(&cost, 1, 200000, 30);
	put(&cost, 3, 8000, 1000);
	put(&cost, COST_NAMES, 40000, 7);
	cost_report_at(&cost, 2.0, out, &names);
	is_int(out[2].walks, 1000, "a class counts its walks");
	is_int(out[2].depth_max, 16, "and says up to which depth");
	ok(about(out[2].median_ns, 1000), "its median: %u ns", out[2].median_ns);
	ok(about(out[2].p99_ns, 100000), "its 99th percentile: %u ns", out[2].p99_ns);
	is_int(out[2].mean_ns, (970 * 2000 + 30 * 200000) / 1000 / 2, "its mean is exact");
	ok(about(out[4].median_ns, 4000), "another class has its own: %u ns", out[4].median_ns);
	is_int(out[1].walks, 0, "a class without walks has none");
	is_int(out[0].walks, 2000, "the first row counts all of them");
	is_int(out[0].depth_max, UINT32_MAX, "of any depth");
	is_int(names.walks, 7, "new names are no walks");
	is_int(names.mean_ns, 20000, "and have a mean of their own");
	ok(about(out[0].p99_ns, 100000), "with quantiles of all: %u ns", out[0].p99_ns);
}

static void test_clock(void)
{
	static struct cost cost;
	struct wire_walk_cost out[WIRE_WALK_CLASSES], names;
	uint64_t began;

	memset(out, 0, sizeof(out));
	memset(&names, 0, sizeof(names));
	cost_start(&cost);
	began = cost_ticks();
	while (cost_ticks() - began < 1u << 20)
		;
	cost_add(&cost, cost_class(40), cost_ticks() - began);
	cost_report(&cost, out, &names);
	is_int(out[4].walks, 1, "a walk is added to the class of its depth");
	ok(out[4].mean_ns > 10000 && out[4].mean_ns < 4000000000u, "a million ticks are %u ns",
		out[4].mean_ns);
}

int main(void)
{
	test_classes();
	test_buckets();
	test_report();
	test_clock();
	return tap_done();
}
