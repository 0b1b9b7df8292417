/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU samples against the process's CPU time: whether they differ, for windows, snapshots, 10 s steps and evicted
 * stacks.
 */
#include "profile/profile.h"
#include "tests/profile/add.h"
#include "tests/tap.h"

#define INTERVAL 10000000u /* 10 ms */
#define SECONDS  900

static const struct {
	uint32_t samples;    /* a second */
	uint64_t process_ns; /* a second */
	uint32_t seconds;
	bool differs;
} cases[] = {
	{100, 1000000000, 10, false}, {100, 1015000000, 10, false}, /* 1.5 % */
	{95, 1000000000, 10, false}, /* 50 of 950 samples missing: within the tolerance */
	{85, 1000000000, 10, true}, {116, 1000000000, 10, true}, {62, 1000000000, 10, true},
	{62, 1000000000, 1, true}, {81, 1000000000, 1, false}, /* 19 of 81 */
	{97, 1000000000, 100, false}, {98, 1000000000, 800, false}, {96, 1000000000, 800, true},
	{0, 1000000000, 10, true}, {0, 1000000, 10, false}, /* 10 ms in all */
	{0, 19000000, 10, false}, {0, 30000000, 10, true}, {1600, 16000000000, 10, false},
	{800, 16000000000, 10, true}, {100, 0, 10, false}, /* CPU time unknown */
};

static void feed(
	struct profile *p, uint32_t from, uint32_t to, uint32_t samples, uint64_t process_ns)
{
	uint32_t stack = profile_stack_child(p, PROFILE_ROOT_STACK,
		profile_frame(p, profile_method(p, "C", "m", "", ""), FRAME_COMPILED, 0, 0));

	for (uint32_t s = from; s < to; s++) {
		profile_advance(p, s);
		if (samples)
			profile_add(
				p, EVENT_CPU, s, stack, 0, samples, (uint64_t)samples * INTERVAL);
		profile_add_process(p, s, process_ns);
	}
}

static struct profile_explained explained(const struct profile *p, uint32_t from, uint32_t to)
{
	const struct profile_query q = {.from = from, .to = to, .thread = PROFILE_ANY_THREAD};

	return profile_explained(p, &q, 0);
}

static void test_cases(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile *p = profile_new();
		struct profile_explained e;

		feed(p, 0, cases[i].seconds, cases[i].samples, cases[i].process_ns);
		e = explained(p, 0, UINT32_MAX);
		ok(e.sampled_ns == (uint64_t)cases[i].samples * INTERVAL * cases[i].seconds &&
				e.process_ns == cases[i].process_ns * cases[i].seconds,
			"%u samples a second against %g s, for %u s: the sums are right",
			cases[i].samples, (double)cases[i].process_ns / 1e9, cases[i].seconds);
		is_int(e.differs, cases[i].differs,
			cases[i].differs ? "samples and CPU time differ"
					 : "samples and CPU time do not differ");
		profile_free(p);
	}
}

/* All samples are there but for 100 s in the middle, where half is missing. */
static void test_windows(void)
{
	struct profile *p = profile_new();
	struct profile_explained e;

	feed(p, 0, 300, 100, 1000000000);
	feed(p, 300, 400, 50, 1000000000);
	profile_anchor(p, EVENT_CPU, 400, 0);
	feed(p, 400, SECONDS, 100, 1000000000);
	ok(!explained(p, SECONDS - 10, SECONDS).differs,
		"a window of the complete seconds does not differ");
	ok(explained(p, 320, 380).differs, "a window of the incomplete seconds differs");
	e = explained(p, 0, UINT32_MAX);
	is_int(e.sampled_ns, (uint64_t)850 * 1000000000,
		"the total of samples includes seconds evicted from the history");
	is_int(e.process_ns, (uint64_t)900 * 1000000000,
		"the total of CPU time includes seconds evicted from the history");
	ok(e.differs, "the total of samples and that of CPU time differ");
	e = explained(p, 400, UINT32_MAX);
	is_int(e.process_ns, (uint64_t)500 * 1000000000,
		"CPU time since an anchor starts at the anchor");
	ok(!e.differs && e.sampled_ns == e.process_ns, "the samples since the anchor match it");
	profile_free(p);
}

/* 200 threads that run all the time have two samples each of a true three: their third is due. */
static void test_due(void)
{
	static const struct profile_query q = {.to = UINT32_MAX, .thread = PROFILE_ANY_THREAD};
	struct profile *p = profile_new();
	uint32_t stack = profile_stack_child(p, PROFILE_ROOT_STACK,
		profile_frame(p, profile_method(p, "C", "m", "", ""), FRAME_COMPILED, 0, 0));

	for (uint32_t i = 0; i < 200; i++) {
		uint32_t thread = profile_thread_new(p);

		profile_thread_set(
			p, thread, &(struct profile_thread){.name = "t", .tid = 1000 + (int)i});
		profile_add(p, EVENT_CPU, 0, stack, thread, 2, 2 * (uint64_t)INTERVAL);
	}
	profile_add_process(p, 0, 6000000000);
	ok(!profile_explained(p, &q, 210).differs,
		"samples that are due on living threads explain the difference");
	ok(profile_explained(p, &q, 210).error_ns > 2000000000,
		"samples that are due are part of the error");
	ok(profile_explained(p, &q, 20).differs,
		"if most threads have ended, their samples are not due, and the difference counts");
	ok(profile_explained(p, &q, 0).differs,
		"if the number of living threads is unknown, no samples are due");
	profile_free(p);
}

int main(void)
{
	test_cases();
	test_windows();
	test_due();
	return tap_done();
}
