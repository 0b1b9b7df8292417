/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal's descriptors: its modes, its size, and bytes that are on their way to it.
 *
 * Knows nothing of screens. What is added to pending goes out as far as the terminal takes it, never
 * blocking (tty_flush). Embedded, zero-initialised; one thread.
 */
#ifndef JHOT_TUI_TERM_TTY_H
#define JHOT_TUI_TERM_TTY_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <termios.h>

struct tty {
	int in, out; /* out is ours alone and does not block */
	bool out_owned;
	struct termios saved; /* the modes that it had */
	struct buf pending;
	size_t sent; /* of pending */
	uint64_t bytes;
	bool gone;
};

int tty_open(struct tty *t, struct err *err);
void tty_close(struct tty *t);
/* Keys come one by one, bytes go out as they are; and as it was. */
void tty_raw(const struct tty *t);
void tty_restore(const struct tty *t);
void tty_size(const struct tty *t, int *rows, int *cols);

/* 0, or -1 when the terminal is gone. */
int tty_flush(struct tty *t);
/* Before the terminal is given away: waits a little for the rest. */
void tty_drain(struct tty *t);
/* Asks the terminal to put text into the clipboard (OSC 52). */
void tty_copy(struct tty *t, const char *text);

#endif
