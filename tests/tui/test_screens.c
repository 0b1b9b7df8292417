/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden screens: every view in four or five sizes and two character sets, against tests/tui/golden/NAME.txt.
 *
 * Lines of header and footer that are those of the first screen, methods, in the same size are a ditto mark, so that a
 * change of them rewrites one file.
 *
 * After a wanted change `make golden` writes them anew; the difference is then reviewed as any other.
 */
#include "tests/tap.h"
#include "tests/tui/fake.h"
#include "tui/frame/ui.h"

#include <errno.h>

#define WARM_S      40
#define TEN_SECONDS "\001" /* among keys: they pass */

struct screen {
	const char *name;
	const char *keys; /* typed after 40 s, and one second later the picture is taken */
	bool picker, idle, ended, broken, styles, pane;
	uint32_t warm_s;
};

static const struct screen screens[] = {
	{.name = "methods", .keys = "jjj", .styles = true, .pane = true},
	{.name = "methods-total", .keys = "s"},
	{.name = "methods-broken", .keys = "", .broken = true},
	{.name = "methods-found", .keys = "/parse\n", .styles = true},
	{.name = "methods-frozen", .keys = " ,,"},
	{.name = "methods-filtered", .keys = "\\jackson\n!hashmap\n", .styles = true},
	{.name = "methods-filtered-away", .keys = "\\nothing\n"},
	{.name = "methods-hidden", .keys = "K"},
	{.name = "methods-lines", .keys = "L"},
	{.name = "methods-same", .keys = "jj#"},
	{.name = "methods-pinned", .keys = "jjjPjjPg"},
	{.name = "methods-diff", .keys = "BD" TEN_SECONDS TEN_SECONDS, .styles = true},
	{.name = "methods-prompt", .keys = "/pa"},
	{.name = "methods-names", .keys = "p"},
	{.name = "methods-unknown-key", .keys = "w"},
	{.name = "methods-start", .keys = "", .warm_s = 2},
	{.name = "methods-ended", .keys = "", .ended = true},
	{.name = "threads", .keys = "tjj", .styles = true, .pane = true},
	{.name = "threads-merged", .keys = "t=", .pane = true},
	{.name = "only-thread", .keys = "t\n"},
	{.name = "tree", .keys = "Tjjj", .styles = true, .pane = true},
	{.name = "tree-inverted", .keys = "Tijl"},
	{.name = "tree-threads", .keys = "T=*"},
	{.name = "tree-found", .keys = "T/allocate\nnn", .styles = true},
	{.name = "tree-hidden", .keys = "TKKKE", .styles = true},
	{.name = "tree-lines", .keys = "TLiE"},
	{.name = "tree-diff", .keys = "BDT" TEN_SECONDS TEN_SECONDS, .styles = true},
	{.name = "tree-zoom", .keys = "Tjj\n"},
	{.name = "callers", .keys = "jj\n", .styles = true},
	{.name = "callers-diff", .keys = "jj\nBD" TEN_SECONDS TEN_SECONDS},
	{.name = "callers-walked", .keys = "jjjjj\nk\n"},
	{.name = "callers-tree", .keys = "jj\nT"},
	{.name = "flame", .keys = "fjjj", .styles = true, .pane = true},
	{.name = "flame-zoom", .keys = "fjj\n"},
	{.name = "flame-hidden", .keys = "fKKK"},
	{.name = "flame-diff", .keys = "BDfjj" TEN_SECONDS TEN_SECONDS},
	{.name = "flame-found", .keys = "fi/parse\n"},
	{.name = "alloc", .keys = "2"},
	{.name = "help-methods", .keys = "?"},
	{.name = "help-threads", .keys = "t?"},
	{.name = "help-tree", .keys = "T?"},
	{.name = "help-flame", .keys = "f?"},
	{.name = "help-callers", .keys = "b?"},
	{.name = "info", .keys = "I", .styles = true},
	{.name = "help-info", .keys = "I?"},
	{.name = "picker", .keys = "", .picker = true, .styles = true},
	{.name = "picker-filter", .keys = "ka", .picker = true},
	{.name = "error", .keys = "gone\n", .picker = true, .styles = true},
	{.name = "idle", .keys = "", .idle = true},
};

static const struct {
	int cols, rows;
} sizes[] = {{80, 24}, {40, 10}, {120, 40}, {200, 60}, {160, 50}};
#define SIZES       (sizeof(sizes) / sizeof(sizes[0]))
#define SIZES_PANES 1 /* the last: only of what has a pane there */
#define DITTO       "\"\n"

static struct buf first[SIZES][2];

/* The next so many lines at *text, which moves behind them; their bytes. */
static size_t take_lines(const char **text, int lines)
{
	const char *end = *text;
	size_t bytes;

	while (lines-- > 0)
		end += strcspn(end, "\n") + 1;
	bytes = (size_t)(end - *text);
	*text = end;
	return bytes;
}

/* Each row is two lines of a dump, text and styles; the second is compared and written only if it is wanted. */
static void add_screen(
	struct buf *out, const struct ui *ui, const char *screen, const char *same, bool styles)
{
	int rows = ui->canvas.rows, head = header_rows(ui), foot = rows - footer_rows(ui);

	for (int row = 0; row < rows; row++) {
		const char *mine = screen, *its = same, *rest;
		size_t bytes = take_lines(&screen, 1 + styles), its_bytes;

		rest = same;
		its_bytes = take_lines(&rest, 1 + styles);
		if (!styles)
			take_lines(&screen, 1);
		take_lines(&same, 2);
		if (mine != its && (row < head || row >= foot) && bytes == its_bytes &&
			!memcmp(mine, its, bytes))
			buf_adds(out, DITTO);
		else
			buf_add(out, mine, bytes);
	}
}

static void draw(const struct screen *s, size_t size, bool ascii, struct buf *out)
{
	int cols = sizes[size].cols, rows = sizes[size].rows;
	struct buf screen = {0}, *same = &first[size][ascii];
	struct app_options options = {.frame_fd = -1, .attached = !s->picker, .events = 0xf};
	struct fake fake;
	struct ui ui;
	int64_t now = 0;

	fake_init(&fake, 400);
	fake.idle = s->idle;
	fake.broken = s->broken;
	ui_init(&ui, &fake_ops, &fake, &options, ascii);
	ui_resize(&ui, rows, cols);
	for (uint32_t i = 0; i < (s->warm_s ? s->warm_s : WARM_S); i++)
		ui_tick(&ui, now += 1000);
	ui_draw(&ui);
	if (s->ended)
		fake.end = 1;
	for (const char *k = s->keys; *k; k++) {
		for (int i = 0; i < 10 && *k == *TEN_SECONDS; i++)
			ui_tick(&ui, now += 1000);
		if (*k == *TEN_SECONDS)
			continue;
		ui_key(&ui, *k, now);
		ui_draw(&ui);
		if (ui.attach_pid)
			ui_attach(&ui, ui.attach_pid);
	}
	ui_tick(&ui, now += 1000);
	ui_draw(&ui);
	canvas_dump(&ui.canvas, s == screens ? same : &screen, true);
	add_screen(out, &ui, buf_str(s == screens ? same : &screen), buf_str(same),
		s->styles && cols == 80 && !ascii);
	buf_done(&screen);
	ui_done(&ui);
	fake_done(&fake);
}

static void draw_all(const struct screen *s, struct buf *out)
{
	size_t count = SIZES - (s->pane ? 0 : SIZES_PANES);

	for (size_t i = 0; i < count; i++) {
		for (int ascii = 0; ascii < 2; ascii++) {
			buf_printf(out, "=== %s %dx%d %s\n", s->name, sizes[i].cols, sizes[i].rows,
				ascii ? "ascii" : "utf8");
			draw(s, i, ascii, out);
		}
	}
}

/* What each style is, in the three depths of colour. */
static void draw_theme(struct buf *out)
{
	for (int style = 0; style < STYLE_COUNT; style++) {
		buf_printf(out, "%c", theme_letter((uint8_t)style));
		for (int depth = 0; depth < THEME_DEPTHS; depth++) {
			const struct look *l =
				theme_look((enum theme_depth)depth, (enum style)style);

			buf_printf(out, "  %3d on %3d%s%s%s%s", l->fg, l->bg,
				l->attrs & LOOK_BOLD ? " bold" : "",
				l->attrs & LOOK_DIM ? " dim" : "",
				l->attrs & LOOK_REVERSE ? " reverse" : "",
				l->attrs & LOOK_UNDERLINE ? " underline" : "");
			buf_adds(out, depth + 1 < THEME_DEPTHS ? " |" : "\n");
		}
	}
}

static void show_difference(const char *want, const char *got)
{
	int line = 1;

	while (*want && *want == *got) {
		line += *want == '\n';
		want++;
		got++;
	}
	diag("first difference in line %d, behind: \"%.*s\"", line, (int)strcspn(got, "\n"), got);
	diag("wanted there: \"%.*s\"", (int)strcspn(want, "\n"), want);
}

static void compare(const char *folder, const char *name, const struct buf *got, bool write)
{
	char path[4096];
	struct buf want = {0};
	FILE *f;
	int c;

	snprintf(path, sizeof(path), "%s/%s.txt", folder, name);
	f = fopen(path, write ? "w" : "r");
	if (!f) {
		ok(false, "%s: %s", path, strerror(errno));
		return;
	}
	if (write) {
		fwrite(buf_str(got), 1, got->len, f);
	} else {
		while ((c = getc(f)) != EOF)
			buf_addc(&want, (char)c);
		if (!ok(!strcmp(buf_str(&want), buf_str(got)), "%s", name))
			show_difference(buf_str(&want), buf_str(got));
	}
	fclose(f);
	buf_done(&want);
}

int main(int argc, char **argv)
{
	const char *top = getenv("srcdir");
	bool write = argc > 1 && !strcmp(argv[1], "--write");
	struct buf out = {0};
	char folder[4096];

	setenv("TZ", "UTC", 1);
	snprintf(folder, sizeof(folder), "%s/tests/tui/golden", top ? top : ".");
	for (size_t i = 0; i < sizeof(screens) / sizeof(screens[0]); i++) {
		draw_all(&screens[i], &out);
		compare(folder, screens[i].name, &out, write);
		buf_clear(&out);
	}
	draw_theme(&out);
	compare(folder, "theme", &out, write);
	for (size_t i = 0; i < 2 * SIZES; i++)
		buf_done(&first[i / 2][i % 2]);
	buf_done(&out);
	return write ? 0 : tap_done();
}
