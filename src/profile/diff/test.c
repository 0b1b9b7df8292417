/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is more than chance. A difference stands beside its variance, which has two parts: that of sampling, which the
 * clusters of the samples tell, and how much recordings of one side differ beside it. The latter is estimated from all
 * methods together, as a share of what each has, and then for each method anew from both: from that and from what the
 * recordings say of this method (Smyth, 2004). Of as many differences as are asked for some are large by chance; so
 * their probabilities are corrected (Benjamini and Hochberg, 1995).
 */
#include "profile/diff/inside.h"

#include "base/buf.h"

#include <math.h>
#include <stdlib.h>

#define FEW         16u /* samples of both sides: fewer can never differ surely among so many */
#define Z95         1.96
#define PRIOR_LEAST 2.0
#define PRIOR_MOST \
	24.0        /* noise that all methods have together is not told better by more of them */
#define SURE_N 60.0 /* degrees of freedom that are as good as any number */

enum test_kind { TEST_SELF, TEST_TOTAL, TEST_KINDS };

/* One difference that is asked for. */
struct test {
	struct diff_value *value;
	double mean[DIFF_SIDES], chance[DIFF_SIDES],
		spread[DIFF_SIDES]; /* variances of one recording */
	double z;
};

struct tests {
	struct diff *d;
	const struct diff_question *q;
	struct diff_merged *const *merged;
	struct test *list[TEST_KINDS];
	uint32_t count;
	double noise[TEST_KINDS][DIFF_SIDES];
	double prior
		[TEST_KINDS]; /* as many degrees of freedom that estimate is worth to one method */
};

/* --- measuring --------------------------------------------------------------------------------------- */

/* A sum of one recording in the mode's unit, and the variance that sampling gives it. */
static double test_measure(
	const struct tests *t, int side, int run, const struct diff_sum *sum, double *variance)
{
	const struct diff_merged *m = &t->merged[side][run];
	double seconds = t->q->runs[side][run].seconds, share;

	switch (t->d->mode) {
	case DIFF_RATE: *variance = sum->squares / (seconds * seconds); return sum->value / seconds;
	case DIFF_SHARE:
		share = m->all.value > 0 ? sum->value / m->all.value : 0;
		*variance = m->all.value > 0 ? ((1 - 2 * share) * sum->squares +
						       share * share * m->all.squares) /
						       (m->all.value * m->all.value)
					     : 0;
		return share;
	default: *variance = sum->squares; return sum->value;
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

static struct test test_take(
	const struct tests *t, int kind, uint32_t method, struct diff_value *value)
{
	struct test test = {.value = value};

	*value = (struct diff_value){.p = 1};
	for (int side = 0; side < DIFF_SIDES; side++) {
		int n = t->q->counts[side];
		double sum = 0, squares = 0, chance = 0, x, variance;

		for (int run = 0; run < n; run++) {
			const struct diff_sum *s = test_sum(&t->merged[side][run], kind, method);

			x = test_measure(t, side, run, s, &variance);
			sum += x;
			squares += x * x;
			chance += variance;
			value->samples[side] += s->samples;
		}
		test.mean[side] = value->of[side] = sum / n;
		test.chance[side] = chance / n;
		test.spread[side] = n > 1 ? fmax(0, squares - sum * sum / n) / (n - 1) : 0;
	}
	return test;
}

/* --- noise between recordings ------------------------------------------------------------------------ */

/* What of a value noise moves: a share of nearly all can only move a little. */
static double test_moves(const struct tests *t, double mean)
{
	return t->d->mode == DIFF_SHARE ? mean * (1 - mean) : mean;
}

/* The noise of a side, relative: each method's own estimate, weighed by how well it can tell. */
static double test_noise(const struct tests *t, int kind, int side)
{
	double sum = 0, weights = 0;

	for (uint32_t i = 0; i < t->count; i++) {
		const struct test *test = &t->list[kind][i];
		double square = pow(test_moves(t, test->mean[side]), 2), relative, weight;

		if (test->value->samples[DIFF_A] + test->value->samples[DIFF_B] < FEW ||
			square <= 0)
			continue;
		relative = test->chance[side] / square;
		weight = 1 / pow(relative + DIFF_NOISE * DIFF_NOISE, 2);
		sum += weight * (test->spread[side] / square - relative);
		weights += weight;
	}
	return weights > 0 ? sqrt(fmax(0, sum / weights)) : DIFF_NOISE;
}

/* The variance of one recording, by what is known of all methods. */
static double test_prior(const struct tests *t, int kind, int side, const struct test *test)
{
	double moves = test_moves(t, test->mean[side]) * t->noise[kind][side];

	return test->chance[side] + moves * moves;
}

/* The second derivative of the logarithm of the gamma function. */
static double trigamma(double x)
{
	double sum = 0;

	for (; x < 6; x++)
		sum += 1 / (x * x);
	return sum + 1 / x + 1 / (2 * x * x) + 1 / (6 * x * x * x) - 1 / (30 * pow(x, 5));
}

/* What is left of the variance of logarithms is that of methods being noisier than others. */
static double prior_of(double left)
{
	double low = PRIOR_LEAST, high = PRIOR_MOST;

	while (high - low > 0.1) {
		double middle = (low + high) / 2;

		if (trigamma(middle / 2) > left)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* How alike methods are in their noise. */
static double test_alike(const struct tests *t, int kind)
{
	double sum = 0, squares = 0, chance = 0, x;
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->count; i++) {
		const struct test *test = &t->list[kind][i];

		for (int side = 0; side < DIFF_SIDES; side++) {
			int runs = t->q->counts[side];

			if (runs < 2 || test->value->samples[side] < FEW * (unsigned)runs)
				continue;
			x = log(fmax(1e-4, test->spread[side] / test_prior(t, kind, side, test)));
			sum += x;
			squares += x * x;
			chance += trigamma((runs - 1) / 2.0);
			n++;
		}
	}
	return n < 2 ? PRIOR_MOST : prior_of((squares - sum * sum / n) / (n - 1) - chance / n);
}

static void test_noises(struct tests *t)
{
	for (int kind = 0; kind < TEST_KINDS; kind++) {
		double *noise = t->noise[kind];

		noise[DIFF_A] = noise[DIFF_B] = DIFF_NOISE;
		for (int side = 0; side < DIFF_SIDES; side++)
			if (t->q->counts[side] > 1)
				noise[side] = test_noise(t, kind, side);
		/* One recording is taken to be as noisy as those of the other side are. */
		for (int side = 0; side < DIFF_SIDES; side++)
			if (t->q->counts[side] == 1 && t->q->counts[!side] > 1)
				noise[side] = noise[!side];
		t->prior[kind] = test_alike(t, kind);
	}
}

/* --- each difference --------------------------------------------------------------------------------- */

/* Student's t as standard errors that are as unlikely (Wallace, 1959), and back. */
static double z_of_t(double t, double n)
{
	return n >= SURE_N ? t : (8 * n + 1) / (8 * n + 3) * sqrt(n * log1p(t * t / n));
}

static double t_of_z(double z, double n)
{
	double x = z * (8 * n + 3) / (8 * n + 1);

	return n >= SURE_N ? z : sqrt(n * expm1(x * x / n));
}

static void test_decide(const struct tests *t, int kind, struct test *test)
{
	double variance = 0, below = 0, n;

	for (int side = 0; side < DIFF_SIDES; side++) {
		int runs = t->q->counts[side];
		double prior = test_prior(t, kind, side, test);
		double own = (t->prior[kind] * prior + (runs - 1) * test->spread[side]) /
			     (t->prior[kind] + runs - 1);
		double v = fmax(own, test->chance[side]) / runs;

		variance += v;
		below += v * v / (t->prior[kind] + runs - 1);
	}
	/* With one recording a side nothing is estimated, so nothing is uncertain about it. */
	n = t->q->counts[DIFF_A] + t->q->counts[DIFF_B] == 2 || below <= 0
		    ? SURE_N
		    : variance * variance / below;
	test->value->error = t_of_z(Z95, n) * sqrt(variance);
	test->z = variance > 0 ? z_of_t(fabs(diff_delta(test->value)) / sqrt(variance), n) : 0;
	test->value->p = erfc(test->z / M_SQRT2);
}

/* --- all of them together ---------------------------------------------------------------------------- */

static int compare_z(const void *a, const void *b)
{
	double x = (*(const struct test *const *)a)->z, y = (*(const struct test *const *)b)->z;

	return x > y ? -1 : x < y;
}

/*
 * Methods that are only ever called by one another have the same numbers, and are one question: as unlikely to the last
 * bit.
 */
static uint32_t test_questions(struct test **sorted, uint32_t count)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < count; i++)
		n += !i || sorted[i]->z != sorted[i - 1]->z;
	return n;
}

/* The p of each becomes the least level at which it were told; what a later one has, one before has, too. */
static void test_correct(struct test **sorted, uint32_t count, uint32_t questions)
{
	uint32_t rank = questions;
	double least = 1;

	for (uint32_t i = count; i-- > 0;) {
		struct diff_value *v = sorted[i]->value;

		least = fmin(least, v->p * questions / rank);
		v->p = least;
		v->sure = least < DIFF_LEVEL;
		rank -= i && sorted[i]->z != sorted[i - 1]->z;
	}
}

/* From how many standard errors on a difference is sure, of as many questions as have an answer already. */
static double test_limit(struct test **sorted, uint32_t count, uint32_t questions)
{
	uint32_t sure = 0;
	double low = Z95, high = 10;

	while (sure < count && sorted[sure]->value->sure)
		sure++;
	sure = test_questions(sorted, sure);
	while (high - low > 1e-3) {
		double middle = (low + high) / 2;

		if (erfc(middle / M_SQRT2) * questions > DIFF_LEVEL * (sure ? sure : 1))
			low = middle;
		else
			high = middle;
	}
	return high;
}

static void test_all(struct tests *t, struct test *all)
{
	struct test **sorted =
		xreallocarray(NULL, TEST_KINDS * (size_t)t->count + 1, sizeof(*sorted));
	uint32_t n = 0, questions;

	test_decide(t, TEST_TOTAL, all);
	sorted[n++] = all;
	for (int kind = 0; kind < TEST_KINDS; kind++) {
		for (uint32_t i = 0; i < t->count; i++) {
			struct test *test = &t->list[kind][i];

			test_decide(t, kind, test);
			if (test->value->samples[DIFF_A] + test->value->samples[DIFF_B] >= FEW)
				sorted[n++] = test;
			else
				test->value->p = 1;
		}
	}
	qsort(sorted, n, sizeof(*sorted), compare_z);
	questions = test_questions(sorted, n);
	test_correct(sorted, n, questions);
	t->d->limit = test_limit(sorted, n, questions);
	free(sorted);
}

static void test_rows(struct tests *t)
{
	struct diff *d = t->d;
	uint32_t methods = profile_method_count(d->both);

	d->rows = xcalloc(methods + 1, sizeof(*d->rows));
	for (int kind = 0; kind < TEST_KINDS; kind++)
		t->list[kind] = xreallocarray(NULL, methods + 1, sizeof(*t->list[kind]));
	for (uint32_t method = 0; method < methods; method++) {
		struct diff_row *row = &d->rows[d->count];

		row->method = method;
		t->list[TEST_SELF][d->count] = test_take(t, TEST_SELF, method, &row->self);
		t->list[TEST_TOTAL][d->count] = test_take(t, TEST_TOTAL, method, &row->total);
		if (row->total.of[DIFF_A] > 0 || row->total.of[DIFF_B] > 0)
			d->count++;
	}
	t->count = d->count;
}

void diff_test(
	struct diff *d, const struct diff_question *q, struct diff_merged *merged[DIFF_SIDES])
{
	struct tests t = {.d = d, .q = q, .merged = merged};
	struct test all;

	test_rows(&t);
	test_noises(&t);
	all = test_take(&t, TEST_TOTAL, PROFILE_NONE, &d->all);
	test_all(&t, &all);
	d->noise = fmax(t.noise[TEST_TOTAL][DIFF_A], t.noise[TEST_TOTAL][DIFF_B]);
	for (int kind = 0; kind < TEST_KINDS; kind++)
		free(t.list[kind]);
}
