/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JVM stops all threads for what is no collection: stacks of threads, class redefinition, heap dumps, ...
 *
 * Some of a collection's safepoint is in no collector's count, so where collections stop the program for longer than
 * all else nothing is said.
 */
#include "findings/rules.h"
#include "findings/scene.h"

#include <string.h>

#define MUCH 5.0 /* per cent of the last 10 s */

/* Calls that stop all threads, as far as they are seen in Java. */
static const struct {
	const char *class_name, *method;
} stoppers[] = {
	{"java.lang.Thread", "getAllStackTraces"},
	{"java.lang.Thread", "dumpThreads"},
	{"sun.management.ThreadImpl", "dumpThreads0"},
	{"sun.management.ThreadImpl", "getThreadInfo1"},
	{"sun.management.ThreadImpl", "findDeadlockedThreads0"},
	{"sun.management.ThreadImpl", "findMonitorDeadlockedThreads0"},
	{"sun.management.HotSpotDiagnostic", "dumpHeap0"},
	{"com.sun.management.internal.HotSpotDiagnostic", "dumpHeap0"},
	{"sun.instrument.InstrumentationImpl", "redefineClasses0"},
	{"sun.instrument.InstrumentationImpl", "retransformClasses0"},
};

struct caller {
	const struct scene *scene;
	uint32_t stack, thread;
	uint64_t weight;
};

static bool stops(const struct profile_method *m)
{
	for (size_t i = 0; i < sizeof(stoppers) / sizeof(stoppers[0]); i++)
		if (!strcmp(m->name, stoppers[i].method) &&
			!strcmp(m->class_name, stoppers[i].class_name))
			return true;
	return false;
}

static void caller_of(void *ctx, const struct profile_part *part)
{
	struct caller *c = ctx;

	for (uint32_t at = part->stack; part->weight > c->weight && at != PROFILE_ROOT_STACK;) {
		struct profile_stack s = profile_get_stack(c->scene->profile, at);
		const struct profile_frame *f = profile_get_frame(c->scene->profile, s.frame);

		if (stops(profile_get_method(c->scene->profile, f->method))) {
			c->weight = part->weight;
			c->stack = at;
			c->thread = part->thread;
			return;
		}
		at = s.parent;
	}
}

/* Who asks for it most, if that is a thread of the program's. */
static void prove(const struct scene *scene, struct finding *f)
{
	static const int events[] = {EVENT_WALL, EVENT_CPU};
	struct caller c = {.scene = scene, .stack = PROFILE_NONE};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]) && !c.weight; i++) {
		struct profile_query q = scene_query(scene, events[i]);

		profile_each(scene->profile, &q, caller_of, &c);
		f->event = c.weight ? events[i] : -1;
	}
	if (!c.weight)
		return;
	scene_proof(f, "%s calls %s, which stops all threads:", scene_thread(scene, c.thread),
		scene_method(scene, scene_frame(scene, c.stack)->method));
	scene_proof_stack(scene, f, c.stack, 3);
	f->thread = c.thread;
}

static void tell(const struct scene *scene, struct finding *f, const struct scene_point *then)
{
	const struct scene_point *now = scene_last(scene);
	double sync = scene_rate(then, now, then->sync_ms, now->sync_ms) / 10;
	char part[80] = "";

	if (sync >= 1)
		snprintf(part, sizeof(part), "; %.0f %% until all threads have come to a stop",
			sync);
	snprintf(f->what, sizeof(f->what),
		"the JVM stops the program for %.0f %% of the time, without collections%s",
		100 * f->share, part);
	scene_proof(f, "%lld safepoints since the JVM's start, %.1f s in all, collections %.1f s",
		(long long)scene->now->safepoint_count,
		(double)scene->now->safepoint_time_ms / 1000,
		(double)scene->now->gc_time_ms / 1000);
	prove(scene, f);
	snprintf(f->look, sizeof(f->look), "what for: the JVM's -Xlog:safepoint tells each one");
}

static void look(const struct scene *scene)
{
	const struct scene_point *then = scene_before(scene, SCENE_LEAST_S, SCENE_MOST_S);
	double gc = scene->now->gc_pct_x10 / 10.0;
	double rest = scene->now->safepoint_pct_x10 / 10.0 - gc;
	struct finding *f;

	if (!then || scene->now->gc_pct_x10 < 0 || rest < MUCH || rest < gc)
		return;
	f = scene_found(scene, FINDING_COSTS, rest / 100, 0);
	if (f)
		tell(scene, f, then);
}

const struct finding_rule rule_stops = {
	.name = "stops",
	.title = "STOPPED",
	.what = "safepoints that stop the program for 5 % of the time and more, without "
		"collections",
	.look = look,
};
