/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classes are loaded all the time: code that is generated anew for each request, class loaders that are thrown away.
 *
 * A program that starts, or is asked for something for the first time, loads many for a while: so it counts after the first
 * minute and over half a minute, or when as many are thrown away again. Each third of the time must have its part.
 */
#include "findings/rules.h"
#include "findings/scene.h"

#define RATE      50 /* a second */
#define UP_S      60
#define LONG_S    30.0
#define THROWN    0.5 /* of what was loaded */
#define PARTS     3
#define PART_RATE (RATE / 2)

/* steadily: so many a second, and some in each part of the time. */
static bool steadily(const struct scene *scene, const struct scene_point *then)
{
	const struct scene_point *now = scene_last(scene), *from = then, *to;

	if (scene_rate(then, now, then->classes, now->classes) < RATE)
		return false;
	for (int part = 1; part <= PARTS; part++, from = to) {
		to = scene_part(scene, then, part, PARTS);
		if (scene_rate(from, to, from->classes, to->classes) < PART_RATE)
			return false;
	}
	return true;
}

static bool thrown(const struct scene_point *then, const struct scene_point *now)
{
	return then->unloaded >= 0 && (double)(now->unloaded - then->unloaded) >=
					      THROWN * (double)(now->classes - then->classes);
}

static void look(const struct scene *scene)
{
	const struct scene_point *then = scene_before(scene, LONG_S, LONG_S + 5), *now;
	struct finding *f;

	if (scene->now->uptime_s < UP_S || (then && !steadily(scene, then)))
		then = NULL;
	if (!then) {
		then = scene_before(scene, SCENE_LEAST_S, SCENE_MOST_S);
		if (!then || !steadily(scene, then) || !thrown(then, scene_last(scene)))
			return;
	}
	now = scene_last(scene);
	f = scene_found(scene, FINDING_WORTH_KNOWING, -1, 0);
	if (!f)
		return;
	snprintf(f->what, sizeof(f->what), "%.0f classes a second are loaded, for %.0f s and more",
		scene_rate(then, now, then->classes, now->classes), scene_apart_s(then, now));
	if (then->unloaded >= 0)
		scene_proof(f, "%lld loaded and %lld unloaded in the last %.0f s",
			(long long)(now->classes - then->classes),
			(long long)(now->unloaded - then->unloaded), scene_apart_s(then, now));
	scene_proof(f, "%lld loaded since the JVM's start, %lld s ago", (long long)now->classes,
		(long long)scene->now->uptime_s);
	snprintf(f->look, sizeof(f->look),
		"scripts, proxies and lambdas that are made anew each time; -Xlog:class+load tells "
		"names");
}

const struct finding_rule rule_classes = {
	.name = "classes",
	.title = "CLASSES",
	.what = "classes that are loaded all the time, 50 a second and more",
	.look_s = (int)LONG_S,
	.uptime_s = UP_S,
	.look = look,
};
