/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JVM stops all threads for what is no collection: stacks of threads, class redefinition, heap dumps, ...
 *
 * Some of a collection's safepoint is in no collector's count, so where collections stop the program for longer than
 * all else nothing is said. Nor where most of it is the way to a stop (the rule of safepoints), or where threads wait for a
 * core for as long: then all takes long.
 */
#include "findings/places.h"
#include "findings/rules.h"

#define MUCH 5.0 /* per cent of the last 10 s */

static unsigned stops(const struct scene *scene, const struct profile_part *part, uint32_t unused)
{
	return places_find(scene->places, part->stack, METHOD_STOPS) != PROFILE_NONE;
}

/* Who asks for it most, if that is a thread of the program's. */
static void prove(const struct scene *scene, struct finding *f)
{
	struct scene_most most = scene_most(scene, EVENT_WALL, PROFILE_ANY_THREAD, stops, 0);
	uint32_t at = places_find(scene->places, most.part.stack, METHOD_STOPS);

	if (at == PROFILE_NONE)
		return;
	scene_proof(f,
		"%s calls %s, which stops all threads:", scene_thread(scene, most.part.thread),
		scene_method(scene, scene_frame(scene, at)->method));
	scene_proof_stack(scene, f, at, 3);
	f->event = most.event;
	f->thread = most.part.thread;
}

static void tell(const struct scene *scene, struct finding *f, const struct scene_point *then)
{
	double sync = scene_sync_share(scene, then);
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

	if (!then || scene->now->gc_pct_x10 < 0 || rest - scene_queued_share(scene) < MUCH ||
		rest < gc || rest < 2 * scene_sync_share(scene, then))
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
