/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code cache is full, or nearly: then HotSpot throws compiled code away that is still needed, or compiles nothing more.
 *
 * It begins to throw away what is cold at a tenth that is free, and gives up compiling at half a megabyte in one piece.
 */
#include "findings/rules.h"
#include "findings/scene.h"

#define FREE_SHARE 0.10
#define FREE_BYTES ((int64_t)640 << 10)
#define MB         1048576.0

static bool full(int64_t used, int64_t max)
{
	int64_t left = max - used;

	return used > 0 && max > 0 &&
	       (left < FREE_BYTES || (double)left < FREE_SHARE * (double)max);
}

static void look(const struct scene *scene)
{
	const struct scene_point *then = scene_before(scene, SCENE_LEAST_S, SCENE_MOST_S), *now;
	const struct vitals *v = scene->now;
	double share, rate;
	struct finding *f;

	if (!then || !full(v->code_used, v->code_max) || !full(then->code_used, v->code_max))
		return;
	now = scene_last(scene);
	share = (double)v->code_used / (double)v->code_max;
	f = scene_found(scene, FINDING_WORTH_KNOWING, share, 0);
	if (!f)
		return;
	snprintf(f->what, sizeof(f->what),
		"the code cache is nearly full: compiled code takes %.1f of %.1f MB",
		(double)v->code_used / MB, (double)v->code_max / MB);
	rate = scene_rate(then, now, then->compilations, now->compilations);
	if (rate >= 0 && rate < 0.05)
		scene_proof(f, "nothing was compiled in the last %.0f s", scene_apart_s(then, now));
	else if (rate >= 0)
		scene_proof(f, "%lld compilations since the JVM's start, %.1f a second now",
			(long long)v->compilations, rate);
	scene_proof(
		f, "what finds no space stays interpreted, or takes that of code that is in use");
	snprintf(f->look, sizeof(f->look),
		"a larger one: -XX:ReservedCodeCacheSize; or what generates so much code");
	f->event = EVENT_CPU;
}

const struct finding_rule rule_codecache = {
	.name = "codecache",
	.title = "CODE CACHE",
	.what = "a code cache of which less than a tenth is free",
	.look = look,
};
