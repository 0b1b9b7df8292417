/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output from the live view: the export dialog, the quick save, names copied.
 *
 * Writing itself is app_ops's. What was chosen last is kept in ui->output for the next time. A failure is a
 * message and changes nothing: the data stays, the dialog stays open.
 */
#ifndef JHOT_TUI_FRAME_OUTPUT_H
#define JHOT_TUI_FRAME_OUTPUT_H

#include "tui/frame/ui.h"

struct output;
void output_free(struct output *o);

/* The format that S writes, ".svg". */
const char *output_suffix(struct ui *ui);

/*
 * Saves all there is as S does, in the working folder or, where that fails, in $HOME. 0, done is one line with the
 * file's name; -1: err says why the working folder would not do.
 */
int output_save_all(struct ui *ui, char *done, size_t bytes, struct err *err);

/*
 * Samples of a live session that are in no recording: q asks before it throws much of them away, and where nobody can be
 * asked, a recording is written under a name of its own. What was read from a file, and samples that S has saved, do
 * not count.
 */

/* Seconds of sampling since the session began, or since it was saved last. */
uint32_t output_unsaved_s(const struct ui *ui);

/*
 * Saves when there is more than most_s seconds: true; done is then one line with the file's name. False: nothing was
 * saved, and done says why that failed, or is "" if there is no more. output_autosave: of more than a minute.
 */
bool output_save_unsaved(struct ui *ui, uint32_t most_s, char *done, size_t bytes);
bool output_autosave(struct ui *ui, char *done, size_t bytes);

/* Commands. */
unsigned output_ask(struct ui *ui, int arg);  /* the dialog */
unsigned output_save(struct ui *ui, int arg); /* at once, under a name of its own */
unsigned output_copy(struct ui *ui, int arg); /* the selected name into the clipboard */
unsigned output_quit(struct ui *ui, int arg); /* quits, or asks before it (setting `unsaved`) */

#endif
