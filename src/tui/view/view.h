/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A view: one file and one row of view_table.
 *
 *   row 0     title                  header.c
 *       1     tabs
 *       2     vitals
 *       3     data quality
 *       4..   body                   view->draw
 *       n-3   detail of the row      view->detail
 *       n-2   notice, messages       view->notice
 *       n-1   keys, or the prompt    footer.c, from the command table
 *
 * A view has a state of its own, made when it is first shown and freed with the ui. update derives rows
 * from the profile (sort: order afresh, else keep the order as far as it is true); draw must not. All
 * functions may be NULL except draw.
 */
#ifndef JHOT_TUI_VIEW_VIEW_H
#define JHOT_TUI_VIEW_VIEW_H

#include "tui/screen/list.h"
#include "tui/screen/strip.h"

#include <stdbool.h>

struct columns;
struct order;
struct profile_query;
struct ui;

enum view_id {
	VIEW_METHODS,
	VIEW_THREADS,
	VIEW_TREE,
	VIEW_FLAME,
	VIEW_CALLERS,
	VIEW_INFO,
	VIEW_HELP,
	VIEW_PICKER,
	VIEW_ERROR,
	VIEW_COUNT
};

#define VIEW_BIT(id) (1u << (id))
#define VIEWS_LIST                                                               \
	(VIEW_BIT(VIEW_METHODS) | VIEW_BIT(VIEW_THREADS) | VIEW_BIT(VIEW_TREE) | \
		VIEW_BIT(VIEW_CALLERS))
#define VIEWS_DATA (VIEWS_LIST | VIEW_BIT(VIEW_FLAME))
#define VIEWS_ALL  (VIEW_BIT(VIEW_COUNT) - 1)

struct area {
	int row, col, rows, cols;
};

struct view {
	const char *name; /* in help: "Methods view" */
	const char *tab;  /* in the tab strip, NULL: not there */
	bool bare;        /* draws the whole screen but for the key line */
	bool sums;        /* update asks for sums per stack */
	void *(*new)(void);
	void (*free)(void *state);
	void (*update)(struct ui *ui, bool sort);
	/* What else update asks about: the window before, a baseline. false: nothing. NULL: never. */
	bool (*beside)(const struct ui *ui, struct profile_query *q);
	void (*draw)(struct ui *ui, struct area body);
	void (*quality)(
		struct ui *ui, struct strip *s); /* its own parts of the data-quality line */
	void (*detail)(struct ui *ui, struct strip *s);
	void (*notice)(struct ui *ui, struct strip *s);
	struct list *(*list)(struct ui *ui);
	/* Searching beyond the rows shown: to the next (1) or previous (-1) hit, or (0) the first from the
	 * anchor on. NULL: by the rows' texts. */
	bool (*find)(struct ui *ui, int direction);
	void (*anchor)(
		struct ui *ui, bool set);     /* remember where the cursor is, or go back there */
	list_text_fn *text;                   /* a row's name, "": none; ctx is the ui */
	bool (*type)(struct ui *ui, int key); /* takes characters for itself; false: not this one */
	/* Of rows that may be sorted by a column: their order, and the columns that there are. */
	struct order *(*order)(struct ui *ui);
	struct columns (*columns)(const struct ui *ui);
	void (*select)(struct ui *ui, int index); /* a click on a row; NULL: list_to */
	/* The number (ui_narrow) of the view's last narrowing, 0: none; and Esc undoing it. */
	unsigned (*narrowed)(const struct ui *ui);
	void (*back)(struct ui *ui);
	/* Calls profile_keep for the methods that the view knows for longer than from one update to the next. */
	void (*keep)(const struct ui *ui);
};

extern const struct view *const view_table[VIEW_COUNT];
extern const struct view view_methods, view_threads, view_tree, view_flame, view_callers, view_help,
	view_picker, view_error, view_info;

/* --- idle.c ------------------------------------------------------------------------------------ */

/* What stands in a view when the shown event has no samples: why, and which other events may have some. */

void empty_draw(struct ui *ui, struct area area);

#endif
