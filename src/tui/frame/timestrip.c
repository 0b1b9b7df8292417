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

struct timestrip {
	uint32_t first, count; /* the cells, in cells since the session began */
	uint32_t from, to;     /* those of the window, both inclusive */
	int lines;
	int64_t mean[3];                      /* over the window; -1: not known */
	int64_t values[3][PROFILE_HISTORY_S]; /* by line and cell; likewise */
};

struct timestrip *timestrip_new(void)
{
	return xcalloc(1, sizeof(struct timestrip));
}

int timestrip_rows(const struct ui *ui)
{
	int rows = ui->canvas->rows;

	if (!ui->profile || ui->canvas->cols < 60 || !file_has_time(ui))
		return 0;
	if (rows >= ROWS_TWO && file_has_vitals(ui))
		return rows >= ROWS_THREE ? 3 : 2;
	return rows >= ROWS_TWO || (rows >= ROWS_FROZEN && ui->scope.time.frozen);
}

/* The mean of the known values of these seconds; -1: none is known. seconds: scratch for that many. */
static int64_t mean_value(
	const struct ui *ui, enum line line, uint32_t from, uint32_t to, int64_t *seconds)
{
	uint32_t known = 0;
	double sum = 0;

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

void timestrip_update(struct ui *ui)
{
	static const uint32_t steps[] = {1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800,
		3600, 7200, 21600, 43200, 86400, 172800};
	struct timestrip *s = ui->strip;
	struct profile_query q = ui_query(ui);
	uint32_t now = profile_info(ui->profile).now, step = 0;
	uint32_t retained = ui->options->file || now < PROFILE_HISTORY_S ? now : PROFILE_HISTORY_S;
	int cols = ui->canvas->cols - LABEL_COLS - VALUE_COLS - 4;
	uint32_t count = cols < PROFILE_HISTORY_S ? (uint32_t)cols : PROFILE_HISTORY_S;

	s->lines = timestrip_rows(ui);
	if (!s->lines)
		return;
	/* The shortest cells that fit the retained seconds. */
	while (steps[step] * count < retained && step + 1 < sizeof(steps) / sizeof(steps[0]))
		step++;
	uint32_t each = steps[step], last = (now ? now - 1 : 0) / each;
	s->first = last + 1 > count ? last + 1 - count : 0;
	s->count = last + 1 - s->first;
	s->from = q.from / each > s->first ? q.from / each : s->first;
	s->to = (q.to ? q.to - 1 : 0) / each;
	s->to = s->to < s->from ? s->from : s->to;
	int64_t *seconds = xcalloc(q.to - q.from > each ? q.to - q.from : each, sizeof(*seconds));
	for (int line = 0; line < s->lines; line++) {
		for (uint32_t i = 0; i < s->count; i++) {
			uint32_t from = (s->first + i) * each, to = from + each;

			s->values[line][i] =
				mean_value(ui, (enum line)line, from, to < now ? to : now, seconds);
		}
		s->mean[line] =
			mean_value(ui, (enum line)line, q.from, q.to < now ? q.to : now, seconds);
	}
	free(seconds);
}

void timestrip_draw(const struct ui *ui, int row)
{
	static const int64_t units[] = {[LINE_RATE] = 8, [LINE_HEAP] = 1 << 20, [LINE_GC] = 10};
	const char *labels[] = {[LINE_RATE] = profile_get_event(ui->profile, ui->scope.event)->name,
		[LINE_HEAP] = "heap",
		[LINE_GC] = "GC"};
	const struct timestrip *s = ui->strip;
	struct canvas *c = ui->canvas;
	char text[GLYPH_SPARK_BYTES(1)], number[TEXT_NUMBER], figure[TEXT_NUMBER + 16];

	for (int line = 0; line < s->lines && line < timestrip_rows(ui); line++, row++) {
		int64_t top = glyph_top(s->values[line], (int)s->count, units[line]);
		int64_t mean = s->mean[line];
		int col = LABEL_COLS;

		canvas_text(c, row, 1, LABEL_COLS, STYLE_LABEL, labels[line]);
		for (uint32_t i = 0; i < s->count; i++) {
			uint32_t cell = s->first + i;
			bool in_window = cell >= s->from && cell <= s->to;

			if (cell == s->from)
				col = canvas_text(c, row, col, c->cols, STYLE_KEY, "[");
			glyph_gauge(ui->glyphs, text, &s->values[line][i], 1, top);
			canvas_text(c, row, col++, c->cols, in_window ? STYLE_STRONG : STYLE_SPARK,
				text);
			if (cell == s->to)
				col = canvas_text(c, row, col, c->cols, STYLE_KEY, "]");
		}
		if (mean < 0)
			continue;
		if (line == LINE_RATE)
			snprintf(figure, sizeof(figure), "%s samples/s", text_count(number, mean));
		else if (line == LINE_HEAP)
			text_bytes(figure, mean);
		else
			snprintf(figure, sizeof(figure), "%.1f%%", (double)mean / 10);
		canvas_right(c, row, col, c->cols - 1, STYLE_DIM, figure);
	}
}
