/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder know of a terminal: its descriptors, and what it shows. */
#ifndef JHOT_TUI_TERM_TERMINAL_H
#define JHOT_TUI_TERM_TERMINAL_H

#include "tui/term/term.h"

#include <termios.h>

#define PLAIN STYLE_COUNT /* the pen of an erased cell */

struct pen {                   /* how a style is drawn here */
	char on[64], anew[64]; /* what switches it on: behind a plain pen, behind any other */
	bool leaves_blanks;    /* a blank looks as if it was not drawn */
};

struct terminal {
	int in, out;          /* out is ours alone and does not block */
	struct termios saved; /* the modes that it had */
	struct buf pending;   /* goes out as far as the terminal takes it */
	size_t sent;          /* of pending */
	uint64_t bytes;
	bool gone;

	struct keys keys;
	const struct config *config;
	enum theme_depth depth, depth_max;
	bool known; /* terminfo knows it */
	bool ascii, mouse;
	bool inside; /* on its other screen */
	struct pen pens[STYLE_COUNT + 1];

	/* What it shows and how it stands. */
	struct cell *cells;
	int rows, cols;
	int row, col; /* its cursor's; row -1: not known */
	int style;    /* of its pen */
	bool cursor;  /* is visible */
};

/* --- tty.c ------------------------------------------------------------------------------------- */

int tty_open(struct terminal *t, struct err *err);
/* Keys come one by one, bytes go out as they are. */
void tty_raw(const struct terminal *t);
/* Before the terminal is given away: waits a little for the rest. */
void tty_drain(struct terminal *t);

#endif
