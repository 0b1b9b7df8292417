/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The heap is nearly full even after collections: what is in use can be told then only.
 *
 * The least that was in use since a collection is what survived it, or less than has been allocated since: never more than
 * is true of the second, so a heap that fills up between collections is none of this.
 */
#include "findings/rules.h"
#include "findings/scene.h"

#define FULL   0.85
#define ROUNDS 3 /* collections */

/* after: the least in use over the seconds in which `rounds` collections ended; -1: so many have not. */
static int64_t after(const struct scene *scene, int64_t rounds)
{
	int64_t least = -1, end = scene->now->gc_count;

	for (unsigned i = scene->point_count; i-- > 0;) {
		const struct scene_point *p = &scene->points[i];

		if (p->heap_used < 0 || p->gc_count < 0)
			return -1;
		least = least < 0 || p->heap_used < least ? p->heap_used : least;
		if (end - p->gc_count >= rounds)
			return least;
	}
	return -1;
}

static void look(const struct scene *scene)
{
	int64_t least = after(scene, ROUNDS), most = scene->now->heap_max;
	struct finding *f;

	if (least < 0 || most <= 0 || (double)least < FULL * (double)most)
		return;
	f = scene_found(scene, FINDING_COSTS, (double)least / (double)most, 0);
	if (!f)
		return;
	snprintf(f->what, sizeof(f->what),
		"%lld of %lld MB of the heap stay in use whatever is collected",
		(long long)(least >> 20), (long long)(most >> 20));
	scene_proof(f,
		"%lld collections by now; the least in use over the last %d and more: %lld MB",
		(long long)scene->now->gc_count, ROUNDS, (long long)(least >> 20));
	snprintf(f->look, sizeof(f->look),
		"who keeps it: jhot record -e alloc --live -d 30 %d; or more heap: -Xmx",
		scene->now->pid);
	f->event = EVENT_ALLOC;
}

const struct finding_rule rule_heap = {
	.name = "heap",
	.title = "HEAP FULL",
	.what = "a heap that is nearly full after collections",
	.look = look,
};
