/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals as bytes in a pipe for the poll loop, and the terminal put right when the program crashes or runs out of memory.
 *
 * A pipe and not a signalfd: other threads of the process (the lease's) need not block anything for it.
 * What a handler must reach is necessarily global: one static struct in signals.c. One user at a time.
 */
#ifndef JHOT_TUI_TERM_SIGNALS_H
#define JHOT_TUI_TERM_SIGNALS_H

#include <stddef.h>
#include <termios.h>

/* Catch TERM HUP INT QUIT TSTP CONT WINCH; returns the fd to poll, -1 if no pipe could be had. */
int signals_open(void);
void signals_close(void); /* former dispositions back */
int signals_next(void);   /* the next caught signal's number, 0 if none */

/* On a crash, or when memory ends: write these bytes to the terminal and give it these modes. restore NULL: nothing (any more). */
void signals_on_crash(int tty, const char *restore, size_t bytes, const struct termios *modes);

/* Stop this process group as ^Z would; returns when it is continued. */
void signals_stop(void);

#endif
