/* SPDX-License-Identifier: Apache-2.0 */
/* Keys and ticks while something slow is pending: the process list, the JVM. */
#include "tests/tap.h"
#include "tests/tui/drive.h"
#include "tests/tui/fake.h"
#include "tui/frame/command.h"
#include "tui/frame/ui.h"

static int lists;        /* calls so far */
static bool list_unread; /* the list is incomplete */

static int counted_list(void *ctx, const struct app_jvm **out, struct err *err)
{
	lists++;
	if (list_unread)
		err_set(err, ERR_BUSY, "Still looking.");
	return fake_list(ctx, out, err);
}

/* Typing filters the rows that are there; it does not scan the processes again. */
static void test_picker(void)
{
	struct app_options options = {.frame_fd = -1, .events = 1};
	struct app_ops ops = fake_ops;
	struct fake fake;
	struct ui ui;
	int before;

	ops.list = counted_list;
	list_unread = true;
	fake_init(&fake, 400);
	ui_init(&ui, &ops, &fake, &options, false);
	ui_tick(&ui, 1000);
	ok(picker_is_listing(&ui), "an incomplete process list is requested again soon");
	before = lists;
	drive_keys(&ui, 1000, "kafka");
	is_int(lists, before, "a typed key does not request the list");
	ok(drive_shows(&ui, "kafka.Kafka") && !drive_shows(&ui, "shop-api.jar"),
		"a typed key filters the present list");
	drive_keys(&ui, 1000, "\033");
	is_int(lists, before, "Esc does not request the list");
	ok(drive_shows(&ui, "shop-api.jar"), "Esc shows the whole list again");
	list_unread = false;
	ui_tick(&ui, 1050);
	ok(lists == before + 1 && !picker_is_listing(&ui), "the next tick completes the list");
	drive_keys(&ui, 1050, "zz");
	ui_tick(&ui, 1100);
	ok(drive_shows(&ui, "None of 6 JVMs matches"),
		"the filter persists when the list is updated");
	ui_done(&ui);
	fake_done(&fake);
}

static const char *late_names; /* the note of the session */

static const char *note_names(void *ctx)
{
	return late_names;
}

/* Late and missing names are a badge in the status line, without their explanation, like other notes. */
static void test_late_names(void)
{
	struct app_options options = {.frame_fd = -1, .events = 1, .attached = true};
	struct app_ops ops = fake_ops;
	struct fake fake;
	struct ui ui;

	ops.names_note = note_names;
	late_names = "waiting for names: reading /usr/lib/libbig.so";
	fake_init(&fake, 400);
	ui_init(&ui, &ops, &fake, &options, false);
	ui_resize(&ui, 60, 120);
	ui_tick(&ui, 1000);
	ok(drive_shows(&ui, " waiting for names") && !drive_shows(&ui, "libbig.so"),
		"the status line says that names are pending");
	late_names = "12 stacks have addresses instead of names: the files were not read in time";
	ui_tick(&ui, 2000);
	ok(drive_shows(&ui, " 12 stacks have addresses instead of names") &&
			!drive_shows(&ui, "waiting for names"),
		"the status line says that names are missing");
	drive_keys(&ui, 2000, "I");
	ok(drive_shows(&ui, "the files were"), "the info view has the whole note");
	late_names = "";
	drive_keys(&ui, 2000, "\033");
	ui_tick(&ui, 3000);
	ok(!drive_shows(&ui, "instead of names"), "without a note the status line has no badge");
	ui_done(&ui);
	fake_done(&fake);
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	test_picker();
	test_late_names();
	return tap_done();
}
