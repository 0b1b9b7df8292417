/* SPDX-License-Identifier: Apache-2.0 */
/* What is otherwise when a file is looked at, not a JVM: all of its time at first, and keys that cannot do anything. */
#ifndef JHOT_TUI_FRAME_FILE_H
#define JHOT_TUI_FRAME_FILE_H

#include "tui/frame/command.h"
#include "tui/frame/ui.h"
#include "tui/screen/strip.h"

/* All of the file, or what of it was asked for. */
void file_begin(struct ui *ui);
/* Why this command does nothing on a file; NULL: it does, or none is looked at. */
const char *file_refuses(const struct ui *ui, const struct command *c);
/* Has the screen a line for how the JVM was? */
bool file_has_vitals(const struct ui *ui);
/* The same for the lines of seconds. */
bool file_has_time(const struct ui *ui);
/* How far , and . go: a window, or a part of a long file. */
int file_step(const struct ui *ui);
/* At the left of the title, and at its right. */
void file_title(const struct ui *ui, struct strip *s);
void file_state(const struct ui *ui, struct strip *s);
/* Above the keys. */
void file_notice(struct ui *ui, struct strip *s);

#endif
