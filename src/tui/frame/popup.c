/* SPDX-License-Identifier: Apache-2.0 */
/* The frame of popups. */
#include "tui/frame/ui.h"

#define NARROW_MARGIN 10 /* columns */

static void draw_border(struct ui *ui, struct area in)
{
	struct canvas *c = &ui->canvas;
	bool ascii = c->ascii;
	uint32_t across = ascii ? '-' : 0x2500, down = ascii ? '|' : 0x2502;
	const char *corners[4] = {"┌", "┐", "└", "┘"};
	int top = in.row - 1, bottom = in.row + in.rows, left = in.col - 2,
	    right = in.col + in.cols + 1;

	canvas_fill(c, top, left, right + 1, STYLE_STRONG, across);
	canvas_fill(c, bottom, left, right + 1, STYLE_STRONG, across);
	for (int row = in.row; row < bottom; row++) {
		canvas_fill(c, row, left, left + 1, STYLE_STRONG, down);
		canvas_fill(c, row, right, right + 1, STYLE_STRONG, down);
	}
	for (int i = 0; i < 4; i++)
		canvas_text(c, i < 2 ? top : bottom, i % 2 ? right : left, c->cols, STYLE_STRONG,
			ascii ? "+" : corners[i]);
}

struct area popup_frame(struct ui *ui, const char *title, int rows, int cols)
{
	struct canvas *c = &ui->canvas;
	int max_rows = c->rows - 1, max_cols = c->cols; /* the key line stays */
	bool framed = rows + 2 <= max_rows;
	struct area in;
	int from, to;

	in.cols = cols < max_cols - 4 ? cols : max_cols - 4;
	in.rows = rows < max_rows ? rows : max_rows;
	in.col = (max_cols - in.cols) / 2;
	in.row = (max_rows - in.rows) / 2;
	/* What is left of a row beside the box must be readable, or nothing is. */
	from = in.col - 2 > NARROW_MARGIN ? in.col - 2 : 0;
	to = max_cols - in.col - in.cols - 2 > NARROW_MARGIN ? in.col + in.cols + 2 : max_cols;
	for (int row = in.row - framed; row < in.row + in.rows + framed; row++)
		canvas_fill(c, row, from, to, STYLE_NORMAL, ' ');
	if (!framed)
		return in;
	draw_border(ui, in);
	canvas_printf(c, in.row - 1, in.col, in.col + in.cols, STYLE_STRONG, " %s ", title);
	return in;
}
