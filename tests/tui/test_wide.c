/* SPDX-License-Identifier: Apache-2.0 */
/* The widest screens, with names longer than any buffer and impossible figures. */
#include "tests/tap.h"
#include "tests/tui/drive.h"
#include "tests/tui/fake.h"
#include "tui/screen/name.h"
#include "tui/screen/theme.h"

/* Fits a name of `packages` packages of `letters` each. True when nothing is written beyond `size` and the method is kept. */
static bool name_stays(uint32_t packages, int letters, size_t size, int width)
{
	char buffer[2048], name[4096] = "";
	struct profile_method m = {name, "compute", "", "", name};
	size_t len = 0;

	for (uint32_t i = 0; i < packages; i++)
		len += (size_t)snprintf(
			name + len, sizeof(name) - len, "%0*d.", letters, (int)i + 1);
	snprintf(name + len, sizeof(name) - len, "Engine");
	memset(buffer, '#', sizeof(buffer));
	name_fit(buffer, size, &m, width, NAME_FULL, "~");
	for (size_t i = size; i < sizeof(buffer); i++)
		if (buffer[i] != '#')
			return false;
	return strlen(buffer) < size && strstr(buffer, "Engine.compute");
}

static void test_names(void)
{
	int bad = 0, count = 0;

	for (uint32_t packages = 0; packages < 300; packages += 7)
		for (int letters = 1; letters <= 12; letters += 3)
			for (size_t size = 32; size <= 512; size *= 4)
				for (int width = 20; width <= 1000; width += 35, count++)
					bad += !name_stays(packages, letters, size, width);
	ok(!bad, "%d names and widths: %d overflowed or lost the method", count, bad);
}

static void test_tops(void)
{
	int64_t values[] = {5, -1, 100, 7};

	is_int(glyph_top(values, 4, 8), 128, "a scale's top is a unit doubled");
	values[1] = INT64_MAX;
	is_int(glyph_top(values, 4, 10), 10 * (1ll << 59), "a scale's top does not overflow");
}

/* True when the row that begins with `label` ends with `last`. */
static bool line_is(struct ui *ui, const char *label, const char *last)
{
	struct buf out = {0};
	const char *at, *end;
	bool right;

	ui_draw(ui);
	canvas_dump(ui->canvas, &out, false);
	at = strstr(buf_str(&out), label);
	end = at ? strchr(at + 1, '\n') : NULL;
	right = end && (size_t)(end - at) > strlen(last) &&
		!strncmp(end - strlen(last), last, strlen(last));
	buf_done(&out);
	return right;
}

static bool screen_has(struct ui *ui, const char *text)
{
	struct buf out = {0};
	bool has;

	ui_draw(ui);
	canvas_dump(ui->canvas, &out, false);
	has = strstr(buf_str(&out), text) != NULL;
	if (!has)
		diag("%.300s", buf_str(&out));
	buf_done(&out);
	return has;
}

static void test_screens(void)
{
	struct app_options options = {.frame_fd = -1, .attached = true, .events = 1};
	struct fake fake;
	struct ui ui;
	int64_t now;

	fake_init(&fake, 50);
	ui_init(&ui, &fake_ops, &fake, &options, true);
	now = drive_seconds(&ui, 0, 700);
	ui_resize(&ui, 60, 1000);
	ok(line_is(&ui, "\n cpu  ", "/s"), "the strip is drawn over 1,000 columns");
	fake.manual = true;
	for (int i = 0; i < 3; i++) {
		profile_advance(fake.profile, ++fake.second);
		fake.vitals.heap_used = fake.vitals.heap_max = INT64_MAX;
		fake.vitals.gc_pct_x10 = INT32_MAX;
		fake.vitals.uptime_s = INT64_MAX;
		now = drive_seconds(&ui, now, 1);
	}
	ok(line_is(&ui, "\n heap  ", "1.6E"), "values at the limits of their types have a mean");
	for (const char *key = "mtTibf"; *key; key++) {
		char keys[2] = {*key, '\0'};

		ui_resize(&ui, 60, 1000);
		drive_keys(&ui, now, keys);
		ok(screen_has(&ui, "jhot"), "'%s' at 60x1000 has its header", keys);
		ui_resize(&ui, 4, 1000);
		ok(screen_has(&ui, "(needs 40x8)"), "4 rows show the minimum size");
		ui_resize(&ui, 1, 1);
		ui_draw(&ui);
		is_int(ui.canvas->rows * ui.canvas->cols, 1, "1x1 shows a single cell");
	}
	ui_done(&ui);
	fake_done(&fake);
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	test_names();
	test_tops();
	test_screens();
	return tap_done();
}
