/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual threads that wait without giving up their carrier, while others wait for one.
 *
 * A virtual thread keeps its carrier while it waits in native code or a file, and up to JDK 23 in or for a synchronized block. Its
 * stack then goes on into the carrier's; that of one that gave its carrier up does not.
 */
#include "findings/places.h"
#include "findings/rules.h"

#include "base/clock.h"

#include <stdlib.h>

#define PINNED 0.5 /* carriers that wait so, at any moment, */
#define READY  1.0 /* and virtual threads that wait for one */
#define MUCH   0.5 /* of the time that threads have a carrier, it waits so */

static bool waits(enum thread_state state)
{
	return state == THREAD_SLEEPING || state == THREAD_MONITOR || state == THREAD_WAITING ||
	       state == THREAD_PARKED || state == THREAD_IO;
}

static void report(const struct scene *scene, const struct scene_group *most, double pinned,
	double ready, double seconds)
{
	struct finding *f = scene_found(scene, FINDING_COSTS, ready / (ready + pinned), most->what);
	double all = pinned * NS_PER_S * seconds;

	if (!f)
		return;
	snprintf(f->what, sizeof(f->what),
		"virtual threads keep %.1f carriers while they wait%s in %s; %.1f virtual threads "
		"wait for a "
		"carrier",
		pinned, (double)most->weight < 0.9 * all ? ", most" : "",
		scene_method(scene, most->what), ready);
	scene_proof(f, "%s waits here, with its carrier:", scene_thread(scene, most->thread));
	scene_proof_stack(scene, f, most->stack, 4);
	snprintf(f->look, sizeof(f->look),
		"no wait inside of synchronized (JDK 24 gives the carrier up there) or native "
		"code; "
		"a ReentrantLock in its place");
	f->event = EVENT_WALL;
	f->thread = most->thread;
	f->method = most->what;
}

static void look(const struct scene *scene)
{
	double seconds = scene_seconds(scene, EVENT_WALL), pinned = 0, ready = 0, runs = 0;
	struct scene_group group = {0}, most = {0};
	struct scene_spending kept = {0};

	for (uint32_t i = 0; i < scene->wall_count && seconds > 0; i++) {
		const struct profile_part *part = &scene->wall[i];
		double moment = (double)part->weight / NS_PER_S / seconds;
		uint32_t own;

		if (profile_get_thread(scene->profile, part->thread)->kind != THREAD_VIRTUAL)
			continue;
		if (part->state == THREAD_CARRIER)
			ready += moment;
		else if (!waits(part->state))
			runs += moment;
		else if (places_find(scene->places, part->stack, METHOD_MOUNTS) != PROFILE_NONE) {
			pinned += moment;
			own = places_of(scene->places, part->stack).own;
			if (own != PROFILE_NONE)
				scene_spend(&kept, scene_frame(scene, own)->method, part);
		}
	}
	if (pinned >= PINNED && ready >= READY && pinned >= MUCH * (pinned + runs)) {
		while (scene_group_next(&kept, &group))
			most = group.weight > most.weight ? group : most;
		if (most.weight)
			report(scene, &most, pinned, ready, seconds);
	}
	free(kept.list);
}

const struct finding_rule rule_pinned = {
	.name = "pinned",
	.title = "PINNED",
	.what = "virtual threads that keep their carrier while they wait, and others that wait for "
		"one",
	.events = 1u << EVENT_WALL,
	.look = look,
};
