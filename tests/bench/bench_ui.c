/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cost of a second and of a key in the live view: 100,000 distinct stacks, ten minutes of history. Times are CPU time
 * of the process; for keys, that of the first press of each kind beside the maximum of later ones. Long work is done
 * in slices, between which keys are handled: then the longest slice counts, and the time until everything is shown is
 * printed beside it.
 *
 *    bench_ui [STACKS [SECONDS [RATE]]]
 */
#include "tests/tui/fake.h"
#include "tui/frame/findings.h"
#include "tui/frame/ui.h"

#include "base/clock.h"

#include <malloc.h>

static double ms_since(uint64_t start)
{
	return (double)(clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - start) / (double)NS_PER_MS;
}

/* The rest of what is done in slices; the longest of them. */
static double finish(struct ui *ui, double *whole)
{
	double ms, longest = 0;
	uint64_t start;

	while (ui_busy(ui)) {
		start = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
		ui_work(ui);
		ui_draw(ui);
		ms = ms_since(start);
		*whole += ms;
		longest = ms > longest ? ms : longest;
	}
	return longest;
}

/* What one key costs: the longest that the next one would have to wait, and until all of it is shown. */
static double key_ms(struct ui *ui, int key, double *whole)
{
	uint64_t start = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
	double first, longest;

	ui_key(ui, key, ui->now_ms);
	ui_draw(ui);
	*whole = first = ms_since(start);
	longest = finish(ui, whole);
	return longest > first ? longest : first;
}

static void bench_view(
	struct ui *ui, struct fake *fake, const char *name, const char *keys, int window)
{
	double tick = 0, draw = 0, key = 0, whole;
	uint64_t start;

	ui->scope.time.window = window;
	for (; *keys; keys++)
		key_ms(ui, *keys, &whole);
	for (int i = 0; i < 5; i++) {
		fake_second(fake);
		fake->manual = true;
		start = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
		ui_tick(ui, ui->now_ms + 1000);
		tick += ms_since(start);
		finish(ui, &tick);
		start = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
		ui_draw(ui);
		draw += ms_since(start);
		key += key_ms(ui, 'j', &whole);
	}
	printf("%-10s %-4s  tick %7.2f ms   draw %6.2f ms   key and draw %6.2f ms\n", name,
		window == 5 ? "all" : "10s", tick / 5, draw / 5, key / 5);
}

/* What the process has needed at most. */
static void print_memory(void)
{
	char line[256];
	FILE *f = fopen("/proc/self/status", "r");
	long kb;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %ld", &kb) == 1)
			printf("memory %.0f MB\n", (double)kb / 1024);
	if (f)
		fclose(f);
}

/* Keys that ask the profile again; the first time they may have to build what is found the next times. */
static void bench_keys(struct ui *ui, const char *name, const char *keys)
{
	double first = 0, then = 0, shown = 0, ms, whole;

	for (int round = 0; round < 3; round++) {
		for (const char *k = keys; *k; k++) {
			ms = key_ms(ui, *k, &whole);
			shown = whole > shown ? whole : shown;
			if (!round)
				first = ms > first ? ms : first;
			else
				then = ms > then ? ms : then;
		}
	}
	printf("  %-26s first time %7.2f ms   then at most %6.2f ms   shown after %7.2f ms\n", name,
		first, then, shown);
}

static void bench_operations(struct ui *ui, int window, const char *view, const char *what)
{
	ui->scope.time.window = window;
	ui_key(ui, *view, ui->now_ms);
	ui_react(ui, UI_SORT);
	printf("keys in %s, window %s\n", what, window == 5 ? "all" : "10s");
	bench_keys(ui, "search, letter by letter", "/parse\nnnN\033");
	bench_keys(ui, "only, undone", "\\jackson\n\033");
	bench_keys(ui, "hide, undone", "!netty\n\033");
	bench_keys(ui, "freeze, step, go on", " ,,,,.. ");
	bench_keys(ui, "window there and back", window == 5 ? "[]" : "][");
	bench_keys(ui, "restart, undone", "rU");
	bench_keys(ui, "baseline, difference", "BDBD");
	bench_keys(ui, "other views and back", "tTfm");
	bench_keys(ui, "callers and back", "mb\n\033\033");
	ui_key(ui, *view, ui->now_ms);
	if (*view == 'T')
		bench_keys(ui, "inverted and back", "ii");
	if (*view == 'T')
		bench_keys(ui, "hide below, by thread", "%%%%%==");
	bench_keys(ui, "hide frames, all choices", "KKKK");
	bench_keys(ui, "by line and back", "LL");
	bench_keys(ui, "both", "KLLKLKKL");
}

static void bench_findings(struct ui *ui, const struct fake *fake)
{
	uint32_t to = profile_info(fake->profile).now;
	uint64_t start = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);

	findings_evaluate(ui->findings->rules, fake->profile, to > 10 ? to - 10 : 0, to);
	printf("a look for what is wrong: 10s %.2f ms", ms_since(start));
	start = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
	findings_evaluate(ui->findings->rules, fake->profile, to > 60 ? to - 60 : 0, to);
	printf(", 1m %.2f ms\n", ms_since(start));
}

int main(int argc, char **argv)
{
	struct feed_options o = {.stacks = 100000, .methods = 5000, .rate = 1000};
	struct app_options options = {.frame_fd = -1, .attached = true, .events = 1};
	uint32_t seconds = argc > 2 ? (uint32_t)atoi(argv[2]) : 600;
	struct fake fake;
	struct ui ui;

	mallopt(M_MMAP_THRESHOLD, 4 << 20);
	mallopt(M_TRIM_THRESHOLD, 8 << 20); /* as jhot does */
	o.stacks = argc > 1 ? (uint32_t)atoi(argv[1]) : o.stacks;
	o.rate = argc > 3 ? (uint32_t)atoi(argv[3]) : o.rate;
	fake_init(&fake, 100);
	feed_done(&fake.cpu);
	feed_init(&fake.cpu, fake.profile, &o);
	feed_all(&fake.cpu, 0);
	for (uint32_t i = 0; i < seconds; i++)
		fake_second(&fake);
	printf("%u stacks, %u s at %u samples/s, model %.1f MB\n", o.stacks, seconds, o.rate,
		(double)profile_info(fake.profile).bytes / 1e6);
	ui_init(&ui, &fake_ops, &fake, &options, false);
	ui.job.slice = UI_SLICE;
	for (int window = 2; window <= 5; window += 3) {
		bench_view(&ui, &fake, "methods", "m", window);
		bench_view(&ui, &fake, "threads", "t", window);
		bench_view(&ui, &fake, "tree", "T", window);
		bench_view(&ui, &fake, "inverted", "i", window);
		bench_view(&ui, &fake, "flame", "if", window);
	}
	ui_resize(&ui, 50, 160); /* with a pane beside */
	for (int window = 2; window <= 5; window += 3) {
		bench_view(&ui, &fake, "methods w", "m", window);
		bench_view(&ui, &fake, "threads w", "t", window);
		bench_view(&ui, &fake, "flame w", "f", window);
	}
	ui_resize(&ui, 24, 80);
	print_memory();
	bench_findings(&ui, &fake);
	for (int window = 2; window <= 5; window += 3) {
		bench_operations(&ui, window, "m", "methods");
		bench_operations(&ui, window, "T", "tree");
		bench_operations(&ui, window, "f", "flame");
	}
	print_memory();
	ui_done(&ui);
	fake_done(&fake);
	return 0;
}
