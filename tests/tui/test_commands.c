/* SPDX-License-Identifier: Apache-2.0 */
/* The command table: no duplicate keys, every command can be found; and what the keys do to the view. */
#include "tests/tap.h"
#include "tests/tui/drive.h"
#include "tests/tui/fake.h"
#include "tui/frame/command.h"

static void each_key_once(enum view_id view)
{
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
	is_int(doubles, 0, view_table[view]->name);
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
		/* ^C is the one that nobody needs to be told. Bare views show all of theirs in the key line. */
		hidden += !c->help && !c->line && c->keys[0].key != TKEY_CTRL('c') &&
			  !(c->views & VIEW_BIT(VIEW_HELP));
	}
	is_int(unnamed, 0, "each command has a name of its own");
	is_int(dead, 0, "each has keys, views and a function");
	is_int(hidden, 0, "each stands in the help or in the key line");
}

/* Does the help screen of a view have every key that works there? */
static void test_help(struct ui *ui, enum view_id view)
{
	struct buf text = {0};
	int missing = 0;

	ui_resize(ui, 60, 100);
	ui_show(ui, view);
	ui_react(ui, UI_UPDATE);
	ui_key(ui, '?', 0);
	ui_draw(ui);
	canvas_dump(&ui->canvas, &text, false);
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
	is_int(missing, 0, view_table[view]->name);
	buf_done(&text);
	ui_key(ui, TKEY_ESC, 0);
	is_int(ui->place.view, view, "and leads back");
}

/* Page keys move by what is visible. */
static void test_help_pages(struct ui *ui)
{
	ui_resize(ui, 24, 80);
	ui_show(ui, VIEW_METHODS);
	drive_keys(ui, 0, "?");
	ok(drive_shows(ui, " EVENTS ") && drive_shows(ui, "more"),
		"the help of 24 rows has more below");
	ui_key(ui, TKEY_PAGE_DOWN, 0);
	ui_draw(ui);
	ok(!drive_shows(ui, " EVENTS ") && ui_list(ui)->cursor > 10, "PgDn shows the next page");
	ui_key(ui, TKEY_PAGE_UP, 0);
	ui_draw(ui);
	ok(drive_shows(ui, " EVENTS "), "PgUp the first again");
	ui_key(ui, TKEY_CTRL('d'), 0);
	ok(ui_list(ui)->cursor > 5, "^D half of one");
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
	ok(drive_shows(ui, "no such key - ? for help"), "an unknown key says so");
	ui_tick(ui, now + 1999);
	ok(drive_shows(ui, "no such key"), "for two seconds");
	ui_tick(ui, now += 2000);
	ok(!drive_shows(ui, "no such key"), "and not longer");
}

static void test_time(struct ui *ui, struct fake *fake)
{
	int64_t now = ui->now_ms;

	drive_keys(ui, now, "]");
	ok(drive_shows(ui, "window 30s"), "] widens the window");
	drive_keys(ui, now, "]]]]");
	ok(drive_shows(ui, "window all"), "up to all");
	drive_keys(ui, now, "[[[[[[");
	ok(drive_shows(ui, "window 1s"), "[ narrows it");
	drive_keys(ui, now, "]]");
	drive_keys(ui, now, " ");
	ok(drive_shows(ui, "FROZEN 22:14:"), "space freezes");
	ui_tick(ui, now += 1000);
	ok(drive_shows(ui, "frozen: 0 newer") || drive_shows(ui, "frozen: 400 newer"),
		"and counts what comes");
	ui_tick(ui, now += 11000);
	ok(drive_shows(ui, "frozen: 800 newer"), "now and then");
	drive_keys(ui, now, ",,");
	ok(drive_shows(ui, "frozen: 1 600 newer") || drive_shows(ui, "FROZEN"), ", steps back");
	for (int i = 0; i < 700; i++)
		drive_keys(ui, now, ",");
	ok(drive_shows(ui, "no earlier seconds"), "to the beginning");
	drive_keys(ui, now, " ");
	ok(drive_shows(ui, "LIVE"), "space goes on");
	drive_keys(ui, now, "r");
	ui_tick(ui, now += 1000);
	ui_tick(ui, now += 1000);
	ok(drive_shows(ui, "last 2s (window 10s)"), "r restarts");
	drive_keys(ui, now, "U");
	ok(drive_shows(ui, "4 000 samples"), "U undoes that");
}

static void test_finding_and_output(struct ui *ui, struct fake *fake)
{
	int64_t now = ui->now_ms;

	drive_keys(ui, now, "3");
	ok(drive_shows(ui, "The event lock cannot be sampled here."),
		"an event that cannot be had says why");
	drive_keys(ui, now, "2");
	ok(drive_shows(ui, "[2 alloc]"), "another event");
	drive_keys(ui, now, "1/hash");
	ok(drive_shows(ui, "find: hash"),
		"a search is typed into a prompt, whatever its letters mean");
	drive_keys(ui, now, "\n");
	ok(drive_shows(ui, "/hash: "), "and counts its hits");
	ui_key(ui, TKEY_ESC, now);
	ok(!drive_shows(ui, "/hash: "), "Esc ends it");
	fake->saves_taken = 0;
	drive_keys(ui, now, "S");
	ok(strstr(fake->saved, "shop-api.jar-41234-2") && strstr(fake->saved, ".jhot") &&
			drive_shows(ui, "saved "),
		"S saves under a name of its own: %s", fake->saved);
	fake->saves_taken = 1;
	drive_keys(ui, now, "S");
	ok(strstr(fake->saved, "-2.jhot") && drive_shows(ui, "-2.jhot"),
		"another one where that is taken: %s", fake->saved);
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
		"a long message has as many rows as it needs");
	ok(drive_shows(ui, "q quit") || drive_shows(ui, "quit"), "above the keys");
	ui->place.message.shown = false;
}

static void test_export_name(struct ui *ui)
{
	drive_keys(ui, ui->now_ms, "x");
	ok(drive_shows(ui, "shop-api.jar-41234-cpu-20") ||
			drive_shows(ui, "shop-api.jar-41234-alloc-20"),
		"x proposes a name that begins as that of S does, with the event");
	ui_key(ui, TKEY_ESC, ui->now_ms);
}

static void test_export(struct ui *ui, struct fake *fake)
{
	int64_t now = ui->now_ms;
	uint32_t from, to;

	drive_keys(ui, now, "x");
	ok(drive_shows(ui, " export ") && drive_shows(ui, ".svg  flame graph") &&
			drive_shows(ui, "Enter writes"),
		"x opens the export dialog");
	clear_line(ui);
	drive_keys(ui, now, "full.svg\n");
	ok(drive_shows(ui, "The disk is full") && ui->place.popup,
		"a failed export is a message in it");
	clear_line(ui);
	drive_keys(ui, now, "mine.collapsed");
	ok(drive_shows(ui, "< .coll") || drive_shows(ui, ".collapsed  one line"),
		"a typed suffix chooses the format");
	drive_keys(ui, now, "\n");
	ok(!ui->place.popup && drive_shows(ui, "wrote mine.collapsed"), "Enter writes and closes");
	from = fake->wish.query.from, to = fake->wish.query.to;
	ok(to - from == 10 && fake->wish.query.event == EVENT_CPU && !fake->wish.threads,
		"the window of the event shown, %u to %u", from, to);
	drive_keys(ui, now, "x");
	ok(drive_shows(ui, ".collapsed"), "the format is remembered");
	clear_line(ui);
	drive_keys(ui, now, "mine.collapsed\n");
	ok(ui->place.popup && drive_shows(ui, "Press Enter again to overwrite it"),
		"a file that exists is asked about");
	ui_key(ui, TKEY_LEFT, now);
	drive_keys(ui, now, "\n");
	ok(ui->place.popup && drive_shows(ui, "Press Enter again to overwrite it"),
		"again after any other key");
	drive_keys(ui, now, "\n");
	ok(!ui->place.popup && fake->wish.overwrite, "a second Enter replaces it");
	drive_keys(ui, now, "x");
	for (int row = 0; row < 4; row++) {
		ui_key(ui, TKEY_UP, now);
		if (row != 0 && row != 3)
			ui_key(ui, TKEY_RIGHT, now);
	}
	ok(drive_shows(ui, "all threads, separately") &&
			drive_shows(ui, "everything since the start"),
		"arrows change what is exported");
	drive_keys(ui, now, "\n");
	ok(fake->wish.threads && fake->wish.query.from == 0 && fake->wish.query.to == UINT32_MAX,
		"and that is what is written");
	drive_keys(ui, now, "tx");
	for (int row = 0; row < 2; row++)
		ui_key(ui, TKEY_UP, now);
	ui_key(ui, TKEY_LEFT, now);
	ok(drive_shows(ui, "< only "), "the thread selected in the list of threads can be chosen");
	clear_line(ui);
	drive_keys(ui, now, "t.svg\n");
	ok(fake->wish.query.thread != PROFILE_ANY_THREAD && !fake->wish.threads,
		"and is written alone");
	drive_keys(ui, now, "m");
	drive_keys(ui, now, "x");
	ui_resize(ui, 8, 40);
	ok(drive_shows(ui, "file     "), "the dialog fits the smallest screen");
	ui_key(ui, TKEY_ESC, now);
	ok(!ui->place.popup, "Esc closes it");
	ui_resize(ui, 24, 80);
}

/* What was searched for is proposed as a filter: Enter takes it, a letter begins another one. */
static void test_proposed(struct ui *ui)
{
	int64_t now = ui->now_ms;

	drive_keys(ui, now, "/jackson\n\\");
	ok(drive_shows(ui, "only stacks with: jackson "), "the search is proposed");
	drive_keys(ui, now, "hash");
	ok(drive_shows(ui, "only stacks with: hash "), "typing replaces it");
	drive_keys(ui, now, "\033\\");
	ui_key(ui, TKEY_BACKSPACE, now);
	ok(drive_shows(ui, "only stacks with: jackso "), "Backspace goes on with it");
	drive_keys(ui, now, "\033\\\n");
	ok(drive_shows(ui, " \\jackson "), "Enter takes it");
	drive_keys(ui, now, "\033\033");
	ok(!drive_shows(ui, "\\jackson") && !drive_shows(ui, "/jackson"),
		"Esc, Esc: neither is there");
}

static void test_filters(struct ui *ui)
{
	int64_t now = ui->now_ms;
	uint64_t all = ui->sums.all.count, only;

	drive_keys(ui, now, "\\jackson\n");
	only = ui->sums.all.count;
	ok(only && only < all && drive_shows(ui, " \\jackson "), "\\ leaves only what has a name");
	drive_keys(ui, now, "!hashmap\n");
	ok(ui->sums.all.count < only && drive_shows(ui, " \\jackson    !hashmap "),
		"! hides what has one");
	drive_keys(ui, now, "T");
	ok(drive_shows(ui, " \\jackson    !hashmap "), "in every view");
	drive_keys(ui, now, "m\\nothing\n");
	ok(!ui->sums.all.count && drive_shows(ui, "No sample of this window passes the filters"),
		"a filter that leaves nothing says so");
	ui_key(ui, TKEY_ESC, now);
	ui_key(ui, TKEY_ESC, now);
	ok(ui->sums.all.count == only && !drive_shows(ui, "!hashmap") &&
			drive_shows(ui, " \\jackson "),
		"Esc undoes the last");
	ui_key(ui, TKEY_ESC, now);
	ok(ui->sums.all.count == all && !drive_shows(ui, "jackson "), "one at a time");
	ok(drive_shows(ui, "folded (K)"), "and says what is folded");
	drive_keys(ui, now, "Kg");
	ok(drive_shows(ui, " K framework ") && drive_shows(ui, "[framework frames]"),
		"K hides frameworks");
	drive_keys(ui, now, "KK");
	ok(drive_shows(ui, " K framework native kernel "), "and more");
	drive_keys(ui, now, "TE");
	ok(drive_shows(ui, "framework frame"), "a run of them is one row");
	drive_keys(ui, now, "Km");
	ok(ui->sums.all.count == all && drive_shows(ui, " K all frames "), "or nothing");
	drive_keys(ui, now, "K");
	ok(ui->sums.all.count == all && drive_shows(ui, "folded (K)"), "and at last as it began");
	drive_keys(ui, now, "L");
	ok(drive_shows(ui, " L lines ") && !drive_shows(ui, ".get "), "L shows lines");
	drive_keys(ui, now, "L");
	ok(!drive_shows(ui, " L lines "), "L again methods");
	drive_keys(ui, now, "gjjjL");
	is_int(ui_list(ui)->cursor, 0, "what was selected has no row there: at the top again");
	drive_keys(ui, now, "L");
}

static void test_searches(struct ui *ui)
{
	int64_t now = ui->now_ms;
	uint64_t hits;

	drive_keys(ui, now, "gj#");
	ok(*ui->search.text == '=' && drive_shows(ui, ": 1 of "),
		"# finds frames like this one: %s", ui->search.text);
	ok(ui->sums.searched.count && ui->sums.searched.count < ui->sums.all.count,
		"and their share");
	drive_keys(ui, now, "T/.allocate\n");
	hits = ui->sums.searched.count;
	ok(hits && drive_shows(ui, "nodes") && drive_shows(ui, "of samples"),
		"a search of the whole tree");
	drive_keys(ui, now, "nnnN");
	ok(strstr(ui_selected(ui), ".allocate") != NULL, "opens it at the hit: %s",
		ui_selected(ui));
	drive_keys(ui, now, "fm");
	ok(ui->sums.searched.count == hits, "the same share in every view");
	ui_key(ui, TKEY_ESC, now);
	ok(!drive_shows(ui, "of samples"), "Esc ends it");
}

static void test_diff(struct ui *ui)
{
	int64_t now = ui->now_ms;

	drive_keys(ui, now, "D");
	ok(drive_shows(ui, "no baseline yet"), "D without a baseline says how to get one");
	drive_keys(ui, now + 3000, "BD");
	ok(drive_shows(ui, " vs 10s to ") && drive_shows(ui, "DELTA"),
		"D shows the difference to it");
	drive_keys(ui, now + 6000, "T");
	ok(drive_shows(ui, "DELTA"), "in the tree too");
	drive_keys(ui, now + 9000, "mD");
	ok(!drive_shows(ui, " vs 10s"), "D again only the window");
	drive_keys(ui, now + 12000, "gjjP");
	drive_keys(ui, now + 12000, "g");
	ui_draw(ui);
	ok(canvas_row(&ui->canvas, 5)[0].ch == '>', "P pins a row to the top");
	drive_keys(ui, now + 13000, "j");
	ui_draw(ui);
	ok(canvas_row(&ui->canvas, 5)[0].ch == '*', "and marks it");
	drive_keys(ui, now + 15000, "kP");
}

static void test_ways(struct ui *ui, struct fake *fake)
{
	int64_t now = ui->now_ms;

	drive_keys(ui, now, "t\n");
	ok(ui->place.view == VIEW_METHODS && drive_shows(ui, " only http-nio"),
		"Enter on a thread shows only that");
	ui_key(ui, TKEY_ESC, now);
	ok(!drive_shows(ui, " only http-nio"), "Esc shows all again");
	drive_keys(ui, now, "\n");
	ok(ui->place.view == VIEW_CALLERS && drive_shows(ui, "CALLERS (who pays)"),
		"Enter on a method shows its callers");
	drive_keys(ui, now, "T");
	ok(ui->place.view == VIEW_TREE && drive_shows(ui, "callers of"), "T the tree of them");
	ui_key(ui, TKEY_ESC, now);
	is_int(ui->place.view, VIEW_CALLERS, "Esc leads back");
	ui_key(ui, 'k', now);
	drive_keys(ui, now, "\n");
	ok(drive_shows(ui, " > "), "Enter on a caller walks to it");
	ui_key(ui, TKEY_ESC, now);
	ok(ui->place.view == VIEW_CALLERS && !drive_shows(ui, " > "), "Esc walks back");
	ui_key(ui, TKEY_ESC, now);
	is_int(ui->place.view, VIEW_METHODS, "Esc leads back");
	is_int(ui_key(ui, TKEY_ESC, now) & UI_QUIT, 0, "Esc never quits");
	drive_keys(ui, now, "y");
	ok(ui->copy && strlen(ui->copy) > 3, "y copies the name");
	fake->lost = true;
	ui_tick(ui, now += 1000);
	ok(drive_shows(ui, "ENDED") && drive_shows(ui, "r: again"),
		"a session that is lost can be had again");
	drive_keys(ui, now, "r");
	is_int(ui->attach_pid, ui->vitals->pid, "from the same JVM");
	ui->attach_pid = 0;
	ui->over = fake->lost = false;
	fake->end = 1;
	ui_tick(ui, now += 1000);
	ok(!drive_shows(ui, "r: again"), "a JVM that has ended cannot");
	ok(drive_shows(ui, "ENDED") && drive_shows(ui, "has exited"),
		"a JVM that ends is said to have ended");
	drive_keys(ui, now, "T");
	ok(drive_shows(ui, "CALL TREE"), "and its data stays");
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
		"an event that is not there has no key");
	ok(!drive_shows(&ui, "alloc"), "and no tab");
	ui_key(&ui, '?', 0);
	ok(!drive_shows(&ui, "alloc"), "and no line in the help");
	ui_done(&ui);
	fake_done(&fake);
}

/* A recording may say that the heap has 8 EiB: it is drawn, and the loop goes on. */
static void test_beyond(void)
{
	struct app_options options = {.frame_fd = -1, .attached = true};
	struct fake fake;
	struct ui ui;

	fake_init(&fake, 100);
	fake_second(&fake);
	fake.held = true;
	fake.vitals.heap_used = fake.vitals.heap_max = fake.vitals.rss_bytes = INT64_MAX;
	fake.vitals.gc_count = fake.vitals.gc_time_ns = INT64_MAX;
	fake.vitals.cpu_pct = fake.vitals.gc_pct_x10 = INT32_MAX;
	ui_init(&ui, &fake_ops, &fake, &options, false);
	ui_resize(&ui, 50, 200);
	for (int i = 1; i < 5; i++)
		ui_tick(&ui, i * 1000);
	ok(drive_shows(&ui, "heap"), "figures beyond all bounds are drawn");
	ui_done(&ui);
	fake_done(&fake);
}

/* What DELTA compares has no second in common: a window of a minute is compared with the minute before it. */
static void test_windows_apart(void)
{
	static const struct {
		const char *keys, *says;
		int most; /* seconds that are too few for it */
	} rows[] = {{"", "since 20 s ago", 27}, {"]", "since 30 s ago", 57},
		{"]", "since 60 s ago", 117}};
	struct app_options options = {.frame_fd = -1, .attached = true};
	struct fake fake;
	struct ui ui;
	int second = 0;

	fake_init(&fake, 100);
	fake_second(&fake);
	fake.held = true;
	ui_init(&ui, &fake_ops, &fake, &options, false);
	ui_resize(&ui, 50, 200);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (const char *k = rows[i].keys; *k; k++)
			ui_key(&ui, *k, ui.now_ms);
		for (; second < rows[i].most; second++) {
			fake_second(&fake);
			ui_tick(&ui, ui.now_ms + 1000);
		}
		ok(!drive_shows(&ui, rows[i].says), "%d s are too few for two such windows",
			second);
		for (; second < rows[i].most + 4; second++) {
			fake_second(&fake);
			ui_tick(&ui, ui.now_ms + 1000);
		}
		ok(drive_shows(&ui, rows[i].says), "what differs is said %s", rows[i].says);
	}
	ui_done(&ui);
	fake_done(&fake);
}

/* A refresh that is seldom is so, though samples are taken in all the time. */
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
	updated = ui.updated_ms;
	before = fake.second;
	for (int i = 0; i < 5; i++)
		ui_tick(&ui, now += 10000);
	ok(ui.updated_ms == updated && fake.second == before + 5,
		"a refresh of 60 s: samples are taken in every 10 s, and shown as they were");
	ui_tick(&ui, now += 10000);
	ok(ui.updated_ms == now, "until it is time");
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
