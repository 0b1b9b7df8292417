/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the hot methods, with the columns of the live view, and a summary of the sampling. */
#include "cli/outputs/outputs.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/java_name.h"
#include "cli/line/units.h"
#include "profile/query/error.h"
#include "profile/table/flat.h"
#include "tui/screen/text.h"

#include <stdlib.h>
#include <string.h>

#define HOT_ROWS    30
#define HOT_THREADS 15
#define HOT_SITES   15

/* "10 ms", "512k", "10000 events" */
static const char *hot_interval(
	const struct profile_event *event, int64_t interval, char *out, size_t bytes)
{
	if (!strcmp(event->unit, "bytes"))
		return text_bytes(out, interval);
	if (!event->weight_is_time)
		snprintf(out, bytes, "%lld %s", (long long)interval, event->unit);
	else if (interval >= 1000000)
		snprintf(out, bytes, "%g ms", (double)interval / 1e6);
	else
		snprintf(out, bytes, "%g us", (double)interval / 1e3);
	return out;
}

/* "cpu/perf every 10 ms to 40 ms, 20.0 s: 1203 samples, 0 lost", and a note if the event is degraded. */
static void hot_event(FILE *out, const struct outputs_source *source, const struct outputs *o,
	int id, uint64_t samples)
{
	const struct profile_event *event = profile_get_event(source->profile, id);
	const struct profile_intervals every = outputs_intervals(source, id);
	const struct vitals_event *e = &source->vitals->events[id];
	char interval[TEXT_NUMBER];

	fputs(event->name, out);
	if (e->engine[0] && strcmp(e->engine, event->name) != 0)
		fprintf(out, "/%s", e->engine);
	if (every.least > 1) /* 1: every occurrence is sampled */
		fprintf(out, " every %s",
			hot_interval(event, (int64_t)every.least, interval, sizeof(interval)));
	if (every.most > every.least)
		fprintf(out, " to %s",
			hot_interval(event, (int64_t)every.most, interval, sizeof(interval)));
	if (source->duration_ns)
		fprintf(out, ", %.1f s", (double)source->duration_ns / (double)NS_PER_S);
	fprintf(out, ": %llu sample%s, %lld lost%s\n", (unsigned long long)samples, plural(samples),
		(long long)e->lost, e->lost && (o->from || o->to) ? " in the whole recording" : "");
	if (e->note[0])
		fprintf(out, "note: %s\n", e->note);
}

static void hot_head(FILE *out, const struct outputs_source *source, const struct outputs *o,
	int id, const struct flat *flat)
{
	const struct vitals *v = source->vitals;

	if (v->pid > 0)
		fprintf(out, "%d ", v->pid);
	fputs(v->name, out);
	if (v->jdk[0])
		fprintf(out, "  JDK %s", v->jdk);
	fputc('\n', out);
	hot_event(out, source, o, id, flat->sum_count);
	if (flat->sum_count) {
		/* "1.20 GB allocated, 120 MB per second" */
		const struct profile_event *event = profile_get_event(source->profile, id);
		uint64_t weight = flat->sum;
		static const char *const what[EVENT_USER_FIRST] = {
			[EVENT_CPU] = " of CPU time",
			[EVENT_ALLOC] = " allocated",
			[EVENT_LOCK] = " of lock waits",
			[EVENT_WALL] = " of threads' time",
		};
		double seconds = (double)source->duration_ns / (double)NS_PER_S;
		char amount[32], rate[32];

		fprintf(out, "%s%s%s", units_value(weight, event->unit, amount, sizeof(amount)),
			id < EVENT_USER_FIRST   ? what[id]
			: event->weight_is_time ? ""
						: " ",
			id < EVENT_USER_FIRST || event->weight_is_time ? "" : event->unit);
		if (seconds > 0 && id != EVENT_CPU && id != EVENT_WALL)
			fprintf(out, ", %s per second",
				units_value((uint64_t)((double)weight / seconds), event->unit, rate,
					sizeof(rate)));
		fputc('\n', out);
	}
	if (v->walker_note[0])
		fprintf(out, "note: %s\n", v->walker_note);
}

static void hot_loss(FILE *out, const struct vitals *v, enum vitals_loss which, const char *title)
{
	const char *before = title;

	for (int i = 0; i < v->counter_count; i++) {
		if (v->counters[i].value <= 0 || vitals_loss(v->counters[i].name) != which)
			continue;
		fprintf(out, "%s%s %lld", before, v->counters[i].name,
			(long long)v->counters[i].value);
		before = ", ";
	}
	if (before != title)
		fputc('\n', out);
}

void hot_losses(FILE *out, const struct vitals *v)
{
	hot_loss(out, v, VITALS_LOST, "lost: ");
	hot_loss(out, v, VITALS_UNSAMPLED, "threads not sampled: ");
	hot_loss(out, v, VITALS_NO_REQUEST, "samples of too many different requests: ");
}

void hot_closing(FILE *out, const struct outputs_source *source, const struct outputs *o,
	const struct events *events)
{
	for (int i = 0; i < events->count; i++) {
		struct profile_query q = outputs_query(o, events->ids[i]);

		hot_event(out, source, o, events->ids[i], profile_sum(source->profile, &q).count);
	}
	if (source->vitals->walker_note[0])
		fprintf(out, "note: %s\n", source->vitals->walker_note);
	hot_losses(out, source->vitals);
}

/* Weights by method, thread or state. */
struct hot_shares {
	const struct profile *p;
	uint64_t *values;
	uint32_t count;
};

/* Removes the largest value and returns it with its index; 0 when none is left. */
static uint64_t hot_pop_largest(struct hot_shares *s, uint32_t *whose)
{
	uint32_t most = 0;

	for (uint32_t i = 1; i < s->count; i++)
		most = s->values[i] > s->values[most] ? i : most;
	uint64_t value = s->count ? s->values[most] : 0;
	if (value)
		s->values[most] = 0;
	*whose = most;
	return value;
}

/* --- sites ------------------------------------------------------------------------------------------- */

/* Classes that implement locks: their caller is the site of a wait. */
static const char *const lock_classes[] = {
	"java.util.concurrent.locks.", "jdk.internal.misc.", "sun.misc.", NULL};

/* Adds a stack that ends in a class to the method that allocated it or waited for it. */
static void hot_add_site(void *ctx, const struct profile_part *part)
{
	uint32_t stack = part->stack;
	struct hot_shares *s = ctx;

	for (; stack != PROFILE_ROOT_STACK; stack = profile_get_stack(s->p, stack).parent) {
		const struct profile_frame *f =
			profile_get_frame(s->p, profile_get_stack(s->p, stack).frame);

		if (frame_is_class(f->type) || f->type == FRAME_WAITS ||
			name_begins_with_any(
				profile_get_method(s->p, f->method)->class_name, lock_classes))
			continue;
		if (f->method < s->count)
			s->values[f->method] += part->weight;
		return;
	}
}

static void hot_print_sites(FILE *out, const struct profile *p, const struct profile_query *q,
	const struct flat *flat, const char *unit)
{
	struct hot_shares s = {.p = p, .count = profile_method_count(p)};
	uint32_t method;
	uint64_t value;
	char amount[32];

	s.values = xcalloc(s.count, sizeof(*s.values));
	profile_each(p, q, hot_add_site, &s);
	fprintf(out, "\n SHARE%%    AMOUNT  WHERE\n");
	for (int rows = 0; rows < HOT_SITES && (value = hot_pop_largest(&s, &method)); rows++)
		fprintf(out, "%6.1f  %9s  %s\n", flat_percent(value, flat->sum),
			units_value(value, unit, amount, sizeof(amount)),
			profile_get_method(p, method)->full);
	free(s.values);
}

/* --- threads ----------------------------------------------------------------------------------------- */

static void hot_add_thread(void *ctx, const struct profile_part *part)
{
	struct hot_shares *s = ctx;

	if (part->thread < s->count)
		s->values[part->thread] += part->weight;
}

static void hot_print_threads(
	FILE *out, const struct profile *p, const struct profile_query *q, const struct flat *flat)
{
	struct hot_shares s = {.p = p, .count = profile_thread_count(p)};
	uint32_t id;
	uint64_t value;

	s.values = xcalloc(s.count, sizeof(*s.values));
	profile_each(p, q, hot_add_thread, &s);
	fprintf(out, "\n SHARE%%  THREAD\n");
	for (int rows = 0; rows < HOT_THREADS && (value = hot_pop_largest(&s, &id)); rows++) {
		const struct profile_thread *thread = profile_get_thread(p, id);
		char label[PROFILE_LABEL];
		bool labelled = *profile_thread_label(thread, "tid ", label);

		fprintf(out, labelled ? "%6.1f  %s (%s)\n" : "%6.1f  %s\n",
			flat_percent(value, flat->sum), thread->name, label);
	}
	free(s.values);
}

/* --- states ------------------------------------------------------------------------------------------ */

static void hot_add_state(void *ctx, const struct profile_part *part)
{
	((uint64_t *)ctx)[part->state] += part->weight;
}

/* "On average a thread was 61.2 % parked, ...": only if the samples have states. */
static void hot_print_states(FILE *out, const struct profile *p, const struct profile_query *q)
{
	uint64_t states[THREAD_STATES] = {0}, sum = 0, value;
	struct hot_shares s = {p, states, THREAD_STATES};
	const char *before = "\nThread states:";
	uint32_t state;

	profile_each(p, q, hot_add_state, states);
	for (int i = 0; i < THREAD_STATES; i++)
		sum += states[i];
	if (states[THREAD_STATE_NONE] == sum)
		return;
	while ((value = hot_pop_largest(&s, &state))) {
		fprintf(out, "%s %s %.1f %%", before,
			state == THREAD_STATE_NONE ? "unknown" : thread_states[state].name,
			flat_percent(value, sum));
		before = ",";
	}
	fputc('\n', out);
}

/* Why there is no sample, continuing "the JVM ..." */
static const char *hot_nothing(int event, const struct outputs *o)
{
	if (o->filter && filter_count(o->filter))
		return "has no sample that matches --include and --exclude";
	if (event != EVENT_CPU)
		return "had no such event";
	if (o->kernel_only)
		return "used no CPU time in the kernel (without -k, user space is sampled, too)";
	if (o->user_only)
		return "used no CPU time in user space (without -u, the kernel is sampled, too)";
	return "used no CPU time (-e wall shows what its threads wait for)";
}

void hot_print(FILE *out, const struct outputs_source *source, const struct profile_query *query,
	const struct outputs *o)
{
	const char *unit = profile_get_event(source->profile, query->event)->unit;
	struct profile_query q = *query;
	int event = query->event;

	q.by_weight = true;
	struct flat *flat = flat_new(source->profile, &q);
	hot_head(out, source, o, event, flat);
	qsort(flat->rows, flat->count, sizeof(*flat->rows), flat_compare);
	if (flat->sum_count) {
		char amount[32];

		fprintf(out, "\n SELF%%     ±  TOTAL%%      SELF  T METHOD\n");
		for (uint32_t i = 0; i < flat->count && i < HOT_ROWS; i++) {
			const struct flat_row *row = &flat->rows[i];

			if (!row->self && i)
				break;
			fprintf(out, "%6.1f %5.1f  %6.1f  %8s  %c %s\n",
				flat_percent(row->self, flat->sum),
				error_half_width(flat_percent(row->self, flat->sum) / 100,
					row->self_samples),
				flat_percent(row->total, flat->sum),
				units_value(row->self, unit, amount, sizeof(amount)),
				frame_types[row->type].letter,
				profile_get_method(source->profile, row->method)->full);
		}
		if (event == EVENT_ALLOC || (event == EVENT_LOCK && !q.holders))
			hot_print_sites(out, source->profile, &q, flat, unit);
		hot_print_states(out, source->profile, &q);
		if (o->options.threads)
			hot_print_threads(out, source->profile, &q, flat);
	} else {
		fprintf(out, "\nNo samples: the JVM %s.\n", hot_nothing(event, o));
	}
	flat_free(flat);
}
