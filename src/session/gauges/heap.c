/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heap, collections and safepoints from hsperfdata, with the names of counters of JDK 8 to 27; missing ones stay
 * unknown (-1). Collectors differ in their counters and in the meaning of a generation's maximum.
 */
#include "session/gauges/gauges.h"

#include "attach/jvm/heap.h"

#include <stdio.h>
#include <string.h>

/* Since this JDK, safepointTime excludes the time until all threads have stopped. */
#define SYNC_APART_JDK 14

/*
 * Indexed by the prefix of the first sun.gc.collector.N.name. whole: invocations of each collector per collection of the
 * whole heap (ZGC counts its three pauses, G1 the two of its marking, Shenandoah four parts of four pauses); 0: not whole
 * collections. For generational ZGC, eight young collections (24 pauses) count as a whole one, since old ones may never
 * happen. uncounted: replaces `whole` for G1 without a counter of marking (JDK 8).
 */
struct gauges_collector {
	const char *prefix, *name;
	int whole[GAUGES_COLLECTORS], uncounted;
};
static const struct gauges_collector gauges_collectors[] = {
	{"G1", "G1", {0, 1, 2}, 8},
	{"ZGC", "ZGC", {24, 0, 3}, 0},
	{"Z ", "ZGC", {0, 0, 3}, 0},
	{"Shenandoah", "Shenandoah", {0, 16, 0}, 0},
	{"Parallel", "Parallel", {0, 1, 0}, 0},
	{"PS", "Parallel", {0, 1, 0}, 0},
	{"Serial", "Serial", {0, 1, 0}, 0},
	{"Copy", "Serial", {0, 1, 0}, 0},
	{"PCopy", "CMS", {0, 1, 0}, 0},
	{"ParNew", "CMS", {0, 1, 0}, 0},
	{"Epsilon", "Epsilon", {0, 0, 0}, 0},
};

/* The row of the JVM's collector; NULL: unknown. */
static const struct gauges_collector *gauges_kind(const struct hsperf *perf)
{
	char name[64];

	for (int i = 0; i < GAUGES_COLLECTORS; i++) {
		if (!hsperf_string(perf, hsperf_findf(perf, "sun.gc.collector.%d.name", i), name,
			    sizeof(name)))
			continue;
		for (size_t k = 0; k < sizeof(gauges_collectors) / sizeof(gauges_collectors[0]);
			k++)
			if (!strncmp(name, gauges_collectors[k].prefix,
				    strlen(gauges_collectors[k].prefix)))
				return &gauges_collectors[k];
	}
	return NULL;
}

/* The sum of the counters that exist; -1: none does. */
static int64_t gauges_sum(const struct hsperf *perf, const int *indices, int count)
{
	int64_t sum = 0;
	bool any = false;

	for (int i = 0; i < count; i++) {
		int64_t v = hsperf_long(perf, indices[i]);

		if (indices[i] < 0 || v < 0 || v > INT64_MAX / 16)
			continue;
		sum += v;
		any = true;
	}
	return any ? sum : -1;
}

void gauges_heap_init(struct gauges_heap *h, const struct hsperf *perf, int jdk)
{
	h->sync_apart = jdk >= SYNC_APART_JDK;
	h->kind = gauges_kind(perf);
	h->divided = heap_is_divided(perf);
	h->ticks_per_s = hsperf_long(perf, hsperf_find(perf, "sun.os.hrt.frequency"));
	for (int i = 0; i < GAUGES_SPACES; i++)
		h->used[i] = hsperf_findf(perf, "sun.gc.generation.%d.space.%d.used", i / 3, i % 3);
	for (int i = 0; i < GAUGES_GENERATIONS; i++) {
		h->committed[i] = hsperf_findf(perf, "sun.gc.generation.%d.capacity", i);
		h->max[i] = hsperf_findf(perf, "sun.gc.generation.%d.maxCapacity", i);
	}
	for (int i = 0; i < GAUGES_COLLECTORS; i++) {
		h->invocations[i] = hsperf_findf(perf, "sun.gc.collector.%d.invocations", i);
		h->time[i] = hsperf_findf(perf, "sun.gc.collector.%d.time", i);
	}
	h->safepoints = hsperf_find(perf, "sun.rt.safepoints");
	h->safepoint_time = hsperf_find(perf, "sun.rt.safepointTime");
	h->safepoint_sync = hsperf_find(perf, "sun.rt.safepointSyncTime");
	h->threads_live = hsperf_find(perf, "java.threads.live");
	h->threads_daemon = hsperf_find(perf, "java.threads.daemon");
	h->threads_started = hsperf_find(perf, "java.threads.started");
	h->cause = hsperf_find(perf, "sun.gc.cause");
	h->last_cause = hsperf_find(perf, "sun.gc.lastCause");
	h->collections = gauges_sum(perf, h->invocations, GAUGES_COLLECTORS);
	h->compilations = hsperf_find(perf, "sun.ci.totalCompiles");
	h->classes[0] = hsperf_find(perf, "java.cls.loadedClasses");
	h->classes[1] = hsperf_find(perf, "java.cls.sharedLoadedClasses");
	h->unloaded[0] = hsperf_find(perf, "java.cls.unloadedClasses");
	h->unloaded[1] = hsperf_find(perf, "java.cls.sharedUnloadedClasses");
}

static int64_t gauges_ticks_ns(const struct gauges_heap *h, int64_t ticks)
{
	double ns = h->ticks_per_s > 0 ? (double)ticks * 1e9 / (double)h->ticks_per_s : -1;

	return ns >= 0 && ns <= (double)VITALS_MAX ? (int64_t)ns : -1;
}

/*
 * Attributes all collections since the last peek to the cause of the last one. One that is in progress is counted already;
 * until its end its cause is the present one, and the last one is "No GC".
 */
static void gauges_causes(struct gauges_heap *h, const struct hsperf *perf)
{
	int64_t collections = gauges_sum(perf, h->invocations, GAUGES_COLLECTORS);
	int64_t more = collections - h->collections;
	char cause[64];

	h->collections = collections;
	if (more <= 0 || !hsperf_string(perf, h->last_cause, cause, sizeof(cause)))
		return;
	if (!strcmp(cause, "No GC") && !hsperf_string(perf, h->cause, cause, sizeof(cause)))
		return;
	if (!strcmp(cause, "G1 Humongous Allocation"))
		h->humongous += more;
	else if (!strcmp(cause, "System.gc()"))
		h->explicit_gc += more;
	else if (!strncmp(cause, "Metadata GC ", strlen("Metadata GC ")))
		h->metadata += more;
}

int64_t gauges_heap_peek(struct gauges_heap *h, const struct hsperf *perf)
{
	int64_t used = gauges_sum(perf, h->used, GAUGES_SPACES);

	gauges_causes(h, perf);
	if (used <= 0) /* since JDK 24, and ZGC: value at the last collection, 0 before the first */
		return -1;
	h->low = h->low && h->low < used ? h->low : used;
	h->polls++;
	return used;
}

void gauges_heap_read(struct gauges_heap *h, const struct hsperf *perf, struct vitals *out)
{
	out->heap_used = gauges_heap_peek(h, perf);
	out->heap_low = h->low ? h->low : -1;
	out->heap_looks = h->polls;
	h->low = 0;
	out->heap_committed = gauges_sum(perf, h->committed, GAUGES_GENERATIONS);
	int64_t young = hsperf_long(perf, h->max[0]), old = hsperf_long(perf, h->max[1]);
	out->heap_max = !h->kind || h->divided ? gauges_sum(perf, h->max, GAUGES_GENERATIONS)
			: young > old          ? young
					       : old;
	snprintf(out->gc_name, sizeof(out->gc_name), "%s", h->kind ? h->kind->name : "");
	out->gc_count = gauges_sum(perf, h->invocations, GAUGES_COLLECTORS);
	int64_t sum = -1;
	for (int i = 0; h->kind && i < GAUGES_COLLECTORS; i++) {
		int parts = h->kind->whole[i];
		if (!i && h->kind->uncounted && h->invocations[2] < 0)
			parts = h->kind->uncounted;
		int64_t v = parts ? hsperf_long(perf, h->invocations[i]) : -1;
		if (v >= 0 && v <= VITALS_MAX)
			sum = (sum < 0 ? 0 : sum) + v / parts;
	}
	out->gc_whole = sum;
	/* Pauses are part of safepoints, but Shenandoah also counts concurrent work: clamp. */
	int64_t sync_ns = gauges_ticks_ns(h, hsperf_long(perf, h->safepoint_sync));
	h->gc_ns = gauges_ticks_ns(h, gauges_sum(perf, h->time, GAUGES_COLLECTORS));
	h->safepoint_ns = gauges_ticks_ns(h, hsperf_long(perf, h->safepoint_time));
	if (h->safepoint_ns >= 0 && sync_ns > 0 && h->sync_apart)
		h->safepoint_ns += sync_ns;
	if (h->safepoint_ns >= 0 && h->gc_ns > h->safepoint_ns)
		h->gc_ns = h->safepoint_ns;
	out->gc_time_ns = h->gc_ns;
	out->gc_time_ms = h->gc_ns < 0 ? -1 : h->gc_ns / 1000000;
	out->safepoint_count = hsperf_long(perf, h->safepoints);
	out->safepoint_time_ms = h->safepoint_ns < 0 ? -1 : h->safepoint_ns / 1000000;
	out->safepoint_sync_ms = sync_ns < 0 ? -1 : sync_ns / 1000000;
	out->threads_live = hsperf_long(perf, h->threads_live);
	out->threads_daemon = hsperf_long(perf, h->threads_daemon);
	out->threads_started = hsperf_long(perf, h->threads_started);
	out->gc_humongous = h->kind && !strcmp(h->kind->name, "G1") ? h->humongous : -1;
	out->gc_explicit = h->last_cause < 0 ? -1 : h->explicit_gc;
	out->gc_metadata = h->last_cause < 0 ? -1 : h->metadata;
	out->compilations = hsperf_long(perf, h->compilations);
	out->classes_loaded = gauges_sum(perf, h->classes, 2);
	out->classes_unloaded = gauges_sum(perf, h->unloaded, 2);
}
