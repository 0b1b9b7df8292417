/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of a flame graph on a grid of character cells.
 *
 *   row 0  |all                                    |   a box is [col, col + width) of its row;
 *   row 1  |main                       |GC         |   children lie within their parent's columns,
 *   row 2  |parse          |render     |mark  |         siblings in alphabetical order, so that
 *   row 3  |lex     |intern|                            boxes stay in place when values change
 *
 * Pure geometry over a call tree: no drawing, no state. Boxes narrower than one column are omitted and counted. With a
 * zoom, the ancestors of the zoomed node span the whole width. Node ids are those of the tree.
 */
#ifndef JHOT_TUI_VIEW_FLAME_LAYOUT_H
#define JHOT_TUI_VIEW_FLAME_LAYOUT_H

#include "base/hash.h"
#include "profile/table/calltree.h"
#include "tui/screen/list.h"

struct flame_box {
	uint32_t node; /* of the call tree */
	uint32_t row;
	uint16_t col, width;
	uint64_t path; /* the node's, stable across layouts */
};

struct flame_layout {
	struct flame_box *boxes; /* by row, then column */
	uint32_t count;
	uint32_t rows;
	uint32_t hidden; /* nodes too narrow to show, not counting their descendants */
	uint16_t columns;
	struct hash_index by_path;
};

#define FLAME_NO_BOX UINT32_MAX

/* zoom: a node of the tree, 0 for all. The caller frees the result. */
struct flame_layout *flame_layout_new(
	const struct profile *p, const struct calltree *tree, uint32_t zoom, uint16_t columns);
void flame_layout_free(struct flame_layout *l);

/* The box of a path, or FLAME_NO_BOX. */
uint32_t flame_layout_find(const struct flame_layout *l, uint64_t path);

/* The neighbour of a box in a direction (towards the leaf: its widest child), or the box itself. */
uint32_t flame_layout_move(const struct flame_layout *l, uint32_t box, enum flame_direction to);

/* The largest shift, in columns, of a box edge between two layouts: small shifts are not worth redrawing. */
unsigned flame_layout_shift(const struct flame_layout *from, const struct flame_layout *to);

#endif
