/* SPDX-License-Identifier: Apache-2.0 */
/* Figures match the data shown, shortened names keep their useful end, and nothing is drawn beside a popup. */
#include "profile/profile.h"
#include "tests/profile/add.h"
#include "tests/tap.h"
#include "tests/tui/drive.h"
#include "tests/tui/fake.h"
#include "tui/frame/ui.h"
#include "tui/screen/name.h"

static struct fake fake;
static struct ui ui;

static void begin(int rows, int cols, unsigned events)
{
	static struct app_options options;

	options = (struct app_options){.frame_fd = -1, .attached = true, .events = events};
	fake_init(&fake, 400);
	ui_init(&ui, &fake_ops, &fake, &options, false);
	ui_resize(&ui, rows, cols);
}

static void end(void)
{
	ui_done(&ui);
	fake_done(&fake);
}

/* Passes a second with this number of cpu samples of one stack. */
static void second_of(uint32_t stack, uint32_t samples)
{
	ui_tick(&ui, ui.now_ms + 1000);
	if (samples)
		profile_add(fake.profile, EVENT_CPU, fake.second - 1, stack, 1, samples,
			samples * UINT64_C(10000000));
}

static uint32_t stack_of(const char *caller, const char *callee)
{
	struct profile *p = fake.profile;
	uint32_t stack = PROFILE_ROOT_STACK;

	stack = feed_push(
		&fake.cpu, stack, profile_method(p, caller, "run", "()V", ""), FRAME_COMPILED, 1);
	return feed_push(
		&fake.cpu, stack, profile_method(p, callee, "work", "()V", ""), FRAME_COMPILED, 1);
}

/* The figure of the time strip is the mean over the window, not the top of its scale. */
static void test_strip(void)
{
	uint32_t stack;

	begin(40, 80, 1);
	fake.idle = true;
	stack = stack_of("app.Main", "app.Leaf");
	for (int i = 0; i < 12; i++)
		second_of(stack, i % 2 ? 100 : 6);
	drive_keys(&ui, ui.now_ms, " ");
	ok(drive_shows(&ui, " 53 samples/s"),
		"alternately 100 and 6 samples are shown as 53 per second");
	end();
}

/* Losses are shown for the selected event only. */
static void test_lost(void)
{
	begin(24, 80, 0xf);
	drive_seconds(&ui, 0, 4);
	fake.vitals.events[EVENT_LOCK].lost = fake.vitals.lost = 1;
	ui_react(&ui, UI_UPDATE);
	ok(drive_shows(&ui, "lost 0") && !drive_shows(&ui, "lost 1"),
		"losses of lock are not shown for cpu");
	fake.vitals.events[EVENT_CPU].lost = 2;
	fake.vitals.lost = 3;
	ui_react(&ui, UI_UPDATE);
	ok(drive_shows(&ui, "lost 2"), "losses of cpu are shown");
	end();
}

/* With D, a program of which only TOTAL% changes is not called steady. */
static void test_steady(void)
{
	uint32_t before, after;

	begin(24, 80, 1);
	fake.idle = true;
	before = stack_of("app.Before", "app.Leaf");
	after = stack_of("app.After", "app.Leaf");
	for (int i = 0; i < 12; i++)
		second_of(before, 100);
	drive_keys(&ui, ui.now_ms, "B");
	for (int i = 0; i < 12; i++)
		second_of(after, 100);
	ui_tick(&ui, ui.now_ms + 1000);
	drive_keys(&ui, ui.now_ms + 6000, "D");
	ok(drive_shows(&ui, "+100.0") && !drive_shows(&ui, "steady"),
		"a delta of 100 points is not called steady");
	ok(drive_shows(&ui, "rising: After.run total +100.0pp"),
		"the method with the delta is named");
	end();
}

/* At 80 columns there is nothing but blanks beside the box of a popup, as the rest of the row would not be readable. */
static void test_beside(const char *keys)
{
	int letters = 0, rows = 0;

	begin(24, 80, 0xf);
	drive_seconds(&ui, 0, 4);
	drive_keys(&ui, ui.now_ms, keys);
	for (int row = 0; row < ui.canvas->rows; row++) {
		const struct cell *cells = canvas_row(ui.canvas, row);
		int from = 0, to = ui.canvas->cols - 1;

		while (from < to && cells[from].ch != 0x2502)
			from++;
		while (to > from && cells[to].ch != 0x2502)
			to--;
		if (from == to)
			continue;
		rows++;
		for (int col = 0; col < ui.canvas->cols; col++)
			letters += (col < from || col > to) && cells[col].ch != ' ';
	}
	ok(rows > 3 && !letters, "the popup of key %s has %d rows, and %d characters beside it",
		keys, rows, letters);
	end();
}

static const char *program(const char *name, int width)
{
	static char out[128];

	name_program(out, sizeof(out), name, width, "~");
	return out;
}

static void test_programs(void)
{
	is_str(program("org.apache.catalina.startup.Bootstrap", 40),
		"org.apache.catalina.startup.Bootstrap", "a main class that fits is shown whole");
	is_str(program("org.apache.catalina.startup.Bootstrap", 26), "o.a.c.startup.Bootstrap",
		"a main class that is too long keeps class and last package");
	is_str(program("org.apache.catalina.startup.Bootstrap", 9), "Bootstrap",
		"a main class in minimal space is the class name");
	is_str(program("/opt/shop/lib/shop-api.jar", 14), "~/shop-api.jar",
		"a path is shortened to its file name");
	is_str(program("shop-api-1.2.jar", 8), "~1.2.jar", "a jar name keeps its end");
}

/* Wide screens show the complete names of threads. */
static void test_threads(void)
{
	struct fake *f = &fake;

	begin(50, 200, 1);
	profile_thread_set(f->profile, 1,
		&(struct profile_thread){.tid = 4711,
			.kind = THREAD_JAVA,
			.name = "ForkJoinPool.commonPool-worker-12"});
	drive_seconds(&ui, 0, 4);
	drive_keys(&ui, ui.now_ms, "t");
	ok(drive_shows(&ui, " ForkJoinPool.commonPool-worker-12  "),
		"a thread's name of 33 columns is complete at 200 columns");
	ui_resize(&ui, 50, 120);
	ok(!drive_shows(&ui, " ForkJoinPool.commonPool-worker-12  "),
		"a thread's name of 33 columns is shortened at 120 columns");
	end();
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	test_strip();
	test_lost();
	test_steady();
	test_beside("e");
	test_beside("x");
	test_programs();
	test_threads();
	return tap_done();
}
