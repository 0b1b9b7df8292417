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

/* Sets the vitals of a second; the states of events are not changed. */
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

#define has(text, ...)                                \
	do {                                          \
		struct buf dump = {0};                \
                                                      \
		canvas_dump(ui.canvas, &dump, false); \
		if (!ok(shows(text), __VA_ARGS__))    \
			diag("%s", buf_str(&dump));   \
		buf_done(&dump);                      \
	} while (0)

static void test_nothing(void)
{
	int rows;

	begin(24, 80);
	seconds(8);
	rows = header_rows(&ui);
	is_int(rows, 4, "without findings the header has no findings line");
	ok(!shows(" why"), "without findings the key line does not mention w");
	can_begin = false;
	keys("w");
	seconds(2);
	has("nothing found; checked for:", "an empty list names the rules that were checked");
	has("garbage collection that takes more",
		"an empty list includes the rules that found nothing");
	has("sampled: press 3)",
		"an empty list names rules without data, and the key to sample it");
	ok(!shows("has switched on the sampling"),
		"an event that cannot be sampled is not reported as started");
	keys("\n");
	is_int(ui.view, VIEW_FINDINGS, "Enter on an empty list does nothing");
	keys("\033");
	is_int(ui.view, VIEW_METHODS, "Esc returns to Methods");
	end();
}

static void test_line(void)
{
	begin(24, 80);
	seconds(4);
	fake.vitals.events[EVENT_LOCK].state = VITALS_ON;
	lock_up();
	seconds(4);
	is_int(header_rows(&ui), 5, "with a finding the header has one more line");
	has("\n  DEADLOCK  payer-1 and payer-2 wait for each other: deadlocked for 4 s   w why\n",
		"the worst finding is shown under the header, with the key");
	is_int(canvas_row(ui.canvas, 4)[2].style, STYLE_BAD,
		"the style of the line shows its severity");
	collects = true;
	seconds(4);
	has("  DEADLOCK  ", "with several findings the worst is shown");
	has("…  +1 more  w why\n",
		"the findings line is truncated and has the number of further findings");
	ui_resize(&ui, 8, 40);
	seconds(1);
	has("  DEADLOCK  ", "the findings line is shown on the smallest screen");
	is_int(header_rows(&ui), 2,
		"on the smallest screen the findings line replaces another one");
	ui_resize(&ui, 4, 30);
	seconds(1);
	has("DEADLOCK", "the finding is shown on a screen of a single line");
	ui_resize(&ui, 50, 160);
	seconds(1);
	has("deadlocked for", "the findings line is complete on a wide screen");
	end();
}

static void test_stays(void)
{
	begin(24, 80);
	collects = true;
	seconds(12);
	has("  GC  garbage collection pauses the program for 30 % of the time",
		"a finding about the collector is shown");
	collects = false;
	seconds(8);
	has("  GC  ", "a resolved finding stays for a while");
	seconds(8);
	ok(!shows("  GC  "), "a resolved finding disappears after a while");
	collects = true;
	seconds(3);
	keys(" ");
	collects = false;
	seconds(20);
	has("  GC  ", "a frozen screen keeps the finding of its moment");
	keys(" ");
	seconds(14);
	ok(!shows("  GC  "), "after resuming the resolved finding disappears");
	end();
}

static void test_list(int rows, int cols)
{
	begin(rows, cols);
	seconds(4);
	keys("w");
	if (rows > 8)
		has("nothing found yet; checking for:",
			"the list says that the rules are still being checked");
	ok(fake.vitals.events[EVENT_LOCK].state == VITALS_ON, "%dx%d: w starts sampling of locks",
		cols, rows);
	is_int(fake.vitals.events[EVENT_WALL].state, VITALS_ON, "w starts sampling of waits");
	is_int(fake.vitals.events[EVENT_ALLOC].state, VITALS_OFF,
		"w does not start sampling of allocations");
	is_int(ui.scope.event, EVENT_CPU, "w does not change the event shown");
	lock_up();
	collects = true;
	seconds(8);
	has(">DEADLOCK ", "the list has the worst finding first");
	for (int page = 0; page < 12 && !shows("payer-1 waits for"); page++) {
		ui_key(&ui, TKEY_PAGE_DOWN, now);
		ui_draw(&ui);
	}
	has("payer-1 waits for", "the evidence is shown below the list");
	for (int page = 0; page < 12 && !shows("acquire these locks in the same"); page++) {
		ui_key(&ui, TKEY_PAGE_DOWN, now);
		ui_draw(&ui);
	}
	has("-> acquire these locks in the same", "the advice is shown below the evidence");
	keys("j");
	has(">GC ", "the next finding can be selected");
	seconds(2);
	has(">GC ", "the selected finding stays selected");
	keys("k\n");
	is_int(ui.view, VIEW_THREADS, "Enter shows the finding's thread");
	is_int(ui.scope.event, EVENT_LOCK, "Enter switches to the finding's event");
	ok(ui_selected(&ui) && !strcmp(ui_selected(&ui), "payer-1"),
		"the cursor is on the finding's thread: %s",
		ui_selected(&ui) ? ui_selected(&ui) : "none");
	seconds(1);
	is_int(fake.vitals.events[EVENT_WALL].state, VITALS_ON,
		"waits are still sampled while a finding is inspected");
	keys("/payer\n\033");
	is_int(ui.view, VIEW_THREADS, "Esc first undoes a later search");
	keys("\033");
	is_int(ui.view, VIEW_FINDINGS, "Esc then returns to the findings");
	has(">DEADLOCK", "the finding is still selected after Esc");
	keys("\033\033");
	is_int(ui.view, VIEW_METHODS, "further Esc return to Methods, and no further");
	end();
}

static void test_whole(void)
{
	begin(24, 80);
	seconds(4);
	keys("w");
	lock_up();
	seconds(4);
	has("wait for each other: deadlocked for 5 s\n", "at 80 columns the sentence is complete");
	has("payer-2 waits for Account, held by payer-1\n", "each line of evidence is complete");
	has("    Transfer.pay, line 42\n", "the evidence has the location");
	has("this view samples locks and waits until you leave it\n",
		"the view says what it samples and until when");
	has("thread payer-1", "the view says where Enter leads");
	keys("w");
	is_int(ui.view, VIEW_METHODS, "w leaves the view");
	seconds(1);
	is_int(fake.vitals.events[EVENT_LOCK].state, VITALS_OFF,
		"leaving the view stops sampling of locks");
	is_int(fake.vitals.events[EVENT_WALL].state, VITALS_OFF,
		"leaving the view stops sampling of waits");
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
	has(" EXCEPTIONS ", "a finding about exceptions is shown");
	keys("w");
	has(">EXCEPTIONS", "the finding about exceptions is in the list");
	has("\302\261", "the finding has the error of its share");
	keys("\n");
	is_int(ui.view, VIEW_METHODS, "Enter shows Methods");
	ok(!strcmp(ui_selected(&ui), profile_get_method(fake.profile, method)->full),
		"the cursor is on the finding's method: %s", ui_selected(&ui));
	end();
}

static void test_event(void)
{
	begin(24, 80);
	collects = true;
	seconds(12);
	keys("w\n");
	ok(ui.view == VIEW_METHODS && ui.scope.event == EVENT_ALLOC,
		"Enter on a finding without thread and method shows Methods by its event");
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
