/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden screens: every view in two sizes, and the dialogs in one, against tests/tui/golden/NAME.txt. Other states have a
 * few texts that must be on the screen. All are drawn in ASCII at every size.
 *
 * Header and footer lines equal to those of the first screen, methods, of the same size are stored as a ditto mark,
 * so that a change to them rewrites a single file.
 *
 * After an intended change, `make golden` rewrites them; the difference is then reviewed like any other.
 */
#include "tests/tap.h"
#include "tests/tui/fake.h"
#include "tui/frame/ui.h"

#include <errno.h>

#define WARM_S      40
#define TEN_SECONDS "\001" /* in `keys`: ten seconds pass */

struct screen {
	const char *name;
	const char *keys; /* typed after warm_s (0: WARM_S); the screen is drawn a second later */
	bool picker, idle, ended, broken, timed, dialog, ascii;
	uint32_t warm_s;
	const char *instances;        /* of app_options */
	const char *shows[4], *hides; /* at 80x24 */
	enum style style;             /* some cell has this style */
};

static const struct screen screens[] = {
	{.name = "methods", .keys = "jjj", .ascii = true},
	{.name = "threads", .keys = "tjj"},
	{.name = "tree", .keys = "Tjjj", .ascii = true},
	{.name = "callers", .keys = "jj\n", .ascii = true},
	{.name = "flame", .keys = "fjjj", .ascii = true},
	{.name = "latency",
		.keys = "jjjjl" TEN_SECONDS TEN_SECONDS TEN_SECONDS "j",
		.timed = true,
		.ascii = true},
	{.name = "call",
		.keys = "jjjjl" TEN_SECONDS TEN_SECONDS TEN_SECONDS "j\nj",
		.timed = true,
		.ascii = true},
	{.name = "difference",
		.keys = "jjjjl" TEN_SECONDS TEN_SECONDS TEN_SECONDS "Dj",
		.timed = true,
		.ascii = true},
	{.name = "info", .keys = "I"},
	{.name = "help", .keys = "?"},
	{.name = "picker", .keys = "", .picker = true},
	{.name = "instances", .keys = "", .picker = true, .instances = "shop"},
	{.name = "error", .keys = "gone\n", .picker = true},
	{.name = "idle", .keys = "", .idle = true},
	{.name = "export", .keys = "x\025mine.svg", .dialog = true},
	{.name = "events", .keys = "e", .dialog = true},
};

/* Further states of these screens, each with texts that identify it. */
static const struct screen states[] = {
	{.name = "sorted by total",
		.keys = "s",
		.shows = {"TOTAL%▼", "\n>    -   84.7  1.1            I java.lang.Thread.run"},
		.hides = "SELF%▼",
		.style = STYLE_SORTED},
	{.name = "broken stacks", .keys = "", .broken = true, .shows = {"  broken 0.02%  "}},
	{.name = "found methods",
		.keys = "/parse\n",
		.shows = {"/parse: 58 of 410 methods  84.8% of samples", "n N next"},
		.style = STYLE_CURSOR},
	{.name = "frozen",
		.keys = " ,,",
		.shows = {"FROZEN 22:13:58\n", "\n cpu    ▆▆▆",
			"frozen: 1 200 newer samples (space resumes"},
		.style = STYLE_WARN},
	{.name = "filtered",
		.keys = "\\jackson\n!hashmap\n",
		.shows = {" \\jackson ", " !hashmap "},
		.hides = "HashMap",
		.style = STYLE_GOOD},
	{.name = "filtered away",
		.keys = "\\nothing\n",
		.shows = {"    0 samples", " \\nothing ",
			"No sample of this window passes the filters.",
			"Esc undoes the last filter"}},
	{.name = "frameworks hidden",
		.keys = "K",
		.shows = {" K framework ", "\n> 17.4  1.2   89.0  ▅▆▅▅▅▅▅▅  J [framework frames]",
			"hidden: framework frames"}},
	{.name = "by line", .keys = "L", .shows = {" L lines ", "by line: Class.method:line"}},
	{.name = "found the same", .keys = "jj#", .shows = {": 1 of 410 methods  "}},
	{.name = "pinned",
		.keys = "jjjPjjPg",
		.shows = {"METHOD\n> ", "\n*  ", "\n   7.5  0.8    7.5"}},
	{.name = "methods compared",
		.keys = "BD" TEN_SECONDS TEN_SECONDS,
		.shows = {" vs 10s to 22:14:00 ", "SELF%▼   ±  DELTA TOTAL%  DELTA  T METHOD",
			"\n>  7.2  0.8      ~    7.2      ~  k copy_user",
			"uncertain: 1 delta of 1 point or more against the baseline"}},
	{.name = "search prompt",
		.keys = "/pa",
		.shows = {"\n find: pa  ", "Enter accepts  Esc cancels",
			"/pa: 135 of 410 methods  98.2% of samples"},
		.style = STYLE_PROMPT},
	{.name = "names without packages",
		.keys = "p",
		.shows = {"names without packages", " J Fetcher$FetchManager.allocate\n",
			" n inflate\n"}},
	{.name = "unknown key", .keys = "o", .shows = {"no such key - ? for help"}},
	{.name = "begun",
		.keys = "",
		.warm_s = 2,
		.shows = {" last 3s (window 10s)    1 200 samples",
			"  8.0       ███  k copy_user"}},
	{.name = "ended",
		.keys = "",
		.ended = true,
		.shows = {" ENDED\n", "The JVM 41234 has exited; what was sampled stays."},
		.style = STYLE_BAD},
	{.name = "merged threads",
		.keys = "t=",
		.shows = {"\n>http-nio-8080-exec-* (16)   R   356      296  74   87M/s     -",
			"\n GC threads (2)            g S  26.0",
			"--- http-nio-8080-exec-*  16 threads", "\n   4 runs, 12 sleeps"}},
	{.name = "one thread",
		.keys = "t\n",
		.shows = {"    243 samples   only http-nio-8080-exec-9 ", "\n    ~3    ?  ",
			"showing only http-nio-8080-exec-9; Esc shows all threads"}},
	{.name = "tree from the leaves",
		.keys = "Tijl",
		.shows = {" inverted (i) ",
			"\n>   7.5         k - copy_user_enhanced_fast_string\n",
			"\n    2.0         I ├ + com.acme.shop.cart.PriceEngine.parse1 (1)\n",
			"\n    0.5         J └ + java.util.concurrent.CartService.put1 (1)\n"}},
	{.name = "tree by thread",
		.keys = "T=*",
		.shows = {"\n    6.1           - http-nio-8080-exec-9\n",
			"\n    5.9         I - java.lang.Thread.run\n", "│   … 4 frames\n"}},
	{.name = "found in the tree",
		.keys = "T/allocate\nnn",
		.shows = {"\n>   2.8    2.4  J │ │ │ │ │ ├   com.acme.shop.search.Tokenizer.alloc"},
		.style = STYLE_HIT},
	{.name = "tree with frames hidden",
		.keys = "TKKKE",
		.shows = {" K framework native kernel ",
			"\n   22.4         J │ - … 1 framework frame\n",
			" - … 3 framework frames\n"},
		.hides = "do_syscall"},
	{.name = "tree by line",
		.keys = "TLiE",
		.shows = {" inverted (i)   L lines ", "PriceEngine.parse1:352\n",
			"\n>   2.0    2.0  I │   java.lang.Thread.run:477\n"}},
	{.name = "trees compared",
		.keys = "BDT" TEN_SECONDS TEN_SECONDS,
		.shows = {" vs 10s to 22:14:00 ",
			"\n TOTAL%  DELTA SELF%  T CALL TREE\n>   100      ~"},
		.style = STYLE_TREE},
	{.name = "a part of the tree",
		.keys = "Tjj\n",
		.shows = {" zoom (u) ",
			"CALL TREE\n>  22.8         J - java.util.concurrent.HashMap.put\n"},
		.hides = "Thread.run"},
	{.name = "callers compared",
		.keys = "jj\nBD" TEN_SECONDS TEN_SECONDS,
		.shows = {" of Compile::Compile   vs 10s to 22:14:00 ", "SHARE   DELTA\n",
			"\n> v Compile::Compile                   self 3.8% ±0.6  total 11.2%  448 "
			"samples"}},
	{.name = "callers, one further",
		.keys = "jjjjj\nk\n",
		.shows = {" of lambda$apply$01 > parse ",
			"\n> i c.a.shop.cart.StringLatin1.parse     self 0.1% ±0.1  total 1.0%  39 "
			"samples",
			"\n  i com.acme.shop.search.HashMap.lambda$apply$01     ████▉        "
			"53.8%"}},
	{.name = "callers as a tree",
		.keys = "jj\nT",
		.shows = {" callers of Compile::Compile (i) ",
			"CALL TREE\n>   100   32.5  v - Compile::Compile\n",
			" v + G1ParTask::work (3)\n"}},
	{.name = "a part of the flame graph",
		.keys = "fjj\n",
		.shows = {"\n▏all 100%", "\n▏HashMap.put 23%", "\n▏▏CartService.total 22%"}},
	{.name = "flame graph with frames hidden",
		.keys = "fKKK",
		.shows = {" K framework native kernel ", "\n▏… 7 native …▏Thread.run 84%"}},
	{.name = "flame graphs compared",
		.keys = "BDfjj" TEN_SECONDS TEN_SECONDS,
		.shows = {" vs 10s to 22:14:00 ", "▏Thread.run 84% ~"}},
	{.name = "found in the flame graph", .keys = "fi/parse\n", .shows = {"/parse", "▏read+ "}},
	{.name = "another event",
		.keys = "2",
		.shows = {"  alloc/tlab 512K  ", "\n  1 cpu  [2 alloc] ",
			"    2 000 samples  1.0G allocated  ", "\n>  8.4  1.2    8.4"},
		.style = STYLE_TAB_ON},
	{.name = "help of threads",
		.keys = "t?",
		.shows = {" HELP: Threads view  ", "= merge pool threads", "only this thread"}},
	{.name = "help of the tree", .keys = "T?", .shows = {" HELP: Tree view  ", "E hot path"}},
	{.name = "help of the flame graph", .keys = "f?", .shows = {" HELP: Flame view  "}},
	{.name = "help of callers", .keys = "b?", .shows = {" HELP: Callers view  "}},
	{.name = "help of the JVM's page",
		.keys = "I?",
		.shows = {" HELP: JVM info  ", " man jhot "},
		.hides = "merge pool"},
	{.name = "filtered picker",
		.keys = "ka",
		.picker = true,
		.shows = {"type to filter: ka\n", "\n>  40877 web      17.0.9     12  1.4G"},
		.hides = "41234"},
};

#define MIDDLE 1 /* the size of ascii screens, of styles and of states */
static const struct {
	int cols, rows;
	bool golden; /* false: only drawn in ASCII */
} sizes[] = {{40, 10, false}, {80, 24, true}, {120, 40, false}, {160, 50, false}, {200, 60, true}};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))
#define DITTO "\"\n"

static struct buf first[SIZES][2];

/* Advances *text by `lines` lines. Returns their bytes. */
static size_t skip_lines(const char **text, int lines)
{
	const char *end = *text;
	size_t bytes;

	while (lines-- > 0)
		end += strcspn(end, "\n") + 1;
	bytes = (size_t)(end - *text);
	*text = end;
	return bytes;
}

/* Appends a dump of two lines per row, text and styles (only if `styles`). same: the dump of the first screen. */
static void add_screen(
	struct buf *out, const struct ui *ui, const char *screen, const char *same, bool styles)
{
	int rows = ui->canvas->rows, head = header_rows(ui), foot = rows - footer_rows(ui);

	for (int row = 0; row < rows; row++) {
		const char *mine = screen, *its = same, *rest;
		size_t bytes = skip_lines(&screen, 1 + styles), its_bytes;

		rest = same;
		its_bytes = skip_lines(&rest, 1 + styles);
		if (!styles)
			skip_lines(&screen, 1);
		skip_lines(&same, 2);
		if (mine != its && (row < head || row >= foot) && bytes == its_bytes &&
			!memcmp(mine, its, bytes))
			buf_adds(out, DITTO);
		else
			buf_add(out, mine, bytes);
	}
}

struct drawn {
	struct fake fake;
	struct app_options options;
	struct ui ui;
};

static void drawn_done(struct drawn *d)
{
	ui_done(&d->ui);
	fake_done(&d->fake);
}

/* Draws the screen in this state, text and styles. Returns true when it is all ASCII. */
static bool draw(const struct screen *s, size_t size, bool ascii, struct drawn *d, struct buf *out)
{
	struct ui *ui = &d->ui;
	int64_t now = 0;
	bool plain = true;

	fake_init(&d->fake, 400);
	d->fake.idle = s->idle;
	if (s->idle)
		profile_event_runs(d->fake.profile, EVENT_CPU, 0, true);
	d->fake.broken = s->broken;
	d->fake.timed = s->timed;
	d->options = (struct app_options){
		.frame_fd = -1, .attached = !s->picker, .events = 0xf, .instances = s->instances};
	ui_init(ui, &fake_ops, &d->fake, &d->options, ascii);
	ui_resize(ui, sizes[size].rows, sizes[size].cols);
	for (uint32_t i = 0; i < (s->warm_s ? s->warm_s : WARM_S); i++)
		ui_tick(ui, now += 1000);
	ui_draw(ui);
	if (s->ended)
		d->fake.end = 1;
	for (const char *k = s->keys; *k; k++) {
		for (int i = 0; i < 10 && *k == *TEN_SECONDS; i++)
			ui_tick(ui, now += 1000);
		if (*k == *TEN_SECONDS)
			continue;
		ui_key(ui, *k, now);
		ui_draw(ui);
		if (ui->attach_pid)
			ui_attach(ui, ui->attach_pid);
	}
	ui_tick(ui, now += 1000);
	ui_draw(ui);
	canvas_dump(ui->canvas, out, true);
	for (int i = 0; i < ui->canvas->rows * ui->canvas->cols; i++)
		plain &= ui->canvas->cells[i].ch < 0x7f;
	return plain;
}

static void draw_all(const struct screen *s, struct buf *out)
{
	for (size_t i = 0; i < 2 * SIZES; i++) {
		size_t size = i / 2;
		bool ascii = i % 2;
		struct buf screen = {0}, *same = &first[size][ascii];
		struct drawn d;

		if (!sizes[size].golden || (size > MIDDLE && s->dialog) ||
			(ascii && (size != MIDDLE || !s->ascii)))
			continue;
		buf_printf(out, "=== %s %dx%d %s\n", s->name, sizes[size].cols, sizes[size].rows,
			ascii ? "ascii" : "utf8");
		draw(s, size, ascii, &d, s == screens ? same : &screen);
		add_screen(out, &d.ui, buf_str(s == screens ? same : &screen), buf_str(same),
			size == MIDDLE && !ascii);
		buf_done(&screen);
		drawn_done(&d);
	}
}

/* Without UTF-8 every state is drawn in ASCII at every size. */
static void test_ascii(const struct screen *s)
{
	bool plain = true;

	for (size_t i = 0; i < SIZES; i++) {
		struct buf screen = {0};
		struct drawn d;

		plain &= draw(s, i, true, &d, &screen);
		drawn_done(&d);
		buf_done(&screen);
	}
	ok(plain, "%s is drawn in ASCII at every size", s->name);
}

static void test_state(const struct screen *s)
{
	struct buf screen = {0}, text = {0};
	bool styled = false, right = true;
	struct drawn d;

	draw(s, MIDDLE, false, &d, &screen);
	canvas_dump(d.ui.canvas, &text, false);
	for (size_t i = 0; i < 4 && s->shows[i]; i++)
		right &= strstr(buf_str(&text), s->shows[i]) != NULL;
	for (int i = 0; i < d.ui.canvas->rows * d.ui.canvas->cols; i++)
		styled |= d.ui.canvas->cells[i].style == s->style;
	right &= styled && !(s->hides && strstr(buf_str(&text), s->hides));
	if (!ok(right, "the state \"%s\" has its texts and its style", s->name))
		diag("%s%s", styled ? "" : "nothing has that style\n", buf_str(&text));
	drawn_done(&d);
	buf_done(&screen);
	buf_done(&text);
}

/* Rules for every style, in each depth of color. */
static void test_theme(void)
{
	enum { BLUE = 4 };

	for (int style = 0; style < STYLE_COUNT; style++) {
		const struct appearance *mono = theme_appearance(THEME_MONO, (enum style)style);
		bool right = mono->fg < 0 && mono->bg < 0;

		for (int depth = THEME_16; depth < THEME_DEPTHS; depth++) {
			const struct appearance *l =
				theme_appearance((enum theme_depth)depth, (enum style)style);

			right &= l->fg <= (depth == THEME_16 ? 7 : 255) && l->fg != BLUE;
			/* a background comes with a foreground: readable on dark and on light terminals */
			right &= l->bg < 0 || (l->fg >= 0 && l->fg != l->bg);
		}
		ok(right, "style %c: colors only at depths that have them, and readable",
			theme_letter((uint8_t)style));
	}
	ok(theme_appearance(THEME_256, theme_box(FRAME_NATIVE, 0))->bg !=
			theme_appearance(THEME_256, theme_box(FRAME_NATIVE, 1))->bg,
		"adjacent flame boxes have two shades");
}

static void show_difference(const char *want, const char *got)
{
	int line = 1;

	while (*want && *want == *got) {
		line += *want == '\n';
		want++;
		got++;
	}
	diag("first difference in line %d, before: \"%.*s\"", line, (int)strcspn(got, "\n"), got);
	diag("expected there: \"%.*s\"", (int)strcspn(want, "\n"), want);
}

static void compare(const char *folder, const char *name, const struct buf *got, bool write)
{
	char path[4200];
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
		if (!ok(!strcmp(buf_str(&want), buf_str(got)),
			    "the screens of %s equal the golden ones", name))
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
		test_ascii(&screens[i]);
	}
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		test_state(&states[i]);
		test_ascii(&states[i]);
	}
	test_theme();
	for (size_t i = 0; i < 2 * SIZES; i++)
		buf_done(&first[i / 2][i % 2]);
	buf_done(&out);
	return write ? 0 : tap_done();
}
