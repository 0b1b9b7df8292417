/* SPDX-License-Identifier: Apache-2.0 */
/* The live view's events: switching, windows of their own, the menu, perf's events, values in their units. */
#include "tests/tap.h"
#include "tests/tui/drive.h"
#include "tests/tui/fake.h"
#include "tui/frame/events.h"
#include "tui/screen/text.h"

static struct fake fake;
static struct ui ui;
static int64_t now;
static int sets, adds;

/* cpu and alloc run from the start; lock cannot be sampled; events of perf are added by name. */
static int set_event(void *ctx, int event, bool on, uint64_t interval, struct err *err)
{
	struct vitals_event *v = &fake.vitals.events[event];

	sets++;
	if (event == EVENT_LOCK)
		return err_set(err, ERR_FAILED, "The event lock cannot be sampled here.");
	v->state = on ? VITALS_ON : VITALS_OFF;
	if (interval)
		v->interval = (int64_t)interval;
	return 0;
}

/* Only cpu has a choice, and its last engine does not work here. */
static int next_engine(void *ctx, int event, struct err *err)
{
	struct vitals_event *v = &fake.vitals.events[event];

	if (event != EVENT_CPU)
		return 1;
	if (!strcmp(v->engine, "ctimer"))
		return err_set(err, ERR_FAILED, "There is no perf here.");
	snprintf(v->engine, sizeof(v->engine), "ctimer");
	return 0;
}

static int add_event(void *ctx, const char *name, struct err *err)
{
	if (strcmp(name, "cache-misses") != 0 && strcmp(name, "branch-misses") != 0)
		return err_set(err, ERR_USAGE, "There is no event \"%s\".", name);
	profile_event_set(fake.profile, EVENT_USER_FIRST + adds, name, "events", 1000);
	return EVENT_USER_FIRST + adds++;
}

/* The vitals stay as the test and its events set them. */
static int drain_event(void *ctx, struct err *err)
{
	struct vitals_event events[VITALS_EVENTS];

	memcpy(events, fake.vitals.events, sizeof(events));
	fake_second(&fake);
	memcpy(fake.vitals.events, events, sizeof(events));
	return 1;
}

static void keys(const char *text)
{
	drive_keys(&ui, now, text);
}

static void seconds(int n)
{
	now = drive_seconds(&ui, now, n);
}

static bool on_screen(const char *text)
{
	return drive_shows(&ui, text);
}

static bool shows(const char *text)
{
	struct buf out = {0};

	if (on_screen(text))
		return true;
	canvas_dump(ui.canvas, &out, false);
	diag("%s", buf_str(&out));
	buf_done(&out);
	return false;
}

static void test_switch(void)
{
	sets = 0;
	keys("2");
	ok(ui.scope.event == EVENT_ALLOC && !sets, "switching to a running event starts nothing");
	ok(ui.begun_ms < now, "switching to a running event is no new start");
	ok(shows("[2 alloc]") && shows("allocated"), "the event is shown in its unit");
	keys("3");
	ok(ui.scope.event == EVENT_ALLOC && shows("The event lock cannot be sampled here."),
		"an event that cannot be started gives the reason, and the view does not change");
	seconds(3);
	keys("4");
	ok(ui.scope.event == EVENT_WALL && sets == 2,
		"switching to an event that is off starts it");
	ok(ui.begun_ms == now, "a started event is polled more often at first");
	seconds(1);
	ok(shows("last 2s (window 10s)"), "a started event's window begins at its start");
	seconds(3);
	ok(shows("last 4s (window 10s)"), "a started event's window grows");
	keys("1");
	ok(shows("window 10s ") && !ui.scope.time.since, "the first event's window is unchanged");
	ok(fake.vitals.events[EVENT_WALL].state == VITALS_ON, "the other event continues to run");
}

static void test_windows(void)
{
	uint32_t frozen;

	keys("1]]");
	ok(shows("window 1m"), "] widens the window");
	keys("2");
	ok(shows("window 10s"), "a window belongs to its event");
	keys("r1");
	ok(ui.scope.time.since == 0, "a restart belongs to its event");
	keys("2");
	ok(ui.scope.time.since > 0 && ui.scope.time.since_before == 0,
		"a restart is kept per event and can be undone");
	keys("U1 ");
	frozen = ui.scope.time.frozen_to;
	seconds(2);
	keys("2");
	ok(ui.scope.time.frozen && ui.scope.time.frozen_to == frozen,
		"freezing applies to all events at one instant");
	keys(" 1[[");
}

static void test_menu(void)
{
	int64_t interval = fake.vitals.events[EVENT_CPU].interval;

	keys("e");
	ok(shows("events") && shows("1 cpu") && shows("3 lock"), "the event menu lists all events");
	ok(shows("10ms"), "the event menu shows intervals");
	keys("+");
	ok(fake.vitals.events[EVENT_CPU].interval == interval * 2, "+ doubles the interval");
	keys("-");
	ok(fake.vitals.events[EVENT_CPU].interval == interval, "- halves the interval");
	snprintf(
		fake.vitals.events[EVENT_CPU].engine, sizeof(fake.vitals.events[0].engine), "perf");
	keys("g");
	ok(shows("on     ctimer"), "g switches to the next engine");
	keys("g");
	ok(shows("There is no perf here.") && shows("on     ctimer"),
		"g reports why an engine is not available");
	keys("jg");
	ok(shows("alloc has only one engine"), "g reports that an event has a single engine");
	keys("jj ");
	ok(fake.vitals.events[EVENT_WALL].state == VITALS_OFF, "Space switches the event off");
	keys("g");
	ok(shows("to change its engine"), "an event that is off has no engine to change");
	keys("+");
	ok(shows("The event is off"), "an event that is off has no interval to change");
	keys(" ");
	ok(fake.vitals.events[EVENT_WALL].state == VITALS_ON, "Space switches the event on");
	keys("k ");
	ok(shows("cannot be sampled here"), "the menu shows why an event cannot be started");
	keys("2");
	ok(!ui.popup && ui.scope.event == EVENT_ALLOC,
		"a number closes the menu and switches to that event");
	keys("1e\033");
	ok(!ui.popup && ui.scope.event == EVENT_CPU, "Esc only closes the menu");
}

static void test_perf(void)
{
	keys("5");
	ok(shows("no such key"), "5 is an unknown key without a perf event");
	keys("eanonsense\n");
	ok(shows("There is no event \"nonsense\"."), "an unknown perf event is reported");
	keys("eacache-misses\n");
	ok(ui.scope.event == EVENT_USER_FIRST && shows("[5 cache-misses]"),
		"a new perf event is shown");
	ok(shows("1 2 3 4 [5"), "other tabs are shortened on a narrow screen");
	keys("6");
	ok(shows("no event has this key"), "the key after the last event is reported as unused");
	keys("ea");
	ok(shows("branch-misses  cache-misses  cache-references  Tab"),
		"the prompt lists perf events");
	keys("ca");
	ok(!shows("branch-misses  ") && shows("cache-misses  cache-references  Tab"),
		"the list contains only events with the typed prefix");
	keys("\t");
	ok(shows("function: cache-  "), "Tab completes the common prefix");
	keys("r\t");
	ok(shows("function: cache-references  "), "Tab completes a unique name");
	keys("\033");
	keys("15");
	ok(ui.scope.event == EVENT_USER_FIRST, "the key of a perf event switches to it");
	seconds(3);
	ok(events_since(&ui, EVENT_USER_FIRST) < profile_info(fake.profile).now,
		"time passes since the perf event started");
	fake.vitals.events[EVENT_USER_FIRST].state = VITALS_OFF;
	adds = 0;
	keys("eabranch-misses\n");
	ok(ui.scope.event == EVENT_USER_FIRST && shows("[5 branch-misses]"),
		"another perf event can reuse the id");
	is_int(ui.scope.time.since, profile_info(fake.profile).now,
		"the reused event's window begins at its start");
	keys("1");
}

static void test_budget(void)
{
	seconds(1);
	fake.vitals.events[EVENT_CPU].interval = 40000000;
	seconds(1);
	ok(shows(" 25Hz, not 100Hz "), "a lengthened interval is shown with the requested one");
	ok(shows("JDK 21.0.4") && !on_screen("up 3d"), "the uptime gives way for it");
	strcpy(fake.vitals.name, "inventory-service.jar");
	ui_draw(&ui);
	ok(shows("JDK 21.0.4") && shows("cpu/ctimer   25Hz  LIVE"),
		"the requested interval gives way before the JDK's version");
	keys("e");
	ok(shows("not 10ms"), "the menu shows the requested interval");
	keys("\033");
	fake.vitals.events[EVENT_CPU].interval = 10000000;
	seconds(1);
	ok(shows("100Hz"), "the normal interval is shown when it is restored");
}

static void test_stops(void)
{
	fake.vitals.safepoint_pct_x10 = 123;
	profile_vitals_set(fake.profile, &fake.vitals);
	ui_draw(&ui);
	ok(shows("stopped 12.3%"),
		"a large share of time at safepoints is shown on a narrow screen");
}

static void test_values(void)
{
	static const struct {
		int event;
		uint64_t value;
		const char *text;
	} rows[] = {
		{EVENT_ALLOC, 1 << 20, "1.0M"},
		{EVENT_LOCK, 999, "999ns"},
		{EVENT_LOCK, 1500000, "1.5ms"},
		{EVENT_LOCK, 999600000, "1.0s"},
		{EVENT_WALL, 34000000000, "34s"},
		{EVENT_USER_FIRST, 999, "999"},
		{EVENT_USER_FIRST, 12345, "12k"},
		{EVENT_USER_FIRST, 1234567, "1.2M"},
		{EVENT_USER_FIRST, UINT64_MAX, "18446744T"},
	};
	char out[TEXT_NUMBER], what[80];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(what, sizeof(what), "a value of %llu of event %d is shown as %s",
			(unsigned long long)rows[i].value, rows[i].event, rows[i].text);
		is_str(events_value(out, &profile_events[rows[i].event], rows[i].value),
			rows[i].text, what);
	}
}

static const char *const *warn(void *ctx, int event)
{
	static const char *const lines[] = {"It leaves something behind.", NULL};

	(void)ctx;
	return event == EVENT_WALL ? lines : NULL;
}

static bool wall_is_on(void)
{
	return fake.vitals.events[EVENT_WALL].state == VITALS_ON;
}

/* An event with a warning starts only after a confirmation, however it is switched on; once confirmed, at once. */
static void test_warning(void)
{
	struct app_options options = {.frame_fd = -1, .attached = true, .events = 0xf};
	struct app_ops ops = fake_ops;

	ops.event_set = set_event;
	ops.event_warning = warn;
	ops.drain = drain_event;
	fake_init(&fake, 400);
	ui_init(&ui, &ops, &fake, &options, true);
	ui_resize(&ui, 24, 80);
	seconds(3);
	fake.vitals.events[EVENT_WALL].state = VITALS_OFF;
	keys("2");
	is_int(ui.scope.event, EVENT_ALLOC, "an event without a warning is shown at once");
	keys("4");
	ok(ui.scope.event == EVENT_ALLOC && !wall_is_on(),
		"an event with a warning is not started at once");
	ok(on_screen("It leaves something behind."), "the warning is shown");
	keys("n");
	ok(!ui.popup && !wall_is_on(), "any key but y leaves the event off");
	keys("ejj ");
	ok(on_screen("It leaves something behind.") && !wall_is_on(),
		"the menu shows the warning, too");
	keys("y");
	ok(ui.scope.event == EVENT_WALL && wall_is_on(), "y starts the event and shows it");
	fake.vitals.events[EVENT_WALL].state = VITALS_OFF;
	keys("14");
	ok(wall_is_on(), "the warning is shown only once");
	ui_done(&ui);
	fake_done(&fake);
}

static const char *event_name(void *ctx, int i)
{
	static const char *const names[] = {"branch-misses", "cache-misses", "cache-references"};

	return i < 3 ? names[i] : NULL;
}

int main(void)
{
	struct app_options options = {.frame_fd = -1, .attached = true, .events = 0xf};
	struct app_ops ops = fake_ops;

	ops.event_set = set_event;
	ops.event_add = add_event;
	ops.event_name = event_name;
	ops.event_engine = next_engine;
	ops.drain = drain_event;
	fake_init(&fake, 400);
	ui_init(&ui, &ops, &fake, &options, true);
	ui_resize(&ui, 24, 80);
	seconds(30);
	test_switch();
	test_windows();
	test_menu();
	test_perf();
	test_budget();
	test_stops();
	test_values();
	ui_done(&ui);
	fake_done(&fake);
	test_warning();
	return tap_done();
}
