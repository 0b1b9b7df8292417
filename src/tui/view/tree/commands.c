/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of the tree view: expanding, zooming, searching. */
#include "tui/view/tree/inside.h"

#include "base/buf.h"
#include "tui/frame/command.h"

#include <stdlib.h>

static const struct tree_row *selected_row(struct tree *t)
{
	if (!t->tree)
		return NULL;
	tree_remember_selected(t);
	t->view.list.touched = true;
	return tree_row_at(t, t->view.list.cursor);
}

/* Rebuilds the rows after expanding or collapsing, keeping the selection. */
static unsigned reopened(struct tree *t)
{
	tree_rebuild(t);
	tree_select_path(t, t->selected);
	return UI_FREEZE_ORDER;
}

unsigned tree_open(struct ui *ui, int open)
{
	struct tree *t = ui_state(ui, VIEW_TREE);
	const struct tree_row *row = selected_row(t);

	if (!row)
		return 0;
	uint32_t node = row->node;
	if (open) {
		if (row->folded)
			tree_rows_unfold(&t->rows, t->tree, node);
		else if (row->open && t->view.list.cursor + 1 < t->view.list.count)
			list_to(&t->view.list, t->view.list.cursor + 1);
		else
			tree_rows_open(&t->rows, &t->params, node);
		tree_remember_selected(t);
		return reopened(t);
	}
	if (row->open && !row->folded) {
		tree_rows_close(&t->rows, t->tree, node);
		return reopened(t);
	}
	/* Selects the parent of a collapsed row. */
	for (int at = -1; at < 0 && node != t->params.root;) {
		node = t->tree->nodes[node].parent;
		if (node == PROFILE_NONE)
			break;
		at = tree_rows_find(&t->rows, t->tree, t->tree->nodes[node].path);
		if (at >= 0)
			list_to(&t->view.list, at);
	}
	return UI_FREEZE_ORDER;
}

unsigned tree_open_all(struct ui *ui, int arg)
{
	struct tree *t = ui_state(ui, VIEW_TREE);
	const struct tree_row *row = selected_row(t);

	if (!row)
		return 0;
	tree_rows_open_all(&t->rows, &t->params, row->node);
	return reopened(t);
}

unsigned tree_hot_path(struct ui *ui, int arg)
{
	struct tree *t = ui_state(ui, VIEW_TREE);
	const struct tree_row *row = selected_row(t);
	int at;

	if (!row)
		return 0;
	uint32_t hot = tree_rows_open_hot(&t->rows, &t->params, row->node);
	tree_rebuild(t);
	list_resize(&t->view.list, (int)t->rows.count, t->view.list.rows);
	at = tree_rows_find(&t->rows, t->tree, t->tree->nodes[hot].path);
	if (at >= 0)
		list_to(&t->view.list, at);
	return UI_FREEZE_ORDER;
}

static void start_over(struct tree *t)
{
	t->view.trail.depth = 0;
	t->opened = false;
	t->view.list.cursor = t->view.list.top = 0;
	t->view.list.touched = false;
	t->selected = 0;
}

unsigned tree_invert(struct ui *ui, int arg)
{
	struct tree *t = ui_state(ui, VIEW_TREE);

	t->inverted = !t->inverted;
	start_over(t);
	return UI_SORT;
}

unsigned tree_hide_below(struct ui *ui, int arg)
{
	struct tree *t = ui_state(ui, VIEW_TREE);

	t->hide = (t->hide + 1) % TREE_HIDE_STEPS;
	return UI_UPDATE | UI_FREEZE_ORDER;
}

unsigned tree_zoom(struct ui *ui, int in)
{
	struct tree *t = ui_state(ui, VIEW_TREE);
	const struct tree_row *row = selected_row(t);

	if (in && row && row->node && row->node != t->params.root) {
		tree_rows_open(&t->rows, &t->params, row->node);
		trail_push(ui, &t->view.trail, t->tree->nodes[row->node].path);
	} else if (!in && t->view.trail.depth) {
		t->view.trail.depth--;
	}
	return UI_UPDATE | UI_FREEZE_ORDER;
}

unsigned tree_threads(struct ui *ui, int arg)
{
	struct tree *t = ui_state(ui, VIEW_TREE);

	t->threads = !t->threads;
	start_over(t);
	return UI_SORT;
}

unsigned tree_undo_id(const struct ui *ui)
{
	const struct tree *t = ui_state(ui, VIEW_TREE);

	if (t->view.trail.depth)
		return trail_undo(&t->view.trail);
	return t->root_method != PROFILE_NONE ? t->root_undo : 0;
}

void tree_back(struct ui *ui)
{
	struct tree *t = ui_state(ui, VIEW_TREE);

	if (t->view.trail.depth) {
		t->view.trail.depth--;
		return;
	}
	t->root_method = PROFILE_NONE;
	t->inverted = false;
	start_over(t);
	if (t->has_from)
		ui_show(ui, t->from);
	t->has_from = false;
}

void tree_of_method(struct ui *ui, uint32_t method, bool inverted)
{
	enum view_id from = ui->view;

	ui_show(ui, VIEW_TREE);
	struct tree *t = ui_state(ui, VIEW_TREE);
	t->root_method = method;
	t->root_undo = ui_undo_id(ui);
	t->inverted = inverted;
	t->has_from = true;
	t->from = from;
	start_over(t);
}

/* The matching nodes below the root in pre-order; *before: those before from. The caller frees the result. */
static uint32_t *hits_in_order(
	const struct tree *t, uint32_t from, uint32_t *count, uint32_t *before)
{
	uint32_t *hits = xreallocarray(NULL, t->tree->count, sizeof(*hits));
	const struct calltree_node *nodes = t->tree->nodes;
	uint32_t root = t->params.root, at = root;

	*count = *before = 0;
	do {
		if (at == from)
			*before = *count;
		if (tree_node_hit(t, at))
			hits[(*count)++] = at;
		at = calltree_next(t->tree, at);
	} while (at != PROFILE_NONE && nodes[at].depth > nodes[root].depth);
	return hits;
}

/* Expands all ancestors of a node, so that it gets its own row, and selects it. */
static void reveal(struct tree *t, uint32_t node)
{
	uint32_t root = t->params.root, at = node;

	for (; at != root; at = t->tree->nodes[at].parent)
		tree_rows_open_one(&t->rows, t->tree, t->tree->nodes[at].parent);
	tree_rebuild(t);
	int row = tree_rows_showing(&t->rows, t->tree, node);
	if (row >= 0 && t->rows.rows[row].folded)
		tree_rows_unfold(&t->rows, t->tree, t->rows.rows[row].node);
	tree_rebuild(t);
	tree_select_path(t, t->tree->nodes[node].path);
	tree_remember_selected(t);
}

bool tree_find(const struct ui *ui, int direction)
{
	struct tree *t = ui_state(ui, VIEW_TREE);
	uint32_t count, before, to;
	bool on_hit;

	if (!t->tree || t->params.root == PROFILE_NONE)
		return false;
	tree_remember_selected(t);
	uint32_t from = calltree_find(t->tree, direction ? t->selected : t->anchor);
	uint32_t *hits = hits_in_order(t, from, &count, &before);
	if (count) {
		on_hit = before < count && hits[before] == from;
		to = direction < 0 ? before + count - 1 : before + (direction > 0 && on_hit);
		t->view.list.touched = true;
		reveal(t, hits[to % count]);
	}
	free(hits);
	return count > 0;
}

void tree_anchor(const struct ui *ui, bool set)
{
	struct tree *t = ui_state(ui, VIEW_TREE);

	tree_remember_selected(t);
	if (set)
		t->anchor = t->selected;
	else
		tree_select_path(t, t->anchor);
}
