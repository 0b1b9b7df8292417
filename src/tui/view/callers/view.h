/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drawing the parts of a sandwich: for the callers view, and for the pane beside the methods of a wide
 * terminal.
 */
#ifndef JHOT_TUI_VIEW_CALLERS_VIEW_H
#define JHOT_TUI_VIEW_CALLERS_VIEW_H

#include "tui/frame/ui.h"
#include "tui/view/callers/sandwich.h"

/* Title and rows of one part in area; what does not fit is summed up in its last row. Returns the row
 * behind what was drawn. selected: index of the row under the cursor, -1: none. */
int callers_draw_part(struct ui *ui, struct area area, const struct sandwich *s,
	enum sandwich_kind kind, int selected);
/* All four parts below each other. */
void callers_draw_pane(struct ui *ui, struct area area, const struct sandwich *s);

#endif
