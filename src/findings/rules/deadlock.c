/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that wait for each other in a circle: none of them goes on by itself.
 *
 * Owners are read one after the other, not at once, so a circle counts only when each wait has lasted for longer than that takes.
 */
#include "findings/places.h"
#include "findings/rules.h"

#include "base/clock.h"

#define NAMED    3              /* threads of a circle */
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

/* gives_up: it waits for a limited time, as far as its samples tell, and goes on then; no samples of anybody: who knows. */
static bool gives_up(const struct scene *scene, uint32_t thread)
{
	uint32_t stack = scene_most(scene, EVENT_WALL, thread, NULL, 0).part.stack;
	bool lacks = !scene->wall_count && scene->now->events[EVENT_LOCK].state == VITALS_ON &&
		     scene->now->events[EVENT_WALL].state == VITALS_ON;

	return lacks || places_find(scene->places, stack, METHOD_TRIES) != PROFILE_NONE;
}

/* ends: one of the circle's n threads gives up some time. */
static bool ends(const struct scene *scene, uint32_t first, uint32_t n)
{
	struct profile_wait w;
	uint32_t at = first;

	for (uint32_t i = 0; i < n && waits(scene, at, &w); i++, at = w.owner)
		if (gives_up(scene, at))
			return true;
	return false;
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
			return ends(scene, first, n) ? 0 : n;
		if (at < first)
			return 0; /* found from there, if it is one */
	}
	return 0;
}

/* "payer-1 and payer-2", "payer-1, payer-2, payer-3 and 5 more" */
static void name_all(const struct scene *scene, uint32_t first, uint32_t n, char *out, size_t bytes)
{
	uint32_t shown = n > NAMED ? NAMED : n, at = first;
	struct profile_wait w;
	size_t used = 0;

	for (uint32_t i = 0; i < shown && used < bytes && waits(scene, at, &w); i++, at = w.owner)
		used += (size_t)snprintf(out + used, bytes - used, "%s%s",
			!i           ? ""
			: i + 1 == n ? " and "
				     : ", ",
			scene_thread(scene, at));
	if (n > shown && used < bytes)
		snprintf(out + used, bytes - used, " and %u more", n - shown);
}

static void tell(const struct scene *scene, uint32_t first, uint32_t n)
{
	struct finding *f = scene_found(scene, FINDING_STANDS_STILL, 1, first);
	uint64_t least = UINT64_MAX;
	uint32_t at = first;
	struct profile_wait w;
	char names[140] = "";

	if (!f)
		return;
	for (uint32_t i = 0; i < n && waits(scene, at, &w); i++, at = w.owner) {
		least = lasted(scene, &w) < least ? lasted(scene, &w) : least;
		scene_proof(f, "%s waits for %s, held by %s", scene_thread(scene, at),
			scene_method(scene, w.method), scene_thread(scene, w.owner));
		scene_proof_stack(
			scene, f, scene_most(scene, EVENT_WALL, at, NULL, 0).part.stack, 2);
	}
	name_all(scene, first, n, names, sizeof(names));
	snprintf(f->what, sizeof(f->what), "%s wait for each other for %.0f s, and will not go on",
		names, (double)least / (double)NS_PER_S);
	snprintf(f->look, sizeof(f->look),
		"take these locks in the same order everywhere; jhot dump shows whole stacks");
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
	.look = look,
};
