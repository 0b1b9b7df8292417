/* SPDX-License-Identifier: Apache-2.0 */
/* G1 collects because arrays of half a region or more are allocated, which it keeps apart from all others. */
#include "findings/places.h"
#include "findings/rules.h"
#include "findings/scene.h"

#define MUCH  0.5 /* of the collections, */
#define LEAST 5   /* and so many of them */

/* In CPU time: who allocates them. */
static uint32_t allocates(const struct scene *scene, uint32_t stack)
{
	return places_find(scene->places, stack, METHOD_LARGE);
}

static void look(const struct scene *scene)
{
	const struct scene_point *then = scene_before(scene, SCENE_LEAST_S, SCENE_MOST_S), *now;
	int64_t all, large;
	struct scene_cost cost;
	struct finding *f;

	if (!then)
		return;
	now = scene_last(scene);
	all = now->collections - then->collections;
	large = now->humongous - then->humongous;
	if (then->humongous < 0 || then->collections < 0 || large < LEAST ||
		(double)large < MUCH * (double)all)
		return;
	cost = scene_cost(scene, allocates);
	f = scene_found(scene, FINDING_COSTS, (double)large / (double)all, 0);
	if (!f)
		return;
	snprintf(f->what, sizeof(f->what),
		"%lld of %lld collections in the last %.0f s were for an array of half a region or "
		"more%s%s",
		(long long)large, (long long)all, scene_apart_s(then, now),
		cost.method == PROFILE_NONE ? "" : ", most allocated by ",
		cost.method == PROFILE_NONE ? "" : scene_method(scene, cost.method));
	if (scene->now->gc_pct_x10 >= 0)
		scene_proof(f, "collections stop the program for %.1f %% of the time",
			scene->now->gc_pct_x10 / 10.0);
	if (cost.stack != PROFILE_NONE) {
		scene_proof(f, "one is allocated here:");
		scene_proof_stack(scene, f, cost.stack, 4);
	}
	snprintf(f->look, sizeof(f->look),
		"who allocates: key 2; buffers that are reused or smaller, or larger regions "
		"(-XX:G1HeapRegionSize)");
	f->event = EVENT_ALLOC;
	f->method = cost.method;
}

const struct finding_rule rule_humongous = {
	.name = "humongous",
	.title = "HUMONGOUS",
	.what = "G1: collections that arrays of half a region or more have caused",
	.events = 1u << EVENT_CPU,
	.look = look,
};
