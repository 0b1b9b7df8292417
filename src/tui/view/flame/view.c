/* SPDX-License-Identifier: Apache-2.0 */
/* The flame view: a flame graph in cells, whose boxes keep their place between updates, and a pane for the selected box. */
#include "tui/frame/ui.h"

#include "base/buf.h"
#include "base/hash.h"
#include "profile/query/error.h"
#include "profile/table/flat.h"
#include "tui/frame/command.h"
#include "tui/frame/compare.h"
#include "tui/frame/search.h"
#include "tui/screen/text.h"
#include "tui/view/flame/layout.h"
#include "tui/view/pane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RELAYOUT_MS   3000 /* minimum time between layouts, which move boxes that are being read */
#define RELAYOUT_COLS 2    /* unless an edge shifts by more columns than this */

struct flame_pane {
	struct pane method; /* the selected box's method, on all stacks */
	struct pane_table children;
	uint64_t path; /* of the box they belong to */
};

struct flame {
	struct view_state view; /* list: the boxes; trail: zoomed paths */
	struct calltree *tree;
	struct compare_tree base; /* the baseline's tree, while a difference is shown */
	struct flame_layout *layout;
	struct flame_pane pane;
	uint32_t top; /* first row shown */
	int64_t layout_ms;
	uint32_t *hidden_hits; /* per box: matches below it too narrow for a box */
	char searched[256];    /* the search text of hidden_hits */
	uint64_t compared;     /* compare_stamp of base */
	bool stale;            /* the zoom has changed */
	bool upwards;          /* root at the bottom (flame), else at the top (icicle) */
};

static void flame_done(void *state)
{
	struct flame *f = state;

	flame_layout_free(f->layout);
	calltree_free(f->tree);
	compare_tree_done(&f->base);
	pane_done(&f->pane.method);
	pane_table_done(&f->pane.children);
	free(f->hidden_hits);
}

/* Counts, for each box, the matches below it that are too narrow for a box of their own. */
static void flame_find_hidden(const struct ui *ui, struct flame *f)
{
	const struct flame_layout *l = f->layout;
	uint32_t *box_of = xcalloc(f->tree->count, sizeof(*box_of));

	free(f->hidden_hits);
	f->hidden_hits = xcalloc(l->count + 1, sizeof(*f->hidden_hits));
	snprintf(f->searched, sizeof(f->searched), "%s", search_text(ui));
	for (uint32_t i = 0; i < l->count; i++)
		box_of[l->boxes[i].node] = i + 1;
	for (uint32_t i = 0; i < f->tree->count; i++) {
		const struct calltree_node *n = &f->tree->nodes[i];
		bool has_box = box_of[i] || !i;

		if (!has_box)
			box_of[i] = box_of[n->parent];
		if (box_of[i])
			f->hidden_hits[box_of[i] - 1] +=
				n->hidden_hits + (!has_box && search_hit_method(ui, n->method));
	}
	free(box_of);
}

static uint32_t flame_hidden_hits(const struct ui *ui, const struct flame_box *b)
{
	const struct flame *f = ui_state(ui, VIEW_FLAME);

	return search_is_active(ui) && !strcmp(f->searched, search_text(ui))
		       ? f->hidden_hits[b - f->layout->boxes]
		       : 0;
}

/* Selects the next box that matches or has hidden matches, wrapping around. */
static bool flame_find(const struct ui *ui, int direction)
{
	struct flame *f = ui_state(ui, VIEW_FLAME);
	int count = f->layout ? (int)f->layout->count : 0;
	int from = direction ? f->view.list.cursor + direction : search_from(ui);

	for (int i = 0; i < count; i++) {
		int at = ((from + (direction < 0 ? -i : i)) % count + count) % count;
		const struct flame_box *b = &f->layout->boxes[at];
		if (search_hit_method(ui, f->tree->nodes[b->node].method) ||
			flame_hidden_hits(ui, b)) {
			list_to(&f->view.list, at);
			return true;
		}
	}
	return false;
}

/* Replaces tree and layout and keeps the selected box by its path. */
static void show_layout(
	struct flame *f, struct calltree *tree, struct flame_layout *layout, int64_t now_ms)
{
	bool selected = f->layout && f->layout->count;
	uint64_t path = selected ? f->layout->boxes[f->view.list.cursor].path : 0;
	uint32_t box = flame_layout_find(layout, path);

	calltree_free(f->tree);
	flame_layout_free(f->layout);
	f->layout_ms = now_ms;
	f->tree = tree;
	f->layout = layout;
	f->stale = false;
	pane_invalidate(&f->pane.method);
	pane_table_clear(&f->pane.children);
	list_resize(&f->view.list, (int)layout->count, (int)layout->count);
	list_follow(&f->view.list, box == FLAME_NO_BOX ? 0 : (int)box);
}

/* Width of the graph, without the pane. */
static uint16_t flame_columns(const struct ui *ui)
{
	struct area body = ui_body(ui, VIEW_FLAME), pane;

	pane_split(body, PANE_FLAME, &body, &pane);
	return (uint16_t)body.cols;
}

static void flame_update(const struct ui *ui, bool sort)
{
	struct flame *f = ui_state(ui, VIEW_FLAME);
	struct profile_query q = ui_query(ui);
	uint16_t columns = flame_columns(ui);
	struct calltree_options options = {
		.root_method = PROFILE_NONE,
		.min_share = 0.4 / columns,
		.find = search_is_active(ui) ? search_match(ui) : NULL,
	};
	uint32_t zoom = f->tree && f->view.trail.depth
				? calltree_find(f->tree, trail_top(&f->view.trail))
				: 0;
	struct calltree *tree;

	/*
	 * Omits nodes narrower than a column. With a zoom, the zoomed node fills the columns, so the threshold shrinks
	 * with its last share, and by half in case the share has decreased.
	 */
	if (f->tree && zoom != PROFILE_NONE && f->tree->nodes[0].total)
		options.min_share *=
			0.5 * (double)f->tree->nodes[zoom].total / (double)f->tree->nodes[0].total;
	tree = calltree_new(ui->profile, &q, &options);
	/* Zooms out of nodes that are no longer in the window. */
	zoom = 0;
	while (f->view.trail.depth) {
		zoom = calltree_find(tree, trail_top(&f->view.trail));
		if (zoom != PROFILE_NONE)
			break;
		zoom = 0;
		f->view.trail.depth--;
	}
	struct flame_layout *layout = flame_layout_new(ui->profile, tree, zoom, columns);
	bool keep = f->layout && !sort && !f->stale && f->layout->columns == columns &&
		    ui->now_ms - f->layout_ms < RELAYOUT_MS && f->layout->count > 1 &&
		    flame_layout_shift(f->layout, layout) <= RELAYOUT_COLS &&
		    f->compared == compare_stamp(ui) && !strcmp(f->searched, search_text(ui));

	if (keep) {
		flame_layout_free(layout);
		calltree_free(tree);
		return;
	}
	show_layout(f, tree, layout, ui->now_ms);
	f->compared = compare_stamp(ui);
	flame_find_hidden(ui, f);
	compare_tree_set(
		&f->base, compare_query(ui, &q) ? calltree_new(ui->profile, &q, &options) : NULL);
}

static const char *node_name(const struct ui *ui, const struct calltree_node *n)
{
	return n->method == PROFILE_NONE ? "all" : profile_get_method(ui->profile, n->method)->full;
}

static const char *flame_text(const void *ctx, int index)
{
	const struct flame *f = ui_state(ctx, VIEW_FLAME);

	return f->layout && index < (int)f->layout->count
		       ? node_name(ctx, &f->tree->nodes[f->layout->boxes[index].node])
		       : "";
}

/* Formats the name of a box, and, if there is space, its share and its change since the baseline. */
static void fit_label(const struct ui *ui, const struct calltree_node *n, char out[256], int width)
{
	const struct flame *f = ui_state(ui, VIEW_FLAME);
	char pct[40] = "", delta[16] = "", run[64];

	if (width > 20 && n != f->tree->nodes)
		compare_node(&f->base, f->tree, n, delta, sizeof(delta));
	if (width > 12)
		snprintf(pct, sizeof(pct), " %.0f%%%s%s",
			flat_percent(n->total, f->tree->nodes[0].total), *delta ? " " : "", delta);
	if (n->method == PROFILE_NONE)
		name_cut(out, 256, "all", width, ui->glyphs->ellipsis);
	else if (search_collapsed_name(ui, n->stack, n->method, run, sizeof(run)))
		name_cut(out, 256, run, width - (int)strlen(pct), ui->glyphs->ellipsis);
	else
		ui_fit_method(ui, n->method, ui->names == NAME_FULL ? NAME_CLASS : ui->names,
			width - (int)strlen(pct), out, 256);
	strncat(out, pct, 256 - strlen(out) - 1);
}

static void draw_box(const struct ui *ui, int row, const struct flame_box *b, bool selected)
{
	const struct flame *f = ui_state(ui, VIEW_FLAME);
	const struct calltree_node *n = &f->tree->nodes[b->node];
	const char *name = node_name(ui, n);
	bool hit = search_hit_method(ui, n->method);
	int col = b->col, end = b->col + b->width;
	char label[256];
	/* Two shades per frame type, chosen by the name: a method always has the same color. */
	enum style style =
		selected ? STYLE_CURSOR
		: hit    ? STYLE_WARN
		: n->method == PROFILE_NONE
			? theme_box(FRAME_TYPES, 0)
			: theme_box(n->type, (unsigned)hash_bytes(name, strlen(name), 0));

	canvas_fill(ui->canvas, row, col, end, style, ' ');
	canvas_text(ui->canvas, row, col, end, style, ui->glyphs->box_edge);
	if (b->width >= 3) {
		fit_label(ui, n, label, b->width - 1);
		canvas_text(ui->canvas, row, col + 1, end, style, label);
	}
	if (b->width > 1 && flame_hidden_hits(ui, b) && !hit)
		canvas_text(ui->canvas, row, end - 1, end, selected ? style : STYLE_WARN, "+");
}

/* --- the pane ------------------------------------------------------------------------------------------ */

/* Draws a label, a percentage and a remark. Returns the next row. */
static int draw_figure(const struct ui *ui, struct area a, int row, const char *what,
	double percent, const char *more)
{
	struct canvas *c = ui->canvas;
	int end = a.col + a.cols;

	canvas_text(c, row, a.col + 4, end, STYLE_LABEL, what);
	pane_percent(ui, row, a.col + 15, a.col + 22, STYLE_NORMAL, percent);
	canvas_text(c, row, a.col + 23, end, STYLE_DIM, more);
	return row + 1;
}

static int draw_figures(
	const struct ui *ui, struct area a, const struct flame *f, const struct calltree_node *n)
{
	const struct calltree_node *all = &f->tree->nodes[0], *zoom = all;
	uint32_t box = f->view.trail.depth ? flame_layout_find(f->layout, trail_top(&f->view.trail))
					   : FLAME_NO_BOX;
	char more[80], count[TEXT_NUMBER];
	int row = a.row;

	snprintf(more, sizeof(more), "%s%.1f  %s", ui->glyphs->plus_minus,
		error_half_width(flat_percent(n->total, all->total) / 100, f->tree->samples),
		text_counted(count, (int64_t)n->total_count, "sample"));
	row = draw_figure(ui, a, row, "total", flat_percent(n->total, all->total), more);
	snprintf(more, sizeof(more), "%s%.1f", ui->glyphs->plus_minus,
		error_half_width(flat_percent(n->self, all->total) / 100, f->tree->samples));
	row = draw_figure(ui, a, row, "self", flat_percent(n->self, all->total), more);
	if (n->parent != PROFILE_NONE)
		row = draw_figure(ui, a, row, "of parent",
			flat_percent(n->total, f->tree->nodes[n->parent].total), "");
	if (box != FLAME_NO_BOX)
		zoom = &f->tree->nodes[f->layout->boxes[box].node];
	if (zoom != all)
		row = draw_figure(ui, a, row, "of zoom", flat_percent(n->total, zoom->total), "");
	return row;
}

static const struct calltree_node *selected_node(const struct flame *f)
{
	return &f->tree->nodes[f->layout->boxes[f->view.list.cursor].node];
}

static void flame_pane_load(const struct ui *ui, struct flame *f)
{
	struct area body = ui_body(ui, VIEW_FLAME), pane;
	const struct calltree_node *n, *nodes = f->tree->nodes;
	struct pane_row *rows;
	uint32_t count = 0;

	if (!pane_split(body, PANE_FLAME, &body, &pane))
		return;
	n = selected_node(f);
	if (!f->pane.children.rows || f->pane.path != n->path) {
		rows = xreallocarray(NULL, (size_t)n->child_count + 1, sizeof(*rows));
		for (uint32_t at = n->first_child; at != PROFILE_NONE && count < n->child_count;
			at = nodes[at].next_sibling)
			rows[count++] = (struct pane_row){nodes[at].method, nodes[at].type,
				nodes[at].total_count, nodes[at].total, nodes[at].total};
		pane_table_set(
			&f->pane.children, rows, count, ui_order_how(ui, f->pane.path != n->path));
		f->pane.children.whole = n->total;
		f->pane.children.sum = nodes[0].total;
		f->pane.path = n->path;
	}
	pane_load(ui, &f->pane.method, PANE_FLAME, n->method);
}

static void flame_pane_draw(const struct ui *ui, struct area area, const struct flame *f)
{
	static const struct pane_titles titles = {"HOTTEST CHILDREN", "of box", "of all"};
	const struct sandwich *s = f->pane.method.sandwich;
	int end = area.row + area.rows;
	char self[64];

	if (!f->layout->count)
		return;
	const struct calltree_node *n = selected_node(f);
	if (n->method == PROFILE_NONE)
		canvas_text(ui->canvas, area.row, area.col + 4, area.col + area.cols, STYLE_STRONG,
			"all");
	else
		pane_method(ui, (struct area){area.row, area.col + 2, 1, area.cols - 5}, n->type,
			n->method, STYLE_STRONG);
	area.row++;
	area.row = draw_figures(ui, area, f, n);
	if (s) {
		/* The method's share over all stacks, including this one. */
		snprintf(self, sizeof(self), "self %.1f%%", flat_percent(s->self, s->sum));
		area.row = draw_figure(
			ui, area, area.row, "everywhere", flat_percent(s->total, s->sum), self);
	}
	area.row++;
	area.rows = (end - area.row) / (s ? 2 : 1);
	if (f->pane.children.count && area.rows >= 2)
		area.row = pane_table_draw(ui, area, &titles, &f->pane.children);
	area.row += f->pane.children.count != 0;
	area.rows = end - area.row;
	if (s)
		pane_part_draw(ui, area, s, NULL, SANDWICH_CALLERS, -1, -1);
}

/* --- the view ------------------------------------------------------------------------------------------ */

static void flame_load_pane(const struct ui *ui)
{
	struct flame *f = ui_state(ui, VIEW_FLAME);

	/* A resize may have added the pane, which needs columns. */
	if (f->layout && f->layout->columns != flame_columns(ui))
		flame_update(ui, true);
	if (f->layout && f->layout->count)
		flame_pane_load(ui, f);
}

static void flame_draw(const struct ui *ui, struct area area)
{
	struct flame *f = ui_state(ui, VIEW_FLAME);
	struct area pane;
	bool beside = pane_split(area, PANE_FLAME, &area, &pane);
	uint32_t selected, rows = (uint32_t)area.rows;

	if (!f->layout)
		return;
	if (f->tree->nodes[0].total == 0) {
		canvas_text(ui->canvas, area.row + 3, 12, area.cols, STYLE_DIM,
			"No samples in this window.");
		return;
	}
	/* Scroll to keep the selected box visible. */
	selected = f->layout->boxes[f->view.list.cursor].row;
	if (selected < f->top)
		f->top = selected;
	if (selected >= f->top + rows)
		f->top = selected - rows + 1;
	if (f->layout->rows <= rows)
		f->top = 0;
	for (uint32_t i = 0; i < f->layout->count; i++) {
		const struct flame_box *b = &f->layout->boxes[i];
		int line = (int)(b->row - f->top);

		if (b->row < f->top || line >= area.rows)
			continue;
		line = f->upwards ? area.row + area.rows - 1 - line : area.row + line;
		draw_box(ui, line, b, (int)i == f->view.list.cursor);
		canvas_hit(ui->canvas, line, b->col, b->col + b->width, HIT_ROW, (int)i);
	}
	if (beside)
		flame_pane_draw(ui, pane, f);
}

static void flame_quality(const struct ui *ui, struct strip *s)
{
	const struct flame *f = ui_state(ui, VIEW_FLAME);
	bool zoomed = f->view.trail.depth && f->layout && f->tree;
	uint32_t box =
		zoomed ? flame_layout_find(f->layout, trail_top(&f->view.trail)) : FLAME_NO_BOX;
	char zoom[80] = "all", rows[TEXT_NUMBER];

	if (box != FLAME_NO_BOX)
		pane_node_name(
			ui, &f->tree->nodes[f->layout->boxes[box].node], 34, zoom, sizeof(zoom));
	strip_add(s, STYLE_NORMAL, 10, "%s (i flips)", f->upwards ? "flame" : "icicle");
	strip_add(s, f->view.trail.depth ? STYLE_STRONG : STYLE_NORMAL, 5, "zoom: %s", zoom);
	if (f->layout && f->layout->rows > f->top + 1 && f->top)
		strip_add(s, STYLE_DIM, 11, "%s above", text_counted(rows, f->top, "row"));
}

static void flame_detail(const struct ui *ui, struct strip *s)
{
	const struct flame *f = ui_state(ui, VIEW_FLAME);
	char delta[16] = "";

	if (!f->layout || !f->layout->count)
		return;
	const struct flame_box *box = &f->layout->boxes[f->view.list.cursor];
	const struct calltree_node *all = &f->tree->nodes[0], *n = &f->tree->nodes[box->node];
	pane_node_detail(ui, s, n, all->total, f->tree->samples);
	if (flame_hidden_hits(ui, box))
		strip_add(s, STYLE_WARN, 1, " + %u below, too narrow to show ",
			flame_hidden_hits(ui, box));
	if (n != all)
		compare_node(&f->base, f->tree, n, delta, sizeof(delta));
	if (*delta)
		strip_add(s, STYLE_STRONG, 1, "%s against the baseline", delta);
	strip_add(s, STYLE_NORMAL, 3, "self %.1f%%", flat_percent(n->self, all->total));
	if (n->parent != PROFILE_NONE)
		strip_add(s, STYLE_NORMAL, 2, "%.0f%% of parent",
			flat_percent(n->total, f->tree->nodes[n->parent].total));
}

static void flame_notice(const struct ui *ui, struct strip *s)
{
	struct flame *f = ui_state(ui, VIEW_FLAME);
	char rows[TEXT_NUMBER], boxes[TEXT_NUMBER];
	int shown = 0, hidden = 0;

	if (!f->layout)
		return;
	if (!search_is_active(ui)) {
		strip_add(s, STYLE_DIM, 0, "%s, %s too narrow to show",
			text_counted(rows, f->layout->rows, "row"),
			text_counted(boxes, f->layout->hidden, "box"))
			->right = true;
		return;
	}
	for (uint32_t i = 0; i < f->layout->count; i++) {
		const struct flame_box *b = &f->layout->boxes[i];

		shown += search_hit_method(ui, f->tree->nodes[b->node].method);
		hidden += (int)flame_hidden_hits(ui, b);
	}
	search_count(ui, s, shown, (int)f->layout->count - 1, "boxes");
	if (hidden)
		strip_add(s, STYLE_WARN, 1, " + %d too narrow to show ", hidden);
}

unsigned flame_move(struct ui *ui, int direction)
{
	struct flame *f = ui_state(ui, VIEW_FLAME);
	enum flame_direction to = (enum flame_direction)direction;

	if (!f->layout || !f->layout->count)
		return 0;
	if (f->upwards && to == FLAME_TO_ROOT)
		to = FLAME_TO_LEAF;
	else if (f->upwards && to == FLAME_TO_LEAF)
		to = FLAME_TO_ROOT;
	list_to(&f->view.list,
		(int)flame_layout_move(f->layout, (uint32_t)f->view.list.cursor, to));
	return UI_FREEZE_ORDER;
}

unsigned flame_zoom(struct ui *ui, int in)
{
	struct flame *f = ui_state(ui, VIEW_FLAME);
	uint64_t path;

	if (!f->layout || !f->layout->count)
		return 0;
	path = f->layout->boxes[f->view.list.cursor].path;
	if (in && (!f->view.trail.depth || trail_top(&f->view.trail) != path))
		trail_push(ui, &f->view.trail, path);
	else if (!in && f->view.trail.depth)
		f->view.trail.depth--;
	f->stale = true;
	return UI_UPDATE | UI_FREEZE_ORDER;
}

unsigned flame_flip(struct ui *ui, int arg)
{
	struct flame *f = ui_state(ui, VIEW_FLAME);

	f->upwards = !f->upwards;
	return UI_FREEZE_ORDER;
}

static void flame_back(struct ui *ui)
{
	struct flame *f = ui_state(ui, VIEW_FLAME);

	f->view.trail.depth--;
	f->stale = true;
}

static uint32_t flame_selected_method(const struct ui *ui)
{
	const struct flame *f = ui_state(ui, VIEW_FLAME);

	return f->layout && f->layout->count
		       ? f->tree->nodes[f->layout->boxes[f->view.list.cursor].node].method
		       : PROFILE_NONE;
}

const struct view view_flame = {
	.name = "Flame view",
	.tab = "Flame",
	.sums = true,
	.bytes = sizeof(struct flame),
	.done = flame_done,
	.update = flame_update,
	.second_query = compare_query,
	.load_pane = flame_load_pane,
	.draw = flame_draw,
	.quality = flame_quality,
	.detail = flame_detail,
	.notice = flame_notice,
	.text = flame_text,
	.selected_method = flame_selected_method,
	.find = flame_find,
	.back = flame_back,
};
