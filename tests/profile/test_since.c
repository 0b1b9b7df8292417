/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A window since an anchor covers everything since then, however much history has been evicted, and rates divide by the
 * sampled seconds. The truth is a table of all added samples.
 */
#include "tests/profile/feed.h"
#include "tests/tap.h"

#define SECONDS 2000
#define STACKS  20

static uint32_t stack_of(struct profile *p, int i)
{
	char name[16];

	snprintf(name, sizeof(name), "m%d", i);
	return profile_stack_child(p, PROFILE_ROOT_STACK,
		profile_frame(p, profile_method(p, "C", name, "", ""), FRAME_COMPILED, 0, 0));
}

static struct profile_query since(uint32_t from, uint32_t to)
{
	return (struct profile_query){
		.event = EVENT_LOCK, .from = from, .to = to, .thread = PROFILE_ANY_THREAD};
}

struct got {
	const uint32_t *stacks;
	uint64_t weight[STACKS];
};

static void sum_part(void *ctx, const struct profile_part *part)
{
	struct got *g = ctx;

	for (int i = 0; i < STACKS; i++)
		if (g->stacks[i] == part->stack)
			g->weight[i] += part->weight;
}

struct history {
	struct profile *p;
	uint32_t stacks[STACKS];
	uint64_t fed[SECONDS][STACKS];
};

static void feed(struct history *h, uint32_t second, int stack, uint64_t weight)
{
	profile_add(h->p, EVENT_LOCK, second, h->stacks[stack], 0, 1, weight);
	h->fed[second][stack] += weight;
}

/* Whether each stack's weight, and their sum, match what was added. */
static bool matches_fed(const struct history *h, uint32_t from, uint32_t to)
{
	struct profile_query q = since(from, to);
	struct got g = {.stacks = h->stacks};
	uint64_t all = 0;
	bool right = true;

	profile_each(h->p, &q, sum_part, &g);
	for (int i = 0; i < STACKS; i++) {
		uint64_t want = 0;

		for (uint32_t s = from; s < to && s < SECONDS; s++)
			want += h->fed[s][i];
		right = right && g.weight[i] == want;
		all += want;
	}
	return right && profile_sum(h->p, &q).weight == all;
}

static void test_anchors(size_t budget)
{
	static struct history h;
	uint64_t rng = 1;
	bool right = true;

	memset(&h, 0, sizeof(h));
	h.p = profile_new();
	if (budget)
		profile_set_budget(h.p, budget);
	for (int i = 0; i < STACKS; i++)
		h.stacks[i] = stack_of(h.p, i);
	for (uint32_t s = 1; s < SECONDS; s++) {
		for (int i = 0; i < 5; i++) {
			rng = rng * 6364136223846793005ull + 1442695040888963407ull;
			feed(&h, i || s < 3 ? s : s - 2, (int)(rng >> 40) % STACKS,
				1 + (rng >> 50));
		}
		if (s == 103)
			profile_anchor(h.p, EVENT_LOCK, 103, 0);
		if (s == 457)
			profile_anchor(h.p, EVENT_LOCK, 457, 103);
		if (s > 103 && s % 50 == 0)
			right = right && matches_fed(&h, 103, s + 1) && matches_fed(&h, 0, s + 1);
		if (s > 457 && s % 50 == 0)
			right = right && matches_fed(&h, 457, s + 1) &&
				matches_fed(&h, 457, s - 10);
	}
	ok(right, "windows since the start and since seconds 103 and 457 are exact for 2,000 s");
	feed(&h, 300, 3, 1000000);
	feed(&h, 50, 4, 1000000);
	ok(matches_fed(&h, 103, SECONDS) && matches_fed(&h, 457, SECONDS) &&
			matches_fed(&h, 0, SECONDS),
		"samples that come far too late count in their window");
	profile_anchor(h.p, EVENT_LOCK, 103, 0);
	ok(matches_fed(&h, 103, SECONDS), "an earlier anchor can be set again");
	profile_free(h.p);
}

static void each_add(void *ctx, const struct profile_part *part)
{
	*(uint64_t *)ctx += part->weight;
}

/* Stacks folded into "[earlier]" keep their part of before the anchor separate. */
static void test_folded(void)
{
	struct profile *p = profile_new();
	struct profile_query q = since(400, UINT32_MAX);
	uint64_t after = 0, each = 0;
	uint32_t last = 0;

	profile_set_budget(p, 1 << 20);
	for (uint32_t s = 1; s < 4000; s++) {
		for (int i = 0; i < 20; i++) {
			profile_add(p, EVENT_LOCK, s, stack_of(p, (int)(s * 20) + i), 0, 1, 7);
			after += s >= 400 ? 7 : 0;
		}
		if (s == 400)
			profile_anchor(p, EVENT_LOCK, 400, 0);
		last = profile_info(p).stacks;
	}
	is_int(profile_sum(p, &q).weight, after,
		"the sum since an anchor is exact after stacks were evicted");
	profile_each(p, &q, each_add, &each);
	is_int(each, after, "the stacks since an anchor add up to that sum");
	ok(last < 4000 * 20, "stacks were evicted (%u are left)", last);
	profile_free(p);
}

static void test_covered(void)
{
	struct profile *p = profile_new();
	struct profile_query q = since(0, UINT32_MAX);

	profile_advance(p, 99);
	is_int(profile_covered(p, &q), 100, "seconds 0 to 99 are 100 covered seconds");
	profile_gap(p, 20, 30);
	is_int(profile_covered(p, &q), 90, "a gap of ten seconds is not covered");
	profile_event_runs(p, EVENT_LOCK, 10, false);
	profile_event_runs(p, EVENT_LOCK, 15, true);
	profile_event_runs(p, EVENT_LOCK, 16, true);
	profile_event_runs(p, EVENT_LOCK, 40, false);
	profile_event_runs(p, EVENT_LOCK, 90, true);
	is_int(profile_covered(p, &q), 26, "only the seconds in which the event ran are covered");
	q.event = EVENT_CPU;
	is_int(profile_covered(p, &q), 90, "another event has its own coverage");
	q = since(50, 60);
	is_int(profile_covered(p, &q), 0,
		"a window in which the event was off has no covered seconds");
	q = since(35, 95);
	is_int(profile_covered(p, &q), 11, "a window across two runs covers parts of both");
	for (uint32_t s = 100; s < 3000; s++)
		profile_advance(p, s);
	q = since(0, UINT32_MAX);
	is_int(profile_covered(p, &q), 2926, "an unbounded window also covers evicted seconds");
	q.from = 1000;
	ok(profile_covered(p, &q) <= PROFILE_HISTORY_S + 20,
		"a bounded window covers only retained seconds");
	profile_free(p);
}

/* Windows of 5 s over history in steps of 10 s: the sum is divided by the seconds that it covers. */
static void test_steps(void)
{
	struct profile *p = profile_new();
	uint32_t windows = 0, right = 0, stack = stack_of(p, 1);

	profile_set_budget(p, 4 << 20);
	for (uint32_t s = 1; s < 500; s++)
		for (uint32_t i = 0; i < 1000; i++)
			profile_add(p, EVENT_LOCK, s, stack, i, 1, 1);
	for (uint32_t from = profile_info(p).oldest + 1; from < 490; from++) {
		struct profile_query q = since(from, from + 5);
		uint32_t seconds = profile_covered(p, &q);

		windows++;
		right += profile_sum(p, &q).weight == (uint64_t)seconds * 1000;
	}
	ok(profile_info(p).merged_before > profile_info(p).oldest + 20,
		"the history has 10 s steps");
	is_int(right, windows, "each window of 5 s has a rate of 1,000 a second");
	profile_free(p);
}

int main(void)
{
	test_anchors(0);
	test_anchors(4 << 20);
	test_folded();
	test_covered();
	test_steps();
	return tap_done();
}
