/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the boxes of a flame graph stand on a grid of character cells.
 *
 *   row 0  |all                                    |   a box is [col, col + width) of its row;
 *   row 1  |main                       |GC         |   children stand inside their parent's columns,
 *   row 2  |parse          |render     |mark  |         siblings in the order of their names, so that
 *   row 3  |lex     |intern|                            boxes stay where they were when values move
 *
 * Pure geometry over a call tree: no drawing, no state. A box narrower than one column is left out and
 * counted. With a zoom the ancestors of the zoomed node span the whole width above it.
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
	uint64_t path; /* the node's: the same in the next layout */
};

struct flame_layout {
	struct flame_box *boxes; /* by row, then column */
	uint32_t count;
	uint32_t rows;
	uint32_t hidden; /* nodes too narrow to show, without their descendants */
	uint16_t columns;
	struct hash_index by_path;
};

#define FLAME_NO_BOX UINT32_MAX

/* zoom: a node of the tree, 0 for all. */
struct flame_layout *flame_layout_new(
	const struct profile *p, const struct calltree *tree, uint32_t zoom, uint16_t columns);
void flame_layout_free(struct flame_layout *l);

/* The box of a path, or FLAME_NO_BOX. */
uint32_t flame_layout_find(const struct flame_layout *l, uint64_t path);

/* The neighbour of a box: towards the leaf its widest child; the box itself if there is none. */
uint32_t flame_layout_move(const struct flame_layout *l, uint32_t box, enum flame_direction to);

/* By how many columns the edges of boxes in both layouts differ at most: small moves are not worth bytes. */
unsigned flame_layout_moved(const struct flame_layout *from, const struct flame_layout *to);

#endif
