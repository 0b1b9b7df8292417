/* SPDX-License-Identifier: Apache-2.0 */
/* The methods view: sorting by difference, and its message when it is empty. */
#include "profile/profile.h"
#include "tests/profile/add.h"
#include "tests/tap.h"
#include "tests/tui/drive.h"
#include "tests/tui/fake.h"
#include "tui/frame/ui.h"

/*
 * Sorted by DELTA, a difference that may be chance ("~") sorts as 0. A method that rises from 0 to 0.25 % is a
 * significant difference; those of methods with half of the samples are larger, and chance.
 */
static void test_delta_order(void)
{
	struct app_options options = {.frame_fd = -1, .attached = true};
	struct buf screen = {0};
	const char *rising, *chance;
	struct fake fake;
	struct ui ui;

	fake_init(&fake, 400);
	ui_init(&ui, &fake_ops, &fake, &options, false);
	ui_resize(&ui, 50, 160);
	for (int i = 0; i < 12; i++)
		ui_tick(&ui, ui.now_ms + 1000);
	drive_keys(&ui, ui.now_ms, "B");
	for (int i = 0; i < 12; i++) {
		ui_tick(&ui, ui.now_ms + 1000);
		profile_add(fake.profile, EVENT_CPU, fake.second - 1,
			feed_push(&fake.cpu, PROFILE_ROOT_STACK,
				profile_method(fake.profile, "app.Rising", "method", "()V", ""),
				FRAME_COMPILED, 1),
			1, 1, 10000000);
	}
	drive_keys(&ui, ui.now_ms + 1000, "D>");
	ui_draw(&ui);
	canvas_dump(ui.canvas, &screen, false);
	rising = strstr(buf_str(&screen), "app.Rising.method");
	chance = strstr(buf_str(&screen), "  ~ ");
	ok(rising && chance && rising < chance,
		"a significant rise sorts above insignificant differences");
	buf_done(&screen);
	ui_done(&ui);
	fake_done(&fake);
}

/* A baseline of "all" is of the seconds in which its event was sampled. */
static void test_baseline_span(void)
{
	struct app_options options = {.frame_fd = -1, .attached = true, .events = 0xf};
	struct fake fake;
	struct ui ui;
	char want[64];

	fake_init(&fake, 400);
	ui_init(&ui, &fake_ops, &fake, &options, false);
	ui_resize(&ui, 50, 160);
	for (int i = 0; i < 12; i++) {
		ui_tick(&ui, ui.now_ms + 1000);
		profile_event_runs(fake.profile, EVENT_CPU, fake.second, i >= 8);
	}
	while (ui.scope.time.window < TIMELINE_WINDOWS - 1)
		drive_keys(&ui, ui.now_ms, "]");
	snprintf(want, sizeof(want), "baseline set: %u s up to",
		timeline_to(&ui.scope.time, fake.profile) - (fake.second - 3));
	drive_keys(&ui, ui.now_ms, "B");
	ok(drive_shows(&ui, want), "B reports the seconds of the baseline: %s", want);
	ui_done(&ui);
	fake_done(&fake);
}

/* What an empty list says: "nothing to sample" only of seconds that were sampled. */
static void test_empty(void)
{
	struct app_options options = {.frame_fd = -1, .attached = true, .events = 0xf};
	struct fake fake;
	struct ui ui;

	fake_init(&fake, 100);
	fake.idle = true;
	profile_event_runs(fake.profile, EVENT_CPU, 0, true);
	ui_init(&ui, &fake_ops, &fake, &options, false);
	ui_draw(&ui);
	ok(drive_shows(&ui, "Sampling cpu: the first rows appear within a second."),
		"before the first second the list says that rows will appear");
	fake.manual = true;
	for (int i = 0; i < 4; i++) {
		fake_second(&fake);
		ui_tick(&ui, ui.now_ms + 1000);
	}
	ok(drive_shows(&ui, "The JVM used no CPU in the last 4 s, "),
		"an idle JVM is reported with the seconds sampled so far");
	fake.vitals.cpu_pct = 69;
	ui_react(&ui, UI_UPDATE);
	ok(drive_shows(&ui, "No samples in the last 4 s yet, although"),
		"a busy JVM without samples is reported");
	fake.vitals.cpu_pct = 0;
	for (int i = 0; i < 6; i++)
		drive_keys(&ui, ui.now_ms, "]");
	ok(drive_shows(&ui, "The JVM used no CPU since sampling began, "),
		"with the window \"all\" an idle JVM is reported since sampling began");
	for (int i = 0; i < 6; i++)
		drive_keys(&ui, ui.now_ms, "[");
	profile_event_runs(fake.profile, EVENT_ALLOC, fake.second + 1, true);
	drive_keys(&ui, ui.now_ms, " 2");
	ok(drive_shows(&ui, "alloc was not sampled in this window."),
		"a frozen window before the event's start is reported as not sampled");
	fake.vitals.events[EVENT_WALL].state = VITALS_ON;
	drive_keys(&ui, ui.now_ms, " 4");
	ok(drive_shows(&ui, "Sampling wall: the first rows appear within a second."),
		"an event whose sampling has only just begun is not reported as empty");
	ui_done(&ui);
	fake_done(&fake);
}

/* Samples that were lost or broken count in the windows that they were taken in. */
static void test_quality(void)
{
	struct app_options options = {.frame_fd = -1, .attached = true, .events = 1};
	struct fake fake;
	struct ui ui;

	fake_init(&fake, 100);
	ui_init(&ui, &fake_ops, &fake, &options, false);
	ui_resize(&ui, 24, 120);
	for (int i = 0; i < 30; i++) {
		ui_tick(&ui, ui.now_ms + 1000);
		fake.vitals.lost = i >= 5 ? 7 : 0;
		fake.vitals.counter_count = 1;
		fake.vitals.counters[0].value = i >= 5 ? 100 : 0;
		strcpy(fake.vitals.counters[0].name, "break_native");
		fake.vitals.events[EVENT_CPU].samples = 100 * (i + 1);
		profile_vitals_set(fake.profile, &fake.vitals);
		ui_react(&ui, UI_UPDATE);
		if (i == 8)
			ok(drive_shows(&ui, "lost 7") && drive_shows(&ui, "broken "),
				"a loss is shown while it is in the window");
	}
	ok(drive_shows(&ui, "lost 0") && !drive_shows(&ui, "broken "),
		"a loss 20 s ago is not shown for a window of 10 s");
	for (int i = 0; i < 6; i++)
		drive_keys(&ui, ui.now_ms, "]");
	ok(drive_shows(&ui, "lost 7") && drive_shows(&ui, "broken "),
		"with the window \"all\" the loss is shown");
	ui_done(&ui);
	fake_done(&fake);
}

/* The selected row from its method's name on. Returns false if there is none. */
static bool selected(struct ui *ui, char out[64])
{
	struct buf screen = {0};
	const char *line, *name;

	ui_draw(ui);
	canvas_dump(ui->canvas, &screen, false);
	line = strstr(buf_str(&screen), "\n>");
	name = line ? strstr(line, "app.") : NULL;
	snprintf(out, 64, "%.*s", name ? (int)strcspn(name, " \n") : 0, name ? name : "");
	buf_done(&screen);
	return *out != '\0';
}

/*
 * Methods come and leave for so long that the model gives their ids to others. The selected row stays the method that the
 * user selected, without samples.
 */
static void test_selection_kept(void)
{
	struct app_options options = {.frame_fd = -1, .attached = true, .events = 1};
	char before[64], after[64], name[32];
	struct fake fake;
	struct ui ui;

	fake_init(&fake, 100);
	fake.idle = true;
	profile_set_budget(fake.profile, 1 << 20);
	ui_init(&ui, &fake_ops, &fake, &options, false);
	ui_resize(&ui, 30, 120);
	for (uint32_t second = 0; second < 2000; second++) {
		ui_tick(&ui, ui.now_ms + 1000);
		for (uint32_t i = 0; i < 60; i++) {
			snprintf(name, sizeof(name), "m%u_%u", second, i);
			profile_add(fake.profile, EVENT_CPU, fake.second - 1,
				feed_push(&fake.cpu, PROFILE_ROOT_STACK,
					profile_method(fake.profile, "app.Some", name, "()V", ""),
					FRAME_COMPILED, 1),
				1, 1, 10000000);
		}
		if (second == 5) {
			drive_keys(&ui, ui.now_ms, "jj");
			ok(selected(&ui, before), "a row is selected: %s", before);
		}
	}
	selected(&ui, after);
	is_str(after, before, "the same method is selected after the other methods were evicted");
	ui_done(&ui);
	fake_done(&fake);
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	test_delta_order();
	test_baseline_span();
	test_empty();
	test_quality();
	test_selection_kept();
	return tap_done();
}
