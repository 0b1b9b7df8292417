/* SPDX-License-Identifier: Apache-2.0 */
/* The compilers use the CPU time: a program that warms up, or one that never does. */
#include "findings/rules.h"
#include "findings/scene.h"

#define MUCH  40 /* per cent of the CPU time, */
#define LEAST 50 /* where that much of a core is used */

static void look(const struct scene *scene)
{
	const struct vitals *v = scene->now;
	struct finding *f;

	if (v->cpu_pct < LEAST || v->cpu.jit_pct < 0 || 100 * v->cpu.jit_pct < MUCH * v->cpu_pct)
		return;
	f = scene_found(scene, FINDING_WORTH_KNOWING, (double)v->cpu.jit_pct / v->cpu_pct, 0);
	if (!f)
		return;
	snprintf(f->what, sizeof(f->what), "the JIT compilers use %d of %d %% of a core",
		v->cpu.jit_pct, v->cpu_pct);
	scene_proof(f, "Java %d %%, JIT %d %%, GC %d %%, kernel %d %% of one core; up %lld s",
		v->cpu.java_pct, v->cpu.jit_pct, v->cpu.gc_pct, v->cpu.kernel_pct,
		(long long)v->uptime_s);
	snprintf(f->look, sizeof(f->look),
		"after a start: wait; later: code that is generated, or thrown away, all the time");
	f->event = EVENT_CPU;
}

const struct finding_rule rule_jit = {
	.name = "jit",
	.title = "JIT",
	.what = "compilers that use 40 % of the CPU time and more",
	.look = look,
};
