/* SPDX-License-Identifier: Apache-2.0 */
/* Flame graph geometry: breadth-first over the tree, which yields boxes by row and column. */
#include "tui/view/flame/layout.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

/* State of the breadth-first pass. */
struct flame_pass {
	const struct profile *p;
	const struct calltree *tree;
	struct flame_layout *layout;
	uint32_t cap;
	uint32_t *children; /* scratch: children of one node */
	uint32_t children_cap;
};

static const char *flame_name(const struct flame_pass *f, uint32_t node)
{
	const struct calltree_node *n = &f->tree->nodes[node];

	if (n->thread != PROFILE_NONE)
		return profile_get_thread(f->p, n->thread)->name;
	return n->method == PROFILE_NONE ? "" : profile_get_method(f->p, n->method)->full;
}

static int flame_compare(const void *a, const void *b, void *ctx)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = strcmp(flame_name(ctx, x), flame_name(ctx, y));

	return order ? order : (x > y) - (x < y);
}

static void flame_add(
	struct flame_pass *f, uint32_t node, uint32_t row, uint32_t col, uint32_t width)
{
	struct flame_layout *l = f->layout;

	l->boxes = xgrow(l->boxes, l->count, &f->cap, sizeof(*l->boxes));
	l->boxes[l->count++] = (struct flame_box){
		node, row, (uint16_t)col, (uint16_t)width, f->tree->nodes[node].path};
	if (row >= l->rows)
		l->rows = row + 1;
}

/*
 * Divides a parent's columns by running sums, so that despite rounding the children stay within the parent and never
 * overlap.
 */
static void flame_add_children(struct flame_pass *f, const struct flame_box *parent)
{
	const struct calltree_node *n = &f->tree->nodes[parent->node];
	uint64_t before = 0;
	uint32_t count = 0, from = parent->col;

	if (n->child_count > f->children_cap) {
		f->children_cap = n->child_count;
		f->children = xreallocarray(f->children, f->children_cap, sizeof(*f->children));
	}
	for (uint32_t c = n->first_child; c != PROFILE_NONE; c = f->tree->nodes[c].next_sibling)
		f->children[count++] = c;
	if (count)
		qsort_r(f->children, count, sizeof(*f->children), flame_compare, f);
	for (uint32_t i = 0; i < count && n->total; i++) {
		before += f->tree->nodes[f->children[i]].total;
		uint32_t to = parent->col +
			      (uint32_t)((double)before * parent->width / (double)n->total + 0.5);
		if (to > from)
			flame_add(f, f->children[i], parent->row + 1, from, to - from);
		else
			f->layout->hidden++;
		from = to > from ? to : from;
	}
}

struct flame_layout *flame_layout_new(
	const struct profile *p, const struct calltree *tree, uint32_t zoom, uint16_t columns)
{
	struct flame_layout *l = xcalloc(1, sizeof(*l));
	struct flame_pass f = {.p = p, .tree = tree, .layout = l};
	uint32_t depth = 0;

	l->columns = columns;
	if (!tree->count || !columns)
		return l;
	/* The path to the zoomed node spans all columns. */
	zoom = zoom < tree->count ? zoom : 0;
	for (uint32_t n = zoom; n != PROFILE_NONE; n = tree->nodes[n].parent)
		flame_add(&f, n, depth++, 0, columns);
	for (uint32_t n = zoom; n != PROFILE_NONE; n = tree->nodes[n].parent) {
		l->boxes[--depth].node = n;
		l->boxes[depth].path = tree->nodes[n].path;
	}
	for (uint32_t i = l->count - 1; i < l->count; i++) {
		struct flame_box parent = l->boxes[i]; /* a copy: adding moves the array */

		flame_add_children(&f, &parent);
	}
	free(f.children);
	for (uint32_t i = 0; i < l->count; i++)
		hash_index_add(&l->by_path, hash_u64(l->boxes[i].path), i);
	return l;
}

void flame_layout_free(struct flame_layout *l)
{
	if (!l)
		return;
	hash_index_done(&l->by_path);
	free(l->boxes);
	free(l);
}

uint32_t flame_layout_find(const struct flame_layout *l, uint64_t path)
{
	return hash_index_find(&l->by_path, hash_u64(path), NULL, NULL);
}

/* The widest box of a row that overlaps this one; the box itself if none. */
static uint32_t flame_vertical(const struct flame_layout *l, uint32_t box, uint32_t row)
{
	const struct flame_box *a = &l->boxes[box];
	uint32_t best = box;
	uint16_t width = 0;

	for (uint32_t i = 0; i < l->count; i++) {
		const struct flame_box *b = &l->boxes[i];
		bool overlap = a->col < b->col + b->width && b->col < a->col + a->width;

		if (b->row == row && b->width > width && overlap) {
			best = i;
			width = b->width;
		}
	}
	return best;
}

uint32_t flame_layout_move(const struct flame_layout *l, uint32_t box, enum flame_direction to)
{
	uint32_t row;

	if (box >= l->count)
		return l->count ? 0 : FLAME_NO_BOX;
	row = l->boxes[box].row;
	switch (to) {
	case FLAME_TO_ROOT: return row ? flame_vertical(l, box, row - 1) : box;
	case FLAME_TO_LEAF: return flame_vertical(l, box, row + 1);
	case FLAME_LEFT: return box && l->boxes[box - 1].row == row ? box - 1 : box;
	case FLAME_RIGHT: return box + 1 < l->count && l->boxes[box + 1].row == row ? box + 1 : box;
	}
	return box;
}

unsigned flame_layout_shift(const struct flame_layout *from, const struct flame_layout *to)
{
	int most = 0;

	for (uint32_t i = 0; i < to->count; i++) {
		const struct flame_box *b = &to->boxes[i];
		uint32_t at = flame_layout_find(from, b->path);
		int shift = b->width;

		if (at != FLAME_NO_BOX) {
			const struct flame_box *old = &from->boxes[at];
			int left = abs(b->col - old->col);
			int right = abs(b->col + b->width - old->col - old->width);

			shift = left > right ? left : right;
		}
		most = shift > most ? shift : most;
	}
	return (unsigned)most;
}
