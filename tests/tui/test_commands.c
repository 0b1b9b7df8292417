/* SPDX-License-Identifier: Apache-2.0 */
/* The command table: no duplicate keys, every command can be found; and what the keys do to the view. */
#include "tests/tap.h"
#include "tests/tui/drive.h"
#include "tests/tui/fake.h"
#include "tui/frame/command.h"
#include "tui/frame/search.h"

static void each_key_once(enum view_id view)
{
	char what[80];
	int doubles = 0;

	for (int i = 0; i < command_count; i++) {
		for (const struct command_key *k = commands[i].keys; k->key; k++) {
			for (int j = i; j < command_count; j++) {
				const struct command_key *other = j == i ? k + 1 : commands[j].keys;

				for (; other->key; other++) {
					if (other->key != k->key ||
						!(commands[i].views & VIEW_BIT(view)) ||
						!(commands[j].views & VIEW_BIT(view)))
						continue;
					diag("key %d: %s and %s", k->key, commands[i].name,
						commands[j].name);
					doubles++;
				}
			}
		}
	}
	snprintf(what, sizeof(what), "no key of the view %s has two commands",
		view_table[view]->name);
	is_int(doubles, 0, what);
}

static void test_table(void)
{
	int unnamed = 0, hidden = 0, dead = 0;

	for (int view = 0; view < VIEW_COUNT; view++)
		each_key_once((enum view_id)view);
	for (int i = 0; i < command_count; i++) {
		const struct command *c = &commands[i];

		for (int j = 0; j < i; j++)
			unnamed += !strcmp(c->name, commands[j].name);
		dead += !c->run || !c->views || !c->keys[0].key;
		/* ^C needs no explanation. Views like the help have all of their keys in the key line. */
		hidden += !c->help && !c->line && c->keys[0].key != TKEY_CTRL('c') &&
			  !(c->views & VIEW_BIT(VIEW_HELP));
	}
	is_int(unnamed, 0, "each command has a unique name");
	is_int(dead, 0, "each command has keys, views and a function");
	is_int(hidden, 0, "each command is in the help or in the key line");
}

/* The help of a view has every key that works there. */
static void test_help(struct ui *ui, enum view_id view)
{
	struct buf text = {0};
	char what[80];
	int missing = 0;

	ui_resize(ui, 60, 100);
	ui_show(ui, view);
	ui_react(ui, UI_UPDATE);
	ui_key(ui, '?', 0);
	ui_draw(ui);
	canvas_dump(ui->canvas, &text, false);
	for (int i = 0; i < command_count; i++) {
		const struct command *c = &commands[i];
		char entry[128];

		if (!(c->views & VIEW_BIT(view)) || !c->help || (c->available && !c->available(ui)))
			continue;
		snprintf(entry, sizeof(entry), "%s %s", c->shown, c->help);
		if (!strstr(buf_str(&text), entry)) {
			diag("missing: %s", entry);
			missing++;
		}
	}
	snprintf(what, sizeof(what), "the help of the view %s has all of its keys",
		view_table[view]->name);
	is_int(missing, 0, what);
	buf_done(&text);
	ui_key(ui, TKEY_ESC, 0);
	is_int(ui->view, view, "Esc leaves the help");
}

/* Page keys move by what is visible. */
static void test_help_pages(struct ui *ui)
{
	ui_resize(ui, 24, 80);
	ui_show(ui, VIEW_METHODS);
	drive_keys(ui, 0, "?");
	ok(drive_shows(ui, " EVENTS ") && drive_shows(ui, "more"),
		"the help on 24 rows has more rows below");
	ui_key(ui, TKEY_PAGE_DOWN, 0);
	ui_draw(ui);
	ok(!drive_shows(ui, " EVENTS ") && ui_list(ui)->cursor > 10,
		"PgDn shows the next page of the help");
	ui_key(ui, TKEY_PAGE_UP, 0);
	ui_draw(ui);
	ok(drive_shows(ui, " EVENTS "), "PgUp shows the first page of the help again");
	ui_key(ui, TKEY_CTRL('d'), 0);
	ok(ui_list(ui)->cursor > 5, "^D moves half a page");
	ui_key(ui, TKEY_ESC, 0);
}

static void test_unknown_key(struct ui *ui)
{
	int64_t now = 100000;

	ui_resize(ui, 24, 80);
	ui_show(ui, VIEW_METHODS);
	for (int i = 0; i < 40; i++)
		ui_tick(ui, now += 1000);
	drive_keys(ui, now, "o");
	ok(drive_shows(ui, "no such key - ? for help"), "an unknown key is reported");
	ui_tick(ui, now + 1999);
	ok(drive_shows(ui, "no such key"), "the report of an unknown key stays for two seconds");
	ui_tick(ui, now += 2000);
	ok(!drive_shows(ui, "no such key"),
		"the report of an unknown key disappears after two seconds");
}

static void test_time(struct ui *ui, struct fake *fake)
{
	int64_t now = ui->now_ms;

	drive_keys(ui, now, "]");
	ok(drive_shows(ui, "window 30s"), "] widens the window");
	drive_keys(ui, now, "]]]]");
	ok(drive_shows(ui, "window all"), "] widens the window up to \"all\"");
	drive_keys(ui, now, "[[[[[[");
	ok(drive_shows(ui, "window 1s"), "[ narrows the window");
	drive_keys(ui, now, "]]");
	drive_keys(ui, now, " ");
	ok(drive_shows(ui, "FROZEN 22:14:"), "space freezes the screen");
	ui_tick(ui, now += 1000);
	ok(drive_shows(ui, "frozen: 0 newer") || drive_shows(ui, "frozen: 400 newer"),
		"a frozen screen counts newer samples");
	ui_tick(ui, now += 11000);
	ok(drive_shows(ui, "frozen: 800 newer"),
		"the count of newer samples is updated every 10 s");
	drive_keys(ui, now, ",,");
	ok(drive_shows(ui, "frozen: 1 600 newer") || drive_shows(ui, "FROZEN"),
		", moves a second back");
	for (int i = 0; i < 700; i++)
		drive_keys(ui, now, ",");
	ok(drive_shows(ui, "no earlier seconds"), ", stops at the beginning");
	drive_keys(ui, now, " ");
	ok(drive_shows(ui, "LIVE"), "space resumes");
	drive_keys(ui, now, "r");
	ui_tick(ui, now += 1000);
	ui_tick(ui, now += 1000);
	ok(drive_shows(ui, "last 2s (window 10s)"), "r restarts the window");
	drive_keys(ui, now, "U");
	ok(drive_shows(ui, "4 000 samples"), "U undoes the restart");
}

static void test_finding_and_output(struct ui *ui, struct fake *fake)
{
	int64_t now = ui->now_ms;

	drive_keys(ui, now, "3");
	ok(drive_shows(ui, "The event lock cannot be sampled here."),
		"an event that cannot be sampled gives the reason");
	drive_keys(ui, now, "2");
	ok(drive_shows(ui, "[2 alloc]"), "2 shows another event");
	drive_keys(ui, now, "1/hash");
	ok(drive_shows(ui, "find: hash"), "letters typed into a search prompt are not commands");
	drive_keys(ui, now, "\n");
	ok(drive_shows(ui, "/hash: "), "a search shows the number of its matches");
	ui_key(ui, TKEY_ESC, now);
	ok(!drive_shows(ui, "/hash: "), "Esc ends the search");
	fake->existing_saves = 0;
	drive_keys(ui, now, "S");
	ok(strstr(fake->saved, "shop-api.jar-41234-2") && strstr(fake->saved, ".jhot") &&
			drive_shows(ui, "saved "),
		"S saves under a generated name: %s", fake->saved);
	fake->existing_saves = 1;
	drive_keys(ui, now, "S");
	ok(strstr(fake->saved, "-2.jhot") && drive_shows(ui, "-2.jhot"),
		"S appends a number if the name exists: %s", fake->saved);
}

static void clear_line(struct ui *ui)
{
	ui_key(ui, TKEY_CTRL('u'), ui->now_ms);
}

/* However long a message is, all of it can be read at 80 columns. */
static void test_long_message(struct ui *ui)
{
	ui_notify(ui, STYLE_BAD, UI_STAY,
		"The file /var/tmp/profiles/host-17/lock-20261124-130000.collapsed could not be "
		"written: the disk %s is full, and its owner is %s.",
		"/dev/mapper/data-profiles", "nobody-you-know");
	ui_draw(ui);
	ok(drive_shows(ui, " The file /var/tmp/profiles/host") &&
			drive_shows(ui, " be written: the disk /dev") &&
			drive_shows(ui, " nobody-you-know."),
		"a long message is wrapped into several rows");
	ok(drive_shows(ui, "q quit") || drive_shows(ui, "quit"),
		"the message is above the key line");
	ui->message.shown = false;
}

static void test_export_name(struct ui *ui)
{
	drive_keys(ui, ui->now_ms, "x");
	ok(drive_shows(ui, "shop-api.jar-41234-cpu-20") ||
			drive_shows(ui, "shop-api.jar-41234-alloc-20"),
		"x proposes a name like that of S, with the event");
	ui_key(ui, TKEY_ESC, ui->now_ms);
}

static void test_export(struct ui *ui, struct fake *fake)
{
	int64_t now = ui->now_ms;

	drive_keys(ui, now, "x");
	ok(drive_shows(ui, " export ") && drive_shows(ui, ".svg  flame graph") &&
			drive_shows(ui, "Enter writes"),
		"x opens the export dialog");
	clear_line(ui);
	drive_keys(ui, now, "full.svg\n");
	ok(drive_shows(ui, "The disk is full") && ui->popup,
		"a failed export shows its error in the dialog");
	clear_line(ui);
	drive_keys(ui, now, "mine.collapsed");
	ok(drive_shows(ui, "< .coll") || drive_shows(ui, ".collapsed  one line"),
		"a typed suffix selects the format");
	drive_keys(ui, now, "\n");
	ok(!ui->popup && drive_shows(ui, "wrote mine.collapsed"),
		"Enter writes the file and closes the dialog");
	ok(fake->wish.query.to - fake->wish.query.from == 10 &&
			fake->wish.query.event == EVENT_CPU && !fake->wish.threads,
		"the window of the selected event is exported");
	drive_keys(ui, now, "x");
	ok(drive_shows(ui, ".collapsed"), "the export format is remembered");
	clear_line(ui);
	drive_keys(ui, now, "mine.collapsed\n");
	ok(ui->popup && drive_shows(ui, "Press Enter again to overwrite it"),
		"an existing file is confirmed before it is overwritten");
	ui_key(ui, TKEY_LEFT, now);
	drive_keys(ui, now, "\n");
	ok(ui->popup && drive_shows(ui, "Press Enter again to overwrite it"),
		"the confirmation is asked again after another key");
	drive_keys(ui, now, "\n");
	ok(!ui->popup && fake->wish.overwrite, "a second Enter overwrites the file");
	drive_keys(ui, now, "x");
	for (int row = 0; row < 4; row++) {
		ui_key(ui, TKEY_UP, now);
		if (row != 0 && row != 3)
			ui_key(ui, TKEY_RIGHT, now);
	}
	ok(drive_shows(ui, "all threads, separately") &&
			drive_shows(ui, "everything since the start"),
		"arrow keys change what is exported");
	drive_keys(ui, now, "\n");
	ok(fake->wish.threads && fake->wish.query.from == 0 && fake->wish.query.to == UINT32_MAX,
		"the changed selection is exported");
	drive_keys(ui, now, "tx");
	ui_key(ui, TKEY_UP, now);
	ui_key(ui, TKEY_UP, now);
	ui_key(ui, TKEY_LEFT, now);
	ok(drive_shows(ui, "< only "), "the thread selected in Threads can be exported");
	clear_line(ui);
	drive_keys(ui, now, "t.svg\n");
	ok(fake->wish.query.thread != PROFILE_ANY_THREAD && !fake->wish.threads,
		"only the selected thread is exported");
	drive_keys(ui, now, "m");
	drive_keys(ui, now, "x");
	ui_resize(ui, 8, 40);
	ok(drive_shows(ui, "file     "), "the dialog fits the smallest screen");
	ui_key(ui, TKEY_ESC, now);
	ok(!ui->popup, "Esc closes the dialog");
	ui_resize(ui, 24, 80);
}

/* The filter prompt proposes the search text: Enter accepts it, a letter replaces it. */
static void test_proposed(struct ui *ui)
{
	int64_t now = ui->now_ms;

	drive_keys(ui, now, "/jackson\n\\");
	ok(drive_shows(ui, "only stacks with: jackson "),
		"the filter prompt proposes the search text");
	drive_keys(ui, now, "hash");
	ok(drive_shows(ui, "only stacks with: hash "), "typing replaces the proposed text");
	drive_keys(ui, now, "\033\\");
	ui_key(ui, TKEY_BACKSPACE, now);
	ok(drive_shows(ui, "only stacks with: jackso "), "Backspace edits the proposed text");
	drive_keys(ui, now, "\033\\\n");
	ok(drive_shows(ui, " \\jackson "), "Enter accepts the proposed text");
	drive_keys(ui, now, "\033\033");
	ok(!drive_shows(ui, "\\jackson") && !drive_shows(ui, "/jackson"),
		"Esc twice removes filter and search");
}

static void test_filters(struct ui *ui)
{
	int64_t now = ui->now_ms;
	uint64_t all = ui->sums.all.count, only;

	drive_keys(ui, now, "\\jackson\n");
	only = ui->sums.all.count;
	ok(only && only < all && drive_shows(ui, " \\jackson "),
		"\\ keeps only stacks with a name");
	drive_keys(ui, now, "!hashmap\n");
	ok(ui->sums.all.count < only && drive_shows(ui, " \\jackson    !hashmap "),
		"! hides stacks with a name");
	drive_keys(ui, now, "T");
	ok(drive_shows(ui, " \\jackson    !hashmap "), "filters apply to every view");
	drive_keys(ui, now, "m\\nothing\n");
	ok(!ui->sums.all.count && drive_shows(ui, "No sample of this window passes the filters"),
		"a filter that matches nothing is reported");
	ui_key(ui, TKEY_ESC, now);
	ui_key(ui, TKEY_ESC, now);
	ok(ui->sums.all.count == only && !drive_shows(ui, "!hashmap") &&
			drive_shows(ui, " \\jackson "),
		"Esc undoes the last filter");
	ui_key(ui, TKEY_ESC, now);
	ok(ui->sums.all.count == all && !drive_shows(ui, "jackson "),
		"another Esc undoes the filter before");
	ok(drive_shows(ui, "folded (K)"), "the default folding is shown");
	drive_keys(ui, now, "Kg");
	ok(drive_shows(ui, " K framework ") && drive_shows(ui, "[framework frames]"),
		"K hides framework frames");
	drive_keys(ui, now, "KK");
	ok(drive_shows(ui, " K framework native kernel "),
		"K again hides native and kernel frames, too");
	drive_keys(ui, now, "TE");
	ok(drive_shows(ui, "framework frame"), "tree: a run of hidden frames is one row");
	drive_keys(ui, now, "Km");
	ok(ui->sums.all.count == all && drive_shows(ui, " K all frames "),
		"K then shows all frames");
	drive_keys(ui, now, "K");
	ok(ui->sums.all.count == all && drive_shows(ui, "folded (K)"),
		"K finally returns to the default folding");
	drive_keys(ui, now, "L");
	ok(drive_shows(ui, " L lines ") && !drive_shows(ui, ".get "), "L shows lines");
	drive_keys(ui, now, "L");
	ok(!drive_shows(ui, " L lines "), "L again shows methods");
	drive_keys(ui, now, "gjjjL");
	is_int(ui_list(ui)->cursor, 0,
		"the cursor is at the top if the selected row does not exist by line");
	drive_keys(ui, now, "L");
}

static void test_searches(struct ui *ui)
{
	int64_t now = ui->now_ms;
	uint64_t hits;

	drive_keys(ui, now, "gj#");
	ok(*search_text(ui) == '=' && drive_shows(ui, ": 1 of "),
		"# searches for frames like the selected one: %s", search_text(ui));
	ok(ui->sums.searched.count && ui->sums.searched.count < ui->sums.all.count,
		"# shows the share of its matches");
	drive_keys(ui, now, "T/.allocate\n");
	hits = ui->sums.searched.count;
	ok(hits && drive_shows(ui, "nodes") && drive_shows(ui, "of samples"),
		"a search in the tree counts nodes and samples");
	drive_keys(ui, now, "nnnN");
	ok(strstr(ui_selected(ui), ".allocate") != NULL, "n opens the tree at the match: %s",
		ui_selected(ui));
	drive_keys(ui, now, "fm");
	ok(ui->sums.searched.count == hits, "the matches' share is the same in every view");
	ui_key(ui, TKEY_ESC, now);
	ok(!drive_shows(ui, "of samples"), "Esc ends the search in the tree");
}

static void test_diff(struct ui *ui)
{
	int64_t now = ui->now_ms;

	drive_keys(ui, now, "D");
	ok(drive_shows(ui, "no baseline yet"), "D without a baseline explains how to set one");
	drive_keys(ui, now + 3000, "BD");
	ok(drive_shows(ui, " vs 10s to ") && drive_shows(ui, "DELTA"),
		"D shows differences from the baseline");
	drive_keys(ui, now + 6000, "T");
	ok(drive_shows(ui, "DELTA"), "D applies to the tree");
	drive_keys(ui, now + 9000, "mD");
	ok(!drive_shows(ui, " vs 10s"), "D again shows the window only");
	drive_keys(ui, now + 12000, "gjjP");
	drive_keys(ui, now + 12000, "g");
	ui_draw(ui);
	ok(canvas_row(ui->canvas, 5)[0].ch == '>', "P pins a row to the top");
	drive_keys(ui, now + 13000, "j");
	ui_draw(ui);
	ok(canvas_row(ui->canvas, 5)[0].ch == '*', "a pinned row is marked");
	drive_keys(ui, now + 15000, "kP");
}

static void test_ways(struct ui *ui, struct fake *fake)
{
	int64_t now = ui->now_ms;

	drive_keys(ui, now, "t\n");
	ok(ui->view == VIEW_METHODS && drive_shows(ui, " only http-nio"),
		"Enter on a thread restricts the views to it");
	ui_key(ui, TKEY_ESC, now);
	ok(!drive_shows(ui, " only http-nio"), "Esc removes the restriction");
	drive_keys(ui, now, "\n");
	ok(ui->view == VIEW_CALLERS && drive_shows(ui, "CALLERS  "),
		"Enter on a method shows its callers");
	drive_keys(ui, now, "T");
	ok(ui->view == VIEW_TREE && drive_shows(ui, "callers of"),
		"T in Callers shows the tree of callers");
	ui_key(ui, TKEY_ESC, now);
	is_int(ui->view, VIEW_CALLERS, "Esc returns to Callers");
	ui_key(ui, 'k', now);
	drive_keys(ui, now, "\n");
	ok(drive_shows(ui, " > "), "Enter on a caller shows that method's callers");
	ui_key(ui, TKEY_ESC, now);
	ok(ui->view == VIEW_CALLERS && !drive_shows(ui, " > "),
		"Esc returns to the previous method");
	ui_key(ui, TKEY_ESC, now);
	is_int(ui->view, VIEW_METHODS, "Esc returns to Methods");
	is_int(ui_key(ui, TKEY_ESC, now) & UI_QUIT, 0, "Esc does not quit");
	drive_keys(ui, now, "y");
	ok(ui->copy && strlen(ui->copy) > 3, "y copies the selected name");
	fake->lost = true;
	ui_tick(ui, now += 1000);
	ok(drive_shows(ui, "ENDED") && drive_shows(ui, "r: attach again"),
		"a lost session offers to attach again");
	drive_keys(ui, now, "r");
	is_int(ui->attach_pid, ui->vitals->pid, "r attaches to the same JVM");
	ui->attach_pid = 0;
	ui->ended = fake->lost = false;
	fake->end = 1;
	ui_tick(ui, now += 1000);
	ok(!drive_shows(ui, "r: attach again"), "an exited JVM cannot be attached to again");
	ok(drive_shows(ui, "ENDED") && drive_shows(ui, "has exited"), "an exited JVM is reported");
	drive_keys(ui, now, "T");
	ok(drive_shows(ui, "CALL TREE"), "the data of an exited JVM is kept");
	is_int(ui_key(ui, 'q', now) & UI_QUIT, UI_QUIT, "q quits");
}

static void test_absent(void)
{
	struct app_options options = {.frame_fd = -1, .attached = true};
	struct fake fake;
	struct ui ui;

	fake_init(&fake, 100);
	ui_init(&ui, &fake_ops, &fake, &options, false);
	ui_resize(&ui, 24, 80);
	ui_key(&ui, '2', 0);
	ok(ui.scope.event == EVENT_CPU && drive_shows(&ui, "no such key"),
		"an event that is not available has no key");
	ok(!drive_shows(&ui, "alloc"), "an event that is not available has no tab");
	ui_key(&ui, '?', 0);
	ok(!drive_shows(&ui, "alloc"), "an event that is not available is not in the help");
	ui_done(&ui);
	fake_done(&fake);
}

/* A recording may claim a heap of 8 EiB: drawing it must not overflow. */
static void test_beyond(void)
{
	struct app_options options = {.frame_fd = -1, .attached = true};
	struct fake fake;
	struct ui ui;

	fake_init(&fake, 100);
	fake_second(&fake);
	fake.manual = true;
	fake.vitals.heap_used = fake.vitals.heap_max = fake.vitals.rss_bytes = INT64_MAX;
	fake.vitals.gc_count = fake.vitals.gc_time_ns = INT64_MAX;
	fake.vitals.cpu_pct = fake.vitals.gc_pct_x10 = INT32_MAX;
	ui_init(&ui, &fake_ops, &fake, &options, false);
	ui_resize(&ui, 50, 200);
	for (int i = 1; i < 5; i++)
		ui_tick(&ui, i * 1000);
	ok(drive_shows(&ui, "heap"), "values at the limits of their types are drawn");
	ui_done(&ui);
	fake_done(&fake);
}

/* The windows that DELTA compares do not overlap: a minute is compared with the minute before it. */
static void test_windows_apart(void)
{
	static const struct {
		const char *keys, *says;
		int most; /* the longest time, in s, at which nothing is compared yet */
	} rows[] = {{"", " in 20 s", 27}, {"]", " in 30 s", 57}, {"]", " in 60 s", 117}};
	struct app_options options = {.frame_fd = -1, .attached = true};
	struct fake fake;
	struct ui ui;
	int second = 0;

	fake_init(&fake, 100);
	fake_second(&fake);
	fake.manual = true;
	ui_init(&ui, &fake_ops, &fake, &options, false);
	ui_resize(&ui, 50, 200);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (const char *k = rows[i].keys; *k; k++)
			ui_key(&ui, *k, ui.now_ms);
		for (; second < rows[i].most; second++) {
			fake_second(&fake);
			ui_tick(&ui, ui.now_ms + 1000);
		}
		ok(!drive_shows(&ui, rows[i].says),
			"no difference is shown after %d s, too short for two such windows",
			second);
		for (; second < rows[i].most + 4; second++) {
			fake_second(&fake);
			ui_tick(&ui, ui.now_ms + 1000);
		}
		ok(drive_shows(&ui, rows[i].says), "differences are shown %s", rows[i].says);
	}
	ui_done(&ui);
	fake_done(&fake);
}

/* A long refresh interval is respected although samples are read more often. */
static void test_seldom(void)
{
	struct app_options options = {.frame_fd = -1, .attached = true, .interval_ms = 60000};
	struct fake fake;
	struct ui ui;
	int64_t now = 1000000, updated;
	uint32_t before;

	fake_init(&fake, 100);
	ui_init(&ui, &fake_ops, &fake, &options, false);
	ui_tick(&ui, now += 60000);
	updated = ui.job.updated_ms;
	before = fake.second;
	for (int i = 0; i < 5; i++)
		ui_tick(&ui, now += 10000);
	ok(ui.job.updated_ms == updated && fake.second == before + 5,
		"with a refresh of 60 s samples are read every 10 s, but the screen is not "
		"updated");
	ui_tick(&ui, now += 10000);
	ok(ui.job.updated_ms == now, "the screen is updated after 60 s");
	ui_done(&ui);
	fake_done(&fake);
}

int main(void)
{
	struct app_options options = {.frame_fd = -1, .attached = true, .events = 0xf};
	struct fake fake;
	struct ui ui;

	setenv("TZ", "UTC", 1);
	test_table();
	fake_init(&fake, 400);
	ui_init(&ui, &fake_ops, &fake, &options, false);
	test_help(&ui, VIEW_METHODS);
	test_help(&ui, VIEW_THREADS);
	test_help(&ui, VIEW_TREE);
	test_help(&ui, VIEW_FLAME);
	test_help(&ui, VIEW_CALLERS);
	test_help(&ui, VIEW_LATENCY);
	test_help(&ui, VIEW_INFO);
	test_help(&ui, VIEW_FINDINGS);
	test_help_pages(&ui);
	test_unknown_key(&ui);
	test_time(&ui, &fake);
	test_finding_and_output(&ui, &fake);
	test_proposed(&ui);
	test_filters(&ui);
	test_searches(&ui);
	test_diff(&ui);
	test_long_message(&ui);
	test_export_name(&ui);
	test_export(&ui, &fake);
	test_ways(&ui, &fake);
	ui_done(&ui);
	fake_done(&fake);
	test_absent();
	test_windows_apart();
	test_seldom();
	test_beyond();
	return tap_done();
}
