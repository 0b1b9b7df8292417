/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A canvas onto the terminal, by terminfo: what differs from the last frame is all that is sent.
 *
 * A frame is known in whole before its first byte is sent, so nothing blocks in the middle of one.
 */
#include "tui/term/term.h"

#include "base/env.h"
#include "tui/frame/config.h"
#include "tui/term/signals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <unistd.h>

#define PLAIN     STYLE_COUNT              /* the pen of an erased cell */
#define MOUSE_ON  "\033[?1000h\033[?1006h" /* xterm's, which the others took over */
#define MOUSE_OFF "\033[?1006l\033[?1000l"
#define BRIDGE    3 /* so many cells that stay are drawn again: a move has more bytes */

/* --- terminfo ---------------------------------------------------------------------------------------- */

static bool can(const char *string)
{
	return string && string != (const char *)-1;
}

/* Terminals that needed the delays $<5> are gone. */
static void put(struct buf *out, const char *string)
{
	for (; can(string) && *string; string++) {
		if (string[0] == '$' && string[1] == '<' && strchr(string, '>'))
			string = strchr(string, '>');
		else
			buf_addc(out, *string);
	}
}

/* The usual kinds, made from the build host's descriptions, in a form that ncurses takes from TERMINFO (infocmp -Q2). */
static const struct {
	const char *name, *description;
} term_kinds[] = {
#include "tui/term/kinds.inc"
};

/* On a host without descriptions of terminals. */
static bool term_know_kind(const struct terminal *t, const char *name)
{
	const char *set = getenv("TERMINFO");
	char *before = set ? xstrdup(set) : NULL;
	bool known = false;
	int found;

	for (size_t i = 0; i < sizeof(term_kinds) / sizeof(term_kinds[0]) && !known; i++) {
		if (strcmp(term_kinds[i].name, name))
			continue;
		setenv("TERMINFO", term_kinds[i].description, 1);
		known = setupterm(name, t->out, &found) == 0;
	}
	if (before)
		setenv("TERMINFO", before, 1);
	else
		unsetenv("TERMINFO");
	free(before);
	return known;
}

static bool term_know_name(const struct terminal *t, const char *name)
{
	int found;

	return setupterm(name, t->out, &found) == 0 || term_know_kind(t, name);
}

static int term_know(struct terminal *t, struct err *err)
{
	const char *name = getenv("TERM");

	/* A new terminal on an old machine: nearly all of them understand what xterm does. */
	t->known =
		name && *name && (term_know_name(t, name) || term_know_name(t, "xterm-256color"));
	if (t->known && can(cursor_address) && can(clear_screen))
		return 0;
	err_set(err, ERR_USAGE, "TERM=%s is not a terminal whose cursor jhot can move.",
		name ? name : "");
	err_hint(err, "TERM=vt100 jhot ...     if it is one of the usual kinds after all");
	err_hint(err, "jhot record PID         prints the hot methods as text");
	return -1;
}

/* --- modes ------------------------------------------------------------------------------------------- */

/* Everything that gives the terminal back but its modes. */
static void term_put_leave(const struct terminal *t, struct buf *out)
{
	if (t->mouse)
		buf_adds(out, MOUSE_OFF);
	put(out, exit_attribute_mode);
	put(out, keypad_local);
	put(out, cursor_normal);
	put(out, can(exit_ca_mode) ? exit_ca_mode : tparm(cursor_address, t->rows - 1, 0));
}

static void term_arm_crash(struct terminal *t)
{
	struct buf b = {0};

	term_put_leave(t, &b);
	signals_on_crash(t->out, buf_str(&b), b.len, &t->saved);
	buf_done(&b);
}

void term_suspend(struct terminal *t)
{
	signals_on_crash(-1, NULL, 0, NULL);
	term_put_leave(t, &t->pending);
	t->inside = false;
	tty_drain(t);
	tcsetattr(t->in, TCSADRAIN, &t->saved);
}

void term_resume(struct terminal *t)
{
	struct buf *out = &t->pending;

	tty_raw(t);
	if (!t->inside)
		put(out, enter_ca_mode);
	t->inside = true;
	put(out, keypad_xmit);
	put(out, cursor_invisible);
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

/* ESC [ a m and ESC [ b m are ESC [ a ; b m. */
static void pen_add(struct buf *on, const char *string)
{
	struct buf more = {0};
	bool joined;

	put(&more, string);
	joined = on->len && !strncmp(buf_str(&more), "\033[", 2) && on->data[on->len - 1] == 'm';
	if (joined)
		on->data[on->len - 1] = ';';
	buf_adds(on, buf_str(&more) + (joined ? 2 : 0));
	buf_done(&more);
}

static void pen_string(char out[64], const char *begin, const struct look *look)
{
	const struct {
		int look, video; /* video: bit of no_color_video */
		const char *on;
	} attrs[] = {{LOOK_BOLD, 32, enter_bold_mode}, {LOOK_DIM, 16, enter_dim_mode},
		{LOOK_REVERSE, 4, enter_reverse_mode}, {LOOK_UNDERLINE, 2, enter_underline_mode}};
	bool colored = look->fg >= 0 || look->bg >= 0;
	int never = colored && no_color_video > 0 ? no_color_video : 0;
	struct buf b = {0};

	pen_add(&b, begin);
	for (size_t i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++)
		if (look->attrs & attrs[i].look && !(never & attrs[i].video))
			pen_add(&b, attrs[i].on);
	if (look->fg >= 0)
		pen_add(&b, tparm(set_a_foreground, look->fg));
	if (look->bg >= 0)
		pen_add(&b, tparm(set_a_background, look->bg));
	snprintf(out, 64, "%s", buf_str(&b));
	buf_done(&b);
}

static void pen_make(struct pen *pen, const struct look *look)
{
	/* On most terminals this is all that ends attributes and colours, and it can be joined. */
	const char *off = can(exit_attribute_mode) && strstr(exit_attribute_mode, "\033[m")
				  ? "\033[m"
				  : exit_attribute_mode;

	pen->leaves_blanks = look->bg < 0 && !(look->attrs & (LOOK_REVERSE | LOOK_UNDERLINE));
	pen_string(pen->on, NULL, look);
	pen_string(pen->anew, off, look);
}

void term_set_color(struct terminal *t, enum theme_depth depth)
{
	t->depth = depth < t->depth_max ? depth : t->depth_max;
	for (int i = 0; i < STYLE_COUNT; i++)
		pen_make(&t->pens[i], term_look(t, (enum style)i));
	pen_make(&t->pens[PLAIN], &(const struct look){-1, -1, 0});
	t->rows = 0; /* what is shown is shown otherwise now */
}

static void term_style(struct terminal *t, int style)
{
	const struct pen *from = &t->pens[t->style], *to = &t->pens[style];

	t->style = style;
	if (strcmp(from->on, to->on) != 0)
		buf_adds(&t->pending, *from->on ? to->anew : to->on);
}

/* --- drawing ----------------------------------------------------------------------------------------- */

static void term_move(struct terminal *t, int row, int col)
{
	struct buf *out = &t->pending;

	if (t->row == row && t->col < col && can(parm_right_cursor))
		put(out, tparm(parm_right_cursor, col - t->col));
	else if (t->row != row || t->col != col)
		put(out, tparm(cursor_address, row, col));
	t->row = row;
	t->col = col;
}

static bool term_is_blank(const struct terminal *t, const struct cell *c)
{
	return c->ch == ' ' && c->width == 1 && t->pens[c->style].leaves_blanks;
}

static bool term_same_cell(const struct terminal *t, const struct cell *a, const struct cell *b)
{
	if (a->ch != b->ch || a->width != b->width || memcmp(a->marks, b->marks, sizeof(a->marks)))
		return false;
	return a->style == b->style || !strcmp(t->pens[a->style].on, t->pens[b->style].on) ||
	       (term_is_blank(t, a) && term_is_blank(t, b));
}

/* Terminals agree on the width of Latin, Greek, Cyrillic, Armenian, punctuation, arrows, and lines and blocks. */
static bool term_width_known(const struct cell *c)
{
	return c->width == 1 && !c->marks[0] &&
	       (c->ch < 0x590 || (c->ch >= 0x2000 && c->ch < 0x2600));
}

static void term_put_cell(struct terminal *t, const struct cell *c)
{
	char text[CANVAS_CELL_TEXT];

	if (!term_is_blank(t, c) || !t->pens[t->style].leaves_blanks)
		term_style(t, c->style);
	canvas_cell_text(c, text);
	buf_adds(&t->pending, text);
	t->col += c->width;
	if (!term_width_known(c) || t->col >= t->cols)
		t->row = -1;
}

/* To this cell, over some that stay if that is shorter. */
static void term_reach(struct terminal *t, const struct cell *cells, int row, int col)
{
	int from = t->col;
	bool bridged = t->row == row && from < col && col - from <= BRIDGE;

	for (int i = from; i < col && bridged; i++)
		bridged = cells[i].ch < 0x7f && !cells[i].marks[0] &&
			  (term_is_blank(t, &cells[i]) ? t->pens[t->style].leaves_blanks
						       : cells[i].style == t->style);
	for (int i = from; i < col && bridged; i++)
		term_put_cell(t, &cells[i]);
	term_move(t, row, col);
}

static void term_put_row(struct terminal *t, const struct cell *cells, int row)
{
	const struct cell *shown = t->cells + (size_t)row * (size_t)t->cols;
	int end = t->cols, last = t->cols;

	/* Such a terminal scrolls when its last cell is drawn. */
	if (auto_right_margin && !eat_newline_glitch && row == t->rows - 1)
		last--;
	while (end > 0 && can(clr_eol) && term_is_blank(t, &cells[end - 1]))
		end--;
	for (int col = 0; col < last; col++) {
		if (!cells[col].width || term_same_cell(t, &shown[col], &cells[col]))
			continue;
		term_reach(t, cells, row, col);
		if (col < end) {
			term_put_cell(t, &cells[col]);
			continue;
		}
		if (!t->pens[t->style].leaves_blanks)
			term_style(t, PLAIN);
		put(&t->pending, clr_eol);
		return;
	}
}

static void term_clear(struct terminal *t, int rows, int cols)
{
	struct buf *out = &t->pending;

	t->rows = rows;
	t->cols = cols;
	t->cells = xreallocarray(t->cells, (size_t)rows * (size_t)cols, sizeof(*t->cells));
	for (int i = 0; i < rows * cols; i++)
		t->cells[i] = (struct cell){.ch = ' ', .style = PLAIN, .width = 1};
	put(out, exit_attribute_mode);
	put(out, clear_screen);
	t->style = PLAIN;
	t->row = -1;
}

void term_draw(struct terminal *t, const struct canvas *c, bool whole)
{
	struct buf *out = &t->pending;
	bool cursor = c->cursor_row >= 0;

	if (term_busy(t))
		return;
	if (whole || t->rows != c->rows || t->cols != c->cols)
		term_clear(t, c->rows, c->cols);
	for (int row = 0; row < c->rows; row++)
		term_put_row(t, canvas_row(c, row), row);
	memcpy(t->cells, c->cells, (size_t)c->rows * (size_t)c->cols * sizeof(*c->cells));
	if (cursor)
		term_move(t, c->cursor_row, c->cursor_col);
	if (cursor != t->cursor)
		put(out, cursor ? cursor_normal : cursor_invisible);
	t->cursor = cursor;
	term_flush(t);
}

/* --- opening ----------------------------------------------------------------------------------------- */

static bool term_is_utf8(enum app_charset charset)
{
	const char *term = getenv("TERM");

	if (charset != APP_CHARSET_AUTO)
		return charset == APP_CHARSET_UTF8;
	/* The Linux console's fonts lack the eighth blocks; the old terminals never had them. */
	if (term && (!strncmp(term, "linux", 5) || !strncmp(term, "vt", 2)))
		return false;
	return env_is_utf8();
}

static enum theme_depth term_depth(enum app_color wanted)
{
	const char *no = getenv("NO_COLOR");

	if (wanted == APP_COLOR_NEVER || (wanted == APP_COLOR_AUTO && no && *no))
		return THEME_MONO;
	return wanted == APP_COLOR_16 ? THEME_16 : THEME_256;
}

struct terminal *term_open(const struct app_options *o, struct err *err)
{
	struct terminal *t = xcalloc(1, sizeof(*t));

	t->out = -1;
	t->config = o->config;
	if (tty_open(t, err) < 0 || term_know(t, err) < 0) {
		term_close(t, NULL);
		return NULL;
	}
	t->ascii = !term_is_utf8(o->charset);
	/* Beyond 256 a number is no place in a palette but the colour itself. */
	t->depth_max = max_colors == 256 ? THEME_256 : max_colors >= 8 ? THEME_16 : THEME_MONO;
	term_set_color(t, term_depth(o->color));
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
	if (t->known)
		del_curterm(cur_term);
	free(t->cells);
	if (t->out >= 0)
		close(t->out);
	buf_done(&t->pending);
	free(t);
}

int term_key(struct terminal *t)
{
	return keys_next(&t->keys, t->in);
}

bool term_busy(const struct terminal *t)
{
	return t->pending.len > 0;
}
