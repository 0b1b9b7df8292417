/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that want to run wait for a core. */
#include "findings/places.h"
#include "findings/rules.h"

#include "base/buf.h"
#include "base/clock.h"

#include <stdlib.h>

#define MUCH   0.25 /* of the time in which threads want to run, */
#define LEAST  1.0  /* and so many threads at any moment */
#define SHOWN  4
#define ENOUGH 50 /* samples */

struct wanting {
	uint32_t thread;
	uint64_t ran, waited, all;
};

/* Threads that want to run, as wall has seen them. */
struct crowd {
	const struct scene *scene;
	struct wanting *threads; /* by thread */
	uint32_t count;
	uint64_t ran, waited, samples;
	uint64_t most; /* of one thread, in whatever state: so long was looked at */
};

static void crowd_of(void *ctx, const struct profile_part *part)
{
	struct crowd *c = ctx;
	bool waits = part->state == THREAD_RUNNABLE;

	if (part->thread >= c->count ||
		profile_get_thread(c->scene->profile, part->thread)->kind == THREAD_AGENT)
		return;
	c->threads[part->thread].all += part->weight;
	c->most = c->threads[part->thread].all > c->most ? c->threads[part->thread].all : c->most;
	if (!waits && part->state != THREAD_ON_CPU)
		return;
	c->threads[part->thread].thread = part->thread;
	*(waits ? &c->threads[part->thread].waited : &c->threads[part->thread].ran) += part->weight;
	*(waits ? &c->waited : &c->ran) += part->weight;
	c->samples += part->count;
}

static int most_first(const void *a, const void *b)
{
	const struct wanting *x = a, *y = b;

	if (x->waited != y->waited)
		return x->waited > y->waited ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static void tell(const struct crowd *c, double seconds)
{
	const struct scene *scene = c->scene;
	double share = (double)c->waited / (double)(c->ran + c->waited);
	double waited = (double)c->waited / NS_PER_S / seconds;
	struct finding *f = scene_found(scene, FINDING_COSTS, share, 0);

	if (!f)
		return;
	f->error = scene_error(c->samples, share);
	snprintf(f->what, sizeof(f->what),
		"threads that want to run wait for a core for %.0f %% of that time: %.1f of them "
		"at any moment, while %.1f run",
		100 * share, waited, (double)c->ran / NS_PER_S / seconds);
	for (uint32_t i = 0; i < SHOWN && i < c->count && c->threads[i].waited; i++) {
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

static void look(const struct scene *scene)
{
	struct profile_query q = scene_query(scene, EVENT_WALL);
	struct crowd c = {.scene = scene, .count = profile_thread_count(scene->profile)};
	double seconds;

	c.threads = xcalloc(c.count + 1, sizeof(*c.threads));
	profile_each(scene->profile, &q, crowd_of, &c);
	seconds = (double)c.most / NS_PER_S;
	if (c.samples >= ENOUGH && (double)c.waited >= MUCH * (double)(c.ran + c.waited) &&
		(double)c.waited >= LEAST * seconds * NS_PER_S) {
		qsort(c.threads, c.count, sizeof(*c.threads), most_first);
		tell(&c, seconds);
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
