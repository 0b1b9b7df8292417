/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that want to run wait for a core.
 *
 * How many is the kernel's own count of all threads (schedstat) where it is known; samples of wall say which threads.
 */
#include "findings/rules.h"
#include "findings/scene.h"

#include "base/buf.h"
#include "base/clock.h"

#include <stdlib.h>

#define MUCH   0.25 /* of the time in which threads want to run, */
#define LEAST  1.0  /* and so many threads at any moment */
#define FREE   0.5  /* of that: for less CPUs are free meanwhile, */
#define BUSY   0.25 /* CPUs at most are free where virtual threads wait for a carrier that has none */
#define SHOWN  4
#define ENOUGH 50 /* samples */

struct wanting {
	uint32_t thread;
	uint64_t ran, waited;
};

/* Threads that want to run, as wall has seen them, and how many there are at any moment. */
struct crowd {
	const struct scene *scene;
	struct wanting *threads; /* by thread */
	uint64_t ran_ns, waited_ns, samples;
	double ran, waited;
	bool counted; /* by the kernel, not by samples */
};

static void crowd_add(struct crowd *c, const struct profile_part *part)
{
	bool waits = part->state == THREAD_RUNNABLE;
	struct wanting *w = &c->threads[part->thread];

	if ((!waits && part->state != THREAD_ON_CPU) ||
		profile_get_thread(c->scene->profile, part->thread)->kind == THREAD_AGENT)
		return;
	w->thread = part->thread;
	*(waits ? &w->waited : &w->ran) += part->weight;
	*(waits ? &c->waited_ns : &c->ran_ns) += part->weight;
	c->samples += part->count;
}

/*
 * By the kernel's count if there is one. The kernel does not know virtual threads without a carrier: these are added as sampled,
 * but only where no CPU is free, since otherwise it is carriers that are missing.
 */
static void crowd_count(struct crowd *c, double seconds)
{
	const struct scene *scene = c->scene;
	const struct scene_point *then = scene_before(scene, SCENE_LEAST_S, SCENE_MOST_S), *now;
	double ran, queued, cpus_free;

	c->ran = (double)c->ran_ns / NS_PER_S / seconds;
	c->waited = (double)c->waited_ns / NS_PER_S / seconds;
	if (!then)
		return;
	now = scene_last(scene);
	ran = scene_rate(then, now, then->cpu_ms, now->cpu_ms) / 1000;
	queued = scene_rate(then, now, then->host.queued_ms, now->host.queued_ms) / 1000;
	cpus_free = scene_rate(then, now, then->host.cpus_free_ms, now->host.cpus_free_ms) / 1000;
	if (ran < 0 || queued < 0)
		return;
	c->ran = ran;
	c->waited = queued;
	c->counted = true;
	for (uint32_t i = 0; i < scene->wall_count && cpus_free >= 0 && cpus_free < BUSY; i++)
		if (scene->wall[i].state == THREAD_CARRIER)
			c->waited += (double)scene->wall[i].weight / NS_PER_S / seconds;
}

static int most_first(const void *a, const void *b)
{
	const struct wanting *x = a, *y = b;

	if (x->waited != y->waited)
		return x->waited > y->waited ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static void report(const struct crowd *c, double seconds)
{
	const struct scene *scene = c->scene;
	double share = c->waited / (c->ran + c->waited);
	struct finding *f = scene_found(scene, FINDING_COSTS, share, 0);

	if (!f)
		return;
	if (!c->counted)
		f->error = scene_error(c->samples, share);
	snprintf(f->what, sizeof(f->what),
		"threads that want to run wait for a core for %.0f %% of that time: %.1f of them "
		"at any moment, while %.1f run",
		100 * share, c->waited, c->ran);
	if (c->counted)
		scene_proof(f, "by the kernel's count of all threads, over the last 10 s");
	for (uint32_t i = 0; i < SHOWN && i < scene->threads && c->threads[i].waited; i++) {
		const struct wanting *t = &c->threads[i];

		scene_proof(f, "%s: runs %.0f %% of the time, waits for a core %.0f %%",
			scene_thread(scene, t->thread), 100.0 * (double)t->ran / NS_PER_S / seconds,
			100.0 * (double)t->waited / NS_PER_S / seconds);
	}
	snprintf(f->look, sizeof(f->look),
		"more cores, fewer threads, or less work: who uses them: key 1; what else runs on "
		"this machine");
	f->event = EVENT_WALL;
	f->thread = c->threads[0].thread;
}

/*
 * Threads that hand on work to each other wait for a core while others are free: who is woken waits for the one who woke it. More
 * cores would not help.
 */
static bool cpus_are_free(const struct scene *scene, double waiting)
{
	const struct scene_point *then = scene_before(scene, SCENE_LEAST_S, SCENE_MOST_S),
				 *now = scene_last(scene);

	return then && scene_rate(then, now, then->host.cpus_free_ms, now->host.cpus_free_ms) >=
			       FREE * waiting * 1000;
}

/* A cgroup's limit, or carriers that are kept by threads that wait, are the cause where there is one: more cores would not help. */
static void look(const struct scene *scene)
{
	struct crowd c = {.scene = scene};
	double seconds = scene_seconds(scene, EVENT_WALL);

	if (scene_has(scene, &rule_throttled) || scene_has(scene, &rule_pinned) || seconds <= 0)
		return;
	c.threads = xcalloc(scene->threads + 1, sizeof(*c.threads));
	for (uint32_t i = 0; i < scene->wall_count; i++)
		crowd_add(&c, &scene->wall[i]);
	crowd_count(&c, seconds);
	if ((c.counted || c.samples >= ENOUGH) && c.waited >= MUCH * (c.ran + c.waited) &&
		c.waited >= LEAST && !cpus_are_free(scene, c.waited)) {
		qsort(c.threads, scene->threads, sizeof(*c.threads), most_first);
		report(&c, seconds);
	}
	free(c.threads);
}

const struct finding_rule rule_cores = {
	.name = "cores",
	.title = "CORES",
	.what = "threads that want to run and wait for a core for a quarter of that time",
	.events = 1u << EVENT_WALL,
	.look = look,
};
