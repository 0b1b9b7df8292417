/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call tree as the rows of a list: what is expanded, what is folded, in which order.
 *
 *   100.0        - all
 *    71.4        ├ - Thread.run                a node with children that are shown
 *    71.4        │   … 29 frames to            an unbranched way of many frames is one row
 *    48.9        │ - OrderController.list      an only child is not indented
 *    34.0   11.2 │ ├ + ObjectReader.readValue
 *
 * What is expanded is kept by path, so that it survives refreshes and windows. Siblings keep their order
 * as list rows do (rank.h). Owned by the tree view; knows no screen.
 */
#ifndef JHOT_TUI_VIEW_TREE_ROWS_H
#define JHOT_TUI_VIEW_TREE_ROWS_H

#include "base/hash.h"
#include "profile/table/calltree.h"

#include <stdbool.h>
#include <stdint.h>

struct path_set { /* of hashes that are unique enough to be the key */
	struct hash_index index;
	uint64_t *paths;
	uint32_t count, cap;
};

struct tree_row {
	uint32_t node;     /* of the tree; for a fold its first */
	uint32_t folded;   /* so many nodes are in this row; 0: an ordinary node */
	uint32_t hidden;   /* children below the threshold, or all while collapsed */
	uint16_t level;    /* of indentation */
	bool open, parent; /* children are shown; there are some */
	bool first;        /* of its level's chain: gets the branch */
	bool last;         /* no sibling follows */
	uint64_t lines;    /* bit per level: a line goes down past this row */
};

struct tree_rows {
	struct tree_row *rows;
	uint32_t count, cap;
	struct path_set open, unfolded;
	struct tree_sibling *siblings; /* order of each parent's children */
	struct hash_index sibling_index;
	uint32_t sibling_count, sibling_cap;
	uint32_t pass;
};

struct tree_view {                     /* how to flatten */
	const struct profile *profile; /* of the tree */
	const struct calltree *tree;
	uint32_t root;
	uint64_t hide_below; /* nodes with a smaller total are not shown */
	bool fresh, hold;    /* order: as rank_update */
};

void tree_rows_done(struct tree_rows *r);
void tree_rows_build(struct tree_rows *r, const struct tree_view *v);
/* The row of a path (the fold that holds it, if folded); -1: none. */
int tree_rows_find(const struct tree_rows *r, const struct calltree *t, uint64_t path);

/* The row that a node is in, a fold's too; -1: none. */
int tree_rows_showing(const struct tree_rows *r, const struct calltree *t, uint32_t node);

void tree_rows_open_one(struct tree_rows *r, const struct calltree *t, uint32_t node);
void tree_rows_open(struct tree_rows *r, const struct tree_view *v, uint32_t node);
void tree_rows_close(struct tree_rows *r, const struct calltree *t, uint32_t node);
void tree_rows_unfold(struct tree_rows *r, const struct calltree *t, uint32_t node);
void tree_rows_open_all(struct tree_rows *r, const struct tree_view *v, uint32_t node);
/* Opens from node along the heaviest children; returns the last of them that is shown. */
uint32_t tree_rows_open_hot(struct tree_rows *r, const struct tree_view *v, uint32_t node);
uint32_t tree_find_path(const struct calltree *t, uint64_t path); /* PROFILE_NONE: not there */

#endif
