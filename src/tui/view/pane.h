/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Callers, callees, lines and threads of one method (its sandwich), and small tables of methods. Drawn in the
 * callers view, and in the pane beside a list on a wide terminal.
 *
 * Everything is computed from a query and owned by the state of a view. Ids are valid until the profile's
 * next eviction.
 */
#ifndef JHOT_TUI_VIEW_PANE_H
#define JHOT_TUI_VIEW_PANE_H

#include "profile/table/calltree.h"
#include "profile/table/rank.h"
#include "tui/frame/ui.h"

struct pane_row {
	uint32_t id;  /* method, thread or line; PROFILE_NONE: the root of the stack, or self */
	uint8_t type; /* enum frame_type, of methods */
	uint64_t count, value; /* samples and weight; rows with few samples are dimmed */
	uint64_t second;       /* weight of the second share; tables only */
};

/* --- tables ------------------------------------------------------------------------------------- */

/*
 * A table of methods: frame type, name, and two shares. Rows keep their places until the data justifies a
 * swap (rank.h). Embedded, zero-initialized; end with pane_table_done.
 */
struct pane_table {
	struct pane_row *rows; /* in display order; NULL: not loaded */
	uint32_t count;
	uint64_t whole, sum; /* 100 % of the first and of the second share */
	struct rank rank;
};

/* Takes ownership of the rows (heap) and orders them. */
void pane_table_set(struct pane_table *t, struct pane_row *rows, uint32_t count, enum rank_how how);
void pane_table_clear(struct pane_table *t); /* drops the rows, keeps their order */
void pane_table_done(struct pane_table *t);

struct pane_titles {
	const char *what, *first, *second;
};

/* Draws the titles and as many rows as fit. Returns the next row. */
int pane_table_draw(const struct ui *ui, struct area area, const struct pane_titles *titles,
	const struct pane_table *t);
/* Draws a frame type and, two columns to the right, the method's name in area.cols columns. */
void pane_method(
	const struct ui *ui, struct area area, uint8_t type, uint32_t method, enum style style);
/* Draws "12.3%", right-aligned before column end. */
void pane_percent(const struct ui *ui, int row, int col, int end, enum style style, double percent);

/* Fits the name of a node of a call tree: "all", a thread or a method. */
void pane_node_name(
	const struct ui *ui, const struct calltree_node *n, int width, char *out, size_t size);
/* Adds a node's name, samples and share of `all` to the detail line. samples: effective sample size, see error.h. */
void pane_node_detail(const struct ui *ui, struct strip *s, const struct calltree_node *n,
	uint64_t all, double samples);

/* --- sandwiches --------------------------------------------------------------------------------- */

enum sandwich_kind {
	SANDWICH_CALLERS,
	SANDWICH_CALLEES,
	SANDWICH_LINES,
	SANDWICH_THREADS,
	SANDWICH_KINDS
};

/* Texts of a part: its title, the name of the row PROFILE_NONE, and what its rows are ("caller"). */
struct sandwich_words {
	const char *title, *none, *noun;
};
extern const struct sandwich_words sandwich_words[SANDWICH_KINDS];

struct sandwich_part {
	struct pane_row *rows;
	uint32_t count, cap;
};

/*
 * Each sample counts once: the caller is that of the outermost occurrence on the stack, the callee that of the innermost.
 */
struct sandwich {
	uint32_t method;
	uint8_t type; /* its most frequent frame type */
	uint64_t self, self_count, total, total_count;
	uint64_t sum, sum_count; /* of the window */
	double samples;          /* effective sample size, see error.h */
	struct sandwich_part parts[SANDWICH_KINDS];
};

/* The displayed order of each part. Embedded, zero-initialized; end with sandwich_order_done. */
struct sandwich_order {
	struct rank ranks[SANDWICH_KINDS];
	uint32_t method; /* the method it belongs to */
};

/* The rows are in no order: call sandwich_rank before drawing. The caller frees the result. */
struct sandwich *sandwich_new(
	const struct profile *p, const struct profile_query *q, uint32_t method);
void sandwich_free(struct sandwich *s);
/* Orders the rows, keeping them in place until the data justifies a swap (rank.h). */
void sandwich_rank(struct sandwich_order *o, struct sandwich *s, enum rank_how how);
void sandwich_order_done(struct sandwich_order *o);

#define PANE_BAR_FROM 56 /* columns; narrower parts have figures only */

/*
 * Draws title and rows of one part in area; rows that do not fit are summed up in the last one. With the
 * sandwich of a baseline (base, else NULL) the last column is the change of the share of all. first is the
 * index of the first row in the view's list, -1: not part of a list. Returns the row after the last one
 * drawn.
 */
int pane_part_draw(const struct ui *ui, struct area area, const struct sandwich *s,
	const struct sandwich *base, enum sandwich_kind kind, int first, int cursor);

/* --- the pane ----------------------------------------------------------------------------------- */

/* The sandwich of the selected method. Embedded, zero-initialized; end with pane_done. */
struct pane {
	struct sandwich *sandwich; /* NULL: not loaded */
	struct sandwich_order order;
};

#define PANE_LIST  10 /* sixteenths of the width for a list, */
#define PANE_FLAME 11 /* and for a flame graph */

/* Divides a body into list and pane. Returns false when it is too small: then both are the whole body. */
bool pane_split(struct area body, int sixteenths, struct area *list, struct area *pane);
/* Call after every update: the sandwich is stale. */
void pane_invalidate(struct pane *p);
/*
 * Call before drawing. Computes the sandwich of a method (PROFILE_NONE: none), unless it is loaded or there
 * is no space for a pane.
 */
void pane_load(const struct ui *ui, struct pane *p, int sixteenths, uint32_t method);
/* Draws the pane if a method is selected and it fits. Returns the area left for the list. */
struct area pane_draw(const struct ui *ui, struct pane *p, struct area body, uint32_t method);
void pane_done(struct pane *p);

#endif
