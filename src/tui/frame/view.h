/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A view: a file or folder in tui/view, and a row of view_table.
 *
 *   row 0     title                  header.c
 *       1     tabs
 *       2     vitals
 *       3     data quality
 *       4     worst finding, if any   findings.c
 *       5..   body                   view->draw
 *       n-3   detail of the row      view->detail
 *       n-2   notice, messages       view->notice
 *       n-1   keys, or the prompt    footer.c, from the command table
 *
 * A view's state begins with a struct view_state. It is allocated, zeroed, when the view is first shown and freed with
 * the ui or its profile. update computes rows from the profile (sort: order from scratch, else keep the order as far as
 * the data allows), load_pane computes the side pane; draw runs no queries. Only `back` and the view's commands
 * (command.h) may modify the ui; the other functions get it as const. Every function but draw may be NULL.
 */
#ifndef JHOT_TUI_FRAME_VIEW_H
#define JHOT_TUI_FRAME_VIEW_H

#include "tui/screen/list.h"

#include <stdbool.h>

struct calls_query;
struct profile_query;
struct ui;

enum view_id {
	VIEW_METHODS,
	VIEW_THREADS,
	VIEW_TREE,
	VIEW_FLAME,
	VIEW_CALLERS,
	VIEW_LATENCY,
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

#define TRAIL_MAX  32
/* A stack of zoomed paths or visited methods: Esc pops the last one. */
struct trail {
	uint64_t ids[TRAIL_MAX];
	unsigned undo[TRAIL_MAX]; /* undo id of each */
	int depth;
};

/* The common state of all views. The view's own fields follow it. */
struct view_state {
	const struct ui *ui;
	struct list list;
	struct order order; /* unused where rows have a fixed order */
	struct trail trail;
	const char *warning; /* set by an update: shown after it, once; NULL: none */
};

struct view {
	const char *name; /* as in the help: "Methods view" */
	const char *tab;  /* label in the tab strip; NULL: none */
	bool bare;        /* draws the whole screen except the key line */
	bool sums;        /* update uses sums per stack */
	/* The data-quality line omits window, search and filters, which do not apply. */
	bool own_window;

	size_t bytes; /* size of its state */
	void (*init)(void *state);
	void (*done)(void *state); /* frees what the state owns, not the state */
	/* Calls profile_pin for the method ids that the state retains across updates. */
	void (*pin_ids)(const struct ui *ui);

	void (*update)(const struct ui *ui, bool sort);
	/* A second query that update makes: the previous window, a baseline. Returns false if none. */
	bool (*second_query)(const struct ui *ui, struct profile_query *q);
	/* Before draw: queries for the side pane of the selected row. */
	void (*load_pane)(const struct ui *ui);

	void (*draw)(const struct ui *ui, struct area body);
	/* These add to the lines above and below the body. */
	void (*quality)(const struct ui *ui, struct strip *s);
	void (*detail)(const struct ui *ui, struct strip *s);
	void (*notice)(const struct ui *ui, struct strip *s);

	/* For views with rows, which view_draw_rows draws: the columns, the row at an index of the list (NULL: none),
	 * and a function that draws over a row's cells. */
	struct columns (*columns)(const struct ui *ui);
	const void *(*row)(const void *state, int index);
	void (*decorate)(const struct ui *ui, int row, const struct column_place *places, int n,
		const void *item);
	list_text_fn *text; /* a row's name, "" if none; ctx is the ui */

	/* Search: moves to the next (1) or previous (-1) hit, or (0) to the first at or after the anchor. NULL: among
	 * the texts of the rows. */
	bool (*find)(const struct ui *ui, int direction);
	void (*anchor)(const struct ui *ui, bool set); /* remembers the cursor, or restores it */

	/* Keys. edit: text input; false: not handled. */
	bool (*edit)(const struct ui *ui, int key);
	/* The undo id (ui_undo_id) of the last zoom or visited method, 0: none; NULL: that of the trail. back undoes it. */
	unsigned (*undo_id)(const struct ui *ui);
	void (*back)(struct ui *ui);
	/* The method of the selected row, for b and l; PROFILE_NONE: none. */
	uint32_t (*selected_method)(const struct ui *ui);
	/* The selected thread or pool, for x. Leaves both unchanged if nothing is selected. */
	void (*selected_thread)(const struct ui *ui, uint32_t *thread, uint32_t *pool);
	/* For a view of single calls: those shown, whose stacks x exports in place of the window's. Borrowed. */
	const struct calls_query *(*shown_calls)(const struct ui *ui);
};

/* A scrollable text, written to its own canvas for each draw. Begins a view's state. */
struct page {
	struct view_state view; /* its cursor is the first visible row */
	struct canvas canvas;
	int rows; /* written */
};
void page_begin(const struct ui *ui, struct page *p);
/* Adds text from a column on, wrapped; rows after the first are indented by hang. */
void page_text(struct page *p, int col, int hang, enum style style, const char *text);
bool page_draw(const struct ui *ui, struct page *p, struct area area); /* true: more rows below */
void page_done(void *page);

extern const struct view *const view_table[VIEW_COUNT];
extern const struct view view_methods, view_threads, view_tree, view_flame, view_callers,
	view_latency, view_help, view_picker, view_error, view_info, view_findings;

void trail_push(struct ui *ui, struct trail *t, uint64_t id); /* when full, drops the oldest */
static inline uint64_t trail_top(const struct trail *t)       /* must not be empty */
{
	return t->ids[t->depth - 1];
}
static inline unsigned trail_undo(const struct trail *t)
{
	return t->depth ? t->undo[t->depth - 1] : 0;
}

/* Draws titles and as many of count rows as fit, using the view's columns, row and decorate. */
void view_draw_rows(const struct ui *ui, enum view_id view, struct area area, uint32_t count);

#endif
