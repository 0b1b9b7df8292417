/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that wait for each other in a circle: none of them goes on by itself.
 *
 * Owners are read one after the other, not at once, so a circle counts only when each wait has lasted for longer than that takes.
 */
#include "findings/rules.h"
#include "findings/scene.h"

#include "base/buf.h"
#include "base/clock.h"

#include <stdlib.h>

#define LEAST_NS (2 * NS_PER_S) /* of which one may be the last second's rest */

static bool waits(const struct scene *scene, uint32_t thread, struct profile_wait *w)
{
	return profile_wait_at(scene->profile, thread, scene->to, w) &&
	       w->until_ns == PROFILE_STILL && w->owner != PROFILE_NONE && w->owner != thread;
}

static uint64_t lasted(const struct scene *scene, const struct profile_wait *w)
{
	uint64_t now = scene->to * NS_PER_S;

	return w->before_ns + (now > w->since_ns ? now - w->since_ns : 0);
}

/* circle: how many threads are in the one that begins and ends with this thread; 0: there is none. */
static uint32_t circle(const struct scene *scene, uint32_t first, uint32_t most)
{
	struct profile_wait w;
	uint32_t at = first;

	for (uint32_t n = 1; n <= most; n++) {
		if (!waits(scene, at, &w) || lasted(scene, &w) < LEAST_NS)
			return 0;
		at = w.owner;
		if (at == first)
			return n;
		if (at < first)
			return 0; /* found from there, if it is one */
	}
	return 0;
}

static void tell(const struct scene *scene, uint32_t first, uint32_t n)
{
	struct finding *f = scene_found(scene, FINDING_STANDS_STILL, 1, first);
	uint64_t least = UINT64_MAX;
	uint32_t at = first;
	struct profile_wait w;

	if (!f)
		return;
	for (uint32_t i = 0; i < n && waits(scene, at, &w); i++, at = w.owner) {
		least = lasted(scene, &w) < least ? lasted(scene, &w) : least;
		scene_proof(f, "%s waits for %s, held by %s", scene_thread(scene, at),
			scene_method(scene, w.method), scene_thread(scene, w.owner));
		scene_proof_stack(scene, f, scene_thread_stack(scene, at), 2);
	}
	snprintf(f->what, sizeof(f->what),
		"%u threads wait for each other, for %.0f s and for ever: %s, %s%s", n,
		(double)least / (double)NS_PER_S, scene_thread(scene, first),
		(waits(scene, first, &w), scene_thread(scene, w.owner)), n > 2 ? ", ..." : "");
	snprintf(f->look, sizeof(f->look),
		"take both locks in the same order everywhere; `jhot dump` shows whole stacks");
	f->event = EVENT_LOCK;
	f->thread = first;
}

static void look(const struct scene *scene)
{
	uint32_t threads = profile_thread_count(scene->profile);

	for (uint32_t i = 0; i < threads; i++) {
		uint32_t n = circle(scene, i, 64);

		if (n)
			tell(scene, i, n);
	}
}

const struct finding_rule rule_deadlock = {
	.name = "deadlock",
	.title = "DEADLOCK",
	.what = "threads that wait for each other in a circle",
	.events = 1u << EVENT_LOCK,
	.look = look,
};
