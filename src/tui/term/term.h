/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal: modes, keys, and displaying a canvas with as few bytes as possible.
 *
 * Drawing never blocks: while the terminal has not accepted a whole frame, term_busy is true and no other frame is
 * started, so a slow link gets fewer frames, not stale ones. term_close and term_suspend restore the terminal; they wait
 * up to a second at a time for pending output. One terminal per process; not thread-safe.
 */
#ifndef JHOT_TUI_TERM_TERM_H
#define JHOT_TUI_TERM_TERM_H

#include "base/err.h"
#include "tui/frame/app.h"
#include "tui/screen/canvas.h"
#include "tui/term/key.h"

#include <termios.h>

struct pen {               /* escape sequences that select a style */
	char on[64];       /* while no attribute is set */
	char reset_on[64]; /* after another style */
	bool plain_blanks; /* a blank in it looks like an erased cell */
};

/* Only this folder writes the fields; others may read them. */
struct terminal {
	int in, out;          /* out is non-blocking, with an open file description of our own */
	struct termios saved; /* original modes */
	struct buf pending;   /* output not yet accepted */
	size_t sent;          /* bytes of pending already written */
	uint64_t bytes;       /* written since term_open */
	bool gone;

	struct keys keys; /* with the last click */
	const struct config *config;
	enum theme_depth depth, depth_max;
	bool loaded; /* terminfo is loaded */
	bool ascii;  /* draw ASCII only */
	bool mouse;
	bool inside; /* on the alternate screen */
	struct pen pens[STYLE_COUNT + 1];

	/* The terminal's present state. */
	struct cell *cells;
	int rows, cols;
	int row, col; /* cursor position; row -1: unknown */
	int style;    /* current pen */
	bool cursor;  /* visible */
};

/* Takes over the terminal of stdin and stdout. Returns NULL with err filled. */
struct terminal *term_open(const struct app_options *o, struct err *err);
/* Restores the terminal and frees t; prints last, if given, to the restored screen (--keep). */
void term_close(struct terminal *t, const struct canvas *last);
void term_suspend(struct terminal *t);
void term_resume(struct terminal *t);

void term_size(const struct terminal *t, int *rows, int *cols);

/* Switches mouse reporting (TKEY_MOUSE); while on, selecting text in the terminal needs Shift. */
void term_set_mouse(struct terminal *t, bool on);

/* Starts a frame; ignored while term_busy. whole: repaints everything. */
void term_draw(struct terminal *t, const struct canvas *c, bool whole);
/* Continues writing without blocking. Returns 0, or -1 when the terminal is gone. */
int term_flush(struct terminal *t);
bool term_busy(const struct terminal *t);
/* Asks the terminal to copy text to the clipboard (OSC 52). */
void term_copy(struct terminal *t, const char *text);
void term_set_color(
	struct terminal *t, enum theme_depth depth); /* clamped to what the terminal supports */

#endif
