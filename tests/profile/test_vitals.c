/* SPDX-License-Identifier: Apache-2.0 */
/* Data quality: which of the agent's counters count broken stacks, and out of how many. */
#include "tests/tap.h"

#include "profile/profile.h"
#include "profile/vitals.h"

static struct vitals vitals;

static void count(const char *name, int64_t value)
{
	snprintf(vitals.counters[vitals.counter_count].name, sizeof(vitals.counters[0].name), "%s",
		name);
	vitals.counters[vitals.counter_count++].value = value;
}

/* Values as a damaged recording or a hostile JVM may contain them. */
static void test_bounds(void)
{
	const char *most;
	int64_t samples;

	memset(&vitals, 0x7f, sizeof(vitals));
	vitals.counter_count = VITALS_COUNTERS;
	for (int i = 0; i < VITALS_COUNTERS; i++)
		snprintf(vitals.counters[i].name, sizeof(vitals.counters[0].name), "break_%d", i);
	vitals_bound(&vitals);
	is_int(vitals_broken(&vitals, &samples, &most), 0, "counters out of range count as 0");
	is_int(samples, 0, "samples out of range count as 0");
	is_int(vitals.lost, 0, "losses out of range count as 0");
	ok(vitals.heap_used == -1 && vitals.heap_max == -1 && vitals.uptime_s == -1 &&
			vitals.gc_count == -1 && vitals.threads_live == -1 &&
			vitals.cpu_pct == -1 && vitals.cost_pct_x10 == -1 &&
			vitals.threads_running == -1,
		"gauges out of range are unknown");
	memset(&vitals, 0x80, sizeof(vitals));
	vitals_bound(&vitals);
	ok(vitals.heap_used == -1 && vitals.events[2].samples == 0 && vitals.cpu_pct == -1 &&
			vitals.counter_count == 0,
		"negative values are unknown or 0");
	ok(vitals.host.cpu_limit == -1 && vitals.host.swapped_in == -1 &&
			vitals.safepoint_sync_ms == -1 && vitals.gc_whole == -1 &&
			vitals.code_used == -1 && vitals.compilations == -1,
		"negative values of host, safepoints, GC and code cache are unknown");
	for (int i = 0; i < VITALS_EVENTS; i++)
		vitals.events[i].samples = vitals.events[i].lost = VITALS_MAX;
	vitals.heap_used = VITALS_MAX;
	vitals_bound(&vitals);
	ok(vitals.heap_used == VITALS_MAX && vitals.lost == VITALS_EVENTS * VITALS_MAX,
		"the largest valid values are kept, and their sum does not overflow");
}

static void test_unknown(void)
{
	static const struct vitals zero;

	vitals = zero;
	vitals_unknown(&vitals);
	ok(vitals.heap_used < 0 && vitals.cpu.java_pct < 0 && vitals.host.cpu_limit < 0 &&
			vitals.safepoint_sync_ms < 0 && vitals.machine_cpus < 0,
		"vitals_unknown sets every value to unknown");
	vitals = zero;
}

static void test_seconds(void)
{
	struct profile *p = profile_new();
	size_t bytes = profile_info(p).bytes;
	struct vitals v = {.gc_count = 7, .cpu_user_ms = 100};

	ok(!profile_vitals(p, 0) && !profile_vitals_first(p),
		"no second has vitals before any are set");
	profile_advance(p, 3);
	profile_vitals_set(p, &v);
	v.gc_count = 8;
	profile_vitals_set(p, &v);
	ok(profile_info(p).bytes > bytes, "vitals count as the model's memory");
	ok(!profile_vitals(p, 2) && profile_vitals(p, 3), "vitals belong to the current second");
	is_int(profile_vitals(p, 3)->gc_count, 8, "the last vitals of a second are kept");
	is_int(profile_vitals_first(p)->gc_count, 7, "the first vitals are kept in addition");
	v.gc_count = 9;
	profile_advance(p, 3 + PROFILE_HISTORY_S - 1);
	profile_vitals_set(p, &v);
	is_int(profile_vitals(p, 3)->gc_count, 8, "vitals are kept as long as the history");
	profile_advance(p, 3 + PROFILE_HISTORY_S);
	profile_vitals_set(p, &v);
	ok(!profile_vitals(p, 3), "vitals are evicted with the history");
	is_int(profile_vitals(p, 3 + PROFILE_HISTORY_S)->gc_count, 9,
		"later vitals replace the evicted ones");
	is_int(profile_vitals_first(p)->gc_count, 7, "the first vitals are never evicted");
	is_int(profile_vitals_first(p)->second, 3, "the first vitals have their second");
	profile_free(p);
}

int main(void)
{
	const char *most;
	int64_t samples;

	is_int(vitals_broken(&vitals, &samples, &most), 0, "without samples no stack is broken");
	is_int(samples, 0, "without samples the number of samples is 0");
	ok(!most, "without broken stacks there is no most frequent reason");

	vitals.events[0].samples = 900;
	vitals.events[3].samples = 120;
	vitals.events[3].lost = 20;
	is_int(vitals_broken(&vitals, &samples, &most), 0, "without counters no stack is broken");
	is_int(samples, 1000, "the samples of all events count, without lost ones");

	count("table_full", 20);
	count("break_native", 3);
	count("truncated", 50);
	count("unknown", 5);
	count("unknown_busy", 1);
	count("break_stub", 0);
	count("unnamed", 7);
	is_int(vitals_broken(&vitals, &samples, &most), 9,
		"break_*, unknown and unknown_* counters add up to the broken stacks");
	is_str(most, "unknown", "the most frequent reason is named");
	test_bounds();
	test_unknown();
	test_seconds();
	return tap_done();
}
