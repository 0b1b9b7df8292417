/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about code: compilers, the code cache, the interpreter, exceptions, class loading, methods that are new. */
#include "findings/places.h"
#include "findings/rules.h"
#include "findings/scene.h"
#include "profile/table/flat.h"

#include <math.h>
#include <string.h>

#define MB        1048576.0
#define LONG_S    30.0 /* window for activity that is normal for a while, but not all the time */
#define LONG_MOST (LONG_S + 5)
#define WARM_UP_S 60 /* a younger JVM compiles, interprets and loads classes a lot */

/* --- jit: compilation that does not end ---------------------------------------------------------------- */

#define JIT_CPU_PCT    40  /* of the CPU time, ... */
#define JIT_CPU_LEAST  50  /* ... if that is at least this much of a core, in % */
#define JIT_RATE       20  /* compilations per second, ... */
#define JIT_KEPT_BYTES 256 /* ... each growing the code cache by less; usual are kilobytes */

static void judge_jit(const struct scene *scene)
{
	const struct scene_point *then = scene_before(scene, LONG_S, LONG_MOST), *now = scene->last;
	const struct vitals *v = scene->now;
	struct vitals_cpu cpu;
	double used = scene_cpu(scene, &cpu), rate = -1;
	bool busy = used >= JIT_CPU_LEAST && 100 * cpu.jit_pct >= JIT_CPU_PCT * used;

	if (then && then->code_used >= 0 && now->code_used >= 0)
		rate = SCENE_RATE(then, now, compilations);
	if (rate < JIT_RATE || now->code_used - then->code_used >=
				       JIT_KEPT_BYTES * (now->compilations - then->compilations))
		rate = -1;
	if (v->uptime_s < WARM_UP_S || (!busy && rate < 0))
		return;
	struct finding *f =
		scene_found(scene, FINDING_WORTH_KNOWING, busy ? cpu.jit_pct / used : -1, 0);
	if (busy)
		finding_set_text(f,
			"the JIT compilers use %.0f %% of the CPU time, %lld s after the start",
			100 * f->share, (long long)v->uptime_s);
	else
		finding_set_text(f,
			"%.0f methods per second are still being compiled %lld s after the start, "
			"and their code is discarded",
			rate, (long long)v->uptime_s);
	if (used >= 0)
		finding_prove(f,
			"CPU over the last 10 s, in %% of a core: Java %d, JIT %d, GC %d, kernel "
			"%d",
			cpu.java_pct, cpu.jit_pct, cpu.gc_pct, cpu.kernel_pct);
	if (rate >= 0)
		finding_prove(f,
			"%lld compilations since the JVM's start; code cache %.1f MB in use, "
			"%.1f MB %.0f s ago",
			(long long)v->compilations, (double)v->code_used / MB,
			(double)then->code_used / MB, LONG_S);
	finding_advise(f,
		"look for code that is generated at run time, or compiled and discarded over and "
		"over");
	f->event = EVENT_CPU;
}

const struct finding_rule rule_jit = {
	.name = "jit",
	.title = "JIT",
	.what = "JIT compilers that use 40 % of the CPU time, or compile code that is discarded "
		"again",
	.uptime_s = WARM_UP_S,
	.judge = judge_jit,
};

/* --- codecache: nearly full ----------------------------------------------------------------------------- */

/* HotSpot starts to evict cold code at 10 % free, and stops compiling when less than 512 KB are left in one piece. */
#define CODE_FREE       0.10
#define CODE_FREE_BYTES ((int64_t)640 << 10)

static bool code_full(int64_t used, int64_t max)
{
	int64_t left = max - used;

	return used > 0 && max > 0 &&
	       (left < CODE_FREE_BYTES || (double)left < CODE_FREE * (double)max);
}

static void judge_codecache(const struct scene *scene)
{
	const struct scene_point *then = scene->then;
	const struct vitals *v = scene->now;

	if (!then || !code_full(v->code_used, v->code_max) ||
		!code_full(then->code_used, v->code_max))
		return;
	struct finding *f = scene_found(
		scene, FINDING_WORTH_KNOWING, (double)v->code_used / (double)v->code_max, 0);
	finding_set_text(f, "the code cache is nearly full: %.1f of %.1f MB are in use",
		(double)v->code_used / MB, (double)v->code_max / MB);
	double rate = SCENE_RATE(then, scene->last, compilations);
	if (rate >= 0 && rate < 0.05)
		finding_prove(f, "nothing was compiled in the last %.0f s",
			scene_elapsed_s(then, scene->last));
	else if (rate >= 0)
		finding_prove(f, "%lld compilations since the JVM's start, %.1f per second now",
			(long long)v->compilations, rate);
	finding_prove(f, "methods that do not fit stay interpreted or evict code that is in use");
	finding_advise(f, "raise -XX:ReservedCodeCacheSize, or find what generates so much code");
	f->event = EVENT_CPU;
}

const struct finding_rule rule_codecache = {
	.name = "codecache",
	.title = "CODE CACHE",
	.what = "a code cache with less than 10 % free",
	.judge = judge_codecache,
};

/* --- interpreted: a hot method that is never compiled ---------------------------------------------------- */

/*
 * Causes: too large, excluded, given up on by the compiler, a full code cache. New code is
 * interpreted for a moment in any program, spread over many methods: so both halves of the window
 * must show it, in the same method.
 */
#define INTERPRETED_SHARE   0.25 /* of the CPU time, ... */
#define INTERPRETED_ONE     0.10 /* ... and this much of it in one method */
#define INTERPRETED_SAMPLES 50
#define INTERPRETED_S       4 /* shortest window */

/* Time in the interpreter itself, without callees. */
static uint32_t pick_interpreted(const struct scene *scene, uint32_t stack, uint64_t unused)
{
	(void)unused;
	return scene_frame(scene, stack)->type == FRAME_INTERPRETED ? stack : PROFILE_NONE;
}

static bool much_interpreted(
	const struct scene *scene, uint32_t from, uint32_t to, struct scene_cost *cost)
{
	struct scene part = *scene;

	part.from = from;
	part.to = to;
	*cost = scene_cost(&part, pick_interpreted, 0);
	return cost->share >= INTERPRETED_SHARE && cost->method != PROFILE_NONE &&
	       (double)cost->most * cost->share >= INTERPRETED_ONE * (double)cost->weight;
}

static void judge_interpreted(const struct scene *scene)
{
	uint32_t middle = scene->from + (scene->to - scene->from) / 2;
	struct scene_cost cost, early, late;

	if (scene->now->uptime_s < WARM_UP_S || scene->to - scene->from < INTERPRETED_S ||
		!much_interpreted(scene, scene->from, scene->to, &cost) ||
		cost.count < INTERPRETED_SAMPLES ||
		!much_interpreted(scene, scene->from, middle, &early) ||
		!much_interpreted(scene, middle, scene->to, &late) || early.method != late.method)
		return;
	struct finding *f = scene_found_cost(scene, &cost);
	finding_set_text(f,
		"%.0f %% of the CPU time is spent in the interpreter %lld s after the start, %s in "
		"%s",
		100 * f->share, (long long)scene->now->uptime_s, scene_cost_part(&cost),
		scene_method(scene, cost.method));
	scene_prove_stack(scene, f, cost.stack, 3);
	if (strstr(scene->now->vm_args, "-Xint"))
		finding_advise(f, "the JVM was started with -Xint, which disables compilation");
	else
		finding_advise(f,
			"check whether the method is excluded or larger than 8,000 bytes of "
			"bytecode, or the code cache full: -XX:+PrintCompilation");
}

const struct finding_rule rule_interpreted = {
	.name = "interpreted",
	.title = "INTERPRETED",
	.what = "hot methods that are never compiled, for 25 % of the CPU time",
	.events = 1u << EVENT_CPU,
	.uptime_s = WARM_UP_S,
	.judge = judge_interpreted,
};

/* --- deopt, exceptions, collisions: activities that cost CPU time ----------------------------------------- */

#define COST_SAMPLES 30
#define DEOPT_UP_S   30

struct activity {
	uint64_t kinds;    /* methods whose samples are the cost: METHOD_... */
	double least;      /* share of the CPU time (0..1) that is reported */
	const char *spent; /* "is spent ..." */
	const char *for_method;
	const char *heading, *advice; /* heading: of the evidence; NULL: none */
};

static void judge_activity(const struct scene *scene, const struct activity *a)
{
	struct scene_cost cost = scene_cost_of(scene, a->kinds);

	if (cost.count < COST_SAMPLES || cost.share < a->least)
		return;
	struct finding *f = scene_found_cost(scene, &cost);
	if (cost.method == PROFILE_NONE)
		finding_set_text(
			f, "%.0f %% of the CPU time is spent %s", 100 * f->share, a->spent);
	else
		finding_set_text(f, "%.0f %% of the CPU time is spent %s, %s of it %s %s",
			100 * f->share, a->spent, scene_cost_part(&cost), a->for_method,
			scene_method(scene, cost.method));
	if (a->heading)
		finding_prove(f, "%s", a->heading);
	scene_prove_stack(scene, f, cost.stack, 4);
	finding_advise(f, "%s", a->advice);
}

/* The samples in the two code blobs through which HotSpot leaves compiled code. Normal while warming up. */
static void judge_deopt(const struct scene *scene)
{
	static const struct activity deopt = {METHOD_LEAVES, 0.05, "on deoptimization", "from",
		"compiled code is deoptimized here over and over:",
		"look for an exception, a null or a type that the compiler did not expect; "
		"-Xlog:deoptimization=debug gives the reason (JDK 17 or later)"};

	if (scene->now->uptime_s >= DEOPT_UP_S)
		judge_activity(scene, &deopt);
}

const struct finding_rule rule_deopt = {
	.name = "deopt",
	.title = "DEOPTIMIZED",
	.what = "compiled code that is deoptimized over and over, for 5 % of the CPU time",
	.events = 1u << EVENT_CPU,
	.uptime_s = DEOPT_UP_S,
	.judge = judge_deopt,
};

static void judge_exceptions(const struct scene *scene)
{
	static const struct activity exceptions = {METHOD_TRACE, 0.10,
		"filling in stack traces of exceptions", "for", NULL,
		"do not throw for expected cases: test first, or throw an exception without a "
		"stack trace"};

	judge_activity(scene, &exceptions);
}

const struct finding_rule rule_exceptions = {
	.name = "exceptions",
	.title = "EXCEPTIONS",
	.what = "exceptions whose stack traces take 10 % of the CPU time",
	.events = 1u << EVENT_CPU,
	.judge = judge_exceptions,
};

/*
 * Java's hash tables turn a bucket into a tree once it has eight keys, which hash codes that spread
 * well practically never cause (Poisson: 6 in 100 million buckets; java.util.HashMap). A tree of
 * keys that are not Comparable is searched node by node.
 */
static void judge_collisions(const struct scene *scene)
{
	static const struct activity collisions = {METHOD_COLLIDES, 0.10,
		"on hash table keys with colliding hash codes", "in",
		"buckets with eight keys or more are searched here:",
		"improve the keys' hashCode(): few keys should share a value; Comparable keys are "
		"found faster"};

	judge_activity(scene, &collisions);
}

const struct finding_rule rule_collisions = {
	.name = "collisions",
	.title = "COLLISIONS",
	.what = "hash table keys with colliding hash codes, for 10 % of the CPU time",
	.events = 1u << EVENT_CPU,
	.judge = judge_collisions,
};

/* --- classes: continuous class loading ------------------------------------------------------------------- */

/*
 * Code generated for each request, discarded class loaders. A program that starts or does something
 * for the first time loads many classes for a while. So the rate must hold for half a minute after
 * the first minute, or half of the classes must be unloaded again; and each third of the time must
 * have its part. Unloading is delayed until a collection, so that half is also counted from the
 * JVM's start, provided that the mean rate since then is as high: a program that is deployed again
 * loads and unloads as much, but rarely.
 */
#define CLASSES_RATE      50 /* per second */
#define CLASSES_PART_RATE (CLASSES_RATE / 2)
#define CLASSES_PARTS     3
#define CLASSES_UNLOADED  0.5 /* of what was loaded */
#define CLASSES_SAMPLES   3   /* for a method that defines most of them to be named */

static bool loads_steadily(const struct scene *scene, const struct scene_point *then)
{
	const struct scene_point *from = then, *to;

	if (!then || SCENE_RATE(then, scene->last, classes) < CLASSES_RATE)
		return false;
	for (int part = 1; part <= CLASSES_PARTS; part++, from = to) {
		to = scene_part(scene, then, part, CLASSES_PARTS);
		if (SCENE_RATE(from, to, classes) < CLASSES_PART_RATE)
			return false;
	}
	return true;
}

/* True when half of the classes loaded in the window [then, now], or since the JVM's start, have been unloaded. */
static bool unloads(const struct scene *scene, const struct scene_point *then)
{
	const struct scene_point *now = scene->last;
	int64_t uptime = scene->now->uptime_s;

	if (then->unloaded < 0 || now->unloaded < then->unloaded)
		return false;
	return (double)(now->unloaded - then->unloaded) >=
		       CLASSES_UNLOADED * (double)(now->classes - then->classes) ||
	       (uptime >= WARM_UP_S && now->classes >= CLASSES_RATE * uptime &&
		       (double)now->unloaded >= CLASSES_UNLOADED * (double)now->classes);
}

static void judge_classes(const struct scene *scene)
{
	const struct scene_point *then = scene_before(scene, LONG_S, LONG_MOST), *now = scene->last;
	char by[120] = "";

	if (scene->now->uptime_s < WARM_UP_S || !loads_steadily(scene, then)) {
		then = scene->then;
		if (!loads_steadily(scene, then) || !unloads(scene, then))
			return;
	}
	struct scene_cost cost = scene_cost_of(scene, METHOD_DEFINES);
	if (cost.count >= CLASSES_SAMPLES && cost.method != PROFILE_NONE)
		snprintf(by, sizeof(by), ", %s by %s", scene_cost_part(&cost),
			scene_method(scene, cost.method));
	struct finding *f = scene_found(scene, FINDING_WORTH_KNOWING, -1, 0);
	finding_set_text(f, "%.0f classes per second have been loaded for at least %.0f s%s",
		SCENE_RATE(then, now, classes), scene_elapsed_s(then, now), by);
	if (then->unloaded >= 0)
		finding_prove(f, "%lld loaded and %lld unloaded in the last %.0f s",
			(long long)(now->classes - then->classes),
			(long long)(now->unloaded - then->unloaded), scene_elapsed_s(then, now));
	finding_prove(f, "%lld loaded since the JVM's start, %lld s ago", (long long)now->classes,
		(long long)scene->now->uptime_s);
	if (*by)
		scene_prove_cost(scene, f, &cost, "defined here, for example:", EVENT_CPU);
	finding_advise(f,
		"look for scripts, proxies or lambdas that are created again for each request; "
		"-Xlog:class+load names the classes");
}

const struct finding_rule rule_classes = {
	.name = "classes",
	.title = "CLASSES",
	.what = "classes that are loaded continuously, 50 a second or more",
	.needs_s = (int)LONG_S,
	.uptime_s = WARM_UP_S,
	.judge = judge_classes,
};

/* --- new: a method that has grown since the baseline ----------------------------------------------------- */

/*
 * Rows of several methods rise together: callers with what they call. Of those that gained nearly
 * as much as any, the program's own method with most self time is reported.
 */
#define NEW_GAIN    0.10 /* of the CPU time more than in the baseline */
#define NEW_TIMES   4    /* and this many times its share there */
#define NEW_ERRORS  2    /* half widths: of many methods, some exceed one by chance */
#define NEW_NEARLY  0.9  /* of the largest gain: may be the same calls */
#define NEW_SAMPLES 100  /* in the window and in the baseline */

struct gain {
	const struct flat_row *row; /* NULL: none */
	double now, then, gained, error;
	bool sure;
};

static double flat_share(const struct flat *f, const struct flat_row *row)
{
	return row && f->sum ? (double)row->total / (double)f->sum : 0;
}

static struct gain gain_of(
	const struct flat *now, const struct flat *then, const struct flat_row *row)
{
	const struct flat_row *before = flat_find(then, row->method);
	struct gain g = {.row = row, .now = flat_share(now, row), .then = flat_share(then, before)};

	g.gained = g.now - g.then;
	g.error = (flat_half_width(row->total_count, now->sum_count) +
			  flat_half_width(before ? before->total_count : 0, then->sum_count)) /
		  100;
	g.sure = g.gained >= NEW_GAIN && g.now >= NEW_TIMES * g.then &&
		 g.gained > NEW_ERRORS * g.error;
	return g;
}

static struct gain largest_gain(const struct flat *now, const struct flat *then)
{
	struct gain best = {0};
	double most = 0;

	for (uint32_t i = 0; i < now->count; i++) {
		struct gain g = gain_of(now, then, &now->rows[i]);

		most = g.sure ? fmax(most, g.gained) : most;
	}
	for (uint32_t i = 0; i < now->count; i++) {
		struct gain g = gain_of(now, then, &now->rows[i]);

		if (!g.sure || g.gained < NEW_NEARLY * most)
			continue;
		if (!best.row ||
			(g.row->own != best.row->own ? g.row->own : g.row->self > best.row->self))
			best = g;
	}
	return best;
}

static unsigned has_method(
	const struct scene *scene, const struct profile_part *part, uint64_t method)
{
	return scene_has_method(scene, part->stack, (uint32_t)method);
}

static void judge_new(const struct scene *scene)
{
	struct profile_query q = scene_query(scene, EVENT_CPU);
	struct gain gain = {0};

	if (!scene->baseline)
		return;
	struct flat *now = flat_new(scene->profile, &q);
	q.snapshot = scene->baseline;
	struct flat *then = flat_new(scene->profile, &q);
	if (now->sum_count >= NEW_SAMPLES && then->sum_count >= NEW_SAMPLES)
		gain = largest_gain(now, then);
	uint32_t method = gain.row ? gain.row->method : PROFILE_NONE;
	flat_free(then);
	flat_free(now);
	if (method == PROFILE_NONE)
		return;
	struct finding *f = scene_found(scene, FINDING_WORTH_KNOWING, gain.gained, method);
	f->error = gain.error;
	f->event = EVENT_CPU;
	f->method = method;
	finding_set_text(f, "%.0f %% of the CPU time is in %s, up from %.*f %% in the baseline",
		100 * gain.now, scene_method(scene, method), gain.then > 0 && gain.then < 0.01,
		100 * gain.then);
	struct scene_most most =
		scene_most(scene, EVENT_CPU, PROFILE_ANY_THREAD, has_method, method);
	if (most.rank)
		scene_prove_stack(scene, f, most.part.stack, 4);
	finding_advise(f, "D shows beside each row how it has changed since the baseline");
}

const struct finding_rule rule_new = {
	.name = "new",
	.title = "NEW",
	.what = "methods with 10 % of the CPU time and next to none in the baseline",
	.events = 1u << EVENT_CPU,
	.judge = judge_new,
};
