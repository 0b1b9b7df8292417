/* SPDX-License-Identifier: Apache-2.0 */
/* Time of calls by state: states of polls, accounting between polls, shares, parts, phases, causes, texts; virtual threads, estimates. */
#include "profile/calls/report.h"
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

/* --- states of polls ------------------------------------------------------------------------- */

#define FRAMES 5

static const struct {
	enum thread_state state;
	const char *frames[FRAMES]; /* innermost first */
	enum call_state wanted;
} states[] = {
	{THREAD_ON_CPU, {"shop.Gateway handle"}, CALL_CPU},
	{THREAD_STATE_NONE, {"shop.Gateway handle"}, CALL_CPU},
	{THREAD_RUNNABLE, {"shop.Gateway handle"}, CALL_RUNNABLE},
	{THREAD_CARRIER, {"shop.Gateway handle"}, CALL_RUNNABLE},
	{THREAD_SLEEPING, {"java.lang.Thread sleep", "shop.Gateway handle"}, CALL_SLEEP},
	{THREAD_MONITOR, {"ObjectMonitor::enter", "shop.Gateway handle"}, CALL_LOCK},
	{THREAD_WAITING, {"java.lang.Object wait", "shop.Gateway handle"}, CALL_WAIT},
	{THREAD_IO, {"java.net.SocketInputStream read", "shop.Gateway handle"}, CALL_IO},
	{THREAD_PARKED, {"java.util.concurrent.locks.LockSupport park", "shop.Gateway handle"},
		CALL_PARK},
	{THREAD_PARKED,
		{"java.util.concurrent.locks.LockSupport park",
			"java.util.concurrent.locks.AbstractQueuedSynchronizer acquire",
			"java.util.concurrent.locks.ReentrantLock lock", "shop.Gateway handle"},
		CALL_LOCK},
	{THREAD_PARKED,
		{"java.util.concurrent.locks.LockSupport park",
			"java.util.concurrent.locks.AbstractQueuedSynchronizer acquireShared",
			"java.util.concurrent.locks.ReentrantReadWriteLock$ReadLock lock",
			"shop.Gateway handle"},
		CALL_LOCK},
	{THREAD_PARKED,
		{"java.util.concurrent.locks.LockSupport park",
			"java.util.concurrent.locks.StampedLock acquireWrite",
			"shop.Gateway handle"},
		CALL_LOCK},
	{THREAD_PARKED,
		{"java.util.concurrent.locks.LockSupport park",
			"java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject "
			"await",
			"java.util.concurrent.LinkedBlockingQueue take", "shop.Gateway handle"},
		CALL_PARK},
	{THREAD_PARKED,
		{"java.util.concurrent.locks.LockSupport park",
			"java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject "
			"await",
			"java.util.concurrent.locks.ReentrantLock$Waiter await",
			"shop.Gateway handle"},
		CALL_PARK},
	{THREAD_PARKED,
		{"java.util.concurrent.locks.LockSupport park",
			"java.util.concurrent.CompletableFuture get", "shop.Gateway handle"},
		CALL_PARK},
	{THREAD_SLEEPING,
		{"SafepointSynchronize::block", "SafepointMechanism::process",
			"shop.Gateway handle"},
		CALL_SAFEPOINT},
	{THREAD_MONITOR,
		{"Monitor::wait", "VMThread::execute", "CollectedHeap::collect",
			"shop.Gateway handle"},
		CALL_SAFEPOINT},
	{THREAD_SLEEPING, {"java.lang.Thread sleep", "VMThread::execute", "shop.Gateway handle"},
		CALL_SLEEP},
};

static uint32_t stack_of(const char *const frames[FRAMES])
{
	uint32_t stack = PROFILE_ROOT_STACK;

	for (int k = FRAMES; k-- > 0;)
		if (frames[k])
			stack = polls_push(p, stack, frames[k]);
	return stack;
}

static void add(enum thread_state state, uint32_t stack, double ms, double cpu, double delay)
{
	struct profile_poll poll = polls_at(1, ms);

	poll.state = state;
	poll.stack = stack;
	poll.cpu_ns = polls_ns(1000 + cpu);
	poll.delay_ns = polls_ns(1000 + delay);
	calls_add_poll(p, &poll);
}

static void test_states(void)
{
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		struct call_part parts[4];
		struct polls_calls c;
		uint32_t stack, n;
		char what[200];

		begin();
		stack = stack_of(states[i].frames);
		add(states[i].state, stack, 100, 0, 0);
		add(states[i].state, stack, 105, 0, 0);
		polls_outside(p, 1, 110);
		c = polls_calls(p, 0, 1e6);
		n = calls_parts(p, &c.list[0], parts, 4);
		snprintf(what, sizeof(what), "%s in %s is \"%s\"",
			thread_states[states[i].state].name, states[i].frames[0],
			call_state_names[states[i].wanted]);
		is_int(n, 2, "a part for each poll");
		is_str(call_state_names[parts[1].state], call_state_names[states[i].wanted], what);
		end();
	}
}

/* --- accounting ------------------------------------------------------------------------------ */

static uint64_t sum_of(const struct call *call)
{
	uint64_t sum = 0;

	for (unsigned s = 0; s < CALL_STATES; s++)
		sum += call->state_ns[s];
	return sum;
}

/* Between polls of a call at 100 and 105 ms. */
static const struct {
	const char *what;
	enum thread_state first, second;
	double cpu, delay, wanted[CALL_STATES]; /* ms, without the ends of the call */
} accounts[] = {
	{"a thread that ran all the time", THREAD_ON_CPU, THREAD_ON_CPU, 5, 0, {[CALL_CPU] = 5}},
	{"a thread that waited for a core", THREAD_ON_CPU, THREAD_ON_CPU, 2, 3,
		{[CALL_CPU] = 2, [CALL_RUNNABLE] = 3}},
	{"a wait that the first poll saw", THREAD_IO, THREAD_ON_CPU, 1, 1,
		{[CALL_CPU] = 1, [CALL_RUNNABLE] = 1, [CALL_IO] = 3}},
	{"a wait that the second poll saw", THREAD_ON_CPU, THREAD_MONITOR, 1, 0,
		{[CALL_CPU] = 1, [CALL_LOCK] = 4}},
	{"a wait that no poll saw", THREAD_ON_CPU, THREAD_ON_CPU, 1, 1,
		{[CALL_CPU] = 1, [CALL_RUNNABLE] = 1, [CALL_SHORT] = 3}},
	{"two waits", THREAD_IO, THREAD_SLEEPING, 1, 0,
		{[CALL_CPU] = 1, [CALL_IO] = 2, [CALL_SLEEP] = 2}},
	{"more CPU time than time", THREAD_ON_CPU, THREAD_ON_CPU, 50, 50, {[CALL_CPU] = 5}},
};

static void test_accounts(void)
{
	for (size_t i = 0; i < sizeof(accounts) / sizeof(accounts[0]); i++) {
		struct polls_calls c;
		struct call before, *call;
		bool same = true;

		begin();
		add(accounts[i].first, PROFILE_ROOT_STACK, 100, 0, 0);
		before = polls_calls(p, 0, 1e6).list[0];
		add(accounts[i].second, PROFILE_ROOT_STACK, 105, accounts[i].cpu,
			accounts[i].delay);
		c = polls_calls(p, 0, 1e6);
		call = &c.list[0];
		for (unsigned s = 0; s < CALL_STATES; s++)
			if (!polls_same(call->state_ns[s] - before.state_ns[s],
				    accounts[i].wanted[s])) {
				diag("%s: %.2f ms", call_state_names[s],
					(double)(call->state_ns[s] - before.state_ns[s]) / 1e6);
				same = false;
			}
		ok(same, "%s is accounted to its states", accounts[i].what);
		end();
	}
}

/* Until a later poll saw it leave, a thread at rest was certainly where it waited. */
static void test_two_waits(void)
{
	struct profile_poll poll;
	struct polls_calls c;

	begin();
	add(THREAD_IO, PROFILE_ROOT_STACK, 100, 0, 0);
	poll = polls_at(1, 200);
	poll.state = THREAD_SLEEPING;
	poll.before_ns = polls_ns(180);
	calls_add_poll(p, &poll);
	c = polls_calls(p, 0, 1e6);
	ok(polls_same(c.list[0].state_ns[CALL_IO], 2.5 + 90) &&
			polls_same(c.list[0].state_ns[CALL_SLEEP], 10),
		"rest belongs to the first of two waits, and the time between to both");
	end();
}

/* The states' times of a call add up to its duration, whatever is known of its ends. */
static void test_sums(void)
{
	static const struct {
		const char *what;
		double since, time; /* of the first poll, ms */
		double entry;       /* ms; 0: not recorded */
		double before,
			out; /* polls at rest until `before`, found outside at `out`; 0: lasts */
	} rows[] = {
		{"a call", 100, 100, 0, 105, 110},
		{"a call in progress", 100, 100, 0, 0, 0},
		{"a call with a recorded entry", 100, 100, 96, 105, 110},
		{"a call with a recorded entry, in progress", 100, 100, 96, 0, 0},
		{"a call that the first poll found at rest", 98, 100, 0, 105, 110},
		{"a call that was at rest until its last poll", 100, 100, 0, 140, 145},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct profile_poll poll;
		struct polls_calls c;
		uint64_t sum, duration;

		begin();
		poll = polls_at(1, rows[i].time);
		poll.since_ns = polls_ns(rows[i].since);
		poll.counted = poll.recorded = rows[i].entry > 0;
		poll.entries = poll.entries_here = rows[i].entry > 0;
		poll.first_ns = poll.last_ns = polls_ns(rows[i].entry);
		poll.state = THREAD_IO;
		calls_add_poll(p, &poll);
		poll = polls_at(1, 105);
		poll.counted = poll.recorded = rows[i].entry > 0;
		calls_add_poll(p, &poll);
		poll = polls_at(1, rows[i].out);
		poll.before_ns = polls_ns(rows[i].before);
		poll.inside = false;
		if (rows[i].out > 0)
			calls_add_poll(p, &poll);
		c = polls_calls(p, 0, 1e6);
		sum = sum_of(&c.list[0]);
		duration = call_duration_ns(&c.list[0]);
		ok(polls_same(sum, (double)duration / (double)NS_PER_MS),
			"%s: times of its states add up to its duration", rows[i].what);
		diag("%.2f of %.2f ms", (double)sum / 1e6, (double)duration / 1e6);
		end();
	}
}

static void test_shares(void)
{
	double shares[CALL_STATES] = {
		[CALL_CPU] = 4, [CALL_LOCK] = 3, [CALL_IO] = 1, [CALL_SHORT] = 2};

	calls_normalize(shares);
	ok(shares[CALL_CPU] > 0.399 && shares[CALL_CPU] < 0.401 && shares[CALL_LOCK] > 0.449 &&
			shares[CALL_LOCK] < 0.451 && shares[CALL_IO] > 0.149 &&
			shares[CALL_IO] < 0.151 && shares[CALL_SHORT] <= 0,
		"short waits are divided like those that polls saw");
	for (unsigned s = 0; s < CALL_STATES; s++)
		shares[s] = s == CALL_SHORT ? 1 : s == CALL_CPU ? 3 : 0;
	calls_normalize(shares);
	ok(shares[CALL_SHORT] > 0.249 && shares[CALL_SHORT] < 0.251,
		"short waits stay if no poll saw a wait");
	for (unsigned s = 0; s < CALL_STATES; s++)
		shares[s] = 0;
	calls_normalize(shares);
	ok(!(shares[CALL_CPU] > 0) && !(shares[CALL_CPU] < 0), "of no time there are no shares");
}

/* --- single calls ---------------------------------------------------------------------------- */

static void test_phases(void)
{
	static const struct {
		const char *frames[FRAMES], *place;
		enum thread_state state;
		unsigned polls;
	} course[] = {
		{{"shop.Repo load", "shop.Gateway handle"}, "Repo.load", THREAD_IO, 4},
		{{"shop.Repo save", "shop.Gateway handle"}, "Repo.save", THREAD_IO, 2},
		{{"shop.Cart sum", "shop.Gateway handle"}, "Cart.sum", THREAD_ON_CPU, 3},
	};
	struct call_phase *phases;
	struct polls_calls c;
	uint32_t count;
	double ms = 100, cpu = 0;

	begin();
	for (unsigned i = 0; i < 3; i++)
		for (unsigned k = 0; k < course[i].polls; k++, ms += 5) {
			add(course[i].state, stack_of(course[i].frames), ms, cpu, 0);
			cpu += course[i].state == THREAD_ON_CPU ? 5 : 0;
		}
	polls_outside(p, 1, ms);
	c = polls_calls(p, 0, 1e6);
	phases = call_phases(p, &c.list[0], &count);
	is_int(count, 3, "parts with the same place and state are one phase");
	for (unsigned i = 0; i < count && i < 3; i++) {
		is_str(strchr(profile_get_method(p, phases[i].method)->full, '.') + 1,
			course[i].place, "a phase has its place");
		is_int(phases[i].state, course[i].state == THREAD_IO ? CALL_IO : CALL_CPU,
			"a phase has its state");
		ok(i == 0 || phases[i].from_ns == phases[i - 1].to_ns,
			"a phase begins where the one before ends");
	}
	ok(phases[0].from_ns == polls_ns(100) && phases[2].to_ns == polls_ns(ms - 5),
		"phases extend from the first to the last poll");
	free(phases);
	end();
}

static void test_slowest(void)
{
	static const unsigned polls[] = {3, 9, 1, 7, 20, 2};
	struct calls_query q = {.to_ns = UINT64_MAX};
	struct call out[4];

	begin();
	for (unsigned i = 0; i < 6; i++) {
		for (unsigned k = 0; k < polls[i]; k++)
			polls_inside(p, 1, 1000 * (i + 1) + 5 * k);
		polls_outside(p, 1, 1000 * (i + 1) + 5 * polls[i]);
	}
	is_int(calls_slowest(p, &q, out, 4), 4, "at most as many calls as there is space for");
	is_int(out[0].polls, 20, "the slowest call is first");
	is_int(out[1].polls, 9, "then the second");
	is_int(out[2].polls, 7, "then the third");
	is_int(out[3].polls, 3, "then the fourth");
	is_int(calls_slowest(p, &q, out, 0), 0, "no space, no calls");
	end();
}

/* --- causes ---------------------------------------------------------------------------------- */

/* A call of a thread: polls in one place, then in another. */
static double one_call(double ms, unsigned polls, const char *first, unsigned slow,
	const char *second, enum thread_state state)
{
	const char *const a[FRAMES] = {first, "shop.Gateway handle"};
	const char *const b[FRAMES] = {second, "shop.Gateway handle"};

	for (unsigned i = 0; i < polls; i++, ms += 5)
		add(THREAD_ON_CPU, stack_of(a), ms, ms, 0);
	for (unsigned i = 0; i < slow; i++, ms += 5)
		add(state, stack_of(b), ms, 0, 0);
	polls_outside(p, 1, ms);
	return ms + 20;
}

static void test_causes(void)
{
	struct calls_query q = {.to_ns = UINT64_MAX};
	struct calls_cause causes[CALLS_CAUSES];
	struct calls_summary sum;
	uint32_t count;
	double ms = 100;

	begin();
	for (unsigned i = 0; i < 300; i++)
		ms = one_call(ms, 6, "shop.Cart sum", i % 100 == 50 ? 60 : 0, "shop.Repo save",
			THREAD_MONITOR);
	calls_summarize(p, &q, &sum);
	is_int(sum.seen, 300, "every call is recognized");
	is_int(sum.slow_calls, 3, "1 % of the calls are the slowest");
	ok(sum.slow_ns > polls_ns(300), "they begin at their duration");
	ok(sum.slowest[CALL_LOCK] > 0.85, "the slowest calls wait for locks: %.2f",
		sum.slowest[CALL_LOCK]);
	ok(sum.all[CALL_LOCK] < 0.15, "all calls do so rarely: %.2f", sum.all[CALL_LOCK]);
	q.min_ns = sum.slow_ns;
	count = calls_causes(p, &q, causes);
	ok(count >= 1, "there is a cause");
	is_str(causes[0].where, "shop.Repo.save", "the first cause is the place of the waits");
	is_int(causes[0].state, CALL_LOCK, "the cause has its state");
	ok(causes[0].slow > 0.85 && causes[0].other < 0.01, "and its shares: %.2f, %.2f",
		causes[0].slow, causes[0].other);
	ok(causes[0].slow_ms > 280 && causes[0].slow_ms < 310, "and its time per slow call: %.0f",
		causes[0].slow_ms);
	for (uint32_t i = 1; i < count; i++)
		ok(causes[i].slow - causes[i].other <= causes[i - 1].slow - causes[i - 1].other,
			"causes are sorted by difference");
	end();
}

/* More places than are compared, and calls with more parts than are read. */
static void test_many_places(void)
{
	struct calls_query q = {.to_ns = UINT64_MAX};
	struct calls_cause causes[CALLS_CAUSES];
	char place[40];
	double ms = 100;
	uint32_t count;

	begin();
	for (unsigned i = 0; i < 700; i++) {
		snprintf(place, sizeof(place), "shop.Place m%u", i);
		ms = one_call(ms, 2, place, 0, "", THREAD_IO);
	}
	ms = one_call(ms, 2, "shop.Place m0", 6000, "shop.Place m1", THREAD_IO);
	q.min_ns = NS_PER_S;
	count = calls_causes(p, &q, causes);
	ok(count > 0 && causes[0].slow <= 1.0001 && causes[0].slow > 0.9,
		"with many places shares stay below 1: %.2f", count ? causes[0].slow : 0);
	is_int(calls_causes(p, &(struct calls_query){.to_ns = 1}, causes), 0,
		"of no calls there are no causes");
	end();
}

/* --- texts ----------------------------------------------------------------------------------- */

static void test_texts(void)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} durations[] = {{0, "0 us"}, {1499, "1 us"}, {850 * NS_PER_US, "850 us"},
		{3140 * NS_PER_US, "3.1 ms"}, {31 * NS_PER_MS, "31 ms"},
		{412 * NS_PER_MS, "412 ms"}, {1920 * NS_PER_MS, "1.92 s"},
		{23 * NS_PER_S, "23.0 s"}, {4000 * NS_PER_S, "4000.0 s"}};
	struct calls_summary sum = {
		.interval_ns = 5 * NS_PER_MS, .max = 2310 * NS_PER_MS, .p50 = 20 * NS_PER_MS};
	char out[CALLS_TEXT];

	for (size_t i = 0; i < sizeof(durations) / sizeof(durations[0]); i++)
		is_str(calls_duration_text(durations[i].ns, out), durations[i].text,
			durations[i].text);
	calls_duration_text(UINT64_MAX - 1, out);
	ok(strlen(out) < CALLS_TEXT, "the longest duration fits: %s", out);
	is_str(calls_percentile_text(&sum, sum.p50, out), "20 ms", "a known percentile");
	is_str(calls_percentile_text(&sum, CALLS_UNKNOWN, out), ">2.31 s",
		"one beyond the longest call that ended");
	sum.p50 = CALLS_UNKNOWN;
	is_str(calls_percentile_text(&sum, CALLS_UNKNOWN, out), "<10 ms",
		"one below two intervals");
}

/* --- virtual threads -------------------------------------------------------------------------- */

/* Two virtual threads may share a thread of the model. Each poll of theirs represents ten threads. */
static void test_virtual(void)
{
	struct calls_query q = {.to_ns = NS_PER_S};
	struct calls_summary sum;
	struct polls_calls c;

	begin();
	for (unsigned i = 0; i < 20; i++) {
		struct profile_poll poll = polls_at(1, 100 + 5 * i);

		poll.weight = 10;
		poll.virtual_id = i % 2 ? 0x80000007u : 0x80002007u;
		poll.counted = poll.recorded = true;
		poll.entries_here = poll.entries = 1; /* of other threads: ignored */
		poll.state = i < 10 ? THREAD_ON_CPU : THREAD_IO;
		poll.inside = i < 18;
		calls_add_poll(p, &poll);
	}
	c = polls_calls(p, 0, 1000);
	is_int(c.count, 2,
		"calls of virtual threads that share a thread of the model are separate");
	is_int(c.list[0].weight, 10, "a call represents as many as its thread does");
	calls_summarize(p, &q, &sum);
	ok(sum.unpolled > 0.89 && sum.unpolled < 0.91, "one of ten is polled");
	ok(sum.calls > 19 && sum.calls < 41, "the number of calls is that of all threads: %g",
		sum.calls);
	ok(sum.all[CALL_CPU] > 0.4 && sum.all[CALL_IO] > 0.4,
		"without a clock, time belongs to the states of the polls: %g %g",
		sum.all[CALL_CPU], sum.all[CALL_IO]);
	end();
}

/* --- estimates of the number of calls ---------------------------------------------------------- */

/* Short calls, one seen in each tenth of a second, of which 1,000 a second were counted in bursts. */
static void test_bursts(void)
{
	struct calls_query q = {.from_ns = NS_PER_S, .to_ns = 9 * NS_PER_S};
	struct profile_poll burst = {.estimate = true, .entries = 500, .entries_here = 10};
	struct calls_summary sum;

	begin();
	for (unsigned i = 0; i < 100; i++) {
		polls_inside(p, 1, 100 * i + 50);
		polls_outside(p, 1, 100 * i + 55);
		if (i % 5 != 4)
			continue;
		burst.before_ns = polls_ns(100 * i - 400);
		burst.since_ns = burst.time_ns = polls_ns(100 * i + 100);
		calls_add_poll(p, &burst);
	}
	calls_summarize(p, &q, &sum);
	ok(sum.estimated && !sum.at_least, "bursts replace the lower bound by an estimate");
	ok(sum.calls > 7900 && sum.calls < 8100, "which is right: %g of 8000", sum.calls);
	ok(sum.error > 8000 * 0.02 && sum.error < 8000 * 0.1,
		"its error includes what hits may cost: %g", sum.error);
	q.pool = profile_get_thread(p, 1)->pool + 1;
	calls_summarize(p, &q, &sum);
	ok(!sum.estimated, "there is no estimate of one pool's calls");
	end();
}

static void test_brief_threads(void)
{
	struct calls_query q = {.to_ns = NS_PER_S};
	struct profile_poll starts = {.starts = true, .entries = 100, .entries_here = 40};
	struct calls_summary sum;

	begin();
	for (unsigned i = 0; i < 40; i++) {
		polls_inside(p, 1 + i, 100 + i);
		polls_inside(p, 1 + i, 120 + i);
		polls_outside(p, 1 + i, 125 + i);
	}
	calls_summarize(p, &q, &sum);
	ok(!sum.at_least, "all threads were polled: no lower bound");
	calls_add_poll(p, &starts);
	calls_summarize(p, &q, &sum);
	ok(sum.at_least && sum.brief_threads,
		"60 threads ended before their first poll: a lower bound");
	is_int((long)sum.missed_threads, 60, "their number is reported");
	end();
}

int main(void)
{
	test_states();
	test_accounts();
	test_two_waits();
	test_sums();
	test_shares();
	test_phases();
	test_slowest();
	test_causes();
	test_many_places();
	test_texts();
	test_virtual();
	test_bursts();
	test_brief_threads();
	return tap_done();
}
