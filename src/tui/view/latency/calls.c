/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single calls: the list of the slowest, the timeline of one of them, and the call tree of a range beside the
 * other calls.
 */
#include "tui/view/latency/inside.h"

#include "base/buf.h"
#include "base/clock.h"
#include "tui/screen/name.h"
#include "tui/screen/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLS_BAR   110 /* from this width on, rows have a bar, and more of the thread's name */
#define COLS_ALL   60  /* narrower ones have no threads, and phases no beginnings */
#define BAR_COLS   30
#define CLOCK_COL  1
#define CLOCK_COLS 14

/* Columns of the list; an end is the column after the last one. */
struct places {
	int thread, duration_end, error_end, shares;
};

static struct places places_of(struct area area)
{
	struct places at = {.thread = area.col + CLOCK_COL + CLOCK_COLS};
	int thread_cols = area.cols >= COLS_BAR ? 28 : area.cols >= COLS_ALL ? 18 : 0;

	at.duration_end = at.thread + thread_cols + (thread_cols ? 11 : 8);
	at.error_end = at.duration_end + 8;
	at.shares = at.error_end + 4;
	return at;
}

/* "2.31 s", ">2.31 s" of a call in progress. */
static const char *duration(const struct call *call, char out[CALLS_TEXT + 1])
{
	char text[CALLS_TEXT];

	snprintf(out, CALLS_TEXT + 1, "%s%s", call->end_to == UINT64_MAX ? ">" : "",
		calls_duration_text(call_duration_ns(call), text));
	return out;
}

/* --- the list ------------------------------------------------------------------------------------ */

static void draw_call(const struct ui *ui, int row, struct area area, const struct latency_call *c)
{
	struct canvas *canvas = ui->canvas;
	struct places at = places_of(area);
	int end = area.col + area.cols - 1, thread_cols = at.duration_end - at.thread - 10;
	char text[CALLS_TEXT + 1], thread[80];
	double shares[CALL_STATES];

	canvas_text(canvas, row, area.col + CLOCK_COL, end, STYLE_NORMAL,
		calls_clock_text(ui->profile, c->call.begin_to, text));
	name_middle(thread, sizeof(thread), c->thread, thread_cols, ui->glyphs->ellipsis);
	if (thread_cols > 0)
		canvas_text(canvas, row, at.thread, end, STYLE_NORMAL, thread);
	canvas_right(
		canvas, row, at.thread, at.duration_end, STYLE_STRONG, duration(&c->call, text));
	canvas_right(canvas, row, at.duration_end, at.error_end, STYLE_DIM,
		calls_duration_text(call_error_ns(&c->call), text));
	canvas_text(canvas, row, at.error_end + 1, end, STYLE_DIM,
		c->call.inlined     ? "i"
		: c->call.uncertain ? "?"
				    : "");
	call_shares(&c->call, shares);
	if (area.cols >= COLS_BAR) {
		bar_shares(ui, row, at.shares, at.shares + BAR_COLS, shares);
		at.shares += BAR_COLS + 2;
	}
	bar_numbers(ui, row, at.shares, end, shares);
}

void calls_draw_list(const struct ui *ui, struct area area)
{
	struct latency *l = latency_state(ui);
	struct list *list = &l->view.list;
	struct canvas *c = ui->canvas;
	struct places at = places_of(area);
	int end = area.col + area.cols;

	list_resize(list, (int)l->row_count, area.rows > 1 ? area.rows - 1 : 0);
	if (area.rows < 2)
		return;
	canvas_fill(c, area.row, area.col, end, STYLE_COLUMNS, ' ');
	canvas_text(c, area.row, area.col + CLOCK_COL, end, STYLE_COLUMNS,
		l->range ? "CALLS" : "SLOWEST CALLS");
	if (area.cols >= COLS_ALL)
		canvas_text(c, area.row, at.thread, end, STYLE_COLUMNS, "THREAD");
	canvas_right(c, area.row, at.thread, at.duration_end, STYLE_COLUMNS, "DURATION");
	canvas_right(c, area.row, area.col, at.error_end, STYLE_COLUMNS, ui->glyphs->plus_minus);
	canvas_text(c, area.row, at.shares, end, STYLE_COLUMNS, "WHERE ITS TIME WENT");
	for (int i = 0; i < list->rows && list->top + i < list->count; i++) {
		int index = list->top + i, row = area.row + 1 + i;

		draw_call(ui, row, area, &l->rows[index]);
		canvas_list_row(c, row, area.col, end, index, index == list->cursor);
	}
}

/* --- the timeline -------------------------------------------------------------------------------- */

/* The range of time that a timeline covers: the call may have begun, or ended, anywhere beyond its first, or last, phase. */
static void timeline_range(const struct call *call, uint64_t *from_ns, uint64_t *to_ns)
{
	*from_ns = call->begin_from;
	*to_ns = call->end_to == UINT64_MAX ? call->end_from : call->end_to;
	if (*to_ns <= *from_ns)
		*to_ns = *from_ns + 1;
}

/* The state with most of the time of each column. */
static void timeline_columns(const struct latency_call *call, uint8_t *states, int count)
{
	double(*time)[CALL_STATES + 1] = xcalloc((size_t)count, sizeof(*time));
	uint64_t from_ns, to_ns;
	double scale;

	timeline_range(&call->call, &from_ns, &to_ns);
	scale = count / (double)(to_ns - from_ns);
	for (uint32_t i = 0; i < call->phase_count; i++) {
		const struct call_phase *p = &call->phases[i];
		double from = p->from_ns > from_ns ? (double)(p->from_ns - from_ns) * scale : 0;
		double to = p->to_ns > from_ns ? (double)(p->to_ns - from_ns) * scale : 0;

		for (int at = (int)from; at < count && at < to; at++)
			time[at][p->state] += (to < at + 1 ? to : at + 1) - (from > at ? from : at);
	}
	for (int at = 0; at < count; at++) {
		double best = 0.5; /* less than half of a column is known */

		states[at] = CALL_STATES;
		for (unsigned s = 0; s < CALL_STATES; s++)
			best -= time[at][s];
		best = best > 0 ? best : 0;
		for (unsigned s = 0; s < CALL_STATES; s++)
			if (time[at][s] > best) {
				best = time[at][s];
				states[at] = (uint8_t)s;
			}
	}
	free(time);
}

/* Below the bar: the place of the selected phase, and the ends of the bar. */
static void draw_scale(
	const struct ui *ui, int row, int col, int count, const struct latency_call *call)
{
	int at = latency_state(ui)->view.list.cursor, from, to;
	struct canvas *c = ui->canvas;
	char text[CALLS_TEXT], end[CALLS_TEXT + 1];
	uint64_t from_ns, to_ns;
	double scale;

	timeline_range(&call->call, &from_ns, &to_ns);
	scale = count / (double)(to_ns - from_ns);
	if (at < (int)call->phase_count && call->phases[at].from_ns >= from_ns) {
		from = (int)((double)(call->phases[at].from_ns - from_ns) * scale);
		to = (int)((double)(call->phases[at].to_ns - from_ns) * scale);
		to = to > from ? to : from + 1;
		canvas_fill(c, row, col + from, col + (to < count ? to : count), STYLE_KEY, '^');
	}
	canvas_text(c, row, col, col + count, STYLE_DIM, "0 ");
	snprintf(end, sizeof(end), " %s", calls_duration_text(to_ns - from_ns, text));
	canvas_right(c, row, col, col + count, STYLE_DIM, end);
}

/* Columns of the phases. */
struct phase_places {
	int at_end, for_end, state, where;
};

static struct phase_places phase_places(struct area area)
{
	int at_end = area.col + (area.cols >= COLS_ALL ? 10 : 0);

	return (struct phase_places){at_end, at_end + 10, at_end + 12, at_end + 25};
}

static void draw_phase(const struct ui *ui, int row, struct area area,
	const struct latency_call *call, const struct call_phase *p)
{
	struct canvas *c = ui->canvas;
	struct phase_places at = phase_places(area);
	int end = area.col + area.cols - 1;
	uint64_t ns = p->to_ns - p->from_ns, begin = call->call.begin_from;
	char text[400], number[CALLS_TEXT];
	bool bound = !ns; /* only the last poll found it there */

	if (bound && call->call.end_to != UINT64_MAX)
		ns = call->call.end_to - p->from_ns;
	if (at.at_end > area.col)
		canvas_right(c, row, area.col, at.at_end, STYLE_NORMAL,
			calls_duration_text(p->from_ns > begin ? p->from_ns - begin : 0, number));
	snprintf(text, sizeof(text), "%s%s", bound ? "<" : "", calls_duration_text(ns, number));
	canvas_right(c, row, at.at_end, at.for_end, STYLE_STRONG, ns ? text : "");
	canvas_text(c, row, at.state, end, bar_style(p->state), call_state_names[p->state]);
	ui_fit_method(ui, p->method, ui->names, end - at.where, text, sizeof(text));
	at.where = canvas_text(c, row, at.where, end, STYLE_NORMAL, text);
	if (p->lock != PROFILE_NONE || p->owner != PROFILE_NONE)
		canvas_text(c, row, at.where + 2, end, STYLE_DIM,
			calls_lock_text(ui->profile, p, text));
}

static void draw_phases(const struct ui *ui, struct area area, const struct latency_call *call)
{
	struct list *list = &latency_state(ui)->view.list;
	struct phase_places at = phase_places(area);
	struct canvas *c = ui->canvas;
	int end = area.col + area.cols;

	list_resize(list, (int)call->phase_count, area.rows > 1 ? area.rows - 1 : 0);
	if (area.rows < 2)
		return;
	canvas_fill(c, area.row, area.col, end, STYLE_COLUMNS, ' ');
	if (at.at_end > area.col)
		canvas_right(c, area.row, area.col, at.at_end, STYLE_COLUMNS, "AT");
	canvas_right(c, area.row, at.at_end, at.for_end, STYLE_COLUMNS, "FOR");
	canvas_text(c, area.row, at.state, end, STYLE_COLUMNS, "STATE");
	canvas_text(c, area.row, at.where, end, STYLE_COLUMNS, "WHERE");
	if (!call->phase_count)
		canvas_text(c, area.row + 1, area.col + 1, end, STYLE_DIM,
			"Newer polls have overwritten those of this call.");
	for (int i = 0; i < list->rows && list->top + i < list->count; i++) {
		int index = list->top + i, row = area.row + 1 + i;

		draw_phase(ui, row, area, call, &call->phases[index]);
		canvas_list_row(c, row, area.col, end, index, index == list->cursor);
	}
}

void calls_draw_timeline(const struct ui *ui, struct area area)
{
	const struct latency_call *call = &latency_state(ui)->open;
	int row = area.row, col = area.col + 1, count = area.cols - 2, gap = area.rows > 16;
	struct canvas *c = ui->canvas;
	char clock[CALLS_TEXT], length[CALLS_TEXT + 1], error[CALLS_TEXT], number[TEXT_NUMBER];
	double shares[CALL_STATES];
	struct strip s = {0};
	uint8_t *states;

	strip_add(&s, STYLE_STRONG, 0, "%s %s %s", duration(&call->call, length),
		ui->glyphs->plus_minus, calls_duration_text(call_error_ns(&call->call), error));
	strip_add(&s, STYLE_NORMAL, 1, "%s", call->thread);
	strip_add(&s, STYLE_NORMAL, 0, "%s",
		calls_clock_text(ui->profile, call->call.begin_to, clock));
	strip_add(&s, STYLE_DIM, 2, "%s", text_counted(number, call->call.polls, "poll"));
	if (call->call.end_to == UINT64_MAX)
		strip_add(&s, STYLE_WARN, 1, " in progress ");
	if (call->call.inlined)
		strip_add(&s, STYLE_WARN, 1, " inlined: may be several calls ");
	if (call->call.uncertain)
		strip_add(&s, STYLE_WARN, 1, " may be several calls ");
	strip_draw(&s, c, row++, col, col + count);
	call_shares(&call->call, shares);
	bar_numbers(ui, row++, col, col + count, shares);
	row += gap;
	if (count > 0) {
		states = xcalloc((size_t)count, 1);
		timeline_columns(call, states, count);
		bar_columns(ui, row, col, states, count);
		free(states);
		draw_scale(ui, row + 1, col, count, call);
	}
	row += 2 + gap;
	draw_phases(ui, (struct area){row, area.col, area.row + area.rows - row, area.cols}, call);
}

/* --- the call tree ------------------------------------------------------------------------------- */

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

const struct calls_node *calls_selected_node(const struct latency *l)
{
	int at = l->view.list.cursor;

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

void calls_draw_tree(const struct ui *ui, struct area area)
{
	struct latency *l = latency_state(ui);
	struct list *list = &l->view.list;
	struct canvas *c = ui->canvas;
	struct tree_columns at = columns_of(area);
	int end = area.col + area.cols, row = area.row;
	char text[200];

	list_resize(list, l->both ? (int)l->both->count : 0, area.rows > 1 ? area.rows - 1 : 0);
	if (!l->both) {
		canvas_text(c, row, area.col + 1, end, STYLE_DIM,
			"No calls in this range, or no others to compare them with.");
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
