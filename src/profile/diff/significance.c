/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which differences are significant. The tests are one of the total, and two of each method: of its
 * self and of its total value.
 *
 * 1. Each side s has R recordings, with a test's values x1..xR in the mode's unit (diff.h). From them:
 *
 *        mean      the average of x
 *        sampling  the average sampling variance of x, from its clusters of samples (query/error.h)
 *        observed  the variance of x between the recordings: sum of (x - mean)^2 / (R - 1)
 *
 * 2. Recordings of one program vary by more than sampling explains. This noise is relative to a
 *    method's size, where the size is mean, or mean (1 - mean) for shares, as a share near 1 varies
 *    little. It is estimated from all methods together, each weighted by the inverse variance of its
 *    estimate:
 *
 *        noise^2 = average of (observed - sampling) / size^2
 *
 *    A single recording is assumed to be as noisy as those of the other side. If there is one per
 *    side, the noise is DIFF_NOISE.
 *
 * 3. Few recordings estimate a variance badly, so a method's own estimate is combined with that of all
 *    methods. The weight of the latter are the d0 degrees of freedom that fit how much the methods
 *    differ in noise (empirical Bayes: Smyth 2004):
 *
 *        prior     = sampling + (noise size)^2
 *        posterior = (d0 prior + (R - 1) observed) / (d0 + R - 1), at least sampling
 *        t         = (mean of B - mean of A) / sqrt(sum over both sides of posterior / R)
 *
 *    t has the degrees of freedom of Welch and Satterthwaite. It is converted to z, the normal deviate
 *    with the same p.
 *
 * 4. Small methods are far more numerous than large ones. So that they do not hide the large ones, the
 *    permitted errors are divided among the tests in proportion to their shares (weighted testing:
 *    Genovese, Roeder and Wasserman 2006). Tests are ranked by about -2 log(p / share):
 *
 *        score = z^2 + 2 log(share)
 *
 * 5. With enough recordings, permutations of them decide which scores are significant (permutation.c).
 *    Otherwise the false-discovery rate does, with p of z weighted by share (Benjamini and Hochberg
 *    1995).
 *
 * Steps 1 to 4 are repeated for each assignment of the recordings to the sides. The values and shares
 * (step 0) do not depend on it.
 */
#include "profile/diff/inside.h"

#include "base/buf.h"

#include <math.h>
#include <stdlib.h>

#define LEAST_SAMPLES    16u /* of both sides: with fewer, a method is not tested */
#define LEAST_SHARE      1e-6
#define PRIOR_LEAST      2.0  /* limits of d0: */
#define PRIOR_MOST       24.0 /* more methods do not improve the estimate of their common noise */
#define INFINITE_FREEDOM 60.0 /* degrees of freedom that count as infinite */

enum test_kind { TEST_SELF, TEST_TOTAL, TEST_KINDS };

/* A test's value in one recording, and its sampling variance. */
struct measure {
	double value, variance;
	uint64_t samples;
};

struct test {
	struct diff_value *value; /* the result */
	enum test_kind kind;
	const struct measure *measures; /* one per recording, in the order A, B */
	uint64_t samples;               /* of both sides */
	double share;                   /* of the total of both sides, at least LEAST_SHARE */
	/* For the current assignment of recordings to sides: */
	struct test_side {
		double mean, sampling, observed;
		uint64_t samples;
	} side[DIFF_SIDES];
	double variance, freedom; /* of the difference of the means */
	double z, score;
};

struct tests {
	struct diff *d;
	const struct diff_question *q;
	struct diff_merged *const *merged;
	int runs; /* of both sides together */
	struct measure *measures;
	double all;        /* sum of the total's measures */
	struct test *list; /* the total first, then each method's self, then each method's total */
	uint32_t count;
	struct test **sorted; /* those with enough samples, by score, highest first */
	uint32_t sorted_count;
	/* For the current assignment: */
	const unsigned char *assigned; /* side of each recording */
	double noise[TEST_KINDS][DIFF_SIDES];
	double prior_freedom[TEST_KINDS]; /* d0 */
};

/* --- 0. measures: independent of the assignment -------------------------------------------------------- */

static struct measure measure_of(
	const struct tests *t, int side, int run, const struct diff_sum *sum)
{
	const struct diff_merged *m = &t->merged[side][run];
	double seconds = t->q->runs[side][run].seconds, all = m->all.value;

	if (t->d->mode == DIFF_RATE)
		return (struct measure){
			sum->value / seconds, sum->squares / (seconds * seconds), sum->samples};
	if (t->d->mode == DIFF_RAW)
		return (struct measure){sum->value, sum->squares, sum->samples};
	if (all <= 0)
		return (struct measure){0, 0, sum->samples};
	/* A share varies with both its parts: (1 - share) of the method's clusters, share of the rest. */
	double share = sum->value / all;
	double squares = (1 - 2 * share) * sum->squares + share * share * m->all.squares;
	return (struct measure){share, squares / (all * all), sum->samples};
}

/* method: PROFILE_NONE is the total. */
static void tests_add(
	struct tests *t, enum test_kind kind, uint32_t method, struct diff_value *value)
{
	struct test *test = &t->list[t->count];
	struct measure *measure = &t->measures[(size_t)t->count++ * (size_t)t->runs];
	double values = 0;

	*test = (struct test){.value = value, .kind = kind, .measures = measure};
	for (int side = 0; side < DIFF_SIDES; side++)
		for (int run = 0; run < t->q->counts[side]; run++, measure++) {
			const struct diff_merged *m = &t->merged[side][run];
			struct diff_sum sum = {0};

			if (method == PROFILE_NONE)
				sum = m->all;
			else if (method < m->methods)
				sum = kind == TEST_SELF ? m->self[method] : m->total[method];
			*measure = measure_of(t, side, run, &sum);
			test->samples += sum.samples;
			values += measure->value;
		}
	if (method == PROFILE_NONE)
		t->all = values;
	test->share = fmax(t->all > 0 ? values / t->all : 0, LEAST_SHARE);
}

/* Adds all tests, and a row of d for each method that has samples. */
static void tests_add_all(struct tests *t)
{
	struct diff *d = t->d;
	uint32_t methods = profile_method_count(d->both);

	d->rows = xcalloc(methods + 1, sizeof(*d->rows));
	for (uint32_t method = 0; method < methods; method++) {
		bool sampled = false;

		for (int side = 0; side < DIFF_SIDES; side++)
			for (int run = 0; run < t->q->counts[side]; run++) {
				const struct diff_merged *m = &t->merged[side][run];

				sampled |= method < m->methods && m->total[method].samples;
			}
		if (sampled)
			d->rows[d->count++].method = method;
	}
	size_t tests = 1 + TEST_KINDS * (size_t)d->count;
	t->list = xreallocarray(NULL, tests, sizeof(*t->list));
	t->measures = xreallocarray(NULL, tests * (size_t)t->runs, sizeof(*t->measures));
	tests_add(t, TEST_TOTAL, PROFILE_NONE, &d->all);
	for (uint32_t i = 0; i < d->count; i++)
		tests_add(t, TEST_SELF, d->rows[i].method, &d->rows[i].self);
	for (uint32_t i = 0; i < d->count; i++)
		tests_add(t, TEST_TOTAL, d->rows[i].method, &d->rows[i].total);
}

/* --- 1. means and variances ---------------------------------------------------------------------------- */

static void test_summarize(const struct tests *t, struct test *test)
{
	double sum[DIFF_SIDES] = {0}, squares[DIFF_SIDES] = {0}, variance[DIFF_SIDES] = {0};
	uint64_t samples[DIFF_SIDES] = {0};

	for (int run = 0; run < t->runs; run++) {
		const struct measure *m = &test->measures[run];
		int side = t->assigned[run];

		sum[side] += m->value;
		squares[side] += m->value * m->value;
		variance[side] += m->variance;
		samples[side] += m->samples;
	}
	for (int side = 0; side < DIFF_SIDES; side++) {
		int n = t->q->counts[side];
		double deviations = fmax(0, squares[side] - sum[side] * sum[side] / n);

		test->side[side] = (struct test_side){.mean = sum[side] / n,
			.sampling = variance[side] / n,
			.observed = n > 1 ? deviations / (n - 1) : 0,
			.samples = samples[side]};
	}
}

/* --- 2. noise between recordings ------------------------------------------------------------------------ */

/* What a method's noise is proportional to. */
static double size_of(const struct tests *t, double mean)
{
	return t->d->mode == DIFF_SHARE ? mean * (1 - mean) : mean;
}

/* The noise that all methods have in common. */
static double noise_of(const struct tests *t, enum test_kind kind, int side)
{
	double sum = 0, weights = 0;

	for (uint32_t i = 1; i < t->count; i++) {
		const struct test *test = &t->list[i];
		const struct test_side *s = &test->side[side];
		double square = pow(size_of(t, s->mean), 2);

		if (test->kind != kind || test->samples < LEAST_SAMPLES || square <= 0)
			continue;
		double sampling = s->sampling / square;
		double weight = 1 / pow(sampling + DIFF_NOISE * DIFF_NOISE, 2);
		sum += weight * (s->observed / square - sampling);
		weights += weight;
	}
	return weights > 0 ? sqrt(fmax(0, sum / weights)) : DIFF_NOISE;
}

/* --- 3. the variance of a difference --------------------------------------------------------------------- */

/* The variance of one recording that all methods together suggest. */
static double prior_of(const struct tests *t, const struct test *test, int side)
{
	const struct test_side *s = &test->side[side];
	double noise = size_of(t, s->mean) * t->noise[test->kind][side];

	return s->sampling + noise * noise;
}

/* The second derivative of the logarithm of the gamma function. */
static double trigamma(double x)
{
	double sum = 0;

	for (; x < 6; x++)
		sum += 1 / (x * x);
	return sum + 1 / x + 1 / (2 * x * x) + 1 / (6 * x * x * x) - 1 / (30 * pow(x, 5));
}

/*
 * d0. log(observed / prior) varies by trigamma((R - 1) / 2) because R recordings estimate observed,
 * and by trigamma(d0 / 2) because methods differ in noise. The latter is solved for d0: the less
 * the methods differ, the higher it is.
 */
static double prior_freedom_of(const struct tests *t, enum test_kind kind)
{
	double sum = 0, squares = 0, estimation = 0, low = PRIOR_LEAST, high = PRIOR_MOST;
	uint32_t n = 0;

	for (uint32_t i = 1; i < t->count; i++) {
		const struct test *test = &t->list[i];

		for (int side = 0; side < DIFF_SIDES && test->kind == kind; side++) {
			const struct test_side *s = &test->side[side];
			int runs = t->q->counts[side];

			if (runs < 2 || s->samples < LEAST_SAMPLES * (unsigned)runs)
				continue;
			double x = log(fmax(1e-4, s->observed / prior_of(t, test, side)));
			sum += x;
			squares += x * x;
			estimation += trigamma((runs - 1) / 2.0);
			n++;
		}
	}
	if (n < 2)
		return PRIOR_MOST;
	double excess = (squares - sum * sum / n) / (n - 1) - estimation / n;
	while (high - low > 0.1) {
		double middle = (low + high) / 2;

		if (trigamma(middle / 2) > excess)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void tests_estimate_noise(struct tests *t)
{
	for (int kind = 0; kind < TEST_KINDS; kind++) {
		double *noise = t->noise[kind];

		noise[DIFF_A] = noise[DIFF_B] = DIFF_NOISE;
		for (int side = 0; side < DIFF_SIDES; side++)
			if (t->q->counts[side] > 1)
				noise[side] = noise_of(t, kind, side);
		for (int side = 0; side < DIFF_SIDES; side++)
			if (t->q->counts[side] == 1 && t->q->counts[!side] > 1)
				noise[side] = noise[!side];
		t->prior_freedom[kind] = prior_freedom_of(t, kind);
	}
}

static void test_set_variance(const struct tests *t, struct test *test)
{
	double prior_freedom = t->prior_freedom[test->kind], below = 0;

	test->variance = 0;
	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct test_side *s = &test->side[side];
		int runs = t->q->counts[side];
		double freedom = prior_freedom + runs - 1;
		double posterior =
			(prior_freedom * prior_of(t, test, side) + (runs - 1) * s->observed) /
			freedom;
		double variance = fmax(posterior, s->sampling) / runs;

		test->variance += variance;
		below += variance * variance / freedom;
	}
	/* With one recording per side the variance is assumed, not estimated. */
	test->freedom = t->runs == DIFF_SIDES || below <= 0
				? INFINITE_FREEDOM
				: test->variance * test->variance / below;
}

/* Converts Student's t to the normal deviate with the same p (Wallace 1959), and back. */
static double z_of_t(double t, double n)
{
	return n >= INFINITE_FREEDOM ? t : (8 * n + 1) / (8 * n + 3) * sqrt(n * log1p(t * t / n));
}

static double t_of_z(double z, double n)
{
	double x = z * (8 * n + 3) / (8 * n + 1);

	return n >= INFINITE_FREEDOM ? z : sqrt(n * expm1(x * x / n));
}

/* --- 4. scores -------------------------------------------------------------------------------------------- */

static double share_score(double share)
{
	return 2 * log(share);
}

/* Steps 1 to 4 for an assignment: the side of each recording. */
static void tests_assign(struct tests *t, const unsigned char *assigned)
{
	t->assigned = assigned;
	for (uint32_t i = 0; i < t->count; i++)
		test_summarize(t, &t->list[i]);
	tests_estimate_noise(t);
	for (uint32_t i = 0; i < t->count; i++) {
		struct test *test = &t->list[i];
		double delta = fabs(test->side[DIFF_B].mean - test->side[DIFF_A].mean);

		test_set_variance(t, test);
		test->z = test->variance > 0 ? z_of_t(delta / sqrt(test->variance), test->freedom)
					     : 0;
		test->score = test->z * test->z + share_score(test->share);
	}
}

static int compare_scores(const void *a, const void *b)
{
	double x = (*(const struct test *const *)a)->score;
	double y = (*(const struct test *const *)b)->score;

	return x > y ? -1 : x < y;
}

/* --- 5. significance -------------------------------------------------------------------------------------- */

static void tests_score(void *ctx, const unsigned char *assigned, double *scores)
{
	struct tests *t = ctx;

	tests_assign(t, assigned);
	for (uint32_t i = 0; i < t->sorted_count; i++)
		scores[i] = t->sorted[i]->score;
}

/* By permutation. False: too few recordings. */
static bool tests_permute(struct tests *t)
{
	struct permutation s = {.count = t->sorted_count, .score = tests_score, .ctx = t};
	double *p = xreallocarray(NULL, (size_t)t->sorted_count, sizeof(*p)), limit;

	s.runs[DIFF_A] = t->q->counts[DIFF_A];
	s.runs[DIFF_B] = t->q->counts[DIFF_B];
	bool done = !permutation_p(&s, p, &limit);
	for (uint32_t i = 0; done && i < t->sorted_count; i++) {
		t->sorted[i]->value->p = p[i];
		t->sorted[i]->value->sure = p[i] < DIFF_LEVEL;
	}
	if (done)
		t->d->limit = sqrt(fmax(Z95 * Z95, limit - share_score(DIFF_SMALL)));
	free(p);
	return done;
}

/* Methods that are only called by one another have equal values. True for the first of them: they are one test. */
static bool is_distinct(const struct tests *t, uint32_t i)
{
	return !i || t->sorted[i]->score != t->sorted[i - 1]->score;
}

/* Standard errors that a two-sided p corresponds to, at least Z95. */
static double z_of_p(double p)
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

/* By the false-discovery rate. */
static void tests_correct(struct tests *t)
{
	uint32_t distinct = 0, sure = 0;
	double share = 0, least = 1; /* mean share of the distinct tests */

	for (uint32_t i = 0; i < t->sorted_count; i++)
		if (is_distinct(t, i)) {
			share += t->sorted[i]->share;
			distinct++;
		}
	share /= distinct;
	/* Replaces each p by the lowest level at which it is significant (step-up, so monotonic). */
	uint32_t rank = distinct;
	for (uint32_t i = t->sorted_count; i-- > 0;) {
		struct diff_value *v = t->sorted[i]->value;

		least = fmin(least, v->p * distinct / rank * share / t->sorted[i]->share);
		v->p = least;
		v->sure = least < DIFF_LEVEL;
		sure += v->sure && is_distinct(t, i);
		rank -= is_distinct(t, i);
	}
	t->d->limit = z_of_p(DIFF_LEVEL * (sure ? sure : 1) / distinct * DIFF_SMALL / share);
}

void diff_test(
	struct diff *d, const struct diff_question *q, struct diff_merged *merged[DIFF_SIDES])
{
	struct tests t = {
		.d = d, .q = q, .merged = merged, .runs = q->counts[DIFF_A] + q->counts[DIFF_B]};
	unsigned char *assigned = xcalloc((size_t)t.runs, 1);

	for (int run = q->counts[DIFF_A]; run < t.runs; run++)
		assigned[run] = DIFF_B;
	tests_add_all(&t);
	tests_assign(&t, assigned);
	d->noise = fmax(t.noise[TEST_TOTAL][DIFF_A], t.noise[TEST_TOTAL][DIFF_B]);
	t.sorted = xreallocarray(NULL, t.count, sizeof(struct test *));
	for (uint32_t i = 0; i < t.count; i++) {
		struct test *test = &t.list[i];
		struct diff_value *v = test->value;
		/* The total is always tested. */
		bool tested = !i || test->samples >= LEAST_SAMPLES;

		for (int side = 0; side < DIFF_SIDES; side++) {
			v->of[side] = test->side[side].mean;
			v->samples[side] = test->side[side].samples;
		}
		v->error = t_of_z(Z95, test->freedom) * sqrt(test->variance);
		v->p = test->samples >= LEAST_SAMPLES ? erfc(test->z / M_SQRT2) : 1;
		if (tested)
			t.sorted[t.sorted_count++] = test;
	}
	qsort(t.sorted, t.sorted_count, sizeof(struct test *), compare_scores);
	if (!tests_permute(&t))
		tests_correct(&t);
	free(t.sorted);
	free(t.list);
	free(t.measures);
	free(assigned);
}
