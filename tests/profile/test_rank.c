/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank: a steady load must give a steady order. Counts how many of the top 16 rows change per refresh, out of 200
 * methods, against plain sorting of the same numbers.
 */
#include "profile/table/rank.h"

#include "tests/tap.h"

#include <math.h>
#include <string.h>

#define METHODS   200
#define TOP       16
#define WINDOW    10
#define REFRESHES 400

static uint64_t state = 88172645463325252ull;

static double unit(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (double)(state >> 11) / 9007199254740992.0;
}

static int poisson(double mean)
{
	double limit = exp(-mean), product = unit();
	int n = 0;

	for (; product > limit; n++)
		product *= unit();
	return n;
}

/* Shares as in real profiles: 1 / (rank + 2). */
static void second(int counts[METHODS], double rate)
{
	double sum = 0;

	for (int i = 0; i < METHODS; i++)
		sum += 1.0 / (i + 2);
	for (int i = 0; i < METHODS; i++)
		counts[i] = poisson(rate / (i + 2) / sum);
}

static double churn(double rate, bool plain)
{
	static int history[WINDOW][METHODS];
	struct rank_item items[METHODS];
	struct rank r = {0};
	uint32_t last[TOP], moved = 0, n;

	for (int t = 0; t < REFRESHES; t++) {
		n = 0;
		second(history[t % WINDOW], rate);
		for (uint32_t i = 0; i < METHODS; i++) {
			uint64_t sum = 0;

			for (int k = 0; k < WINDOW; k++)
				sum += (uint64_t)history[k][i];
			if (sum)
				items[n++] = (struct rank_item){i, sum, (double)sum, 0};
		}
		rank_update(&r, items, n, plain || !t ? RANK_SORT : RANK_STABLE);
		for (int i = 0; i < TOP; i++) {
			moved += t > WINDOW && items[i].id != last[i];
			last[i] = items[i].id;
		}
	}
	rank_done(&r);
	return (double)moved / (REFRESHES - WINDOW - 1);
}

static void test_churn(void)
{
	static const struct {
		double rate, most;
	} rows[] = {{30, 1.2}, {100, 1.2}, {400, 1.2}};

	for (int i = 0; i < 3; i++) {
		double plain = churn(rows[i].rate, true), calm = churn(rows[i].rate, false);

		ok(calm < rows[i].most && calm < plain / 3,
			"%.0f samples/s: %.1f of 16 rows change per refresh, %.1f with plain "
			"sorting",
			rows[i].rate, calm, plain);
	}
}

static bool order_is(const struct rank_item *items, uint32_t n, const char *ids)
{
	for (uint32_t i = 0; i < n; i++) {
		if (items[i].id != (uint32_t)ids[i])
			return false;
	}
	return true;
}

static void update(struct rank *r, const char *ids, const int *counts, enum rank_how how,
	struct rank_item *items)
{
	for (uint32_t i = 0; ids[i]; i++)
		items[i] = (struct rank_item){(uint32_t)ids[i], (uint64_t)counts[i], counts[i], 0};
	rank_update(r, items, (uint32_t)strlen(ids), how);
}

static void test_rules(void)
{
	struct rank_item it[8];
	struct rank r = {0};

	update(&r, "abc", (int[]){100, 90, 50}, RANK_SORT, it);
	ok(order_is(it, 3, "abc"), "a sort is by value");
	update(&r, "abc", (int[]){100, 112, 50}, RANK_STABLE, it);
	ok(order_is(it, 3, "abc"), "a lead of 12 of 212 samples is noise and changes nothing");
	update(&r, "abc", (int[]){100, 116, 50}, RANK_STABLE, it);
	ok(order_is(it, 3, "bac"), "a lead of 16 of 216 samples changes the order");
	update(&r, "abc", (int[]){100, 116, 900}, RANK_FROZEN, it);
	ok(order_is(it, 3, "bac"), "while frozen, the order does not change");
	update(&r, "abc", (int[]){100, 116, 900}, RANK_STABLE, it);
	ok(order_is(it, 3, "cba"), "a row with a clear lead passes all others");
	update(&r, "abcdx", (int[]){100, 116, 900, 7, 105}, RANK_STABLE, it);
	ok(order_is(it, 5, "cbaxd"),
		"new rows enter from below and stop below those that they do not lead");
	update(&r, "abcx", (int[]){100, 116, 900, 105}, RANK_STABLE, it);
	ok(order_is(it, 4, "cbax"), "when a row vanishes the others keep their order");
	update(&r, "abcx", (int[]){100, 116, 900, 105}, RANK_SORT, it);
	ok(order_is(it, 4, "cbxa"), "a second sort is by value");
	update(&r, "ba", (int[]){10, 10}, RANK_SORT, it);
	ok(order_is(it, 2, "ab"), "ties are broken by id");
	update(&r, "ab", (int[]){0, 5}, RANK_STABLE, it);
	ok(order_is(it, 2, "ab"), "0 against 5 samples is noise");
	update(&r, "ab", (int[]){0, 9}, RANK_STABLE, it);
	ok(order_is(it, 2, "ba"), "0 against 9 samples is a lead");
	update(&r, "", NULL, RANK_STABLE, it);
	update(&r, "ab", (int[]){20, 30}, RANK_STABLE, it);
	ok(order_is(it, 2, "ba"), "after an empty list the order is fresh");
	rank_done(&r);
}

static void test_doubled(void)
{
	struct rank_item it[8];
	struct rank r = {0};

	update(&r, "ab", (int[]){3, 2}, RANK_SORT, it);
	update(&r, "ab", (int[]){4, 5}, RANK_STABLE, it);
	ok(order_is(it, 2, "ab"), "9 samples after 5: the order is kept, as the lead is noise");
	update(&r, "ab", (int[]){4, 6}, RANK_FROZEN, it);
	ok(order_is(it, 2, "ab"), "10 samples after 5: a frozen order is kept");
	update(&r, "ab", (int[]){4, 6}, RANK_STABLE, it);
	ok(order_is(it, 2, "ba"), "10 samples after 5: sorted plainly");
	update(&r, "ab", (int[]){10, 9}, RANK_STABLE, it);
	ok(order_is(it, 2, "ba"), "19 samples after 10: the order is kept");
	rank_done(&r);
}

static void test_other_units(void)
{
	struct rank_item it[2] = {{1, 100, 1e9, 0}, {2, 112, 1.12e9, 0}};
	struct rank r = {0};

	rank_update(&r, (struct rank_item[]){{1, 120, 120, 0}, {2, 110, 110, 0}}, 2, RANK_SORT);
	rank_update(&r, it, 2, RANK_STABLE);
	is_int(it[0].id, 1,
		"noise is scaled to the key's unit: a lead of 12 samples of 10 ms over 100 is "
		"noise");
	it[1] = (struct rank_item){2, 140, 1.40e9, 0};
	rank_update(&r, it, 2, RANK_STABLE);
	is_int(it[0].id, 2, "a lead of 40 samples of 10 ms over 100 is not noise");
	rank_done(&r);
}

/* --- the whole list ---------------------------------------------------------------------------------- */

#define DRAWN 300

/* The additional tolerance for rows of few samples: half a standard error below 10 samples, none from 40 on. */
static double tolerance(double samples)
{
	return 0.5 * fmin(fmax((40 - samples) / 30, 0), 1) * sqrt(samples + 1);
}

/* Pairs of rows, adjacent or not, of which the lower leads by more than the noise of both. */
static int out_of_order(const struct rank_item *it, uint32_t n, double unit)
{
	int pairs = 0;

	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = i + 1; k < n; k++) {
			double a = it[i].key / unit, b = it[k].key / unit;

			pairs += b - a > sqrt(a + b + 12) + tolerance(a) + tolerance(b);
		}
	}
	return pairs;
}

/* Neighbours too close to each other to swap, and ends far apart. */
static void test_slope(void)
{
	static struct rank_item it[DRAWN];
	struct rank r = {0};
	int last = -1, row = -1;

	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 21; i++) {
			uint64_t count = round ? 50 + 5 * i : 150 - 5 * i;

			it[i] = (struct rank_item){i, count, (double)count, 0};
		}
		rank_update(&r, it, 21, round ? RANK_STABLE : RANK_SORT);
	}
	is_int(out_of_order(it, 21, 1), 0, "50, 55, ... 150: no row is below one that it leads");
	for (int i = 0; i < 21; i++) {
		row = it[i].id == 20 ? i : row;
		last = it[i].id == 0 ? i : last;
	}
	ok(row < last, "50, 55, ... 150: 150 is above 50");
	rank_done(&r);
}

/* Tables that drift, in which rows appear and vanish: all pairs are checked after each update. */
static void test_drawn(const char *what, bool weights)
{
	static struct rank_item it[DRAWN], before[DRAWN];
	static double mean[DRAWN];
	int wrong = 0, stayed = 0, moved = 0;

	for (int table = 0; table < 40; table++) {
		struct rank r = {0};
		uint32_t rows = 2 + (uint32_t)(unit() * (DRAWN - 2)), n, last = 0;

		for (uint32_t i = 0; i < rows; i++)
			mean[i] = pow(10, 3 * unit() - 0.5);
		for (int t = 0; t < 30; t++) {
			double keys = 0, samples = 0;

			n = 0;
			for (uint32_t i = 0; i < rows; i++) {
				int count = poisson(mean[i]);
				double each = weights ? pow(10, (i % 5) - 2.0) * (0.5 + unit()) : 1;

				mean[i] *= unit() < 0.02 ? pow(10, unit() - 0.5)
							 : 0.97 + 0.06 * unit();
				mean[i] = fmin(mean[i], 500);
				if (!count)
					continue;
				it[n++] = (struct rank_item){i, (uint64_t)count, count * each, 0};
				keys += count * each;
				samples += count;
			}
			rank_update(&r, it, n, RANK_STABLE);
			wrong += out_of_order(it, n, keys / samples);
			for (uint32_t i = 0; i < n && i < last; i++)
				*(it[i].id == before[i].id ? &stayed : &moved) += 1;
			last = n;
			memcpy(before, it, sizeof(before));
		}
		rank_done(&r);
	}
	ok(!wrong, "%s: in 1,200 random tables %d rows are below one that they lead", what, wrong);
	ok(stayed > 0 && moved > 0, "%s: %d rows kept their place, %d did not", what, stayed,
		moved);
}

/* A long list is reversed, as after a freeze: it is sorted rather than moved row by row. */
static void test_reversed(void)
{
	enum { ROWS = 3000 };
	static struct rank_item it[ROWS];
	struct rank r = {0};
	bool right = true;

	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < ROWS; i++) {
			uint64_t count = round ? i * 100000u : (ROWS - i) * 100000u;

			/* the last two are so small that they would keep their places */
			it[i] = (struct rank_item){i, i < 2 && round ? i + 1 : count, 0, 0};
			it[i].key = (double)it[i].count;
		}
		rank_update(&r, it, ROWS, RANK_STABLE);
	}
	for (uint32_t i = 0; i < ROWS; i++)
		right &= it[i].id == ROWS - 1 - i;
	ok(right, "a long reversed list is sorted afresh");
	rank_done(&r);
}

int main(void)
{
	test_rules();
	test_doubled();
	test_other_units();
	test_slope();
	test_drawn("samples", false);
	test_drawn("weights", true);
	test_reversed();
	test_churn();
	return tap_done();
}
