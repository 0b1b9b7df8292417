/* SPDX-License-Identifier: Apache-2.0 */
/* Exceptions thrown so often that filling in their stack traces costs. */
#include "findings/rules.h"
#include "findings/scene.h"

#include "profile/table/flat.h"

#include <string.h>

#define MUCH    0.10
#define SAMPLES 30

/* What fills in stack traces, and where most of them are wanted. */
struct thrown {
	const struct scene *scene;
	uint64_t count, weight, most;
	uint32_t stack;
};

static void thrown_of(void *ctx, const struct profile_part *part)
{
	struct thrown *t = ctx;

	for (uint32_t at = part->stack; at != PROFILE_ROOT_STACK;) {
		struct profile_stack s = profile_get_stack(t->scene->profile, at);
		const struct profile_frame *f = profile_get_frame(t->scene->profile, s.frame);
		const struct profile_method *m = profile_get_method(t->scene->profile, f->method);

		if (!strcmp(m->name, "fillInStackTrace") &&
			!strcmp(m->class_name, "java.lang.Throwable")) {
			t->count += part->count;
			t->weight += part->weight;
			if (part->weight > t->most) {
				t->most = part->weight;
				t->stack = at;
			}
			return;
		}
		at = s.parent;
	}
}

static void look(const struct scene *scene)
{
	struct profile_query q = scene_query(scene, EVENT_CPU);
	struct profile_sum all = profile_sum(scene->profile, &q);
	struct thrown t = {.scene = scene};
	struct finding *f;
	uint32_t own;

	profile_each(scene->profile, &q, thrown_of, &t);
	if (t.count < SAMPLES || (double)t.weight < MUCH * (double)all.weight)
		return;
	own = scene_own(scene, t.stack);
	f = scene_found(scene, FINDING_COSTS, (double)t.weight / (double)all.weight, own);
	if (!f)
		return;
	f->error = flat_half_width(t.count, all.count) / 100;
	snprintf(f->what, sizeof(f->what),
		"%.0f %% of the CPU time fills in stack traces of exceptions%s%s", 100 * f->share,
		own == PROFILE_NONE ? "" : ", most in ",
		own == PROFILE_NONE
			? ""
			: scene_method(scene, profile_get_frame(scene->profile,
						      profile_get_stack(scene->profile, own).frame)
						      ->method));
	scene_proof_stack(scene, f, t.stack, 4);
	snprintf(f->look, sizeof(f->look),
		"exceptions that are part of the normal course: test before, or throw one without "
		"a "
		"stack trace");
	f->event = EVENT_CPU;
	if (own != PROFILE_NONE)
		f->method = profile_get_frame(
			scene->profile, profile_get_stack(scene->profile, own).frame)
				    ->method;
}

const struct finding_rule rule_exceptions = {
	.name = "exceptions",
	.title = "EXCEPTIONS",
	.what = "exceptions whose stack traces cost a tenth of the CPU time",
	.events = 1u << EVENT_CPU,
	.look = look,
};
