/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors run out: most of them are open, or at this pace they soon will be. */
#include "findings/rules.h"
#include "findings/scene.h"

#define NEAR   0.9 /* of the limit is open */
#define SOON_S 600 /* until the limit is reached, at this rate, */
#define PARTS  4   /* in each part of the time more were open than in the one before */

/* In a second; -1: it did not rise in each part of the time. */
static double rising(const struct scene *scene, const struct scene_point *then)
{
	const struct scene_point *now = scene_last(scene), *from = then;

	for (int part = 1; part <= PARTS; part++) {
		const struct scene_point *to = scene_part(scene, then, part, PARTS);

		if (from->host.fds < 0 || to->host.fds <= from->host.fds)
			return -1;
		from = to;
	}
	return scene_rate(then, now, then->host.fds, now->host.fds);
}

static void look(const struct scene *scene)
{
	const struct scene_point *then = scene_before(scene, SCENE_LEAST_S, SCENE_MOST_S), *now;
	int64_t open, most;
	double rate;
	struct finding *f;

	if (!then)
		return;
	now = scene_last(scene);
	open = now->host.fds, most = now->host.fds_limit;
	if (open < 0 || most <= 0)
		return;
	rate = rising(scene, then);
	if ((double)open < NEAR * (double)most && rate * SOON_S < (double)(most - open))
		return;
	f = scene_found(scene, FINDING_WORTH_KNOWING, (double)open / (double)most, 0);
	if (!f)
		return;
	if (rate > 0)
		snprintf(f->what, sizeof(f->what),
			"%lld of %lld descriptors are open, %.1f more each second: none will be "
			"left in %.0f s",
			(long long)open, (long long)most, rate, (double)(most - open) / rate);
	else
		snprintf(f->what, sizeof(f->what), "%lld of %lld descriptors are open",
			(long long)open, (long long)most);
	scene_proof(f, "%.0f s ago %lld were open", scene_apart_s(then, now),
		(long long)then->host.fds);
	snprintf(f->look, sizeof(f->look),
		"what they are: ls -l /proc/%d/fd; which file, socket or "
		"stream is not closed",
		scene->now->pid);
}

const struct finding_rule rule_descriptors = {
	.name = "descriptors",
	.title = "DESCRIPTORS",
	.what = "open descriptors that reach their limit, or will within ten minutes",
	.look = look,
};
