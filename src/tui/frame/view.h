/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A view: one file and one row of view_table.
 *
 *   row 0     title                  header.c
 *       1     tabs
 *       2     vitals
 *       3     data quality
 *       4     what is wrong, if something is   findings.c
 *       5..   body                   view->draw
 *       n-3   detail of the row      view->detail
 *       n-2   notice, messages       view->notice
 *       n-1   keys, or the prompt    footer.c, from the command table
 *
 * A view's state begins with a struct view_state; it is made when the view is first shown and freed with the
 * ui. update derives rows from the profile (sort: order afresh, else keep the order as far as it is true), beside
 * what stands beside them; draw asks the profile nothing. All functions may be NULL except draw.
 */
#ifndef JHOT_TUI_FRAME_VIEW_H
#define JHOT_TUI_FRAME_VIEW_H

#include "tui/screen/column.h"
#include "tui/screen/order.h"
#include "tui/screen/strip.h"

#include <stdbool.h>

struct profile_query;
struct ui;

enum view_id {
	VIEW_METHODS,
	VIEW_THREADS,
	VIEW_TREE,
	VIEW_FLAME,
	VIEW_CALLERS,
	VIEW_INFO,
	VIEW_FINDINGS,
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

#define TRAIL_MAX 32
/* Paths that were zoomed into, methods that were walked to: Esc leads back, the last one first. */
struct trail {
	uint64_t ids[TRAIL_MAX];
	unsigned nr[TRAIL_MAX]; /* ui_narrow of each */
	int depth;
};

/* What every view has: a list, where one is in it, how it is sorted, how one came. The view's own stands behind it. */
struct view_state {
	struct ui *ui;
	struct list list;
	struct order order; /* unused where rows cannot be sorted */
	struct trail trail;
};

struct view {
	const char *name; /* in help: "Methods view" */
	const char *tab;  /* in the tab strip, NULL: not there */
	bool bare;        /* draws the whole screen but for the key line */
	bool sums;        /* update asks for sums per stack */
	size_t bytes;     /* of its state, which begins as zeroes */
	void (*init)(void *state);
	void (*done)(void *state); /* frees what the state points to */
	void (*update)(struct ui *ui, bool sort);
	/* What else update asks about: the window before, a baseline. false: nothing. NULL: never. */
	bool (*other)(const struct ui *ui, struct profile_query *q);
	void (*beside)(struct ui *
			ui); /* before draw: ask about the row under the cursor, if that is shown */
	void (*draw)(struct ui *ui, struct area body);
	void (*quality)(
		struct ui *ui, struct strip *s); /* its own parts of the data-quality line */
	void (*detail)(struct ui *ui, struct strip *s);
	void (*notice)(struct ui *ui, struct strip *s);
	/* Searching beyond the rows shown: to the next (1) or previous (-1) hit, or (0) the first from the
	 * anchor on. NULL: by the rows' texts. */
	bool (*find)(struct ui *ui, int direction);
	void (*anchor)(
		struct ui *ui, bool set);     /* remember where the cursor is, or go back there */
	list_text_fn *text;                   /* a row's name, "": none; ctx is the ui */
	bool (*type)(struct ui *ui, int key); /* takes characters for itself; false: not this one */
	/* Of a view with rows: its columns, the row for a line of the list (NULL: none), and what is drawn
	 * over the cells of a row. */
	struct columns (*columns)(const struct ui *ui);
	const void *(*row)(const void *state, int index);
	void (*mark)(
		struct ui *ui, int row, const struct column_place *places, int n, const void *item);
	/* The number (ui_narrow) of the view's last narrowing, 0: none (NULL: the trail's); and Esc undoing it. */
	unsigned (*narrowed)(const struct ui *ui);
	void (*back)(struct ui *ui);
	/* The selected thread, or pool: what may be exported in place of all. Nothing is selected: as they were. */
	void (*chosen)(const struct ui *ui, uint32_t *thread, uint32_t *pool);
	/* Calls profile_keep for the methods that the view knows for longer than from one update to the next. */
	void (*keep)(const struct ui *ui);
};

/* Text of many rows that moving scrolls: written into the canvas anew for each draw. It begins a view's state. */
struct page {
	struct view_state at; /* its list's cursor is the row at the top */
	struct canvas canvas;
	int rows; /* written */
};
void page_begin(struct ui *ui, struct page *p);
bool page_draw(struct ui *ui, struct page *p, struct area area); /* true: there is more below */
void page_done(void *page);

extern const struct view *const view_table[VIEW_COUNT];
extern const struct view view_methods, view_threads, view_tree, view_flame, view_callers, view_help,
	view_picker, view_error, view_info, view_findings;

void trail_push(struct ui *ui, struct trail *t, uint64_t id); /* full: the oldest goes */
static inline uint64_t trail_top(const struct trail *t)       /* there is one */
{
	return t->ids[t->depth - 1];
}
static inline unsigned trail_nr(const struct trail *t)
{
	return t->depth ? t->nr[t->depth - 1] : 0;
}

/* Draw the titles and as many of so many rows as fit, by the view's columns, row and mark. */
void view_draw_rows(struct ui *ui, enum view_id view, struct area area, uint32_t count);

#endif
