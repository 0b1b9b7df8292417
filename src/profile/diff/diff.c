/* SPDX-License-Identifier: Apache-2.0 */
/* From recordings to one profile of both sides, and the order of the rows. */
#include "profile/diff/inside.h"

#include "base/buf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FINE      1000 /* of values that are numbers of samples */
#define GRAPH_ALL 1e9  /* of both sides: fits into a sample's number */

/* --- whether there is anything to compare ------------------------------------------------------------- */

static int check_sides(
	const struct diff_question *q, struct diff_merged *merged[DIFF_SIDES], struct err *err)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		double sum = 0;

		for (int run = 0; run < q->counts[side]; run++) {
			sum += merged[side][run].all.value;
			if (q->mode == DIFF_RATE && q->runs[side][run].seconds <= 0)
				return err_set(err, ERR_INPUT,
					"A recording does not tell how long it took, so there are "
					"no "
					"rates to compare.");
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

/* What a value of a recording is in the mode's unit: times this. */
static double factor_of(
	const struct diff_question *q, const struct diff_merged *m, int side, int run)
{
	switch (q->mode) {
	case DIFF_RATE: return 1 / q->runs[side][run].seconds;
	case DIFF_SHARE: return m->all.value > 0 ? 1 / m->all.value : 0;
	default: return 1;
	}
}

static void feed_run(
	struct diff *d, const struct diff_merged *m, int side, uint32_t thread, double factor)
{
	int event = d->query_all.event;

	for (uint32_t i = 0; i < m->part_count; i++) {
		const struct diff_part *part = &m->parts[i];
		struct profile_sample s = {.stack = part->stack, .thread = thread};

		s.count = part->count < UINT32_MAX ? (uint32_t)part->count : UINT32_MAX;
		s.weight = (uint64_t)(part->value * factor + 0.5);
		profile_add_sample(d->both, event, (uint32_t)side, &s);
		s.weight = (uint64_t)(part->value * factor * d->graph_scale + 0.5);
		s.count = side == DIFF_A ? (uint32_t)s.weight : 0;
		profile_add_sample(d->both, d->query_graph.event, (uint32_t)side, &s);
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
		feed_run(d, m, side, thread, factor);
		values += m->all.value * factor;
		squares += m->all.squares * factor * factor;
		d->seconds[side] += q->runs[side][run].seconds;
	}
	d->each[side] = values > 0 ? squares / values : 0;
}

/* What both call the event, and the one of graphs, which must be another number. */
static void feed_events(struct diff *d, const struct diff_run *run)
{
	const struct profile_event *event = profile_get_event(run->profile, run->query.event);
	int graph =
		run->query.event == PROFILE_EVENTS - 1 ? PROFILE_EVENTS - 2 : PROFILE_EVENTS - 1;

	d->query_all = profile_whole(run->query.event);
	d->query_graph = profile_whole(graph);
	d->query_all.by_weight = d->query_graph.by_weight = true;
	profile_event_set(
		d->both, run->query.event, event->name, event->unit, event->default_interval);
	profile_event_set(d->both, graph, event->name, event->unit, 0);
}

static void feed_both(
	struct diff *d, const struct diff_question *q, struct diff_merged *const *merged)
{
	d->fine = q->runs[DIFF_A][0].query.by_weight ? 1 : FINE;
	d->scale = (double)d->fine * (q->mode == DIFF_RATE ? mean_of(q, merged, DIFF_B, true)
					     : q->mode == DIFF_SHARE
						     ? mean_of(q, merged, DIFF_B, false)
						     : 1);
	feed_events(d, &q->runs[DIFF_A][0]);
	d->graph_scale = GRAPH_ALL / ((d->all.of[DIFF_A] + d->all.of[DIFF_B]) * d->scale);
	for (int side = 0; side < DIFF_SIDES; side++)
		feed_side(d, q, merged, side);
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
	int rc;

	d->both = profile_new();
	profile_set_budget(d->both, SIZE_MAX / 2);
	d->mode = q->mode;
	for (int side = 0; side < DIFF_SIDES; side++) {
		d->runs[side] = q->counts[side];
		merged[side] = xcalloc((size_t)q->counts[side] + 1, sizeof(*merged[side]));
		for (int run = 0; run < q->counts[side]; run++)
			diff_merge(d->both, &q->runs[side][run], &merged[side][run]);
	}
	rc = check_sides(q, merged, err);
	if (!rc) {
		diff_test(d, q, merged);
		qsort(d->rows, d->count, sizeof(*d->rows), compare_rows);
		feed_both(d, q, merged);
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
	double noise = d->noise * d->noise * (a * a / d->runs[DIFF_A] + b * b / d->runs[DIFF_B]);

	return d->limit * sqrt(a * d->each[DIFF_A] + b * d->each[DIFF_B] + noise);
}
