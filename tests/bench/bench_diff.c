/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rates of false and true reports of a comparison: recordings drawn from a real profile's stacks, 60 s at 100 samples
 * per second, with noise between them.
 *
 *    bench_diff RECORDING [TIMES]
 */
#include "recording/recording.h"
#include "tests/profile/draws.h"

#include <stdio.h>

static const char *const slow[] = {"org.h2.expression.aggregate.Aggregate.updateAggregate",
	"org.h2.expression.ExpressionColumn.getValue", "org.h2.mvstore.Page.binarySearch",
	"org.h2.mvstore.tx.TransactionMap$CommittedIterator.fetchNext",
	"org.h2.mvstore.cache.CacheLongKeyLIRS$Segment.find", "java.util.HashMap.getNode"};

static const struct {
	const char *name;
	double noise, common;
	bool uneven;
} noises[] = {
	{"none but of sampling", 0, 0, false},
	{"2 %, all together 1 %", 0.02, 0.01, false},
	{"3 %, all together 2 %", 0.03, 0.02, false},
	{"1, 3 or 9 %, by method", 0.03, 0.01, true},
};

static const int sides[] = {1, 2, 3, 5, 10};

static uint64_t seed;

static void quiet(struct draws *d, int times)
{
	printf("of %d comparisons of a program with itself, number that reported a difference:\n",
		times);
	printf("%-26s", "noise between recordings");
	for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++)
		printf("  %2d a side: rate share", sides[i]);
	putchar('\n');
	for (size_t k = 0; k < sizeof(noises) / sizeof(noises[0]); k++) {
		printf("%-26s", noises[k].name);
		for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++) {
			printf("            ");
			for (enum diff_mode mode = DIFF_RATE; mode <= DIFF_SHARE; mode++) {
				struct draws_how how = {6000, noises[k].noise, noises[k].common,
					noises[k].uneven, {sides[i], sides[i]}, 1, mode};
				int told = 0;

				d->rng = ++seed << 40;
				for (int n = 0; n < times; n++) {
					struct diff *diff = draws_diff(d, &how);

					told += draws_reported(diff) > 0;
					diff_free(diff);
				}
				printf("  %4d", told);
				fflush(stdout);
			}
		}
		putchar('\n');
	}
}

static void found(struct draws *d, int times)
{
	printf("\nof %d comparisons with a method 10 %% slower on one side, 5 a side, number that "
	       "reported it:\n",
		times);
	printf("%-58s %6s", "", "total");
	for (size_t k = 0; k < sizeof(noises) / sizeof(noises[0]); k++)
		printf("  %22s", noises[k].name);
	putchar('\n');
	for (size_t i = 0; i < sizeof(slow) / sizeof(slow[0]); i++) {
		double share = draws_mark(d, slow[i]);

		printf("%-58s %4.1f %%", slow[i], 100 * share);
		for (size_t k = 0; k < sizeof(noises) / sizeof(noises[0]); k++) {
			struct draws_how how = {6000, noises[k].noise, noises[k].common,
				noises[k].uneven, {5, 5}, 1.1, DIFF_RATE};
			int told = 0;

			d->rng = ++seed << 40;
			for (int n = 0; n < times; n++) {
				struct diff *diff = draws_diff(d, &how);

				told += draws_found(diff, slow[i]);
				diff_free(diff);
			}
			printf("  %22d", told);
			fflush(stdout);
		}
		putchar('\n');
	}
}

/* Upper bound of any test: of this method only, at one false alarm in 20, with all variances known. */
static double best_power(double share, double noise, double common)
{
	const double runs = 5, samples = 6000 * runs * share, more = 0.1;
	double variance = (1 + (1 + more)) / samples +
			  (1 + (1 + more) * (1 + more)) * (noise * noise + common * common) / runs;

	return 0.5 * erfc((1.96 - more / sqrt(variance)) / M_SQRT2);
}

static void best(void)
{
	static const double shares[] = {0.4, 0.2, 0.1, 0.05, 0.02};

	printf("\nof 100 the best possible test tells, of a method that is asked for alone, "
	       "itself\n");
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		printf("%-58s %4.1f %%", "", 100 * shares[i]);
		for (size_t k = 0; k < sizeof(noises) / sizeof(noises[0]); k++)
			printf("  %22.0f",
				100 * best_power(shares[i], noises[k].noise, noises[k].common));
		putchar('\n');
	}
}

int main(int argc, char **argv)
{
	struct profile *population = profile_new();
	struct err err = {0};
	struct recording *r = argc > 1 ? recording_open(argv[1], population, &err) : NULL;
	int times = argc > 2 ? atoi(argv[2]) : 100;
	struct draws d;

	if (!r || recording_read(r, UINT32_MAX, &err) < 0) {
		fprintf(stderr, "%s\n", argc > 1 ? err.what : "bench_diff RECORDING [TIMES]");
		return 1;
	}
	draws_init(&d, population);
	quiet(&d, times);
	found(&d, times);
	best();
	draws_done(&d);
	recording_free(r);
	profile_free(population);
	return 0;
}
