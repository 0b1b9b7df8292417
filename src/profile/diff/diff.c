/* SPDX-License-Identifier: Apache-2.0 */
/* Merges recordings into one profile of both sides; order of the rows; graphs. */
#include "profile/diff/inside.h"

#include "base/buf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define GRAPH_ALL 1e9 /* weight of both sides in graphs: fits into a sample's count */

const struct diff_mode_info diff_modes[DIFF_MODES] = {
	[DIFF_RATE] = {"rate", "per second"},
	[DIFF_SHARE] = {"share", "as a share of the total"},
	[DIFF_RAW] = {"raw", "as raw counts"},
};

/* --- validation --------------------------------------------------------------------------------------- */

static int check_sides(
	const struct diff_question *q, struct diff_merged *merged[DIFF_SIDES], struct err *err)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		double sum = 0;

		for (int run = 0; run < q->counts[side]; run++) {
			sum += merged[side][run].all.value;
			if (q->mode == DIFF_RATE && q->runs[side][run].seconds <= 0)
				return err_set(err, ERR_INPUT,
					"A recording does not state its duration, so there are "
					"no rates to compare.");
		}
		if (sum <= 0)
			return err_set(err, ERR_INPUT, "Side %c has no samples.", 'A' + side);
	}
	return 0;
}

/* --- one profile of both ----------------------------------------------------------------------------- */

static double mean_of(
	const struct diff_question *q, struct diff_merged *const *merged, int side, bool seconds)
{
	double sum = 0;

	for (int run = 0; run < q->counts[side]; run++)
		sum += seconds ? q->runs[side][run].seconds : merged[side][run].all.value;
	return sum / q->counts[side];
}

/* Factor from a recording's values to the mode's unit. */
static double factor_of(
	const struct diff_question *q, const struct diff_merged *m, int side, int run)
{
	switch (q->mode) {
	case DIFF_RATE: return 1 / q->runs[side][run].seconds;
	case DIFF_SHARE: return m->all.value > 0 ? 1 / m->all.value : 0;
	default: return 1;
	}
}

static void feed_side(
	struct diff *d, const struct diff_question *q, struct diff_merged *const *merged, int side)
{
	double squares = 0, values = 0;

	profile_advance(d->both, (uint32_t)side);
	d->query[side] = d->query_all;
	d->query[side].from = (uint32_t)side;
	d->query[side].to = (uint32_t)side + 1;
	for (int run = 0; run < q->counts[side]; run++) {
		const struct diff_merged *m = &merged[side][run];
		uint32_t thread = profile_thread_new(d->both);
		char name[32];
		double factor = factor_of(q, m, side, run) * d->scale / q->counts[side];

		snprintf(name, sizeof(name), "%c-%d", 'A' + side, run + 1);
		profile_thread_set(d->both, thread,
			&(struct profile_thread){.kind = THREAD_JAVA, .name = name});
		double carry =
			0.5; /* the rounding error, so that nothing is lost over a recording */
		for (uint32_t i = 0; i < m->part_count; i++) {
			const struct diff_part *part = &m->parts[i];
			struct profile_sample s = {.stack = part->stack, .thread = thread};
			carry += part->value * factor;
			s.count = part->count < UINT32_MAX ? (uint32_t)part->count : UINT32_MAX;
			s.weight = (uint64_t)carry;
			carry -= (double)s.weight;
			profile_add_sample(d->both, d->query_all.event, (uint32_t)side, &s);
		}
		values += m->all.value * factor;
		squares += m->all.squares * factor * factor;
		d->seconds[side] += q->runs[side][run].seconds;
	}
	d->each[side] = values > 0 ? squares / values : 0;
}

/* --- graphs ------------------------------------------------------------------------------------------ */

struct drawing {
	struct draw_part {
		uint32_t stack;
		uint64_t weight;
	} * list;
	uint32_t count, cap;
};

static void draw_part(void *ctx, const struct profile_part *part)
{
	struct drawing *g = ctx;

	g->list = xgrow(g->list, g->count, &g->cap, sizeof(*g->list));
	g->list[g->count++] = (struct draw_part){part->stack, part->weight};
}

void diff_draw(struct diff *d)
{
	const struct profile_event *event = profile_get_event(d->both, d->query_all.event);
	double all = d->sum;
	int last = PROFILE_EVENTS - 1;

	d->query_graph = profile_whole(d->query_all.event == last ? last - 1 : last);
	d->query_graph.by_weight = true;
	d->graph_scale = all > GRAPH_ALL ? GRAPH_ALL / all : 1;
	profile_event_set(d->both, d->query_graph.event, event->name, event->unit, 0);
	for (int side = 0; side < DIFF_SIDES; side++) {
		struct drawing g = {NULL, 0, 0};
		double carry = 0.5;

		profile_each(d->both, &d->query[side], draw_part, &g);
		for (uint32_t i = 0; i < g.count; i++) {
			struct profile_sample s = {.stack = g.list[i].stack};

			carry += (double)g.list[i].weight * d->graph_scale;
			s.weight = (uint64_t)carry;
			s.count = side == DIFF_A ? (uint32_t)carry : 0;
			carry -= (double)s.weight;
			profile_add_sample(d->both, d->query_graph.event, (uint32_t)side, &s);
		}
		free(g.list);
	}
}

/* --- the whole --------------------------------------------------------------------------------------- */

static double row_change(const struct diff_row *row)
{
	return fmax(fabs(diff_delta(&row->self)), fabs(diff_delta(&row->total)));
}

static int compare_rows(const void *pa, const void *pb)
{
	const struct diff_row *a = pa, *b = pb;
	int sure_a = a->self.sure || a->total.sure, sure_b = b->self.sure || b->total.sure;
	double x = row_change(a), y = row_change(b);

	if (sure_a != sure_b)
		return sure_b - sure_a;
	if (x != y)
		return x > y ? -1 : 1;
	return a->method < b->method ? -1 : a->method > b->method;
}

struct diff *diff_new(const struct diff_question *q, struct err *err)
{
	struct diff *d = xcalloc(1, sizeof(*d));
	struct diff_merged *merged[DIFF_SIDES];

	d->both = profile_new();
	profile_set_budget(d->both, SIZE_MAX / 2);
	d->mode = q->mode;
	for (int side = 0; side < DIFF_SIDES; side++) {
		d->runs[side] = q->counts[side];
		merged[side] = xcalloc((size_t)q->counts[side] + 1, sizeof(*merged[side]));
		for (int run = 0; run < q->counts[side]; run++)
			diff_merge(d->both, &q->runs[side][run], &merged[side][run]);
	}
	int rc = check_sides(q, merged, err);
	if (!rc) {
		diff_test(d, q, merged);
		qsort(d->rows, d->count, sizeof(*d->rows), compare_rows);
		const struct diff_run *run = &q->runs[DIFF_A][0];
		const struct profile_event *event =
			profile_get_event(run->profile, run->query.event);
		d->by_weight = run->query.by_weight;
		d->scale = q->mode == DIFF_RATE    ? mean_of(q, merged, DIFF_B, true)
			   : q->mode == DIFF_SHARE ? mean_of(q, merged, DIFF_B, false)
						   : 1;
		d->query_all = profile_whole(run->query.event);
		d->query_all.by_weight = true;
		profile_event_set(d->both, run->query.event, event->name, event->unit,
			event->default_interval);
		d->whole = q->mode == DIFF_SHARE ? d->scale : 0;
		for (int side = 0; side < DIFF_SIDES; side++)
			feed_side(d, q, merged, side);
		d->sum = (double)profile_sum(d->both, &d->query_all).weight;
	}
	for (int side = 0; side < DIFF_SIDES; side++) {
		for (int run = 0; run < q->counts[side]; run++)
			diff_merged_done(&merged[side][run]);
		free(merged[side]);
	}
	if (!rc)
		return d;
	diff_free(d);
	return NULL;
}

void diff_free(struct diff *d)
{
	if (!d)
		return;
	profile_free(d->both);
	free(d->rows);
	free(d);
}

double diff_band(const struct diff *d, double a, double b)
{
	double rest = d->whole > 0 ? fmax(0, 1 - (a + b) / (2 * d->whole)) : 1;
	double noise =
		d->noise * d->noise * rest * (a * a / d->runs[DIFF_A] + b * b / d->runs[DIFF_B]);

	/* As for methods: larger shares need fewer standard errors. */
	double limit =
		sqrt(fmax(Z95 * Z95, d->limit * d->limit - 2 * log((a + b) / d->sum / DIFF_SMALL)));

	return limit * sqrt(rest * (a * d->each[DIFF_A] + b * d->each[DIFF_B] + noise));
}
