/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Significance of differences. The variance of a difference has two parts: sampling error, from the clusters of the samples, and the
 * variation between recordings of a side. The latter is estimated from all methods together, relative to their size, and then per
 * method by combining this prior with the method's own variation (empirical Bayes, Smyth 2004). Multiple testing is corrected by
 * permutation (splits.c), or with too few recordings by the false-discovery rate (Benjamini and Hochberg, 1995).
 */
#include "profile/diff/inside.h"

#include "base/buf.h"

#include <math.h>
#include <stdlib.h>

#define FEW         16u /* samples of both sides: with fewer, a method is not tested */
#define PRIOR_LEAST 2.0
#define PRIOR_MOST \
	24.0 /* more methods do not improve the estimate of noise that they have in common */
#define WEIGHT_LEAST 1e-6
#define INFINITE_N   60.0 /* degrees of freedom that count as infinite */

enum test_kind { TEST_SELF, TEST_TOTAL, TEST_KINDS };

/* Value of a method in one recording, in the mode's unit, and its sampling variance. */
struct measure {
	double value, variance;
	uint64_t samples;
};

/* One hypothesis. */
struct test {
	struct diff_value *value;
	size_t measures;       /* index of its first measure, one per recording */
	uint64_t samples_both; /* independent of the assignment */
	/* For the current assignment of recordings to sides; variances are those of one recording. */
	double mean[DIFF_SIDES], chance[DIFF_SIDES], spread[DIFF_SIDES];
	uint64_t samples[DIFF_SIDES];
	double z, n;   /* standard errors, degrees of freedom */
	double weight; /* the method's share of all */
	double score;  /* for the current assignment */
};

struct tests {
	struct diff *d;
	const struct diff_question *q;
	struct diff_merged *const *merged;
	int runs;                  /* of both sides together */
	const unsigned char *side; /* current assignment, of each recording, in the order A, B */
	struct measure *measures;
	size_t measure_count, measure_cap;
	struct test *list[TEST_KINDS], all;
	uint32_t count;
	double noise[TEST_KINDS][DIFF_SIDES];
	double prior[TEST_KINDS]; /* weight of the prior, in degrees of freedom */
	struct test **sorted;     /* those with enough samples, by score, highest first */
	uint32_t sorted_count;
};

/* --- measuring --------------------------------------------------------------------------------------- */

static struct measure test_measure(
	const struct tests *t, int side, int run, const struct diff_sum *sum)
{
	const struct diff_merged *m = &t->merged[side][run];
	double seconds = t->q->runs[side][run].seconds, all = m->all.value, share;

	switch (t->d->mode) {
	case DIFF_RATE:
		return (struct measure){
			sum->value / seconds, sum->squares / (seconds * seconds), sum->samples};
	case DIFF_SHARE:
		share = all > 0 ? sum->value / all : 0;
		return (struct measure){share,
			all > 0 ? ((1 - 2 * share) * sum->squares +
					  share * share * m->all.squares) /
					  (all * all)
				: 0,
			sum->samples};
	default: return (struct measure){sum->value, sum->squares, sum->samples};
	}
}

static const struct diff_sum *test_sum(const struct diff_merged *m, int kind, uint32_t method)
{
	static const struct diff_sum none;

	if (method == PROFILE_NONE)
		return &m->all;
	if (method >= m->methods)
		return &none;
	return kind == TEST_SELF ? &m->self[method] : &m->total[method];
}

static struct test test_new(struct tests *t, int kind, uint32_t method, struct diff_value *value)
{
	struct test test = {.value = value, .measures = t->measure_count};

	for (int side = 0; side < DIFF_SIDES; side++)
		for (int run = 0; run < t->q->counts[side]; run++) {
			const struct diff_sum *sum = test_sum(&t->merged[side][run], kind, method);

			if (t->measure_count == t->measure_cap) {
				t->measure_cap = 2 * t->measure_cap + 1024;
				t->measures = xreallocarray(
					t->measures, t->measure_cap, sizeof(*t->measures));
			}
			t->measures[t->measure_count++] = test_measure(t, side, run, sum);
			test.samples_both += sum->samples;
		}
	return test;
}

/* Means and variances for the current assignment. */
static void test_assign(const struct tests *t, struct test *test)
{
	const struct measure *m = t->measures + test->measures;
	double sum[DIFF_SIDES] = {0}, squares[DIFF_SIDES] = {0}, chance[DIFF_SIDES] = {0};

	test->samples[DIFF_A] = test->samples[DIFF_B] = 0;
	for (int run = 0; run < t->runs; run++) {
		int side = t->side[run];

		sum[side] += m[run].value;
		squares[side] += m[run].value * m[run].value;
		chance[side] += m[run].variance;
		test->samples[side] += m[run].samples;
	}
	for (int side = 0; side < DIFF_SIDES; side++) {
		int n = t->q->counts[side];

		test->mean[side] = sum[side] / n;
		test->chance[side] = chance[side] / n;
		test->spread[side] =
			n > 1 ? fmax(0, squares[side] - sum[side] * sum[side] / n) / (n - 1) : 0;
	}
}

/* --- noise between recordings ------------------------------------------------------------------------ */

/* The quantity to which noise is proportional: the mean, or for shares p (1 - p), as a share near 1 varies little. */
static double test_noise_scale(const struct tests *t, double mean)
{
	return t->d->mode == DIFF_SHARE ? mean * (1 - mean) : mean;
}

/* Relative noise of a side: mean of the methods' estimates, weighted by their precision. */
static double test_noise(const struct tests *t, int kind, int side)
{
	double sum = 0, weights = 0;

	for (uint32_t i = 0; i < t->count; i++) {
		const struct test *test = &t->list[kind][i];
		double square = pow(test_noise_scale(t, test->mean[side]), 2);

		if (test->samples_both < FEW || square <= 0)
			continue;
		double relative = test->chance[side] / square;
		double weight = 1 / pow(relative + DIFF_NOISE * DIFF_NOISE, 2);
		sum += weight * (test->spread[side] / square - relative);
		weights += weight;
	}
	return weights > 0 ? sqrt(fmax(0, sum / weights)) : DIFF_NOISE;
}

/* Prior variance of one recording, from all methods. */
static double test_prior(const struct tests *t, int kind, int side, const struct test *test)
{
	double noise = test_noise_scale(t, test->mean[side]) * t->noise[kind][side];

	return test->chance[side] + noise * noise;
}

/* The second derivative of the logarithm of the gamma function. */
static double trigamma(double x)
{
	double sum = 0;

	for (; x < 6; x++)
		sum += 1 / (x * x);
	return sum + 1 / x + 1 / (2 * x * x) + 1 / (6 * x * x * x) - 1 / (30 * pow(x, 5));
}

/* Degrees of freedom of the prior, given the excess variance of the log variances: the less methods differ in noise, the more. */
static double prior_of(double excess)
{
	double low = PRIOR_LEAST, high = PRIOR_MOST;

	while (high - low > 0.1) {
		double middle = (low + high) / 2;

		if (trigamma(middle / 2) > excess)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Estimates the weight of the prior: high if all methods are equally noisy. */
static double test_prior_weight(const struct tests *t, int kind)
{
	double sum = 0, squares = 0, chance = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->count; i++) {
		const struct test *test = &t->list[kind][i];

		for (int side = 0; side < DIFF_SIDES; side++) {
			int runs = t->q->counts[side];

			if (runs < 2 || test->samples[side] < FEW * (unsigned)runs)
				continue;
			double x = log(
				fmax(1e-4, test->spread[side] / test_prior(t, kind, side, test)));
			sum += x;
			squares += x * x;
			chance += trigamma((runs - 1) / 2.0);
			n++;
		}
	}
	return n < 2 ? PRIOR_MOST : prior_of((squares - sum * sum / n) / (n - 1) - chance / n);
}

static void tests_estimate_noise(struct tests *t)
{
	for (int kind = 0; kind < TEST_KINDS; kind++) {
		double *noise = t->noise[kind];

		noise[DIFF_A] = noise[DIFF_B] = DIFF_NOISE;
		for (int side = 0; side < DIFF_SIDES; side++)
			if (t->q->counts[side] > 1)
				noise[side] = test_noise(t, kind, side);
		/* A single recording is assumed to be as noisy as those of the other side. */
		for (int side = 0; side < DIFF_SIDES; side++)
			if (t->q->counts[side] == 1 && t->q->counts[!side] > 1)
				noise[side] = noise[!side];
		t->prior[kind] = test_prior_weight(t, kind);
	}
}

/* --- each difference --------------------------------------------------------------------------------- */

/* Converts Student's t to an equivalent normal deviate (Wallace, 1959), and back. */
static double z_of_t(double t, double n)
{
	return n >= INFINITE_N ? t : (8 * n + 1) / (8 * n + 3) * sqrt(n * log1p(t * t / n));
}

static double t_of_z(double z, double n)
{
	double x = z * (8 * n + 3) / (8 * n + 1);

	return n >= INFINITE_N ? z : sqrt(n * expm1(x * x / n));
}

static double test_variance(const struct tests *t, int kind, struct test *test)
{
	double variance = 0, below = 0;

	for (int side = 0; side < DIFF_SIDES; side++) {
		int runs = t->q->counts[side];
		double prior = test_prior(t, kind, side, test);
		double own = (t->prior[kind] * prior + (runs - 1) * test->spread[side]) /
			     (t->prior[kind] + runs - 1);
		double v = fmax(own, test->chance[side]) / runs;

		variance += v;
		below += v * v / (t->prior[kind] + runs - 1);
	}
	/* With one recording a side the variance is assumed, not estimated. */
	test->n = t->runs == DIFF_SIDES || below <= 0 ? INFINITE_N : variance * variance / below;
	return variance;
}

/* Weighted testing: the error level is distributed in proportion to the methods' shares, as log p. Small methods are far more numerous. */
static double test_level_weight(double share)
{
	return 2 * log(share);
}

static void test_decide(const struct tests *t, int kind, struct test *test)
{
	double variance = test_variance(t, kind, test);
	double delta = fabs(test->mean[DIFF_B] - test->mean[DIFF_A]);

	test->z = variance > 0 ? z_of_t(delta / sqrt(variance), test->n) : 0;
	test->score = test->z * test->z + test_level_weight(test->weight);
}

static void test_report(const struct tests *t, int kind, struct test *test)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		test->value->of[side] = test->mean[side];
		test->value->samples[side] = test->samples[side];
	}
	test->value->error = t_of_z(Z95, test->n) * sqrt(test_variance(t, kind, test));
	test->value->p = test->samples_both >= FEW ? erfc(test->z / M_SQRT2) : 1;
}

/* Evaluates all tests for an assignment. */
static void tests_evaluate(struct tests *t, const unsigned char *side)
{
	t->side = side;
	test_assign(t, &t->all);
	for (int kind = 0; kind < TEST_KINDS; kind++)
		for (uint32_t i = 0; i < t->count; i++)
			test_assign(t, &t->list[kind][i]);
	tests_estimate_noise(t);
	test_decide(t, TEST_TOTAL, &t->all);
	for (int kind = 0; kind < TEST_KINDS; kind++)
		for (uint32_t i = 0; i < t->count; i++)
			test_decide(t, kind, &t->list[kind][i]);
}

/* --- all of them together ---------------------------------------------------------------------------- */

static int compare_scores(const void *a, const void *b)
{
	double x = (*(const struct test *const *)a)->score;
	double y = (*(const struct test *const *)b)->score;

	return x > y ? -1 : x < y;
}

/* True for the first of several tests with equal scores: methods that are only called by one another have equal values and are one test. */
static bool test_is_first(const struct tests *t, uint32_t i)
{
	return !i || t->sorted[i]->score != t->sorted[i - 1]->score;
}

/* Number of distinct tests, and their mean weight. */
static uint32_t tests_distinct(const struct tests *t, double *weight)
{
	uint32_t n = 0;

	*weight = 0;
	for (uint32_t i = 0; i < t->sorted_count; i++)
		if (test_is_first(t, i)) {
			*weight += t->sorted[i]->weight;
			n++;
		}
	*weight /= n;
	return n;
}

/*
 * Replaces each p by the lowest level at which it is significant (step-up, so monotonic). distinct, weight: of tests_distinct().
 * Returns the number of significant tests.
 */
static uint32_t tests_correct(struct tests *t, uint32_t distinct, double weight)
{
	uint32_t rank = distinct, sure = 0;
	double least = 1;

	for (uint32_t i = t->sorted_count; i-- > 0;) {
		struct diff_value *v = t->sorted[i]->value;

		least = fmin(least, v->p * distinct / rank * weight / t->sorted[i]->weight);
		v->p = least;
		v->sure = least < DIFF_LEVEL;
		sure += v->sure && test_is_first(t, i);
		rank -= test_is_first(t, i);
	}
	return sure;
}

/* Standard errors for a two-sided p. */
static double test_limit(double p)
{
	double low = Z95, high = 10;

	while (high - low > 1e-3) {
		double middle = (low + high) / 2;

		if (erfc(middle / M_SQRT2) > p)
			low = middle;
		else
			high = middle;
	}
	return high;
}

static void tests_score(void *ctx, const unsigned char *side, double *scores)
{
	struct tests *t = ctx;

	tests_evaluate(t, side);
	for (uint32_t i = 0; i < t->sorted_count; i++)
		scores[i] = t->sorted[i]->score;
}

/* Permutation test. False: too few recordings. */
static bool tests_permute(struct tests *t)
{
	struct splits s = {.count = t->sorted_count, .score = tests_score, .ctx = t};
	double *p = xreallocarray(NULL, (size_t)t->sorted_count + 1, sizeof(*p)), limit;

	s.runs[DIFF_A] = t->q->counts[DIFF_A];
	s.runs[DIFF_B] = t->q->counts[DIFF_B];
	bool done = !splits_p(&s, p, &limit);
	for (uint32_t i = 0; done && i < t->sorted_count; i++) {
		t->sorted[i]->value->p = p[i];
		t->sorted[i]->value->sure = p[i] < DIFF_LEVEL;
	}
	if (done)
		t->d->limit = sqrt(fmax(Z95 * Z95, limit - test_level_weight(DIFF_SMALL)));
	free(p);
	return done;
}

static void tests_run(struct tests *t)
{
	unsigned char *side = xcalloc((size_t)t->runs, 1);
	double weight;

	for (int run = t->q->counts[DIFF_A]; run < t->runs; run++)
		side[run] = DIFF_B;
	tests_evaluate(t, side);
	t->d->noise = fmax(t->noise[TEST_TOTAL][DIFF_A], t->noise[TEST_TOTAL][DIFF_B]);
	t->sorted = xreallocarray(NULL, TEST_KINDS * (size_t)t->count + 1, sizeof(*t->sorted));
	test_report(t, TEST_TOTAL, &t->all);
	t->sorted[t->sorted_count++] = &t->all;
	for (int kind = 0; kind < TEST_KINDS; kind++)
		for (uint32_t i = 0; i < t->count; i++) {
			struct test *test = &t->list[kind][i];

			test_report(t, kind, test);
			if (test->samples_both >= FEW)
				t->sorted[t->sorted_count++] = test;
		}
	qsort(t->sorted, t->sorted_count, sizeof(*t->sorted), compare_scores);
	if (!tests_permute(t)) { /* too few recordings: by the false-discovery rate */
		uint32_t distinct = tests_distinct(t, &weight);
		uint32_t sure = tests_correct(t, distinct, weight);
		t->d->limit =
			test_limit(DIFF_LEVEL * (sure ? sure : 1) / distinct * DIFF_SMALL / weight);
	}
	free(t->sorted);
	free(side);
}

static void tests_add_rows(struct tests *t)
{
	struct diff *d = t->d;
	uint32_t methods = profile_method_count(d->both);

	d->rows = xcalloc(methods + 1, sizeof(*d->rows));
	for (int kind = 0; kind < TEST_KINDS; kind++)
		t->list[kind] = xreallocarray(NULL, methods + 1, sizeof(*t->list[kind]));
	for (uint32_t method = 0; method < methods; method++) {
		struct diff_row *row = &d->rows[d->count];

		row->method = method;
		size_t begin = t->measure_count;
		t->list[TEST_SELF][d->count] = test_new(t, TEST_SELF, method, &row->self);
		t->list[TEST_TOTAL][d->count] = test_new(t, TEST_TOTAL, method, &row->total);
		if (t->list[TEST_TOTAL][d->count].samples_both)
			d->count++;
		else
			t->measure_count = begin;
	}
	t->count = d->count;
}

static double test_value(const struct tests *t, const struct test *test)
{
	double sum = 0;

	for (int run = 0; run < t->runs; run++)
		sum += t->measures[test->measures + (size_t)run].value;
	return sum;
}

void diff_test(
	struct diff *d, const struct diff_question *q, struct diff_merged *merged[DIFF_SIDES])
{
	struct tests t = {
		.d = d, .q = q, .merged = merged, .runs = q->counts[DIFF_A] + q->counts[DIFF_B]};

	tests_add_rows(&t);
	t.all = test_new(&t, TEST_TOTAL, PROFILE_NONE, &d->all);
	/* Weights do not depend on the assignment, so they cannot bias the tests. */
	double all = test_value(&t, &t.all);
	t.all.weight = 1;
	for (int kind = 0; kind < TEST_KINDS; kind++)
		for (uint32_t i = 0; i < t.count; i++) {
			struct test *test = &t.list[kind][i];
			test->weight = fmax(all > 0 ? test_value(&t, test) / all : 0, WEIGHT_LEAST);
		}
	tests_run(&t);
	for (int kind = 0; kind < TEST_KINDS; kind++)
		free(t.list[kind]);
	free(t.measures);
}
