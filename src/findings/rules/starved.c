/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads wait for tasks of an executor all of whose threads are taken, by tasks that wait themselves.
 *
 * What a future's task runs in is not known: an executor counts whose threads are never without a task, while at least as many
 * threads as it has wait for futures. Tasks that compute are no problem of the executor's, but of the cores.
 */
#include "findings/places.h"
#include "findings/rules.h"

#include "base/buf.h"
#include "base/clock.h"

#include <stdlib.h>

#define IDLE  0.05 /* of the executor's time is without a task, at most, */
#define WAITS 0.75 /* and so much of it tasks wait */
#define LEAST 2.0  /* threads that wait for futures at any moment */

struct executor {
	uint64_t all, idle, waits, most;
	uint32_t stack, thread; /* where most of its time is spent waiting */
};

static bool in_future(const struct scene *scene, const struct profile_part *part)
{
	return (part->state == THREAD_PARKED || part->state == THREAD_WAITING) &&
	       places_find(scene->places, part->stack, METHOD_FUTURE) != PROFILE_NONE;
}

static void add(const struct scene *scene, struct executor *e, const struct profile_part *part)
{
	struct place at = places_of(scene->places, part->stack);

	e->all += part->weight;
	if (at.idle || !at.executor) {
		e->idle += part->weight;
	} else if (part->state > THREAD_RUNNABLE && part->state != THREAD_CARRIER) {
		e->waits += part->weight;
		if (part->weight > e->most) {
			e->most = part->weight;
			e->stack = part->stack;
			e->thread = part->thread;
		}
	}
}

static void report(const struct scene *scene, const struct executor *e,
	const struct scene_most *waiter, double waiters, double threads)
{
	uint32_t own = places_of(scene->places, e->stack).own;
	const char *pool = profile_pool_name(
		scene->profile, profile_get_thread(scene->profile, e->thread)->pool);
	struct finding *f =
		scene_found(scene, FINDING_COSTS, waiters / (waiters + threads), e->stack);

	if (!f)
		return;
	f->event = EVENT_WALL;
	f->thread = e->thread;
	f->method = own == PROFILE_NONE ? PROFILE_NONE : scene_frame(scene, own)->method;
	snprintf(f->what, sizeof(f->what),
		"%.1f threads wait for tasks, while all %.0f threads %s are taken by tasks that "
		"wait, mostly in %s",
		waiters, threads, pool, scene_method(scene, f->method));
	scene_proof(f, "%s has a task that waits here:", scene_thread(scene, e->thread));
	scene_proof_stack(scene, f, e->stack, 3);
	scene_proof(f, "%s waits for a task here:", scene_thread(scene, waiter->part.thread));
	scene_proof_stack(scene, f, waiter->part.stack, 3);
	snprintf(f->look, sizeof(f->look),
		"tasks that wait into an executor of their own, or more threads (of the common "
		"pool: "
		"-Djava.util.concurrent.ForkJoinPool.common.parallelism)");
}

static unsigned rank(const struct scene *scene, const struct profile_part *part, uint32_t arg)
{
	(void)arg;
	return in_future(scene, part);
}

static void look(const struct scene *scene)
{
	double seconds = scene_seconds(scene, EVENT_WALL), waiters = 0, threads;
	struct executor *pools, *worst = NULL;
	struct scene_most waiter;
	uint32_t count;

	count = scene_pools(scene);
	pools = xcalloc(count + 1, sizeof(*pools));
	for (uint32_t i = 0; i < scene->wall_count && seconds > 0; i++) {
		const struct profile_part *part = &scene->wall[i];

		if (!scene_is_java(scene, part->thread))
			continue;
		if (in_future(scene, part))
			waiters += (double)part->weight / NS_PER_S / seconds;
		add(scene, &pools[profile_get_thread(scene->profile, part->thread)->pool], part);
	}
	for (uint32_t i = 0; i < count && waiters >= LEAST; i++) {
		struct executor *e = &pools[i];

		if (e->most && (double)e->idle <= IDLE * (double)e->all &&
			(double)e->waits >= WAITS * (double)e->all &&
			(!worst || e->all > worst->all))
			worst = e;
	}
	threads = worst ? (double)worst->all / NS_PER_S / seconds : 0;
	waiter = scene_most(scene, EVENT_WALL, PROFILE_ANY_THREAD, rank, 0);
	if (worst && waiters >= threads && waiter.part.stack != PROFILE_NONE)
		report(scene, worst, &waiter, waiters, threads);
	free(pools);
}

const struct finding_rule rule_starved = {
	.name = "starved",
	.title = "STARVED",
	.what = "threads that wait for tasks of an executor whose threads are all taken by tasks "
		"that wait",
	.events = 1u << EVENT_WALL,
	.look = look,
};
