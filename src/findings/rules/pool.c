/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about thread pools: tasks that wait for a limited resource, pinned carriers. */
#include "findings/places.h"
#include "findings/rules.h"
#include "findings/scene.h"

#include "base/buf.h"
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

/* --- pool: tasks wait for something limited ------------------------------------------------------------- */

/*
 * Connections, permits, buffers, space in a full queue. Idle workers, and tasks that are a loop
 * over a queue, wait in the same way and are no problem. The former are in no task; in the latter
 * the outermost method itself removes the element, or its name says so. Threads that wait for an
 * event (a long poll) are not reported either. Evidence of a resource: the name of the method or
 * its class; or another thread works inside the same method, which so both waits for the resource
 * and uses it; or, for a permit or an untimed wait for a condition, another thread works in a task,
 * so it may have the resource.
 */
#define POOL_MEMBERS 4    /* threads, ... */
#define POOL_WAITS   0.75 /* ... with this share of their time in one place, ... */
#define POOL_IDLE    0.05 /* ... at most this much without a task, ... */
#define POOL_HELD    0.8 /* ... and this many threads in other tasks, which own the resource; ... */
#define POOL_OTHER \
	0.005 /* ... for classes named "Pool" this share suffices; for acquirers[] none is needed */
#define POOL_INNER 4 /* own frames whose names are compared */

/*
 * Words in names: of methods that acquire a limited resource, if no other word says that it is a
 * task; of classes of threads; of methods and of classes that wait for the next piece of work.
 */
static const char *const acquirers[] = {
	"borrow", "acquire", "getConnection", "lease", "checkOut", NULL};
static const char *const tasks[] = {"next", "message", "event", "task", "job", "work", NULL};
static const char *const workers[] = {"ThreadPool", "WorkerPool", "TaskPool", "JobPool", NULL};
static const char *const loops[] = {"take", "poll", "next", "receive", "dequeue", "drain", "consum",
	"read", "accept", "listen", "pull", "park", "idle", "join", "await", "sleep", "loop", "run",
	"fetch", "remove", "waitFor", "message", "event", "task", "job", "work", "signal", NULL};
static const char *const handlers[] = {"process", NULL}; /* of either */
static const char *const queues[] = {"Queue", "Mailbox", "Inbox", "Channel", "Buffer", "Barrier",
	"WaitStrategy", "Latch", "Future", "Promise", NULL};

struct pool {
	uint32_t where;         /* method with more than half of the time, by a majority vote */
	uint32_t thread, stack; /* the longest wait there */
	uint32_t other_thread, other; /* the longest stack elsewhere in a task */
	uint32_t lived;               /* threads with wall samples */
	uint64_t votes;               /* lead of `where`, in ns */
	uint64_t all, waits, idles;   /* ns */
	uint64_t woken;               /* enters or leaves the wait */
	uint64_t inside;              /* works in `where` */
	uint64_t most, most_other;
};

struct pools {
	const struct scene *scene;
	struct pool *list; /* by pool id */
	uint32_t count;
};

/* True when the stack waits for space in a full queue. */
static bool inserts(const struct scene *scene, uint32_t stack)
{
	return places_of(scene->places, stack).waits & PLACE_QUEUE &&
	       places_find(scene->places, stack, METHOD_INSERTS) != PROFILE_NONE;
}

static bool is_acquirer(const struct profile_method *m)
{
	if (places_contains(m->name, tasks))
		return false;
	return places_contains(m->name, acquirers) ||
	       (strstr(m->class_name, "Pool") && !places_contains(places_class(m), workers));
}

/* The first own frame, from `own` outwards, that acquires a limited resource. PROFILE_NONE: none. */
static uint32_t find_acquirer(const struct scene *scene, uint32_t own)
{
	for (int i = 0; i < POOL_INNER && own != PROFILE_NONE; i++) {
		const struct profile_method *m = places_method(scene, own);

		if (is_acquirer(m))
			return own;
		own = places_outwards(scene->places, own);
	}
	return PROFILE_NONE;
}

/* The method in which a thread waits for a limited resource. PROFILE_NONE: it does not, as far as its stack shows. */
static uint32_t limited_in(const struct scene *scene, const struct profile_part *part)
{
	if (part->state != THREAD_WAITING && part->state != THREAD_PARKED)
		return PROFILE_NONE;
	struct place at = places_of(scene->places, part->stack);
	if (at.own == PROFILE_NONE || at.owns < 2 || at.waits & (PLACE_EVENT | PLACE_LOCK) ||
		(part->state == THREAD_PARKED &&
			!(at.waits & (PLACE_QUEUE | PLACE_PERMIT | PLACE_CHANGE))))
		return PROFILE_NONE;
	bool full = inserts(scene, part->stack);
	uint32_t acquirer = full ? PROFILE_NONE : find_acquirer(scene, at.own);
	if (acquirer != PROFILE_NONE)
		return acquirer == at.outer ? PROFILE_NONE : scene_frame(scene, acquirer)->method;
	const struct profile_method *own = places_method(scene, at.own);
	if (!full &&
		(places_contains(own->name, loops) || places_contains(places_class(own), queues)))
		return PROFILE_NONE;
	/* Otherwise it may wait for its next piece of work, unless it is three calls deep in an executor's task. */
	if (!(at.waits & PLACE_PERMIT) &&
		(!at.executor || at.owns < 3 ||
			!strcmp(own->class_name, places_method(scene, at.outer)->class_name)))
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

/*
 * True when a thread that is not waiting in this method is about to, or has been woken there: it
 * waits for a core, or to enter a monitor, with no frames but those of the wait.
 */
static bool at_wait(const struct scene *scene, const struct profile_part *part, uint32_t method)
{
	struct place at = places_of(scene->places, part->stack);
	bool in_wait = at.waits & (PLACE_QUEUE | PLACE_PERMIT | PLACE_CHANGE) ||
		       !strcmp(places_method(scene, at.java)->class_name, "java.lang.Object");

	if (part->state <= THREAD_RUNNABLE && in_wait)
		return true;
	return (part->state == THREAD_RUNNABLE || part->state == THREAD_MONITOR) &&
	       (in_wait || scene_frame(scene, at.java)->method == method);
}

static void pool_add(const struct scene *scene, struct pool *pool, uint32_t where,
	const struct profile_part *part)
{
	bool runs = part->state <= THREAD_RUNNABLE;
	bool inside =
		pool->where != PROFILE_NONE && scene_has_method(scene, part->stack, pool->where);

	pool->all += part->weight;
	if (inside && at_wait(scene, part, pool->where)) {
		pool->woken += part->weight;
		return;
	}
	if (where != PROFILE_NONE && where == pool->where) {
		pool->waits += part->weight;
		if (part->weight > pool->most) {
			pool->most = part->weight;
			pool->stack = part->stack;
			pool->thread = part->thread;
		}
	} else if (!runs && places_of(scene->places, part->stack).own == PROFILE_NONE) {
		pool->idles += part->weight;
	} else {
		pool->inside += inside ? part->weight : 0;
		if (part->weight <= pool->most_other)
			return;
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

/*
 * True for Object.wait without a timeout, which calls the method with one, and for a condition's
 * await.
 */
static bool waits_untimed(const struct scene *scene, uint32_t stack)
{
	struct place at = places_of(scene->places, stack);
	int waits = 0;

	if (at.waits & PLACE_CHANGE)
		return places_find(scene->places, stack, METHOD_TRIES) == PROFILE_NONE;
	for (uint32_t s = at.java; s != at.own; s = profile_get_stack(scene->profile, s).parent)
		waits += !strcmp(places_method(scene, s)->name, "wait");
	return waits > 1;
}

/*
 * True when there is evidence that the pool's threads wait for a limited resource, not for an event
 * or their next task.
 */
static bool pool_is_limited(const struct scene *scene, const struct pool *pool, double seconds)
{
	const struct profile_method *where = profile_get_method(scene->profile, pool->where);
	double other = (double)(pool->all - pool->waits - pool->idles - pool->woken);
	double held = POOL_HELD * seconds * NS_PER_S;
	unsigned waits = places_of(scene->places, pool->stack).waits;

	if (places_contains(where->name, acquirers) || inserts(scene, pool->stack))
		return true;
	if (strstr(where->class_name, "Pool"))
		return other >= POOL_OTHER * (double)pool->all;
	if ((double)pool->inside >= held)
		return true;
	return other >= held && !places_contains(where->name, handlers) &&
	       (waits & PLACE_PERMIT ||
		       (!(waits & PLACE_QUEUE) && waits_untimed(scene, pool->stack)));
}

static bool pool_exhausted(const struct scene *scene, const struct pool *pool, double seconds)
{
	return pool->where != PROFILE_NONE && pool_members(pool, seconds) >= POOL_MEMBERS &&
	       (double)pool->waits >= POOL_WAITS * (double)pool->all &&
	       (double)pool->idles <= POOL_IDLE * (double)pool->all &&
	       pool_is_limited(scene, pool, seconds);
}

static void report_pool(const struct pools *p, uint32_t id, double seconds)
{
	const struct scene *scene = p->scene;
	const struct pool *pool = &p->list[id];
	double share = (double)pool->waits / (double)pool->all, all = pool_members(pool, seconds);
	int waiting = (int)(share * all + 0.5), rest = (int)(all + 0.5) - waiting;
	struct finding *f = scene_found(scene, FINDING_COSTS, share, id);
	bool full = inserts(scene, pool->stack);

	finding_set_text(f, "%d of %.0f threads %s wait in %s%s; %d %s other work", waiting, all,
		profile_pool_name(scene->profile, id), scene_method(scene, pool->where),
		full ? " for space in a full queue" : "", rest, rest == 1 ? "does" : "do");
	finding_prove(f, "%s waits here:", scene_thread(scene, pool->thread));
	scene_prove_stack(scene, f, pool->stack, 4);
	if (pool->most_other) {
		finding_prove(f, "those that do not wait, such as %s, are mostly here:",
			scene_thread(scene, pool->other_thread));
		scene_prove_stack(scene, f, pool->other, 4);
	} else if (!full) {
		finding_prove(f,
			"no thread of the pool does other work: the resource is held elsewhere, or "
			"was never released");
	}
	finding_advise(f, "%s",
		full ? "find out what the consumers of the queue do: they are too slow"
		     : "find out who holds the resource and for how long, before adding more of "
		       "it");
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

/* --- pinned: virtual threads that block their carrier ----------------------------------------------------- */

/*
 * A virtual thread keeps its carrier while it waits in native code or for a file, and up to JDK 23
 * also in or for a synchronized block. Its stack then continues into the carrier's; without a
 * carrier it does not.
 */
#define PINNED_LEAST 0.5 /* carriers on average, ... */
#define PINNED_READY 1.0 /* ... virtual threads that wait for one, on average, ... */
#define PINNED_SHARE 0.5 /* ... and of the time with a carrier, virtual threads wait */

static void report_pinned(const struct scene *scene, const struct scene_group *most,
	const struct scene_carriers *c, double seconds)
{
	double share = c->ready / (c->ready + c->pinned);
	struct finding *f = scene_found(scene, FINDING_COSTS, share, most->what);
	double all = c->pinned * NS_PER_S * seconds;

	finding_set_text(f,
		"virtual threads pin %.1f carriers while they wait%s in %s; %.1f virtual threads "
		"wait for a carrier",
		c->pinned, (double)most->weight < 0.9 * all ? ", mostly" : "",
		scene_method(scene, most->what), c->ready);
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
	struct scene_carriers c = scene_carriers(scene);
	struct scene_group group = {0}, most = {0};
	struct scene_spending kept = {0};

	if (c.pinned < PINNED_LEAST || c.ready < PINNED_READY ||
		c.pinned < PINNED_SHARE * (c.pinned + c.runs))
		return;
	for (uint32_t i = 0; i < scene->wall_count; i++) {
		if (!scene_pins(scene, &scene->wall[i]))
			continue;
		uint32_t own = places_of(scene->places, scene->wall[i].stack).own;
		if (own != PROFILE_NONE)
			scene_spend(&kept, scene_frame(scene, own)->method, &scene->wall[i]);
	}
	while (scene_group_next(&kept, &group))
		most = group.weight > most.weight ? group : most;
	if (most.weight)
		report_pinned(scene, &most, &c, scene_seconds(scene, EVENT_WALL));
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
