/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the flame view: view.c, find.c for what is found in it, pane.c for what is beside it. */
#ifndef JHOT_TUI_VIEW_FLAME_INSIDE_H
#define JHOT_TUI_VIEW_FLAME_INSIDE_H

#include "tui/frame/compare.h"
#include "tui/frame/ui.h"
#include "tui/view/flame/layout.h"
#include "tui/view/pane.h"

struct flame_pane {
	struct pane method;      /* the selected box's, wherever it stands */
	struct rank rank;        /* of the box's children */
	struct rank_item *items; /* these as shown, at: the node; NULL: not asked for yet */
	uint32_t count;
	uint64_t path; /* whose they are */
};

struct flame {
	struct view_state at; /* its list: the boxes; its trail: the paths that were zoomed into */
	struct calltree *tree;
	struct compare_tree base; /* of the baseline, while a difference is shown */
	struct flame_layout *layout;
	struct flame_pane pane;
	uint32_t top; /* first row shown */
	int64_t layout_ms;
	uint32_t *hidden_hits; /* per box: matches below it that have no box of their own */
	char searched[256];    /* what they match */
	uint64_t compared;     /* with which baseline, if any */
	bool stale;            /* another part of it was zoomed to */
	bool upwards;          /* flame: the root at the bottom; else icicle */
};

struct flame *flame_state(const struct ui *ui);

/* find.c */

/* After each layout: what a search finds below a box, but is too narrow for one. */
void flame_find_hidden(const struct ui *ui, struct flame *f);
/* So many of a box; 0 also while they are not known yet. */
uint32_t flame_hidden_hits(const struct ui *ui, const struct flame_box *b);
bool flame_find(struct ui *ui, int direction);
void flame_add_hits(struct ui *ui, struct strip *s);

/* pane.c */

void flame_pane_done(struct flame_pane *p);
/* After each layout, so that it is as old as the boxes are. */
void flame_pane_stale(struct flame_pane *p);
/* The selected box: its figures, its hottest children, who calls its method anywhere. */
void flame_pane_ask(struct ui *ui, struct flame *f);
void flame_pane_draw(struct ui *ui, struct area area, const struct flame *f);

#endif
