/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal: modes, keys, and a canvas brought onto it with as few bytes as possible.
 *
 * Output never blocks: a frame that the terminal does not take at once stays pending and no other is
 * begun (term_busy), so a slow link sees fewer frames, not old ones. term_close and term_suspend put
 * everything back as it was. One terminal per process; one thread.
 */
#ifndef JHOT_TUI_TERM_TERM_H
#define JHOT_TUI_TERM_TERM_H

#include "base/err.h"
#include "tui/frame/app.h"
#include "tui/screen/canvas.h"
#include "tui/term/key.h"

#include <termios.h>

struct pen {                   /* how a style is drawn here */
	char on[64], anew[64]; /* what switches it on: behind a plain pen, behind any other */
	bool leaves_blanks;    /* a blank looks as if it was not drawn */
};

/* What is in it is for this folder to change and for others to read. */
struct terminal {
	int in, out;          /* out is ours alone and does not block */
	struct termios saved; /* the modes that it had */
	struct buf pending;   /* goes out as far as the terminal takes it */
	size_t sent;          /* of pending */
	uint64_t bytes;       /* written since term_open */
	bool gone;

	struct keys keys; /* with the last click */
	const struct config *config;
	enum theme_depth depth, depth_max;
	bool known; /* terminfo knows it */
	bool ascii; /* draw nothing else */
	bool mouse;
	bool inside; /* on its other screen */
	struct pen pens[STYLE_COUNT + 1];

	/* What it shows and how it stands. */
	struct cell *cells;
	int rows, cols;
	int row, col; /* its cursor's; row -1: not known */
	int style;    /* of its pen */
	bool cursor;  /* is visible */
};

struct terminal *term_open(const struct app_options *o, struct err *err);
/* The last frame is printed below the restored screen if last is given (--keep). */
void term_close(struct terminal *t, const struct canvas *last);
void term_suspend(struct terminal *t);
void term_resume(struct terminal *t);

void term_size(const struct terminal *t, int *rows, int *cols);
int term_key(struct terminal *t); /* TKEY_NONE: nothing typed, or half a sequence */

/* Whether buttons come as TKEY_MOUSE; while they do, the terminal's own selecting needs Shift. */
void term_set_mouse(struct terminal *t, bool on);

/* term_draw: begin a frame; ignored while busy. whole: repaint all. */
void term_draw(struct terminal *t, const struct canvas *c, bool whole);
/* term_flush: go on writing. Returns 0, or -1 when the terminal is gone. */
int term_flush(struct terminal *t);
bool term_busy(const struct terminal *t);
/* Ask the terminal to put text into the clipboard (OSC 52). */
void term_copy(struct terminal *t, const char *text);
void term_set_color(struct terminal *t, enum theme_depth depth); /* at most what the terminal can */

/* --- tty.c, for this folder ---------------------------------------------------------------------- */

int tty_open(struct terminal *t, struct err *err);
/* Keys come one by one, bytes go out as they are. */
void tty_raw(const struct terminal *t);
/* Before the terminal is given away: waits a little for the rest. */
void tty_drain(struct terminal *t);

#endif
