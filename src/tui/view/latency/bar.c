/* SPDX-License-Identifier: Apache-2.0 */
/* Bars divided by the state of a call. */
#include "tui/view/latency/inside.h"

#include "tui/screen/text.h"

#include <stdio.h>

/* A state has the color of this frame type; FRAME_TYPES: that of a root frame. */
static const uint8_t colors[CALL_STATES] = {
	[CALL_CPU] = FRAME_COMPILED,
	[CALL_RUNNABLE] = FRAME_VM,
	[CALL_LOCK] = FRAME_BREAK,
	[CALL_IO] = FRAME_INLINED,
	[CALL_SLEEP] = FRAME_TYPES,
	[CALL_WAIT] = FRAME_INTERPRETED,
	[CALL_PARK] = FRAME_CLASS,
	[CALL_SAFEPOINT] = FRAME_KERNEL,
	[CALL_SHORT] = FRAME_NATIVE,
};

enum style bar_style(enum call_state state)
{
	return colors[state] == FRAME_TYPES ? STYLE_NORMAL : theme_frame(colors[state]);
}

/* Draws one run of a state: its edge and as much of its name as fits. */
static void bar_run(const struct ui *ui, int row, int from, int to, unsigned state)
{
	struct canvas *c = ui->canvas;

	if (state >= CALL_STATES) {
		canvas_fill(c, row, from, to, STYLE_DIM, '.');
		return;
	}
	canvas_fill(c, row, from, to, theme_box(colors[state], 0), ' ');
	if (to - from > 1)
		from = canvas_text(
			c, row, from, to, theme_box(colors[state], 0), ui->glyphs->box_edge);
	canvas_text(c, row, from, to, theme_box(colors[state], 0), call_state_names[state]);
}

void bar_shares(const struct ui *ui, int row, int col, int end, const double shares[CALL_STATES])
{
	double sum = 0;
	int from = col;

	for (unsigned s = 0; s < CALL_STATES; s++) {
		int to;

		sum += shares[s];
		to = col + (int)(sum * (end - col) + 0.5);
		to = to < end ? to : end;
		if (to > from)
			bar_run(ui, row, from, to, s);
		from = to > from ? to : from;
	}
}

void bar_columns(const struct ui *ui, int row, int col, const uint8_t *states, int count)
{
	for (int i = 0, to; i < count; i = to) {
		for (to = i + 1; to < count && states[to] == states[i];)
			to++;
		bar_run(ui, row, col + i, col + to, states[i]);
	}
}

int bar_numbers(const struct ui *ui, int row, int col, int end, const double shares[CALL_STATES])
{
	unsigned shown = 0;
	char text[48];

	for (;;) {
		int most = -1;

		for (int s = 0; s < CALL_STATES; s++)
			if (!(shown & 1u << s) && shares[s] >= 0.005 &&
				(most < 0 || shares[s] > shares[most]))
				most = s;
		if (most < 0)
			break;
		snprintf(text, sizeof(text), "%s %.0f%%", call_state_names[most],
			100 * shares[most]);
		if (col + text_width(text) > end)
			break;
		col = canvas_text(ui->canvas, row, col, end, STYLE_NORMAL, text) + 2;
		shown |= 1u << most;
	}
	return col;
}
