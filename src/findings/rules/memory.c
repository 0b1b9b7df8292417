/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about memory: a full heap, collections, humongous allocations, finalizers that fall behind,
 * growth outside the heap.
 */
#include "findings/places.h"
#include "findings/rules.h"
#include "findings/scene.h"

#include "base/buf.h"
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

/* --- heap: nearly full despite collections ------------------------------------------------------------ */

/*
 * The live set is only known right after a collection of the whole heap, and no counter gives that
 * moment (before JDK 24 they give the present, later that of the last collection). A healthy heap
 * fills up before each collection. So the heap must be full in many consecutive readings, with
 * several whole-heap collections among them.
 */
#define HEAP_FULL        0.85
#define HEAP_COLLECTIONS 3 /* of the whole heap */
#define HEAP_READINGS    12

static void judge_heap(const struct scene *scene)
{
	const struct scene_point *first = NULL, *last = scene->last;
	int64_t max = scene->now->heap_max, least = INT64_MAX;

	/* The last consecutive points at which the heap was full. */
	for (unsigned i = scene->point_count; i-- > 0;) {
		const struct scene_point *p = &scene->points[i];

		if (p->heap_low < 0 || p->gc_whole < 0 ||
			(double)p->heap_low < HEAP_FULL * (double)max)
			break;
		least = p->heap_low < least ? p->heap_low : least;
		first = p;
	}
	if (max <= 0 || !first)
		return;
	int64_t readings = last->heap_looks - first->heap_looks;
	int64_t collections = last->gc_whole - first->gc_whole;
	if (readings < HEAP_READINGS || collections < HEAP_COLLECTIONS)
		return;
	struct finding *f = scene_found(scene, FINDING_COSTS, (double)least / (double)max, 0);
	finding_set_text(f,
		"the heap is nearly full: at least %lld of %lld MB stay in use despite garbage "
		"collection",
		(long long)(least >> 20), (long long)(max >> 20));
	finding_prove(f, "in all %lld readings over %.0f s, with %lld whole-heap collections by %s",
		(long long)readings, scene_elapsed_s(first, last), (long long)collections,
		*scene->now->gc_name ? scene->now->gc_name : "the JVM");
	if (scene->now->gc_pct_x10 >= 0)
		finding_prove(f, "garbage collection pauses the program for %.1f %% of the time",
			scene->now->gc_pct_x10 / 10.0);
	/* These collect while the program allocates, so garbage also may fill the heap. */
	bool concurrent =
		strstr(scene->now->gc_name, "ZGC") || strstr(scene->now->gc_name, "Shenandoah");
	finding_advise(f,
		"find what retains it%s: jhot record -e alloc --live -d 30 %d; or raise -Xmx",
		concurrent ? ", or allocates faster than it is collected (key 2)" : "",
		scene->now->pid);
	f->event = EVENT_ALLOC;
}

const struct finding_rule rule_heap = {
	.name = "heap",
	.title = "HEAP FULL",
	.what = "a heap that stays nearly full despite garbage collection",
	.judge = judge_heap,
};

/* --- gc: pauses, or CPU time of the collector --------------------------------------------------------- */

/*
 * On a saturated machine collector threads wait for cores, and short collections become long
 * pauses. So pauses count without these waits, unless most collections are requested by the program
 * or caused by the metaspace limit. The sentence gives the full pauses.
 */
#define GC_PAUSES_PCT 10  /* of the last 10 s */
#define GC_CPU_PCT    25  /* of the CPU time of the last 10 s, ... */
#define GC_CPU_LEAST  50  /* ... if that is at least this much of a core, in % */
#define GC_CAUSE      0.5 /* of the collections with one cause, for it to be named, ... */
#define GC_CAUSED     3   /* ... and at least this many */

static unsigned collects(
	const struct scene *scene, const struct profile_part *part, uint64_t unused)
{
	(void)unused;
	return places_find(scene->places, part->stack, METHOD_COLLECTS) != PROFILE_NONE;
}

/* True when at least half of the collections in the last 10 s had one cause, by its counter `then` and `now`. */
static bool mostly(const struct scene *scene, int64_t then, int64_t now)
{
	int64_t all = scene->last->collections - scene->then->collections;

	return then >= 0 && now - then >= GC_CAUSED &&
	       (double)(now - then) >= GC_CAUSE * (double)all;
}

/* The cause of most collections. */
enum gc_cause {
	GC_FULL,     /* a full heap, or other causes */
	GC_GROWTH,   /* metaspace has grown; this also happens while a program starts */
	GC_METADATA, /* metaspace is at its limit */
	GC_EXPLICIT
};

static enum gc_cause cause_of(const struct scene *scene)
{
	const struct scene_point *then = scene->then, *now = scene->last;

	if (!then)
		return GC_FULL;
	if (mostly(scene, then->metadata, now->metadata))
		return strstr(scene->now->vm_args, "-XX:MaxMetaspaceSize=") ? GC_METADATA
									    : GC_GROWTH;
	return mostly(scene, then->explicit_gc, now->explicit_gc) ? GC_EXPLICIT : GC_FULL;
}

static void report_cause(const struct scene *scene, struct finding *f, enum gc_cause cause)
{
	const struct scene_point *then = scene->then, *now = scene->last;
	size_t used = strlen(f->what);

	if (cause != GC_EXPLICIT) {
		snprintf(f->what + used, sizeof(f->what) - used,
			"; %lld of %lld collections are caused by metaspace %s",
			(long long)(now->metadata - then->metadata),
			(long long)(now->collections - then->collections),
			cause == GC_METADATA ? "at its limit" : "growth");
		finding_advise(f,
			"raise -XX:%s, or find what loads classes: jcmd %d VM.classloader_stats",
			cause == GC_METADATA ? "MaxMetaspaceSize" : "MetaspaceSize",
			scene->now->pid);
		return;
	}
	struct profile_part part =
		scene_most(scene, EVENT_WALL, PROFILE_ANY_THREAD, collects, 0).part;
	uint32_t at = part.stack == PROFILE_NONE
			      ? PROFILE_NONE
			      : places_find(scene->places, part.stack, METHOD_COLLECTS);
	f->method = scene_own_method(scene, at);
	snprintf(f->what + used, sizeof(f->what) - used,
		"; %lld of %lld collections are requested by System.gc()%s%s",
		(long long)(now->explicit_gc - then->explicit_gc),
		(long long)(now->collections - then->collections),
		f->method == PROFILE_NONE ? "" : ", mostly in ",
		f->method == PROFILE_NONE ? "" : scene_method(scene, f->method));
	if (at != PROFILE_NONE) {
		finding_prove(f, "%s calls it here:", scene_thread(scene, part.thread));
		scene_prove_stack(scene, f, at, 3);
	}
	finding_advise(f, "remove the calls, or start the JVM with -XX:+DisableExplicitGC");
}

static void prove_allocator(const struct scene *scene, struct finding *f)
{
	struct profile_query q = scene_query(scene, EVENT_ALLOC);
	struct profile_part site = scene_most(scene, EVENT_ALLOC, PROFILE_ANY_THREAD, NULL, 0).part;
	uint64_t bytes = profile_sum(scene->profile, &q).weight;

	if (!site.weight || !bytes)
		return;
	finding_prove(f, "%.0f %% of the bytes are allocated here:",
		100.0 * (double)site.weight / (double)bytes);
	scene_prove_stack(scene, f, site.stack, 3);
}

static void judge_gc(const struct scene *scene)
{
	const struct vitals *v = scene->now;
	struct vitals_cpu cpu;
	double used = scene_cpu(scene, &cpu);
	double gc_cpu = used >= GC_CPU_LEAST ? 100.0 * cpu.gc_pct / used : 0;
	double pauses = scene->then ? v->gc_pct_x10 / 10.0 : 0;
	enum gc_cause cause = cause_of(scene);
	double delayed = cause <= GC_GROWTH ? scene_delayed_share(scene) : 0;
	bool pausing = pauses * (1 - delayed) >= GC_PAUSES_PCT;
	char also[60] = "";

	/* A heap that is full, or full of large arrays, is the cause. */
	if ((!pausing && gc_cpu < GC_CPU_PCT) || scene_has(scene, &rule_heap) ||
		scene_has(scene, &rule_humongous))
		return;
	struct finding *f = scene_found(
		scene, FINDING_COSTS, (pausing && pauses > gc_cpu ? pauses : gc_cpu) / 100, 0);
	if (gc_cpu >= GC_CPU_PCT)
		snprintf(also, sizeof(also), ", and uses %.0f %% of the CPU time", gc_cpu);
	if (pausing)
		finding_set_text(f,
			"garbage collection pauses the program for %.0f %% of the time%s", pauses,
			also);
	else
		finding_set_text(f, "garbage collection uses %.0f %% of the CPU time", gc_cpu);
	if (v->gc_time_ms >= 0)
		finding_prove(f, "%s: %.1f s of pauses in %lld s since the JVM's start",
			*v->gc_name ? v->gc_name : "the collector", (double)v->gc_time_ms / 1000,
			(long long)v->uptime_s);
	f->event = EVENT_ALLOC;
	if (cause != GC_FULL) {
		report_cause(scene, f, cause);
		return;
	}
	prove_allocator(scene, f);
	finding_advise(f, "find what allocates: key 2, or jhot record -e alloc -d 10 %d", v->pid);
}

const struct finding_rule rule_gc = {
	.name = "gc",
	.title = "GC",
	.what = "garbage collection that takes more than 10 % of the time, or 25 % of the CPU time",
	.judge = judge_gc,
};

/* --- humongous: G1 collections caused by large arrays ------------------------------------------------- */

#define HUMONGOUS_SHARE 0.5 /* of the collections of the last 10 s, ... */
#define HUMONGOUS_LEAST 5   /* ... and at least this many */

static void judge_humongous(const struct scene *scene)
{
	const struct scene_point *then = scene->then, *now = scene->last;

	if (!then || then->humongous < 0 || then->collections < 0)
		return;
	int64_t all = now->collections - then->collections;
	int64_t large = now->humongous - then->humongous;
	if (large < HUMONGOUS_LEAST || (double)large < HUMONGOUS_SHARE * (double)all)
		return;
	struct scene_cost cost = scene_cost_of(scene, METHOD_LARGE);
	struct finding *f = scene_found(scene, FINDING_COSTS, (double)large / (double)all, 0);
	finding_set_text(f,
		"%lld of %lld collections in the last %.0f s were caused by humongous allocations "
		"(half a G1 region or more)%s%s",
		(long long)large, (long long)all, scene_elapsed_s(then, now),
		cost.method == PROFILE_NONE ? "" : ", mostly by ",
		cost.method == PROFILE_NONE ? "" : scene_method(scene, cost.method));
	if (scene->now->gc_pct_x10 >= 0)
		finding_prove(f, "garbage collection pauses the program for %.1f %% of the time",
			scene->now->gc_pct_x10 / 10.0);
	scene_prove_cost(scene, f, &cost, "allocated here, for example:", EVENT_ALLOC);
	finding_advise(f,
		"find what allocates: key 2; reuse or shrink these buffers, or use larger regions "
		"(-XX:G1HeapRegionSize)");
}

const struct finding_rule rule_humongous = {
	.name = "humongous",
	.title = "HUMONGOUS",
	.what = "G1: collections caused by humongous allocations (arrays of half a region or more)",
	.events = 1u << EVENT_CPU,
	.judge = judge_humongous,
};

/* --- finalizers: the finalizer thread, or a cleaner's, cannot keep up ----------------------------------- */

/*
 * One thread runs all finalizers, and one the actions of each java.lang.ref.Cleaner: when it is
 * always busy, its queue grows.
 */
#define FINALIZERS_BUSY 0.9 /* of the time */

static bool cleans(const struct scene *scene, uint32_t stack)
{
	/* A program may also run an action on a thread of its own. */
	return places_find(scene->places, stack, METHOD_CLEANS) != PROFILE_NONE &&
	       places_find(scene->places, stack, METHOD_CLEANER) != PROFILE_NONE;
}

static unsigned finalizes(
	const struct scene *scene, const struct profile_part *part, uint64_t unused)
{
	(void)unused;
	return scene_is_java(scene, part->thread) &&
	       (cleans(scene, part->stack) ||
		       places_find(scene->places, part->stack, METHOD_FINALIZES) != PROFILE_NONE);
}

/*
 * The thread that spends most time in finalizers or cleaning actions, in *ns. PROFILE_NONE: none.
 */
static uint32_t busiest_finalizer(const struct scene *scene, uint64_t *ns)
{
	uint64_t *by_thread = xcalloc(scene->threads + 1, sizeof(*by_thread));
	uint32_t thread = PROFILE_NONE;

	*ns = 0;
	for (uint32_t i = 0; i < scene->wall_count; i++)
		if (finalizes(scene, &scene->wall[i], 0))
			by_thread[scene->wall[i].thread] += scene->wall[i].weight;
	for (uint32_t i = 0; i < scene->threads; i++)
		if (by_thread[i] > *ns) {
			*ns = by_thread[i];
			thread = i;
		}
	free(by_thread);
	return thread;
}

static void judge_finalizers(const struct scene *scene)
{
	double seconds = scene_seconds(scene, EVENT_WALL);
	uint64_t ns;
	uint32_t thread = busiest_finalizer(scene, &ns);

	if (thread == PROFILE_NONE || (double)ns < FINALIZERS_BUSY * seconds * NS_PER_S)
		return;
	struct profile_part most = scene_most(scene, EVENT_WALL, thread, finalizes, 0).part;
	double busy = (double)ns / NS_PER_S / seconds;
	bool cleaner = cleans(scene, most.stack);

	busy = busy > 1 ? 1 : busy;
	struct finding *f = scene_found(scene, FINDING_COSTS, busy, thread);
	f->event = EVENT_WALL;
	f->thread = thread;
	uint32_t own = places_of(scene->places, most.stack).outer; /* finalize(), or the action */
	f->method = own == PROFILE_NONE ? scene_own_method(scene, most.stack)
					: scene_frame(scene, own)->method;
	if (cleaner)
		finding_set_text(f,
			"the cleaner thread %s is busy for %.0f %% of the time, mostly in %s: the "
			"resources of unreachable objects stay in use",
			scene_thread(scene, thread), 100 * busy, scene_method(scene, f->method));
	else
		finding_set_text(f,
			"the finalizer thread is busy for %.0f %% of the time, mostly in %s: "
			"objects "
			"waiting to be finalized stay in the heap",
			100 * busy, scene_method(scene, f->method));
	finding_prove(f, "%s:", scene_thread(scene, thread));
	scene_prove_stack(scene, f, most.stack, 4);
	if (cleaner)
		finding_advise(
			f, "make the cleaning actions cheaper, or close() the objects in time");
	else
		finding_advise(f,
			"check the queue with jcmd %d GC.finalizer_info; replace finalize() with "
			"java.lang.ref.Cleaner or close()",
			scene->now->pid);
}

const struct finding_rule rule_finalizers = {
	.name = "finalizers",
	.title = "FINALIZERS",
	.what = "a finalizer or cleaner thread that is busy for 90 % of the time",
	.events = 1u << EVENT_WALL,
	.judge = judge_finalizers,
};

/* --- offheap: memory outside the heap grows ------------------------------------------------------------ */

/*
 * No counter gives the size of direct buffers. The kernel counts all anonymous memory, which
 * includes the resident part of the heap. That part is unknown; its lower bound is the heap in use,
 * its upper bound the committed heap. The rule subtracts the upper bound at the end of the window
 * and the lower bound at its start, so the computed growth is a lower bound. Samples prove that the
 * memory is direct buffers; without them it may belong to the JVM (compiler, metaspace).
 */
#define OFFHEAP_BYTES   ((int64_t)64 << 20) /* growth, ... */
#define OFFHEAP_PARTS   4                   /* ... of which each part of the time has some, ... */
#define OFFHEAP_SAMPLES 3                   /* ... and samples that allocate */

/* The least growth of memory outside the heap. < 0: not known. */
static int64_t offheap_growth(const struct scene_point *then, const struct scene_point *now)
{
	if (then->host.anon_bytes < 0 || now->host.anon_bytes < 0 || then->heap_used < 0 ||
		now->heap_committed < 0)
		return -1;
	return (now->host.anon_bytes - now->heap_committed) -
	       (then->host.anon_bytes - then->heap_used);
}

static void judge_offheap(const struct scene *scene)
{
	const struct scene_point *then = scene->then, *now = scene->last, *from = then, *to;
	int64_t grown = then ? offheap_growth(then, now) : -1;

	if (grown < OFFHEAP_BYTES)
		return;
	for (int part = 1; part <= OFFHEAP_PARTS; part++, from = to) {
		to = scene_part(scene, then, part, OFFHEAP_PARTS);
		if (to->host.anon_bytes <= from->host.anon_bytes)
			return; /* not a steady rise */
	}
	struct scene_cost cost = scene_cost_of(scene, METHOD_DIRECT);
	if (cost.count < OFFHEAP_SAMPLES || cost.method == PROFILE_NONE)
		return;
	double seconds = scene_elapsed_s(then, now);
	struct finding *f = scene_found(scene, FINDING_WORTH_KNOWING, -1, 0);
	finding_set_text(f,
		"memory outside the Java heap grows by at least %.0f MB per second: direct "
		"buffers, "
		"%s of them allocated by %s",
		(double)(grown >> 20) / seconds, scene_cost_part(&cost),
		scene_method(scene, cost.method));
	finding_prove(f,
		"resident memory %lld MB, %lld MB %.0f s ago (without files); heap %lld MB "
		"committed",
		(long long)(now->host.anon_bytes >> 20), (long long)(then->host.anon_bytes >> 20),
		seconds, (long long)(now->heap_committed >> 20));
	scene_prove_cost(scene, f, &cost, "allocated here, for example:", EVENT_CPU);
	finding_advise(f,
		"reuse direct buffers, and find what keeps them: they are freed after their "
		"ByteBuffer has been collected");
}

const struct finding_rule rule_offheap = {
	.name = "offheap",
	.title = "OFF HEAP",
	.what = "direct buffers that grow by 64 MB or more in 10 s",
	.events = 1u << EVENT_CPU,
	.judge = judge_offheap,
};
