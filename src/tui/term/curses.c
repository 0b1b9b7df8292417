/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal through curses, which knows the terminals and finds the smallest change.
 *
 * Curses does not write to the terminal itself but into a memory file: so a frame is known in whole
 * before the first byte is sent, nothing ever blocks in the middle of one, and the terminal's modes are
 * set here, in one place.
 */
#include "tui/term/term.h"

#include "tui/config/config.h"
#include "tui/term/signals.h"
#include "tui/term/tty.h"

#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <term.h>
#include <unistd.h>
#include <wchar.h>

#define KEY_REPORT KEY_F(60) /* MOUSE_REPORT */

struct terminal {
	struct tty tty;
	SCREEN *screen;
	FILE *sink, *source; /* curses' ends: the memory file, the keyboard */
	int sink_fd;
	WINDOW *keys; /* a pad: reading from it refreshes nothing */
	bool ascii;
	enum theme_depth depth, depth_max;
	struct canvas shown;
	const struct config *config;
	struct mouse mouse;
};

/* --- bytes ------------------------------------------------------------------------------------------- */

/* Take over what curses has written. */
static void term_collect(struct terminal *t)
{
	struct buf *to = &t->tty.pending;
	off_t size;

	fflush(t->sink);
	size = lseek(t->sink_fd, 0, SEEK_CUR);
	if (size <= 0)
		return;
	buf_reserve(to, (size_t)size);
	size = pread(t->sink_fd, to->data + to->len, (size_t)size, 0);
	if (size > 0)
		to->len += squeeze(to->data + to->len, (size_t)size);
	lseek(t->sink_fd, 0, SEEK_SET);
	if (ftruncate(t->sink_fd, 0) < 0)
		t->tty.gone = true;
}

int term_flush(struct terminal *t)
{
	return tty_flush(&t->tty);
}

bool term_busy(const struct terminal *t)
{
	return t->tty.pending.len > 0;
}

uint64_t term_bytes(const struct terminal *t)
{
	return t->tty.bytes;
}

/* --- modes ------------------------------------------------------------------------------------------- */

static void term_arm_crash(struct terminal *t)
{
	static const char *const names[] = {"sgr0", "rmkx", "cnorm", "rmcup"};
	struct buf b = {0};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *s = tigetstr(names[i]);

		if (s && s != (char *)-1)
			buf_adds(&b, s);
	}
	if (t->mouse.on)
		buf_adds(&b, MOUSE_OFF);
	signals_on_crash(t->tty.out, buf_str(&b), b.len, &t->tty.saved);
	buf_done(&b);
}

void term_size(const struct terminal *t, int *rows, int *cols)
{
	tty_size(&t->tty, rows, cols);
}

void term_suspend(struct terminal *t)
{
	signals_on_crash(-1, NULL, 0, NULL);
	if (t->mouse.on)
		buf_adds(&t->tty.pending, MOUSE_OFF);
	endwin();
	term_collect(t);
	tty_drain(&t->tty);
	tty_restore(&t->tty);
}

void term_resume(struct terminal *t)
{
	tty_raw(&t->tty);
	if (t->mouse.on)
		buf_adds(&t->tty.pending, MOUSE_ON);
	term_arm_crash(t);
}

/* --- opening ----------------------------------------------------------------------------------------- */

static bool term_locale(enum app_charset charset)
{
	const char *term = getenv("TERM");

	setlocale(LC_CTYPE, "");
	if (charset == APP_CHARSET_ASCII)
		return false;
	if (charset == APP_CHARSET_UTF8) {
		if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
			setlocale(LC_CTYPE, "C.UTF-8");
		return true;
	}
	/* The Linux console's fonts lack the eighth blocks; the old terminals never had them. */
	if (term && (!strncmp(term, "linux", 5) || !strncmp(term, "vt", 2)))
		return false;
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

static int term_open_curses(struct terminal *t, struct err *err)
{
	const char *name = getenv("TERM");
	int in;

	t->sink_fd = memfd_create("jhot-screen", MFD_CLOEXEC);
	in = dup(t->tty.in);
	if (t->sink_fd < 0 || in < 0 || !(t->sink = fdopen(t->sink_fd, "w+")) ||
		!(t->source = fdopen(in, "r")))
		return err_set_errno(err, ERR_FAILED, "The screen cannot be set up");
	t->screen = newterm(NULL, t->sink, t->source);
	/* A new terminal on an old machine: nearly all of them understand what xterm does. */
	if (!t->screen && name && *name)
		t->screen = newterm("xterm-256color", t->sink, t->source);
	if (!t->screen || !tigetstr("cup")) {
		err_set(err, ERR_USAGE, "TERM=%s is not a terminal whose cursor jhot can move.",
			name ? name : "");
		err_hint(err, "TERM=vt100 jhot ...     if it is one of the usual kinds after all");
		err_hint(err, "jhot record PID         prints the hot methods as text");
		return -1;
	}
	return 0;
}

/* Terminals that never heard of application keys send these whatever terminfo says. */
static void term_more_keys(void)
{
	static const struct {
		const char *sequence;
		int key;
	} more[] = {
		{"\033[A", KEY_UP},
		{"\033[B", KEY_DOWN},
		{"\033[C", KEY_RIGHT},
		{"\033[D", KEY_LEFT},
		{"\033OA", KEY_UP},
		{"\033OB", KEY_DOWN},
		{"\033OC", KEY_RIGHT},
		{"\033OD", KEY_LEFT},
		{"\033[H", KEY_HOME},
		{"\033[F", KEY_END},
		{"\033OH", KEY_HOME},
		{"\033OF", KEY_END},
		{"\033[1~", KEY_HOME},
		{"\033[4~", KEY_END},
		{"\033[5~", KEY_PPAGE},
		{"\033[6~", KEY_NPAGE},
		{"\033[Z", KEY_BTAB},
		{MOUSE_REPORT, KEY_REPORT},
	};

	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		define_key(more[i].sequence, more[i].key);
}

static void term_curses_modes(struct terminal *t)
{
	int rows, cols;

	cbreak();
	noecho();
	nonl();
	typeahead(-1); /* a frame is finished also while keys wait */
	set_escdelay(25);
	t->keys = newpad(1, 1);
	keypad(t->keys, TRUE);
	nodelay(t->keys, TRUE);
	term_more_keys();
	leaveok(stdscr, FALSE);
	idlok(stdscr, FALSE); /* lists move by rows rewritten: calmer than scrolling and back */
	curs_set(0);
	term_size(t, &rows, &cols);
	resizeterm(rows, cols);
}

static enum theme_depth term_depth(enum app_color wanted, enum theme_depth can)
{
	static const enum theme_depth wish[] = {
		[APP_COLOR_AUTO] = THEME_256,
		[APP_COLOR_NEVER] = THEME_MONO,
		[APP_COLOR_16] = THEME_16,
		[APP_COLOR_256] = THEME_256,
	};
	const char *no = getenv("NO_COLOR");

	if (wanted == APP_COLOR_AUTO && no && *no)
		return THEME_MONO;
	return wish[wanted] < can ? wish[wanted] : can;
}

struct terminal *term_open(const struct app_options *o, struct err *err)
{
	struct terminal *t = xcalloc(1, sizeof(*t));

	t->sink_fd = t->tty.out = -1;
	t->config = o->config;
	if (tty_open(&t->tty, err) < 0)
		goto fail;
	t->ascii = !term_locale(o->charset);
	if (term_open_curses(t, err) < 0)
		goto fail;
	term_curses_modes(t);
	if (has_colors()) {
		start_color();
		use_default_colors();
		t->depth_max = COLORS >= 256 ? THEME_256 : COLORS >= 8 ? THEME_16 : THEME_MONO;
	}
	term_set_color(t, term_depth(o->color, t->depth_max));
	canvas_init(&t->shown, t->ascii);
	tty_raw(&t->tty);
	term_arm_crash(t);
	return t;
fail:
	term_close(t, NULL);
	return NULL;
}

static void term_keep(struct terminal *t, const struct canvas *last)
{
	struct buf text = {0};

	canvas_dump(last, &text, false);
	buf_add(&t->tty.pending, buf_str(&text), text.len);
	tty_drain(&t->tty);
	buf_done(&text);
}

void term_close(struct terminal *t, const struct canvas *last)
{
	if (!t)
		return;
	if (t->screen) {
		term_suspend(t);
		if (last)
			term_keep(t, last);
		delwin(t->keys);
		delscreen(t->screen);
	}
	if (t->sink)
		fclose(t->sink);
	else if (t->sink_fd >= 0)
		close(t->sink_fd);
	if (t->source)
		fclose(t->source);
	canvas_done(&t->shown);
	tty_close(&t->tty);
	free(t);
}

bool term_ascii(const struct terminal *t)
{
	return t->ascii;
}

int term_in(const struct terminal *t)
{
	return t->tty.in;
}

int term_out(const struct terminal *t)
{
	return t->tty.out;
}

/* --- drawing ----------------------------------------------------------------------------------------- */

enum theme_depth term_color(const struct terminal *t)
{
	return t->depth;
}

/* The settings file's colours, where the terminal has them. */
static const struct look *term_look(const struct terminal *t, enum style style)
{
	const struct look *own =
		t->config && t->config->look_set[style] ? &t->config->looks[style] : NULL;
	int most = t->depth == THEME_256 ? 255 : 7;

	if (own && t->depth != THEME_MONO && own->fg <= most && own->bg <= most)
		return own;
	return theme_look(t->depth, style);
}

void term_set_color(struct terminal *t, enum theme_depth depth)
{
	t->depth = depth < t->depth_max ? depth : t->depth_max;
	for (int i = 1; i < STYLE_COUNT && t->depth != THEME_MONO; i++) {
		const struct look *l = term_look(t, (enum style)i);

		init_pair((short)i, l->fg, l->bg);
	}
	canvas_done(&t->shown);
	t->shown.rows = 0;
}

static attr_t term_attributes(const struct terminal *t, uint8_t style)
{
	static const struct {
		uint8_t look;
		attr_t attr;
	} map[] = {{LOOK_BOLD, A_BOLD}, {LOOK_DIM, A_DIM}, {LOOK_REVERSE, A_REVERSE},
		{LOOK_UNDERLINE, A_UNDERLINE}};
	const struct look *l = term_look(t, (enum style)style);
	attr_t attrs = A_NORMAL;

	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++)
		attrs |= l->attrs & map[i].look ? map[i].attr : 0;
	return attrs;
}

static void term_put_cell(const struct terminal *t, int row, int col, const struct cell *cell)
{
	const struct look *l = term_look(t, (enum style)cell->style);
	bool colored = t->depth != THEME_MONO && (l->fg >= 0 || l->bg >= 0);
	wchar_t text[2] = {(wchar_t)cell->ch, 0};
	cchar_t out;

	/* The C library's table of widths may be older than ours: then no character is safer. */
	if (cell->ch > 0x7e && wcwidth((wchar_t)cell->ch) != cell->width)
		text[0] = '?';
	setcchar(&out, text, term_attributes(t, cell->style), (short)(colored ? cell->style : 0),
		NULL);
	mvadd_wch(row, col, &out);
	if (text[0] == '?' && cell->width == 2)
		mvadd_wch(row, col + 1, &out);
}

static bool term_same_row(const struct terminal *t, const struct canvas *c, int row)
{
	return !memcmp(canvas_row(&t->shown, row), canvas_row(c, row),
		(size_t)c->cols * sizeof(struct cell));
}

static void term_put_rows(struct terminal *t, const struct canvas *c, bool whole)
{
	for (int row = 0; row < c->rows; row++) {
		if (!whole && term_same_row(t, c, row))
			continue;
		for (int col = 0; col < c->cols; col++) {
			const struct cell *cell = canvas_row(c, row) + col;

			if (cell->width)
				term_put_cell(t, row, col, cell);
		}
	}
}

void term_draw(struct terminal *t, const struct canvas *c, bool whole)
{
	bool resized = t->shown.rows != c->rows || t->shown.cols != c->cols;

	if (term_busy(t))
		return;
	if (LINES != c->rows || COLS != c->cols)
		resizeterm(c->rows, c->cols);
	if (resized)
		canvas_resize(&t->shown, c->rows, c->cols);
	term_put_rows(t, c, whole || resized);
	memcpy(t->shown.cells, c->cells, (size_t)c->rows * (size_t)c->cols * sizeof(*c->cells));
	if (whole)
		clearok(curscr, TRUE);
	curs_set(c->cursor_row >= 0);
	if (c->cursor_row >= 0)
		move(c->cursor_row, c->cursor_col);
	refresh();
	term_collect(t);
	term_flush(t);
}

void term_copy(struct terminal *t, const char *text)
{
	tty_copy(&t->tty, text);
}

/* --- the mouse --------------------------------------------------------------------------------------- */

void term_set_mouse(struct terminal *t, bool on)
{
	if (t->mouse.on == on)
		return;
	t->mouse.on = on;
	buf_adds(&t->tty.pending, on ? MOUSE_ON : MOUSE_OFF);
	term_flush(t);
	term_arm_crash(t);
}

struct mouse_click term_mouse(const struct terminal *t)
{
	return t->mouse.click;
}

/* --- keys -------------------------------------------------------------------------------------------- */

int term_key(struct terminal *t)
{
	static const struct {
		wint_t curses;
		int key;
	} map[] = {
		{KEY_UP, TKEY_UP},
		{KEY_DOWN, TKEY_DOWN},
		{KEY_LEFT, TKEY_LEFT},
		{KEY_RIGHT, TKEY_RIGHT},
		{KEY_PPAGE, TKEY_PAGE_UP},
		{KEY_NPAGE, TKEY_PAGE_DOWN},
		{KEY_HOME, TKEY_HOME},
		{KEY_END, TKEY_END},
		{KEY_BTAB, TKEY_BACK_TAB},
		{KEY_BACKSPACE, TKEY_BACKSPACE},
		{KEY_DC, TKEY_DELETE},
		{KEY_ENTER, TKEY_ENTER},
	};
	wint_t ch = 0;
	int kind = wget_wch(t->keys, &ch);

	while (kind != ERR && (t->mouse.coming || (kind == KEY_CODE_YES && ch == KEY_REPORT))) {
		if (!t->mouse.coming)
			mouse_begin(&t->mouse);
		else if (mouse_take(&t->mouse, ch))
			return TKEY_MOUSE;
		kind = wget_wch(t->keys, &ch);
	}
	if (kind == ERR)
		return TKEY_NONE;
	if (kind == KEY_CODE_YES) {
		for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++)
			if (map[i].curses == ch)
				return map[i].key;
		return TKEY_OTHER;
	}
	if (ch == 0x7f || ch == '\b')
		return TKEY_BACKSPACE;
	return ch == '\r' ? TKEY_ENTER : (int)ch;
}
