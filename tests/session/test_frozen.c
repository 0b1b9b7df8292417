/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session: a screen that is frozen for hours, over a program whose threads and classes change all the time (day.h), in a
 * model with little memory: the screen does not change, memory is bounded, and no sample is lost.
 */
#include "base/hash.h"
#include "export/seconds.h"
#include "profile/history.h"
#include "profile/vitals.h"
#include "tests/session/day.h"
#include "tests/tap.h"

#define SAMPLES 40
#define HOUR    3600
#define FROZEN  900u
#define SINCE   850u /* an anchor: the total since this second */
#define BUDGET  (8u << 20)
#define WINDOWS 6

static struct day day;
static uint64_t fed; /* samples so far */

/* A checksum of a window's contents, independent of order and ids. */
static void hash_part(void *ctx, const struct profile_part *part)
{
	const char *name = profile_get_thread(day.profile, part->thread)->name;
	uint64_t *sum = ctx, names = hash_bytes(name, strlen(name), part->state);

	for (uint32_t stack = part->stack; stack != PROFILE_ROOT_STACK;
		stack = profile_get_stack(day.profile, stack).parent) {
		uint32_t frame = profile_get_stack(day.profile, stack).frame;

		name = profile_get_method(
			day.profile, profile_get_frame(day.profile, frame)->method)
			       ->full;
		names = hash_bytes(name, strlen(name), names);
	}
	*sum += names * part->count + part->weight;
}

static uint64_t window(uint32_t from, uint32_t to)
{
	struct profile_query q = {.from = from, .to = to, .thread = PROFILE_ANY_THREAD};
	uint64_t sum = 0;

	profile_each(day.profile, &q, hash_part, &sum);
	return hash_pair(sum, profile_sum(day.profile, &q).count);
}

struct shown {
	uint64_t windows[WINDOWS], history, waits, vitals;
};

static struct shown shown(uint32_t to)
{
	static const uint32_t seconds[WINDOWS] = {1, 5, 10, 30, 60, 0};
	struct shown s = {0};
	int64_t counts[60];

	for (int i = 0; i < WINDOWS; i++)
		s.windows[i] = window(seconds[i] ? to - seconds[i] : 0, to);
	s.windows[0] = hash_pair(s.windows[0], window(SINCE, to));
	profile_history(day.profile, EVENT_CPU, to, counts, 60);
	s.history = hash_bytes(counts, sizeof(counts), 0);
	for (uint32_t thread = 0; thread < 4; thread++) {
		struct profile_waited waited = {0};
		struct profile_wait last = {0};

		profile_waited(day.profile, thread, to - 60, to, &waited);
		profile_wait_at(day.profile, thread, to, &last);
		s.waits = hash_pair(s.waits, waited.all_ns + last.lock);
	}
	for (uint32_t second = to - 60; second < to; second++) {
		const struct vitals_second *v = profile_vitals(day.profile, second);

		s.vitals += v ? (uint64_t)v->heap_used * second : 0;
	}
	return s;
}

/* The first four threads wait ten times a second. */
static void second(void)
{
	struct vitals v;
	uint64_t ns = day.second * NS_PER_S;

	day_second(&day, SAMPLES);
	for (uint32_t i = 0; i < 10; i++, ns += NS_PER_S / 10)
		profile_wait_set(
			day.profile, &(struct profile_wait){i % 4, PROFILE_NONE, PROFILE_NONE,
					     ns + 1, ns, ns + 1 + i * 1000000, 0, false});
	vitals_unknown(&v);
	v.heap_used = day.second;
	profile_vitals_set(day.profile, &v);
	fed = day.samples;
}

/* Returns the model's largest size in this hour. */
static uint64_t hour(void)
{
	uint64_t most = 0, bytes;

	for (int i = 0; i < HOUR; i++) {
		second();
		bytes = profile_info(day.profile).bytes;
		most = bytes > most ? bytes : most;
	}
	return most;
}

static void check_same(const struct shown *was, uint32_t to, const char *when)
{
	static const char *const names[WINDOWS] = {"1 s", "5 s", "10 s", "30 s", "60 s", "all"};
	struct shown is = shown(to);

	for (int i = 0; i < WINDOWS; i++)
		ok(is.windows[i] == was->windows[i], "%s: the window of %s is unchanged", when,
			names[i]);
	ok(is.history == was->history, "%s: the samples by second are unchanged", when);
	ok(is.waits == was->waits, "%s: the waits are unchanged", when);
	ok(is.vitals == was->vitals, "%s: the vitals are unchanged", when);
}

static void count_part(void *ctx, const struct seconds_span *span, const struct profile_part *part)
{
	*(uint64_t *)ctx += part->count;
}

static void check_complete(const char *when)
{
	struct profile_query q = profile_whole(EVENT_CPU);
	uint64_t by_second = 0;

	ok(profile_sum(day.profile, &q).count == fed, "%s: the total has every sample", when);
	seconds_each(day.profile, &q, count_part, &by_second);
	ok(by_second == fed, "%s: the sum over single seconds has every sample", when);
	q.from = FROZEN;
	ok(profile_sum(day.profile, &q).count > 0, "%s: samples after the freeze are counted",
		when);
}

int main(void)
{
	struct shown was, earlier;
	uint64_t first, then;
	uint32_t now;

	day_init(&day);
	profile_set_budget(day.profile, BUDGET);
	while (profile_info(day.profile).now < SINCE)
		second();
	profile_anchor(day.profile, EVENT_CPU, SINCE, 0);
	while (profile_info(day.profile).now < FROZEN)
		second();
	profile_freeze(day.profile, FROZEN);
	was = shown(FROZEN);
	earlier = shown(FROZEN - 1);
	hour();
	check_same(&was, FROZEN, "frozen for an hour");
	first = hour();
	hour();
	then = hour();
	diag("most bytes in the second hour %u, in the fourth %u", (unsigned)first, (unsigned)then);
	ok(then <= first + first / 10, "memory is bounded while frozen");
	check_same(&was, FROZEN, "frozen for four hours");
	check_complete("frozen");
	profile_freeze(day.profile, FROZEN - 1);
	second();
	check_same(&earlier, FROZEN - 1, "frozen one second earlier");
	profile_freeze(day.profile, PROFILE_NONE);
	second();
	check_complete("thawed");
	now = profile_info(day.profile).now;
	ok(window(now - 10, now) != window(now - 20, now - 10),
		"after thawing, new samples appear in the last 10 s");
	hour();
	check_complete("an hour after thawing");
	ok(!day.rejected, "every record is accepted");
	day_done(&day);
	return tap_done();
}
