/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of the methods view: shares, their error, their change, and the hottest lines. */
#include "tui/view/methods/inside.h"

#include "base/buf.h"
#include "base/hash.h"
#include "profile/query/error.h"
#include "tui/frame/events.h"
#include "tui/frame/file.h"
#include "tui/screen/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct compare_share methods_share(const struct flat *f, const struct flat_row *row, bool total)
{
	struct compare_share s = {.sum_count = f->sum_count, .sum = f->sum};

	if (row) {
		s.count = total ? row->total_count : row->self_count;
		s.value = total ? row->total : row->self;
		s.samples = total ? row->total_samples : row->self_samples;
	}
	return s;
}

bool methods_delta(const struct methods *m, const struct flat_row *row, bool total, double *points)
{
	*points = 0;
	if (!m->before)
		return false;
	struct compare_share now = methods_share(m->flat, row, total);
	struct compare_share then =
		methods_share(m->before, flat_find(m->before, row->method), total);
	return compare_delta(&now, &then, points);
}

struct line_count {
	uint32_t method;
	int32_t line;
	uint64_t count;
};

struct lines {
	const struct profile *p;
	struct line_count *counts;
	struct hash_index index;
	uint32_t count, cap;
	uint32_t *hottest; /* per method: index of counts + 1 */
	uint32_t methods;
};

static void count_line(void *ctx, const struct profile_part *part)
{
	struct lines *l = ctx;

	if (part->stack == PROFILE_ROOT_STACK)
		return;
	const struct profile_frame *f =
		profile_get_frame(l->p, profile_get_stack(l->p, part->stack).frame);
	if (f->line <= 0)
		return;
	uint64_t hash = hash_u64((uint64_t)f->method << 32 | (uint32_t)f->line);
	uint32_t at = hash_index_find(&l->index, hash, NULL, NULL);
	if (at == HASH_NONE) {
		l->counts = xgrow(l->counts, l->count, &l->cap, sizeof(*l->counts));
		at = l->count++;
		l->counts[at] = (struct line_count){f->method, f->line, 0};
		hash_index_add(&l->index, hash, at);
	}
	l->counts[at].count += part->count;
}

struct lines *lines_new(const struct profile *p, const struct profile_query *q)
{
	struct lines *l = xcalloc(1, sizeof(*l));

	l->p = p;
	profile_each(p, q, count_line, l);
	l->methods = profile_method_count(p);
	l->hottest = xcalloc(l->methods, sizeof(*l->hottest));
	for (uint32_t i = 0; i < l->count; i++) {
		uint32_t *best = &l->hottest[l->counts[i].method];

		const struct line_count *a = &l->counts[i], *b = &l->counts[*best ? *best - 1 : i];

		/* Ties go to the first line, to avoid flicker. */
		if (!*best || a->count > b->count || (a->count == b->count && a->line < b->line))
			*best = i + 1;
	}
	return l;
}

void lines_free(struct lines *l)
{
	if (!l)
		return;
	hash_index_done(&l->index);
	free(l->counts);
	free(l->hottest);
	free(l);
}

/* SELF%, or with COLUMN_SECOND TOTAL%; likewise its error and its change. */
static void cell_share(const void *view, const void *row, struct column_cell *out)
{
	const struct methods *m = view;
	struct compare_share s = methods_share(m->flat, row, out->flags & COLUMN_SECOND);
	double percent = flat_percent(s.value, s.sum);

	if (s.count >= ERROR_FEW) {
		text_percent(out->text, percent);
		return;
	}
	/* Too few samples for a decimal. */
	out->style = STYLE_DIM;
	if (s.count)
		snprintf(out->text, COLUMN_TEXT, "~%.0f", ceil(percent));
	else
		strcpy(out->text, "-");
}

static void cell_error(const void *view, const void *row, struct column_cell *out)
{
	const struct methods *m = view;
	struct compare_share s = methods_share(m->flat, row, out->flags & COLUMN_SECOND);
	double error = error_half_width(flat_percent(s.value, s.sum) / 100, s.samples);

	out->style = STYLE_DIM;
	if (s.count < ERROR_FEW)
		strcpy(out->text, s.count ? "?" : "-");
	else
		snprintf(out->text, COLUMN_TEXT, "%.*f", error < 9.95, error); /* fits 3 columns */
}

static void cell_trend(const void *view, const void *row, struct column_cell *out)
{
	const struct flat_row *r = row;
	int64_t counts[FLAT_TREND];

	for (int i = 0; i < FLAT_TREND; i++)
		counts[i] = r->trend[i];
	out->style = r->self_count < ERROR_FEW ? STYLE_DIM : STYLE_SPARK;
	glyph_spark(out->glyphs, out->text, counts, FLAT_TREND);
}

static void cell_delta(const void *view, const void *row, struct column_cell *out)
{
	const struct methods *m = view;
	double points;

	out->style = STYLE_DIM;
	if (!m->before || !m->before->sum_count) {
		strcpy(out->text, "-");
	} else if (!methods_delta(m, row, out->flags & COLUMN_SECOND, &points)) {
		strcpy(out->text, "~");
	} else {
		snprintf(out->text, COLUMN_TEXT, "%+.1f", points);
		out->style = STYLE_NORMAL;
	}
}

static void cell_type(const void *view, const void *row, struct column_cell *out)
{
	const struct flat_row *r = row;

	out->text[0] = frame_types[r->type].letter;
	out->text[1] = '\0';
	out->style = theme_frame(r->type);
}

static void cell_name(const void *view, const void *row, struct column_cell *out)
{
	const struct methods *m = view;
	const struct flat_row *r = row;

	ui_fit_method(m->view.ui, r->method, m->view.ui->names, out->width, out->text, COLUMN_TEXT);
	if (r->total_count < ERROR_FEW)
		out->style = STYLE_DIM;
}

static void cell_line(const void *view, const void *row, struct column_cell *out)
{
	const struct lines *l = ((const struct methods *)view)->lines;
	uint32_t method = ((const struct flat_row *)row)->method;
	uint32_t at = l && method < l->methods ? l->hottest[method] : 0;

	out->style = STYLE_DIM;
	if (at)
		snprintf(out->text, COLUMN_TEXT, "%d", l->counts[at - 1].line);
}

/* The weight of its self samples: time, bytes, waiting, events. */
static void cell_amount(const void *view, const void *row, struct column_cell *out)
{
	const struct methods *m = view;
	const struct flat_row *r = row;
	const struct ui *ui = m->view.ui;

	if (r->self_count < ERROR_FEW)
		out->style = STYLE_DIM;
	if (r->self)
		events_value(out->text, profile_get_event(ui->profile, ui->scope.event), r->self);
	else
		strcpy(out->text, "-");
}

static const struct column plain[] = {
	{"SELF%", 1, 5, 0, 0, SORT_SELF, cell_share},
	{"±", 2, 3, 0, 52, -1, cell_error},
	{"TOTAL%", 1, 6, COLUMN_SECOND, 46, SORT_TOTAL, cell_share},
	{"DELTA", 2, 5, COLUMN_OVER_TIME, METHODS_DELTA_COLS, SORT_DELTA, cell_delta},
	{"TREND 8s", 2, 8, COLUMN_LEFT | COLUMN_OVER_TIME, 60, -1, cell_trend},
	{"AMOUNT", 1, 6, 0, METHODS_AMOUNT_COLS, -1, cell_amount},
	{"LINE", 2, 5, 0, METHODS_DELTA_COLS, -1, cell_line},
	{"T", 2, 1, COLUMN_LEFT, 0, -1, cell_type},
	{"METHOD", 1, 0, COLUMN_LEFT, 0, SORT_NAME, cell_name},
};

/* Sorted by TOTAL%: ± is the error of that column, and follows it. */
static const struct column by_total[] = {
	{"SELF%", 1, 5, 0, 0, SORT_SELF, cell_share},
	{"TOTAL%", 1, 6, COLUMN_SECOND, 46, SORT_TOTAL, cell_share},
	{"±", 2, 3, COLUMN_SECOND, 52, -1, cell_error},
	{"DELTA", 2, 5, COLUMN_OVER_TIME, METHODS_DELTA_COLS, SORT_DELTA, cell_delta},
	{"TREND 8s", 2, 8, COLUMN_LEFT | COLUMN_OVER_TIME, 60, -1, cell_trend},
	{"AMOUNT", 1, 6, 0, METHODS_AMOUNT_COLS, -1, cell_amount},
	{"LINE", 2, 5, 0, METHODS_DELTA_COLS, -1, cell_line},
	{"T", 2, 1, COLUMN_LEFT, 0, -1, cell_type},
	{"METHOD", 1, 0, COLUMN_LEFT, 0, SORT_NAME, cell_name},
};

/* With a difference: each delta next to its value; the trend only on wide screens. */
static const struct column differing[] = {
	{"SELF%", 1, 5, 0, 0, SORT_SELF, cell_share},
	{"±", 2, 3, 0, 60, -1, cell_error},
	{"DELTA", 1, 6, 0, 0, SORT_DELTA, cell_delta},
	{"TOTAL%", 1, 6, COLUMN_SECOND, 52, SORT_TOTAL, cell_share},
	{"DELTA", 1, 6, COLUMN_SECOND, 52, SORT_TOTAL_DELTA, cell_delta},
	{"TREND 8s", 2, 8, COLUMN_LEFT | COLUMN_OVER_TIME, METHODS_DELTA_COLS, -1, cell_trend},
	{"T", 2, 1, COLUMN_LEFT, 0, -1, cell_type},
	{"METHOD", 1, 0, COLUMN_LEFT, 0, SORT_NAME, cell_name},
};

struct columns methods_columns(const struct ui *ui)
{
	const struct methods *m = (const struct methods *)ui->states[VIEW_METHODS];
	struct columns columns = compare_on(ui) ? COLUMNS(differing) : COLUMNS(plain);

	if (!compare_on(ui) && m->view.order.sort == SORT_TOTAL)
		columns = COLUMNS(by_total);
	columns.timeless = !file_has_time(ui);
	return columns;
}
