/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What differs when a file is shown instead of a JVM: all of its time is shown first, it is always frozen, and some keys
 * are refused with an explanation. Functions of the ui; they have no state of their own.
 */
#ifndef JHOT_TUI_FRAME_FILE_H
#define JHOT_TUI_FRAME_FILE_H

#include "tui/frame/ui.h"

/* Sets the window to the requested range of the file, or to all of it. */
void file_begin(struct ui *ui);
/* Why a command, by its name, is not available for a file; NULL when it is, or when a JVM is shown. Static text. */
const char *file_refusal(const struct ui *ui, const char *command);
/* True when vitals can be shown: for a JVM, and for files that have them. */
bool file_has_vitals(const struct ui *ui);
/* True when samples have timestamps. */
bool file_has_time(const struct ui *ui);
/* Seconds that , and . move by: a window, or a fraction of a long file. */
int file_step(const struct ui *ui);
/* Add the left part of the title (name, process, host), and the right part (the end of the window). */
void file_title(const struct ui *ui, struct strip *s);
void file_state(const struct ui *ui, struct strip *s);
/* The line above the keys: the range shown. */
void file_notice(const struct ui *ui, struct strip *s);

#endif
