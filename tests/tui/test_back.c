/* SPDX-License-Identifier: Apache-2.0 */
/* Esc undoes the last step: searches, filters, zooms, callers and a single thread, in any order. */
#include "profile/query/filter.h"
#include "tests/tap.h"
#include "tests/tui/drive.h"
#include "tests/tui/fake.h"
#include "tui/frame/search.h"
#include "tui/frame/ui.h"

/* How the view is narrowed, as text: view, search, filters, restriction, zoom. */
static void state_of(struct ui *ui, struct buf *out)
{
	struct buf screen = {0};
	bool only;

	canvas_dump(ui->canvas, &screen, false);
	buf_clear(out);
	buf_printf(out, "%d search=%s", (int)ui->view, search_text(ui));
	for (int i = 0; i < filter_count(ui->scope.filter); i++)
		buf_printf(out, " filter=%s", filter_term(ui->scope.filter, i, &only));
	buf_printf(out, " only=%d zoom=%d", ui_is_restricted(ui),
		strstr(buf_str(&screen), " zoom (u) ") != NULL ||
			(strstr(buf_str(&screen), "zoom: ") &&
				!strstr(buf_str(&screen), "zoom: all")));
	buf_printf(out, " crumb=%d none=%d", strstr(buf_str(&screen), " > ") != NULL,
		strstr(buf_str(&screen), "None of ") != NULL);
	buf_done(&screen);
}

/* After the keys `first`, each step narrows the view; as many Esc undo them in reverse order, one more does nothing. */
static void test_steps(const char *first, const char *const *steps, const char *what)
{
	struct app_options options = {.frame_fd = -1, .attached = true, .events = 1};
	struct buf before[8] = {{0}}, now = {0};
	struct fake fake;
	struct ui ui;
	int n = 0, right = 0;

	fake_init(&fake, 400);
	ui_init(&ui, &fake_ops, &fake, &options, false);
	for (int i = 0; i < 12; i++)
		ui_tick(&ui, 1000 * (i + 1));
	drive_keys(&ui, ui.now_ms, first);
	for (; steps[n]; n++) {
		state_of(&ui, &before[n]);
		drive_keys(&ui, ui.now_ms, steps[n]);
		state_of(&ui, &now);
		if (!strcmp(buf_str(&now), buf_str(&before[n])))
			diag("\"%s\" narrows nothing: %s", steps[n], buf_str(&now));
	}
	for (int i = n - 1; i >= 0; i--) {
		drive_keys(&ui, ui.now_ms, "\033");
		state_of(&ui, &now);
		right += !strcmp(buf_str(&now), buf_str(&before[i]));
		if (strcmp(buf_str(&now), buf_str(&before[i])))
			diag("undoing \"%s\": %s, not %s", steps[i], buf_str(&now),
				buf_str(&before[i]));
	}
	is_int(right, n, what);
	drive_keys(&ui, ui.now_ms, "\033");
	state_of(&ui, &now);
	ok(!strcmp(buf_str(&now), buf_str(&before[0])), "a further Esc changes nothing");
	ui_done(&ui);
	fake_done(&fake);
	for (int i = 0; i < 8; i++)
		buf_done(&before[i]);
	buf_done(&now);
}

/* The first JVM's session continues until another one has been attached to. */
static void test_other(void)
{
	struct app_options options = {.frame_fd = -1, .attached = true, .events = 1};
	const struct profile *before;
	struct fake fake;
	struct ui ui;
	uint64_t taken;

	fake_init(&fake, 400);
	ui_init(&ui, &fake_ops, &fake, &options, false);
	drive_seconds(&ui, 0, 5);
	before = ui.profile;
	drive_keys(&ui, ui.now_ms, "t c");
	is_int(ui.view, VIEW_PICKER, "c shows the picker while the screen is frozen");
	taken = profile_info(before).now;
	drive_seconds(&ui, ui.now_ms, 5);
	ok(profile_info(ui.profile).now == taken + 5,
		"sampling continues while the picker is shown");
	drive_keys(&ui, ui.now_ms, "\n");
	ok(ui.view == VIEW_THREADS && ui.profile == before && !ui.attach_pid,
		"choosing the same JVM again returns to the previous view");
	drive_keys(&ui, ui.now_ms, "cgone\n");
	ui_attach(&ui, ui.attach_pid);
	ui_draw(&ui);
	ok(ui.view == VIEW_ERROR && drive_shows(&ui, "only accepts attach"),
		"a JVM that cannot be attached to shows the error view");
	taken = profile_info(before).now;
	drive_seconds(&ui, ui.now_ms, 5);
	ok(ui.profile == before && profile_info(ui.profile).now == taken + 5,
		"the first session continues after a failed attach");
	drive_keys(&ui, ui.now_ms, "c\033\033"); /* the filter, then the list */
	ok(ui.view == VIEW_THREADS && drive_shows(&ui, "shop-api.jar"),
		"Esc returns from the picker to the previous view");
	drive_keys(&ui, ui.now_ms, "cgone\n");
	ui_attach(&ui, ui.attach_pid);
	drive_keys(&ui, ui.now_ms, "\033");
	ok(ui.view == VIEW_THREADS && ui.profile == before,
		"Esc returns from the error to the previous view");
	drive_keys(&ui, ui.now_ms, "c\033kafka\n");
	is_int(ui.attach_pid, 40877, "choosing another JVM attaches to it");
	ui_attach(&ui, ui.attach_pid);
	ok(ui.view == VIEW_METHODS && profile_info(ui.profile).now < taken,
		"another JVM has a new profile");
	ui_done(&ui);
	fake_done(&fake);
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	test_steps("m", (const char *const[]){"/hash\n", "c", "zz", NULL},
		"Esc undoes a search, the picker and its filter, in reverse order");
	test_other();
	test_steps("m", (const char *const[]){"/hash\n", "\\jackson\n", "!get\n", NULL},
		"Esc undoes a search, then filters, in reverse order");
	test_steps("m", (const char *const[]){"\\jackson\n", "/hash\n", "\\get\n", NULL},
		"Esc undoes a search between filters in reverse order");
	test_steps("fjjj", (const char *const[]){"\n", "/parse\n", NULL},
		"Esc undoes a zoom, then a search, in reverse order");
	test_steps("fjjj", (const char *const[]){"/parse\n", "\n", NULL},
		"Esc undoes a search, then a zoom, in reverse order");
	test_steps("Tjjj", (const char *const[]){"\\java\n", "\n", "/get\n", NULL},
		"tree: Esc undoes a filter, a zoom and a search in reverse order");
	test_steps("mg", (const char *const[]){"/a\n", "b", "\\java\n", NULL},
		"callers: Esc undoes a search, the callers and a filter in reverse order");
	test_steps("mg", (const char *const[]){"b", "/e\n", NULL},
		"callers: Esc undoes the callers and a search in reverse order");
	return tap_done();
}
