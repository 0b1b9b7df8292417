/* SPDX-License-Identifier: Apache-2.0 */
/* The pane beside the flame graph: figures of the selected box, its children, the callers of its method. */
#include "tui/view/pane.h"
#include "base/buf.h"
#include "profile/query/error.h"
#include "profile/table/flat.h"
#include "tui/screen/text.h"
#include "tui/view/flame/inside.h"

#include <stdio.h>
#include <stdlib.h>

void flame_pane_invalidate(struct flame_pane *p)
{
	pane_invalidate(&p->method);
	pane_table_clear(&p->children);
}

void flame_pane_done(struct flame_pane *p)
{
	flame_pane_invalidate(p);
	pane_done(&p->method);
	pane_table_done(&p->children);
}

/* Draws a label, a percentage and a remark. Returns the next row. */
static int draw_figure(
	struct ui *ui, struct area a, int row, const char *what, double percent, const char *more)
{
	struct canvas *c = &ui->canvas;
	int end = a.col + a.cols;

	canvas_text(c, row, a.col + 4, end, STYLE_LABEL, what);
	pane_percent(ui, row, a.col + 15, a.col + 22, STYLE_NORMAL, percent);
	canvas_text(c, row, a.col + 23, end, STYLE_DIM, more);
	return row + 1;
}

static int draw_figures(
	struct ui *ui, struct area a, const struct flame *f, const struct calltree_node *n)
{
	const struct calltree_node *all = &f->tree->nodes[0], *zoom = all;
	uint32_t box = f->at.trail.depth ? flame_layout_find(f->layout, trail_top(&f->at.trail))
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
	return &f->tree->nodes[f->layout->boxes[f->at.list.cursor].node];
}

void flame_pane_load(struct ui *ui, struct flame *f)
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
		pane_table_set(&f->pane.children, rows, count, f->pane.path != n->path,
			ui_order_frozen(ui));
		f->pane.children.whole = n->total;
		f->pane.children.sum = nodes[0].total;
		f->pane.path = n->path;
	}
	pane_load(ui, &f->pane.method, PANE_FLAME, n->method);
}

void flame_pane_draw(struct ui *ui, struct area area, const struct flame *f)
{
	static const struct pane_titles titles = {"HOTTEST CHILDREN", "of box", "of all"};
	const struct sandwich *s = f->pane.method.sandwich;
	int end = area.row + area.rows;
	char self[64];

	if (!f->layout->count)
		return;
	const struct calltree_node *n = selected_node(f);
	if (n->method == PROFILE_NONE)
		canvas_text(&ui->canvas, area.row, area.col + 4, area.col + area.cols, STYLE_STRONG,
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
