/* SPDX-License-Identifier: Apache-2.0 */
/* Work that is too long for one key press is done in slices: flagged as pending, then equal to a result computed at once. */
#include "tests/tap.h"
#include "tests/tui/drive.h"
#include "tests/tui/fake.h"
#include "tui/frame/ui.h"

static void screen_of(struct ui *ui, struct buf *out)
{
	buf_clear(out);
	ui_draw(ui);
	canvas_dump(ui->canvas, out, false);
}

static void keys(struct ui *ui, const char *text)
{
	for (; *text; text++)
		ui_key(ui, *text, ui->now_ms);
}

static void start(struct ui *ui, struct fake *fake, const struct app_options *options)
{
	fake_init(fake, 400);
	ui_init(ui, &fake_ops, fake, options, false);
	for (int i = 0; i < 45; i++)
		ui_tick(ui, 1000 * (i + 1));
}

/* The same keys give the same screen at once and in slices, and each slice is flagged as pending. */
static void test_same(const char *text, const char *what)
{
	struct app_options options = {.frame_fd = -1, .attached = true, .events = 1};
	struct fake fakes[2];
	struct ui at_once, sliced;
	struct buf want = {0}, got = {0};
	int slices = 0, pending = 0;

	start(&at_once, &fakes[0], &options);
	start(&sliced, &fakes[1], &options);
	sliced.job.slice = 300;
	keys(&at_once, text);
	screen_of(&at_once, &want);
	for (; *text; text++) {
		ui_key(&sliced, *text, sliced.now_ms);
		while (sliced.job.on && slices < 10000) {
			screen_of(&sliced, &got);
			pending += strstr(buf_str(&got), "working...") != NULL;
			ui_work(&sliced);
			slices++;
		}
	}
	screen_of(&sliced, &got);
	ok(slices && slices == pending && !strcmp(buf_str(&want), buf_str(&got)),
		"%s: the same screen in %d slices, %d flagged as pending", what, slices, pending);
	ui_done(&at_once);
	ui_done(&sliced);
	fake_done(&fakes[0]);
	fake_done(&fakes[1]);
	buf_done(&want);
	buf_done(&got);
}

/* Keys that are typed during a job are queued until it is done. */
static void test_between(void)
{
	struct app_options options = {.frame_fd = -1, .attached = true, .events = 1};
	struct fake fake;
	struct ui ui;
	struct buf text = {0};
	uint32_t second;
	unsigned quit = 0;

	start(&ui, &fake, &options);
	ui.job.slice = 50;
	ui_draw(&ui);
	keys(&ui, "]]]]");
	while (ui_busy(&ui))
		ui_work(&ui);
	ui_draw(&ui);
	keys(&ui, "K");
	ok(ui.job.on, "changing the folding starts a job");
	screen_of(&ui, &text);
	ok(strstr(buf_str(&text), "SELF%"), "the previous screen stays during the job");
	ok(ui_key(&ui, 'q', ui.now_ms) & UI_QUIT, "q quits at once during a job");
	keys(&ui, "TE+\n*%/get\nnN");
	screen_of(&ui, &text);
	ok(ui.view == VIEW_METHODS && strstr(buf_str(&text), "working...") &&
			strstr(buf_str(&text), "SELF%"),
		"the previous screen stays while keys are typed");
	ui_resize(&ui, 30, 100);
	screen_of(&ui, &text);
	ok(strstr(buf_str(&text), "working...") && !strstr(buf_str(&text), "SELF%"),
		"after a resize only the note of pending work is shown");
	ui_resize(&ui, 24, 80);
	ok(!(ui_key(&ui, 'q', ui.now_ms) & UI_QUIT) &&
			ui_key(&ui, TKEY_CTRL('c'), ui.now_ms) & UI_QUIT,
		"q after other keys is queued, ^C is not");
	second = fake.second;
	ui_tick(&ui, ui.now_ms + 1000);
	ok(ui.job.on && fake.second == second + 1, "samples are read during a job");
	ok(ui_work(&ui) == 0, "queued keys wait for the job");
	for (int i = 0; i < 100000 && ui_busy(&ui); i++)
		quit |= ui_work(&ui);
	ok(quit & UI_QUIT, "a queued q quits after the job");
	screen_of(&ui, &text);
	ok(ui.view == VIEW_TREE && strstr(buf_str(&text), "TOTAL%") &&
			!strstr(buf_str(&text), "working..."),
		"after the job the queued keys have taken effect");
	ui_done(&ui);
	fake_done(&fake);
	buf_done(&text);
}

static struct ui *drawn_meanwhile;

static int attach_and_draw(void *ctx, int pid, int event, struct err *err)
{
	ui_draw(drawn_meanwhile);
	return fake_attach(ctx, pid, event, err);
}

/* A lost session is reattached to from any view; that may take long, and the screen is drawn meanwhile. */
static void test_attach(void)
{
	static const char *const views[] = {"m", "t", "T", "f", "m\n", "fi/a\n"};
	struct app_options options = {.frame_fd = -1, .attached = true, .events = 1};
	struct app_ops ops = fake_ops;
	int right = 0;

	ops.attach = attach_and_draw;
	for (size_t i = 0; i < 6; i++) {
		struct fake fake;
		struct ui ui;

		fake_init(&fake, 400);
		ui_init(&ui, &ops, &fake, &options, false);
		ui_resize(&ui, 50, 160);
		drawn_meanwhile = &ui;
		drive_keys(&ui, drive_seconds(&ui, 1000, 5), views[i]);
		fake.lost = true;
		drive_seconds(&ui, ui.now_ms, 1);
		fake.lost = false;
		drive_keys(&ui, ui.now_ms, "r");
		ui_attach(&ui, ui.attach_pid);
		right += ui.profile && ui.view == VIEW_METHODS;
		ui_done(&ui);
		fake_done(&fake);
	}
	is_int(right, 6, "every view is drawn while a session is reattached");
}

/* Drawing runs no queries: calls of these functions are counted (-Wl,--wrap). */
static int queries;

#define COUNTED(type, name, params, args)  \
	type __real_##name params;         \
	type __wrap_##name params;         \
	type __wrap_##name params          \
	{                                  \
		queries++;                 \
		return __real_##name args; \
	}
COUNTED(void, profile_each,
	(const struct profile *p, const struct profile_query *q, profile_each_fn *fn, void *ctx),
	(p, q, fn, ctx))
COUNTED(struct profile_sum, profile_sum, (const struct profile *p, const struct profile_query *q),
	(p, q))
COUNTED(void, profile_history,
	(const struct profile *p, int event, uint32_t to, int64_t *out, uint32_t n),
	(p, event, to, out, n))
COUNTED(uint32_t, profile_covered, (const struct profile *p, const struct profile_query *q), (p, q))
COUNTED(bool, profile_waited,
	(const struct profile *p, uint32_t thread, uint32_t from, uint32_t to,
		struct profile_waited *out),
	(p, thread, from, to, out))

static void test_draw(void)
{
	static const char *const views[] = {"s", "t", "T", "f", "\n", "I", "w", "t?"};
	struct app_options options = {.frame_fd = -1, .attached = true, .events = 1};
	struct fake fake;
	struct ui ui;

	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		start(&ui, &fake, &options);
		ui_resize(&ui, 60, 200);
		queries = 0;
		drive_keys(&ui, ui.now_ms, views[i]);
		ui_draw(&ui);
		int updated = queries;
		ui_draw(&ui);
		ok(updated > 0 && queries == updated,
			"drawing view %zu again runs no queries, of %d at first", i, updated);
		ui_done(&ui);
		fake_done(&fake);
	}
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	test_same("K", "hidden frames, and the window before");
	test_same("BKDL", "hidden, by line, and a baseline");
	test_same("]]]]K", "hidden frames");
	test_same("KKLT", "hidden, by line, the tree");
	test_same("]]]]Lf", "by line, the flame graph");
	test_same("]]]]\\get\n", "a filter over all");
	test_same("]]]]KLb", "callers");
	test_same("]]]]T=tTi", "the tree by thread and back");
	test_between();
	test_attach();
	test_draw();
	return tap_done();
}
