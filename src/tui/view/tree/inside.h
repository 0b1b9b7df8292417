/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the tree view, for its files: view.c, columns.c for the cells, commands.c for what
 * keys do.
 */
#ifndef JHOT_TUI_VIEW_TREE_INSIDE_H
#define JHOT_TUI_VIEW_TREE_INSIDE_H

#include "tui/frame/compare.h"
#include "tui/frame/ui.h"
#include "tui/screen/column.h"
#include "tui/screen/list.h"
#include "tui/view/pane.h"
#include "tui/view/tree/rows.h"

/* Thousandths of the total below which nodes are hidden. */
#define TREE_HIDE_STEPS 5
extern const int tree_hide_steps[TREE_HIDE_STEPS];

struct tree {
	struct view_state at; /* its trail: the paths that were zoomed into */
	struct calltree *tree;
	struct compare_tree base; /* of the baseline, while a difference is shown */
	uint64_t tree_stamp;      /* of what tree was made of */
	uint64_t base_stamp;      /* of what base was made of */
	struct profile_sum all;   /* of the window, also where the tree is of one method */
	struct tree_rows rows;
	struct tree_view how; /* they are made of the tree, as of the last update */
	struct pane pane;
	uint64_t selected; /* path */
	uint64_t anchor;   /* path that was selected when a search began */
	unsigned root_nr;  /* ui_narrow of root_method */
	int hide;          /* index into tree_hide_steps */
	bool inverted, threads;
	uint32_t root_method; /* PROFILE_NONE: all */
	bool opened;          /* something was opened for a start */
	bool narrowed;        /* root_method was asked for elsewhere: Esc leads back there */
	enum view_id from;
};

struct tree *tree_state(const struct ui *ui);
const void *tree_row_at(
	const void *state, int index); /* a struct tree_row of a struct tree; NULL: none */
static inline const struct calltree_node *tree_node(
	const struct tree *t, const struct tree_row *row)
{
	return &t->tree->nodes[row->node];
}
void tree_remember_selected(struct tree *t);
void tree_select_path(struct tree *t, uint64_t path);
/* The rows again after something was opened or closed: the data is the same. */
void tree_rebuild(struct tree *t);
bool tree_node_hit(const struct tree *t, uint32_t node);

/* columns.c: what is shown of each row, one column more while there is a baseline. */
struct columns tree_columns(const struct ui *ui);

/* commands.c, for the table of views */
unsigned tree_narrowed(const struct ui *ui);
void tree_back(struct ui *ui);
bool tree_find(struct ui *ui, int direction);
void tree_anchor(struct ui *ui, bool set);

#endif
