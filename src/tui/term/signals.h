/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Delivers signals to the poll loop through a pipe, and restores the terminal on a crash or when memory runs out.
 *
 * A pipe rather than a signalfd: other threads of the process (the lease's) then need not block the signals. The state
 * is global, in signals.c, because handlers must reach it: one user at a time.
 */
#ifndef JHOT_TUI_TERM_SIGNALS_H
#define JHOT_TUI_TERM_SIGNALS_H

#include <stddef.h>
#include <termios.h>

/* Catches TERM HUP INT QUIT TSTP CONT WINCH. Returns the descriptor to poll, or -1 with errno set. */
int signals_open(void);
void signals_close(void); /* restores the former dispositions */
int signals_next(void);   /* the next caught signal's number, 0 if none */

/* Registers the bytes and modes that restore the terminal on a crash or out of memory. restore NULL: none. Copies both. */
void signals_on_crash(int tty, const char *restore, size_t bytes, const struct termios *modes);

/* Stops this process group as ^Z would. Returns when it is continued. */
void signals_stop(void);

#endif
