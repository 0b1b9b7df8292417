/* SPDX-License-Identifier: Apache-2.0 */
/* Where the columns of a pane's table stand: the same as those of the callers' parts. */
#include "tui/view/pane.h"

#include "profile/query/error.h"
#include "tui/screen/text.h"

#include <stdio.h>

#define FIGURE 8 /* columns of one share */

void pane_table_titles(struct ui *ui, struct area area, const struct pane_titles *titles)
{
	struct canvas *c = &ui->canvas;
	int end = area.col + area.cols - 1;

	canvas_fill(c, area.row, area.col, area.col + area.cols, STYLE_COLUMNS, ' ');
	canvas_text(c, area.row, area.col + 1, end, STYLE_COLUMNS, titles->what);
	canvas_right(c, area.row, area.col, end - FIGURE, STYLE_COLUMNS, titles->first);
	canvas_right(c, area.row, area.col, end, STYLE_COLUMNS, titles->second);
}

static void draw_figure(struct ui *ui, int row, int end, enum style style, double percent)
{
	char number[TEXT_NUMBER], text[TEXT_NUMBER + 1];

	snprintf(text, sizeof(text), "%s%%", text_percent(number, percent));
	canvas_right(&ui->canvas, row, end - FIGURE, end, style, text);
}

void pane_table_row(struct ui *ui, struct area area, const struct pane_row *r)
{
	struct canvas *c = &ui->canvas;
	int end = area.col + area.cols - 1, names = end - 2 * FIGURE;
	char name[512];

	canvas_printf(c, area.row, area.col + 2, names, theme_frame(r->type), "%c",
		frame_types[r->type].letter);
	name_fit(name, sizeof(name), profile_get_method(ui->profile, r->method),
		names - area.col - 5, ui->names, ui->glyphs->ellipsis);
	canvas_text(c, area.row, area.col + 4, names,
		r->count >= ERROR_FEW ? STYLE_NORMAL : STYLE_DIM, name);
	draw_figure(ui, area.row, end - FIGURE, STYLE_NORMAL, r->first);
	draw_figure(ui, area.row, end, STYLE_DIM, r->second);
}
