/* SPDX-License-Identifier: Apache-2.0 */
/* The tree view: an expandable call tree, top-down or inverted. */
#include "tui/view/tree/inside.h"

#include "base/buf.h"
#include "profile/query/error.h"
#include "profile/table/flat.h"
#include "tui/frame/command.h"
#include "tui/frame/compare.h"
#include "tui/frame/search.h"
#include "tui/screen/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_LEAST 30 /* columns reserved for a name at any depth */
#define BASE_PART  10 /* the baseline's tree keeps nodes smaller by this factor */

const int tree_hide_steps[TREE_HIDE_STEPS] = {1, 5, 10, 20, 50};

static void tree_init(void *state)
{
	struct tree *t = state;

	t->root_method = PROFILE_NONE;
	t->hide = 1;
}

static void tree_done(void *state)
{
	struct tree *t = state;

	calltree_free(t->tree);
	compare_tree_done(&t->base);
	tree_rows_done(&t->rows);
	pane_done(&t->pane);
}

const void *tree_row_at(const void *state, int index)
{
	const struct tree *t = state;

	return t->tree && index >= 0 && index < (int)t->rows.count ? &t->rows.rows[index] : NULL;
}

void tree_select_path(struct tree *t, uint64_t path)
{
	int at = tree_rows_find(&t->rows, t->tree, path);

	list_resize(&t->view.list, (int)t->rows.count, t->view.list.rows);
	if (at >= 0 && t->view.list.touched)
		list_follow(&t->view.list, at);
}

void tree_rebuild(struct tree *t)
{
	tree_rows_build(&t->rows, &t->params);
}

void tree_remember_selected(struct tree *t)
{
	const struct tree_row *row = tree_row_at(t, t->view.list.cursor);

	if (row)
		t->selected = tree_node(t, row)->path;
}

static uint64_t options_stamp(
	const struct tree *t, const struct calltree_options *options, uint64_t data)
{
	return hash_pair(data, (uint64_t)options->root_method << 32 | (uint64_t)t->hide << 2 |
				       (uint64_t)options->inverted << 1 | options->threads);
}

static void update_base(struct tree *t, struct calltree_options options)
{
	struct profile_query q;
	uint64_t stamp = options_stamp(t, &options, compare_stamp(t->view.ui));

	if (t->base.tree && compare_on(t->view.ui) && t->base_stamp == stamp)
		return;
	t->base_stamp = stamp;
	options.min_share /= BASE_PART;
	compare_tree_set(&t->base, compare_query(t->view.ui, &q)
					   ? calltree_new(t->view.ui->profile, &q, &options)
					   : NULL);
}

static void tree_update(const struct ui *ui, bool sort)
{
	struct tree *t = ui_state(ui, VIEW_TREE);
	struct calltree_options options = {
		.inverted = t->inverted,
		.threads = t->threads,
		.root_method = t->root_method,
		.min_share = tree_hide_steps[t->hide] / 1000.0,
	};
	struct profile_query q = ui_query(ui);
	uint64_t stamp = options_stamp(t, &options, profile_stamp(ui->profile, &q));
	const struct calltree_node *all;

	tree_remember_selected(t);
	pane_invalidate(&t->pane);
	if (!t->tree || t->tree_stamp != stamp) {
		t->tree_stamp = stamp;
		calltree_free(t->tree);
		t->tree = calltree_new(ui->profile, &q, &options);
	}
	t->all = ui->sums.all;
	update_base(t, options);
	all = &t->tree->nodes[0];
	t->params = (struct tree_view){.profile = ui->profile, .tree = t->tree};
	t->params.hide_below = all->total * (uint64_t)tree_hide_steps[t->hide] / 1000;
	if (t->view.trail.depth)
		t->params.root = calltree_find(t->tree, trail_top(&t->view.trail));
	else if (t->root_method != PROFILE_NONE && all->first_child != PROFILE_NONE)
		t->params.root = all->first_child; /* the method's own node */
	/* When first shown, expand the hot path, or the callers of a method. */
	if (!t->opened && t->params.root != PROFILE_NONE && all->total) {
		t->opened = true;
		tree_rows_open(&t->rows, &t->params, t->params.root);
		if (!t->inverted)
			tree_rows_open_hot(&t->rows, &t->params, t->params.root);
	}
	t->params.how = ui_order_how(ui, sort);
	tree_rebuild(t);
	/* Expanding and collapsing keeps the order of the other rows. */
	t->params.how = RANK_FROZEN;
	tree_select_path(t, t->selected);
}

static const char *tree_node_name(const struct tree *t, const struct calltree_node *n)
{
	if (n->thread != PROFILE_NONE)
		return profile_get_thread(t->view.ui->profile, n->thread)->name;
	return n->method != PROFILE_NONE ? profile_get_method(t->view.ui->profile, n->method)->full
					 : "all";
}

bool tree_node_hit(const struct tree *t, uint32_t node)
{
	const struct calltree_node *n = &t->tree->nodes[node];

	return n->method != PROFILE_NONE ? search_hit_method(t->view.ui, n->method)
					 : search_hit(t->view.ui, tree_node_name(t, n));
}

static const char *tree_text(const void *ctx, int index)
{
	struct tree *t = ui_state(ctx, VIEW_TREE);
	const struct tree_row *row = tree_row_at(t, index);

	return row && !row->folded ? tree_node_name(t, tree_node(t, row)) : "";
}

/* Fits the text of a row. Returns the width of its packages, which are dimmed. */
static int fit_node(
	const struct tree *t, const struct tree_row *row, char *out, size_t size, int width)
{
	const struct calltree_node *n = tree_node(t, row);
	char frames[TEXT_NUMBER];

	if (row->folded) {
		snprintf(out, size, "%s %s", t->view.ui->glyphs->ellipsis,
			text_counted(frames, row->folded, "frame"));
		return 0;
	}
	if (search_collapsed_name(t->view.ui, n->stack, n->method, out, size))
		return 0;
	if (n->method == PROFILE_NONE) {
		name_cut(out, size, tree_node_name(t, n), width, t->view.ui->glyphs->ellipsis);
		return 0;
	}
	return ui_fit_method(t->view.ui, n->method, t->view.ui->names, width, out, size);
}

static void cell_total(const void *view, const void *row, struct column_cell *out)
{
	const struct tree *t = view;

	text_percent(out->text, flat_percent(tree_node(t, row)->total, t->tree->nodes[0].total));
}

static void cell_self(const void *view, const void *row, struct column_cell *out)
{
	const struct tree *t = view;
	const struct tree_row *r = row;
	double self = flat_percent(tree_node(t, r)->self, t->tree->nodes[0].total);

	if (self >= 0.05 && !r->folded)
		text_percent(out->text, self);
}

static void cell_type(const void *view, const void *row, struct column_cell *out)
{
	const struct tree *t = view;
	const struct calltree_node *n = tree_node(t, row);

	if (n->method == PROFILE_NONE || ((const struct tree_row *)row)->folded)
		return;
	out->text[0] = frame_types[n->type].letter;
	out->text[1] = '\0';
	out->style = theme_frame(n->type);
}

static void cell_delta(const void *view, const void *row, struct column_cell *out)
{
	const struct tree *t = view;

	if (!compare_node(&t->base, t->tree, tree_node(t, row), out->text, COLUMN_TEXT))
		out->style = STYLE_DIM;
}

static void cell_none(const void *view, const void *row, struct column_cell *out)
{
}

static const struct column plain[] = {
	{"TOTAL%", 1, 6, 0, 0, -1, cell_total},
	{"SELF%", 2, 5, 0, 46, -1, cell_self},
	{"T", 2, 1, COLUMN_LEFT, 46, -1, cell_type},
	{"CALL TREE", 1, 0, COLUMN_LEFT, 0, -1, cell_none},
};

static const struct column differing[] = {
	{"TOTAL%", 1, 6, 0, 0, -1, cell_total},
	{"DELTA", 1, 6, 0, 0, -1, cell_delta},
	{"SELF%", 1, 5, 0, 60, -1, cell_self},
	{"T", 2, 1, COLUMN_LEFT, 60, -1, cell_type},
	{"CALL TREE", 1, 0, COLUMN_LEFT, 0, -1, cell_none},
};

static struct columns tree_columns(const struct ui *ui)
{
	const struct tree *t = ui_state(ui, VIEW_TREE);

	return t->base.tree ? COLUMNS(differing) : COLUMNS(plain);
}

/*
 * Draws the branches in front of a node. Levels 0 and 1 have none; level l has its own in slot l - 2. The outermost ones
 * are dropped where they would leave no space for names.
 */
static int draw_branches(const struct tree *t, struct canvas *c, int row, int col, int width,
	const struct tree_row *r)
{
	const struct glyphs *g = t->view.ui->glyphs;
	int slots = r->level > 1 ? r->level - 1 : 0, space = (width - NAME_LEAST) / 2;
	int first = slots > space ? slots - (space > 0 ? space : 0) : 0;

	for (int slot = first; slot < slots; slot++) {
		const char *symbol = " ";

		if (slot + 1 < slots)
			symbol = slot + 2 < 64 && r->lines >> (slot + 2) & 1 ? g->tree_line : " ";
		else if (r->first && !r->folded)
			symbol = r->last ? g->tree_last : g->tree_mid;
		else
			symbol = r->last ? " " : g->tree_line;
		canvas_text(c, row, col, col + 2, STYLE_TREE, symbol);
		col += 2;
	}
	return col;
}

static void tree_decorate(
	const struct ui *ui, int row, const struct column_place *places, int n, const void *item)
{
	const struct tree *t = ui_state(ui, VIEW_TREE);
	const struct column_place *place = &places[n - 1];
	const struct tree_row *r = item;
	struct canvas *c = ui->canvas;
	const char *symbol = r->folded ? " " : r->open ? "-" : r->parent ? "+" : " ";
	int end = place->col + place->width - 1, col, lead, behind;
	char text[COLUMN_TEXT], hidden[16] = "";

	col = draw_branches(t, c, row, place->col, place->width - 1, r);
	col = canvas_text(c, row, col, end, STYLE_KEY, symbol) + 1;
	if (!r->open && r->hidden)
		snprintf(hidden, sizeof(hidden), "(%u)", r->hidden);
	lead = fit_node(
		t, r, text, sizeof(text), end - col - (*hidden ? text_width(hidden) + 1 : 0));
	behind = canvas_text(c, row, col, end, r->folded ? STYLE_DIM : STYLE_NORMAL, text);
	canvas_restyle(c, row, col, col + lead, STYLE_DIM);
	canvas_text(c, row, behind + 1, end, STYLE_DIM, hidden);
	if (!r->folded)
		search_highlight(ui, row, col, text, tree_node_name(t, tree_node(t, r)));
}

static uint32_t tree_selected_method(const struct ui *ui)
{
	const struct tree *t = ui_state(ui, VIEW_TREE);
	const struct tree_row *row = tree_row_at(t, t->view.list.cursor);

	return row ? tree_node(t, row)->method : PROFILE_NONE;
}

/* A fold shows no method, so the pane has none either. */
static uint32_t unfolded_method(const struct ui *ui)
{
	const struct tree *t = ui_state(ui, VIEW_TREE);
	const struct tree_row *row = tree_row_at(t, t->view.list.cursor);

	return row && !row->folded ? tree_node(t, row)->method : PROFILE_NONE;
}

static void tree_load_pane(const struct ui *ui)
{
	struct tree *t = ui_state(ui, VIEW_TREE);

	pane_load(ui, &t->pane, PANE_LIST, unfolded_method(ui));
}

static void tree_draw(const struct ui *ui, struct area area)
{
	struct tree *t = ui_state(ui, VIEW_TREE);

	if (!t->tree)
		return;
	area = pane_draw(ui, &t->pane, area, unfolded_method(ui));
	view_draw_rows(ui, VIEW_TREE, area, t->rows.count);
	if (!t->rows.count || !t->tree->nodes[0].total)
		canvas_text(ui->canvas, area.row + 3, 12, ui->canvas->cols, STYLE_DIM,
			t->view.trail.depth
				? "This subtree has no samples in the window (u: zoom out)."
				: "No samples in this window.");
}

static void tree_quality(const struct ui *ui, struct strip *s)
{
	const struct tree *t = ui_state(ui, VIEW_TREE);
	char name[80];

	if (t->root_method != PROFILE_NONE) {
		ui_fit_method(ui, t->root_method, NAME_CLASS, 40, name, sizeof(name));
		strip_add(s, STYLE_STRONG, 2, "%s of %s (i)", t->inverted ? "callers" : "callees",
			name);
	} else {
		strip_add(s, STYLE_NORMAL, 5, "%s (i)", t->inverted ? "inverted" : "top-down");
	}
	strip_add(s, STYLE_NORMAL, 10, "hide <%g%% (%%)", tree_hide_steps[t->hide] / 10.0);
	if (t->view.trail.depth)
		strip_add(s, STYLE_WARN, 4, " zoom (u) ");
}

static void tree_detail(const struct ui *ui, struct strip *s)
{
	struct tree *t = ui_state(ui, VIEW_TREE);
	const struct tree_row *row = tree_row_at(t, t->view.list.cursor);
	uint32_t root = t->tree ? t->params.root : PROFILE_NONE;

	if (!row || root == PROFILE_NONE)
		return;
	const struct calltree_node *n = tree_node(t, row);
	pane_node_detail(ui, s, n, t->all.weight, t->tree->samples);
	if (row->node != root)
		strip_add(s, STYLE_NORMAL, 2, "%.1f%% of parent",
			flat_percent(n->total, t->tree->nodes[n->parent].total));
	if (t->view.trail.depth && row->node != root)
		strip_add(s, STYLE_NORMAL, 3, "%.1f%% of zoom",
			flat_percent(n->total, t->tree->nodes[root].total));
}

static void tree_notice(const struct ui *ui, struct strip *s)
{
	struct tree *t = ui_state(ui, VIEW_TREE);
	int hits = 0;

	if (!search_is_active(ui) || !t->tree) {
		strip_add(s, STYLE_DIM, 0, "%d of %d rows", t->view.list.cursor + 1,
			t->view.list.count)
			->right = true;
		return;
	}
	/* In the whole tree, including collapsed nodes. */
	for (uint32_t i = 1; i < t->tree->count; i++)
		hits += tree_node_hit(t, i);
	search_count(ui, s, hits, (int)t->tree->count - 1, "nodes");
}

static void tree_pin_ids(const struct ui *ui)
{
	const struct tree *t = ui_state(ui, VIEW_TREE);

	profile_pin(ui->profile, t->root_method);
}

const struct view view_tree = {
	.name = "Tree view",
	.tab = "Tree",
	.sums = true,
	.bytes = sizeof(struct tree),
	.init = tree_init,
	.done = tree_done,
	.update = tree_update,
	.second_query = compare_query,
	.load_pane = tree_load_pane,
	.draw = tree_draw,
	.quality = tree_quality,
	.detail = tree_detail,
	.notice = tree_notice,
	.text = tree_text,
	.selected_method = tree_selected_method,
	.columns = tree_columns,
	.row = tree_row_at,
	.decorate = tree_decorate,
	.undo_id = tree_undo_id,
	.back = tree_back,
	.find = tree_find,
	.anchor = tree_anchor,
	.pin_ids = tree_pin_ids,
};
