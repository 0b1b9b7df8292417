/* SPDX-License-Identifier: Apache-2.0 */
/* Threads are started all the time: one per request, or a pool that is made anew each time. */
#include "findings/places.h"
#include "findings/rules.h"
#include "findings/scene.h"

#define RATE 100 /* a second */

/* In CPU time: who starts threads. */
static uint32_t starts(const struct scene *scene, uint32_t stack)
{
	return places_find(scene->places, stack, METHOD_STARTS);
}

static void look(const struct scene *scene)
{
	const struct scene_point *then = scene_before(scene, SCENE_LEAST_S, SCENE_MOST_S), *now;
	struct scene_cost cost;
	struct finding *f;
	double rate;

	if (!then)
		return;
	now = scene_last(scene);
	rate = scene_rate(then, now, then->started, now->started);
	if (rate < RATE)
		return;
	cost = scene_cost(scene, starts);
	f = scene_found(scene, FINDING_WORTH_KNOWING, cost.share, 0);
	if (!f)
		return;
	snprintf(f->what, sizeof(f->what), "%.0f threads a second are started%s%s; %lld live", rate,
		cost.method == PROFILE_NONE ? "" : ", most by ",
		cost.method == PROFILE_NONE ? "" : scene_method(scene, cost.method),
		(long long)scene->now->threads_live);
	scene_proof(f, "%lld were started in the last %.0f s",
		(long long)(now->started - then->started), scene_apart_s(then, now));
	if (cost.stack != PROFILE_NONE) {
		scene_proof(f, "one is started here:");
		scene_proof_stack(scene, f, cost.stack, 4);
	}
	snprintf(f->look, sizeof(f->look),
		"a pool of threads that is kept, or virtual threads (JDK 21 and newer)");
	f->event = EVENT_CPU;
	f->method = cost.method;
}

const struct finding_rule rule_threads = {
	.name = "threads",
	.title = "THREADS",
	.what = "threads that are started all the time, 100 a second and more",
	.events = 1u << EVENT_CPU,
	.look = look,
};
