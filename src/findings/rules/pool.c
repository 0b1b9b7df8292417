/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool's threads wait, in the middle of a task, for something that there is too little of: connections, permits.
 *
 * Workers without a task, and tasks that are a loop over a queue, wait in the same way and are no problem. The first
 * are not below a task; of the second the outermost method itself takes, or its name says so.
 */
#include "findings/places.h"
#include "findings/rules.h"

#include "base/buf.h"
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

#define MEMBERS 4    /* threads of a pool, */
#define MUCH    0.75 /* of whose time so much is spent in one place, */
#define IDLE    0.05 /* and no more without a task */
#define OTHERS \
	0.005   /* so much is spent otherwise in tasks, unless the place's name says what it is */
#define INNER 4 /* own frames that are asked for their names */

/* Names of what takes one of few, and of what waits for the next to do. */
static const char *const takers[] = {
	"borrow", "acquire", "getConnection", "lease", "checkOut", NULL};
static const char *const loops[] = {"take", "poll", "next", "receive", "dequeue", "drain", "consum",
	"read", "accept", "listen", "pull", "park", "idle", "join", "await", "sleep", "loop",
	"process", "run", "fetch", "remove", "waitFor", "message", "event", "task", "job", "work",
	"signal", NULL};
static const char *const queues[] = {"Queue", "Mailbox", "Inbox", "Channel", "Buffer", "Barrier",
	"WaitStrategy", "Latch", "Future", "Promise", NULL};

struct pool {
	uint32_t where;  /* the method that most of the time is spent in, by a vote */
	uint32_t thread; /* of most time there, and its stack */
	uint32_t stack, other, other_thread, lived;
	uint64_t votes, all, waits, idles, most, most_other;
};

struct limits {
	const struct scene *scene;
	struct pool *pools; /* by number */
	uint32_t pool_count;
};

/* --- one wait ---------------------------------------------------------------------------------------- */

/* The frame that says that it takes one of few. */
static uint32_t taker(const struct limits *l, uint32_t own)
{
	for (int i = 0; i < INNER && own != PROFILE_NONE; i++) {
		const struct profile_method *m = places_method(l->scene, own);

		if (places_says(m->name, takers) ||
			(strstr(m->class_name, "Pool") && !strstr(m->class_name, "ThreadPool")))
			return own;
		own = places_outwards(l->scene->places, own);
	}
	return PROFILE_NONE;
}

/* The method in which it waits for something limited; PROFILE_NONE: it does not, as far as can be told. */
static uint32_t limited(const struct limits *l, const struct profile_part *part)
{
	unsigned may = PLACE_QUEUE | PLACE_PERMIT | PLACE_CHANGE;
	struct place at;
	uint32_t own;

	if (part->state != THREAD_WAITING && part->state != THREAD_PARKED)
		return PROFILE_NONE;
	at = places_of(l->scene->places, part->stack);
	if (at.own == PROFILE_NONE || at.owns < 2 || at.waits & (PLACE_EVENT | PLACE_LOCK) ||
		(part->state == THREAD_PARKED && !(at.waits & may)))
		return PROFILE_NONE;
	own = taker(l, at.own);
	if (own != PROFILE_NONE)
		return own == at.outer ? PROFILE_NONE : scene_frame(l->scene, own)->method;
	if (places_says(places_method(l->scene, at.own)->name, loops) ||
		places_says(places_method(l->scene, at.own)->class_name, queues))
		return PROFILE_NONE;
	/* Else it may be the next to do that it waits for, unless that is three calls deep in an executor's task. */
	if (!(at.waits & PLACE_PERMIT) &&
		(!at.executor || at.owns < 3 ||
			!strcmp(places_method(l->scene, at.own)->class_name,
				places_method(l->scene, at.outer)->class_name)))
		return PROFILE_NONE;
	return scene_frame(l->scene, at.own)->method;
}

/* --- pools ------------------------------------------------------------------------------------------- */

static struct pool *pool_of(const struct limits *l, uint32_t thread)
{
	return &l->pools[profile_get_thread(l->scene->profile, thread)->pool];
}

/* Boyer and Moore: a method that more than half of the time is spent in is left over. */
static void vote(struct pool *pool, uint32_t where, uint64_t weight)
{
	if (where == pool->where) {
		pool->votes += weight;
	} else if (weight > pool->votes) {
		pool->where = where;
		pool->votes = weight - pool->votes;
	} else {
		pool->votes -= weight;
	}
}

static void tally(
	const struct limits *l, struct pool *pool, uint32_t where, const struct profile_part *part)
{
	bool runs = part->state <= THREAD_RUNNABLE;

	pool->all += part->weight;
	if (where != PROFILE_NONE && where == pool->where) {
		pool->waits += part->weight;
		if (part->weight > pool->most) {
			pool->most = part->weight;
			pool->stack = part->stack;
			pool->thread = part->thread;
		}
	} else if (!runs && places_of(l->scene->places, part->stack).own == PROFILE_NONE) {
		pool->idles += part->weight;
	} else if (part->weight > pool->most_other) {
		pool->most_other = part->weight;
		pool->other = part->stack;
		pool->other_thread = part->thread;
	}
}

/* members: how many threads a pool has; of those that come and go, at any moment. */
static double members(const struct pool *pool, double seconds)
{
	double at_once = (double)pool->all / NS_PER_S / seconds;

	return pool->lived <= 1.25 * at_once + 1 ? pool->lived : at_once;
}

static bool exhausted(const struct limits *l, const struct pool *pool, double seconds)
{
	uint64_t others = pool->all - pool->waits - pool->idles;

	return pool->where != PROFILE_NONE && members(pool, seconds) >= MEMBERS &&
	       (double)pool->waits >= MUCH * (double)pool->all &&
	       (double)pool->idles <= IDLE * (double)pool->all &&
	       ((double)others >= OTHERS * (double)pool->all ||
		       places_says(
			       profile_get_method(l->scene->profile, pool->where)->name, takers));
}

static void tell(const struct limits *l, uint32_t number, double seconds)
{
	const struct pool *pool = &l->pools[number];
	double share = (double)pool->waits / (double)pool->all, all = members(pool, seconds);
	struct finding *f = scene_found(l->scene, FINDING_COSTS, share, number);
	int waiting = (int)(share * all + 0.5), rest = (int)(all + 0.5) - waiting;

	if (!f)
		return;
	snprintf(f->what, sizeof(f->what), "%d of %.0f threads %s wait in %s; %d %s anything else",
		waiting, all, profile_pool_name(l->scene->profile, number),
		scene_method(l->scene, pool->where), rest, rest == 1 ? "does" : "do");
	scene_proof(f, "%s waits here:", scene_thread(l->scene, pool->thread));
	scene_proof_stack(l->scene, f, pool->stack, 4);
	if (pool->most_other) {
		scene_proof(f, "those that do not, such as %s, are mostly here:",
			scene_thread(l->scene, pool->other_thread));
		scene_proof_stack(l->scene, f, pool->other, 4);
	} else {
		scene_proof(f, "no thread of the pool does anything else: what they wait for is "
			       "held elsewhere, or was not given back");
	}
	snprintf(f->look, sizeof(f->look),
		"what those do that have it, and for how long; only then: more of it");
	f->event = EVENT_WALL;
	f->thread = pool->thread;
	f->method = pool->where;
}

static void count_all(struct limits *l, uint32_t *where)
{
	const struct scene *scene = l->scene;

	for (uint32_t i = 0; i < scene->wall_count; i++) {
		const struct profile_part *part = &scene->wall[i];

		where[i] = limited(l, part);
		if (scene_is_java(scene, part->thread))
			vote(pool_of(l, part->thread), where[i], part->weight);
	}
	for (uint32_t i = 0; i < scene->wall_count; i++)
		if (scene_is_java(scene, scene->wall[i].thread))
			tally(l, pool_of(l, scene->wall[i].thread), where[i], &scene->wall[i]);
	for (uint32_t i = 0; i < scene->threads; i++)
		pool_of(l, i)->lived += scene->lived[i] && scene_is_java(scene, i);
}

static void look(const struct scene *scene)
{
	struct limits l = {.scene = scene};
	double seconds = scene_seconds(scene, EVENT_WALL);
	uint32_t *where = xcalloc(scene->wall_count + 1, sizeof(*where));

	l.pool_count = scene_pools(scene);
	l.pools = xcalloc(l.pool_count + 1, sizeof(*l.pools));
	count_all(&l, where);
	for (uint32_t i = 0; i < l.pool_count; i++)
		if (exhausted(&l, &l.pools[i], seconds))
			tell(&l, i, seconds);
	free(l.pools);
	free(where);
}

const struct finding_rule rule_pool = {
	.name = "pool",
	.title = "POOL",
	.what = "pools whose threads wait, in their tasks, for something that is limited",
	.events = 1u << EVENT_WALL,
	.look = look,
};
