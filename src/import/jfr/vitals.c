/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vitals per second from events about CPU time, heap, collections and threads.
 *
 * Events of a chunk are in no particular order, so readings are collected and sorted. jdk.CPULoad
 * refers to the time since the previous one, as a share of all CPUs, whose number is in
 * jdk.CPUInformation.
 */
#include "import/jfr/jfr.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

#define READINGS_MAX (1u << 24) /* per chunk */
#define CPUS_MAX     (1 << 16)
#define GC_SHARE_S   10 /* seconds over which the share of time in collections is computed */

/* A byte count, count or duration; -1 if missing or implausible. */
static int64_t amount_of(const struct jfr_record *r, enum jfr_slot slot)
{
	uint64_t value = r->has >> slot & 1 ? r->value[slot] : UINT64_MAX;

	return value <= (uint64_t)VITALS_MAX ? (int64_t)value : -1;
}

/* A load between 0 and 1, encoded as a float; -1 if invalid. */
static double share_of(const struct jfr_record *r, enum jfr_slot slot)
{
	uint32_t bits = (uint32_t)flight_value(r, slot);
	float share;

	memcpy(&share, &bits, sizeof(share));
	return r->has >> slot & 1 && share >= 0 && share <= 1 ? (double)share : -1;
}

static const struct jfr_load load_unknown = {-1, -1, -1};

/* --- reading ------------------------------------------------------------------------ */

static void reading_load(struct jfr *j, const struct jfr_record *r, struct jfr_reading *out)
{
	(void)j;
	out->load = (struct jfr_load){share_of(r, SLOT_JVM_USER), share_of(r, SLOT_JVM_SYSTEM),
		share_of(r, SLOT_MACHINE_TOTAL)};
	if (out->load.user < 0 || out->load.system < 0 || out->load.machine < 0)
		out->load = load_unknown;
}

/* GC names by the names of their collections. */
static void collector_name(char *out, size_t bytes, const char *collection)
{
	static const struct {
		const char *begin, *collector;
	} rows[] = {
		{"G1", "G1"},
		{"DefNew", "Serial"},
		{"Serial", "Serial"},
		{"PSMarkSweep", "Parallel"},
		{"Parallel", "Parallel"},
		{"ParNew", "CMS"},
		{"ConcurrentMarkSweep", "CMS"},
		{"Z", "ZGC"},
		{"Shenandoah", "Shenandoah"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strncmp(rows[i].begin, collection, strlen(rows[i].begin)))
			collection = rows[i].collector;
	feed_copy(out, bytes, collection, strlen(collection));
}

/* The JDK writes an event per collection, numbered from 0; jhot one per second, with the total count. */
static void reading_collection(struct jfr *j, const struct jfr_record *r, struct jfr_reading *out)
{
	bool several = r->has >> SLOT_COLLECTIONS & 1;
	struct vitals *v = &j->im->out->vitals;
	int64_t ticks = amount_of(r, SLOT_SUM_OF_PAUSES);

	out->count = several ? amount_of(r, SLOT_COLLECTIONS) : 1;
	out->number = amount_of(r, SLOT_GC_ID) + !several;
	out->pause_ns = ticks < 0 ? -1 : (int64_t)flight_ns(j, (uint64_t)ticks);
	if (!*v->gc_name && !flight_word(j, KNOWN_GC_NAME, SLOT_NAME, flight_value(r, SLOT_NAME)))
		collector_name(v->gc_name, sizeof(v->gc_name), buf_str(&j->text));
}

static void reading_heap(struct jfr *j, const struct jfr_record *r, struct jfr_reading *out)
{
	(void)j;
	out->used = amount_of(r, SLOT_HEAP_USED);
	out->committed = amount_of(r, SLOT_COMMITTED_SIZE);
	out->reserved = amount_of(r, SLOT_RESERVED_SIZE);
}

static void reading_threads(struct jfr *j, const struct jfr_record *r, struct jfr_reading *out)
{
	(void)j;
	out->live = amount_of(r, SLOT_ACTIVE_COUNT);
	out->daemon = amount_of(r, SLOT_DAEMON_COUNT);
}

static void reading_memory(struct jfr *j, const struct jfr_record *r, struct jfr_reading *out)
{
	(void)j;
	out->resident = amount_of(r, SLOT_SIZE);
}

static void reading_cpus(struct jfr *j, const struct jfr_record *r, struct jfr_reading *out)
{
	int64_t cpus = amount_of(r, SLOT_HW_THREADS);

	(void)out;
	if (cpus > 0 && cpus < CPUS_MAX)
		j->im->out->vitals.machine_cpus = cpus;
}

static void (*const reading_rows[KNOWN_TYPES])(
	struct jfr *j, const struct jfr_record *r, struct jfr_reading *out) = {
	[KNOWN_CPU_LOAD] = reading_load,
	[KNOWN_COLLECTION] = reading_collection,
	[KNOWN_HEAP] = reading_heap,
	[KNOWN_THREAD_COUNT] = reading_threads,
	[KNOWN_RESIDENT] = reading_memory,
	[KNOWN_CPUS] = reading_cpus,
};

int flight_reading(struct jfr *j, enum jfr_known known, struct jfr_cursor *c)
{
	struct jfr_reading reading = {.known = known, .load = load_unknown};
	struct jfr_record r;

	if (known >= KNOWN_TYPES || !reading_rows[known])
		return 0;
	if (flight_read_record(j, j->known[known], c, &r))
		return -1;
	reading.ns = flight_time(j, &r);
	reading_rows[known](j, &r, &reading);
	if (j->reading_count == READINGS_MAX)
		return flight_bad(j, 8, "the chunk has more than 16 million readings of the JVM");
	j->readings = xgrow(j->readings, j->reading_count, &j->readings_cap, sizeof(*j->readings));
	j->readings[j->reading_count++] = reading;
	return 0;
}

/* --- adding to the profile ----------------------------------------------------------------------------- */

/*
 * Sets the initial values of counters. Without any collection their count is 0 if collections were
 * recorded, else unknown.
 */
static void vitals_begin(struct jfr *j)
{
	struct vitals *v = &j->im->out->vitals;
	bool collections = j->settings[KNOWN_COLLECTION].enabled;

	for (uint32_t i = j->reading_count; i-- > 0;) {
		const struct jfr_reading *r = &j->readings[i];

		if (r->known == KNOWN_COLLECTION)
			v->gc_count = r->number > r->count ? r->number - r->count : 0;
		if (r->known == KNOWN_CPU_LOAD && v->machine_cpus > 0)
			v->cpu_user_ms = v->cpu_system_ms = v->machine_busy_ms = 0;
	}
	if (v->gc_count < 0 && collections)
		v->gc_count = 0;
	if (v->gc_count >= 0)
		v->gc_time_ns = 0;
	v->time_ns = 0;
	profile_vitals_set(j->im->p, v);
	j->vitals_seen = true;
}

/* Accumulates CPU time up to this reading. */
static void vitals_load(struct jfr *j, const struct jfr_reading *r)
{
	struct vitals *v = &j->im->out->vitals;
	double ms = (double)(r->ns - j->load_ns) / NS_PER_MS * (double)v->machine_cpus;

	v->time_ns = j->load_ns = r->ns;
	if (v->cpu_user_ms < 0 || r->load.user < 0)
		return;
	j->spent.user += r->load.user * ms;
	j->spent.system += r->load.system * ms;
	j->spent.machine += r->load.machine * ms;
	v->cpu_user_ms = (int64_t)(j->spent.user + 0.5);
	v->cpu_system_ms = (int64_t)(j->spent.system + 0.5);
	v->machine_busy_ms = (int64_t)(j->spent.machine + 0.5);
	v->cpu_pct = (int)((r->load.user + r->load.system) * (double)v->machine_cpus * 100 + 0.5);
}

static void vitals_apply(struct jfr *j, const struct jfr_reading *r)
{
	struct vitals *v = &j->im->out->vitals;

	switch (r->known) {
	case KNOWN_CPU_LOAD: vitals_load(j, r); break;
	case KNOWN_COLLECTION:
		if (v->gc_count < 0)
			v->gc_count = v->gc_time_ns = 0;
		v->gc_count += r->count > 0 ? r->count : 0;
		v->gc_time_ns += r->pause_ns > 0 ? r->pause_ns : 0;
		break;
	case KNOWN_HEAP:
		v->heap_used = r->used;
		v->heap_committed = r->committed;
		v->heap_max = r->reserved;
		break;
	case KNOWN_THREAD_COUNT:
		v->threads_live = r->live;
		v->threads_daemon = r->daemon;
		break;
	case KNOWN_RESIDENT: v->rss_bytes = r->resident; break;
	default: break;
	}
}

/* The share of time in collections in the last GC_SHARE_S seconds, or as many as there are. */
static int vitals_gc_share(const struct profile *p, const struct vitals *v, uint32_t second)
{
	const struct vitals_second *then = NULL;
	double seconds = second + 1 < GC_SHARE_S ? second + 1 : GC_SHARE_S;
	int64_t before = 0;

	if (v->gc_time_ns < 0)
		return -1;
	for (uint32_t at = second; at-- > 0 && !then && second - at < 2 * GC_SHARE_S;)
		if (second - at >= GC_SHARE_S)
			then = profile_vitals(p, at);
	if (then) {
		before = then->gc_time_ns > 0 ? then->gc_time_ns : 0;
		seconds = second - then->second;
	}
	return (int)((double)(v->gc_time_ns - before) / NS_PER_S / seconds * 1000 + 0.5);
}

static int reading_compare(const void *a, const void *b)
{
	const struct jfr_reading *x = a, *y = b;

	return x->ns != y->ns ? (x->ns < y->ns ? -1 : 1) : (int)x->known - (int)y->known;
}

/* The load of each reading is that of the next event; after the last event, that of the last one. */
void flight_vitals_sort(struct jfr *j)
{
	struct jfr_load load = load_unknown;

	if (j->reading_count)
		qsort(j->readings, j->reading_count, sizeof(*j->readings), reading_compare);
	for (uint32_t i = 0; i < j->reading_count; i++)
		if (j->readings[i].known == KNOWN_CPU_LOAD)
			load = j->readings[i].load;
	for (uint32_t i = j->reading_count; i-- > 0;) {
		if (j->readings[i].known == KNOWN_CPU_LOAD)
			load = j->readings[i].load;
		j->readings[i].load = load;
	}
}

uint32_t flight_vitals_second(const struct jfr *j, uint32_t at)
{
	return at < j->reading_count ? (uint32_t)(j->readings[at].ns / NS_PER_S) : UINT32_MAX;
}

uint32_t flight_vitals_feed(struct jfr *j, uint32_t at)
{
	struct vitals *v = &j->im->out->vitals;
	uint32_t second = flight_vitals_second(j, at);
	bool load = false;

	profile_advance(j->im->p, second);
	if (!j->vitals_seen)
		vitals_begin(j);
	for (; at < j->reading_count && flight_vitals_second(j, at) == second; at++) {
		vitals_apply(j, &j->readings[at]);
		load |= j->readings[at].known == KNOWN_CPU_LOAD;
	}
	if (!load) /* no event in this second: use the next one */
		vitals_load(j, &j->readings[at - 1]);
	v->gc_time_ms = v->gc_time_ns < 0 ? -1 : v->gc_time_ns / (int64_t)NS_PER_MS;
	v->gc_pct_x10 = vitals_gc_share(j->im->p, v, second);
	if (j->jvm_start_s)
		v->uptime_s = (int64_t)(j->first_ns / NS_PER_S + second) - (int64_t)j->jvm_start_s;
	vitals_bound(v);
	profile_vitals_set(j->im->p, v);
	return at;
}
