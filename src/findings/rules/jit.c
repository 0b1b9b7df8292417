/* SPDX-License-Identifier: Apache-2.0 */
/* The compilers use the CPU time though the program runs for long: every one warms up, this one never ends to. */
#include "findings/rules.h"
#include "findings/scene.h"

#define MUCH  40 /* per cent of the CPU time, */
#define LEAST 50 /* where that much of a core is used, */
#define UP_S  60 /* after this */

static void look(const struct scene *scene)
{
	const struct vitals *v = scene->now;
	struct vitals_cpu owners;
	double all = scene_cpu(scene, &owners);
	struct finding *f;

	if (v->uptime_s < UP_S || all < LEAST || 100 * owners.jit_pct < MUCH * all)
		return;
	f = scene_found(scene, FINDING_WORTH_KNOWING, owners.jit_pct / all, 0);
	if (!f)
		return;
	snprintf(f->what, sizeof(f->what),
		"the JIT compilers use %.0f %% of the CPU time, %lld s after the start",
		100 * f->share, (long long)v->uptime_s);
	scene_proof(f,
		"over the last 10 s: Java %d %%, JIT %d %%, GC %d %%, kernel %d %% of one core",
		owners.java_pct, owners.jit_pct, owners.gc_pct, owners.kernel_pct);
	snprintf(f->look, sizeof(f->look),
		"code that is generated, or compiled and thrown away, all the time");
	f->event = EVENT_CPU;
}

const struct finding_rule rule_jit = {
	.name = "jit",
	.title = "JIT",
	.what = "compilers that use 40 % of the CPU time and more, a minute after the start",
	.look = look,
};
