/* SPDX-License-Identifier: Apache-2.0 */
/* Selected calls as a profile of their own, and what distinguishes them from the others. */
#include "profile/calls/compare.h"
#include "profile/calls/extract.h"
#include "profile/calls/report.h"
#include "tests/profile/feed_calls.h"
#include "tests/tap.h"

#include <stdlib.h>

#define SPAN_S 60

static struct profile *p;
static struct feed_calls feed;

static void begin(void)
{
	p = profile_new();
	calls_begin(p, "com.shop.Gateway.handle", 5 * NS_PER_MS);
	for (uint32_t i = 0; i < FEED_CALLERS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "http-%u", i);
		profile_thread_set(
			p, i, &(struct profile_thread){.kind = THREAD_JAVA, .name = name});
	}
	feed_calls_init(&feed, p, "com.shop.Gateway.handle", 0);
	for (uint32_t s = 1; s <= SPAN_S; s++) {
		feed_calls_until(&feed, s * NS_PER_S);
		profile_advance(p, s);
	}
}

static void end(void)
{
	profile_free(p);
}

struct sums {
	double ns, states[CALL_STATES];
	uint32_t calls;
};

static void add_call(void *ctx, const struct call *call)
{
	struct sums *s = ctx;

	s->ns += (double)call_duration_ns(call);
	for (unsigned i = 0; i < CALL_STATES; i++)
		s->states[i] += (double)call->state_ns[i];
	s->calls++;
}

static uint64_t weight_of(const struct profile *from, unsigned states)
{
	struct profile_query q = profile_whole(EVENT_WALL);

	q.states = states;
	return profile_sum(from, &q).weight;
}

/* The samples of the calls of a query: the time of the calls, by state. */
static void check_extract(const struct calls_query *q, const char *which)
{
	struct profile *out = calls_extract(p, q);
	struct sums truth = {.ns = 0}, copied = {.ns = 0};
	double ns = (double)weight_of(out, 0),
	       locked = (double)weight_of(out, 1u << THREAD_MONITOR);

	calls_each(p, q, add_call, &truth);
	calls_each(out, &(struct calls_query){.to_ns = UINT64_MAX}, add_call, &copied);
	ok(truth.calls > 0 && copied.calls == truth.calls && copied.ns == truth.ns,
		"%s: it has these %u calls", which, truth.calls);
	ok(ns > 0.999 * truth.ns && ns < 1.001 * truth.ns,
		"%s: the samples have the time of the calls: %.3f of %.3f s", which, ns / 1e9,
		truth.ns / 1e9);
	ok(locked > 0.9 * truth.states[CALL_LOCK] - 0.02 * ns &&
			locked < 1.1 * truth.states[CALL_LOCK] + 0.02 * ns,
		"%s: those that wait have the time of waits: %.3f of %.3f s", which, locked / 1e9,
		truth.states[CALL_LOCK] / 1e9);
	profile_free(out);
}

static void test_extract(void)
{
	struct calls_query q = {.to_ns = SPAN_S * NS_PER_S};
	struct profile *out;

	begin();
	check_extract(&q, "all calls");
	q.min_ns = 100 * NS_PER_MS;
	check_extract(&q, "slow calls");
	q.from_ns = 20 * NS_PER_S;
	q.to_ns = 30 * NS_PER_S;
	check_extract(&q, "slow calls of ten seconds");
	q.threads = "http-3";
	out = calls_extract(p, &q);
	is_int(profile_thread_count(out), 1, "only the threads of the calls are copied");
	is_str(profile_get_thread(out, 0)->name, "http-3", "the pattern selects them by name");
	profile_free(out);
	q.threads = "none-*";
	out = calls_extract(p, &q);
	is_int(weight_of(out, 0), 0, "no calls, no samples");
	profile_free(out);
	end();
}

static const struct calls_node *node_of(const struct calls_comparison *c, const char *name)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (!strcmp(profile_get_method(c->diff->both, c->nodes[i].method)->full, name))
			return &c->nodes[i];
	return NULL;
}

static void test_difference(void)
{
	struct calls_query q = {.to_ns = SPAN_S * NS_PER_S, .min_ns = 100 * NS_PER_MS};
	const char *waits = "com.acme.shop.Repo.save waits for a monitor [lock]";
	const struct calls_node *save, *place, *parse;
	struct calls_cause causes[CALLS_CAUSES];
	struct calls_comparison *c;
	uint32_t count;

	begin();
	c = calls_compare(p, &q);
	ok(c && c->count &&
			!strcmp(profile_get_method(c->diff->both, c->nodes[0].method)->full,
				"com.shop.Gateway.handle"),
		"the tree begins with the measured method");
	save = node_of(c, "com.acme.shop.Repo.save");
	place = node_of(c, waits);
	parse = node_of(c, "com.acme.shop.Parser.parse");
	ok(save && save->slow > 0.6 && save->other < 0.02 && save->sure,
		"a callee that only slow calls have is significant");
	ok(place && place->place && place->state == CALL_LOCK && place->sure && place == save + 1,
		"and so is its wait, the child");
	ok(parse && parse->slow < 0.2 && parse->other > 0.3,
		"the other callee has less: %.2f, %.2f", parse ? parse->slow : -1,
		parse ? parse->other : -1);
	ok(c->slow_ns > 200e6 && c->other_ns < 40e6, "both sides have their mean duration");
	count = calls_causes(p, &q, causes);
	ok(count > 1 && causes[0].state == CALL_LOCK && calls_comparison_confirms(c, p, &causes[0]),
		"the first cause is confirmed");
	ok(!calls_comparison_confirms(c, p, &causes[count - 1]),
		"what slow calls do less is no confirmed cause");
	calls_comparison_free(c);
	q.min_ns = 10 * NS_PER_S;
	ok(!calls_compare(p, &q), "without slow calls there is no difference");
	end();
}

/* Slow calls of any duration do the same in the same proportions: their differences are not significant. */
static void test_nothing(void)
{
	struct calls_query slow = {.to_ns = SPAN_S * NS_PER_S, .min_ns = 150 * NS_PER_MS};
	unsigned wrong = 0, trials = 0;
	struct profile *few;

	begin();
	few = calls_extract(p, &slow);
	for (uint64_t ms = 200; ms < 560; ms += 20, trials++) {
		struct calls_query q = {.to_ns = UINT64_MAX,
			.min_ns = ms * NS_PER_MS,
			.max_ns = (ms + 60) * NS_PER_MS};
		struct calls_comparison *c = calls_compare(few, &q);

		for (uint32_t i = 0; c && i < c->count; i++)
			if (c->nodes[i].sure) {
				diag("%s: %.3f, %.3f",
					profile_get_method(c->diff->both, c->nodes[i].method)->full,
					c->nodes[i].slow, c->nodes[i].other);
				wrong++;
				break;
			}
		calls_comparison_free(c);
	}
	ok(wrong <= 1, "of equal calls %u of %u comparisons are significant", wrong, trials);
	profile_free(few);
	end();
}

int main(void)
{
	test_extract();
	test_difference();
	test_nothing();
	return tap_done();
}
