/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metadata as (key, value) pairs, the same list for all formats that can store it. import/feed.c
 * reads them back.
 *
 * Values are clean text (base/clean.h), valid during the call. Unknown facts are left out. One
 * thread.
 */
#ifndef JHOT_EXPORT_FACTS_H
#define JHOT_EXPORT_FACTS_H

#include "export/export.h"

typedef void export_fact_fn(void *ctx, const char *key, const char *value);

/*
 * Facts about the process and the session: host, pid, name, command, jdk, start, duration_s,
 * own_cpu_s, label.NAME ...
 */
void export_facts(const struct export_options *o, export_fact_fn *fn, void *ctx);
/*
 * Facts about an event within the query: event, unit, engine, interval, samples, value, lost,
 * coarse_pct (no inlining info).
 */
void export_event_facts(const struct profile *p, const struct export_options *o, int event,
	export_fact_fn *fn, void *ctx);

/* Conventional names (pprof, OTLP) of the two values of a sample: its count and its weight. */
struct export_measure {
	const char *count, *weight;
	const char *unit; /* of the weight: "nanoseconds", "bytes", "count" */
};
struct export_measure export_measure_of(const struct profile *p, int event);

#endif
