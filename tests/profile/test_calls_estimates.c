/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates beside the truth: threads that call a method with known distributions of durations and pauses are simulated, polled as the
 * wall clock does, and the calls per second and percentiles compared with those of the simulated calls.
 */
#include "profile/calls/calls.h"
#include "tests/profile/polls.h"
#include "tests/tap.h"

#include <math.h>

#define SEEDS    5
#define FROM_MS  1000.0
#define TO_MS    41000.0
#define CALLS    400000
#define LEVELS   3
#define INTERVAL 5.0 /* ms, jittered by a quarter */

static uint64_t random_state;

static double draw(void)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return ((double)(random_state >> 33) + 0.5) / (double)(1ull << 31);
}

static double exponential(double mean)
{
	return -mean * log(draw());
}

static double bimodal(double mean)
{
	return draw() < 0.05 ? mean * 100 : mean;
}

static double constant(double mean)
{
	return mean;
}

/* Every hundredth call outlasts the window. */
static double lasting(double mean)
{
	return draw() < 0.01 ? 1e6 : mean * (0.8 + 0.4 * draw());
}

static double spread(double mean)
{
	return mean * (0.8 + 0.4 * draw());
}

/* Few short calls among longer ones. */
static double uniform(double mean)
{
	return 2 * mean * draw();
}

struct family {
	const char *name;
	double (*draw)(double mean);
	double mean, pause; /* ms */
	uint32_t threads;
	bool brief; /* most calls are shorter than the interval */
	bool alike; /* unless entries are recorded, calls look like one if no poll falls between them */
};

static const struct family families[] = {
	{"exponential 30 ms", exponential, 30, 20, 20, false, false},
	{"exponential 200 ms", exponential, 200, 50, 50, false, false},
	{"exponential 2 s", exponential, 2000, 100, 100, false, false},
	{"uniform up to 80 ms", uniform, 40, 10, 20, false, false},
	{"constant 50 ms", constant, 50, 50, 10, false, false},
	{"constant 50 ms, back to back", constant, 50, 0, 10, false, false},
	{"8 ms, alike", spread, 8, 20, 20, false, true},
	{"12 ms, alike", spread, 12, 6, 20, false, true},
	{"16 ms, alike", spread, 16, 8, 20, false, true},
	{"20 ms, alike", spread, 20, 10, 20, false, true},
	{"20 ms, alike, long pauses", spread, 20, 100, 20, false, true},
	{"40 ms, alike, brief pauses", spread, 40, 3, 20, false, true},
	{"95 % 3 ms and 5 % 300 ms", bimodal, 3, 20, 20, true, false},
	{"40 ms, and 1 % that last", lasting, 40, 40, 200, false, false},
	{"exponential 10 ms", exponential, 10, 20, 20, false, false},
};

/* --- the program ----------------------------------------------------------------------------- */

static double durations[CALLS]; /* of the calls that began in the window */
static uint32_t count;

struct worker {
	uint32_t id;
	double begin, end, next; /* of its present or last call, and the begin of its next one */
	uint64_t number;
	/* of the entries since its last poll */
	uint32_t entries;
	double first, last;
};

static void advance(const struct family *f, struct worker *w, double ms)
{
	while (w->next <= ms) {
		w->begin = w->next;
		w->end = w->begin + f->draw(f->mean);
		w->next = w->end + (f->pause > 0 ? exponential(f->pause) : 0.002);
		w->number++;
		w->first = w->entries ? w->first : w->begin;
		w->last = w->begin;
		w->entries++;
		if (w->begin >= FROM_MS && w->begin < TO_MS && count < CALLS)
			durations[count++] = w->end - w->begin;
	}
}

/* --- the wall clock -------------------------------------------------------------------------- */

static void poll_worker(struct profile *p, struct worker *w, double ms, double before, bool alike,
	bool recorded, bool *inside)
{
	struct profile_poll poll = polls_at(w->id, ms);
	bool is_inside = ms >= w->begin && ms < w->end;

	poll.before_ns = polls_ns(before);
	poll.inside = is_inside;
	poll.outside = poll.values = alike ? 7 : w->number;
	if (!is_inside)
		poll.frame = poll.outside = poll.values = 0;
	poll.cpu_ns = polls_ns(ms / 2);
	if (recorded) {
		poll.counted = true;
		poll.recorded = is_inside;
		poll.entries = w->entries;
		poll.entries_here = is_inside ? w->entries : 0;
		poll.first_ns = w->entries ? polls_ns(w->first) : 0;
		poll.last_ns = is_inside && w->entries ? polls_ns(w->last) : 0;
	}
	w->entries = 0;
	/* the agent leaves out other polls */
	if (is_inside || *inside || poll.entries)
		calls_add_poll(p, &poll);
	*inside = is_inside;
}

static void simulate(struct profile *p, const struct family *f, bool recorded)
{
	count = 0;
	for (uint32_t t = 0; t < f->threads; t++) {
		struct worker w = {.id = t, .begin = -1, .end = -1, .next = 1000 * draw()};
		bool inside = false;
		double before = 0;

		for (double ms = INTERVAL * draw(); ms < TO_MS;
			ms += INTERVAL * (0.75 + 0.5 * draw())) {
			advance(f, &w, ms);
			poll_worker(p, &w, ms, before, f->alike, recorded, &inside);
			before = ms;
		}
		advance(f, &w, TO_MS);
	}
}

/* --- comparison ------------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Within 5 % or an interval. CALLS_UNKNOWN is right for what is shorter than two intervals or did not end. */
static bool is_near(uint64_t ns, double ms)
{
	double got = (double)ns / (double)NS_PER_MS, off = fabs(got - ms);

	if (ms < 1.5 * INTERVAL)
		return ns == CALLS_UNKNOWN;
	if (ns == CALLS_UNKNOWN)
		return ms < 2.5 * INTERVAL || ms > TO_MS - FROM_MS;
	return off <= INTERVAL || off <= 0.05 * ms;
}

static void compare(
	const struct family *f, const struct calls_summary *sum, bool recorded, unsigned seed)
{
	static const double levels[LEVELS] = {0.5, 0.9, 0.99};
	const uint64_t got[LEVELS] = {sum->p50, sum->p90, sum->p99};
	double off = fabs(sum->calls - count);
	char text[LEVELS][40];
	bool same = true;

	qsort(durations, count, sizeof(*durations), by_value);
	for (unsigned i = 0; i < LEVELS; i++) {
		double truth = durations[(uint32_t)((count - 1) * levels[i])];

		same = same && is_near(got[i], truth);
		snprintf(text[i], sizeof(text[i]), "%.1f/%.1f",
			got[i] == CALLS_UNKNOWN ? -1 : (double)got[i] / 1e6, truth);
	}
	if (f->alike && !recorded)
		ok(off < 0.2 * count && sum->merged > 0,
			"calls that look like one are counted to within 20 %%");
	else
		ok(same, "%s, %s, seed %u: percentiles are within 5 %% or an interval", f->name,
			recorded ? "recorded" : "not recorded", seed);
	if (sum->short_calls)
		ok(sum->calls < count && sum->calls > 0.5 * count,
			"the number of calls that were seen is a lower bound");
	else if (recorded)
		ok(off < 0.01 * count, "the number of recorded calls is exact to 1 %%");
	else
		ok(off <= 3 * sum->error && sum->error < 0.3 * count,
			"the number of calls is within 4 standard errors");
	diag("p50 %s p90 %s p99 %s ms; %.0f +- %.0f of %u calls", text[0], text[1], text[2],
		sum->calls, sum->error, count);
}

static void test_family(const struct family *f, bool recorded, unsigned seed)
{
	struct calls_query q = {.from_ns = polls_ns(FROM_MS), .to_ns = polls_ns(TO_MS)};
	struct profile *p = profile_new();
	struct calls_summary sum;

	random_state = seed * 77;
	calls_begin(p, "Gateway.handle", POLLS_INTERVAL);
	simulate(p, f, recorded);
	calls_summarize(p, &q, &sum);
	compare(f, &sum, recorded, seed);
	is_int(sum.counted, recorded, "calls are counted exactly if their entries are recorded");
	ok(sum.interval_ns > 4 * NS_PER_MS && sum.interval_ns < 6 * NS_PER_MS,
		"the interval is known");
	is_int(sum.short_calls, f->brief && !recorded,
		"calls are reported as short if most are, and are not counted");
	profile_free(p);
}

/* Entries of calls that no poll has found. */
static void test_unseen(void)
{
	struct calls_query q = {.from_ns = polls_ns(FROM_MS), .to_ns = polls_ns(2 * FROM_MS)};
	struct profile *p = profile_new();
	struct calls_summary sum;

	calls_begin(p, "Gateway.handle", POLLS_INTERVAL);
	for (double ms = 5; ms < TO_MS; ms += 5) {
		struct profile_poll poll = polls_at(1, ms);

		poll.inside = false;
		poll.frame = poll.outside = poll.values = 0;
		poll.counted = true;
		poll.entries = 2;
		poll.first_ns = polls_ns(ms - 1);
		calls_add_poll(p, &poll);
	}
	calls_summarize(p, &q, &sum);
	is_int(sum.seen, 0, "no poll has found a call");
	ok(fabs(sum.calls - 400) <= 3 * sum.error && sum.error < 8,
		"but calls are counted, by their entries");
	profile_free(p);
}

int main(void)
{
	test_unseen();
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		for (unsigned seed = 1; seed <= SEEDS; seed++) {
			test_family(&families[i], false, seed);
			test_family(&families[i], true, seed);
		}
	return tap_done();
}
