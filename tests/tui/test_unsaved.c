/* SPDX-License-Identifier: Apache-2.0 */
/* Unsaved samples: q asks about them; where the user cannot be asked, they are saved. */
#include "tests/tap.h"
#include "tests/tui/drive.h"
#include "tests/tui/fake.h"
#include "tui/frame/output.h"
#include "tui/frame/ui.h"

static const struct app_options options = {.frame_fd = -1, .attached = true, .events = 1};

static void begin(struct fake *fake, struct ui *ui, int seconds)
{
	fake_init(fake, 400);
	ui_init(ui, &fake_ops, fake, &options, false);
	drive_seconds(ui, 0, seconds);
}

static void end(struct fake *fake, struct ui *ui)
{
	ui_done(ui);
	fake_done(fake);
}

static unsigned key(struct ui *ui, int key)
{
	unsigned reaction = ui_key(ui, key, ui->now_ms);

	ui_draw(ui);
	return reaction;
}

static void test_question(void)
{
	struct fake fake;
	struct ui ui;

	begin(&fake, &ui, 30);
	ok(key(&ui, 'q') & UI_QUIT, "q quits at once after half a minute of samples");
	end(&fake, &ui);

	begin(&fake, &ui, 90);
	ok(!(key(&ui, 'q') & UI_QUIT), "q does not quit at once after a minute and a half");
	ok(drive_shows(&ui, "of samples have not been saved"), "q asks about unsaved samples");
	ok(!(key(&ui, '\033') & UI_QUIT) && !ui.popup, "Esc cancels quitting");
	key(&ui, 'q');
	ok(key(&ui, 'q') & UI_QUIT && !*output_end(&ui) && !*fake.saved,
		"a second q quits without saving");
	end(&fake, &ui);

	begin(&fake, &ui, 90);
	key(&ui, 'q');
	ok(key(&ui, 'S') & UI_QUIT && strstr(fake.saved, "shop-api.jar-41234-"),
		"S saves and quits");
	end(&fake, &ui);

	begin(&fake, &ui, 90);
	key(&ui, 'S');
	is_int(output_unsaved_s(&ui), 0, "after S nothing is unsaved");
	ok(key(&ui, 'q') & UI_QUIT, "after S q quits at once");
	end(&fake, &ui);
}

static void test_lost(void)
{
	struct fake fake;
	struct ui ui;

	begin(&fake, &ui, 90);
	ui_resize(&ui, 24, 140);
	fake.lost = true;
	drive_seconds(&ui, ui.now_ms, 1);
	ok(ui.ended && *fake.saved, "the samples of a lost session are saved");
	ok(drive_shows(&ui, "saved shop-api.jar"), "the screen names the saved file: %s",
		ui.message.text);
	end(&fake, &ui);

	begin(&fake, &ui, 20);
	fake.lost = true;
	drive_seconds(&ui, ui.now_ms, 1);
	ok(ui.ended && !*fake.saved, "a short lost session is not saved at once");
	fake.lost = false;
	key(&ui, 'r');
	is_int(ui.attach_pid, 41234, "r attaches again");
	ui_attach(&ui, ui.attach_pid);
	ui_draw(&ui);
	ok(*fake.saved && drive_shows(&ui, "saved shop-api.jar"),
		"attaching again saves the short session first");
	is_int(output_unsaved_s(&ui), 0, "the new session has no unsaved samples");
	end(&fake, &ui);

	begin(&fake, &ui, 90);
	ui_attach(&ui, 40877);
	ok(*fake.saved, "choosing another JVM saves the samples of the first");
	end(&fake, &ui);
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	test_question();
	test_lost();
	return tap_done();
}
