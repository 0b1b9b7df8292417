/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparing profiles: modes, name folding, new and removed methods, and which differences are reported on random
 * recordings.
 */
#include "profile/diff/diff.h"

#include "recording/recording.h"
#include "tests/profile/draws.h"
#include "tests/tap.h"

#define S 1000000000ull

/* --- small profiles ---------------------------------------------------------------------------------- */

static uint32_t stack_of(
	struct profile *p, const char *class_name, const char *outer, const char *inner)
{
	uint32_t stack = profile_stack_child(p, PROFILE_ROOT_STACK,
		profile_frame(
			p, profile_method(p, class_name, outer, "()V", ""), FRAME_COMPILED, 1, 7));

	return *inner ? profile_stack_child(p, stack,
				profile_frame(p, profile_method(p, class_name, inner, "()V", ""),
					FRAME_INLINED, 2, 8))
		      : stack;
}

static void add(struct profile *p, uint32_t stack, uint32_t count)
{
	profile_add_sample(p, EVENT_CPU, 0,
		&(struct profile_sample){stack, 1, THREAD_STATE_NONE, count, count * 10000000ull});
}

static struct diff_run run_of(const struct profile *p, double seconds)
{
	struct diff_run run = {.profile = p, .query = profile_whole(EVENT_CPU), .seconds = seconds};

	run.query.by_weight = true;
	return run;
}

static struct diff *compare(struct diff_run a, struct diff_run b, enum diff_mode mode)
{
	struct diff_question *q = xcalloc(1, sizeof(*q));
	struct diff *d;
	struct err err = {0};

	q->mode = mode;
	q->counts[DIFF_A] = q->counts[DIFF_B] = 1;
	q->runs[DIFF_A][0] = a;
	q->runs[DIFF_B][0] = b;
	d = diff_new(q, &err);
	if (!d)
		diag("%s", err.what);
	free(q);
	return d;
}

static const struct diff_row *row_of(const struct diff *d, const char *full)
{
	static const struct diff_row none;

	for (uint32_t i = 0; i < d->count; i++)
		if (!strcmp(profile_get_method(d->both, d->rows[i].method)->full, full))
			return &d->rows[i];
	return &none;
}

static bool near(double got, double want)
{
	if (fabs(got - want) <= 1e-9 * fabs(want))
		return true;
	diag("got %g, want %g", got, want);
	return false;
}

static void test_modes(void)
{
	struct profile *a = profile_new(), *b = profile_new();
	struct diff *d;
	const struct diff_row *row;

	add(a, stack_of(a, "C", "main", ""), 60);
	add(a, stack_of(a, "C", "main", "f"), 140);
	add(b, stack_of(b, "C", "main", ""), 200);
	add(b, stack_of(b, "C", "main", "f"), 200);
	d = compare(run_of(a, 2), run_of(b, 8), DIFF_RATE);
	row = row_of(d, "C.f");
	ok(near(d->all.of[DIFF_A], 1e9) && near(d->all.of[DIFF_B], 5e8),
		"rate: the totals are per second");
	ok(near(row->self.of[DIFF_A], 7e8) && near(row->self.of[DIFF_B], 2.5e8),
		"rate: a method's value is per second");
	row = row_of(d, "C.main");
	ok(near(row->self.of[DIFF_A], 3e8) && near(row->total.of[DIFF_A], 1e9),
		"rate: self and total are separate");
	is_int(row->self.samples[DIFF_B], 200, "the sample counts are not scaled");
	is_int(profile_sum(d->both, &d->query[DIFF_A]).weight, 8 * S,
		"rate: in the merged profile A is scaled to B's duration");
	is_int(profile_sum(d->both, &d->query[DIFF_B]).weight, 4 * S,
		"rate: in the merged profile B is not scaled");
	diff_free(d);
	d = compare(run_of(a, 2), run_of(b, 8), DIFF_SHARE);
	row = row_of(d, "C.f");
	ok(near(row->self.of[DIFF_A], 0.7) && near(row->self.of[DIFF_B], 0.5),
		"share: values are shares of the side's total");
	is_int(profile_sum(d->both, &d->query[DIFF_A]).weight, 4 * S,
		"share: in the merged profile A is scaled to B's total");
	diff_free(d);
	d = compare(run_of(a, 2), run_of(b, 8), DIFF_RAW);
	ok(near(row_of(d, "C.f")->self.of[DIFF_A], 1.4e9) && near(d->all.of[DIFF_B], 4e9),
		"raw: values are not scaled");
	ok(row_of(d, "C.main")->self.sure && !row_of(d, "C.nothing")->self.sure,
		"raw: 60 against 200 samples is significant, an absent method is not");
	diff_free(d);
	profile_free(a);
	profile_free(b);
}

static void test_names(void)
{
	struct profile *a = profile_new(), *b = profile_new();
	struct diff *d;

	add(a, stack_of(a, "C$$Lambda/0x1f", "run", ""), 100);
	add(a, stack_of(a, "C$$Lambda/0x2f", "run", ""), 100);
	add(a, stack_of(a, "C", "gone", ""), 90);
	add(b, stack_of(b, "C$$Lambda$7/0x3f", "run", ""), 200);
	add(b, stack_of(b, "C", "new", ""), 90);
	d = compare(run_of(a, 2), run_of(b, 2), DIFF_RATE);
	is_int(d->count, 3, "lambda classes of both sides are folded into one method");
	ok(near(diff_delta(&row_of(d, "C$$Lambda*.run")->total), 0),
		"the folded lambda method has not changed");
	ok(row_of(d, "C.gone")->total.sure && row_of(d, "C.gone")->total.of[DIFF_B] == 0,
		"a method that occurs only on side A is significant");
	ok(row_of(d, "C.new")->total.sure && row_of(d, "C.new")->total.of[DIFF_A] == 0,
		"a method that occurs only on side B is significant");
	ok(diff_band(d, 0, 9e8) < 9e8 && diff_band(d, 2e9, 2e9) > 0,
		"diff_band is below a significant difference and positive for an insignificant "
		"one");
	diff_free(d);
	profile_free(a);
	profile_free(b);
}

static void test_recursion(void)
{
	struct profile *a = profile_new();
	uint32_t stack = stack_of(a, "C$$Lambda/0x1f", "run", "run");
	struct diff *d;

	stack = profile_stack_child(a, stack,
		profile_frame(a, profile_method(a, "C$$Lambda/0x2f", "run", "()V", ""),
			FRAME_COMPILED, 1, 1));
	add(a, stack, 100);
	d = compare(run_of(a, 1), run_of(a, 1), DIFF_RATE);
	ok(near(row_of(d, "C$$Lambda*.run")->total.of[DIFF_A], 1e9),
		"recursion through folded names counts once in total");
	diff_free(d);
	profile_free(a);
}

static void test_refusals(void)
{
	struct profile *a = profile_new(), *none = profile_new();
	struct diff_question *q = xcalloc(1, sizeof(*q));
	struct err err = {0};

	add(a, stack_of(a, "C", "main", ""), 60);
	q->counts[DIFF_A] = q->counts[DIFF_B] = 1;
	q->runs[DIFF_A][0] = run_of(a, 2);
	q->runs[DIFF_B][0] = run_of(none, 2);
	ok(!diff_new(q, &err) && err.kind == ERR_INPUT, "an empty side is refused: %s", err.what);
	q->runs[DIFF_B][0] = run_of(a, 0);
	ok(!diff_new(q, &err) && err.kind == ERR_INPUT,
		"rates without a known duration are refused: %s", err.what);
	free(q);
	profile_free(a);
	profile_free(none);
}

/* --- a real profile's stacks ------------------------------------------------------------------------- */

static void test_itself(const struct profile *h2)
{
	static const enum diff_mode modes[] = {DIFF_RATE, DIFF_SHARE};
	struct profile *twice = profile_new();
	struct draws d;
	struct diff *diff;

	draws_init(&d, h2);
	for (uint32_t i = 0; i < d.count; i++)
		for (int k = 0; k < 2; k++)
			profile_add_sample(d.all, EVENT_CPU, 0,
				&(struct profile_sample){d.stacks[i].drawn, 1, THREAD_STATE_NONE,
					(uint32_t)(d.stacks[i].share * d.weight / 1e7 + 0.5),
					(uint64_t)(d.stacks[i].share * d.weight + 0.5)});
	for (int i = 0; i < 2; i++) {
		struct diff_run once = run_of(h2, 66), doubled = run_of(d.all, 132);
		double most = 0;

		diff = compare(once, doubled, modes[i]);
		for (uint32_t k = 0; k < diff->count; k++)
			most = fmax(most,
				fabs(diff_delta(&diff->rows[k].total)) / diff->all.of[DIFF_A]);
		ok(diff->count > 500 && !draws_reported(diff) && most < 1e-9,
			"a profile against itself doubled, mode %d: no difference in %u rows",
			modes[i], diff->count);
		diff_free(diff);
	}
	diff = compare(run_of(h2, 66), run_of(d.all, 132), DIFF_RAW);
	ok(diff->all.sure && draws_reported(diff) > 20,
		"a profile against itself doubled, raw: differences are reported");
	diff_free(diff);
	draws_done(&d);
	profile_free(twice);
}

#define TIMES       20
#define FEW_METHODS 200
#define FEW_TIMES   100
#define FEW_MOST    8 /* 3 expected, and three standard deviations */

/*
 * Methods with few samples often have equal counts by chance, and equal scores count as one test (test_is_first).
 * Still, at most DIFF_LEVEL of comparisons without a difference may report one.
 */
static void test_few(const struct profile *population, const char *of, double samples, int runs)
{
	struct draws_how how = {samples, 0, 0, false, {runs, runs}, 1, DIFF_SHARE};
	struct draws d;
	int n = 0;

	draws_init(&d, population);
	d.rng = ((uint64_t)samples * 10 + (uint64_t)runs) << 32;
	for (int i = 0; i < FEW_TIMES; i++) {
		struct diff *diff = draws_diff(&d, &how);

		n += draws_reported(diff) > 0;
		diff_free(diff);
	}
	ok(n <= FEW_MOST,
		"%s, %g samples, %d recordings a side, no difference: %d of %d report one", of,
		samples, runs, n, FEW_TIMES);
	draws_done(&d);
}

static void test_few_samples(const struct profile *h2)
{
	struct profile *flat = profile_new();
	char name[32];

	for (int i = 0; i < FEW_METHODS; i++) {
		snprintf(name, sizeof(name), "m%d", i);
		add(flat, stack_of(flat, "C", "main", name), 1);
	}
	test_few(flat, "flat", 8 * FEW_METHODS, 1);
	test_few(h2, "H2", 100, 1);
	test_few(h2, "H2", 100, 5);
	profile_free(flat);
}

/* How many of TIMES comparisons report any difference (find: NULL), or an increase of the method `find`. */
static int reporting(struct draws *d, struct draws_how how, const char *find, uint64_t seed)
{
	int n = 0;

	d->rng = seed << 40;
	for (int i = 0; i < TIMES; i++) {
		struct diff *diff = draws_diff(d, &how);

		n += find ? draws_found(diff, find) : draws_reported(diff) > 0;
		diff_free(diff);
	}
	return n;
}

/* A short version; make bench-diff runs 100 of each. */
static void test_draws(const struct profile *h2)
{
	static const char slow[] = "org.h2.expression.aggregate.Aggregate.updateAggregate";
	static const char less[] = "org.h2.mvstore.Page.binarySearch";
	static const struct draws_how quiet = {6000, 0.02, 0.01, false, {5, 5}, 1, DIFF_RATE};
	struct draws_how how = quiet;
	struct draws d;
	int n;

	draws_init(&d, h2);
	n = reporting(&d, how, NULL, 1);
	ok(n <= 1, "5 equal recordings a side, by rate: %d of %d report a difference", n, TIMES);
	how.mode = DIFF_SHARE;
	n = reporting(&d, how, NULL, 2);
	ok(n <= 1, "5 equal recordings a side, by share: %d report a difference", n);
	how = quiet;
	how.runs[DIFF_A] = how.runs[DIFF_B] = 1;
	n = reporting(&d, how, NULL, 3);
	ok(n <= 1, "1 equal recording a side: %d report a difference", n);
	how = quiet;
	how.noise = 0.03;
	how.uneven = true;
	n = reporting(&d, how, NULL, 4);
	ok(n <= 2, "5 equal recordings a side, with some noisy methods: %d report a difference", n);
	how.runs[DIFF_A] = how.runs[DIFF_B] = 1;
	n = reporting(&d, how, NULL, 7);
	ok(n <= 1, "1 equal recording a side, with some noisy methods: %d report a difference", n);
	how = quiet;
	how.slower = 1.1;
	ok(draws_mark(&d, slow) > 0.4, "updateAggregate has more than 40 %% of the samples");
	n = reporting(&d, how, slow, 5);
	ok(n >= TIMES - 1, "5 a side, updateAggregate 10 %% slower: %d of %d find it", n, TIMES);
	how.noise = how.common = 0;
	ok(draws_mark(&d, less) < 0.2, "binarySearch has less than 20 %% of the samples");
	n = reporting(&d, how, less, 6);
	ok(n >= TIMES - 2, "5 a side without noise, binarySearch 10 %% slower: %d find it", n);
	draws_done(&d);
}

int main(void)
{
	char path[512];
	const char *dir = getenv("srcdir");
	struct profile *h2 = profile_new();
	struct recording *r;
	struct err err = {0};

	test_modes();
	test_names();
	test_recursion();
	test_refusals();
	snprintf(path, sizeof(path), "%s/tests/tui/h2.jhot", dir ? dir : "..");
	r = recording_open(path, h2, &err);
	ok(r && !recording_read(r, UINT32_MAX, &err), "the recording of H2 is read");
	if (r) {
		test_itself(h2);
		test_draws(h2);
		test_few_samples(h2);
	}
	recording_free(r);
	profile_free(h2);
	return tap_done();
}
