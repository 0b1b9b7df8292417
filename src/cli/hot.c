/* SPDX-License-Identifier: Apache-2.0 */
/* Columns as in the live view: SELF% with its error, TOTAL%, the type's letter, the method. */
#include "cli/hot.h"

#include "base/buf.h"
#include "base/clock.h"
#include "cli/units.h"
#include "profile/flat.h"

#include <stdlib.h>

#define HOT_ROWS    30
#define HOT_THREADS 15

static int hot_compare(const void *pa, const void *pb)
{
	const struct flat_row *a = pa, *b = pb;

	if (a->self != b->self)
		return a->self < b->self ? 1 : -1;
	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	return a->method < b->method ? -1 : a->method > b->method;
}

static double hot_pct(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* "10 ms", "512k" */
static const char *hot_interval(int event, int64_t interval, char *out, size_t bytes)
{
	if (!profile_events[event].weight_is_time)
		return units_bytes((uint64_t)interval, out, bytes);
	if (interval >= 1000000)
		snprintf(out, bytes, "%g ms", (double)interval / 1e6);
	else
		snprintf(out, bytes, "%g us", (double)interval / 1e3);
	return out;
}

static void hot_head(
	FILE *out, const struct outputs_source *source, int event, const struct flat *flat)
{
	const struct vitals *v = source->vitals;
	const struct vitals_event *e = &v->events[event];
	char interval[32];

	fprintf(out, "%d %s", v->pid, v->name);
	if (v->jdk[0])
		fprintf(out, "  JDK %s", v->jdk);
	fprintf(out, "\n%s", profile_events[event].name);
	if (e->engine[0])
		fprintf(out, "/%s", e->engine);
	if (e->interval > 0)
		fprintf(out, " every %s",
			hot_interval(event, e->interval, interval, sizeof(interval)));
	fprintf(out, ", %.1f s: %llu samples, %lld lost\n",
		(double)source->duration_ns / (double)NS_PER_S, (unsigned long long)flat->sum_count,
		(long long)e->lost);
	if (e->note[0])
		fprintf(out, "note: %s\n", e->note);
	if (v->walker_note[0])
		fprintf(out, "note: %s\n", v->walker_note);
}

static void hot_methods(FILE *out, const struct profile *p, const struct flat *flat)
{
	fprintf(out, "\n SELF%%     ±  TOTAL%%  T METHOD\n");
	for (uint32_t i = 0; i < flat->count && i < HOT_ROWS; i++) {
		const struct flat_row *row = &flat->rows[i];

		if (!row->self && i)
			break;
		fprintf(out, "%6.1f %5.1f  %6.1f  %c %s\n", hot_pct(row->self, flat->sum),
			flat_half_width(row->self_count, flat->sum_count),
			hot_pct(row->total, flat->sum), frame_types[row->type].letter,
			profile_get_method(p, row->method)->full);
	}
}

/* --- threads ----------------------------------------------------------------------------------------- */

struct hot_thread {
	uint32_t thread;
	uint64_t value;
};

struct hot_threads {
	struct hot_thread *rows;
	uint32_t count;
	bool by_weight;
};

static void hot_add_thread(
	void *ctx, uint32_t stack, uint32_t thread, uint64_t count, uint64_t weight)
{
	struct hot_threads *t = ctx;

	if (thread < t->count)
		t->rows[thread].value += t->by_weight ? weight : count;
}

static int hot_compare_threads(const void *pa, const void *pb)
{
	const struct hot_thread *a = pa, *b = pb;

	if (a->value != b->value)
		return a->value < b->value ? 1 : -1;
	return a->thread < b->thread ? -1 : 1;
}

static void hot_print_threads(
	FILE *out, const struct profile *p, const struct profile_query *q, const struct flat *flat)
{
	struct hot_threads t = {.count = profile_thread_count(p), .by_weight = q->by_weight};

	t.rows = xcalloc(t.count, sizeof(*t.rows));
	for (uint32_t i = 0; i < t.count; i++)
		t.rows[i].thread = i;
	profile_each(p, q, hot_add_thread, &t);
	qsort(t.rows, t.count, sizeof(*t.rows), hot_compare_threads);
	fprintf(out, "\n SHARE%%  THREAD\n");
	for (uint32_t i = 0; i < t.count && i < HOT_THREADS && t.rows[i].value; i++) {
		const struct profile_thread *thread = profile_get_thread(p, t.rows[i].thread);

		fprintf(out, "%6.1f  %s (tid %d)\n", hot_pct(t.rows[i].value, flat->sum),
			thread->name, thread->tid);
	}
	free(t.rows);
}

void hot_print(
	FILE *out, const struct outputs_source *source, int event, bool by_weight, bool threads)
{
	struct profile_query q = {
		.event = event,
		.from = 0,
		.to = UINT32_MAX,
		.thread = PROFILE_ANY_THREAD,
		.by_weight = by_weight || (event != EVENT_CPU && event != EVENT_WALL),
	};
	struct flat *flat = flat_new(source->profile, &q);

	hot_head(out, source, event, flat);
	qsort(flat->rows, flat->count, sizeof(*flat->rows), hot_compare);
	if (!flat->sum_count)
		fprintf(out, "\nNothing was sampled: the JVM %s.\n",
			event == EVENT_CPU
				? "used no CPU time (-e wall shows what its threads wait for)"
				: "had no such event");
	else
		hot_methods(out, source->profile, flat);
	if (threads && flat->sum_count)
		hot_print_threads(out, source->profile, &q, flat);
	flat_free(flat);
}
