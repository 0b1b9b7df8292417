/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled code that meets what it was not compiled for, again and again, and goes on in the interpreter each time.
 *
 * Every program does so while it warms up, for a moment. What it costs is in the samples: HotSpot does it in two blobs of code.
 */
#include "findings/places.h"
#include "findings/rules.h"

#define MUCH    0.05
#define SAMPLES 30
#define UP_S    30

static uint32_t leaves(const struct scene *scene, uint32_t stack)
{
	return places_find(scene->places, stack, METHOD_LEAVES);
}

static void look(const struct scene *scene)
{
	struct scene_cost cost = scene_cost(scene, leaves);
	char who[160] = "";
	struct finding *f;

	if (scene->now->uptime_s < UP_S || cost.count < SAMPLES || cost.share < MUCH)
		return;
	f = scene_found_cost(scene, &cost);
	if (!f)
		return;
	if (cost.method != PROFILE_NONE)
		snprintf(who, sizeof(who), ", %s of it from %s", scene_cost_part(&cost),
			scene_method(scene, cost.method));
	snprintf(f->what, sizeof(f->what),
		"%.0f %% of the CPU time goes from compiled code back to the interpreter%s",
		100 * f->share, who);
	scene_proof(f, "the compiled code gives up here, time and again (a deoptimisation):");
	scene_proof_stack(scene, f, cost.stack, 4);
	snprintf(f->look, sizeof(f->look),
		"an exception, a null or a type there that the compiler did not expect; "
		"-Xlog:deoptimization=debug tells why (JDK 17 and later)");
}

const struct finding_rule rule_deopt = {
	.name = "deopt",
	.title = "DEOPTIMISED",
	.what = "compiled code that gives up all the time, for 5 % of the CPU time and more",
	.events = 1u << EVENT_CPU,
	.uptime_s = UP_S,
	.look = look,
};
