/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether 95 % intervals contain the truth 95 % of the time: profiles are drawn from a program with known shares, as
 * each event samples it, and 930 to 970 of 1,000 intervals must contain the true share. Seeds are fixed, so each run
 * is the same.
 */
#include "profile/query/error.h"
#include "profile/table/flat.h"

#include "tests/tap.h"

#include <math.h>

#define PROFILES 1000
#define WINDOW_S 10
#define SECOND   1e9

static uint64_t rng;

static double unit(void)
{
	uint64_t x = rng += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	x ^= x >> 31;
	return ((double)(x >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(unit())) * cos(6.283185307179586 * unit());
}

static uint32_t poisson(double mean)
{
	double limit = exp(-mean), product = unit();
	uint32_t n = 0;

	if (mean > 200)
		return (uint32_t)fmax(0, mean + sqrt(mean) * normal() + 0.5);
	for (; product > limit; n++)
		product *= unit();
	return n;
}

/* The sum of n exponential variates of mean 1. */
static double times(uint32_t n)
{
	double sum = 0;

	if (n > 2000)
		return n + sqrt(n) * normal();
	while (n--)
		sum -= log(unit());
	return sum;
}

/* Two functions called by main: the one under test, and the rest. */
struct program {
	struct profile *p;
	uint32_t stacks[2];
	uint32_t second;
};

static void program_init(struct program *g)
{
	g->p = profile_new();
	for (int i = 0; i < 2; i++)
		g->stacks[i] = profile_stack_child(g->p, PROFILE_ROOT_STACK,
			profile_frame(g->p,
				profile_method(g->p, "C", i ? "rest" : "hot", "()V", ""),
				FRAME_COMPILED, 0, 0));
	profile_advance(g->p, WINDOW_S);
}

static void add(struct program *g, int event, int which, uint32_t thread, enum thread_state state,
	uint32_t count, double weight)
{
	struct profile_sample s = {
		g->stacks[which], thread, state, count, (uint64_t)(weight + 0.5)};

	if (count)
		profile_add_sample(g->p, event, g->second++ % WINDOW_S, &s);
}

/*
 * Half of the weight in samples of `weight`, of one thread; the other half in samples `ratio` times as heavy, of
 * another.
 */
static void draw_halves(
	struct program *g, int event, double share, double n, double weight, double ratio)
{
	for (int which = 0; which < 2; which++) {
		double mean = (which ? 1 - share : share) * n;
		uint32_t small = poisson(mean / 2), large = poisson(mean / 2 / ratio);

		add(g, event, which, 1, THREAD_STATE_NONE, small, small * weight);
		add(g, event, which, 2, THREAD_STATE_NONE, large, large * weight * ratio);
	}
}

/* Samples every 10 ms, and every 40 ms of a thread whose interval was lengthened. */
static void draw_cpu(struct program *g, double share, double n)
{
	draw_halves(g, EVENT_CPU, share, n, 1e7, 4);
}

/* Small objects in samples of 512 kB, and arrays of 4 MB, each of its own weight. */
static void draw_alloc(struct program *g, double share, double n)
{
	draw_halves(g, EVENT_ALLOC, share, n, 524288, 8);
}

/* Waits of 1 ms on average by 20 independent threads. */
static void draw_lock(struct program *g, double share, double n)
{
	for (int which = 0; which < 2; which++) {
		for (uint32_t thread = 0; thread < 20; thread++) {
			uint32_t waits = poisson((which ? 1 - share : share) * n / 20);

			add(g, EVENT_LOCK, which, thread, THREAD_MONITOR, waits,
				times(waits) * 1e6);
		}
	}
}

/* n threads that rest in one place for the whole window, polled 200 times. */
static void draw_wall(struct program *g, double share, double n)
{
	for (uint32_t thread = 0; thread < (uint32_t)n; thread++)
		add(g, EVENT_WALL, unit() >= share, thread, THREAD_PARKED, 200, WINDOW_S * SECOND);
}

/* Counter events, sampled one in a thousand. */
static void draw_user(struct program *g, double share, double n)
{
	for (int which = 0; which < 2; which++) {
		uint32_t count = poisson((which ? 1 - share : share) * n);

		add(g, EVENT_USER_FIRST, which, 1, THREAD_STATE_NONE, count, count * 1000.0);
	}
}

static const struct {
	int event;
	void (*draw)(struct program *g, double share, double n);
	double samples; /* for shares of 1 % and more */
} events[] = {
	{EVENT_CPU, draw_cpu, 4000},
	{EVENT_ALLOC, draw_alloc, 40000},
	{EVENT_LOCK, draw_lock, 20000},
	{EVENT_WALL, draw_wall, 2000},
	{EVENT_USER_FIRST, draw_user, 2000},
};

static const struct flat_row *row_of(const struct program *g, const struct flat *f)
{
	for (uint32_t i = 0; i < f->count; i++)
		if (f->rows[i].method ==
			profile_get_frame(g->p, profile_get_stack(g->p, g->stacks[0]).frame)
				->method)
			return &f->rows[i];
	return NULL;
}

/* Whether this profile's interval contains the share. *alike: the errors of self and total of "hot" agree. */
static bool within(const struct program *g, int event, double share, bool *alike)
{
	struct profile_query q = {
		.event = event, .to = WINDOW_S, .thread = PROFILE_ANY_THREAD, .by_weight = true};
	struct flat *f = flat_new(g->p, &q);
	const struct flat_row *row = row_of(g, f);
	double got = row && f->sum ? (double)row->self / (double)f->sum : 0;
	struct error_range r = error_range(got, row ? row->self_samples : (double)f->sum_count);

	*alike = *alike &&
		 (!row || fabs(row->self_samples - row->total_samples) < 1e-6 * row->self_samples);
	flat_free(f);
	return share >= r.low && share <= r.high;
}

/* --- rests ------------------------------------------------------------------------------------------- */

#define POLL_NS 50e6
#define THREADS 20
#define SPANS   400 /* windows per case */

/*
 * A thread alternates between two places for exponential times of these means; polls come at random about 50 ms apart.
 */
static void rest_polls(struct program *g, uint32_t thread, double rest_s, double away_s)
{
	bool rests = unit() < rest_s / (rest_s + away_s);
	double until = -log(unit()) * (rests ? rest_s : away_s), at = unit() * POLL_NS / 1e9;

	for (; at < WINDOW_S; at += (0.5 + unit()) * POLL_NS / 1e9) {
		struct profile_sample s = {
			.thread = thread, .count = 1, .weight = (uint64_t)POLL_NS};

		for (; until < at; rests = !rests)
			until -= log(unit()) * (rests ? away_s : rest_s);
		s.stack = g->stacks[!rests];
		s.state = rests ? THREAD_PARKED : THREAD_IO;
		profile_add_sample(g->p, EVENT_WALL, (uint32_t)at, &s);
	}
}

/* A running thread; every other one sleeps once, for half of the window. */
static void sleep_polls(struct program *g, uint32_t thread)
{
	double from = unit() < 0.5 ? WINDOW_S : unit() * WINDOW_S / 2, at = unit() * POLL_NS / 1e9;

	for (; at < WINDOW_S; at += (0.5 + unit()) * POLL_NS / 1e9) {
		bool sleeps = at >= from && at < from + WINDOW_S / 2.0;
		struct profile_sample s = {g->stacks[!sleeps], thread,
			sleeps ? THREAD_SLEEPING : THREAD_ON_CPU, 1, (uint64_t)POLL_NS};

		profile_add_sample(g->p, EVENT_WALL, (uint32_t)at, &s);
	}
}

/*
 * The mean half width of the intervals, over 1.96 standard deviations of the measured share. rest_s = 0: one sleep.
 */
static double bar_to_spread(double rest_s, double away_s)
{
	double sum = 0, squares = 0, bars = 0, spread;

	for (int k = 0; k < SPANS; k++) {
		struct program g = {0};
		struct profile_query q = {.event = EVENT_WALL,
			.to = WINDOW_S,
			.thread = PROFILE_ANY_THREAD,
			.by_weight = true};
		struct flat *f;
		const struct flat_row *row;
		double share;

		program_init(&g);
		for (uint32_t thread = 0; thread < THREADS; thread++)
			if (rest_s > 0)
				rest_polls(&g, thread, rest_s, away_s);
			else
				sleep_polls(&g, thread);
		f = flat_new(g.p, &q);
		row = row_of(&g, f);
		share = row ? (double)row->self / (double)f->sum : 0;
		sum += share;
		squares += share * share;
		bars += row ? error_half_width(share, row->self_samples) / 100 : 0;
		flat_free(f);
		profile_free(g.p);
	}
	spread = 1.96 * sqrt(squares / SPANS - sum / SPANS * (sum / SPANS));
	return bars / SPANS / spread;
}

/*
 * Threads that rest in a place for a share of the time, once or a thousand times per window: the interval matches the
 * spread of the measured share. It may be wider by half, since consecutive polls can look like one rest by chance, and
 * is narrower where rests take half a second, since the order of polls within a second is unknown.
 */
static void test_rests(void)
{
	static const double shares[] = {0.5, 0.8, 0.88, 0.9, 0.92, 0.97};
	static const double cycles[] = {0.02, 0.1, 1, 4, 10, 20};
	double one_sleep;

	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		for (size_t c = 0; c < sizeof(cycles) / sizeof(cycles[0]); c++) {
			double ratio;

			rng = (100 + i * 10 + c) << 40;
			ratio = bar_to_spread(cycles[c] * shares[i], cycles[c] * (1 - shares[i]));
			ok(ratio > 0.55 && ratio < 1.75,
				"rests of %g s, %g %% of the time: the interval is %.2f of the "
				"spread",
				cycles[c] * shares[i], shares[i] * 100, ratio);
		}
	}
	rng = 99ull << 40;
	one_sleep = bar_to_spread(0, 0);
	ok(one_sleep > 0.55 && one_sleep < 1.75,
		"one sleep of half the window: the interval is %.2f of the spread", one_sleep);
}

int main(void)
{
	static const double shares[] = {0.001, 0.01, 0.1, 0.5, 0.99};
	bool alike = true;

	for (size_t e = 0; e < sizeof(events) / sizeof(events[0]); e++) {
		for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
			double n = shares[i] < 0.01 ? 10 * events[e].samples : events[e].samples;
			int inside = 0;

			rng = (e * 10 + i) << 40;
			for (int k = 0; k < PROFILES; k++) {
				struct program g = {0};

				program_init(&g);
				events[e].draw(&g, shares[i], n);
				inside += within(&g, events[e].event, shares[i], &alike);
				profile_free(g.p);
			}
			ok(inside >= 930 && inside <= 970,
				"%s, share %g %%: the interval of %d of 1,000 profiles contains it",
				profile_get_event(NULL, events[e].event)->name, shares[i] * 100,
				inside);
		}
	}
	test_rests();
	ok(alike, "the errors of self and total agree for a method without callees");
	return tap_done();
}
