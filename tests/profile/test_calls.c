/* SPDX-License-Identifier: Apache-2.0 */
/* Polls joined into calls: begin and end, consecutive calls, collections, entries, recursion, full rings, hostile polls. */
#include "profile/calls/calls.h"
#include "tests/profile/add.h"
#include "tests/profile/polls.h"
#include "tests/tap.h"

static struct profile *p;

static void begin(void)
{
	p = profile_new();
	calls_begin(p, "Gateway.handle", POLLS_INTERVAL);
}

static void end(void)
{
	profile_free(p);
}

static bool call_is(
	const struct call *call, double begin_from, double begin_to, double end_from, double end_to)
{
	bool same = polls_same(call->begin_from, begin_from) &&
		    polls_same(call->begin_to, begin_to) && polls_same(call->end_from, end_from) &&
		    (end_to > 0 ? polls_same(call->end_to, end_to) : call->end_to == UINT64_MAX);

	if (!same)
		diag("begin %.2f to %.2f ms, end %.2f to %.2f ms", (double)call->begin_from / 1e6,
			(double)call->begin_to / 1e6, (double)call->end_from / 1e6,
			(double)call->end_to / 1e6);
	return same;
}

/* --- one call -------------------------------------------------------------------------------- */

static void test_bounds(void)
{
	struct polls_calls c;

	for (unsigned k = 1; k <= 20; k++) {
		double last = 100 + 5.0 * (k - 1);

		begin();
		for (unsigned i = 0; i < k; i++)
			polls_inside(p, 1, 100 + 5 * i);
		polls_outside(p, 1, last + 5);
		polls_outside(p, 1, last + 10);
		c = polls_calls(p, 0, 1000);
		is_int(c.count, 1, "consecutive polls are one call");
		ok(call_is(&c.list[0], 95, 100, last, last + 5),
			"%u polls bound the begin and the end of a call", k);
		ok(polls_same(call_duration_ns(&c.list[0]), 5.0 * k),
			"the duration of a call of %u polls is estimated without bias", k);
		ok(polls_same(call_error_ns(&c.list[0]), 5),
			"the duration is known to within an interval");
		is_int(c.list[0].polls, k, "the number of polls is known");
		is_int(c.list[0].thread, 1, "the thread is known");
		ok(polls_same(c.list[0].gap_ns, 5), "the distance to the poll before is known");
		end();
	}
}

/* A thread that has not run since an earlier poll was there all the time. */
static void test_rest(void)
{
	struct profile_poll poll;
	struct polls_calls c;

	begin();
	poll = polls_at(1, 100);
	poll.since_ns = polls_ns(92);
	poll.before_ns = polls_ns(90);
	calls_add_poll(p, &poll);
	poll = polls_at(1, 150);
	poll.before_ns = polls_ns(145);
	poll.since_ns = polls_ns(147);
	poll.inside = false;
	calls_add_poll(p, &poll);
	c = polls_calls(p, 0, 1000);
	is_int(c.count, 1, "a call that waits is one call");
	ok(call_is(&c.list[0], 90, 92, 145, 147), "polls at rest bound the begin and the end");
	end();
}

static void test_lasting(void)
{
	struct calls_query q = {.to_ns = NS_PER_S};
	struct calls_summary sum;
	struct polls_calls c;

	begin();
	polls_inside(p, 1, 100);
	polls_inside(p, 1, 105);
	c = polls_calls(p, 0, 1000);
	is_int(c.count, 1, "a call in progress is reported");
	ok(call_is(&c.list[0], 95, 100, 105, 0), "a call in progress has no end");
	ok(polls_same(call_duration_ns(&c.list[0]), 7.5),
		"the duration of a call in progress is what has passed");
	ok(polls_same(call_error_ns(&c.list[0]), 2.5), "its begin is known to half an interval");
	calls_summarize(p, &q, &sum);
	is_int(sum.lasting, 1, "the summary counts calls in progress");
	is_int(sum.p50, CALLS_UNKNOWN, "percentiles beyond the calls that ended are unknown");
	polls_outside(p, 1, 110);
	calls_summarize(p, &q, &sum);
	is_int(sum.lasting, 0, "a call that has ended is no longer in progress");
	end();
}

/* --- consecutive calls ----------------------------------------------------------------------- */

struct step {
	uint64_t frame, outside, values; /* frame 0: not inside */
	uint32_t before, after;          /* collections */
	bool known;                      /* the entries are recorded, and known since the last */
	uint32_t entries, here;
};
#define POLL(f, o, v)                                 \
	{                                             \
		.frame = f, .outside = o, .values = v \
	}
#define GC(f, o, v, b, a)                                                      \
	{                                                                      \
		.frame = f, .outside = o, .values = v, .before = b, .after = a \
	}
#define KNOWN(f, o, v, e, h)                                                                  \
	{                                                                                     \
		.frame = f, .outside = o, .values = v, .known = true, .entries = e, .here = h \
	}

static const struct {
	const char *what;
	struct step steps[3]; /* at 100, 105 and 110 ms */
	uint32_t calls, uncertain;
} cases[] = {
	{"equal polls are one call", {POLL(10, 7, 7), POLL(10, 7, 7), POLL(10, 7, 7)}, 1, 0},
	{"a poll outside separates calls", {POLL(10, 7, 7), {0}, POLL(10, 7, 7)}, 2, 0},
	{"another frame address is another call", {POLL(10, 7, 7), POLL(11, 7, 7), POLL(11, 7, 7)},
		2, 0},
	{"changed callers' frames are another call",
		{POLL(10, 7, 7), POLL(10, 8, 8), POLL(10, 9, 9)}, 3, 0},
	{"changed references without a collection are another call",
		{GC(10, 7, 7, 1, 1), GC(10, 8, 7, 1, 1), GC(10, 8, 7, 1, 1)}, 2, 0},
	{"references that a collection may have moved are the same, uncertain call",
		{GC(10, 7, 7, 1, 1), GC(10, 8, 7, 2, 2), GC(10, 8, 7, 2, 2)}, 1, 1},
	{"a collection that ends during the poll may have moved references",
		{GC(10, 7, 7, 1, 1), GC(10, 8, 7, 1, 2), GC(10, 8, 7, 2, 2)}, 1, 1},
	{"a collection that began before the poll may end after it",
		{GC(10, 7, 7, 1, 2), GC(10, 8, 7, 2, 2), GC(10, 8, 7, 2, 2)}, 1, 1},
	{"changed values are another call, with a collection, too",
		{GC(10, 7, 7, 1, 1), GC(10, 8, 8, 2, 2), GC(10, 8, 8, 2, 2)}, 2, 0},
	{"a collection that changed nothing leaves the call certain",
		{GC(10, 7, 7, 1, 1), GC(10, 7, 7, 2, 2), GC(10, 7, 7, 3, 3)}, 1, 0},
	{"an entry from the same frame is another call",
		{KNOWN(10, 7, 7, 1, 1), KNOWN(10, 7, 7, 1, 1), KNOWN(10, 7, 7, 0, 0)}, 2, 0},
	{"without an entry changed callers' frames are the same call",
		{KNOWN(10, 7, 7, 1, 1), KNOWN(10, 8, 8, 0, 0), KNOWN(10, 9, 9, 0, 0)}, 1, 0},
	{"entries of calls deeper in the stack are the same call",
		{KNOWN(10, 7, 7, 1, 1), KNOWN(10, 7, 7, 5, 0), KNOWN(10, 7, 7, 3, 0)}, 1, 0},
	{"without a record of entries, callers' frames decide",
		{KNOWN(10, 7, 7, 1, 1), POLL(10, 8, 8), KNOWN(10, 8, 8, 0, 0)}, 2, 0},
	{"entries of code that the call did not run before do not decide",
		{POLL(10, 7, 7), KNOWN(10, 8, 8, 0, 0), KNOWN(10, 9, 9, 0, 0)}, 2, 0},
};

static struct profile_poll poll_of(const struct step *step, double ms)
{
	struct profile_poll poll = polls_at(1, ms);

	poll.inside = step->frame != 0;
	poll.frame = step->frame;
	poll.outside = step->outside;
	poll.values = step->values;
	poll.collections[0] = step->before;
	poll.collections[1] = step->after;
	poll.counted = poll.recorded = step->known;
	poll.entries = step->entries;
	poll.entries_here = step->here;
	poll.first_ns = step->entries ? polls_ns(ms - 2) : 0;
	poll.last_ns = step->here ? polls_ns(ms - 1) : 0;
	return poll;
}

static void test_consecutive(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t uncertain = 0;
		struct polls_calls c;

		begin();
		for (unsigned s = 0; s < 3; s++) {
			struct profile_poll poll = poll_of(&cases[i].steps[s], 100 + 5 * s);

			calls_add_poll(p, &poll);
		}
		polls_outside(p, 1, 115);
		c = polls_calls(p, 0, 1000);
		for (uint32_t k = 0; k < c.count && k < POLLS_KEPT; k++)
			uncertain += c.list[k].uncertain;
		is_int(c.count, cases[i].calls, cases[i].what);
		is_int(uncertain, cases[i].uncertain, "uncertain exactly if a collection hides it");
		for (uint32_t k = 1; k < c.count && k < POLLS_KEPT; k++)
			ok(c.list[k].begin_from >= c.list[k - 1].end_from &&
					c.list[k].number == c.list[k - 1].number + 1,
				"a call begins after the end of the one before");
		end();
	}
}

static void test_threads(void)
{
	struct polls_calls c;

	begin();
	for (unsigned i = 0; i < 4; i++)
		for (uint32_t t = 0; t < 3; t++)
			polls_inside(p, t, 100 + 5 * i + t);
	c = polls_calls(p, 0, 1000);
	is_int(c.count, 3, "each thread has its own calls");
	for (uint32_t t = 0; t < 3; t++)
		is_int(c.list[t].polls, 4, "each call has the polls of its thread");
	end();
}

/* --- recorded entries ------------------------------------------------------------------------ */

static void add_entry(double ms, double first, double last, uint32_t entries, bool recursive)
{
	struct profile_poll poll = polls_at(1, ms);

	poll.counted = poll.recorded = true;
	poll.entries = entries;
	poll.entries_here = last > 0;
	poll.recursive = recursive;
	poll.first_ns = polls_ns(first);
	poll.last_ns = polls_ns(last);
	calls_add_poll(p, &poll);
}

static void test_entries(void)
{
	struct profile_poll poll;
	struct polls_calls c;

	begin();
	is_int(calls_counted_ns(p), 0, "at first no entries have been recorded");
	add_entry(100, 97, 99, 2, false);
	add_entry(105, 0, 0, 0, false);
	add_entry(110, 107, 108, 2, false);
	c = polls_calls(p, 0, 1000);
	is_int(c.count, 2, "a recorded entry separates calls");
	ok(call_is(&c.list[0], 99, 99, 105, 107),
		"the last entry is the exact begin; the next one bounds the end");
	ok(call_is(&c.list[1], 108, 108, 110, 0), "the begin of the next call is exact, too");
	ok(c.list[0].counted && c.list[1].counted, "calls with a recorded entry are counted");
	ok(polls_same(calls_counted_ns(p), 97), "entries are recorded since the first one: %.1f ms",
		(double)calls_counted_ns(p) / 1e6);
	/* the records of this poll are incomplete */
	polls_outside(p, 1, 115);
	poll = polls_at(1, 120);
	poll.recorded = true;
	poll.entries = poll.entries_here = 1;
	poll.first_ns = poll.last_ns = polls_ns(118);
	calls_add_poll(p, &poll);
	c = polls_calls(p, 0, 1000);
	ok(call_is(&c.list[2], 115, 120, 120, 0) && !c.list[2].counted,
		"an incomplete record of entries is not used");
	/* an entry after the sample: of the call after the one that was found */
	polls_outside(p, 1, 125);
	add_entry(130, 131, 132, 1, false);
	c = polls_calls(p, 0, 1000);
	ok(call_is(&c.list[3], 125, 130, 130, 0) && !c.list[3].counted,
		"an entry after the sample is not its begin");
	end();
}

static void test_recursion(void)
{
	struct polls_calls c;

	begin();
	add_entry(100, 99, 99, 1, false);
	add_entry(105, 101, 0, 40, true);
	add_entry(110, 106, 0, 30, true);
	polls_outside(p, 1, 115);
	c = polls_calls(p, 0, 1000);
	is_int(c.count, 1, "the inner calls of a recursion belong to the outermost");
	is_int(c.list[0].polls, 3, "all polls of a recursion belong to one call");
	is_int(calls_counted_ns(p), 0, "entries of a recursive method are not its calls");
	add_entry(120, 119, 119, 1, true);
	add_entry(125, 121, 123, 9, true);
	c = polls_calls(p, 0, 1000);
	ok(c.count == 3 && call_is(&c.list[1], 119, 119, 120, 125),
		"the first entry of a recursive method may be an inner call, and does not end it");
	end();
}

/* --- queries --------------------------------------------------------------------------------- */

static void test_windows(void)
{
	struct calls_query q = {.from_ns = polls_ns(0), .to_ns = NS_PER_S};
	struct polls_calls c;

	begin();
	profile_thread_set(p, 1, &(struct profile_thread){.tid = 1, .name = "http-1"});
	profile_thread_set(p, 2, &(struct profile_thread){.tid = 2, .name = "db-1"});
	for (unsigned i = 0; i < 4; i++) { /* begin at 95..100, 195..200, ... and take 5, 10, ... */
		for (unsigned k = 0; k <= i; k++)
			polls_inside(p, 1 + i % 2, 100 * (i + 1) + 5 * k);
		polls_outside(p, 1 + i % 2, 100 * (i + 1) + 5 * (i + 1));
	}
	is_int(polls_calls(p, 0, 1000).count, 4, "a window that has all calls");
	is_int(polls_calls(p, 96, 1000).count, 3,
		"calls that may have begun before the window are excluded");
	is_int(polls_calls(p, 95, 1000).count, 4, "calls that begin in the window are included");
	is_int(polls_calls(p, 0, 397.4).count, 3, "calls that begin after the window are excluded");
	is_int(polls_calls(p, 0, 397.6).count, 4,
		"calls that begin in the window and end after it are included");
	q.pool = profile_get_thread(p, 2)->pool;
	c.count = 0;
	calls_each(p, &q, polls_keep, &c);
	ok(c.count == 2 && c.list[0].thread == 2 && c.list[1].thread == 2,
		"only calls of a pool's threads");
	q.pool = 0;
	q.min_ns = polls_ns(10);
	q.max_ns = polls_ns(20);
	c.count = 0;
	calls_each(p, &q, polls_keep, &c);
	is_int(c.count, 2, "only calls in a range of durations, without its end");
	end();
}

static void test_begin(void)
{
	begin();
	is_str(calls_name(p), "Gateway.handle", "the method has its name");
	is_int(calls_interval(p), POLLS_INTERVAL, "the interval is known");
	polls_inside(p, 1, 100);
	calls_begin(p, "Gateway.other", 2 * POLLS_INTERVAL);
	is_int(polls_calls(p, 0, 1000).count, 0, "another method begins without calls");
	is_str(calls_name(p), "Gateway.other", "the other method has its name");
	calls_begin(p, NULL, 0);
	polls_inside(p, 1, 105);
	is_str(calls_name(p), NULL, "after the end no method is measured");
	is_int(polls_calls(p, 0, 1000).count, 0, "after the end polls are ignored");
	end();
}

/* --- full rings ------------------------------------------------------------------------------ */

/* Polls of a thread whose calls overwrite those of others. */
static void fill_polls(uint32_t thread, double from_ms, uint32_t polls)
{
	for (uint32_t i = 0; i < polls; i++)
		polls_inside(p, thread, from_ms + 5.0 * i);
}

static void test_many_polls(void)
{
	static struct call_part parts[CALLS_POLLS + 8];
	const uint32_t polls = CALLS_POLLS + 1000;
	double until = 1000 + 5.0 * polls;
	struct polls_calls c;
	uint32_t n;

	begin();
	fill_polls(1, 1000, polls);
	c = polls_calls(p, 0, 1e9);
	is_int(c.count, 1, "a call of more polls than are retained stays one call");
	ok(call_is(&c.list[0], 995, 1000, until - 5, 0), "and has its begin and end");
	is_int(c.list[0].polls, polls, "and its number of polls");
	n = calls_parts(p, &c.list[0], parts, CALLS_POLLS + 8);
	is_int(n, CALLS_POLLS, "its retained polls are its parts");
	ok(parts[n - 1].from_ns == c.list[0].end_from && parts[0].from_ns > c.list[0].begin_to,
		"the latest parts are retained");
	/* another thread's polls overwrite all of it, then it is polled again */
	fill_polls(2, until, CALLS_POLLS);
	c = polls_calls(p, 0, 1e9);
	is_int(c.count, 2, "a call whose polls are overwritten stays");
	is_int(calls_parts(p, &c.list[0], parts, CALLS_POLLS + 8), 0, "it has no parts");
	polls_inside(p, 1, until + 5.0 * CALLS_POLLS);
	c = polls_calls(p, 0, 1e9);
	is_int(c.count, 3, "a poll of it begins another call");
	ok(c.list[0].end_to == c.list[0].end_from,
		"a call whose end cannot be observed ends at its last poll");
	ok(c.list[2].end_to == UINT64_MAX && c.list[2].polls == 1, "the other call is in progress");
	end();
}

static void check_even(void *ctx, const struct call *call)
{
	bool *even = ctx;

	*even = *even && call->thread == 1 && polls_same(call_duration_ns(call), 5);
}

static void test_many_calls(void)
{
	const uint32_t calls = CALLS_MAX + 100;
	struct calls_query q = {.to_ns = UINT64_MAX};
	struct calls_summary sum;
	struct call_part part;
	struct call first;
	struct polls_calls c;
	bool even = true;

	begin();
	polls_inside(p, 9, 50);
	first = polls_calls(p, 0, 1e9).list[0];
	is_int(calls_parts(p, &first, &part, 1), 1, "a retained call has its parts");
	for (uint32_t i = 0; i < calls; i++) {
		polls_inside(p, 1, 100 + 10.0 * i);
		polls_outside(p, 1, 105 + 10.0 * i);
	}
	c = polls_calls(p, 0, 1e9);
	is_int(c.count, CALLS_MAX, "the latest calls are retained");
	is_int(c.list[0].number, calls + 1 - CALLS_MAX, "the oldest calls are overwritten");
	is_int(calls_parts(p, &first, &part, 1), 0, "an overwritten call has no parts");
	calls_summarize(p, &q, &sum);
	is_int(sum.seen, CALLS_MAX, "the summary has the retained calls");
	/* the overwritten call was in progress: its slot belongs to another call now */
	polls_outside(p, 9, 120 + 10.0 * calls);
	is_int(polls_calls(p, 0, 1e9).count, CALLS_MAX,
		"the end of an overwritten call is ignored");
	calls_each(p, &q, check_even, &even);
	ok(even, "the call in its place is unchanged");
	polls_inside(p, 9, 125 + 10.0 * calls);
	is_int(polls_calls(p, 0, 1e9).count, CALLS_MAX,
		"its thread's next call replaces the oldest");
	end();
}

/* Stacks and threads that calls refer to survive the sweep. */
static void test_sweep(void)
{
	uint32_t kept, swept, sample, name_of;
	struct call_part part;
	struct polls_calls c;
	struct profile_poll poll;

	begin();
	profile_set_budget(p, 1);
	profile_thread_set(p, 5, &(struct profile_thread){.tid = 5, .name = "measured"});
	profile_thread_set(p, 6, &(struct profile_thread){.tid = 6, .name = "forgotten"});
	kept = polls_push(p, polls_push(p, PROFILE_ROOT_STACK, "shop.Gateway handle"), "shop.A b");
	swept = polls_push(p, PROFILE_ROOT_STACK, "shop.Unused run");
	sample = polls_push(p, PROFILE_ROOT_STACK, "shop.Main run");
	poll = polls_at(5, 100);
	poll.stack = kept;
	calls_add_poll(p, &poll);
	for (uint32_t s = 0; s < 1000; s++) {
		profile_advance(p, s);
		profile_add(p, EVENT_WALL, s, sample, 0, 1, 1000);
	}
	is_int(profile_get_thread(p, 6)->serial, 0, "the sweep has removed an unused thread");
	c = polls_calls(p, 0, 1e9);
	is_int(calls_parts(p, &c.list[0], &part, 1), 1, "the call still has its part");
	is_int(part.stack, kept, "the part still has its stack");
	is_str(profile_get_thread(p, c.list[0].thread)->name, "measured",
		"the thread of a call survives the sweep");
	for (int i = 0; i < 100; i++) { /* take the place of what has been removed */
		char text[40];

		snprintf(text, sizeof(text), "other.Later m%d", i);
		polls_push(p, PROFILE_ROOT_STACK, text);
	}
	name_of = profile_get_frame(p, profile_get_stack(p, kept).frame)->method;
	is_str(profile_get_method(p, name_of)->full, "shop.A.b",
		"the stack of a call survives the sweep");
	kept = profile_get_stack(p, kept).parent;
	name_of = profile_get_frame(p, profile_get_stack(p, kept).frame)->method;
	is_str(profile_get_method(p, name_of)->full, "shop.Gateway.handle", "and its callers");
	name_of = profile_get_frame(p, profile_get_stack(p, swept).frame)->method;
	ok(strcmp(profile_get_method(p, name_of)->full, "shop.Unused.run") != 0,
		"the sweep has removed an unused stack: %s", profile_get_method(p, name_of)->full);
	end();
}

/* --- hostile polls --------------------------------------------------------------------------- */

static void check_consistent(void *ctx, const struct call *call)
{
	bool *consistent = ctx;

	if (call->begin_from > call->begin_to || call->begin_to > call->end_from ||
		call->end_from > call->end_to)
		*consistent = false;
}

static bool is_consistent(void)
{
	struct calls_query q = {.to_ns = UINT64_MAX};
	struct calls_summary sum;
	struct calls_cause causes[CALLS_CAUSES];
	bool consistent = true;

	calls_each(p, &q, check_consistent, &consistent);
	calls_summarize(p, &q, &sum);
	q.min_ns = sum.slow_ns;
	calls_causes(p, &q, causes);
	if (!(sum.calls >= 0) || !(sum.error >= 0))
		consistent = false;
	for (unsigned s = 0; s < CALL_STATES; s++)
		if (!(sum.all[s] >= 0 && sum.all[s] < 1.001) ||
			!(sum.slowest[s] >= 0 && sum.slowest[s] < 1.001))
			consistent = false;
	return consistent;
}

static void test_refused(void)
{
	struct profile_poll poll;

	begin();
	poll = polls_at(1, 100);
	poll.before_ns = poll.since_ns + 1;
	calls_add_poll(p, &poll);
	is_int(polls_calls(p, 0, 1e9).count, 0, "a poll before the one before is ignored");
	poll = polls_at(1, 100);
	poll.since_ns = poll.time_ns + 1;
	calls_add_poll(p, &poll);
	is_int(polls_calls(p, 0, 1e9).count, 0, "a poll that rests after itself is ignored");
	polls_inside(p, 1u << 20, 100);
	polls_inside(p, UINT32_MAX, 100);
	is_int(polls_calls(p, 0, 1e9).count, 0, "thread ids beyond the limit are ignored");
	polls_inside(p, (1u << 20) - 1, 100);
	is_int(polls_calls(p, 0, 1e9).count, 1, "the highest thread id is accepted");
	polls_inside(p, 1, 200);
	polls_inside(p, 1, 100);
	polls_outside(p, 1, 150);
	is_int(polls_calls(p, 0, 1e9).list[1].polls, 1, "polls earlier than the last are ignored");
	ok(polls_calls(p, 0, 1e9).list[1].end_to == UINT64_MAX, "and do not end the call");
	end();
}

static uint64_t random_state;

static uint64_t draw(void)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return random_state >> 33;
}

/* Values around limits, and usual ones. */
static uint64_t draw_value(void)
{
	static const uint64_t values[] = {0, 1, 2, 1000, 5 * NS_PER_MS, NS_PER_S, UINT32_MAX,
		1ull << 53, 1ull << 63, UINT64_MAX - 1, UINT64_MAX};

	return draw() % 2 ? values[draw() % 11] : polls_ns((double)(draw() % 100000));
}

static void test_hostile(void)
{
	for (unsigned seed = 1; seed <= 40; seed++) {
		random_state = seed;
		begin();
		for (unsigned i = 0; i < 400; i++) {
			struct profile_poll poll = polls_at((uint32_t)draw() % 3, 5.0 * i);
			uint64_t *fields[] = {&poll.time_ns, &poll.since_ns, &poll.before_ns,
				&poll.frame, &poll.outside, &poll.values, &poll.cpu_ns,
				&poll.delay_ns, &poll.first_ns, &poll.last_ns};

			for (unsigned f = 0; f < 10; f++)
				if (draw() % 4 == 0)
					*fields[f] = draw_value();
			poll.inside = draw() % 4;
			poll.inlined = draw() % 2;
			poll.counted = draw() % 2;
			poll.recorded = draw() % 2;
			poll.recursive = draw() % 200 == 0;
			poll.state = (enum thread_state)(draw() % THREAD_STATES);
			poll.entries = draw() % 3 ? (uint32_t)draw() % 3 : UINT32_MAX;
			poll.entries_here = draw() % 3 ? poll.entries : UINT32_MAX;
			calls_add_poll(p, &poll);
		}
		ok(is_consistent(), "random polls, seed %u: calls and shares are consistent", seed);
		end();
	}
}

int main(void)
{
	test_bounds();
	test_rest();
	test_lasting();
	test_consecutive();
	test_threads();
	test_entries();
	test_recursion();
	test_windows();
	test_begin();
	test_many_polls();
	test_many_calls();
	test_sweep();
	test_refused();
	test_hostile();
	return tap_done();
}
