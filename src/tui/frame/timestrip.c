/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last ten minutes in a line each: how many samples came, the heap, the GC; the window is marked.
 *
 *   cpu    ▃▄▅▅▆▅▄▅▅▆▇▆▅▄▃▃▄[▅▅]▆▅▅▄   420 samples/s
 *
 * A cell is so many whole seconds of the session, so that what is drawn stays what it is and moves by one
 * cell at a time. Shown under the header while frozen, and on tall terminals.
 */
#include "tui/frame/ui.h"

#include "tui/screen/text.h"

#include <stdio.h>

#define ROWS_FROZEN 20 /* one line */
#define ROWS_TWO    36 /* always: the rate and the heap */
#define ROWS_THREE  48 /* and the GC */
#define LABEL_COLS  8
#define VALUE_COLS  14

/* What the lines show, the first ones first. */
enum line { LINE_RATE, LINE_HEAP, LINE_GC };

struct cells {
	uint32_t first, count; /* in cells since the session began */
	uint32_t seconds;      /* of each */
	uint32_t from, to;     /* the marked ones, both included */
};

int timestrip_rows(const struct ui *ui)
{
	int rows = ui->canvas.rows;

	if (!ui->profile || ui->canvas.cols < 60)
		return 0;
	return rows >= ROWS_THREE                             ? 3
	       : rows >= ROWS_TWO                             ? 2
	       : rows >= ROWS_FROZEN && ui->scope.time.frozen ? 1
							      : 0;
}

static struct cells cells_of(const struct ui *ui)
{
	static const uint32_t steps[] = {1, 2, 5, 10, 15, 20, 30, 60};
	struct profile_query q = ui_query(ui);
	uint32_t now = ui->shown_now, last, i = 0;
	struct cells c = {.count = (uint32_t)(ui->canvas.cols - LABEL_COLS - VALUE_COLS - 4)};

	if (c.count > PROFILE_HISTORY_S)
		c.count = PROFILE_HISTORY_S;
	/* A young session has all the room. */
	while (steps[i] * c.count < (now < PROFILE_HISTORY_S ? now : PROFILE_HISTORY_S) &&
		i + 1 < sizeof(steps) / sizeof(steps[0]))
		i++;
	c.seconds = steps[i];
	last = (now ? now - 1 : 0) / c.seconds;
	c.first = last + 1 > c.count ? last + 1 - c.count : 0;
	c.count = last + 1 - c.first;
	c.to = (q.to ? q.to - 1 : 0) / c.seconds;
	c.from = q.from / c.seconds;
	c.from = c.from < c.first ? c.first : c.from;
	c.to = c.to < c.from ? c.from : c.to;
	return c;
}

/* One value per second, the last of them that of now - 1; -1 = not known. */
static void line_seconds(const struct ui *ui, enum line line, int64_t *out)
{
	uint32_t now = ui->shown_now;

	if (line == LINE_RATE)
		profile_history(ui->profile, ui->scope.event, now, out, PROFILE_HISTORY_S);
	else
		history_values(ui->profile, line == LINE_HEAP ? HISTORY_HEAP : HISTORY_GC,
			now ? now - 1 : 0, out, PROFILE_HISTORY_S);
}

/* The mean of what is known of a cell; -1 = nothing is. */
static int64_t cell_value(
	const struct ui *ui, const struct cells *c, uint32_t cell, const int64_t *seconds)
{
	int64_t now = ui->shown_now, known = 0;
	double sum = 0;

	for (uint32_t i = 0; i < c->seconds; i++) {
		int64_t at = (int64_t)cell * c->seconds + i - now + PROFILE_HISTORY_S;

		if (at < 0 || at >= PROFILE_HISTORY_S || seconds[at] < 0)
			continue;
		sum += (double)seconds[at];
		known++;
	}
	if (!known)
		return -1;
	sum /= (double)known;
	return sum < (double)INT64_MAX ? (int64_t)sum : INT64_MAX;
}

static void value_text(enum line line, int64_t value, char *out, size_t size)
{
	char number[TEXT_NUMBER];

	if (line == LINE_RATE)
		snprintf(out, size, "%s samples/s", text_count(number, value));
	else if (line == LINE_HEAP)
		snprintf(out, size, "%s", text_bytes(number, value));
	else
		snprintf(out, size, "%.1f%%", (double)value / 10);
}

static void draw_line(struct ui *ui, int row, enum line line, const struct cells *c)
{
	static const int64_t units[] = {[LINE_RATE] = 8, [LINE_HEAP] = 1 << 20, [LINE_GC] = 10};
	const char *labels[] = {[LINE_RATE] = profile_events[ui->scope.event].name,
		[LINE_HEAP] = "heap",
		[LINE_GC] = "GC"};
	struct canvas *canvas = &ui->canvas;
	int64_t seconds[PROFILE_HISTORY_S], values[PROFILE_HISTORY_S], top;
	int col = LABEL_COLS;
	char text[GLYPH_SPARK_BYTES(1)], most[32];

	line_seconds(ui, line, seconds);
	for (uint32_t i = 0; i < c->count; i++)
		values[i] = cell_value(ui, c, c->first + i, seconds);
	top = glyph_top(values, (int)c->count, units[line]);
	canvas_text(canvas, row, 1, LABEL_COLS, STYLE_LABEL, labels[line]);
	for (uint32_t i = 0; i < c->count; i++) {
		uint32_t cell = c->first + i;
		bool marked = cell >= c->from && cell <= c->to;

		if (cell == c->from)
			col = canvas_text(canvas, row, col, canvas->cols, STYLE_KEY, "[");
		glyph_gauge(ui->glyphs, text, &values[i], 1, top);
		canvas_text(canvas, row, col++, canvas->cols, marked ? STYLE_STRONG : STYLE_SPARK,
			text);
		if (cell == c->to)
			col = canvas_text(canvas, row, col, canvas->cols, STYLE_KEY, "]");
	}
	value_text(line, top, most, sizeof(most));
	canvas_right(canvas, row, col, canvas->cols - 1, STYLE_DIM, most);
}

void timestrip_draw(struct ui *ui, int row)
{
	struct cells c = cells_of(ui);

	for (int line = 0; line < timestrip_rows(ui); line++)
		draw_line(ui, row + line, (enum line)line, &c);
}
