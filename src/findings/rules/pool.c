/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about thread pools: tasks that wait for a limited resource, starved executors, pinned carriers. */
#include "findings/places.h"
#include "findings/rules.h"
#include "findings/scene.h"

#include "base/buf.h"
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

/* --- pool: tasks wait for something limited ------------------------------------------------------------- */

/*
 * Connections, permits, buffers. Idle workers, and tasks that are a loop over a queue, wait in the same way and are no
 * problem. The former are in no task; in the latter the outermost method itself takes the element, or its name says so.
 */
#define POOL_MEMBERS 4    /* threads, ... */
#define POOL_WAITS   0.75 /* ... with this share of their time in one place, ... */
#define POOL_IDLE    0.05 /* ... at most this much without a task, ... */
#define POOL_OTHER \
	0.005 /* ... and at least this much in other tasks, unless the name is one of takers */
#define POOL_INNER 4 /* own frames whose names are compared */

/* Names of methods that take one of few, and of methods and classes that wait for the next piece of work. */
static const char *const takers[] = {
	"borrow", "acquire", "getConnection", "lease", "checkOut", NULL};
static const char *const loops[] = {"take", "poll", "next", "receive", "dequeue", "drain", "consum",
	"read", "accept", "listen", "pull", "park", "idle", "join", "await", "sleep", "loop",
	"process", "run", "fetch", "remove", "waitFor", "message", "event", "task", "job", "work",
	"signal", NULL};
static const char *const queues[] = {"Queue", "Mailbox", "Inbox", "Channel", "Buffer", "Barrier",
	"WaitStrategy", "Latch", "Future", "Promise", NULL};

struct pool {
	uint32_t where;         /* method with more than half of the time, by a majority vote */
	uint32_t thread, stack; /* the longest wait there */
	uint32_t other_thread, other;      /* the longest stack elsewhere in a task */
	uint32_t lived;                    /* threads seen */
	uint64_t votes, all, waits, idles; /* ns, but votes */
	uint64_t most, most_other;
};

struct pools {
	const struct scene *scene;
	struct pool *list; /* by pool id */
	uint32_t count;
};

/* The frame, from the innermost own one outwards, that takes one of few. PROFILE_NONE: none. */
static uint32_t find_taker(const struct scene *scene, uint32_t own)
{
	for (int i = 0; i < POOL_INNER && own != PROFILE_NONE; i++) {
		const struct profile_method *m = places_method(scene, own);

		if (places_contains(m->name, takers) ||
			(strstr(m->class_name, "Pool") && !strstr(m->class_name, "ThreadPool")))
			return own;
		own = places_outwards(scene->places, own);
	}
	return PROFILE_NONE;
}

/* The method in which a thread waits for something limited. PROFILE_NONE: it does not, as far as is known. */
static uint32_t limited_in(const struct scene *scene, const struct profile_part *part)
{
	struct place at;
	uint32_t taker;

	if (part->state != THREAD_WAITING && part->state != THREAD_PARKED)
		return PROFILE_NONE;
	at = places_of(scene->places, part->stack);
	if (at.own == PROFILE_NONE || at.owns < 2 || at.waits & (PLACE_EVENT | PLACE_LOCK) ||
		(part->state == THREAD_PARKED &&
			!(at.waits & (PLACE_QUEUE | PLACE_PERMIT | PLACE_CHANGE))))
		return PROFILE_NONE;
	taker = find_taker(scene, at.own);
	if (taker != PROFILE_NONE)
		return taker == at.outer ? PROFILE_NONE : scene_frame(scene, taker)->method;
	if (places_contains(places_method(scene, at.own)->name, loops) ||
		places_contains(places_method(scene, at.own)->class_name, queues))
		return PROFILE_NONE;
	/* Otherwise it may wait for its next piece of work, unless it is three calls deep in an executor's task. */
	if (!(at.waits & PLACE_PERMIT) &&
		(!at.executor || at.owns < 3 ||
			!strcmp(places_method(scene, at.own)->class_name,
				places_method(scene, at.outer)->class_name)))
		return PROFILE_NONE;
	return scene_frame(scene, at.own)->method;
}

static struct pool *pool_of(const struct pools *p, uint32_t thread)
{
	return &p->list[profile_get_thread(p->scene->profile, thread)->pool];
}

/* Boyer and Moore's majority vote: a method with more than half of the time remains. */
static void pool_vote(struct pool *pool, uint32_t where, uint64_t weight)
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

static void pool_add(const struct scene *scene, struct pool *pool, uint32_t where,
	const struct profile_part *part)
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
	} else if (!runs && places_of(scene->places, part->stack).own == PROFILE_NONE) {
		pool->idles += part->weight;
	} else if (part->weight > pool->most_other) {
		pool->most_other = part->weight;
		pool->other = part->stack;
		pool->other_thread = part->thread;
	}
}

static void pools_count(struct pools *p)
{
	const struct scene *scene = p->scene;
	uint32_t *where = xcalloc(scene->wall_count + 1, sizeof(*where));

	for (uint32_t i = 0; i < scene->wall_count; i++) {
		where[i] = limited_in(scene, &scene->wall[i]);
		if (scene_is_java(scene, scene->wall[i].thread))
			pool_vote(
				pool_of(p, scene->wall[i].thread), where[i], scene->wall[i].weight);
	}
	for (uint32_t i = 0; i < scene->wall_count; i++)
		if (scene_is_java(scene, scene->wall[i].thread))
			pool_add(scene, pool_of(p, scene->wall[i].thread), where[i],
				&scene->wall[i]);
	for (uint32_t i = 0; i < scene->threads; i++)
		pool_of(p, i)->lived += scene->lived[i] && scene_is_java(scene, i);
	free(where);
}

/* Threads of a pool; of one whose threads come and go: on average. */
static double pool_members(const struct pool *pool, double seconds)
{
	double on_average = (double)pool->all / NS_PER_S / seconds;

	return pool->lived <= 1.25 * on_average + 1 ? pool->lived : on_average;
}

static bool pool_exhausted(const struct scene *scene, const struct pool *pool, double seconds)
{
	uint64_t other = pool->all - pool->waits - pool->idles;

	return pool->where != PROFILE_NONE && pool_members(pool, seconds) >= POOL_MEMBERS &&
	       (double)pool->waits >= POOL_WAITS * (double)pool->all &&
	       (double)pool->idles <= POOL_IDLE * (double)pool->all &&
	       ((double)other >= POOL_OTHER * (double)pool->all ||
		       places_contains(
			       profile_get_method(scene->profile, pool->where)->name, takers));
}

static void report_pool(const struct pools *p, uint32_t id, double seconds)
{
	const struct scene *scene = p->scene;
	const struct pool *pool = &p->list[id];
	double share = (double)pool->waits / (double)pool->all, all = pool_members(pool, seconds);
	int waiting = (int)(share * all + 0.5), rest = (int)(all + 0.5) - waiting;
	struct finding *f = scene_found(scene, FINDING_COSTS, share, id);

	finding_set_text(f, "%d of %.0f threads %s wait in %s; %d %s other work", waiting, all,
		profile_pool_name(scene->profile, id), scene_method(scene, pool->where), rest,
		rest == 1 ? "does" : "do");
	finding_prove(f, "%s waits here:", scene_thread(scene, pool->thread));
	scene_prove_stack(scene, f, pool->stack, 4);
	if (pool->most_other) {
		finding_prove(f, "those that do not wait, such as %s, are mostly here:",
			scene_thread(scene, pool->other_thread));
		scene_prove_stack(scene, f, pool->other, 4);
	} else {
		finding_prove(f,
			"no thread of the pool does other work: what they wait for is held "
			"elsewhere, or was never released");
	}
	finding_advise(f, "find who holds it and for how long, before adding more of it");
	f->event = EVENT_WALL;
	f->thread = pool->thread;
	f->method = pool->where;
}

static void judge_pool(const struct scene *scene)
{
	struct pools p = {.scene = scene, .count = scene_pools(scene)};
	double seconds = scene_seconds(scene, EVENT_WALL);

	p.list = xcalloc(p.count + 1, sizeof(*p.list));
	pools_count(&p);
	for (uint32_t i = 0; i < p.count; i++)
		if (pool_exhausted(scene, &p.list[i], seconds))
			report_pool(&p, i, seconds);
	free(p.list);
}

const struct finding_rule rule_pool = {
	.name = "pool",
	.title = "POOL",
	.what = "pools whose threads wait, in the middle of a task, for a limited resource",
	.events = 1u << EVENT_WALL,
	.judge = judge_pool,
};

/* --- starved: all threads of an executor are blocked in tasks -------------------------------------------- */

/*
 * Which executor runs a future's task is not known. So an executor is reported whose threads are never idle and mostly wait,
 * while at least as many threads as it has wait for futures. Tasks that compute lack cores, not threads.
 */
#define STARVED_IDLE  0.05 /* of the executor's time is without a task, at most */
#define STARVED_WAITS 0.75 /* of it tasks wait */
#define STARVED_LEAST 2.0  /* threads that wait for futures, on average */

struct executor {
	uint64_t all, idle, waits, most; /* ns */
	uint32_t stack, thread;          /* its longest wait */
};

static unsigned in_future(
	const struct scene *scene, const struct profile_part *part, uint32_t unused)
{
	(void)unused;
	return (part->state == THREAD_PARKED || part->state == THREAD_WAITING) &&
	       places_find(scene->places, part->stack, METHOD_FUTURE) != PROFILE_NONE;
}

static void executor_add(
	const struct scene *scene, struct executor *e, const struct profile_part *part)
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

static void report_starved(
	const struct scene *scene, const struct executor *e, double waiters, double threads)
{
	struct profile_part waiter =
		scene_most(scene, EVENT_WALL, PROFILE_ANY_THREAD, in_future, 0).part;
	uint32_t own = places_of(scene->places, e->stack).own;
	struct finding *f;

	if (waiter.stack == PROFILE_NONE)
		return;
	f = scene_found(scene, FINDING_COSTS, waiters / (waiters + threads), e->stack);
	f->event = EVENT_WALL;
	f->thread = e->thread;
	f->method = own == PROFILE_NONE ? PROFILE_NONE : scene_frame(scene, own)->method;
	finding_set_text(f,
		"%.1f threads wait for tasks, while all %.0f threads %s are blocked in tasks, "
		"mostly in %s",
		waiters, threads,
		profile_pool_name(
			scene->profile, profile_get_thread(scene->profile, e->thread)->pool),
		scene_method(scene, f->method));
	finding_prove(f, "%s is blocked in a task here:", scene_thread(scene, e->thread));
	scene_prove_stack(scene, f, e->stack, 3);
	finding_prove(f, "%s waits for a task here:", scene_thread(scene, waiter.thread));
	scene_prove_stack(scene, f, waiter.stack, 3);
	finding_advise(f,
		"run blocking tasks in an executor of their own, or add threads (common pool: "
		"-Djava.util.concurrent.ForkJoinPool.common.parallelism)");
}

static void judge_starved(const struct scene *scene)
{
	double seconds = scene_seconds(scene, EVENT_WALL), waiters = 0, threads;
	uint32_t count = scene_pools(scene);
	struct executor *pools = xcalloc(count + 1, sizeof(*pools)), *worst = NULL;

	for (uint32_t i = 0; i < scene->wall_count && seconds > 0; i++) {
		const struct profile_part *part = &scene->wall[i];

		if (!scene_is_java(scene, part->thread))
			continue;
		if (in_future(scene, part, 0))
			waiters += (double)part->weight / NS_PER_S / seconds;
		executor_add(scene, &pools[profile_get_thread(scene->profile, part->thread)->pool],
			part);
	}
	for (uint32_t i = 0; i < count && waiters >= STARVED_LEAST; i++) {
		struct executor *e = &pools[i];

		if (e->most && (double)e->idle <= STARVED_IDLE * (double)e->all &&
			(double)e->waits >= STARVED_WAITS * (double)e->all &&
			(!worst || e->all > worst->all))
			worst = e;
	}
	threads = worst ? (double)worst->all / NS_PER_S / seconds : 0;
	if (worst && waiters >= threads)
		report_starved(scene, worst, waiters, threads);
	free(pools);
}

const struct finding_rule rule_starved = {
	.name = "starved",
	.title = "STARVED",
	.what = "starved executors: threads wait for tasks while all of its threads are blocked in "
		"tasks",
	.events = 1u << EVENT_WALL,
	.judge = judge_starved,
};

/* --- pinned: virtual threads that block their carrier ----------------------------------------------------- */

/*
 * A virtual thread keeps its carrier while it waits in native code or for a file, and up to JDK 23 also in or for a synchronized
 * block. Its stack then continues into the carrier's; without a carrier it does not.
 */
#define PINNED_LEAST 0.5 /* carriers on average, ... */
#define PINNED_READY 1.0 /* ... virtual threads that wait for one, on average, ... */
#define PINNED_SHARE 0.5 /* ... and of the time with a carrier, virtual threads wait */

static bool state_blocks(enum thread_state state)
{
	return state == THREAD_SLEEPING || state == THREAD_MONITOR || state == THREAD_WAITING ||
	       state == THREAD_PARKED || state == THREAD_IO;
}

static void report_pinned(const struct scene *scene, const struct scene_group *most, double pinned,
	double ready, double seconds)
{
	struct finding *f = scene_found(scene, FINDING_COSTS, ready / (ready + pinned), most->what);
	double all = pinned * NS_PER_S * seconds;

	finding_set_text(f,
		"virtual threads pin %.1f carriers while they wait%s in %s; %.1f virtual threads "
		"wait for a carrier",
		pinned, (double)most->weight < 0.9 * all ? ", mostly" : "",
		scene_method(scene, most->what), ready);
	finding_prove(
		f, "%s waits here, pinned to its carrier:", scene_thread(scene, most->thread));
	scene_prove_stack(scene, f, most->stack, 4);
	finding_advise(f,
		"do not wait inside synchronized (JDK 24 releases the carrier there) or native "
		"code; use a ReentrantLock instead");
	f->event = EVENT_WALL;
	f->thread = most->thread;
	f->method = most->what;
}

static void judge_pinned(const struct scene *scene)
{
	double seconds = scene_seconds(scene, EVENT_WALL), pinned = 0, ready = 0, runs = 0;
	struct scene_group group = {0}, most = {0};
	struct scene_spending kept = {0};

	for (uint32_t i = 0; i < scene->wall_count && seconds > 0; i++) {
		const struct profile_part *part = &scene->wall[i];
		double on_average = (double)part->weight / NS_PER_S / seconds;
		uint32_t own;

		if (profile_get_thread(scene->profile, part->thread)->kind != THREAD_VIRTUAL)
			continue;
		if (part->state == THREAD_CARRIER)
			ready += on_average;
		else if (!state_blocks(part->state))
			runs += on_average;
		else if (places_find(scene->places, part->stack, METHOD_MOUNTS) != PROFILE_NONE) {
			pinned += on_average;
			own = places_of(scene->places, part->stack).own;
			if (own != PROFILE_NONE)
				scene_spend(&kept, scene_frame(scene, own)->method, part);
		}
	}
	if (pinned >= PINNED_LEAST && ready >= PINNED_READY &&
		pinned >= PINNED_SHARE * (pinned + runs)) {
		while (scene_group_next(&kept, &group))
			most = group.weight > most.weight ? group : most;
		if (most.weight)
			report_pinned(scene, &most, pinned, ready, seconds);
	}
	free(kept.list);
}

const struct finding_rule rule_pinned = {
	.name = "pinned",
	.title = "PINNED",
	.what = "virtual threads that pin their carrier while they wait, and others that wait for "
		"one",
	.events = 1u << EVENT_WALL,
	.judge = judge_pinned,
};
