/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time strip: sample rate, heap and GC over the retained history, one line each, with the window in brackets.
 *
 *   cpu    ▃▄▅▅▆▅▄▅▅▆▇▆▅▄▃▃▄[▅▅]▆▅▅▄   420 samples/s
 *
 * A cell covers a fixed range of whole seconds, so that its contents never change and the strip moves by whole cells.
 * The figure at the right is the mean over the window. Shown under the header while frozen, and on tall terminals.
 */
#include "tui/frame/file.h"

#include "base/buf.h"
#include "tui/screen/text.h"

#include <stdio.h>
#include <stdlib.h>

#define ROWS_FROZEN 20 /* one line */
#define ROWS_TWO    36 /* always: the rate and the heap */
#define ROWS_THREE  48 /* and the GC */
#define LABEL_COLS  8
#define VALUE_COLS  14

/* The lines, by priority. */
enum line { LINE_RATE, LINE_HEAP, LINE_GC };

struct cells {
	uint32_t first, count; /* in cells since the session began */
	uint32_t seconds;      /* of each */
	uint32_t from, to;     /* the window, both inclusive */
};

int timestrip_rows(const struct ui *ui)
{
	int rows = ui->canvas.rows, lines;

	if (!ui->profile || ui->canvas.cols < 60 || !file_has_time(ui))
		return 0;
	lines = rows >= ROWS_THREE                             ? 3
		: rows >= ROWS_TWO                             ? 2
		: rows >= ROWS_FROZEN && ui->scope.time.frozen ? 1
							       : 0;
	return lines > 1 && !file_has_vitals(ui) ? 1 : lines;
}

static struct cells cells_of(const struct ui *ui)
{
	static const uint32_t steps[] = {1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800,
		3600, 7200, 21600, 43200, 86400, 172800};
	struct profile_query q = ui_query(ui);
	uint32_t now = ui->shown_now, last, i = 0;
	uint32_t retained = ui->options->file || now < PROFILE_HISTORY_S ? now : PROFILE_HISTORY_S;
	struct cells c = {.count = (uint32_t)(ui->canvas.cols - LABEL_COLS - VALUE_COLS - 4)};

	if (c.count > PROFILE_HISTORY_S)
		c.count = PROFILE_HISTORY_S;
	/* The smallest step that fits the retained seconds. */
	while (steps[i] * c.count < retained && i + 1 < sizeof(steps) / sizeof(steps[0]))
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

/* The mean of the known values of these seconds up to now; -1: none known. seconds: scratch for that many. */
static int64_t mean_value(
	const struct ui *ui, enum line line, uint32_t from, uint32_t to, int64_t *seconds)
{
	uint32_t known = 0;
	double sum = 0;

	to = to < ui->shown_now ? to : ui->shown_now;
	if (to <= from)
		return -1;
	if (line == LINE_RATE)
		profile_history(ui->profile, ui->scope.event, to, seconds, to - from);
	else
		history_values(ui->profile, line == LINE_HEAP ? HISTORY_HEAP : HISTORY_GC, to - 1,
			seconds, (int)(to - from));
	for (uint32_t i = 0; i < to - from; i++) {
		if (seconds[i] < 0)
			continue;
		sum += (double)seconds[i];
		known++;
	}
	if (!known)
		return -1;
	sum /= (double)known;
	return sum < (double)INT64_MAX ? (int64_t)sum : INT64_MAX;
}

static void draw_line(struct ui *ui, int row, enum line line, const struct cells *c)
{
	static const int64_t units[] = {[LINE_RATE] = 8, [LINE_HEAP] = 1 << 20, [LINE_GC] = 10};
	const char *labels[] = {[LINE_RATE] = profile_get_event(ui->profile, ui->scope.event)->name,
		[LINE_HEAP] = "heap",
		[LINE_GC] = "GC"};
	struct canvas *canvas = &ui->canvas;
	struct profile_query q = ui_query(ui);
	uint32_t longest = q.to - q.from > c->seconds ? q.to - q.from : c->seconds;
	int64_t *seconds = xcalloc(longest, sizeof(*seconds)), values[PROFILE_HISTORY_S], top, mean;
	int col = LABEL_COLS;
	char text[GLYPH_SPARK_BYTES(1)], number[TEXT_NUMBER], figure[TEXT_NUMBER + 16];

	for (uint32_t i = 0; i < c->count; i++)
		values[i] = mean_value(ui, line, (c->first + i) * c->seconds,
			(c->first + i + 1) * c->seconds, seconds);
	mean = mean_value(ui, line, q.from, q.to, seconds);
	free(seconds);
	top = glyph_top(values, (int)c->count, units[line]);
	canvas_text(canvas, row, 1, LABEL_COLS, STYLE_LABEL, labels[line]);
	for (uint32_t i = 0; i < c->count; i++) {
		uint32_t cell = c->first + i;
		bool in_window = cell >= c->from && cell <= c->to;

		if (cell == c->from)
			col = canvas_text(canvas, row, col, canvas->cols, STYLE_KEY, "[");
		glyph_gauge(ui->glyphs, text, &values[i], 1, top);
		canvas_text(canvas, row, col++, canvas->cols,
			in_window ? STYLE_STRONG : STYLE_SPARK, text);
		if (cell == c->to)
			col = canvas_text(canvas, row, col, canvas->cols, STYLE_KEY, "]");
	}
	if (mean < 0)
		return;
	if (line == LINE_RATE)
		snprintf(figure, sizeof(figure), "%s samples/s", text_count(number, mean));
	else if (line == LINE_HEAP)
		text_bytes(figure, mean);
	else
		snprintf(figure, sizeof(figure), "%.1f%%", (double)mean / 10);
	canvas_right(canvas, row, col, canvas->cols - 1, STYLE_DIM, figure);
}

void timestrip_draw(struct ui *ui, int row)
{
	struct cells c = cells_of(ui);

	for (int line = 0; line < timestrip_rows(ui); line++)
		draw_line(ui, row + line, (enum line)line, &c);
}
