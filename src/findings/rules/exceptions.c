/* SPDX-License-Identifier: Apache-2.0 */
/* Exceptions thrown so often that filling in their stack traces costs. */
#include "findings/places.h"
#include "findings/rules.h"

#define MUCH    0.10
#define SAMPLES 30

static uint32_t fills_in(const struct scene *scene, uint32_t stack)
{
	return places_find(scene->places, stack, METHOD_TRACE);
}

static void look(const struct scene *scene)
{
	struct scene_cost cost = scene_cost(scene, fills_in);
	char who[160] = "";
	struct finding *f;

	if (cost.count < SAMPLES || cost.share < MUCH)
		return;
	f = scene_found_cost(scene, &cost);
	if (!f)
		return;
	if (cost.method != PROFILE_NONE)
		snprintf(who, sizeof(who), ", %s of them for %s", scene_cost_part(&cost),
			scene_method(scene, cost.method));
	snprintf(f->what, sizeof(f->what),
		"%.0f %% of the CPU time fills in stack traces of exceptions%s", 100 * f->share,
		who);
	scene_proof_stack(scene, f, cost.stack, 4);
	snprintf(f->look, sizeof(f->look),
		"what is expected is no exception: test before, or throw one without a stack "
		"trace");
}

const struct finding_rule rule_exceptions = {
	.name = "exceptions",
	.title = "EXCEPTIONS",
	.what = "exceptions whose stack traces cost a tenth of the CPU time",
	.events = 1u << EVENT_CPU,
	.look = look,
};
