/* SPDX-License-Identifier: Apache-2.0 */
/* How good the data is: what of the agent's counters are broken stacks, and of how many. */
#include "tests/tap.h"

#include "profile/vitals.h"

static struct vitals vitals;

static void count(const char *name, int64_t value)
{
	snprintf(vitals.counters[vitals.counter_count].name, sizeof(vitals.counters[0].name), "%s",
		name);
	vitals.counters[vitals.counter_count++].value = value;
}

int main(void)
{
	const char *most;
	int64_t samples;

	is_int(vitals_broken(&vitals, &samples, &most), 0,
		"nothing was sampled: nothing is broken");
	is_int(samples, 0, "of nothing");
	ok(!most, "for no reason");

	vitals.events[0].samples = 900;
	vitals.events[3].samples = 120;
	vitals.events[3].lost = 20;
	is_int(vitals_broken(&vitals, &samples, &most), 0, "no counter: nothing is broken");
	is_int(samples, 1000, "of all events' samples that were not lost");

	count("table_full", 20);
	count("break_native", 3);
	count("truncated", 50);
	count("unknown", 5);
	count("unknown_busy", 1);
	count("break_stub", 0);
	count("unnamed", 7);
	is_int(vitals_broken(&vitals, &samples, &most), 9,
		"breaks and what is unknown are broken stacks");
	is_str(most, "unknown", "the most frequent reason is named");
	return tap_done();
}
