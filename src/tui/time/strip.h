/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last ten minutes in a line each: how many samples came, the heap, the GC; the window is marked.
 *
 *   cpu    ▃▄▅▅▆▅▄▅▅▆▇▆▅▄▃▃▄[▅▅]▆▅▅▄   420/s
 *
 * A cell is so many whole seconds of the session, so that what is drawn stays what it is and moves by one
 * cell at a time. Shown under the header while frozen, and on tall terminals.
 */
#ifndef JHOT_TUI_TIME_STRIP_H
#define JHOT_TUI_TIME_STRIP_H

#include "tui/frame/ui.h"

int timestrip_rows(const struct ui *ui);
void timestrip_draw(struct ui *ui, int row);

#endif
