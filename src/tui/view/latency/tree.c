/* SPDX-License-Identifier: Apache-2.0 */
/* The call tree of a range of durations, with the shares of the other calls and the significance of the differences. */
#include "tui/view/latency/inside.h"

#include "base/clock.h"
#include "tui/screen/name.h"
#include "tui/screen/text.h"

#include <stdio.h>

#define COLS_PER_CALL 60 /* narrower ones have no times per call */
#define INDENT_MOST   24

/* Ends of the columns of numbers. */
struct tree_columns {
	int name, per_call, slow, other;
};

static struct tree_columns columns_of(struct area area)
{
	int end = area.col + area.cols - 1;
	struct tree_columns c = {.other = end, .slow = end - 8};

	c.per_call = c.slow - 8;
	c.name = area.cols >= COLS_PER_CALL ? c.per_call - 9 : c.slow - 8;
	return c;
}

const struct calls_node *tree_selected_node(const struct latency *l)
{
	int at = l->at.list.cursor;

	return l->both && at >= 0 && at < (int)l->both->count ? &l->both->nodes[at] : NULL;
}

static void draw_node(const struct ui *ui, int row, struct area area, const struct calls_node *n)
{
	const struct calls_comparison *both = latency_state(ui)->both;
	struct canvas *c = ui->canvas;
	struct tree_columns at = columns_of(area);
	int indent = n->depth < INDENT_MOST ? (int)n->depth : INDENT_MOST,
	    col = area.col + 3 + indent;
	enum style style = n->place ? bar_style(n->state) : STYLE_NORMAL;
	char text[400], ms[CALLS_TEXT];

	canvas_text(c, row, area.col + 1, at.name, STYLE_STRONG, n->sure ? "*" : "");
	name_fit(text, sizeof(text), profile_get_method(both->diff->both, n->method),
		at.name - col - 1, ui->names, ui->glyphs->ellipsis);
	canvas_text(c, row, col, at.name, style, text);
	if (area.cols >= COLS_PER_CALL)
		canvas_right(c, row, at.name, at.per_call, STYLE_NORMAL,
			calls_duration_text((uint64_t)(n->slow * both->slow_ns), ms));
	snprintf(text, sizeof(text), "%.0f%%", 100 * n->slow);
	canvas_right(c, row, at.name, at.slow, n->sure ? STYLE_STRONG : STYLE_NORMAL, text);
	snprintf(text, sizeof(text), "%.0f%%", 100 * n->other);
	canvas_right(c, row, at.name, at.other, STYLE_NORMAL, text);
}

void tree_draw_calls(const struct ui *ui, struct area area)
{
	struct latency *l = latency_state(ui);
	struct list *list = &l->at.list;
	struct canvas *c = ui->canvas;
	struct tree_columns at = columns_of(area);
	int end = area.col + area.cols, row = area.row;
	char text[200];

	list_resize(list, l->both ? (int)l->both->count : 0, area.rows > 1 ? area.rows - 1 : 0);
	if (!l->both) {
		canvas_text(c, row, area.col + 1, end, STYLE_DIM,
			"There are no calls of this range, or no others to compare them with.");
		return;
	}
	canvas_fill(c, row, area.col, end, STYLE_COLUMNS, ' ');
	snprintf(text, sizeof(text), "%u CALLS: %s; %u OTHERS", l->both->slow_calls, l->slow_label,
		l->both->other_calls);
	canvas_text(c, row, area.col + 1, at.name, STYLE_COLUMNS, text);
	if (area.cols >= COLS_PER_CALL)
		canvas_right(c, row, at.name, at.per_call, STYLE_COLUMNS, "PER CALL");
	canvas_right(c, row, at.name, at.slow, STYLE_COLUMNS, "THESE");
	canvas_right(c, row, at.name, at.other, STYLE_COLUMNS, "OTHERS");
	for (int i = 0; i < list->rows && list->top + i < list->count; i++) {
		int index = list->top + i;

		draw_node(ui, row + 1 + i, area, &l->both->nodes[index]);
		canvas_list_row(c, row + 1 + i, area.col, end, index, index == list->cursor);
	}
}
