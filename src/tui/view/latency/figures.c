/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of all calls: percentiles, shares of states, histogram, causes, notes; and bars divided by state. */
#include "tui/view/latency/inside.h"

#include "base/buf.h"
#include "base/clock.h"
#include "tui/frame/latency.h"
#include "tui/screen/name.h"
#include "tui/screen/text.h"

#include <stdio.h>
#include <string.h>

#define ROWS_CAUSES    10 /* smaller bodies have no causes, */
#define ROWS_HISTOGRAM 14 /* no histogram, */
#define ROWS_GAPS      24 /* no blank rows and no sentences of notes */
#define COLS_WIDE      100
#define STATE_GAP      2
#define BAR_LEAST      8
#define GUTTER         8 /* columns left of the histogram */
#define BUCKET_COLS    4 /* widest */

/* --- bars -------------------------------------------------------------------------------------- */

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

/* --- layout ------------------------------------------------------------------------------------ */

/* Rows of each section, with its titles; 0: not shown. */
struct plan {
	int histogram, causes, notes, gap;
};

static struct plan plan_of(const struct latency *l, int rows)
{
	struct plan plan = {.gap = rows >= ROWS_GAPS};
	int rest = rows - 4 - 4 * plan.gap, notes = (int)l->note_count;

	/* At the expense of the list only, since notes come and go. */
	if (plan.gap)
		plan.notes = notes < rows / 8 ? notes : rows / 8;
	if (rows >= ROWS_HISTOGRAM)
		plan.histogram = 4 + (rest > 13 ? (rest - 13) / 4 : 0);
	if (rows >= ROWS_CAUSES)
		plan.causes = 1 + (rest < 16 ? 3 : rest < 24 ? 4 : CALLS_CAUSES);
	return plan;
}

/* --- percentiles ------------------------------------------------------------------------------- */

static void add_percentile(struct strip *s, const struct calls_summary *sum, const char *name,
	uint64_t ns, int drop, enum style style)
{
	char text[CALLS_TEXT];
	struct strip_part *part =
		strip_add(s, style, drop, " %s", calls_percentile_text(sum, ns, text));

	snprintf(part->key, sizeof(part->key), "%s", name);
	part->width = (uint8_t)(strlen(name) + 7);
}

static void draw_percentiles(const struct ui *ui, struct area area)
{
	const struct calls_summary *sum = &latency_state(ui)->sum;
	double rate = sum->calls / sum->seconds, error = sum->error / sum->seconds;
	int decimals = rate < 1 ? 2 : rate < 10 ? 1 : 0;
	struct strip s = {0};
	struct strip_part *part;

	part = strip_add(
		&s, STYLE_NORMAL, 0, " %s%.*f/s", sum->at_least ? ">" : "", decimals, rate);
	snprintf(part->key, sizeof(part->key), "calls");
	if (!sum->counted)
		strip_add(&s, STYLE_DIM, 5, "%s%.*f", ui->glyphs->plus_minus, decimals, error)
			->gap = 1;
	add_percentile(&s, sum, "p50", sum->p50, 0, STYLE_NORMAL);
	add_percentile(&s, sum, "p90", sum->p90, 2, STYLE_NORMAL);
	add_percentile(&s, sum, "p99", sum->p99, 0, STYLE_STRONG);
	add_percentile(&s, sum, "p99.9", sum->p999, 3, STYLE_NORMAL);
	add_percentile(&s, sum, "max", sum->max, 1, STYLE_NORMAL);
	strip_draw(&s, ui->canvas, area.row, area.col + 1, area.col + area.cols - 1);
}

/* --- shares of states -------------------------------------------------------------------------- */

static int state_width(unsigned state)
{
	return STATE_GAP + (int)strlen(call_state_names[state]);
}

/* The first column of the numbers, so that they end at the right edge. */
static int numbers_col(const struct latency *l, struct area area)
{
	int width = 1;

	for (unsigned s = 0; s < CALL_STATES; s++)
		width += l->states & 1u << s ? state_width(s) : 0;
	return area.col + area.cols - width;
}

static void draw_shares(const struct ui *ui, struct area area, int row, const char *label,
	int bar_col, const double shares[CALL_STATES])
{
	const struct latency *l = latency_state(ui);
	struct canvas *c = ui->canvas;
	int col = numbers_col(l, area);
	char text[16];

	canvas_text(c, row, area.col + 1, bar_col, STYLE_NORMAL, label);
	if (col - bar_col >= BAR_LEAST)
		bar_shares(ui, row, bar_col, col, shares);
	for (unsigned s = 0; s < CALL_STATES; s++) {
		if (!(l->states & 1u << s))
			continue;
		snprintf(text, sizeof(text), "%.0f", 100 * shares[s]);
		canvas_right(c, row, col, col + state_width(s),
			shares[s] >= 0.005 ? STYLE_NORMAL : STYLE_DIM, text);
		col += state_width(s);
	}
}

static void draw_states(const struct ui *ui, struct area area)
{
	const struct latency *l = latency_state(ui);
	bool wide = area.cols >= COLS_WIDE;
	int col = numbers_col(l, area), bar_col = area.col + (wide ? 36 : 13);
	struct canvas *c = ui->canvas;
	char label[80], number[CALLS_TEXT];

	canvas_fill(c, area.row, area.col, area.col + area.cols, STYLE_COLUMNS, ' ');
	canvas_text(c, area.row, area.col + 1, col, STYLE_COLUMNS, "% OF TIME");
	for (unsigned s = 0; s < CALL_STATES; s++) {
		if (!(l->states & 1u << s))
			continue;
		canvas_right(
			c, area.row, col, col + state_width(s), STYLE_COLUMNS, call_state_names[s]);
		col += state_width(s);
	}
	if (wide && !l->range)
		snprintf(label, sizeof(label), "%s (%u of %s or more)", l->slow_label,
			l->slow_count, calls_duration_text(l->sum.slow_ns, number));
	else if (wide)
		snprintf(label, sizeof(label), "%s (%u calls)", l->slow_label, l->slow_count);
	else
		snprintf(label, sizeof(label), "%s", l->slow_label);
	draw_shares(ui, area, area.row + 1, "all calls", bar_col, l->sum.all);
	draw_shares(ui, area, area.row + 2, label, bar_col, l->slow_states);
}

/* --- histogram --------------------------------------------------------------------------------- */

/* How buckets are drawn: `group` of them per bar, of `cols` columns. */
struct scale {
	int group, cols, bars;
};

static struct scale scale_of(const struct latency *l, int cols)
{
	int buckets = l->bucket_to - l->bucket_first;
	struct scale s = {.group = 1};

	while (s.group * cols < buckets)
		s.group++;
	s.bars = (buckets + s.group - 1) / s.group;
	s.cols = s.bars ? cols / s.bars : 1;
	s.cols = s.cols > BUCKET_COLS ? BUCKET_COLS : s.cols;
	return s;
}

static double bar_calls(const struct latency *l, const struct scale *scale, int bar)
{
	double calls = 0;

	for (int i = 0; i < scale->group; i++) {
		int bucket = l->bucket_first + bar * scale->group + i;

		if (bucket < l->bucket_to)
			calls += l->sum.histogram[bucket];
	}
	return calls;
}

/* The durations at the edges of bars, as many as fit. */
static void draw_axis(const struct ui *ui, int row, int col, int end, const struct scale *scale)
{
	const struct latency *l = latency_state(ui);
	int free_col = col;

	for (int bar = 0; bar < scale->bars; bar++) {
		int first = l->bucket_first + bar * scale->group, at = col + bar * scale->cols;
		char text[CALLS_TEXT];

		calls_duration_text(first ? calls_bucket_end((unsigned)first - 1) : 0, text);
		if (at < free_col || (first & 3) || at + text_width(text) + 1 > end)
			continue;
		free_col = canvas_text(ui->canvas, row, at, end, STYLE_DIM, ui->glyphs->tree_line);
		free_col = canvas_text(ui->canvas, row, free_col, end, STYLE_DIM, text) + 2;
	}
}

static void draw_histogram(const struct ui *ui, struct area area)
{
	const struct latency *l = latency_state(ui);
	int col = area.col + GUTTER, end = area.col + area.cols - 1, height = area.rows - 1;
	struct scale scale = scale_of(l, end - col);
	struct canvas *c = ui->canvas;
	double most = 0;
	char text[TEXT_NUMBER];

	for (int bar = 0; bar < scale.bars; bar++) {
		double calls = bar_calls(l, &scale, bar);

		most = calls > most ? calls : most;
	}
	for (int bar = 0; bar < scale.bars && most > 0; bar++) {
		double calls = bar_calls(l, &scale, bar);
		int levels = (int)(calls / most * height * GLYPH_LEVELS + 0.5);
		int bucket = l->bucket_first + (bar + 1) * scale.group - 1;
		uint64_t bar_end = calls_bucket_end((unsigned)bucket);
		bool slow =
			bar_end > l->slow.min_ns && (!l->slow.max_ns || bar_end <= l->slow.max_ns);

		levels = calls > 0 && !levels ? 1 : levels;
		for (int i = 0; i < height && levels > 0; i++, levels -= GLYPH_LEVELS)
			for (int k = 0; k < scale.cols; k++)
				canvas_text(c, area.row + height - 1 - i,
					col + bar * scale.cols + k, end,
					slow ? STYLE_BREAK : STYLE_SPARK,
					ui->glyphs->spark[levels < GLYPH_LEVELS ? levels
										: GLYPH_LEVELS]);
	}
	canvas_right(
		c, area.row, area.col, col - 1, STYLE_DIM, text_count(text, (int64_t)(most + 0.5)));
	if (height > 1)
		canvas_right(c, area.row + 1, area.col, col - 1, STYLE_DIM, "calls");
	draw_axis(ui, area.row + height, col, end, &scale);
}

/* --- causes, notes ----------------------------------------------------------------------------- */

static void draw_causes(const struct ui *ui, struct area area)
{
	const struct latency *l = latency_state(ui);
	int end = area.col + area.cols - 1, others = end, slowest = others - 8,
	    per_call = slowest - 9, state = area.cols >= COLS_WIDE ? per_call - 26 : slowest - 23;
	struct canvas *c = ui->canvas;
	int row = area.row, width = state - area.col - 3;
	char text[32];

	canvas_fill(c, row, area.col, area.col + area.cols, STYLE_COLUMNS, ' ');
	canvas_text(c, row, area.col + 1, state, STYLE_COLUMNS,
		l->range ? "THESE CALLS SPEND MORE TIME ON" : "SLOW CALLS SPEND MORE TIME ON");
	canvas_text(c, row, state, end, STYLE_COLUMNS, "STATE");
	if (area.cols >= COLS_WIDE)
		canvas_right(c, row, state, per_call, STYLE_COLUMNS,
			l->range ? "PER CALL" : "PER SLOW CALL");
	canvas_right(c, row, state, slowest, STYLE_COLUMNS, l->range ? "THESE" : "SLOWEST");
	canvas_right(c, row, state, others, STYLE_COLUMNS, "OTHERS");
	if (!l->cause_count && area.rows > 1)
		canvas_text(c, row + 1, area.col + 1, end, STYLE_DIM,
			"no difference: they do the same as the others, only longer");
	for (uint32_t i = 0; i < l->cause_count && row + 1 < area.row + area.rows; i++) {
		const struct calls_cause *cause = &l->causes[i];
		bool cut = text_width(cause->where) > width;
		int col = area.col + 1;

		row++;
		/* The end of the name says most. */
		if (cut)
			col = canvas_text(c, row, col, state, STYLE_DIM, ui->glyphs->ellipsis);
		canvas_text(c, row, col, state - 1, STYLE_STRONG,
			cut ? text_suffix(cause->where, width - 1) : cause->where);
		canvas_text(c, row, state, end, bar_style(cause->state),
			call_state_names[cause->state]);
		calls_duration_text((uint64_t)(cause->slow_ms * (double)NS_PER_MS), text);
		if (area.cols >= COLS_WIDE)
			canvas_right(c, row, state + 12, per_call, STYLE_NORMAL, text);
		snprintf(text, sizeof(text), "%.0f%%", 100 * cause->slow);
		canvas_right(c, row, state, slowest, STYLE_NORMAL, text);
		snprintf(text, sizeof(text), "%.0f%%", 100 * cause->other);
		canvas_right(c, row, state, others, STYLE_NORMAL, text);
	}
}

/* One line each; smaller screens have the brief form in the footer. */
static void draw_notes(const struct ui *ui, struct area area)
{
	const struct latency *l = latency_state(ui);
	char text[200];

	for (unsigned i = 0; i < l->note_count && (int)i < area.rows; i++) {
		name_cut(text, sizeof(text), l->notes[i].sentence, area.cols - 2,
			ui->glyphs->ellipsis);
		canvas_text(ui->canvas, area.row + (int)i, area.col + 1, area.col + area.cols,
			STYLE_DIM, text);
	}
}

/* --- all ----------------------------------------------------------------------------------------- */

struct area figures_draw(const struct ui *ui, struct area area)
{
	struct plan plan = plan_of(latency_state(ui), area.rows);
	int row = area.row, end = area.row + area.rows;

	draw_percentiles(ui, area);
	row += 1 + plan.gap;
	if (area.rows > 4)
		draw_states(ui, (struct area){row, area.col, 3, area.cols});
	row += (area.rows > 4 ? 3 : 0) + plan.gap;
	if (plan.histogram)
		draw_histogram(ui, (struct area){row, area.col, plan.histogram, area.cols});
	row += plan.histogram + plan.gap;
	if (plan.causes)
		draw_causes(ui, (struct area){row, area.col, plan.causes, area.cols});
	row += plan.causes + plan.gap;
	draw_notes(ui, (struct area){end - plan.notes, area.col, plan.notes, area.cols});
	end -= plan.notes;
	return (struct area){row, area.col, end > row ? end - row : 0, area.cols};
}

void figures_draw_empty(const struct ui *ui, struct area area)
{
	const struct latency *l = latency_state(ui);
	int row = area.row + (area.rows > 10 ? 2 : 0), col = area.cols >= 76 ? 6 : 1;
	struct area text = {row, col, area.rows, area.cols - col - 1};
	char sentence[400], interval[CALLS_TEXT], method[160] = "";
	const char *name = ui->latency->method ? ui->latency->method : "";
	double seconds = (double)(l->query.to_ns - l->query.from_ns) / (double)NS_PER_S;

	snprintf(method, sizeof(method), "%s", text_suffix(name, 100));
	if (!ui->latency->on && !ui->latency->recorded && !ui->ended)
		snprintf(sentence, sizeof(sentence), "No calls are measured.");
	else if (ui->latency->recorded || l->query.from_ns > ui->latency->begin_ns)
		snprintf(sentence, sizeof(sentence),
			"No call of %s began in this window. ] widens it.", method);
	else
		snprintf(sentence, sizeof(sentence), "No call of %s has been seen yet, in %.0f s.",
			method, seconds);
	text.row = canvas_wrapped(ui->canvas, text, 0, STYLE_NORMAL, sentence) + 1;
	snprintf(sentence, sizeof(sentence),
		"A call is seen when one of the polls, every %s, finds a thread inside it. Long "
		"calls appear at the next refresh; calls that are shorter than this interval, or "
		"rare, take longer. If the method is not called now, repeat the slow operation. "
		"Esc "
		"goes back.",
		calls_duration_text(calls_interval(ui->profile), interval));
	for (unsigned i = 0; i <= l->note_count && ui->latency->on; i++) {
		text.rows = area.row + area.rows - text.row;
		if (text.rows > 0)
			text.row = canvas_wrapped(ui->canvas, text, 0, STYLE_DIM,
					   i ? l->notes[i - 1].sentence : sentence) +
				   1;
	}
}
