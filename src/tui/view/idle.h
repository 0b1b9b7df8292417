/* SPDX-License-Identifier: Apache-2.0 */
/* What stands in a view when the shown event has no samples: why, and which other events may have some. */
#ifndef JHOT_TUI_VIEW_IDLE_H
#define JHOT_TUI_VIEW_IDLE_H

#include "tui/frame/ui.h"

void idle_draw(struct ui *ui, struct area area);

#endif
