/* SPDX-License-Identifier: Apache-2.0 */
/* The latency view: when calls are measured and when not, what its keys do, and that a frozen screen keeps its figures. */
#include "tests/tap.h"
#include "tests/tui/drive.h"
#include "tests/tui/fake.h"

static struct app_options options = {.frame_fd = -1, .attached = true, .events = 0xf};
static struct app_ops ops;
static struct fake fake;
static struct ui ui;
static const char *owner = "";
static bool named_java;

static const char *get_owner(void *ctx)
{
	return owner;
}

static void keys(const char *text)
{
	drive_keys(&ui, ui.now_ms, text);
}

static void seconds(int n)
{
	drive_seconds(&ui, ui.now_ms, n);
}

static bool shows(const char *text)
{
	return drive_shows(&ui, text);
}

/* Starts with the cursor on a Java method. */
static void start(void)
{
	fake_init(&fake, 400);
	fake.timed = true;
	ops = fake_ops;
	ops.owner = get_owner;
	ui_init(&ui, &ops, &fake, &options, false);
	seconds(15);
	keys("j");
	for (int i = 0; i < 30 && !(named_java = strstr(ui_selected(&ui), "acme") != NULL); i++)
		keys("j");
}

static void end(void)
{
	ui_done(&ui);
	fake_done(&fake);
}

/* The rows of the view, beginning with the percentiles. */
static void figures(struct buf *out, int rows)
{
	struct buf screen = {0};
	const char *at, *end;

	ui_draw(&ui);
	canvas_dump(ui.canvas, &screen, false);
	buf_clear(out);
	at = end = strstr(buf_str(&screen), "\n calls ");
	while (end && rows--)
		end += 1 + strcspn(end + 1, "\n");
	if (at)
		buf_add(out, at, (size_t)(end - at));
	buf_done(&screen);
}

static void test_opening(void)
{
	char method[200];

	start();
	ok(named_java, "a method of the program is selected");
	snprintf(method, sizeof(method), "%s", ui_selected(&ui));
	keys("l");
	ok(ui.view == VIEW_LATENCY && fake.wall && !strcmp(fake.method, method),
		"l measures the calls of the selected method, and switches wall on");
	ok(shows("No call of com.acme.") && shows("Esc goes back"),
		"before the first call the view says so, and what to do");
	seconds(2);
	ok(shows("calls 1") && shows(" p50 ") && shows("slowest 1 %") && shows(" p99.9 "),
		"after two seconds it shows percentiles and shares");
	seconds(20);
	ok(shows("com.acme.shop.Repo.save waits for a monitor    lock "),
		"it names the place that makes calls slow");
	ok(shows("SLOWEST CALLS THREAD") && shows("lock 70%"), "it lists the slowest calls");
	keys("\033");
	ok(ui.view == VIEW_METHODS, "Esc returns to the methods");
	seconds(1);
	ok(!fake.wall && !*fake.method && !calls_name(ui.profile),
		"after that neither calls are measured nor wall is sampled");
	end();
}

static void test_other_ways(void)
{
	start();
	keys("b");
	keys("l");
	ok(ui.view == VIEW_LATENCY && *fake.method, "l opens the view from the callers, too");
	keys("?");
	seconds(2);
	ok(*fake.method && ui.view == VIEW_HELP && shows("HELP: Latency view"),
		"measuring continues under the help");
	keys("\033I");
	seconds(2);
	ok(*fake.method && ui.view == VIEW_INFO, "measuring continues under the JVM's page");
	keys("\033");
	ok(ui.view == VIEW_LATENCY && shows("slowest 1 %"), "Esc shows the calls again");
	keys("w");
	seconds(1);
	keys("m");
	seconds(1);
	ok(!*fake.method && !fake.wall, "going on to another view ends it");
	keys("w\033");
	ok(ui.view == VIEW_METHODS, "the findings return to the methods");
	keys("l");
	seconds(1);
	keys("c");
	seconds(1);
	ok(!*fake.method, "the list of JVMs ends it");
	keys("\033");
	seconds(3);
	ok(ui.view == VIEW_LATENCY && *fake.method && shows("slowest 1 %"),
		"after a return calls are measured anew");
	keys("q");
	ok(ui.view == VIEW_CALLERS || ui.view == VIEW_METHODS, "q goes back");
	end();
}

/* By line, rows are named after a method and a line. */
static void test_lines(void)
{
	start();
	keys("L");
	seconds(1);
	keys("g");
	for (int i = 0;
		i < 60 && !(strstr(ui_selected(&ui), "acme") && strchr(ui_selected(&ui), ':')); i++)
		keys("j");
	keys("l");
	ok(ui.view == VIEW_LATENCY && *fake.method && !strchr(fake.method, ':'),
		"by line, l measures the method of the line");
	end();
}

/* Wall that was on before stays on. */
static void test_wall_on(void)
{
	start();
	fake.wall = true;
	seconds(1);
	keys("l");
	seconds(2);
	keys("\033");
	seconds(1);
	ok(fake.wall && !*fake.method, "wall stays on if it was on before");
	fake.wall = false;
	seconds(1);
	keys("l4");
	ok(shows("no such key"), "events are not selected in this view");
	end();
}

static void refuses(const char *sentence, const char *what)
{
	keys("l");
	ok(ui.view == VIEW_METHODS && shows(sentence) && !*fake.method && !fake.wall, "%s", what);
	keys("\033");
}

static void test_refusals(void)
{
	start();
	keys(" ");
	refuses("press space first", "a frozen screen is refused with a sentence");
	keys(" ");
	owner = "jhot process 31";
	refuses("Only the owner of the session, jhot process 31,",
		"so is the session of another jhot");
	owner = "";
	ui.ended = true;
	refuses("The session has ended", "so is a session that has ended");
	ui.ended = false;
	options.recorded = true;
	refuses("This recording has no single calls", "so is a recording");
	options.recorded = false;
	fake.timed = false;
	refuses("The event wall cannot be sampled here.",
		"so is a JVM in which wall cannot be sampled");
	fake.timed = true;
	keys("g");
	ok(strstr(ui_selected(&ui), "copy_user"), "the first row is a kernel function");
	refuses("Select a Java method", "so is a function that is not of Java");
	end();
}

/* Calls of a recording, or measured by the owner of a session that is watched. */
static void test_recorded(void)
{
	start();
	snprintf(fake.method, sizeof(fake.method), "%s", ui_selected(&ui));
	calls_begin(fake.profile, strrchr(fake.method, '.') + 1, 5 * NS_PER_MS);
	feed_calls_init(&fake.calls, fake.profile, fake.method, fake.second * NS_PER_S);
	options.recorded = true;
	seconds(20);
	keys("l");
	ok(ui.view == VIEW_LATENCY && !fake.wall && shows("slowest 1 %") && shows("  last 10s  "),
		"l shows the recorded calls of the window of the samples");
	keys("[");
	ok(shows("  last 5s  ") && ui.scope.time.window == 1, "[ changes that window");
	keys(" ,,\n");
	ok(shows(" polls"), "a call can be opened");
	keys("qq");
	seconds(1);
	ok(*fake.method && calls_name(ui.profile), "leaving the view ends nothing");
	keys(" jjl");
	ok(ui.view == VIEW_METHODS && shows("Only the calls of "),
		"the calls of other methods are not there");
	options.recorded = false;
	end();
}

static void test_time(void)
{
	struct buf before = {0}, after = {0};

	start();
	keys("l");
	seconds(12);
	figures(&before, 12);
	keys(" ");
	seconds(5);
	figures(&after, 12);
	ok(before.len > 300 && shows("FROZEN"), "space freezes the screen");
	is_str(buf_str(&after), buf_str(&before), "a frozen screen keeps its figures");
	keys("\n");
	ok(shows(" polls") && shows("Repo.save"), "a call can be opened while frozen");
	keys("\033,,");
	figures(&after, 12);
	ok(strcmp(buf_str(&after), buf_str(&before)) != 0 && shows("  10s  "),
		", moves the end of the window back");
	keys(" ");
	seconds(1);
	ok(shows("last 18s"), "space resumes");
	keys("[[[");
	ok(shows("last 10s  "), "[ shows the last seconds only");
	keys("[");
	ok(shows("last 5s  "), "and fewer");
	keys("]]]]");
	ok(shows("last 18s"), "] shows all since the view was opened");
	keys("r");
	seconds(3);
	ok(shows("last 3s"), "r begins anew");
	buf_done(&before);
	buf_done(&after);
	end();
}

static void test_calls(void)
{
	char selected[14], text[20];

	start();
	keys("l");
	seconds(10);
	keys("jj");
	ui_draw(&ui);
	for (int row = 0; row < ui.canvas->rows; row++)
		if (canvas_row(ui.canvas, row)[0].ch == '>')
			for (int i = 0; i < 12; i++)
				selected[i] = (char)canvas_row(ui.canvas, row)[1 + i].ch;
	selected[12] = '\0';
	keys("\n");
	ok(shows(selected) && shows(" polls"), "Enter opens the selected call");
	ok(shows("Repo.load: socket read 10.0.0.5:5432") &&
			shows("Repo.save waits for a monitor") && shows("Parser.parse"),
		"it lists what the call did, and where");
	seconds(5);
	ok(shows(selected), "it stays while newer calls are measured");
	keys("\033");
	snprintf(text, sizeof(text), "\n>%s", selected);
	ok(shows(text), "Esc returns to the list, where it is still selected");
	keys("\n");
	keys("jj");
	ok(shows("3 of "), "its phases can be selected");
	keys("\033");
	ok(ui.view == VIEW_LATENCY && shows("SLOWEST CALLS"), "Esc returns to the list");
	ui_draw(&ui);
	keys("\nq");
	ok(ui.view == VIEW_LATENCY && shows("SLOWEST CALLS"), "so does q");
	keys("\nr");
	ok(shows(" has been seen yet"), "measuring anew closes the call");
	end();
}

static uint64_t exported_ns, exported_locked_ns;

/* Sums up the samples of the profile that is to be written. */
static int export_calls(
	void *ctx, const struct app_export *what, char *done, size_t bytes, struct err *err)
{
	struct profile_query q = what->query;

	exported_ns = exported_locked_ns = 0;
	if (what->profile) {
		exported_ns = profile_sum(what->profile, &q).weight;
		q.states = 1u << THREAD_MONITOR;
		exported_locked_ns = profile_sum(what->profile, &q).weight;
	}
	return fake_export(ctx, what, done, bytes, err);
}

static void test_ranges(void)
{
	uint64_t slow_ns;

	start();
	ops.export = export_calls;
	keys("l");
	seconds(20);
	keys("D");
	ok(shows("CALLS: slowest 1 %") && shows("Repo.save waits for a monitor [lock]"),
		"D shows the call tree of the slowest calls, with places and states");
	ok(shows(" *  "), "significant differences are marked");
	keys("j");
	ok(shows("2 of "), "its nodes can be selected");
	seconds(3);
	ok(shows("2 of ") && shows("CALLS: slowest 1 %"), "it stays while calls are measured");
	keys(">");
	ok(!shows("slowest 1 %") && shows(" CALLS: >"), "> selects another range for it");
	keys("\033");
	ok(shows("THESE CALLS SPEND MORE TIME ON") && ui.view == VIEW_LATENCY,
		"Esc returns to the figures, which are of that range");
	keys("<");
	ok(shows("slowest 1 %") && shows("SLOWEST CALLS"), "< returns to the slowest calls");
	keys("x");
	ok(shows("only the calls of the shown range"), "x offers to export these calls");
	keys("\n");
	slow_ns = exported_ns;
	ok(slow_ns > 0 && exported_locked_ns > slow_ns / 2,
		"the file has the stacks of slow calls, which wait for a monitor");
	keys("<x");
	keys("2\n");
	ok(exported_ns > 0 && !exported_locked_ns, "and of another range only those of its calls");
	keys(" D");
	seconds(5);
	ok(shows(" CALLS: <"), "a frozen screen keeps its tree");
	keys(" ");
	keys("r");
	ok(!shows(" CALLS: <") && shows(" has been seen yet"), "measuring anew closes it");
	end();
}

static void test_ends(void)
{
	start();
	fake.uncalled = true;
	ui_resize(&ui, 24, 100);
	keys("l");
	seconds(5);
	ok(shows(" has been seen yet, in 5 s."), "it says for how long no call has been seen");
	keys("[[[[[");
	seconds(1);
	ok(shows("] widens it"), "and that none began in the window");
	fake.uncalled = false;
	keys("]]]]]r");
	seconds(5);
	fake.end = 1;
	seconds(3);
	ok(ui.ended && shows("slowest 1 %") && shows("p99"),
		"the figures stay when the JVM has ended");
	keys("\n");
	ok(shows(" polls"), "so do its calls");
	keys("\033m");
	seconds(1);
	ok(ui.view == VIEW_METHODS, "other views can be shown");
	end();
	start();
	keys("l");
	seconds(3);
	fake.lost = true;
	seconds(1);
	fake.lost = false;
	keys("r");
	ui_attach(&ui, ui.attach_pid);
	seconds(3);
	ok(ui.view == VIEW_METHODS && !*fake.method && !fake.wall,
		"a new session measures nothing");
	end();
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	test_opening();
	test_other_ways();
	test_lines();
	test_wall_on();
	test_refusals();
	test_recorded();
	test_time();
	test_calls();
	test_ranges();
	test_ends();
	return tap_done();
}
