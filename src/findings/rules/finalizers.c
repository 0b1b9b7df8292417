/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that runs finalizers never gets to the end of its queue.
 *
 * One thread runs them all, so one that is always busy falls behind: what waits for its finalizer is kept in the heap.
 */
#include "findings/places.h"
#include "findings/rules.h"
#include "findings/scene.h"

#include "base/clock.h"

#define MUCH 0.9 /* of the time it is busy */

static bool finalizes(const struct scene *scene, const struct profile_part *part)
{
	return scene_is_java(scene, part->thread) &&
	       places_find(scene->places, part->stack, METHOD_FINALIZES) != PROFILE_NONE;
}

static unsigned rank(const struct scene *scene, const struct profile_part *part, uint32_t arg)
{
	(void)arg;
	return finalizes(scene, part);
}

static void look(const struct scene *scene)
{
	double seconds = scene_seconds(scene, EVENT_WALL), busy = 0;
	struct scene_most most;
	struct finding *f;
	uint32_t own;

	for (uint32_t i = 0; i < scene->wall_count && seconds > 0; i++)
		if (finalizes(scene, &scene->wall[i]))
			busy += (double)scene->wall[i].weight / NS_PER_S / seconds;
	if (busy < MUCH)
		return;
	most = scene_most(scene, EVENT_WALL, PROFILE_ANY_THREAD, rank, 0);
	if (most.part.stack == PROFILE_NONE)
		return;
	own = scene_own(scene, most.part.stack);
	f = scene_found(scene, FINDING_COSTS, busy > 1 ? 1 : busy, 0);
	if (!f)
		return;
	f->event = EVENT_WALL;
	f->thread = most.part.thread;
	f->method = own == PROFILE_NONE ? PROFILE_NONE : scene_frame(scene, own)->method;
	snprintf(f->what, sizeof(f->what),
		"the finalizer thread is busy for %.0f %% of the time, mostly in %s: objects wait "
		"for "
		"their finalizers, and stay in the heap meanwhile",
		100 * (busy > 1 ? 1 : busy), scene_method(scene, f->method));
	scene_proof(f, "%s:", scene_thread(scene, most.part.thread));
	scene_proof_stack(scene, f, most.part.stack, 4);
	snprintf(f->look, sizeof(f->look),
		"how many wait: jcmd %d GC.finalizer_info; a java.lang.ref.Cleaner, or close(), in "
		"place of "
		"finalize()",
		scene->now->pid);
}

const struct finding_rule rule_finalizers = {
	.name = "finalizers",
	.title = "FINALIZERS",
	.what = "a finalizer thread that is busy nine tenths of the time",
	.events = 1u << EVENT_WALL,
	.look = look,
};
