/* SPDX-License-Identifier: Apache-2.0 */
/* The tree view: who calls what, top-down or inverted, opened where one looks. */
#include "tui/ui.h"

#include "base/buf.h"
#include "profile/flat.h"
#include "tui/column.h"
#include "tui/command.h"
#include "tui/text.h"
#include "tui/tree_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ZOOMS      32
#define NAME_LEAST 30 /* columns that a name keeps however deep it stands */

/* Thousandths of the total below which nodes are hidden. */
static const int hide_steps[] = {1, 5, 10, 20, 50};
#define HIDE_STEPS (int)(sizeof(hide_steps) / sizeof(hide_steps[0]))

struct tree {
	const struct ui *ui;
	struct calltree *tree;
	struct profile_sum all; /* of the window, also where the tree is of one method */
	struct tree_rows rows;
	struct list list;
	uint64_t selected; /* path */
	uint64_t zoom[ZOOMS];
	int zooms, hide;
	bool inverted, threads;
	uint32_t root_method; /* PROFILE_NONE: all */
	bool opened;          /* something was opened for a start */
	bool narrowed;        /* root_method was asked for elsewhere: Esc leads back there */
	enum view_id from;
};

static struct tree *tree_state(const struct ui *ui)
{
	return ui->state[VIEW_TREE];
}

static void *tree_new(void)
{
	struct tree *t = xcalloc(1, sizeof(*t));

	t->root_method = PROFILE_NONE;
	t->hide = 1;
	return t;
}

static void tree_free(void *state)
{
	struct tree *t = state;

	calltree_free(t->tree);
	tree_rows_done(&t->rows);
	free(t);
}

static struct list *tree_list(struct ui *ui)
{
	return &tree_state(ui)->list;
}

/* --- updating ---------------------------------------------------------------------------------------- */

static uint32_t root_node(const struct tree *t)
{
	uint32_t only = t->tree->nodes[0].first_child;

	if (t->zooms)
		return tree_find_path(t->tree, t->zoom[t->zooms - 1]);
	/* The tree of one method begins with the method. */
	return t->root_method != PROFILE_NONE && only != PROFILE_NONE ? only : 0;
}

static struct tree_view how(const struct tree *t)
{
	return (struct tree_view){
		.tree = t->tree,
		.root = root_node(t),
		.hide_below = t->tree->nodes[0].total * (uint64_t)hide_steps[t->hide] / 1000,
	};
}

static const struct tree_row *row_at(const struct tree *t, int index)
{
	return t->tree && index >= 0 && index < (int)t->rows.count ? &t->rows.rows[index] : NULL;
}

static const struct calltree_node *node_of(const struct tree *t, const struct tree_row *row)
{
	return &t->tree->nodes[row->node];
}

static void select_path(struct tree *t, uint64_t path)
{
	int at = tree_rows_find(&t->rows, t->tree, path);

	list_resize(&t->list, (int)t->rows.count, t->list.rows);
	if (at >= 0 && t->list.touched)
		list_follow(&t->list, at);
}

/* The rows again after something was opened or closed: the data is the same. */
static void rebuild(struct tree *t, bool fresh)
{
	struct tree_view v = how(t);

	v.fresh = fresh;
	v.hold = !fresh;
	tree_rows_build(&t->rows, &v);
}

static void remember_selected(struct tree *t)
{
	const struct tree_row *row = row_at(t, t->list.cursor);

	if (row)
		t->selected = node_of(t, row)->path;
}

/* Something useful for a start: the hot path, or the callers of the one method. */
static void open_first(struct tree *t)
{
	struct tree_view v = how(t);

	if (t->opened || v.root == PROFILE_NONE || !t->tree->nodes[0].total)
		return;
	t->opened = true;
	tree_rows_open(&t->rows, &v, v.root);
	if (!t->inverted)
		tree_rows_open_hot(&t->rows, &v, v.root);
}

static void tree_update(struct ui *ui, bool sort)
{
	struct tree *t = tree_state(ui);
	struct profile_query q = ui_query(ui);
	struct calltree_options options = {
		.inverted = t->inverted,
		.threads = t->threads,
		.by_name = true,
		.root_method = t->root_method,
		.min_share = hide_steps[t->hide] / 1000.0,
	};
	struct tree_view v;

	remember_selected(t);
	calltree_free(t->tree);
	t->ui = ui;
	t->tree = calltree_new(ui->profile, &q, &options);
	t->all = profile_sum(ui->profile, &q);
	open_first(t);
	v = how(t);
	v.fresh = sort;
	v.hold = ui_holds(ui) && !sort;
	tree_rows_build(&t->rows, &v);
	select_path(t, t->selected);
}

/* --- names ------------------------------------------------------------------------------------------- */

static const char *node_name(const struct tree *t, const struct calltree_node *n)
{
	if (n->thread != PROFILE_NONE)
		return profile_get_thread(t->ui->profile, n->thread)->name;
	return n->method != PROFILE_NONE ? profile_get_method(t->ui->profile, n->method)->full
					 : "all";
}

static const char *tree_text(void *ctx, int index)
{
	struct tree *t = tree_state(ctx);
	const struct tree_row *row = row_at(t, index);

	return row && !row->folded ? node_name(t, node_of(t, row)) : "";
}

/* Fits a node's name. Returns the columns of its packages. */
static int fit_node(
	const struct tree *t, const struct tree_row *row, char *out, size_t size, int width)
{
	const struct calltree_node *n = node_of(t, row);

	if (row->folded) {
		snprintf(out, size, "%s %u frames", t->ui->glyphs->ellipsis, row->folded);
		return 0;
	}
	if (n->method == PROFILE_NONE) {
		name_cut(out, size, node_name(t, n), width, t->ui->glyphs->ellipsis);
		return 0;
	}
	return name_fit(out, size, profile_get_method(t->ui->profile, n->method), width,
		t->ui->names, t->ui->glyphs->ellipsis);
}

/* --- columns ----------------------------------------------------------------------------------------- */

static double share(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static void cell_total(const void *view, const void *row, struct column_cell *out)
{
	const struct tree *t = view;
	char text[TEXT_NUMBER];

	strcpy(out->text,
		text_percent(text, share(node_of(t, row)->total, t->tree->nodes[0].total)));
}

static void cell_self(const void *view, const void *row, struct column_cell *out)
{
	const struct tree *t = view;
	const struct tree_row *r = row;
	double self = share(node_of(t, r)->self, t->tree->nodes[0].total);
	char text[TEXT_NUMBER];

	if (self >= 0.05 && !r->folded)
		strcpy(out->text, text_percent(text, self));
}

static void cell_type(const void *view, const void *row, struct column_cell *out)
{
	const struct tree *t = view;
	const struct calltree_node *n = node_of(t, row);

	if (n->method == PROFILE_NONE || ((const struct tree_row *)row)->folded)
		return;
	out->text[0] = frame_types[n->type].letter;
	out->text[1] = '\0';
	out->style = theme_frame(n->type);
}

static void cell_none(const void *view, const void *row, struct column_cell *out)
{
}

static const struct column columns[] = {
	{"TOTAL%", 1, 6, false, 0, -1, cell_total},
	{"SELF%", 2, 5, false, 46, -1, cell_self},
	{"T", 2, 1, true, 46, -1, cell_type},
	{"CALL TREE", 1, 0, true, 0, -1, cell_none},
};
#define COLUMNS ((int)(sizeof(columns) / sizeof(columns[0])))

/* --- drawing ----------------------------------------------------------------------------------------- */

/*
 * The branches in front of a node. Levels 0 and 1 have none; level l has its own in slot l - 2. Where
 * they would leave no room for names, the outermost are left out.
 */
static int draw_branches(const struct tree *t, struct canvas *c, int row, int col, int width,
	const struct tree_row *r)
{
	const struct glyphs *g = t->ui->glyphs;
	int slots = r->level > 1 ? r->level - 1 : 0, room = (width - NAME_LEAST) / 2;
	int first = slots > room ? slots - (room > 0 ? room : 0) : 0;

	for (int slot = first; slot < slots; slot++) {
		const char *mark = " ";

		if (slot + 1 < slots)
			mark = slot + 2 < 64 && r->lines >> (slot + 2) & 1 ? g->tree_line : " ";
		else if (r->first && !r->folded)
			mark = r->last ? g->tree_last : g->tree_mid;
		else
			mark = r->last ? " " : g->tree_line;
		canvas_text(c, row, col, col + 2, STYLE_TREE, mark);
		col += 2;
	}
	return col;
}

static void draw_node(const struct tree *t, struct canvas *c, int row,
	const struct column_place *place, const struct tree_row *r)
{
	const char *mark = r->folded ? " " : r->open ? "-" : r->parent ? "+" : " ";
	int end = place->col + place->width, col, lead, behind;
	char text[COLUMN_TEXT], hidden[16] = "";
	const char *hit;

	col = draw_branches(t, c, row, place->col, place->width, r);
	col = canvas_text(c, row, col, end, STYLE_KEY, mark) + 1;
	if (!r->open && r->hidden)
		snprintf(hidden, sizeof(hidden), "(%u)", r->hidden);
	lead = fit_node(
		t, r, text, sizeof(text), end - col - (*hidden ? text_width(hidden) + 1 : 0));
	behind = canvas_text(c, row, col, end, r->folded ? STYLE_DIM : STYLE_NORMAL, text);
	canvas_restyle(c, row, col, col + lead, STYLE_DIM);
	canvas_text(c, row, behind + 1, end, STYLE_DIM, hidden);
	if (*t->ui->search && !r->folded && text_find(node_name(t, node_of(t, r)), t->ui->search)) {
		hit = text_find(text, t->ui->search);
		lead = hit ? (int)(hit - text) : 0;
		canvas_restyle(c, row, col + lead,
			hit ? col + lead + text_width(t->ui->search) : behind, STYLE_HIT);
	}
}

static void tree_draw(struct ui *ui, struct area area)
{
	struct tree *t = tree_state(ui);
	struct column_place places[COLUMN_MAX];
	struct canvas *c = &ui->canvas;
	int n = column_layout(columns, COLUMNS, c->cols, area.col, area.cols - 1, places);

	if (!t->tree)
		return;
	column_titles(c, area.row, area.col, area.col + area.cols, places, n, -1, ui->glyphs);
	list_resize(&t->list, (int)t->rows.count, area.rows - 1);
	for (int line = 0; line < t->list.rows; line++) {
		const struct tree_row *r = row_at(t, t->list.top + line);
		int row = area.row + 1 + line;

		if (!r)
			break;
		column_row(c, row, places, n, t, r, ui->glyphs);
		draw_node(t, c, row, &places[n - 1], r);
		canvas_list_row(c, row, area.col, area.col + area.cols, t->list.top + line,
			t->list.top + line == t->list.cursor);
	}
	if (!t->rows.count || !t->tree->nodes[0].total)
		canvas_text(c, area.row + 3, 12, c->cols, STYLE_DIM,
			t->zooms ? "Nothing of this subtree is in the window (u: zoom out)."
				 : "No samples in this window.");
}

static void tree_quality(struct ui *ui, struct strip *s)
{
	const struct tree *t = tree_state(ui);
	char name[80];

	if (t->root_method != PROFILE_NONE) {
		name_fit(name, sizeof(name), profile_get_method(ui->profile, t->root_method), 40,
			NAME_CLASS, ui->glyphs->ellipsis);
		strip_add(s, STYLE_STRONG, 2, "%s of %s (i)", t->inverted ? "callers" : "callees",
			name);
	} else {
		strip_add(s, STYLE_NORMAL, 5, "%s (i)", t->inverted ? "inverted" : "top-down");
	}
	strip_add(s, STYLE_NORMAL, 10, "hide <%g%% (%%)", hide_steps[t->hide] / 10.0);
	if (t->zooms)
		strip_add(s, STYLE_WARN, 4, " zoom (u) ");
}

static void tree_detail(struct ui *ui, struct strip *s)
{
	struct tree *t = tree_state(ui);
	const struct tree_row *row = row_at(t, t->list.cursor);
	uint32_t root = t->tree ? root_node(t) : PROFILE_NONE;
	int room = ui->canvas.cols > 110 ? ui->canvas.cols - 76 : 34;
	const struct calltree_node *n;
	char count[TEXT_NUMBER], name[256];

	if (!row || root == PROFILE_NONE)
		return;
	n = node_of(t, row);
	if (n->method != PROFILE_NONE)
		name_fit(name, sizeof(name), profile_get_method(ui->profile, n->method), room,
			NAME_FULL, ui->glyphs->ellipsis);
	else
		name_cut(name, sizeof(name), node_name(t, n), room, ui->glyphs->ellipsis);
	strip_add(s, STYLE_STRONG, 0, "%s", name);
	strip_add(s, STYLE_NORMAL, 9, "%s samples", text_count(count, (int64_t)n->total_count));
	strip_add(s, STYLE_NORMAL, 1, "%.1f%% %s%.1f of all", share(n->total, t->all.weight),
		ui->glyphs->plus_minus, flat_half_width(n->total_count, t->all.count));
	if (row->node != root)
		strip_add(s, STYLE_NORMAL, 2, "%.1f%% of parent",
			share(n->total, t->tree->nodes[n->parent].total));
	if (t->zooms && row->node != root)
		strip_add(s, STYLE_NORMAL, 3, "%.1f%% of zoom",
			share(n->total, t->tree->nodes[root].total));
}

static void tree_notice(struct ui *ui, struct strip *s)
{
	struct tree *t = tree_state(ui);

	if (*ui->search)
		strip_add(s, STYLE_NORMAL, 0, "/%s: %d of %d rows shown", ui->search,
			list_count_hits(&t->list, tree_text, ui, ui->search), t->list.count);
	else
		strip_add(s, STYLE_DIM, 0, "%d of %d rows", t->list.cursor + 1, t->list.count)
			->right = true;
}

/* --- commands ---------------------------------------------------------------------------------------- */

static const struct tree_row *selected_row(struct tree *t)
{
	remember_selected(t);
	t->list.touched = true;
	return row_at(t, t->list.cursor);
}

/* Collapse; what is collapsed already leads to its parent. */
static void close_row(struct tree *t, const struct tree_row *row)
{
	uint32_t node = row->node;

	if (row->open && !row->folded) {
		tree_rows_close(&t->rows, t->tree, node);
		rebuild(t, false);
		select_path(t, t->selected);
		return;
	}
	while (node != root_node(t) && t->tree->nodes[node].parent != PROFILE_NONE) {
		int at;

		node = t->tree->nodes[node].parent;
		at = tree_rows_find(&t->rows, t->tree, t->tree->nodes[node].path);
		if (at >= 0) {
			list_to(&t->list, at);
			return;
		}
	}
}

unsigned tree_open(struct ui *ui, int open)
{
	struct tree *t = tree_state(ui);
	const struct tree_row *row = t->tree ? selected_row(t) : NULL;
	struct tree_view v;

	if (!row)
		return 0;
	if (!open) {
		close_row(t, row);
		return UI_HOLD;
	}
	v = how(t);
	if (row->folded)
		tree_rows_unfold(&t->rows, t->tree, row->node);
	else if (row->open && t->list.cursor + 1 < t->list.count)
		list_move(&t->list, 1);
	else
		tree_rows_open(&t->rows, &v, row->node);
	remember_selected(t);
	rebuild(t, false);
	select_path(t, t->selected);
	return UI_HOLD;
}

unsigned tree_open_all(struct ui *ui, int arg)
{
	struct tree *t = tree_state(ui);
	const struct tree_row *row = t->tree ? selected_row(t) : NULL;
	struct tree_view v;

	if (!row)
		return 0;
	v = how(t);
	tree_rows_open_all(&t->rows, &v, row->node);
	rebuild(t, false);
	select_path(t, t->selected);
	return UI_HOLD;
}

unsigned tree_hot_path(struct ui *ui, int arg)
{
	struct tree *t = tree_state(ui);
	const struct tree_row *row = t->tree ? selected_row(t) : NULL;
	struct tree_view v;
	uint32_t hot;
	int at;

	if (!row)
		return 0;
	v = how(t);
	hot = tree_rows_open_hot(&t->rows, &v, row->node);
	rebuild(t, false);
	list_resize(&t->list, (int)t->rows.count, t->list.rows);
	at = tree_rows_find(&t->rows, t->tree, t->tree->nodes[hot].path);
	if (at >= 0)
		list_to(&t->list, at);
	return UI_HOLD;
}

static void start_over(struct tree *t)
{
	t->zooms = 0;
	t->opened = false;
	t->list.cursor = t->list.top = 0;
	t->list.touched = false;
	t->selected = 0;
}

unsigned tree_invert(struct ui *ui, int arg)
{
	struct tree *t = tree_state(ui);

	t->inverted = !t->inverted;
	start_over(t);
	return UI_SORT;
}

unsigned tree_hide_below(struct ui *ui, int arg)
{
	struct tree *t = tree_state(ui);

	t->hide = (t->hide + 1) % HIDE_STEPS;
	return UI_UPDATE | UI_HOLD;
}

unsigned tree_zoom(struct ui *ui, int in)
{
	struct tree *t = tree_state(ui);
	const struct tree_row *row = t->tree ? selected_row(t) : NULL;

	if (in && row && row->node && t->zooms < ZOOMS && row->node != root_node(t)) {
		struct tree_view v = how(t);

		tree_rows_open(&t->rows, &v, row->node);
		t->zoom[t->zooms++] = node_of(t, row)->path;
	} else if (!in && t->zooms) {
		t->zooms--;
	}
	return UI_UPDATE | UI_HOLD;
}

unsigned tree_threads(struct ui *ui, int arg)
{
	struct tree *t = tree_state(ui);

	t->threads = !t->threads;
	start_over(t);
	return UI_SORT;
}

unsigned tree_callers(struct ui *ui, int arg)
{
	struct tree *t = tree_state(ui);
	const struct tree_row *row = row_at(t, t->list.cursor);

	if (!row || node_of(t, row)->method == PROFILE_NONE)
		return 0;
	callers_of_method(ui, node_of(t, row)->method);
	return UI_SORT;
}

static bool tree_back(struct ui *ui)
{
	struct tree *t = tree_state(ui);

	if (t->zooms) {
		t->zooms--;
		return true;
	}
	if (t->root_method == PROFILE_NONE)
		return false;
	t->root_method = PROFILE_NONE;
	t->inverted = false;
	start_over(t);
	if (t->narrowed)
		ui_show(ui, t->from);
	t->narrowed = false;
	return true;
}

void tree_of_method(struct ui *ui, uint32_t method, bool inverted)
{
	enum view_id from = ui->view;
	struct tree *t;

	ui_show(ui, VIEW_TREE);
	t = tree_state(ui);
	t->root_method = method;
	t->inverted = inverted;
	t->narrowed = true;
	t->from = from;
	start_over(t);
}

const char *tree_selected(struct ui *ui)
{
	struct tree *t = tree_state(ui);

	return row_at(t, t->list.cursor) ? tree_text(ui, t->list.cursor) : NULL;
}

const struct view view_tree = {
	.name = "Tree view",
	.tab = "Tree",
	.new = tree_new,
	.free = tree_free,
	.update = tree_update,
	.draw = tree_draw,
	.quality = tree_quality,
	.detail = tree_detail,
	.notice = tree_notice,
	.list = tree_list,
	.text = tree_text,
	.back = tree_back,
};
