/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The heap is nearly full, whatever is collected.
 *
 * What is in use can be told right after a collection only, of the whole heap: a healthy one fills up before each, for
 * hours if need be. The counters do not tell that moment (before JDK 24 they tell the present, after it that of the last
 * collection), so the heap must be full at each of many looks (several a second), between which it was collected several times.
 */
#include "findings/rules.h"
#include "findings/scene.h"

#define FULL   0.85
#define ROUNDS 3 /* collections of the whole heap */
#define LOOKS  12

/* The points back from the last one in which the heap was full; looks: since the first of them. */
struct full {
	int64_t least, looks;
	const struct scene_point *first;
};

static struct full full_for(const struct scene *scene)
{
	double most = FULL * (double)scene->now->heap_max;
	struct full full = {.least = INT64_MAX};

	for (unsigned i = scene->point_count; i-- > 0;) {
		const struct scene_point *p = &scene->points[i];

		if (p->heap_low < 0 || p->gc_whole < 0 || (double)p->heap_low < most)
			break;
		full.least = p->heap_low < full.least ? p->heap_low : full.least;
		full.first = p;
		full.looks = scene_last(scene)->heap_looks - p->heap_looks;
	}
	return full;
}

static void look(const struct scene *scene)
{
	struct full full = full_for(scene);
	int64_t most = scene->now->heap_max, rounds;
	struct finding *f;

	if (most <= 0 || full.looks < LOOKS)
		return;
	rounds = scene_last(scene)->gc_whole - full.first->gc_whole;
	if (rounds < ROUNDS)
		return;
	f = scene_found(scene, FINDING_COSTS, (double)full.least / (double)most, 0);
	if (!f)
		return;
	snprintf(f->what, sizeof(f->what),
		"the heap is full: %lld of %lld MB and more are in use, whatever is collected",
		(long long)(full.least >> 20), (long long)(most >> 20));
	scene_proof(f, "so at each of %lld looks in %.0f s, while %s collected again and again",
		(long long)full.looks, scene_apart_s(full.first, scene_last(scene)),
		*scene->now->gc_name ? scene->now->gc_name : "the JVM");
	snprintf(f->look, sizeof(f->look),
		"who keeps it: jhot record -e alloc --live -d 30 %d; or more heap: -Xmx",
		scene->now->pid);
	f->event = EVENT_ALLOC;
}

const struct finding_rule rule_heap = {
	.name = "heap",
	.title = "HEAP FULL",
	.what = "a heap that stays nearly full, whatever is collected",
	.look = look,
};
