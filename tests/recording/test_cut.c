/* SPDX-License-Identifier: Apache-2.0 */
/* profile_cut: the copy of a span has everything that belongs to its seconds, and nothing else. */
#include "base/clock.h"
#include "profile/cut.h"
#include "profile/history.h"
#include "tests/recording/kinds.h"
#include "tests/tap.h"

/* The samples of a second, without its number. */
static char *samples_text(const struct profile *p, int event, uint32_t second)
{
	struct buf all = {0}, out = {0};

	same_seconds(p, &all, event, second, second + 1);
	for (const char *line = buf_str(&all); *line; line += strcspn(line, "\n") + 1)
		buf_printf(&out, "%.*s\n", (int)(strcspn(line, "\n") - strcspn(line, ":")),
			line + strcspn(line, ":"));
	buf_done(&all);
	return buf_steal(&out);
}

/* A copy of a span: all of it is the same profile again; of a part, each second has the samples of its original. */
static void test_cut(void)
{
	const uint32_t from = 25, to = 61;
	struct profile *p = all_kinds(100, NULL), *whole = profile_cut(p, 0, UINT32_MAX),
		       *part = profile_cut(p, from, to), *rest = profile_cut(p, to, UINT32_MAX);
	uint64_t process_ns = 0, weight = 0, parts_weight = 0;
	unsigned waits = 0, wrong_waits = 0, different = 0, seconds = 0, vitals = 0,
		 equal_vitals = 0;
	struct profile_wait w;
	struct profile_run run;

	same(same_text(p, false), same_text(whole, false), "a copy of everything");
	is_int(profile_info(part).now, to - from - 1, "a copy of a part has its seconds only");
	is_int(profile_info(part).start_wall_ns, (1700000000 + from) * NS_PER_S,
		"it starts later by as much");
	for (uint32_t s = from; s < to; s++) {
		for (int e = 0; e <= SAME_HOLDERS; e++) {
			char *was = samples_text(p, e, s), *is = samples_text(part, e, s - from);

			different += strcmp(was, is) != 0;
			seconds += *is != '\0';
			free(was);
			free(is);
			e = e == PROFILE_EVENTS - 1 ? SAME_HOLDERS - 1 : e;
		}
		process_ns += profile_process_ns(p, s, s + 1);
		if (!profile_vitals(p, s))
			continue;
		vitals++;
		equal_vitals += profile_vitals(part, s - from) != NULL &&
				profile_vitals(part, s - from)->heap_used ==
					profile_vitals(p, s)->heap_used;
	}
	ok(seconds > 4 * (to - from) && !different,
		"each of its %u seconds of an event has the same samples: %u differ", seconds,
		different);
	is_int(equal_vitals, vitals, "and the same vitals");
	is_int(profile_process_ns(part, 0, UINT32_MAX), process_ns,
		"and the CPU time of the process");
	ok(profile_get_run(part, EVENT_CPU, 0, &run) && run.from == 0 && run.to <= 4,
		"a run of an event that began before the span begins with it: %u-%u", run.from,
		run.to);
	for (uint64_t i = 0; i < profile_wait_count(part); i++) {
		if (!profile_get_wait(part, i, &w))
			continue;
		waits++;
		wrong_waits += w.until_ns > (to - from) * NS_PER_S || w.since_ns > w.until_ns;
	}
	ok(waits > to - from && !wrong_waits, "all of its %u waits are within the span", waits);
	for (int e = 0; e < PROFILE_EVENTS; e++) {
		struct profile_query q = profile_whole(e);

		weight += profile_sum(p, &q).weight;
		parts_weight += profile_sum(part, &q).weight + profile_sum(rest, &q).weight;
		q.to = from;
		parts_weight += profile_sum(p, &q).weight;
	}
	is_int(parts_weight, weight, "adjacent copies add up to the original");
	profile_free(p);
	profile_free(whole);
	profile_free(part);
	profile_free(rest);
}

int main(void)
{
	test_cut();
	return tap_done();
}
