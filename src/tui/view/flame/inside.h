/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the flame view: view.c draws and searches, pane.c has the side pane. */
#ifndef JHOT_TUI_VIEW_FLAME_INSIDE_H
#define JHOT_TUI_VIEW_FLAME_INSIDE_H

#include "tui/frame/compare.h"
#include "tui/frame/ui.h"
#include "tui/view/flame/layout.h"
#include "tui/view/pane.h"

struct flame_pane {
	struct pane method; /* the selected box's method, on all stacks */
	struct pane_table children;
	uint64_t path; /* of the box they belong to */
};

struct flame {
	struct view_state at; /* list: the boxes; trail: zoomed paths */
	struct calltree *tree;
	struct compare_tree base; /* the baseline's tree, while a difference is shown */
	struct flame_layout *layout;
	struct flame_pane pane;
	uint32_t top; /* first row shown */
	int64_t layout_ms;
	uint32_t *hidden_hits; /* per box: matches below it too narrow for a box */
	char searched[256];    /* the search text of hidden_hits */
	uint64_t compared;     /* compare_stamp of base */
	bool stale;            /* the zoom has changed */
	bool upwards;          /* root at the bottom (flame), else at the top (icicle) */
};

/* pane.c */

void flame_pane_done(struct flame_pane *p);
/* Call after each layout: drops the pane's data, so that it matches the boxes. */
void flame_pane_invalidate(struct flame_pane *p);
/* Loads the pane of the selected box: its children, and the callers of its method on all stacks. */
void flame_pane_load(struct ui *ui, struct flame *f);
void flame_pane_draw(struct ui *ui, struct area area, const struct flame *f);

#endif
