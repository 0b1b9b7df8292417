/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands beside a list on a wide terminal: callers, callees, lines and threads of its selected method.
 *
 * Embedded in a view's state, zero-initialised; pane_stale after every update, pane_ask before it is drawn.
 */
#ifndef JHOT_TUI_VIEW_PANE_H
#define JHOT_TUI_VIEW_PANE_H

#include "tui/frame/ui.h"
#include "tui/view/callers/sandwich.h"

struct pane {
	struct sandwich *sandwich; /* NULL: there is nothing to draw */
	struct sandwich_order order;
};

#define PANE_LIST  10 /* sixteenths of the width that are a list's, */
#define PANE_FLAME 11 /* and a flame graph's */

/* The parts of a body: for the list, and what stands beside it. false: it is too narrow for two. */
bool pane_split(struct area body, int sixteenths, struct area *list, struct area *pane);

void pane_done(struct pane *p);
void pane_stale(struct pane *p);
/* What is around a method (PROFILE_NONE: none), if there is space for a pane. */
void pane_ask(struct ui *ui, struct pane *p, int sixteenths, uint32_t method);
/* The part of the body that is left for the list; draws the pane unless no method is selected. */
struct area pane_draw(struct ui *ui, struct pane *p, struct area body, uint32_t method);

/* --- tables ------------------------------------------------------------------------------------- */

/* A small table of methods in a pane: the letter of how it ran, its name, and two shares. Draws only. */

struct pane_row {
	uint32_t method;
	uint8_t type;         /* enum frame_type */
	uint64_t count;       /* samples: few are drawn weaker */
	double first, second; /* percent */
};

struct pane_titles {
	const char *what, *first, *second;
};

/* The titles' row, which the rows stand below. */
void pane_table_titles(struct ui *ui, struct area area, const struct pane_titles *titles);
/* The letter of how a method ran, and its name in so many columns two further. */
void pane_method(struct ui *ui, struct area area, uint8_t type, uint32_t method, enum style style);
/* "12.3%" that ends before column end. */
void pane_percent(struct ui *ui, int row, int col, int end, enum style style, double percent);
void pane_table_row(struct ui *ui, struct area area, const struct pane_row *r);

/* --- callers/view.c: the parts of a sandwich ----------------------------------------------------- */

/* Title and rows of one part in area; what does not fit is summed up in its last row. Returns the row
 * behind what was drawn. first: what its first row is in the list that the cursor is in, -1: in none. */
int callers_draw_part(struct ui *ui, struct area area, const struct sandwich *s,
	enum sandwich_kind kind, int first, int cursor);
/* All four parts below each other. */
void callers_draw_pane(struct ui *ui, struct area area, const struct sandwich *s);

#endif
