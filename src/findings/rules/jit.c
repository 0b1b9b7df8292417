/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compilers never come to an end though the program runs for long: every one warms up. They use much of the CPU time, or
 * compile all the time what is thrown away again: more code would stay if it were new.
 */
#include "findings/rules.h"
#include "findings/scene.h"

#define MUCH   40 /* per cent of the CPU time, */
#define LEAST  50 /* where that much of a core is used, */
#define UP_S   60 /* after this */

#define RATE   20 /* compilations a second, */
#define LONG_S 30.0
#define MB     1048576.0
#define STAYS  256 /* bytes of each that are there afterwards; code of a method is some kilobytes */

/* anew: how many a second that do not stay; < 0: none that are worth a word. */
static double anew(const struct scene *scene)
{
	const struct scene_point *then = scene_before(scene, LONG_S, LONG_S + 5), *now;
	double rate;

	if (!then || then->code_used < 0 || scene_last(scene)->code_used < 0)
		return -1;
	now = scene_last(scene);
	rate = scene_rate(then, now, then->compilations, now->compilations);
	if (rate < RATE || now->code_used - then->code_used >=
				   STAYS * (now->compilations - then->compilations))
		return -1;
	return rate;
}

static void look(const struct scene *scene)
{
	const struct vitals *v = scene->now;
	struct vitals_cpu owners;
	double all = scene_cpu(scene, &owners), rate = anew(scene);
	bool busy = all >= LEAST && 100 * owners.jit_pct >= MUCH * all;
	struct finding *f;

	if (v->uptime_s < UP_S || (!busy && rate < 0))
		return;
	f = scene_found(scene, FINDING_WORTH_KNOWING, busy ? owners.jit_pct / all : -1, 0);
	if (!f)
		return;
	if (busy)
		snprintf(f->what, sizeof(f->what),
			"the JIT compilers use %.0f %% of the CPU time, %lld s after the start",
			100 * f->share, (long long)v->uptime_s);
	else
		snprintf(f->what, sizeof(f->what),
			"%.0f methods a second are compiled, %lld s after the start, and what is "
			"compiled does not stay",
			rate, (long long)v->uptime_s);
	if (all >= 0)
		scene_proof(f,
			"over the last 10 s: Java %d %%, JIT %d %%, GC %d %%, kernel %d %% of one "
			"core",
			owners.java_pct, owners.jit_pct, owners.gc_pct, owners.kernel_pct);
	if (rate >= 0)
		scene_proof(f,
			"%lld compilations since the JVM's start; compiled code takes %.1f MB, and "
			"took %.1f MB %.0f s ago",
			(long long)v->compilations, (double)v->code_used / MB,
			(double)scene_before(scene, LONG_S, LONG_S + 5)->code_used / MB, LONG_S);
	snprintf(f->look, sizeof(f->look),
		"code that is generated, or compiled and thrown away, all the time");
	f->event = EVENT_CPU;
}

const struct finding_rule rule_jit = {
	.name = "jit",
	.title = "JIT",
	.what = "compilers that use 40 % of the CPU time and more, or compile the same anew",
	.uptime_s = UP_S,
	.look = look,
};
