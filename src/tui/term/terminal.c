/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Displays a canvas through terminfo, sending only the differences to the last frame.
 *
 * A frame is composed completely before its first byte is sent, so nothing blocks in the middle of one.
 */
#include "tui/term/term.h"

#include "base/env.h"
#include "tui/frame/config.h"
#include "tui/term/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <unistd.h>

#define PLAIN     STYLE_COUNT              /* pen of erased cells */
#define MOUSE_ON  "\033[?1000h\033[?1006h" /* xterm's sequences, supported by the others */
#define MOUSE_OFF "\033[?1006l\033[?1000l"
#define BRIDGE    3 /* unchanged cells that are redrawn, since moving the cursor takes more bytes */

static int tty_open(struct terminal *t, struct err *err)
{
	t->in = STDIN_FILENO;
	if (tcgetattr(t->in, &t->saved) < 0)
		return err_set_errno(err, ERR_FAILED, "Cannot read the modes of the terminal");
	/* Our own open file description: O_NONBLOCK on the inherited one would affect the shell. */
	t->out = open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (t->out < 0)
		t->out = open("/dev/tty", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (t->out < 0)
		t->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	return t->out >= 0 ? 0 : err_set_errno(err, ERR_FAILED, "Cannot write to the terminal");
}

void term_size(const struct terminal *t, int *rows, int *cols)
{
	struct winsize ws = {0};

	if (ioctl(t->in, TIOCGWINSZ, &ws) < 0 || !ws.ws_row || !ws.ws_col) {
		const char *l = getenv("LINES"), *c = getenv("COLUMNS");

		ws.ws_row = (unsigned short)(l && atoi(l) > 0 ? atoi(l) : 24);
		ws.ws_col = (unsigned short)(c && atoi(c) > 0 ? atoi(c) : 80);
	}
	*rows = ws.ws_row > 1000 ? 1000 : ws.ws_row;
	*cols = ws.ws_col > 1000 ? 1000 : ws.ws_col;
}

/* --- bytes ------------------------------------------------------------------------------------------- */

int term_flush(struct terminal *t)
{
	ssize_t n;

	while (t->sent < t->pending.len && !t->gone) {
		n = write(t->out, t->pending.data + t->sent, t->pending.len - t->sent);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return 0;
		if (n < 0) {
			t->gone = true;
			break;
		}
		t->sent += (size_t)n;
		t->bytes += (uint64_t)n;
	}
	buf_clear(&t->pending);
	t->sent = 0;
	return t->gone ? -1 : 0;
}

static void tty_drain(struct terminal *t)
{
	struct pollfd p = {.fd = t->out, .events = POLLOUT};

	while (term_flush(t) == 0 && t->pending.len) {
		if (poll(&p, 1, 1000) <= 0)
			break;
	}
	buf_clear(&t->pending);
	t->sent = 0;
}

void term_copy(struct terminal *t, const char *text)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t len = strlen(text);

	buf_adds(&t->pending, "\033]52;c;");
	for (size_t i = 0; i < len; i += 3) {
		uint32_t v = (uint32_t)(unsigned char)text[i] << 16;

		v |= i + 1 < len ? (uint32_t)(unsigned char)text[i + 1] << 8 : 0;
		v |= i + 2 < len ? (uint32_t)(unsigned char)text[i + 2] : 0;
		for (int k = 0; k < 4; k++)
			buf_addc(&t->pending,
				i + (size_t)k > len ? '=' : digits[v >> (18 - 6 * k) & 63]);
	}
	buf_addc(&t->pending, '\a');
	term_flush(t);
}

/* --- terminfo ---------------------------------------------------------------------------------------- */

static bool can(const char *string)
{
	return string && string != (const char *)-1;
}

/* Drops padding ($<5>), which no terminal in use needs. */
static void emit(struct buf *out, const char *string)
{
	for (; can(string) && *string; string++) {
		if (string[0] == '$' && string[1] == '<' && strchr(string, '>'))
			string = strchr(string, '>');
		else
			buf_addc(out, *string);
	}
}

/* Built-in descriptions of common terminals, in the format that ncurses reads from $TERMINFO (infocmp -Q2). */
static const struct {
	const char *name, *description;
} term_kinds[] = {
#include "tui/term/kinds.inc"
};

/* Loads a terminal's description from the terminfo database, or, on hosts without one, a built-in description. */
static bool term_load_name(const struct terminal *t, const char *name)
{
	int found;

	if (setupterm(name, t->out, &found) == 0)
		return true;
	const char *set = getenv("TERMINFO");
	char *before = set ? xstrdup(set) : NULL;
	bool loaded = false;

	for (size_t i = 0; i < sizeof(term_kinds) / sizeof(term_kinds[0]) && !loaded; i++) {
		if (strcmp(term_kinds[i].name, name))
			continue;
		setenv("TERMINFO", term_kinds[i].description, 1);
		loaded = setupterm(name, t->out, &found) == 0;
	}
	if (before)
		setenv("TERMINFO", before, 1);
	else
		unsetenv("TERMINFO");
	free(before);
	return loaded;
}

static int term_load(struct terminal *t, struct err *err)
{
	const char *name = getenv("TERM");

	/* An unknown terminal is most likely compatible with xterm. */
	t->loaded =
		name && *name && (term_load_name(t, name) || term_load_name(t, "xterm-256color"));
	if (t->loaded && can(cursor_address) && can(clear_screen))
		return 0;
	err_set(err, ERR_USAGE, "TERM=%s: this terminal cannot position its cursor.",
		name ? name : "");
	err_hint(err, "TERM=vt100 jhot ...     if it supports the sequences of a VT100");
	err_hint(err, "jhot record PID         prints the hot methods as text");
	return -1;
}

/* --- modes ------------------------------------------------------------------------------------------- */

/* The sequences that restore the terminal, except for its modes. */
static void term_emit_leave(const struct terminal *t, struct buf *out)
{
	if (t->mouse)
		buf_adds(out, MOUSE_OFF);
	emit(out, exit_attribute_mode);
	emit(out, keypad_local);
	emit(out, cursor_normal);
	emit(out, can(exit_ca_mode) ? exit_ca_mode : tparm(cursor_address, t->rows - 1, 0));
}

static void term_arm_crash(struct terminal *t)
{
	struct buf b = {0};

	term_emit_leave(t, &b);
	signals_on_crash(t->out, buf_str(&b), b.len, &t->saved);
	buf_done(&b);
}

void term_suspend(struct terminal *t)
{
	signals_on_crash(-1, NULL, 0, NULL);
	term_emit_leave(t, &t->pending);
	t->inside = false;
	tty_drain(t);
	tcsetattr(t->in, TCSADRAIN, &t->saved);
}

void term_resume(struct terminal *t)
{
	struct buf *out = &t->pending;
	struct termios raw = t->saved;

	/* ^C, ^Z and ^S are read as keys; output is not processed. */
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
	raw.c_iflag &= ~(tcflag_t)(IXON | INLCR | IGNCR);
	raw.c_iflag |= ICRNL;
	raw.c_oflag &= ~(tcflag_t)OPOST;
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	tcsetattr(t->in, TCSADRAIN, &raw);
	if (!t->inside)
		emit(out, enter_ca_mode);
	t->inside = true;
	emit(out, keypad_xmit);
	emit(out, cursor_invisible);
	t->cursor = false;
	if (t->mouse)
		buf_adds(out, MOUSE_ON);
	term_flush(t);
	term_arm_crash(t);
}

void term_set_mouse(struct terminal *t, bool on)
{
	if (t->mouse == on)
		return;
	t->mouse = on;
	buf_adds(&t->pending, on ? MOUSE_ON : MOUSE_OFF);
	term_flush(t);
	term_arm_crash(t);
}

/* --- styles ------------------------------------------------------------------------------------------ */

/* Joins ESC [ a m and ESC [ b m to ESC [ a ; b m. */
static void pen_add(struct buf *on, const char *string)
{
	struct buf more = {0};

	emit(&more, string);
	bool joined =
		on->len && !strncmp(buf_str(&more), "\033[", 2) && on->data[on->len - 1] == 'm';
	if (joined)
		on->data[on->len - 1] = ';';
	buf_adds(on, buf_str(&more) + (joined ? 2 : 0));
	buf_done(&more);
}

static void pen_string(char out[64], const char *begin, const struct appearance *appearance)
{
	const struct {
		int appearance, video; /* video: bit of no_color_video */
		const char *on;
	} attrs[] = {{ATTR_BOLD, 32, enter_bold_mode}, {ATTR_DIM, 16, enter_dim_mode},
		{ATTR_REVERSE, 4, enter_reverse_mode}, {ATTR_UNDERLINE, 2, enter_underline_mode}};
	bool colored = appearance->fg >= 0 || appearance->bg >= 0;
	int never = colored && no_color_video > 0 ? no_color_video : 0;
	struct buf b = {0};

	pen_add(&b, begin);
	for (size_t i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++)
		if (appearance->attrs & attrs[i].appearance && !(never & attrs[i].video))
			pen_add(&b, attrs[i].on);
	if (appearance->fg >= 0)
		pen_add(&b, tparm(set_a_foreground, appearance->fg));
	if (appearance->bg >= 0)
		pen_add(&b, tparm(set_a_background, appearance->bg));
	snprintf(out, 64, "%s", buf_str(&b));
	buf_done(&b);
}

static void pen_make(struct pen *pen, const struct appearance *appearance)
{
	/* On most terminals ESC [ m suffices to reset attributes and colors, and can be joined. */
	const char *off = can(exit_attribute_mode) && strstr(exit_attribute_mode, "\033[m")
				  ? "\033[m"
				  : exit_attribute_mode;

	pen->plain_blanks =
		appearance->bg < 0 && !(appearance->attrs & (ATTR_REVERSE | ATTR_UNDERLINE));
	pen_string(pen->on, NULL, appearance);
	pen_string(pen->reset_on, off, appearance);
}

void term_set_color(struct terminal *t, enum theme_depth depth)
{
	int most = 7; /* highest number of a color */

	t->depth = depth < t->depth_max ? depth : t->depth_max;
	if (t->depth == THEME_256)
		most = 255;
	/* The settings file's colors if the terminal supports them, else the theme's. */
	for (int i = 0; i < STYLE_COUNT; i++) {
		const struct appearance *own = t->config && t->config->appearance_set[i]
						       ? &t->config->appearances[i]
						       : NULL;

		if (!own || t->depth == THEME_MONO || own->fg > most || own->bg > most)
			own = theme_appearance(t->depth, (enum style)i);
		pen_make(&t->pens[i], own);
	}
	pen_make(&t->pens[PLAIN], &(const struct appearance){-1, -1, 0});
	t->rows = 0; /* forces a full redraw */
}

static void term_style(struct terminal *t, int style)
{
	const struct pen *from = &t->pens[t->style], *to = &t->pens[style];

	t->style = style;
	if (strcmp(from->on, to->on) != 0)
		buf_adds(&t->pending, *from->on ? to->reset_on : to->on);
}

/* --- drawing ----------------------------------------------------------------------------------------- */

static void term_move(struct terminal *t, int row, int col)
{
	struct buf *out = &t->pending;

	if (t->row == row && t->col < col && can(parm_right_cursor))
		emit(out, tparm(parm_right_cursor, col - t->col));
	else if (t->row != row || t->col != col)
		emit(out, tparm(cursor_address, row, col));
	t->row = row;
	t->col = col;
}

static bool term_is_blank(const struct terminal *t, const struct cell *c)
{
	return c->ch == ' ' && c->width == 1 && t->pens[c->style].plain_blanks;
}

static void term_emit_cell(struct terminal *t, const struct cell *c)
{
	char text[CANVAS_CELL_TEXT];

	if (!term_is_blank(t, c) || !t->pens[t->style].plain_blanks)
		term_style(t, c->style);
	canvas_cell_text(c, text);
	buf_adds(&t->pending, text);
	t->col += c->width;
	/* Terminals agree on the widths of Latin, Greek, Cyrillic, Armenian, punctuation, arrows, lines, blocks. */
	if (c->width != 1 || c->marks[0] ||
		(c->ch >= 0x590 && (c->ch < 0x2000 || c->ch >= 0x2600)) || t->col >= t->cols)
		t->row = -1;
}

/* Moves the cursor to a cell, redrawing a few unchanged cells if that is shorter. */
static void term_reach(struct terminal *t, const struct cell *cells, int row, int col)
{
	int from = t->col;
	bool bridged = t->row == row && from < col && col - from <= BRIDGE;

	for (int i = from; i < col && bridged; i++)
		bridged = cells[i].ch < 0x7f && !cells[i].marks[0] &&
			  (term_is_blank(t, &cells[i]) ? t->pens[t->style].plain_blanks
						       : cells[i].style == t->style);
	for (int i = from; i < col && bridged; i++)
		term_emit_cell(t, &cells[i]);
	term_move(t, row, col);
}

static void term_emit_row(struct terminal *t, const struct cell *cells, int row)
{
	const struct cell *shown = t->cells + (size_t)row * (size_t)t->cols;
	int end = t->cols, last = t->cols;

	/* Terminals with automatic margins scroll when their last cell is written. */
	if (auto_right_margin && !eat_newline_glitch && row == t->rows - 1)
		last--;
	while (end > 0 && can(clr_eol) && term_is_blank(t, &cells[end - 1]))
		end--;
	for (int col = 0; col < last; col++) {
		const struct cell *a = &shown[col], *b = &cells[col];

		if (!b->width || (a->ch == b->ch && a->width == b->width &&
					 !memcmp(a->marks, b->marks, sizeof(a->marks)) &&
					 (!strcmp(t->pens[a->style].on, t->pens[b->style].on) ||
						 (term_is_blank(t, a) && term_is_blank(t, b)))))
			continue;
		term_reach(t, cells, row, col);
		if (col < end) {
			term_emit_cell(t, &cells[col]);
			continue;
		}
		if (!t->pens[t->style].plain_blanks)
			term_style(t, PLAIN);
		emit(&t->pending, clr_eol);
		return;
	}
}

void term_draw(struct terminal *t, const struct canvas *c, bool whole)
{
	struct buf *out = &t->pending;
	size_t cells = (size_t)c->rows * (size_t)c->cols;
	bool cursor = c->cursor_row >= 0;

	if (term_busy(t))
		return;
	if (whole || t->rows != c->rows || t->cols != c->cols) {
		t->rows = c->rows;
		t->cols = c->cols;
		t->cells = xreallocarray(t->cells, cells, sizeof(*t->cells));
		for (size_t i = 0; i < cells; i++)
			t->cells[i] = (struct cell){.ch = ' ', .style = PLAIN, .width = 1};
		emit(out, exit_attribute_mode);
		emit(out, clear_screen);
		t->style = PLAIN;
		t->row = -1;
	}
	for (int row = 0; row < c->rows; row++)
		term_emit_row(t, canvas_row(c, row), row);
	memcpy(t->cells, c->cells, cells * sizeof(*c->cells));
	if (cursor)
		term_move(t, c->cursor_row, c->cursor_col);
	if (cursor != t->cursor)
		emit(out, cursor ? cursor_normal : cursor_invisible);
	t->cursor = cursor;
	term_flush(t);
}

/* --- opening ----------------------------------------------------------------------------------------- */

struct terminal *term_open(const struct app_options *o, struct err *err)
{
	struct terminal *t = xcalloc(1, sizeof(*t));
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	bool mono = o->color == APP_COLOR_NEVER ||
		    (o->color == APP_COLOR_AUTO && no_color && *no_color);

	t->out = -1;
	t->config = o->config;
	if (tty_open(t, err) < 0 || term_load(t, err) < 0) {
		term_close(t, NULL);
		return NULL;
	}
	/* The Linux console's fonts lack the eighth blocks; the old terminals never had them. */
	if (o->charset != APP_CHARSET_AUTO)
		t->ascii = o->charset == APP_CHARSET_ASCII;
	else
		t->ascii = !strncmp(term, "linux", 5) || !strncmp(term, "vt", 2) || !env_is_utf8();
	/* With more than 256 colors a number is an RGB value, not a palette index. */
	t->depth_max = max_colors == 256 ? THEME_256 : max_colors >= 8 ? THEME_16 : THEME_MONO;
	term_set_color(t, mono ? THEME_MONO : o->color == APP_COLOR_16 ? THEME_16 : THEME_256);
	term_resume(t);
	return t;
}

void term_close(struct terminal *t, const struct canvas *last)
{
	if (t->inside)
		term_suspend(t);
	if (last)
		canvas_dump(last, &t->pending, false);
	tty_drain(t);
	if (t->loaded)
		del_curterm(cur_term);
	free(t->cells);
	if (t->out >= 0)
		close(t->out);
	buf_done(&t->pending);
	free(t);
}

bool term_busy(const struct terminal *t)
{
	return t->pending.len > 0;
}
