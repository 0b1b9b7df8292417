/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about a session and its events. */
#include "export/facts.h"

#include "base/clock.h"
#include "export/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct facts {
	export_fact_fn *fn;
	void *ctx;
	struct buf value; /* of the current fact */
};

static void facts_report(struct facts *f, const char *key)
{
	f->fn(f->ctx, key, buf_str(&f->value));
	buf_clear(&f->value);
}

static void facts_text(struct facts *f, const char *key, const char *text)
{
	if (!text || !*text)
		return;
	export_clean(&f->value, text, 0, 0);
	facts_report(f, key);
}

/* 0 is unknown. */
static void facts_number(struct facts *f, const char *key, uint64_t n)
{
	if (!n)
		return;
	buf_printf(&f->value, "%" PRIu64, n);
	facts_report(f, key);
}

static void facts_seconds(struct facts *f, const char *key, uint64_t ns)
{
	if (!ns)
		return;
	export_decimal(&f->value, (double)ns / (double)NS_PER_S, 3);
	facts_report(f, key);
}

void export_facts(const struct export_options *o, export_fact_fn *fn, void *ctx)
{
	const struct export_meta *m = &o->meta;
	const struct vitals *v = m->vitals;
	time_t start = (time_t)(m->start_wall_ns / NS_PER_S);
	struct facts f = {fn, ctx, {0}};
	char text[40];
	struct tm tm;

	facts_text(&f, "title", o->title);
	facts_text(&f, "host", m->host);
	facts_number(&f, "pid", m->pid > 0 ? (uint64_t)m->pid : 0);
	facts_text(&f, "name", m->name);
	facts_text(&f, "command", v ? v->command : NULL);
	facts_text(&f, "jdk", m->jdk);
	facts_text(&f, "jvm", v ? v->vm : NULL);
	if (m->start_wall_ns && gmtime_r(&start, &tm) &&
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
		facts_text(&f, "start", text);
	facts_seconds(&f, "duration_s", m->duration_ns);
	facts_seconds(&f, "own_cpu_s", v && v->cost_ns > 0 ? (uint64_t)v->cost_ns : 0);
	struct buf key = {0};
	for (int i = 0; i < m->label_count; i++) {
		const char *value = strchr(m->labels[i], '=');
		char *name = xstrndup(m->labels[i], (size_t)(value - m->labels[i]));
		buf_clear(&key);
		buf_adds(&key, "label.");
		export_clean(&key, name, 0, 0);
		facts_text(&f, key.data, value + 1);
		free(name);
	}
	buf_done(&key);
	buf_done(&f.value);
}

void export_event_facts(const struct profile *p, const struct export_options *o, int event,
	export_fact_fn *fn, void *ctx)
{
	const struct export_event e = export_event_of(o, event);
	const struct profile_event *info = profile_get_event(p, event);
	struct profile_query q = o->query;
	struct facts f = {fn, ctx, {0}};

	q.event = event;
	struct profile_sum sum = profile_sum(p, &q);
	facts_text(&f, "event", info->name);
	facts_text(&f, "unit", info->unit);
	facts_text(&f, "engine", e.engine);
	facts_number(&f, "interval", e.interval);
	facts_number(&f, "interval_most", e.interval_most > e.interval ? e.interval_most : 0);
	facts_number(&f, "samples", sum.count);
	facts_number(&f, "value", sum.weight);
	facts_number(&f, "lost", e.lost);
	if (sum.weight) { /* the share without inlining info in percent, also when it is 0 */
		export_decimal(&f.value,
			100 * (double)profile_no_inlining(p, &q).weight / (double)sum.weight, 1);
		facts_report(&f, "coarse_pct");
	}
	buf_done(&f.value);
}

struct export_measure export_measure_of(const struct profile *p, int event)
{
	static const struct export_measure measures[EVENT_USER_FIRST] = {
		[EVENT_CPU] = {"samples", "cpu", NULL},
		[EVENT_ALLOC] = {"samples", "alloc_space", NULL},
		[EVENT_LOCK] = {"contentions", "delay", NULL},
		[EVENT_WALL] = {"samples", "wall", NULL},
	};
	const struct profile_event *info = profile_get_event(p, event);
	struct export_measure m = {"samples", info->name, NULL};

	if (event < EVENT_USER_FIRST)
		m = measures[event];
	m.unit = !strcmp(info->unit, "ns")      ? "nanoseconds"
		 : !strcmp(info->unit, "bytes") ? "bytes"
						: "count";
	return m;
}
