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

/* Commands. */
unsigned output_ask(struct ui *ui, int arg);  /* the dialog */
unsigned output_save(struct ui *ui, int arg); /* at once, under a name of its own */
unsigned output_copy(struct ui *ui, int arg); /* the selected name into the clipboard */

#endif
