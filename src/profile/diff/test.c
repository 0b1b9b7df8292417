/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is more than chance. A difference stands beside its variance, which has two parts: that of sampling, which the
 * clusters of the samples tell, and how much recordings of one side differ beside it. The latter is estimated from all
 * methods together, as a share of what each has, and then for each method anew from both: from that and from what the
 * recordings say of this method (Smyth, 2004). Of as many differences as are asked for some are large by chance. How
 * large, the recordings themselves tell when they are dealt to the sides in other ways (splits.c); where there are too
 * few for that, the probabilities are corrected (Benjamini and Hochberg, 1995).
 */
#include "profile/diff/inside.h"

#include "base/buf.h"

#include <math.h>
#include <stdlib.h>

#define FEW         16u /* samples of both sides: fewer can never differ surely among so many */
#define PRIOR_LEAST 2.0
#define PRIOR_MOST \
	24.0 /* noise that all methods have together is not told better by more of them */
#define WEIGHT_LEAST 1e-6
#define SURE_N       60.0 /* degrees of freedom that are as good as any number */

enum test_kind { TEST_SELF, TEST_TOTAL, TEST_KINDS };

/* What one recording has of a method, in the mode's unit, and the variance that sampling gives it. */
struct measure {
	double value, variance;
	uint64_t samples;
};

/* One difference that is asked for. */
struct test {
	struct diff_value *value;
	size_t measures;       /* where those of its recordings begin */
	uint64_t samples_both; /* whatever the sides are */
	/* Of the sides as they are dealt: variances are those of one recording. */
	double mean[DIFF_SIDES], chance[DIFF_SIDES], spread[DIFF_SIDES];
	uint64_t samples[DIFF_SIDES];
	double z, n;   /* standard errors, degrees of freedom */
	double weight; /* by how much of all it is about */
	double score;  /* of the sides as they are dealt */
};

struct tests {
	struct diff *d;
	const struct diff_question *q;
	struct diff_merged *const *merged;
	int runs;                  /* of both sides together */
	const unsigned char *side; /* of each of them, those of A first */
	struct measure *measures;
	size_t measure_count, measure_cap;
	struct test *list[TEST_KINDS], all;
	uint32_t count;
	double noise[TEST_KINDS][DIFF_SIDES];
	double prior
		[TEST_KINDS]; /* as many degrees of freedom that estimate is worth to one method */
	struct test **sorted; /* those with enough samples, the surest first */
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

static struct test test_take(struct tests *t, int kind, uint32_t method, struct diff_value *value)
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

/* What the sides have of it, as they are dealt. */
static void test_deal(const struct tests *t, struct test *test)
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

		if (test->samples_both < FEW || square <= 0)
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

			if (runs < 2 || test->samples[side] < FEW * (unsigned)runs)
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
	/* With one recording a side nothing is estimated, so nothing is uncertain about it. */
	test->n = t->runs == DIFF_SIDES || below <= 0 ? SURE_N : variance * variance / below;
	return variance;
}

/*
 * What is allowed to chance is shared out by how much of all a method has: a difference in a tenth of the time is told
 * earlier than one as unlikely in a thousandth of it, of which there are many more. In terms of the logarithm of p.
 */
static double test_weigh(double share)
{
	return 2 * log(share);
}

static void test_decide(const struct tests *t, int kind, struct test *test)
{
	double variance = test_variance(t, kind, test);
	double delta = fabs(test->mean[DIFF_B] - test->mean[DIFF_A]);

	test->z = variance > 0 ? z_of_t(delta / sqrt(variance), test->n) : 0;
	test->score = test->z * test->z + test_weigh(test->weight);
}

static void test_tell(const struct tests *t, int kind, struct test *test)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		test->value->of[side] = test->mean[side];
		test->value->samples[side] = test->samples[side];
	}
	test->value->error = t_of_z(Z95, test->n) * sqrt(test_variance(t, kind, test));
	test->value->p = test->samples_both >= FEW ? erfc(test->z / M_SQRT2) : 1;
}

/* All of them, with the recordings dealt to these sides. */
static void test_sides(struct tests *t, const unsigned char *side)
{
	t->side = side;
	test_deal(t, &t->all);
	for (int kind = 0; kind < TEST_KINDS; kind++)
		for (uint32_t i = 0; i < t->count; i++)
			test_deal(t, &t->list[kind][i]);
	test_noises(t);
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

/*
 * Methods that are only ever called by one another have the same numbers, and are one question: as unlikely to the last
 * bit. The first of each.
 */
static bool test_is_first(const struct tests *t, uint32_t i)
{
	return !i || t->sorted[i]->score != t->sorted[i - 1]->score;
}

/* So many questions, and the mean of their weights. */
static uint32_t test_questions(const struct tests *t, double *weight)
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

/* The p of each becomes the least level at which it were told; what a later one has, one before has, too. */
static uint32_t test_correct(struct tests *t, uint32_t questions, double weight)
{
	uint32_t rank = questions, sure = 0;
	double least = 1;

	for (uint32_t i = t->sorted_count; i-- > 0;) {
		struct diff_value *v = t->sorted[i]->value;

		least = fmin(least, v->p * questions / rank * weight / t->sorted[i]->weight);
		v->p = least;
		v->sure = least < DIFF_LEVEL;
		sure += v->sure && test_is_first(t, i);
		rank -= test_is_first(t, i);
	}
	return sure;
}

/* From how many standard errors on p is so small. */
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

static void test_by_numbers(struct tests *t)
{
	double weight;
	uint32_t questions = test_questions(t, &weight);
	uint32_t sure = test_correct(t, questions, weight);

	t->d->limit = test_limit(DIFF_LEVEL * (sure ? sure : 1) / questions * DIFF_SMALL / weight);
}

static void test_score(void *ctx, const unsigned char *side, double *scores)
{
	struct tests *t = ctx;

	test_sides(t, side);
	for (uint32_t i = 0; i < t->sorted_count; i++)
		scores[i] = t->sorted[i]->score;
}

/* By what other ways to deal the recordings give; false: there are too few. */
static bool test_by_splits(struct tests *t)
{
	struct splits s = {.count = t->sorted_count, .score = test_score, .ctx = t};
	double *p = xreallocarray(NULL, (size_t)t->sorted_count + 1, sizeof(*p)), limit;
	bool told;

	s.runs[DIFF_A] = t->q->counts[DIFF_A];
	s.runs[DIFF_B] = t->q->counts[DIFF_B];
	told = !splits_p(&s, p, &limit);
	for (uint32_t i = 0; told && i < t->sorted_count; i++) {
		t->sorted[i]->value->p = p[i];
		t->sorted[i]->value->sure = p[i] < DIFF_LEVEL;
	}
	if (told)
		t->d->limit = sqrt(fmax(Z95 * Z95, limit - test_weigh(DIFF_SMALL)));
	free(p);
	return told;
}

static void test_all(struct tests *t)
{
	unsigned char *side = xcalloc((size_t)t->runs, 1);

	for (int run = t->q->counts[DIFF_A]; run < t->runs; run++)
		side[run] = DIFF_B;
	test_sides(t, side);
	t->d->noise = fmax(t->noise[TEST_TOTAL][DIFF_A], t->noise[TEST_TOTAL][DIFF_B]);
	t->sorted = xreallocarray(NULL, TEST_KINDS * (size_t)t->count + 1, sizeof(*t->sorted));
	test_tell(t, TEST_TOTAL, &t->all);
	t->sorted[t->sorted_count++] = &t->all;
	for (int kind = 0; kind < TEST_KINDS; kind++)
		for (uint32_t i = 0; i < t->count; i++) {
			struct test *test = &t->list[kind][i];

			test_tell(t, kind, test);
			if (test->samples_both >= FEW)
				t->sorted[t->sorted_count++] = test;
		}
	qsort(t->sorted, t->sorted_count, sizeof(*t->sorted), compare_scores);
	if (!test_by_splits(t))
		test_by_numbers(t);
	free(t->sorted);
	free(side);
}

static void test_rows(struct tests *t)
{
	struct diff *d = t->d;
	uint32_t methods = profile_method_count(d->both);
	size_t begin;

	d->rows = xcalloc(methods + 1, sizeof(*d->rows));
	for (int kind = 0; kind < TEST_KINDS; kind++)
		t->list[kind] = xreallocarray(NULL, methods + 1, sizeof(*t->list[kind]));
	for (uint32_t method = 0; method < methods; method++) {
		struct diff_row *row = &d->rows[d->count];

		row->method = method;
		begin = t->measure_count;
		t->list[TEST_SELF][d->count] = test_take(t, TEST_SELF, method, &row->self);
		t->list[TEST_TOTAL][d->count] = test_take(t, TEST_TOTAL, method, &row->total);
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

/* Whatever the sides are: so they say nothing of what is to be found. */
static void test_weights(struct tests *t)
{
	double all = test_value(t, &t->all);

	t->all.weight = 1;
	for (int kind = 0; kind < TEST_KINDS; kind++)
		for (uint32_t i = 0; i < t->count; i++) {
			struct test *test = &t->list[kind][i];

			test->weight = fmax(all > 0 ? test_value(t, test) / all : 0, WEIGHT_LEAST);
		}
}

void diff_test(
	struct diff *d, const struct diff_question *q, struct diff_merged *merged[DIFF_SIDES])
{
	struct tests t = {
		.d = d, .q = q, .merged = merged, .runs = q->counts[DIFF_A] + q->counts[DIFF_B]};

	test_rows(&t);
	t.all = test_take(&t, TEST_TOTAL, PROFILE_NONE, &d->all);
	test_weights(&t);
	test_all(&t);
	for (int kind = 0; kind < TEST_KINDS; kind++)
		free(t.list[kind]);
	free(t.measures);
}
