/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands beside a list on a wide terminal: callers, callees, lines and threads of its selected method.
 *
 * Derived when it is drawn, since the cursor moves without an update. Embedded in a view's state,
 * zero-initialised; pane_stale after every update.
 */
#ifndef JHOT_TUI_PANE_H
#define JHOT_TUI_PANE_H

#include "tui/sandwich.h"
#include "tui/view.h"

struct pane {
	struct sandwich *sandwich;
	struct sandwich_order order;
};

/* The parts of a body: eighths of its width for the list, the rest for what stands beside it. false: it is narrow. */
bool pane_split(struct area body, int eighths, struct area *list, struct area *pane);

void pane_done(struct pane *p);
void pane_stale(struct pane *p);
/* The part of the body that is left for the list; draws the pane for the method (PROFILE_NONE: none). */
struct area pane_draw(struct ui *ui, struct pane *p, struct area body, uint32_t method);

#endif
