/* SPDX-License-Identifier: Apache-2.0 */
/* Findings: the line below the header, the list with its evidence, and the keys that lead from there. */
#include "base/clock.h"
#include "tests/tap.h"
#include "tests/tui/drive.h"
#include "tests/tui/fake.h"
#include "tui/frame/command.h"
#include "tui/frame/findings.h"

enum { PAYER_1, PAYER_2, BUSY, THREADS };

static struct fake fake;
static struct ui ui;
static int64_t now;
static uint32_t second;
static bool collects,
	can_begin; /* the collector stops the program; locks and waits can be sampled */

static uint32_t stack_of(const char *class_name, const char *name)
{
	uint32_t method = profile_method(fake.profile, class_name, name, "()V", "");

	return profile_stack_child(fake.profile, PROFILE_ROOT_STACK,
		profile_frame(fake.profile, method, FRAME_COMPILED, 1, 42));
}

static void add(int event, uint32_t stack, uint32_t thread, enum thread_state state)
{
	profile_add_sample(fake.profile, event, second,
		&(struct profile_sample){stack, thread, state, 50, NS_PER_S});
}

/* Two threads that wait for each other since second 3. */
static void lock_up(void)
{
	uint32_t account = profile_method(fake.profile, "bank.Account", "", "", "");

	for (uint32_t t = PAYER_1; t <= PAYER_2; t++)
		profile_wait_set(fake.profile, &(struct profile_wait){.thread = t,
						       .owner = t == PAYER_1 ? PAYER_2 : PAYER_1,
						       .method = account,
						       .lock = 0x7fc0 + t,
						       .since_ns = 3 * NS_PER_S,
						       .until_ns = PROFILE_STILL});
}

/* The vitals of a second; what is sampled stays as it was switched. */
static void pass_vitals(void)
{
	struct vitals_event events[VITALS_EVENTS];

	memcpy(events, fake.vitals.events, sizeof(events));
	fake.second = second;
	fake_vitals(&fake);
	memcpy(fake.vitals.events, events, sizeof(events));
	fake.vitals.time_ns = (second + 100) * NS_PER_S;
	fake.vitals.cpu_pct = 100;
	fake.vitals.cpu = (struct vitals_cpu){95, 2, 2, 1};
	fake.vitals.gc_pct_x10 = collects ? 300 : 5;
}

static int drain(void *ctx, struct err *err)
{
	profile_advance(fake.profile, second);
	add(EVENT_CPU, stack_of("bank.Report", "sum"), BUSY, THREAD_STATE_NONE);
	for (uint32_t t = PAYER_1; t <= PAYER_2; t++)
		add(EVENT_WALL, stack_of("bank.Transfer", "pay"), t, THREAD_MONITOR);
	second++;
	profile_advance(fake.profile, second);
	pass_vitals();
	return 1;
}

static int threads(void *ctx, const struct app_thread **out)
{
	static const struct app_thread live[] = {
		{PAYER_1, 'S', 0, 0}, {PAYER_2, 'S', 0, 0}, {BUSY, 'R', 99, 0}};

	*out = live;
	return THREADS;
}

static int event_set(void *ctx, int event, bool on, uint64_t interval, struct err *err)
{
	if (!can_begin && event >= EVENT_LOCK)
		return err_set(err, ERR_FAILED, "It cannot be sampled.");
	fake.vitals.events[event].state = on ? VITALS_ON : VITALS_OFF;
	return 0;
}

static struct app_ops ops;

static void begin(int rows, int cols)
{
	static const struct app_options options = {.frame_fd = -1, .attached = true, .events = 0xf};
	static const struct profile_thread names[THREADS] = {
		[PAYER_1] = {.tid = 1, .kind = THREAD_JAVA, .name = "payer-1"},
		[PAYER_2] = {.tid = 2, .kind = THREAD_JAVA, .name = "payer-2"},
		[BUSY] = {.tid = 3, .kind = THREAD_JAVA, .name = "busy"},
	};

	ops = fake_ops;
	ops.drain = drain;
	ops.threads = threads;
	ops.event_set = event_set;
	memset(&fake, 0, sizeof(fake));
	fake.profile = profile_new();
	now = second = 0;
	collects = false;
	can_begin = true;
	fake_vitals(&fake);
	fake.vitals.events[EVENT_ALLOC].state = VITALS_OFF;
	for (uint32_t i = 0; i < THREADS; i++)
		profile_thread_set(fake.profile, i, &names[i]);
	pass_vitals();
	ui_init(&ui, &ops, &fake, &options, false);
	ui_resize(&ui, rows, cols);
}

static void end(void)
{
	ui_done(&ui);
	profile_free(fake.profile);
}

static void keys(const char *text)
{
	drive_keys(&ui, now, text);
}

static void seconds(int n)
{
	now = drive_seconds(&ui, now, n);
}

static bool shows(const char *text)
{
	return drive_shows(&ui, text);
}

#define has(text, ...)                                 \
	do {                                           \
		struct buf dump = {0};                 \
                                                       \
		canvas_dump(&ui.canvas, &dump, false); \
		if (!ok(shows(text), __VA_ARGS__))     \
			diag("%s", buf_str(&dump));    \
		buf_done(&dump);                       \
	} while (0)

static void test_nothing(void)
{
	int rows;

	begin(24, 80);
	seconds(8);
	rows = header_rows(&ui);
	is_int(rows, 4, "nothing is wrong: no line");
	ok(!shows(" why"), "and no key of it");
	can_begin = false;
	keys("w");
	seconds(2);
	has("nothing found; looked for:", "an empty list says what was looked for");
	has("garbage collection that takes more", "and that is well");
	has("sampled: press 3)", "which rules cannot look, and the key for it");
	ok(!shows("has switched on the sampling"), "nothing was switched on that cannot be had");
	keys("\n");
	is_int(ui.place.view, VIEW_FINDINGS, "Enter leads nowhere");
	keys("\033");
	is_int(ui.place.view, VIEW_METHODS, "Esc leads back");
	end();
}

static void test_line(void)
{
	begin(24, 80);
	seconds(4);
	fake.vitals.events[EVENT_LOCK].state = VITALS_ON;
	lock_up();
	seconds(4);
	is_int(header_rows(&ui), 5, "something is wrong: one line");
	has("\n  DEADLOCK  payer-1 and payer-2 wait for each other: deadlocked for 4 s   w why\n",
		"the worst of it under the header, with the key");
	is_int(canvas_row(&ui.canvas, 4)[2].style, STYLE_BAD, "its style says how bad it is");
	collects = true;
	seconds(4);
	has("  DEADLOCK  ", "the worst first");
	has("…  +1 more  w why\n", "cut at its end, and how many there are besides");
	ui_resize(&ui, 8, 40);
	seconds(1);
	has("  DEADLOCK  ", "on the smallest screen");
	is_int(header_rows(&ui), 2, "in place of another line");
	ui_resize(&ui, 4, 30);
	seconds(1);
	has("DEADLOCK", "and where there is one line only");
	ui_resize(&ui, 50, 160);
	seconds(1);
	has("deadlocked for", "whole where there is space");
	end();
}

static void test_stays(void)
{
	begin(24, 80);
	collects = true;
	seconds(12);
	has("  GC  garbage collection pauses the program for 30 % of the time", "the collector");
	collects = false;
	seconds(8);
	has("  GC  ", "what is gone stays for a while");
	seconds(8);
	ok(!shows("  GC  "), "and leaves");
	collects = true;
	seconds(3);
	keys(" ");
	collects = false;
	seconds(20);
	has("  GC  ", "a frozen screen keeps what its moment had");
	keys(" ");
	seconds(14);
	ok(!shows("  GC  "), "and only it");
	end();
}

static void test_list(int rows, int cols)
{
	begin(rows, cols);
	seconds(4);
	keys("w");
	if (rows > 8)
		has("nothing found yet; looking for:", "it has just begun to look");
	ok(fake.vitals.events[EVENT_LOCK].state == VITALS_ON, "%dx%d: w looks at locks", cols,
		rows);
	is_int(fake.vitals.events[EVENT_WALL].state, VITALS_ON, "and at waits");
	is_int(fake.vitals.events[EVENT_ALLOC].state, VITALS_OFF, "but not at allocations");
	is_int(ui.scope.event, EVENT_CPU, "while the event that is shown stays");
	lock_up();
	collects = true;
	seconds(8);
	has(">DEADLOCK ", "the list, the worst first");
	for (int page = 0; page < 12 && !shows("payer-1 waits for"); page++) {
		ui_key(&ui, TKEY_PAGE_DOWN, now);
		ui_draw(&ui);
	}
	has("payer-1 waits for", "below it the proof");
	for (int page = 0; page < 12 && !shows("acquire these locks in the same"); page++) {
		ui_key(&ui, TKEY_PAGE_DOWN, now);
		ui_draw(&ui);
	}
	has("-> acquire these locks in the same", "and what to look at");
	keys("j");
	has(">GC ", "down: the next one");
	seconds(2);
	has(">GC ", "it stays selected");
	keys("k\n");
	is_int(ui.place.view, VIEW_THREADS, "Enter leads to the thread");
	is_int(ui.scope.event, EVENT_LOCK, "by its event");
	ok(ui_selected(&ui) && !strcmp(ui_selected(&ui), "payer-1"), "the cursor is on it: %s",
		ui_selected(&ui) ? ui_selected(&ui) : "none");
	seconds(1);
	is_int(fake.vitals.events[EVENT_WALL].state, VITALS_ON,
		"waits are sampled while a finding is followed");
	keys("/payer\n\033");
	is_int(ui.place.view, VIEW_THREADS, "Esc first undoes what came since");
	keys("\033");
	is_int(ui.place.view, VIEW_FINDINGS, "then it leads back to the list");
	has(">DEADLOCK", "to the same one");
	keys("\033\033");
	is_int(ui.place.view, VIEW_METHODS, "and on to where that was asked for, and no further");
	end();
}

static void test_whole(void)
{
	begin(24, 80);
	seconds(4);
	keys("w");
	lock_up();
	seconds(4);
	has("wait for each other: deadlocked for 5 s\n", "at 80 columns the sentence stands whole");
	has("payer-2 waits for Account, held by payer-1\n", "and each line of the proof");
	has("    Transfer.pay, line 42\n", "with where it is");
	has("this view samples locks and waits until you leave it\n",
		"what was switched on, and how it ends");
	has("thread payer-1", "where Enter leads");
	keys("w");
	is_int(ui.place.view, VIEW_METHODS, "w leads back");
	seconds(1);
	is_int(fake.vitals.events[EVENT_LOCK].state, VITALS_OFF, "and locks are no longer sampled");
	is_int(fake.vitals.events[EVENT_WALL].state, VITALS_OFF, "nor waits");
	end();
}

static void test_method(void)
{
	uint32_t fill, method;

	begin(24, 80);
	seconds(2);
	method = profile_method(fake.profile, "bank.Parser", "parse", "()V", "");
	fill = profile_stack_child(fake.profile, stack_of("bank.Parser", "parse"),
		profile_frame(fake.profile,
			profile_method(
				fake.profile, "java.lang.Throwable", "fillInStackTrace", "()V", ""),
			FRAME_COMPILED, 1, 1));
	for (int i = 0; i < 4; i++) {
		add(EVENT_CPU, fill, BUSY, THREAD_STATE_NONE);
		seconds(1);
	}
	has(" EXCEPTIONS ", "exceptions that cost");
	keys("w");
	has(">EXCEPTIONS", "in the list");
	has("\302\261", "with the error of their share");
	keys("\n");
	is_int(ui.place.view, VIEW_METHODS, "Enter leads to the method");
	ok(!strcmp(ui_selected(&ui), profile_get_method(fake.profile, method)->full),
		"the cursor is on it: %s", ui_selected(&ui));
	end();
}

static void test_event(void)
{
	begin(24, 80);
	collects = true;
	seconds(12);
	keys("w\n");
	ok(ui.place.view == VIEW_METHODS && ui.scope.event == EVENT_ALLOC,
		"neither thread nor method: the methods by its event");
	end();
}

int main(void)
{
	test_nothing();
	test_line();
	test_stays();
	test_list(24, 80);
	test_list(8, 40);
	test_list(50, 160);
	test_whole();
	test_method();
	test_event();
	return tap_done();
}
