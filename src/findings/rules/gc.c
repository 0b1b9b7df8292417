/* SPDX-License-Identifier: Apache-2.0 */
/* The collector takes what the program should have: pauses, or cores. */
#include "findings/rules.h"
#include "findings/scene.h"

#define PAUSES_MUCH 10 /* per cent of the last 10 s */
#define CPU_MUCH    25 /* per cent of the CPU time of the last 10 s, */
#define CPU_LEAST   50 /* where that much of a core is used */

/* Who allocates most, where that is sampled. */
static void prove(const struct scene *scene, struct finding *f)
{
	struct profile_query q = scene_query(scene, EVENT_ALLOC);
	struct profile_part site = scene_most(scene, EVENT_ALLOC, PROFILE_ANY_THREAD, NULL, 0).part;
	uint64_t all = profile_sum(scene->profile, &q).weight;

	if (scene->now->gc_time_ms >= 0)
		scene_proof(f, "%s: it has stopped the program for %.1f of %lld s by now",
			*scene->now->gc_name ? scene->now->gc_name : "the collector",
			(double)scene->now->gc_time_ms / 1000, (long long)scene->now->uptime_s);
	if (!site.weight || !all)
		return;
	scene_proof(
		f, "most is allocated here, %.0f %%:", 100.0 * (double)site.weight / (double)all);
	scene_proof_stack(scene, f, site.stack, 3);
}

static void look(const struct scene *scene)
{
	const struct vitals *v = scene->now;
	struct vitals_cpu owners;
	double all = scene_cpu(scene, &owners);
	double cpu = all >= CPU_LEAST ? 100.0 * owners.gc_pct / all : 0;
	double pauses = scene_before(scene, SCENE_LEAST_S, SCENE_MOST_S) ? v->gc_pct_x10 / 10.0 : 0;
	char part[60] = "";
	struct finding *f;

	if ((pauses < PAUSES_MUCH && cpu < CPU_MUCH) || scene_has(scene, &rule_humongous))
		return;
	f = scene_found(scene, FINDING_COSTS, (pauses > cpu ? pauses : cpu) / 100, 0);
	if (!f)
		return;
	if (cpu >= CPU_MUCH)
		snprintf(part, sizeof(part), ", and uses %.0f %% of the CPU time", cpu);
	if (pauses >= PAUSES_MUCH)
		snprintf(f->what, sizeof(f->what),
			"the collector stops the program for %.0f %% of the time%s", pauses, part);
	else
		snprintf(f->what, sizeof(f->what), "the collector uses %.0f %% of the CPU time",
			cpu);
	prove(scene, f);
	snprintf(f->look, sizeof(f->look), "who allocates: key 2, or jhot record -e alloc -d 10 %d",
		v->pid);
	f->event = EVENT_ALLOC;
}

const struct finding_rule rule_gc = {
	.name = "gc",
	.title = "GC",
	.what = "garbage collection that takes more than a tenth of the time, or a quarter of the "
		"CPU",
	.look = look,
};
