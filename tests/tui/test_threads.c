/* SPDX-License-Identifier: Apache-2.0 */
/* The threads view: states, waits and owners, rates, pools; a single thread or pool in every view; also in past windows. */
#include "base/clock.h"
#include "tests/tap.h"
#include "tests/tui/drive.h"
#include "tests/tui/fake.h"
#include "tui/frame/command.h"
#include "tui/frame/ui.h"

#include <math.h>

enum { MAIN, EXEC_1, EXEC_2, EXEC_3, GC, CARRIER, THREADS };

static struct fake fake;
static struct ui ui;
static int64_t now;
static uint32_t second;

static bool evacuates; /* the collector does nothing else */

static uint32_t frame_of(const char *class_name, const char *name)
{
	uint32_t method = profile_method(fake.profile, class_name, name, "()V", "");

	return profile_frame(fake.profile, method, FRAME_COMPILED, 1, 42);
}

static uint32_t stack_of(const char *class_name, const char *name)
{
	uint32_t stack = profile_stack_child(
		fake.profile, PROFILE_ROOT_STACK, frame_of("java.lang.Thread", "run"));

	return profile_stack_child(fake.profile, stack, frame_of(class_name, name));
}

static void add(int event, uint32_t stack, uint32_t thread, enum thread_state state, uint32_t count,
	uint64_t weight)
{
	profile_add_sample(fake.profile, event, second,
		&(struct profile_sample){stack, thread, state, count, weight});
}

static bool asks; /* main waits for a peer */

static void ask(void)
{
	const struct profile_io db = {"socket read", "10.0.0.5:5432"};
	uint32_t stack = profile_stack_waiting(
		fake.profile, stack_of("shop.Client", "charge"), THREAD_IO, &db);

	add(EVENT_WALL, stack, MAIN, THREAD_IO, 20, NS_PER_S);
}

static bool serves; /* main works for a request */

static uint32_t attribute(uint32_t stack, const char *key, const char *value)
{
	return profile_stack_child(fake.profile, stack,
		profile_frame(fake.profile, profile_method(fake.profile, "", value, "", key),
			FRAME_CONTEXT, 0xffff, 0));
}

static void serve(void)
{
	uint32_t stack = attribute(PROFILE_ROOT_STACK, "http.route", "/cart");

	stack = attribute(stack, "http.method", "GET");
	stack = profile_stack_child(fake.profile, stack, frame_of("shop.PriceEngine", "compute"));
	add(EVENT_WALL, stack, MAIN, THREAD_ON_CPU, 20, NS_PER_S);
}

/*
 * Each second: exec-1 runs all the time and allocates, exec-2 and exec-3 wait, from second 14 on for a lock that
 * exec-1 holds; a collector and a carrier of virtual threads work.
 */
static void pass_second(void)
{
	uint32_t compute = stack_of("shop.PriceEngine", "compute");
	uint32_t parked = stack_of("jdk.internal.misc.Unsafe", "park");
	uint32_t virtual_stack = profile_stack_child(fake.profile,
		stack_of("java.lang.VirtualThread", "run"), frame_of("shop.Tokenizer", "next"));
	uint64_t wait_ns = 14 * NS_PER_S, before_ns = 600 * NS_PER_S;

	profile_advance(fake.profile, second);
	add(EVENT_CPU, compute, EXEC_1, THREAD_STATE_NONE, 100, NS_PER_S);
	add(EVENT_CPU, stack_of("", "G1Mark"), GC, THREAD_STATE_NONE, 20, NS_PER_S / 5);
	/* In turn one and the other frame has a few more samples in two seconds. */
	add(EVENT_CPU, stack_of("", "G1Evacuate"), GC, THREAD_STATE_NONE,
		evacuates        ? 90
		: second % 4 < 2 ? 18
				 : 23,
		0);
	add(EVENT_CPU, virtual_stack, CARRIER, THREAD_STATE_NONE, 10, NS_PER_S / 10);
	add(EVENT_ALLOC, compute, EXEC_1, THREAD_STATE_NONE, 20, 20 << 20);
	add(EVENT_WALL, compute, EXEC_1, THREAD_ON_CPU, 20, NS_PER_S);
	if (asks)
		ask();
	if (serves)
		serve();
	for (uint32_t t = EXEC_2; t <= EXEC_3; t++)
		add(EVENT_WALL, parked, t, second < 14 ? THREAD_PARKED : THREAD_MONITOR, 20,
			NS_PER_S);
	for (uint32_t t = EXEC_2; second >= 14 && t <= EXEC_3; t++)
		add(EVENT_LOCK, parked, t, THREAD_STATE_NONE, 10, NS_PER_S);
	if (second >= 14)
		profile_add_holder(fake.profile, second,
			&(struct profile_sample){compute, EXEC_1, THREAD_STATE_NONE, 40, NS_PER_S});
	if (second == 15) {
		uint32_t lock = profile_method(fake.profile, "shop.CartService", "", "", "");

		for (uint32_t t = EXEC_2; t <= EXEC_3; t++)
			profile_wait_set(
				fake.profile, &(struct profile_wait){.thread = t,
						      .owner = t == EXEC_2 ? EXEC_1 : EXEC_2,
						      .method = lock,
						      .lock = t == EXEC_3 ? 0x7fc0 : 0x7fd0,
						      .since_ns = wait_ns,
						      .until_ns = PROFILE_STILL,
						      .before_ns = t == EXEC_2 ? before_ns : 0,
						      .at_least = t == EXEC_2});
	}
	second++;
	profile_advance(fake.profile, second);
}

static int drain(void *ctx, struct err *err)
{
	pass_second();
	return 1;
}

static bool carrier_ended;

static int threads(void *ctx, const struct app_thread **out)
{
	static const struct app_thread live[] = {{MAIN, 'S', 0, 0}, {EXEC_1, 'R', 90, 8},
		{EXEC_2, 'S', 0, 0}, {EXEC_3, 'S', 0, 0}, {GC, 'R', 20, 0}, {CARRIER, 'S', 9, 1}};

	*out = live;
	return carrier_ended ? THREADS - 1 : THREADS;
}

static void begin(struct app_ops *ops, const struct app_options *options)
{
	static const struct profile_thread names[THREADS] = {
		[MAIN] = {.tid = 1, .kind = THREAD_JAVA, .name = "main"},
		[EXEC_1] = {.tid = 2, .kind = THREAD_JAVA, .name = "http-exec-1"},
		[EXEC_2] = {.tid = 3, .kind = THREAD_JAVA, .name = "http-exec-2"},
		[EXEC_3] = {.tid = 4, .kind = THREAD_JAVA, .name = "http-exec-3"},
		[GC] = {.tid = 5, .kind = THREAD_GC, .name = "G1 Conc#0"},
		[CARRIER] = {.tid = 6, .kind = THREAD_JAVA, .name = "ForkJoinPool-1-worker-1"},
	};

	*ops = fake_ops;
	ops->drain = drain;
	ops->threads = threads;
	memset(&fake, 0, sizeof(fake));
	fake.profile = profile_new();
	fake_vitals(&fake);
	for (int i = 0; i < EVENT_USER_FIRST; i++)
		fake.vitals.events[i].state = VITALS_ON;
	for (uint32_t i = 0; i < THREADS; i++)
		profile_thread_set(fake.profile, i, &names[i]);
	ui_init(&ui, ops, &fake, options, true);
	ui_resize(&ui, 30, 120);
	ui_key(&ui, 't', now);
}

static void keys(const char *text)
{
	drive_keys(&ui, now, text);
}

static void seconds(int n)
{
	now = drive_seconds(&ui, now, n);
}

/* The first row that contains the text, "" if none does. Valid until the next call. */
static const char *line_with(const char *text)
{
	static struct buf out;
	char *at, *start;

	buf_clear(&out);
	canvas_dump(ui.canvas, &out, false);
	at = strstr(out.data, text);
	if (!at)
		return "";
	for (start = at; start > out.data && start[-1] != '\n';)
		start--;
	start[strcspn(start, "\n")] = '\0';
	return start;
}

static bool shows(const char *line, const char *text)
{
	const char *found = line_with(line);

	if (strstr(found, text))
		return true;
	diag("no \"%s\" in: %s", text, found);
	return false;
}

static void test_ended(void)
{
	carrier_ended = true;
	seconds(11);
	ok(shows("window 10s", "5 threads") && shows("window 10s", "1 ended") &&
			shows("ForkJoinPool-1-worker-1", " - "),
		"an ended thread is not counted as living");
	carrier_ended = false;
}

static void test_rows(void)
{
	seconds(1); /* to second 12 */
	ok(shows(" THREAD ", "now usr sys"), "user and system time are labelled as current");
	ok(shows("http-exec-1   ", " R   100 "), "a running thread has its share of a core");
	ok(shows("http-exec-1   ", "90   8"), "a running thread has user and system time");
	ok(shows("http-exec-1   ", "20M/s"), "a thread has its allocation rate");
	ok(shows("http-exec-1   ", "PriceEngine.compute"), "a thread has its current method");
	ok(shows(" http-exec-* 2 idle ", " P ") && !*line_with(" http-exec-2 "),
		"parked threads of a pool are one row");
	keys("/http-exec-*\n\033\n");
	ok(shows(">http-exec-2 ", " P ") && !*line_with(" 2 idle "),
		"Enter opens the row of idle threads");
	keys("g\033");
	ok(shows(" http-exec-* 2 idle ", " P ") && ui.view == VIEW_THREADS,
		"Esc closes the row of idle threads");
	ok(shows(" main ", " S "), "a thread without samples has the kernel's state");
	ok(shows("G1 Conc#0", " g R "), "a GC thread is marked");
	ok(shows("ForkJoinPool-1-worker-1", " V "), "a carrier of virtual threads is marked");
	ok(shows("window 10s", "6 threads") && shows("window 10s", "2 parked"),
		"the header counts threads by state");
}

/* The frame that is shown for a thread changes for a significant lead only. */
static void test_stable_frame(void)
{
	int changes = 0;
	bool mark, was;

	ui_resize(&ui, 24, 120);
	seconds(3);
	mark = shows(" G1 Conc#0 ", "G1Mark");
	for (int i = 0; i < 8; i++) {
		was = mark;
		seconds(1);
		mark = shows(" G1 Conc#0 ", "G1Mark");
		changes += mark != was;
	}
	is_int(changes, 0, "a thread's frame does not change for a few samples more");
	evacuates = true;
	seconds(2);
	ok(shows(" G1 Conc#0 ", "G1Evacuate"), "a thread's frame changes for a significant lead");
	evacuates = false;
}

static void test_waits(void)
{
	seconds(8); /* to second 20: since 14 they wait */
	ok(shows(" http-exec-2 ", " B "), "a thread waiting for a monitor is blocked");
	ok(shows(" http-exec-2 ", "waits: CartService, held by http-exec-1"),
		"a blocked thread has class and owner of its lock");
	ok(shows(" http-exec-2 ", " 60 "), "a blocked thread has the share of time that it waited");
	ok(shows("window 10s", "2 blocked"), "the header counts blocked threads");
	keys("/exec-3\n");
	ok(shows("waits 6", "waits 6.0s for shop.CartService, held by http-exec-2, which waits for "
			    "http-exec-1 (0x7fc0)"),
		"the selected thread's wait and its owner's wait are shown");
	ok(shows("http-exec-2  waits for a monitor", "http-exec-2"),
		"the owner's stack is shown beside the wait");
	keys("\033/exec-2\n");
	ok(shows("waits at", "waits at least 606s for shop.CartService, held by http-exec-1"),
		"a wait from before the session is a lower bound");
	keys("\033");
}

/* A small screen has the owner in the list, and below it the chain of owners and both stacks. */
static void test_narrow(void)
{
	ui_resize(&ui, 24, 80);
	keys("/exec-3\n\033");
	ok(shows(">http-exec-3 ", "by http-exec-2"), "80 columns: the list has the owner");
	ok(shows("waits 6.0s", "shop.CartService, held by http-exec-2, which waits for"),
		"80 columns: the chain of owners is shown");
	ok(shows("http-exec-1 (0x7fc0)", "http-exec-1 (0x7fc0)"),
		"80 columns: the chain is wrapped, with the address last");
	ok(shows(" J jdk.internal.misc.Unsafe.park ", "line 42"),
		"80 columns: the waiting frame is shown");
	ok(shows(" http-exec-2  waits for a monitor", " http-exec-2"),
		"80 columns: the owner is shown next");
	ui_resize(&ui, 30, 120);
	ui_draw(&ui);
}

static void name_thread(uint32_t thread, const char *name)
{
	struct profile_thread t = *profile_get_thread(fake.profile, thread);

	t.name = name;
	profile_thread_set(fake.profile, thread, &t);
}

/* A wide screen has all of that beside the list, wrapped to the columns there. */
static void test_beside(void)
{
	ui_resize(&ui, 50, 160);
	keys("/exec-3\n\033");
	ok(shows("waits 6.0s for shop.CartService", "held by http-exec-2"),
		"wide screen: the wait is shown beside the list");
	ok(shows("which waits for http-exec-1", "(0x7fc0)"),
		"wide screen: the chain of owners is wrapped");
	ok(shows("Unsafe.park", "line 42"), "wide screen: the waiting frame is shown");
	ok(shows("http-exec-2  waits for a monitor", "http-exec-2"),
		"wide screen: the owner is shown below");
	ok(shows("no samples of this event", "in this window"),
		"wide screen: a thread without CPU samples says so");
	keys("g");
	ok(shows("HOTTEST METHODS", "SELF   TOTAL") && shows("100%    100%", "PriceEngine.compute"),
		"wide screen: the hottest methods of the selected thread are shown");
	ok(!*line_with("J G1Mark"), "wide screen: methods of other threads are not shown");
	keys("4/exec-3\n\033");
	ok(shows("100%    100%", "Unsafe.park"),
		"wide screen: the hottest methods are those of the selected event");
	name_thread(MAIN, "H2 TCP Server (tcp://localhost:9391, for all of the shop) thread-7");
	keys("/thread-7\n\033");
	ok(shows(" tid 1 ", "thread-7  tid 1 "), "wide screen: a long name keeps its end");
	name_thread(MAIN, "main");
	keys("1g");
	ui_resize(&ui, 30, 120);
	ui_draw(&ui);
}

static void test_past(void)
{
	keys(" ,,,,,,,,");
	is_int(ui.scope.time.frozen_to, 12, ", eight times freezes eight seconds ago");
	ok(shows(" http-exec-* 2 idle ", " P ") && !*line_with("waits"),
		"a past window has the states of that time");
	ok(shows("http-exec-1   ", " - "), "user and system time are shown only for the present");
	keys(" ");
}

static void test_pools(void)
{
	seconds(1);
	keys("=");
	ok(shows("http-exec-* (3)", "20M/s"), "a pool has the sums of its threads");
	ok(shows("http-exec-* (3)", " 47 "), "a pool has its threads' share of the time waited");
	keys("/http\n");
	ok(shows(" 3 threads ", "http-exec-*"), "a selected pool has its number of threads");
	keys("\033\n");
	ok(ui.view == VIEW_METHODS && ui.scope.pool, "Enter restricts the views to the pool");
	ok(shows("window 10s", "only http-exec-*"), "the header names the pool");
	ok(shows("PriceEngine.compute", "100") && !*line_with("G1Mark"),
		"Methods shows only the pool");
	keys("T");
	ok(!*line_with("G1Mark"), "Tree shows only the pool");
	keys("f");
	ok(!*line_with("G1Mark"), "Flame shows only the pool");
	keys("\033m");
	ok(!ui_is_restricted(&ui) && *line_with("G1Mark"), "Esc removes the restriction");
	keys("t=/exec-2\n\033"); /* each thread apart */
	keys("\n");
	ok(ui.scope.thread == EXEC_2 && !ui.scope.pool && shows("window 10s", "only http-exec-2"),
		"Enter restricts the views to one thread");
	keys("4");
	ok(shows("Unsafe.park", "100"), "the restriction applies to other events");
	keys("\033"
	     "1");
}

static void test_sort(void)
{
	keys("t");
	keys("2");
	seconds(1);
	ok(strstr(line_with("ALLOC"), "ALLOCv") != NULL,
		"the event alloc sorts threads by allocation");
	keys("1");
	ok(strstr(line_with("CPU%v"), "CPU%v") != NULL, "the event cpu sorts threads by CPU");
	ui_resize(&ui, 20, 60);
	ui_draw(&ui);
	ok(*line_with("http-exec-1"), "a narrow screen has the list");
	ui_resize(&ui, 10, 40);
	ui_draw(&ui);
	ok(*line_with("http-exec-1"), "a small screen has the list");
}

static void test_waited(void)
{
	ui_resize(&ui, 30, 120);
	profile_wait_end_all(fake.profile, second * NS_PER_S);
	seconds(2);
	keys("/exec-3\n");
	ok(shows("waited for", "waited for CartService, held by http-exec-2 (100% of waits seen)"),
		"a thread that no longer waits shows its longest wait in the window");
	keys("\033");
}

/* What a thread in I/O waits for: in its row, and in Methods at the place or as a frame of its own. */
static void test_peers(void)
{
	asks = true;
	keys("4t");
	seconds(3);
	ui_resize(&ui, 30, 120);
	ui_draw(&ui);
	ok(shows(" main ", " I ") && shows(" main ", " socket read 10.0.0.5:5432"),
		"a thread in I/O has operation and peer");
	ui_resize(&ui, 24, 80);
	ui_draw(&ui);
	ok(shows(" main ", " 10.0.0.5:5432") && !strstr(line_with(" main "), "socket"),
		"a narrow screen has only the peer");
	keys("m");
	ui_draw(&ui);
	ok(*line_with("shop.Client.charge: socket read 10.0.0.5:5432"),
		"Methods names the peer at the place");
	keys("O");
	ui_draw(&ui);
	ok(*line_with("[socket read 10.0.0.5:5432]") && *line_with(" O peers "),
		"O shows peers as frames of their own");
	keys("\\:5432\n");
	ok(*line_with("[socket read 10.0.0.5:5432]") && !*line_with("Unsafe.park"),
		"filters match a peer's frame");
	keys("\033O");
	ui_draw(&ui);
	ok(*line_with("shop.Client.charge: socket read") && !*line_with(" O peers "),
		"O again shows peers at the place");
	asks = false;
	keys("1");
	seconds(12);
}

/* A thread that works for a request has a column with its attributes. */
static void test_requests(void)
{
	keys("t");
	seconds(1);
	ui_resize(&ui, 30, 120);
	ui_draw(&ui);
	ok(*line_with(" THREAD ") && !strstr(line_with(" THREAD "), "REQUEST"),
		"without requests there is no column");
	serves = true;
	seconds(3);
	ok(shows(" THREAD ", " REQUEST "), "with requests there is a column");
	ok(shows(" main ", " /cart GET ") && shows(" main ", "PriceEngine.compute"),
		"a thread has its request, and its method");
	ok(!strstr(line_with("http-exec-1 "), "/cart"), "another thread has none");
	ui_resize(&ui, 24, 80);
	ui_draw(&ui);
	ok(*line_with(" THREAD ") && !strstr(line_with(" THREAD "), "REQUEST"),
		"a narrow screen has no such column");
	ui_resize(&ui, 30, 120);
	ui_draw(&ui);
	serves = false;
	seconds(12);
}

/* Key o switches between the waiting methods and what the locks' owners do meanwhile, from lock and from wall. */
static void test_holders(void)
{
	keys("3m");
	ui_draw(&ui);
	ok(*line_with("Unsafe.park") && !*line_with("PriceEngine.compute"),
		"lock shows the waiting methods");
	keys("o");
	ui_draw(&ui);
	ok(*line_with("PriceEngine.compute") && !*line_with("Unsafe.park"),
		"o shows what the owners do");
	ok(*line_with("[3 holders]") && *line_with(" waited for their locks"),
		"the owners' view is labelled");
	keys("T");
	ui_draw(&ui);
	ok(*line_with("shop.PriceEngine.compute"), "the owners are shown in the tree");
	keys("4mo");
	ui_draw(&ui);
	ok(*line_with("[3 holders]") && *line_with("PriceEngine.compute"), "o works from wall");
	keys("o");
	ui_draw(&ui);
	ok(*line_with("[3 lock]") && *line_with("Unsafe.park"),
		"o again shows the waiting methods");
	keys("1o");
	ui_draw(&ui);
	ok(*line_with("[1 cpu]"), "o does nothing for cpu");
	keys("t");
}

int main(void)
{
	struct app_options options = {.frame_fd = -1, .attached = true, .events = 0xf};
	struct app_ops ops;

	begin(&ops, &options);
	test_ended();
	test_rows();
	test_waits();
	test_narrow();
	test_beside();
	test_past();
	test_pools();
	test_sort();
	test_waited();
	test_peers();
	test_requests();
	test_holders();
	keys("t");
	test_stable_frame();
	ui_done(&ui);
	profile_free(fake.profile);
	return tap_done();
}
