/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cost of the live view by size: stacks, threads, ten minutes or a day of a program (tests/session/day.h). CPU time
 * in ms of a refresh with its longest slice, and the longest time that a key may delay the next one (limit: 16 ms at
 * 100,000 stacks); bytes per refresh on a terminal of 80x24. `make bench ROWS=live`
 *
 *    bench_scale [HOURS_OF_THE_DAY [MAX_STACKS]]      HOURS 0: no day
 */
#include "tests/session/day.h"
#include "tests/tui/fake.h"
#include "tui/frame/ui.h"
#include "tui/term/term.h"

#include "base/clock.h"

#include <malloc.h>
#include <pthread.h>
#include <pty.h>

#define REFRESHES 5

static double ms_since(uint64_t start)
{
	return (double)(clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - start) / (double)NS_PER_MS;
}

static double longer(double a, double b)
{
	return a > b ? a : b;
}

/* The rest of what is done in slices: the longest; all of it is added to *whole. */
static double finish(struct ui *ui, double *whole)
{
	double longest = 0, ms;

	do {
		uint64_t start = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);

		if (ui_busy(ui))
			ui_work(ui);
		ui_draw(ui);
		ms = ms_since(start);
		*whole += ms;
		longest = longer(longest, ms);
	} while (ui_busy(ui));
	return longest;
}

static double keys_ms(struct ui *ui, const char *keys)
{
	double longest = 0, whole;

	for (; *keys; keys++) {
		uint64_t start = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);

		ui_key(ui, *keys, ui->now_ms);
		longest = longer(longest, ms_since(start));
		longest = longer(longest, finish(ui, &whole));
	}
	return longest;
}

/* --- a terminal that takes all ------------------------------------------------------------------------ */

static struct terminal *terminal;
static FILE *out; /* our output, since the terminal has its number */

static void *take_all(void *master)
{
	char bytes[65536];

	while (read(*(int *)master, bytes, sizeof(bytes)) > 0)
		;
	return NULL;
}

static void terminal_open(void)
{
	static const struct app_options options = {.frame_fd = -1};
	static struct winsize size = {.ws_row = 24, .ws_col = 80};
	static int master;
	struct err err = {0};
	pthread_t thread;
	int slave;

	out = fdopen(dup(STDOUT_FILENO), "w");
	setenv("TERM", "xterm-256color", 1);
	if (!out || openpty(&master, &slave, NULL, NULL, &size) ||
		pthread_create(&thread, NULL, take_all, &master) || dup2(slave, STDIN_FILENO) < 0 ||
		dup2(slave, STDOUT_FILENO) < 0 || !(terminal = term_open(&options, &err))) {
		fprintf(stderr, "bench_scale: no terminal: %s\n", err.what);
		exit(1);
	}
}

/* The bytes that bring the screen up to date. */
static uint64_t drawn_bytes(struct ui *ui)
{
	uint64_t before = terminal->bytes;

	ui_draw(ui);
	term_draw(terminal, &ui->canvas, false);
	while (term_flush(terminal) >= 0 && term_busy(terminal))
		usleep(100);
	return terminal->bytes - before;
}

/* --- what is measured --------------------------------------------------------------------------------- */

struct cost {
	double refresh, slice, key;
	uint64_t bytes;
};

typedef void second_fn(struct fake *fake);

static struct cost bench_view(struct fake *fake, struct ui *ui, second_fn *second, const char *view)
{
	double whole = 0, search, scrub;
	struct cost c = {0};

	keys_ms(ui, view);
	drawn_bytes(ui);
	for (int i = 0; i < REFRESHES; i++) {
		uint64_t start;

		second(fake);
		start = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
		ui_tick(ui, ui->now_ms + 1000);
		whole += ms_since(start);
		c.slice = longer(c.slice, ms_since(start));
		c.slice = longer(c.slice, finish(ui, &whole));
		c.bytes += drawn_bytes(ui);
	}
	c.refresh = whole / REFRESHES;
	c.bytes /= REFRESHES;
	c.key = keys_ms(ui, "jjjkk");
	search = keys_ms(ui, "/parse\nnn\033");
	scrub = keys_ms(ui, " ,,,... ");
	fprintf(out, " %5.1f %5.1f %5.1f %5.1f %5.1f %5u |", c.refresh, c.slice, c.key, search,
		scrub, (unsigned)c.bytes);
	c.key = longer(c.key, longer(search, scrub));
	return c;
}

/* For the table of `make bench`: what, who, unit, limit, value. */
static void tell(const char *what, const struct cost *c, double mb)
{
	fprintf(out, "= %s: refresh of the methods, CPU | jhot | ms | - | %.2f\n", what,
		c->refresh);
	fprintf(out, "= %s: longest wait behind a key, CPU | jhot | ms | 16 | %.2f\n", what,
		c->key);
	fprintf(out, "= %s: bytes of a refresh | jhot | B | 1024 | %u\n", what, (unsigned)c->bytes);
	fprintf(out, "= %s: memory of the model | jhot | MB | - | %.1f\n", what, mb);
}

static void bench_ui_of(struct fake *fake, second_fn *second, const char *what)
{
	struct app_options options = {.frame_fd = -1, .attached = true, .events = 1};
	struct ui ui;

	fake->manual = true;
	ui_init(&ui, &fake_ops, fake, &options, false);
	ui.job.slice = UI_SLICE;
	for (int window = 2; window <= 5; window += 3) {
		struct cost c;
		double mb;

		ui.scope.time.window = window;
		fprintf(out, "%-24s %-4s", what, window == 5 ? "all" : "10s");
		c = bench_view(fake, &ui, second, "m");
		bench_view(fake, &ui, second, "T");
		bench_view(fake, &ui, second, "t");
		mb = (double)profile_info(fake->profile).bytes / 1e6;
		fprintf(out, "  %6.1f MB\n", mb);
		if (window == 2)
			tell(what, &c, mb);
		fflush(out);
	}
	ui_done(&ui);
}

static void bench_size(uint32_t stacks, uint32_t threads)
{
	struct feed_options o = {
		.stacks = stacks, .threads = threads, .methods = 5000, .rate = 1000};
	struct fake fake;
	char what[64];

	fake_init(&fake, 100);
	feed_done(&fake.cpu);
	feed_init(&fake.cpu, fake.profile, &o);
	feed_all(&fake.cpu, 0);
	for (int i = 0; i < PROFILE_HISTORY_S; i++)
		fake_second(&fake);
	snprintf(what, sizeof(what), "%u stacks, %u threads", stacks, threads);
	bench_ui_of(&fake, fake_second, what);
	fake_done(&fake);
}

static struct day day;

static void day_passes(struct fake *fake)
{
	day_second(&day, 500);
}

static void bench_day(uint32_t hours)
{
	struct fake fake;
	char what[64];

	fake_init(&fake, 100);
	profile_free(fake.profile);
	day_init(&day);
	fake.profile = day.profile;
	for (uint32_t at = PROFILE_HISTORY_S; at <= hours * 3600; at = hours * 3600) {
		while (day.second < at)
			day_second(&day, 200);
		snprintf(what, sizeof(what), "day.h after %u min", at / 60);
		bench_ui_of(&fake, day_passes, what);
		if (at == hours * 3600)
			break;
	}
	fake.profile = profile_new();
	day_done(&day);
	fake_done(&fake);
}

int main(int argc, char **argv)
{
	static const uint32_t sizes[][2] = {{1000, 16}, {10000, 16}, {100000, 16}, {1000000, 16},
		{1000, 10}, {1000, 100}, {1000, 1000}, {1000, 10000}, {100000, 10000}};
	uint32_t hours = argc > 1 ? (uint32_t)atoi(argv[1]) : 24;
	uint32_t most = argc > 2 ? (uint32_t)atoi(argv[2]) : UINT32_MAX;

	mallopt(M_MMAP_THRESHOLD, 4 << 20);
	mallopt(M_TRIM_THRESHOLD, 8 << 20); /* as jhot does */
	terminal_open();
	fprintf(out, "ms: refresh, its longest slice; cursor, search, scrub; bytes of a refresh\n");
	fprintf(out, "%-29s %-36s | %-36s | %s\n", "", "methods", "tree", "threads");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (sizes[i][0] <= most)
			bench_size(sizes[i][0], sizes[i][1]);
	if (hours)
		bench_day(hours);
	term_close(terminal, NULL);
	return 0;
}
