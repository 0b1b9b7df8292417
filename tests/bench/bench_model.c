/* SPDX-License-Identifier: Apache-2.0 */
/* Bench: what a refresh of the tables costs, in ms, by distinct stacks. `make bench-model`; median of 7 runs. */
#include "base/clock.h"
#include "export/export.h"
#include "profile/table/calltree.h"
#include "profile/table/flat.h"
#include "tests/profile/feed.h"

#define RUNS 7

struct bench {
	struct profile *p;
	struct profile_query q;
	struct calltree_options o;
	const char *path; /* its suffix is the format */
	uint32_t out;     /* rows, nodes or bytes of the last run */
};

static void run_flat(struct bench *b)
{
	struct flat *f = flat_new(b->p, &b->q);

	b->out = f->count;
	flat_free(f);
}

static void run_tree(struct bench *b)
{
	struct calltree *t = calltree_new(b->p, &b->q, &b->o);

	b->out = t->count;
	calltree_free(t);
}

static void run_each_add(void *ctx, const struct profile_part *part)
{
	(*(uint32_t *)ctx)++;
}

static void run_each(struct bench *b)
{
	b->out = 0;
	profile_each(b->p, &b->q, run_each_add, &b->out);
}

static void run_export(struct bench *b)
{
	struct export_options o = {.query = b->q, .meta = {.name = "bench", .pid = 1}};
	struct buf out = {0};

	export_format_by_path(b->path)->write(&out, b->p, &o);
	b->out = (uint32_t)out.len;
	buf_done(&out);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median_ms(void (*run)(struct bench *), struct bench *b)
{
	double ms[RUNS];
	uint64_t start;

	for (int i = 0; i < RUNS; i++) {
		start = clock_mono_ns();
		run(b);
		ms[i] = (double)(clock_mono_ns() - start) / NS_PER_MS;
	}
	qsort(ms, RUNS, sizeof(*ms), compare);
	return ms[RUNS / 2];
}

static const struct row {
	const char *what;
	void (*run)(struct bench *);
	bool all, inverted, threads;
	double min_share;
	const char *path;
} rows[] = {
	{.what = "stacks, 10 s", .run = run_each},
	{.what = "flat, 10 s", .run = run_flat},
	{.what = "tree, 10 s", .run = run_tree},
	{.what = "tree by thread, 10 s", .run = run_tree, .threads = true},
	{.what = "inverted, 10 s", .run = run_tree, .inverted = true},
	{.what = "inverted >= 0.05 %, 10 s",
		.run = run_tree,
		.inverted = true,
		.min_share = 0.0005},
	{.what = "stacks, all", .run = run_each, .all = true},
	{.what = "flat, all", .run = run_flat, .all = true},
	{.what = "tree, all", .run = run_tree, .all = true},
	{.what = "tree >= 0.05 %, all", .run = run_tree, .all = true, .min_share = 0.0005},
	{.what = "tree >= 0.5 %, all", .run = run_tree, .all = true, .min_share = 0.005},
	{.what = "the same by thread",
		.run = run_tree,
		.all = true,
		.threads = true,
		.min_share = 0.005},
	{.what = "inverted >= 0.05 %, all",
		.run = run_tree,
		.all = true,
		.inverted = true,
		.min_share = 0.0005},
	{.what = "a.collapsed (bytes), all", .run = run_export, .all = true, .path = "a.collapsed"},
	{.what = "a.svg (bytes), all", .run = run_export, .all = true, .path = "a.svg"},
};

static void bench_stacks(uint32_t stacks)
{
	struct bench b = {.p = profile_new()};
	struct profile_info info;
	struct feed f;
	uint64_t start = clock_mono_ns();

	feed_init(&f, b.p,
		&(struct feed_options){
			.stacks = stacks, .methods = 4000, .depth = 40, .rate = 400});
	feed_all(&f, 1);
	for (uint32_t s = 2; s < 60; s++)
		feed_second(&f, s);
	info = profile_info(b.p);
	printf("%u stacks: %u trie nodes, %.1f MB, fed in %.0f ms\n", stacks, info.stacks,
		(double)info.bytes / 1048576, (double)(clock_mono_ns() - start) / NS_PER_MS);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		b.q = (struct profile_query){.from = rows[i].all ? 0 : 50,
			.to = rows[i].all ? UINT32_MAX : 60,
			.thread = PROFILE_ANY_THREAD};
		b.path = rows[i].path;
		b.o = (struct calltree_options){.inverted = rows[i].inverted,
			.threads = rows[i].threads,
			.root_method = PROFILE_NONE,
			.min_share = rows[i].min_share};
		printf("  %-28s %8.2f ms", rows[i].what, median_ms(rows[i].run, &b));
		printf("  %8u rows\n", b.out);
	}
	feed_done(&f);
	profile_free(b.p);
}

int main(void)
{
	bench_stacks(1000);
	bench_stacks(10000);
	bench_stacks(100000);
	return 0;
}
