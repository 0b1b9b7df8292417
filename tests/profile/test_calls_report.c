/* SPDX-License-Identifier: Apache-2.0 */
/* Parts that all reports of calls share: the slowest calls, phases, and texts. */
#include "profile/calls/report.h"
#include "tests/profile/feed_calls.h"
#include "tests/tap.h"

#include <stdio.h>
#include <stdlib.h>

static void test_durations(void)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {{0, "0 us"}, {850 * NS_PER_US, "850 us"}, {3140 * NS_PER_US, "3.1 ms"},
		{11 * NS_PER_MS, "11 ms"}, {412 * NS_PER_MS, "412 ms"},
		{1920 * NS_PER_MS, "1.92 s"}, {23 * NS_PER_S, "23.0 s"}};
	struct calls_summary sum = {
		.interval_ns = 5 * NS_PER_MS, .p50 = 20 * NS_PER_MS, .max = 2310 * NS_PER_MS};
	char text[CALLS_TEXT];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		is_str(calls_duration_text(cases[i].ns, text), cases[i].text,
			"a duration has two or three digits and a unit");
	is_str(calls_percentile_text(&sum, 20 * NS_PER_MS, text), "20 ms", "a percentile");
	is_str(calls_percentile_text(&sum, CALLS_UNKNOWN, text), ">2.31 s",
		"a percentile beyond the longest call");
	sum.p50 = CALLS_UNKNOWN;
	is_str(calls_percentile_text(&sum, CALLS_UNKNOWN, text), "<10 ms",
		"a percentile below two intervals");
}

static void count_note(void *ctx, const char *brief, const char *sentence)
{
	unsigned *count = ctx;

	*count +=
		*brief && sentence[strlen(sentence) - 1] == '.' && strlen(sentence) > strlen(brief);
}

static void test_notes(void)
{
	struct calls_summary sum = {.interval_ns = 5 * NS_PER_MS};
	unsigned count = 0;

	calls_notes(&sum, count_note, &count);
	is_int(count, 0, "nothing is said of figures without reservations");
	sum.short_calls = true;
	sum.inlined = sum.uncertain = sum.unpolled = 0.5;
	sum.lasting = 1;
	calls_notes(&sum, count_note, &count);
	is_int(count, 5, "each reservation has a brief form and a sentence");
}

/* Waits of a thread for two locks in turn, the second for longer; and for another one before and after. */
static void add_waits(struct profile *p, uint32_t thread, uint64_t from_ns, uint64_t to_ns)
{
	const uint64_t times[] = {from_ns - NS_PER_S, from_ns, from_ns + (to_ns - from_ns) / 4,
		to_ns, to_ns + NS_PER_S};
	static const char *const locks[] = {"Other", "Queue", "Cache", "Other"};

	for (unsigned i = 0; i < 4; i++) {
		char class_name[40];

		snprintf(class_name, sizeof(class_name), "com.shop.%s", locks[i]);
		profile_wait_set(p, &(struct profile_wait){.thread = thread,
					    .owner = 5 + i,
					    .method = profile_method(p, class_name, "", "", ""),
					    .lock = 1 + i,
					    .since_ns = times[i],
					    .until_ns = times[i + 1]});
	}
}

/* What the owner of a lock did: for most of the time unknown, then asleep; and what another one did. */
static void add_holders(struct profile *p, uint32_t owner, uint32_t second)
{
	uint32_t unknown = profile_method(p, "", "[unknown owner]", "", "");
	uint32_t flush = feed_calls_frame(p, PROFILE_ROOT_STACK, "com.shop.Repo", "flush");
	uint32_t other = feed_calls_frame(p, PROFILE_ROOT_STACK, "com.shop.Other", "run");
	const struct profile_sample samples[] = {
		{profile_stack_child(
			 p, PROFILE_ROOT_STACK, profile_frame(p, unknown, FRAME_BREAK, 0xffff, 0)),
			owner, THREAD_STATE_NONE, 9, 9 * NS_PER_MS},
		{profile_stack_waiting(p, flush, THREAD_SLEEPING, NULL), owner, THREAD_STATE_NONE,
			5, 5 * NS_PER_MS},
		{flush, owner, THREAD_STATE_NONE, 4, 4 * NS_PER_MS},
		{other, owner - 1, THREAD_STATE_NONE, 20, 20 * NS_PER_MS}};

	profile_thread_set(
		p, owner, &(struct profile_thread){.kind = THREAD_JAVA, .name = "flusher"});
	profile_advance(p, second);
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		profile_add_holder(p, second, &samples[i]);
}

static void test_single(void)
{
	struct profile *p = profile_new();
	struct feed_calls feed;
	struct calls_query q = {.to_ns = 20 * NS_PER_S};
	struct call slowest[20];
	double shares[CALL_STATES], sum = 0;
	struct call_phase *phases;
	uint32_t count, n;
	bool right = true;
	char text[CALLS_TEXT], lock[CALLS_LOCK];

	setenv("TZ", "UTC", 1);
	profile_set_start(p, 1700000000000000000);
	for (int i = 0; i < FEED_CALLERS; i++)
		profile_thread_new(p);
	calls_begin(p, "com.shop.Gateway.handle", 5 * NS_PER_MS);
	feed_calls_init(&feed, p, "com.shop.Gateway.handle", 0);
	feed_calls_until(&feed, q.to_ns);
	count = calls_slowest(p, &q, slowest, 20);
	for (uint32_t i = 1; i < count; i++)
		right &= call_duration_ns(&slowest[i - 1]) >= call_duration_ns(&slowest[i]);
	ok(count == 20 && right, "the slowest calls are listed, the slowest first");
	ok(call_duration_ns(&slowest[0]) > 500 * NS_PER_MS, "the first is one of the longest");
	is_int(calls_slowest(p, &q, slowest, 3), 3, "at most as many as requested");
	is_str(calls_clock_text(p, 61250 * NS_PER_MS, text), "22:14:21.250", "the time of day");
	call_shares(&slowest[0], shares);
	for (unsigned s = 0; s < CALL_STATES; s++)
		sum += shares[s];
	ok(sum > 0.999 && sum < 1.001, "the shares of a call's states add up to 1");
	ok(shares[CALL_LOCK] > 0.65 && shares[CALL_LOCK] < 0.75,
		"the longest of them is the lock's");
	phases = call_phases(p, &slowest[0], &n);
	is_int(n, 3, "equal parts are merged to phases");
	ok(n == 3 && phases[0].state == CALL_CPU && phases[1].state == CALL_IO &&
			phases[2].state == CALL_LOCK,
		"the phases are in order");
	ok(n == 3 && phases[0].to_ns == phases[1].from_ns && phases[1].to_ns == phases[2].from_ns,
		"each phase begins where the one before ends");
	is_str(n == 3 ? profile_get_method(p, phases[1].method)->full : "",
		"com.acme.shop.Repo.load: socket read 10.0.0.5:5432",
		"a phase is attributed to where the call was in that state");
	ok(n == 3 && phases[2].lock == PROFILE_NONE && phases[2].owner == PROFILE_NONE,
		"no lock is known while locks are not sampled");
	if (n == 3)
		add_waits(p, slowest[0].thread, phases[2].from_ns, phases[2].to_ns);
	free(phases);
	phases = call_phases(p, &slowest[0], &n);
	is_str(n == 3 ? profile_get_method(p, phases[2].lock)->full : "", "com.shop.Cache",
		"the lock that most of the phase was spent waiting for");
	is_int(n == 3 ? phases[2].owner : 0, 7, "and the thread that held it");
	ok(n == 3 && phases[1].lock == PROFILE_NONE, "other phases have no lock");
	ok(n == 3 && phases[2].owner_place == PROFILE_NONE, "nor is it known what that did");
	if (n == 3)
		add_holders(p, 7, (uint32_t)(phases[2].from_ns / NS_PER_S));
	free(phases);
	phases = call_phases(p, &slowest[0], &n);
	is_str(n == 3 ? calls_lock_text(p, &phases[2], lock) : "",
		"com.shop.Cache, held by flusher in com.shop.Repo.flush sleeps",
		"the owner is named with what it did while others waited");
	free(phases);
	profile_free(p);
}

int main(void)
{
	test_durations();
	test_notes();
	test_single();
	return tap_done();
}
