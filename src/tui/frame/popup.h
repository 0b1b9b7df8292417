/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A box over the view that takes all keys until it is closed: the export dialog, menus.
 *
 * ui->popup points to its const table; what it holds is its owner's field of struct ui or heap state. It is
 * drawn after the view and before the key line, in whose place its own keys stand. One thread.
 */
#ifndef JHOT_TUI_FRAME_POPUP_H
#define JHOT_TUI_FRAME_POPUP_H

#include "tui/screen/canvas.h"
#include "tui/view/view.h"

struct ui;

struct ui_popup {
	const char *title;
	const char *keys; /* for the key line: "Enter writes  Esc cancels" */
	/* Takes each key; closes itself by ui->popup = NULL. Returns reactions. */
	unsigned (*key)(struct ui *ui, int key);
	void (*draw)(struct ui *ui);
};

/*
 * popup_frame: clear and frame a box for so many rows and columns of text in the middle of the screen; its
 * inside. A screen that is too small for the frame gets the text alone.
 */
struct area popup_frame(struct ui *ui, const char *title, int rows, int cols);

#endif
