/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pane beside a list on a wide terminal: callers, callees, lines and threads of the selected method.
 *
 * Embedded in a view's state, zero-initialized. Call pane_invalidate after every update, pane_load before drawing and
 * pane_done at the end.
 */
#ifndef JHOT_TUI_VIEW_PANE_H
#define JHOT_TUI_VIEW_PANE_H

#include "tui/frame/ui.h"
#include "tui/view/callers/sandwich.h"

struct pane {
	struct sandwich *sandwich; /* NULL: not loaded */
	struct sandwich_order order;
};

#define PANE_LIST  10 /* sixteenths of the width for a list, */
#define PANE_FLAME 11 /* and for a flame graph */

/* Divides a body into list and pane. Returns false when it is too small: then both are the whole body. */
bool pane_split(struct area body, int sixteenths, struct area *list, struct area *pane);

void pane_done(struct pane *p);
void pane_invalidate(struct pane *p);
/* Runs the query for a method (PROFILE_NONE: none), unless loaded or there is no space for a pane. */
void pane_load(struct ui *ui, struct pane *p, int sixteenths, uint32_t method);
/* Draws the pane if a method is selected and it fits. Returns the area left for the list. */
struct area pane_draw(struct ui *ui, struct pane *p, struct area body, uint32_t method);

/* --- tables ------------------------------------------------------------------------------------- */

/*
 * A small table of methods in a pane: frame type, name, and two shares. Rows keep their places until the data justifies a
 * swap (rank.h). Embedded, zero-initialized; end with pane_table_done.
 */

struct pane_row {
	uint32_t method;
	uint8_t type;         /* enum frame_type */
	uint64_t count;       /* samples; rows with few are dimmed */
	uint64_t weight;      /* larger first */
	double first, second; /* percent */
};

struct pane_table {
	struct pane_row *rows; /* in display order; NULL: not loaded */
	uint32_t count;
	struct rank rank;
};

/* Takes ownership of the rows (heap) and orders them. fresh, frozen: as for rank_update. */
void pane_table_set(
	struct pane_table *t, struct pane_row *rows, uint32_t count, bool fresh, bool frozen);
void pane_table_clear(struct pane_table *t); /* drops the rows, keeps their order */
void pane_table_done(struct pane_table *t);

struct pane_titles {
	const char *what, *first, *second;
};

/* Draws a frame type and, two columns to the right, the method's name in area.cols columns. */
void pane_method(struct ui *ui, struct area area, uint8_t type, uint32_t method, enum style style);
/* Draws "12.3%", right-aligned before column end. */
void pane_percent(struct ui *ui, int row, int col, int end, enum style style, double percent);
/* Draws the titles and as many rows as fit. Returns the next row. */
int pane_table_draw(struct ui *ui, struct area area, const struct pane_titles *titles,
	const struct pane_table *t);

/* --- parts of a sandwich ------------------------------------------------------------------------ */

#define PANE_BAR_FROM 56 /* columns; narrower parts have figures only */

/*
 * Draws title and rows of one part in area; rows that do not fit are summed up in the last one. With the sandwich of a
 * baseline (base, else NULL) the last column is the change of the share of all. first is the index of the first row in
 * the view's list, -1: not part of a list. Returns the row after what was drawn.
 */
int pane_part_draw(struct ui *ui, struct area area, const struct sandwich *s,
	const struct sandwich *base, enum sandwich_kind kind, int first, int cursor);

#endif
