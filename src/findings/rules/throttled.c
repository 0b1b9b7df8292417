/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cgroup's limit of CPU time stops the program: once its share of a period is used up, until the next begins.
 *
 * The share is of all periods there were, also of those in which it had nothing to do: a program that works for a moment
 * now and then and is stopped then is no finding.
 */
#include "findings/rules.h"
#include "findings/scene.h"

#define MUCH 0.05 /* of the periods */

static double share_of(const struct scene_point *then, const struct scene_point *now)
{
	const struct vitals_host *a = &then->host, *b = &now->host;
	double periods, counted;

	if (a->cpu_limit <= 0 || b->cpu_limit != a->cpu_limit || b->cpu_period_us <= 0 ||
		b->cpu_period_us != a->cpu_period_us || a->cpu_throttled < 0 ||
		b->cpu_throttled < a->cpu_throttled)
		return 0;
	periods = scene_apart_s(then, now) * 1e6 / (double)b->cpu_period_us;
	counted = (double)(b->cpu_periods - a->cpu_periods);
	periods = counted > periods ? counted : periods;
	return (double)(b->cpu_throttled - a->cpu_throttled) / periods;
}

static void look(const struct scene *scene)
{
	const struct scene_point *then = scene_before(scene, SCENE_LEAST_S, SCENE_MOST_S);
	const struct scene_point *now;
	struct finding *f;
	double share;

	if (!then)
		return;
	now = scene_last(scene);
	share = share_of(then, now);
	if (share < MUCH)
		return;
	f = scene_found(scene, FINDING_COSTS, share, 0);
	if (!f)
		return;
	snprintf(f->what, sizeof(f->what),
		"the cgroup's limit of %.4g cores stops the program in %.0f %% of its periods of "
		"%.0f ms",
		(double)now->host.cpu_limit / 1000, 100 * share,
		(double)now->host.cpu_period_us / 1000);
	scene_proof(f, "stopped %lld times in the last %.0f s, for %.1f s, added up over the CPUs",
		(long long)(now->host.cpu_throttled - then->host.cpu_throttled),
		scene_apart_s(then, now),
		(double)(now->host.throttled_us - then->host.throttled_us) / 1e6);
	snprintf(f->look, sizeof(f->look),
		"a higher limit (cpu.max, or cpu.cfs_quota_us of cgroup 1); or what uses the CPU: "
		"key 1, or jhot record -d 10 %d",
		scene->now->pid);
	f->event = EVENT_CPU;
}

const struct finding_rule rule_throttled = {
	.name = "throttled",
	.title = "THROTTLED",
	.what = "a cgroup's CPU limit that stops the program in 5 % of its periods and more",
	.look = look,
};
