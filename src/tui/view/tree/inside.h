/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of the tree view: rows.c flattens the tree, view.c draws, commands.c has the key commands and the search.
 */
#ifndef JHOT_TUI_VIEW_TREE_INSIDE_H
#define JHOT_TUI_VIEW_TREE_INSIDE_H

#include "base/hash.h"
#include "profile/table/calltree.h"
#include "tui/frame/compare.h"
#include "tui/frame/ui.h"
#include "tui/screen/list.h"
#include "tui/view/pane.h"

#include <stdbool.h>
#include <stdint.h>

/* --- rows.c ---------------------------------------------------------------------------------------------- */

/*
 * A call tree flattened to the rows of a list.
 *
 *   100.0        - all
 *    71.4        ├ - Thread.run                an expanded node
 *    71.4        │   … 29 frames               a fold: an unbranched path of frames in one row
 *    48.9        │ - OrderController.list      an only child is not indented
 *    34.0   11.2 │ ├ + ObjectReader.readValue
 *
 * Expanded nodes are stored by path, so they survive refreshes and other windows. Siblings keep their order as list rows
 * do (rank.h). Independent of the screen. Embedded, zero-initialized; end with tree_rows_done.
 */

struct path_set { /* a set of 64-bit path hashes, assumed unique */
	struct hash_index index;
	uint64_t *paths;
	uint32_t count, cap;
};

struct tree_row {
	uint32_t node;     /* of the tree; of a fold: its first */
	uint32_t folded;   /* number of nodes in a fold; 0: an ordinary node */
	uint32_t hidden;   /* hidden children: those below the threshold, or all while collapsed */
	uint16_t level;    /* of indentation */
	bool open, parent; /* open: children are shown; parent: has children */
	bool first;        /* first of an unindented chain: gets the branch symbol */
	bool last;         /* no sibling follows */
	uint64_t lines;    /* bit per level: a vertical line passes this row */
};

struct tree_rows {
	struct tree_row *rows;
	uint32_t count, cap;
	struct path_set open, unfolded;
	struct tree_sibling *siblings; /* order of the children, per parent */
	struct hash_index sibling_index;
	uint32_t sibling_count, sibling_cap;
	uint32_t pass;
};

struct tree_view {                     /* parameters of flattening */
	const struct profile *profile; /* of the tree */
	const struct calltree *tree;
	uint32_t root;
	uint64_t hide_below; /* minimum total of visible nodes */
	enum rank_how how;   /* to order siblings */
};

void tree_rows_done(struct tree_rows *r);
void tree_rows_build(struct tree_rows *r, const struct tree_view *v);
/* The row whose node, or first folded node, has this path; -1: none. */
int tree_rows_find(const struct tree_rows *r, const struct calltree *t, uint64_t path);

/* The row that contains a node, possibly within a fold; -1: none. */
int tree_rows_showing(const struct tree_rows *r, const struct calltree *t, uint32_t node);

/* These take effect at the next tree_rows_build: expanding a node; with its unbranched descendants; collapsing it. */
void tree_rows_open_one(struct tree_rows *r, const struct calltree *t, uint32_t node);
void tree_rows_open(struct tree_rows *r, const struct tree_view *v, uint32_t node);
void tree_rows_close(struct tree_rows *r, const struct calltree *t, uint32_t node);
/* Gives each frame of a fold its own row. */
void tree_rows_unfold(struct tree_rows *r, const struct calltree *t, uint32_t node);
/* Expands all visible descendants, up to a limit. */
void tree_rows_open_all(struct tree_rows *r, const struct tree_view *v, uint32_t node);
/* Expands from node along the heaviest children. Returns the last visible one. */
uint32_t tree_rows_open_hot(struct tree_rows *r, const struct tree_view *v, uint32_t node);

/* --- view.c ---------------------------------------------------------------------------------------------- */

/* Thresholds of hidden nodes, in 1/1000 of the total. */
#define TREE_HIDE_STEPS 5
extern const int tree_hide_steps[TREE_HIDE_STEPS];

struct tree {
	struct view_state view; /* trail: zoomed paths */
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
bool tree_find(const struct ui *ui, int direction);
void tree_anchor(const struct ui *ui, bool set);

#endif
