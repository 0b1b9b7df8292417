/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hot methods that are interpreted though the program runs for long: they are too large to be compiled, the code cache
 * is full, the compiler has given up on them, or it was told to leave them alone.
 *
 * A program that starts something new is interpreted for a moment, too: so it has to be so in both halves of the window, and one
 * method alone must be much of it, where code that is new all the time is spread over many.
 */
#include "findings/rules.h"
#include "findings/scene.h"

#include <string.h>

#define MUCH     0.25 /* of the CPU time, */
#define MUCH_ONE 0.10 /* of that in one method */
#define SAMPLES  50
#define LEAST_S  4
#define UP_S     60

/* What the interpreter itself does, nothing that it calls. */
static uint32_t interprets(const struct scene *scene, uint32_t stack)
{
	return scene_frame(scene, stack)->type == FRAME_INTERPRETED ? stack : PROFILE_NONE;
}

/* much: in these seconds, of one method, which is told. */
static bool much(const struct scene *scene, uint32_t from, uint32_t to, struct scene_cost *cost)
{
	struct scene part = *scene;

	part.from = from;
	part.to = to;
	*cost = scene_cost(&part, interprets);
	return cost->share >= MUCH && cost->method != PROFILE_NONE &&
	       (double)cost->most * cost->share >= MUCH_ONE * (double)cost->weight;
}

static void look(const struct scene *scene)
{
	uint32_t middle = scene->from + (scene->to - scene->from) / 2;
	struct scene_cost cost, early, late;
	struct finding *f;

	if (scene->now->uptime_s < UP_S || scene->to - scene->from < LEAST_S ||
		!much(scene, scene->from, scene->to, &cost) || cost.count < SAMPLES ||
		!much(scene, scene->from, middle, &early) ||
		!much(scene, middle, scene->to, &late) || early.method != late.method)
		return;
	f = scene_found_cost(scene, &cost);
	if (!f)
		return;
	snprintf(f->what, sizeof(f->what),
		"%.0f %% of the CPU time is interpreted, not compiled, %lld s after the start, %s "
		"in %s",
		100 * f->share, (long long)scene->now->uptime_s, scene_cost_part(&cost),
		scene_method(scene, cost.method));
	scene_proof_stack(scene, f, cost.stack, 3);
	if (strstr(scene->now->vm_args, "-Xint"))
		snprintf(f->look, sizeof(f->look),
			"the JVM was started with -Xint: it compiles nothing");
	else
		snprintf(f->look, sizeof(f->look),
			"is the method larger than 8,000 bytes of bytecode, excluded, or the code "
			"cache full? -XX:+PrintCompilation tells");
}

const struct finding_rule rule_interpreted = {
	.name = "interpreted",
	.title = "INTERPRETED",
	.what = "hot methods that are not compiled, for a quarter of the CPU time",
	.events = 1u << EVENT_CPU,
	.uptime_s = UP_S,
	.look = look,
};
