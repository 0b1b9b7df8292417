/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output from the live view: the export dialog, saving, copying names.
 *
 * app_ops writes the files. ui->output contains the dialog's last choices and which data has been saved; it is private to
 * output.c.
 * A failure shows a message and changes nothing: the data is kept and the dialog stays open.
 */
#ifndef JHOT_TUI_FRAME_OUTPUT_H
#define JHOT_TUI_FRAME_OUTPUT_H

#include "tui/frame/ui.h"

/* Begins with the settings' export format and nothing saved. The caller frees it. */
struct output *output_new(const struct ui *ui);
void output_restart(struct ui *ui); /* for another profile, of which nothing is saved yet */
/*
 * Saves unsaved samples, unless the user chose to discard them. Returns a message: which file was written, or why
 * none was; "" if there were none to save.
 */
const char *output_end(struct ui *ui);
/* The suffix of the selected export format, such as ".svg". */
const char *output_suffix(const struct ui *ui);

/*
 * Unsaved samples of a live session: q asks before it discards many of them, and where the user cannot be asked
 * (terminal gone, another JVM chosen) a recording is written under a generated name. Data read from a file and samples
 * saved by S do not count.
 */

/* Seconds of sampling since the session began or was last saved. */
uint32_t output_unsaved_s(const struct ui *ui);

/*
 * Saves the whole profile if more than most_s seconds are unsaved: in the working directory or, if that fails, in $HOME.
 * Returns true with done naming the file. Returns false if nothing was saved: done is "" if there was no need, else the
 * reason. output_autosave: the same with one minute.
 */
bool output_save_unsaved(struct ui *ui, uint32_t most_s, char *done, size_t bytes);
bool output_autosave(struct ui *ui, char *done, size_t bytes);

/* Commands. */
unsigned output_dialog(struct ui *ui, int arg); /* the dialog */
unsigned output_save(struct ui *ui, int arg);   /* immediately, under a generated name */
unsigned output_copy(struct ui *ui, int arg);   /* copies the selected name to the clipboard */
unsigned output_quit(struct ui *ui, int arg);   /* quits, or asks before it (setting `unsaved`) */

#endif
