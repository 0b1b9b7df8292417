/* SPDX-License-Identifier: Apache-2.0 */
/* The histogram of walk times: classes of depth, buckets, quantiles, and the conversion to ns. */
#include "tests/tap.h"

#include "sampler/cost.h"

static void add_walks(struct cost *cost, unsigned class, uint64_t ticks, uint32_t times)
{
	atomic_fetch_add(&cost->walks[class][cost_bucket(ticks)], times);
	atomic_fetch_add(&cost->ticks[class], ticks * times);
}

static void test_classes(void)
{
	is_int(cost_class(0), 0, "0 frames are in class 0");
	is_int(cost_class(8), 0, "8 frames are in class 0");
	is_int(cost_class(9), 1, "9 frames are in class 1");
	is_int(cost_class(512), 6, "512 frames are in class 6");
	is_int(cost_class(513), 7, "513 frames are in the last class");
	is_int(cost_class(2048), 7, "2,048 frames are in the last class");
}

static void test_buckets(void)
{
	bool ascending = true;

	is_int(cost_bucket(0), 0, "0 ticks are in bucket 0");
	is_int(cost_bucket(64), 0, "64 ticks are in bucket 0");
	is_int(cost_bucket(80), 1, "80 ticks are in bucket 1");
	is_int(cost_bucket(128), COST_STEPS, "128 ticks are one octave above 64");
	is_int(cost_bucket(UINT64_MAX), COST_BUCKETS - 1, "the last bucket has all longer times");
	for (uint64_t ticks = 1; ticks < 1u << 20; ticks += 7)
		ascending &= cost_bucket(ticks) <= cost_bucket(ticks + 7);
	ok(ascending, "buckets ascend with the ticks");
}

/* Whether a value is within a quarter of the expected one, the resolution of the quantiles. */
static bool near(uint32_t got, uint32_t wanted)
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
	is_int(out[0].walks, 0, "an empty histogram has no walks");
	is_int(names.walks, 0, "an empty histogram has no stacks with new names");
	is_int(out[0].median_ns, 0, "an empty histogram has a median of 0");

	add_walks(&cost, 1, 2000, 970);
	add_walks(&cost, 1, 200000, 30);
	add_walks(&cost, 3, 8000, 1000);
	add_walks(&cost, COST_NAMES, 40000, 7);
	cost_report_at(&cost, 2.0, out, &names);
	is_int(out[2].walks, 1000, "a class counts its walks");
	is_int(out[2].depth_max, 16, "a class has its maximum depth");
	ok(near(out[2].median_ns, 1000), "a class has its median: %u ns", out[2].median_ns);
	ok(near(out[2].p99_ns, 100000), "a class has its 99th percentile: %u ns", out[2].p99_ns);
	is_int(out[2].mean_ns, (970 * 2000 + 30 * 200000) / 1000 / 2, "a class has its exact mean");
	ok(near(out[4].median_ns, 4000), "another class has its own median: %u ns",
		out[4].median_ns);
	is_int(out[1].walks, 0, "a class without walks counts none");
	is_int(out[0].walks, 2000, "row 0 counts the walks of all classes");
	is_int(out[0].depth_max, UINT32_MAX, "row 0 has no maximum depth");
	is_int(names.walks, 7, "stacks with new names are counted separately from walks");
	is_int(names.mean_ns, 20000, "stacks with new names have their own mean");
	ok(near(out[0].p99_ns, 100000), "row 0 has the 99th percentile of all walks: %u ns",
		out[0].p99_ns);
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
	ok(out[4].mean_ns > 10000 && out[4].mean_ns < 4000000000u,
		"2^20 ticks are converted to a plausible time (%u ns)", out[4].mean_ns);
}

int main(void)
{
	test_classes();
	test_buckets();
	test_report();
	test_clock();
	return tap_done();
}
