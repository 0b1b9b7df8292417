/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a file says of where its samples come from, as pairs of words: one list for all formats that have space for it.
 *
 * Values are clean texts; what is not known is left out.
 */
#ifndef JHOT_EXPORT_FACTS_H
#define JHOT_EXPORT_FACTS_H

#include "export/export.h"

typedef void export_fact_fn(void *ctx, const char *key, const char *value);

/* Of the process and the session: host, pid, name, command, jdk, start, duration_s, own_cpu_s, label.NAME ... */
void export_facts(const struct export_options *o, export_fact_fn *fn, void *ctx);
/* Of an event, as far as the query goes: event, unit, engine, interval, samples, value, lost, coarse_pct. */
void export_event_facts(const struct profile *p, const struct export_options *o, int event,
	export_fact_fn *fn, void *ctx);

/* What the two values of a sample are called where a file names them: how often it was seen, and what that stands for. */
struct export_measure {
	const char *count, *weight;
	const char *unit; /* of the weight: "nanoseconds", "bytes", "count" */
};
struct export_measure export_measure_of(const struct profile *p, int event);

#endif
