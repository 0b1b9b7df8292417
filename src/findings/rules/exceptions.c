/* SPDX-License-Identifier: Apache-2.0 */
/* Exceptions thrown so often that filling in their stack traces costs. */
#include "findings/places.h"
#include "findings/rules.h"

#include "profile/table/flat.h"

#define MUCH    0.10
#define SAMPLES 30

/* Who wants them: a method of the program's own, PROFILE_NONE for all others. */
struct thrower {
	uint32_t method, stack; /* stack: one of its */
	uint64_t weight;
};

#define THROWERS 32 /* told apart; the last one is all others */

struct thrown {
	const struct scene *scene;
	uint64_t count, weight;
	struct thrower by[THROWERS];
	unsigned by_count;
};

static void thrown_add(struct thrown *t, uint32_t stack, uint64_t weight)
{
	uint32_t own = scene_own(t->scene, stack), method = PROFILE_NONE;
	struct thrower *by = t->by;

	if (own != PROFILE_NONE)
		method = scene_frame(t->scene, own)->method;
	while (by < t->by + t->by_count && by->method != method)
		by++;
	if (by == t->by + THROWERS)
		by--;
	else if (by == t->by + t->by_count) {
		*by = (struct thrower){method, stack, 0};
		t->by_count++;
	}
	by->weight += weight;
}

static void thrown_of(void *ctx, const struct profile_part *part)
{
	struct thrown *t = ctx;
	uint32_t at = places_find(t->scene->places, part->stack, METHOD_TRACE);

	if (at == PROFILE_NONE)
		return;
	t->count += part->count;
	t->weight += part->weight;
	thrown_add(t, at, part->weight);
}

static void tell(struct finding *f, const struct thrown *t)
{
	const struct thrower *most = t->by;
	char who[160] = "";

	for (const struct thrower *by = t->by; by < t->by + t->by_count; by++)
		most = by->weight > most->weight ? by : most;
	if (most->method != PROFILE_NONE)
		snprintf(who, sizeof(who), ", %s of them for %s",
			2 * most->weight >= t->weight ? "most" : "some",
			scene_method(t->scene, most->method));
	snprintf(f->what, sizeof(f->what),
		"%.0f %% of the CPU time fills in stack traces of exceptions%s", 100 * f->share,
		who);
	scene_proof_stack(t->scene, f, most->stack, 4);
	snprintf(f->look, sizeof(f->look),
		"what is expected is no exception: test before, or throw one without a stack "
		"trace");
	f->event = EVENT_CPU;
	f->method = most->method;
}

static void look(const struct scene *scene)
{
	struct profile_query q = scene_query(scene, EVENT_CPU);
	struct profile_sum all = profile_sum(scene->profile, &q);
	struct thrown t = {.scene = scene};
	struct finding *f;

	profile_each(scene->profile, &q, thrown_of, &t);
	if (t.count < SAMPLES || (double)t.weight < MUCH * (double)all.weight)
		return;
	f = scene_found(scene, FINDING_COSTS, (double)t.weight / (double)all.weight, 0);
	if (!f)
		return;
	f->error = flat_half_width(t.count, all.count) / 100;
	tell(f, &t);
}

const struct finding_rule rule_exceptions = {
	.name = "exceptions",
	.title = "EXCEPTIONS",
	.what = "exceptions whose stack traces cost a tenth of the CPU time",
	.events = 1u << EVENT_CPU,
	.look = look,
};
