/* SPDX-License-Identifier: Apache-2.0 */
/* Flame graph geometry: boxes nest, siblings keep their order, zoom and cursor movement. */
#include "tests/profile/add.h"
#include "tests/tap.h"
#include "tui/view/flame/layout.h"

static struct profile *feed(void)
{
	struct profile *p = profile_new();
	uint32_t stack[3], frame;
	static const struct {
		const char *names[3];
		uint32_t count;
	} rows[] = {
		{{"main", "parse", "lex"}, 30},
		{{"main", "parse", "intern"}, 10},
		{{"main", "render", NULL}, 20},
		{{"main", "tiny", NULL}, 1},
		{{"GC", "mark", NULL}, 39},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t at = PROFILE_ROOT_STACK;

		for (int d = 0; d < 3 && rows[i].names[d]; d++) {
			frame = profile_frame(p, profile_method(p, "", rows[i].names[d], "", ""),
				FRAME_NATIVE, 0xffff, 0);
			at = stack[d] = profile_stack_child(p, at, frame);
		}
		profile_add(p, EVENT_CPU, 0, at, 0, rows[i].count, rows[i].count);
	}
	profile_advance(p, 1);
	return p;
}

static const char *box_name(
	const struct profile *p, const struct calltree *t, const struct flame_box *b)
{
	return t->nodes[b->node].method == PROFILE_NONE
		       ? "all"
		       : profile_get_method(p, t->nodes[b->node].method)->name;
}

static uint32_t box_named(const struct profile *p, const struct calltree *t,
	const struct flame_layout *l, const char *name)
{
	for (uint32_t i = 0; i < l->count; i++) {
		if (!strcmp(box_name(p, t, &l->boxes[i]), name))
			return i;
	}
	return FLAME_NO_BOX;
}

static bool boxes_nest(const struct calltree *t, const struct flame_layout *l)
{
	for (uint32_t i = 0; i < l->count; i++) {
		const struct flame_box *b = &l->boxes[i];
		uint32_t parent = t->nodes[b->node].parent;
		bool inside = b->row == 0;

		for (uint32_t k = 0; k < l->count && !inside; k++)
			inside = l->boxes[k].node == parent && l->boxes[k].row + 1 == b->row &&
				 l->boxes[k].col <= b->col &&
				 b->col + b->width <= l->boxes[k].col + l->boxes[k].width;
		if (!inside || !b->width)
			return false;
		if (i && l->boxes[i - 1].row == b->row &&
			l->boxes[i - 1].col + l->boxes[i - 1].width > b->col)
			return false;
	}
	return true;
}

static void test_geometry(const struct profile *p, const struct calltree *t)
{
	struct flame_layout *l;

	for (uint16_t columns = 0; columns < 300; columns++) {
		l = flame_layout_new(p, t, 0, columns);
		if (!boxes_nest(t, l))
			ok(false, "boxes nest at %u columns", columns);
		flame_layout_free(l);
	}
	l = flame_layout_new(p, t, 0, 100);
	is_int(l->rows, 4, "three frames of depth and the root are four rows");
	is_int(l->boxes[box_named(p, t, l, "GC")].col, 0, "siblings are sorted by name");
	is_int(l->boxes[box_named(p, t, l, "main")].width, 61, "main has 61 of 100 columns");
	is_int(l->boxes[box_named(p, t, l, "intern")].width, 10, "intern has 10 of 100 columns");
	is_int(l->boxes[box_named(p, t, l, "tiny")].width, 1,
		"a node of 1 % has one of 100 columns");
	flame_layout_free(l);
	l = flame_layout_new(p, t, 0, 20);
	is_int(box_named(p, t, l, "tiny"), FLAME_NO_BOX, "a node of 1 % has no box on 20 columns");
	is_int(l->hidden, 1, "the box without a column is counted as hidden");
	flame_layout_free(l);
}

static void test_zoom_and_moves(const struct profile *p, const struct calltree *t)
{
	struct flame_layout *all = flame_layout_new(p, t, 0, 100), *l;
	uint32_t parse = box_named(p, t, all, "parse"), at;

	l = flame_layout_new(p, t, all->boxes[parse].node, 80);
	is_int(l->boxes[box_named(p, t, l, "parse")].width, 80,
		"a zoomed node spans the whole width");
	is_int(l->boxes[box_named(p, t, l, "main")].width, 80,
		"the callers of a zoomed node span the whole width");
	is_int(l->boxes[box_named(p, t, l, "lex")].width, 60,
		"the callees of a zoomed node share the width");
	is_int(box_named(p, t, l, "render"), FLAME_NO_BOX,
		"other nodes are not shown while zoomed");
	is_int(flame_layout_find(l, all->boxes[parse].path), box_named(p, t, l, "parse"),
		"a box is found by its path");
	flame_layout_free(l);

	at = flame_layout_move(all, 0, FLAME_TO_LEAF);
	is_str(box_name(p, t, &all->boxes[at]), "main",
		"moving towards the leaf selects the widest child");
	at = flame_layout_move(all, at, FLAME_LEFT);
	is_str(box_name(p, t, &all->boxes[at]), "GC", "moving left selects the left sibling");
	is_int(flame_layout_move(all, at, FLAME_LEFT), at, "the leftmost box has no left sibling");
	at = flame_layout_move(all, at, FLAME_TO_ROOT);
	is_int(at, 0, "moving towards the root selects the parent");
	is_int(flame_layout_move(all, at, FLAME_TO_ROOT), 0, "the root has no parent");
	is_int(flame_layout_shift(all, all), 0, "a layout is not shifted against itself");
	l = flame_layout_new(p, t, 0, 90);
	ok(flame_layout_shift(all, l) >= 9, "a layout of another width is shifted");
	flame_layout_free(l);
	flame_layout_free(all);
}

int main(void)
{
	struct profile *p = feed();
	struct profile_query q = {
		.event = EVENT_CPU, .to = UINT32_MAX, .thread = PROFILE_ANY_THREAD};
	struct calltree_options options = {.root_method = PROFILE_NONE};
	struct calltree *t = calltree_new(p, &q, &options);

	test_geometry(p, t);
	test_zoom_and_moves(p, t);
	calltree_free(t);
	profile_free(p);
	return tap_done();
}
