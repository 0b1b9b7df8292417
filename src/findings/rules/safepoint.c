/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads come late to safepoints: all others stand and wait for them. A loop that is compiled without a poll does so, or one
 * step that takes long, such as the copy of a large array.
 *
 * The JVM counts for how long it waited, and not for whom. But whoever it is runs meanwhile: a thread that runs for less than
 * that is not the only one who is late. Unless it waits for a core: so nothing is said where threads wait for one for as long.
 */
#include "findings/rules.h"
#include "findings/scene.h"

#include "base/buf.h"
#include "base/clock.h"

#include <stdlib.h>

#define MUCH  5.0 /* per cent of the last 10 s, */
#define STOPS 5   /* of so many stops and more: one may be late once */

/* Who may be late: how many run for as long as it is waited, and the one that runs for longest. */
struct suspects {
	uint32_t count, thread;
	uint64_t ran;
};

static struct suspects suspects_of(const struct scene *scene, double share)
{
	double least = share * scene_seconds(scene, EVENT_WALL) * NS_PER_S;
	uint64_t *ran = xcalloc(scene->threads + 1, sizeof(*ran));
	struct suspects s = {0, PROFILE_NONE, 0};

	for (uint32_t i = 0; i < scene->wall_count; i++)
		if (scene->wall[i].state == THREAD_ON_CPU)
			ran[scene->wall[i].thread] += scene->wall[i].weight;
	for (uint32_t i = 0; i < scene->threads; i++) {
		if (!scene_is_java(scene, i) || (double)ran[i] < least)
			continue;
		s.count++;
		if (ran[i] > s.ran) {
			s.ran = ran[i];
			s.thread = i;
		}
	}
	free(ran);
	return s;
}

static unsigned runs(const struct scene *scene, const struct profile_part *part, uint32_t unused)
{
	return part->state == THREAD_ON_CPU;
}

static void prove(const struct scene *scene, struct finding *f, double share)
{
	struct suspects s = suspects_of(scene, share);

	if (!s.count)
		return;
	scene_proof(f,
		s.count == 1 ? "only %s runs for so long; it is mostly here:"
			     : "%s runs for longest, of %u that may be late; it is mostly here:",
		scene_thread(scene, s.thread), s.count);
	scene_proof_stack(scene, f, scene_most(scene, EVENT_WALL, s.thread, runs, 0).part.stack, 3);
	f->event = EVENT_WALL;
	f->thread = s.thread;
}

static void look(const struct scene *scene)
{
	const struct scene_point *then = scene_before(scene, SCENE_LEAST_S, SCENE_MOST_S), *now;
	double share = then ? scene_sync_share(scene, then) : 0;
	struct finding *f;
	double stops;

	if (share - scene_queued_share(scene) < MUCH)
		return;
	now = scene_last(scene);
	stops = (double)(now->safepoints - then->safepoints);
	if (stops < STOPS)
		return;
	f = scene_found(scene, FINDING_COSTS, share / 100, 0);
	if (!f)
		return;
	snprintf(f->what, sizeof(f->what),
		"threads come late to safepoints: for %.0f %% of the time all others wait for "
		"them, %.1f ms at each stop",
		share, (double)(now->sync_ms - then->sync_ms) / stops);
	scene_proof(f, "%.0f stops in the last %.0f s, until the last thread stood %.1f s in all",
		stops, scene_apart_s(then, now), (double)(now->sync_ms - then->sync_ms) / 1000);
	prove(scene, f, share / 100);
	snprintf(f->look, sizeof(f->look),
		"a long loop over ints without a poll (-XX:+UseCountedLoopSafepoints), or a copy "
		"of much at once");
}

const struct finding_rule rule_safepoint = {
	.name = "safepoint",
	.title = "LATE",
	.what = "threads that come late to safepoints: all others wait for them 5 % of the time",
	.look = look,
};
