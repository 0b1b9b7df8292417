/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program waits for its memory to be read back from swap.
 *
 * A major fault may be for a file's page as well, and memory that was moved out long ago may never be wanted: so the
 * host must have read back as much from swap at the same time, and both for all of 10 s.
 */
#include "findings/rules.h"
#include "findings/scene.h"

#define FAULTS     50 /* a second */
#define SWAP_BYTES ((int64_t)50 << 20)

/* The fewer of its own faults and of the pages that the host read back, a second. */
static double read_back(const struct scene_point *then, const struct scene_point *now)
{
	const struct vitals_host *a = &then->host, *b = &now->host;
	double faults = scene_rate(then, now, a->major_faults, b->major_faults);
	double pages = scene_rate(then, now, a->swapped_in, b->swapped_in);

	return faults < pages ? faults : pages;
}

static void look(const struct scene *scene)
{
	const struct scene_point *then = scene_before(scene, SCENE_LEAST_S, SCENE_MOST_S);
	const struct scene_point *half = scene_before(scene, SCENE_LEAST_S / 2, SCENE_MOST_S / 2);
	const struct vitals_host *host = &scene->now->host;
	struct finding *f;

	if (!then || !half || host->swap_bytes <= SWAP_BYTES || read_back(then, half) < FAULTS ||
		read_back(half, scene_last(scene)) < FAULTS)
		return;
	f = scene_found(scene, FINDING_COSTS, -1, 0);
	if (!f)
		return;
	snprintf(f->what, sizeof(f->what),
		"%lld MB of the program are in swap, and it waits for %.0f pages a second to be "
		"read back",
		(long long)(host->swap_bytes >> 20), read_back(then, scene_last(scene)));
	scene_proof(f, "resident %lld MB, swapped out %lld MB, %lld major faults since its start",
		(long long)(scene->now->rss_bytes >> 20), (long long)(host->swap_bytes >> 20),
		(long long)host->major_faults);
	snprintf(f->look, sizeof(f->look),
		"more memory, or a smaller heap: every collection reads all of it back");
}

const struct finding_rule rule_swap = {
	.name = "swap",
	.title = "SWAP",
	.what = "memory that is read back from swap, 50 pages a second and more",
	.look = look,
};
