/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of the tree view: view.c draws, commands.c has the key commands and the search.
 */
#ifndef JHOT_TUI_VIEW_TREE_INSIDE_H
#define JHOT_TUI_VIEW_TREE_INSIDE_H

#include "tui/frame/compare.h"
#include "tui/frame/ui.h"
#include "tui/screen/column.h"
#include "tui/screen/list.h"
#include "tui/view/pane.h"
#include "tui/view/tree/rows.h"

/* Thresholds of hidden nodes, in 1/1000 of the total. */
#define TREE_HIDE_STEPS 5
extern const int tree_hide_steps[TREE_HIDE_STEPS];

struct tree {
	struct view_state at; /* trail: zoomed paths */
	struct calltree *tree;
	struct compare_tree base; /* the baseline's tree, while a difference is shown */
	uint64_t tree_stamp;      /* of the query and options of tree */
	uint64_t base_stamp;      /* of the baseline and options of base */
	struct profile_sum all;   /* of the whole window, even for the tree of one method */
	struct tree_rows rows;
	struct tree_view params; /* of the rows, as of the last update */
	struct pane pane;
	uint64_t selected;  /* path */
	uint64_t anchor;    /* path selected when a search began */
	unsigned root_undo; /* undo id of root_method */
	int hide;           /* index into tree_hide_steps */
	bool inverted, threads;
	uint32_t root_method; /* PROFILE_NONE: all */
	bool opened;          /* the initial rows were expanded */
	bool has_from;        /* opened from another view, to which Esc returns */
	enum view_id from;
};

/* The struct tree_row at an index of the list; state: a struct tree. NULL: none. */
const void *tree_row_at(const void *state, int index);
static inline const struct calltree_node *tree_node(
	const struct tree *t, const struct tree_row *row)
{
	return &t->tree->nodes[row->node];
}
/* Stores the path of the row under the cursor in t->selected. */
void tree_remember_selected(struct tree *t);
/* Moves the cursor to the row of this path, if it has one and the user has moved the cursor before. */
void tree_select_path(struct tree *t, uint64_t path);
/* Rebuilds the rows after expanding or collapsing; runs no query. */
void tree_rebuild(struct tree *t);
bool tree_node_hit(const struct tree *t, uint32_t node);

/* commands.c, for view_tree */
unsigned tree_undo_id(const struct ui *ui);
void tree_back(struct ui *ui);
bool tree_find(struct ui *ui, int direction);
void tree_anchor(struct ui *ui, bool set);

#endif
