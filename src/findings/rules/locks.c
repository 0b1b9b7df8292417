/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules for deadlocks and for lock contention. A finding names the owner of the lock and its
 * stack while others wait.
 */
#include "findings/places.h"
#include "findings/rules.h"
#include "findings/scene.h"

#include "base/buf.h"
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

#define CYCLE_MOST 64u /* threads of the longest cycle of waits that is detected */

/* --- deadlock --------------------------------------------------------------------------------------------- */

/*
 * Owners are read one after the other, not atomically: a cycle counts only if each wait has lasted
 * longer than reading takes.
 */
#define DEADLOCK_NAMED    3              /* threads in the sentence */
#define DEADLOCK_LEAST_NS (2 * NS_PER_S) /* up to 1 s may be left from the second before */

/* True when the thread waits for a lock whose owner is another thread at the end of the window. */
static bool waits_for_other(const struct scene *scene, uint32_t thread, struct profile_wait *w)
{
	return profile_wait_at(scene->profile, thread, scene->to, w) &&
	       w->until_ns == PROFILE_STILL && w->owner != PROFILE_NONE && w->owner != thread;
}

static uint64_t waited_ns(const struct scene *scene, const struct profile_wait *w)
{
	uint64_t now = scene->to * NS_PER_S;

	return w->before_ns + (now > w->since_ns ? now - w->since_ns : 0);
}

/* True when wall samples show a wait with a timeout, and also when wall is sampled but has no samples. */
static bool has_timeout(const struct scene *scene, uint32_t thread)
{
	uint32_t stack = scene_most(scene, EVENT_WALL, thread, NULL, 0).part.stack;
	bool unknown = !scene->wall_count && scene->now->events[EVENT_LOCK].state == VITALS_ON &&
		       scene->now->events[EVENT_WALL].state == VITALS_ON;

	return unknown || places_find(scene->places, stack, METHOD_TRIES) != PROFILE_NONE;
}

/*
 * The number of threads in the cycle of waits whose thread with the lowest id is `first`. 0: there
 * is none, or it ends.
 */
static uint32_t deadlocked_with(const struct scene *scene, uint32_t first)
{
	uint32_t at = first, n = 0;
	struct profile_wait w;

	do {
		if (n++ == CYCLE_MOST || !waits_for_other(scene, at, &w) ||
			waited_ns(scene, &w) < DEADLOCK_LEAST_NS || w.owner < first)
			return 0;
		at = w.owner;
	} while (at != first);
	for (uint32_t i = 0; i < n && waits_for_other(scene, at, &w); i++, at = w.owner)
		if (has_timeout(scene, at))
			return 0;
	return n;
}

static void report_deadlock(const struct scene *scene, uint32_t first, uint32_t n)
{
	struct finding *f = scene_found(scene, FINDING_BLOCKED, 1, first);
	uint32_t shown = n > DEADLOCK_NAMED ? DEADLOCK_NAMED : n, at = first;
	uint64_t least = UINT64_MAX;
	struct profile_wait w;
	char names[140] = ""; /* "payer-1 and payer-2", "payer-1, payer-2, payer-3 and 5 more" */
	size_t used = 0;

	for (uint32_t i = 0; i < n && waits_for_other(scene, at, &w); i++, at = w.owner) {
		uint64_t ns = waited_ns(scene, &w);

		least = ns < least ? ns : least;
		if (i < shown && used < sizeof(names))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
				!i           ? ""
				: i + 1 == n ? " and "
					     : ", ",
				scene_thread(scene, at));
		finding_prove(f, "%s waits for %s, held by %s", scene_thread(scene, at),
			scene_method(scene, w.method), scene_thread(scene, w.owner));
		scene_prove_stack(
			scene, f, scene_most(scene, EVENT_WALL, at, NULL, 0).part.stack, 2);
	}
	if (n > shown && used < sizeof(names))
		snprintf(names + used, sizeof(names) - used, " and %u more", n - shown);
	finding_set_text(f, "%s wait for each other: deadlocked for %.0f s", names,
		(double)least / (double)NS_PER_S);
	finding_advise(f,
		"acquire these locks in the same order everywhere; jhot dump prints whole stacks");
	f->event = EVENT_LOCK;
	f->thread = first;
}

static void judge_deadlock(const struct scene *scene)
{
	uint32_t threads = profile_thread_count(scene->profile);

	for (uint32_t i = 0; i < threads; i++) {
		uint32_t n = deadlocked_with(scene, i);

		if (n)
			report_deadlock(scene, i, n);
	}
}

const struct finding_rule rule_deadlock = {
	.name = "deadlock",
	.title = "DEADLOCK",
	.what = "deadlocks: threads that wait for each other in a cycle",
	.judge = judge_deadlock,
};

/* --- locks: contention --------------------------------------------------------------------------------------- */

/*
 * Waits are grouped by the class of the lock. Not counted: semaphores, which have no owner
 * (rule_pool), locks whose holder waits in a cycle (rule_deadlock), and waits inside accept, receive
 * or select, which idle threads of a server share.
 */
#define LOCKS_LEAST     0.5  /* waiting threads on average, ... */
#define LOCKS_EACH      0.05 /* ... this share of the time of each thread with a wait ... */
#define LOCKS_EACH_MOST 40   /* ... (of 40 at most, since threads come and go), ... */
#define LOCKS_SHARE     0.20 /* ... and of waiting and running threads together */
#define LOCKS_ALL       0.9  /* of a thread's time that counts as all of it */
#define LOCKS_POLL_NS   (2 * NS_PER_MS)
#define LOCKS_HOLDERS   64
#define LOCKS_CHAIN     6       /* owners after the first in a chain */
#define LOCKS_FREE      "[free" /* the agent's frame in place of the owner of a lock that is free, ... */
#define LOCKS_UNKNOWN   "[unknown owner" /* ... and of an owner that it does not know */
#define LOCKS_INSIDE    2u /* rank of a holder's stack with the method in which others wait */

/*
 * Parts of waits in which polls found the lock free (the thread was woken, but did not run yet), or
 * did not know its owner.
 */
struct unowned {
	uint64_t free_ns, unknown_ns;
};

struct contended {
	struct scene_group waits;
	struct {
		uint32_t thread;
		uint64_t ns;
	} holders[LOCKS_HOLDERS]; /* the first one held it longest */
	uint32_t holder_count;
	uint64_t held_ns;
	struct unowned unowned;
};

struct lock_spending {
	const struct scene *scene;
	struct scene_spending by;
};

static void add_wait(void *ctx, const struct profile_part *part)
{
	struct lock_spending *l = ctx;
	const struct profile_frame *leaf = scene_frame(l->scene, part->stack);
	bool idle = places_of(l->scene->places, part->stack).waits & PLACE_CALLERS;

	if (frame_is_class(leaf->type) && !idle &&
		!strstr(profile_get_method(l->scene->profile, leaf->method)->full, ".Semaphore$"))
		scene_spend(&l->by, leaf->method, part);
}

static void add_holder(const struct scene *scene, struct contended *c, uint32_t waiter)
{
	struct profile_waited waited;
	uint32_t i = 0;

	if (!profile_waited(scene->profile, waiter, scene->from, scene->to, &waited) ||
		waited.method != c->waits.what || waited.owner == PROFILE_NONE)
		return;
	while (i < c->holder_count && c->holders[i].thread != waited.owner)
		i++;
	if (i == LOCKS_HOLDERS)
		return;
	if (i == c->holder_count)
		c->holders[c->holder_count++].thread = waited.owner;
	c->holders[i].ns += waited.ns;
	c->held_ns += waited.ns;
}

struct lock_unowned {
	const struct scene *scene;
	struct unowned *by_thread;
};

static void add_unowned(void *ctx, const struct profile_part *part)
{
	struct lock_unowned *u = ctx;
	const struct profile_frame *leaf = scene_frame(u->scene, part->stack);
	const char *name = profile_get_method(u->scene->profile, leaf->method)->full;

	if (!strncmp(name, LOCKS_FREE, strlen(LOCKS_FREE)))
		u->by_thread[part->thread].free_ns += part->weight;
	if (!strncmp(name, LOCKS_UNKNOWN, strlen(LOCKS_UNKNOWN)))
		u->by_thread[part->thread].unknown_ns += part->weight;
}

/* One element per thread; the caller frees it. */
static struct unowned *unowned_of(const struct scene *scene)
{
	struct profile_query q = scene_query(scene, EVENT_LOCK);
	struct lock_unowned u = {scene, xcalloc(scene->threads + 1, sizeof(*u.by_thread))};

	q.holders = true;
	profile_each(scene->profile, &q, add_unowned, &u);
	return u.by_thread;
}

static struct contended contended_of(const struct lock_spending *l, const struct scene_group *waits,
	const struct unowned *unowned)
{
	struct contended c = {.waits = *waits};

	for (uint32_t i = waits->first, last = PROFILE_NONE; i < waits->end; i++) {
		uint32_t thread = l->by.list[i].thread;

		if (thread != last) {
			add_holder(l->scene, &c, thread);
			c.unowned.free_ns += unowned[thread].free_ns;
			c.unowned.unknown_ns += unowned[thread].unknown_ns;
		}
		last = thread;
	}
	for (uint32_t k = 1; k < c.holder_count; k++)
		if (c.holders[k].ns > c.holders[0].ns)
			c.holders[0] = c.holders[k];
	return c;
}

/* True when the chain of owners from this thread runs into a cycle (or is longer than CYCLE_MOST). */
static bool leads_to_cycle(const struct scene *scene, uint32_t thread)
{
	struct profile_wait w;

	for (uint32_t i = 0; i < CYCLE_MOST; i++) {
		if (!profile_wait_at(scene->profile, thread, scene->to, &w) ||
			w.until_ns != PROFILE_STILL || w.owner == PROFILE_NONE)
			return false;
		thread = w.owner;
	}
	return true;
}

/*
 * The last thread of the chain of holders: each waits, for at least half of the window, for a lock
 * that the next one holds. text: the chain in words.
 */
static uint32_t last_holder(
	const struct scene *scene, const struct contended *c, char *text, size_t bytes)
{
	uint32_t at = c->holders[0].thread, lock = c->waits.what;
	uint64_t window = (uint64_t)(scene_seconds(scene, EVENT_LOCK) * NS_PER_S);
	struct profile_waited waited;

	snprintf(text, bytes, "%s", scene_thread(scene, at));
	for (int i = 0; i < LOCKS_CHAIN; i++) {
		size_t used = strlen(text);

		if (!profile_waited(scene->profile, at, scene->from, scene->to, &waited) ||
			waited.method == lock || waited.owner == PROFILE_NONE ||
			waited.owner == at || waited.ns < window / 2)
			break;
		lock = waited.method;
		at = waited.owner;
		snprintf(text + used, bytes - used, ", which waits for %s, held by %s",
			scene_lock(scene, lock, (char[SCENE_LOCK]){0}), scene_thread(scene, at));
	}
	return at;
}

/*
 * Ranks stacks of a holder: waiting for a lock itself 0, in the method in which others wait
 * LOCKS_INSIDE, elsewhere 1.
 */
static unsigned rank_holding(
	const struct scene *scene, const struct profile_part *part, uint64_t where)
{
	uint32_t java = places_of(scene->places, part->stack).java;
	/*
	 * In one of Java's synchronizers, but not on a condition: it waits for a lock, or has been
	 * woken and waits for a core.
	 */
	bool waits = part->state == THREAD_MONITOR ||
		     ((part->state == THREAD_PARKED || part->state == THREAD_RUNNABLE) &&
			     places_find(scene->places, part->stack, METHOD_SYNC) != PROFILE_NONE &&
			     places_find(scene->places, part->stack, PLACE_CHANGE) == PROFILE_NONE);
	/* It may have been woken at the entry of a monitor. */
	bool woken = part->state == THREAD_RUNNABLE && java != PROFILE_NONE &&
		     scene_frame(scene, java)->method == (uint32_t)where;

	if (waits || woken)
		return 0;
	return scene_has_method(scene, part->stack, (uint32_t)where) ? LOCKS_INSIDE
								     : LOCKS_INSIDE - 1;
}

static void add_held(void *ctx, const struct profile_part *part)
{
	struct lock_spending *l = ctx;
	uint32_t method = scene_own_method(l->scene, part->stack);

	if (method != PROFILE_NONE)
		scene_spend(&l->by, method, part);
}

/*
 * The own method in which a thread spent most of the time while others waited for its locks.
 * PROFILE_NONE: not known.
 */
static uint32_t method_while_holding(const struct scene *scene, uint32_t holder)
{
	struct profile_query q = scene_query(scene, EVENT_LOCK);
	struct lock_spending held = {.scene = scene};
	struct scene_group group = {0}, most = {.what = PROFILE_NONE};

	q.holders = true;
	q.thread = holder;
	profile_each(scene->profile, &q, add_held, &held);
	while (scene_group_next(&held.by, &group))
		most = group.weight > most.weight ? group : most;
	free(held.by.list);
	return most.what;
}

static void report_lock(
	const struct scene *scene, const struct contended *c, double waiting, double running)
{
	double share = waiting / (waiting + running);
	struct finding *f = scene_found(scene, FINDING_COSTS, share, c->waits.what);
	struct profile_query q = scene_query(scene, EVENT_CPU);
	uint32_t where = scene_own_method(scene, c->waits.stack), holder = PROFILE_NONE, in;
	char lock[SCENE_LOCK], chain[140] = "", does[120] = "";
	struct scene_most most = {.part.stack = PROFILE_NONE};

	f->error = scene_error(
		c->waits.weight / LOCKS_POLL_NS + profile_sum(scene->profile, &q).count, share);
	f->event = EVENT_LOCK;
	f->thread = c->waits.thread;
	f->method = where;
	if (c->holder_count) {
		holder = last_holder(scene, c, chain, sizeof(chain));
		most = scene_most(scene, EVENT_WALL, holder, rank_holding, where);
		in = most.rank == LOCKS_INSIDE ? PROFILE_NONE : method_while_holding(scene, holder);
		if (in != PROFILE_NONE) {
			where = in;
			most = scene_most(scene, EVENT_WALL, holder, rank_holding, where);
		}
	}
	in = most.rank == LOCKS_INSIDE ? where : scene_own_method(scene, most.part.stack);
	if (in != PROFILE_NONE)
		snprintf(does, sizeof(does), " in %s%s%s%s", scene_method(scene, in),
			most.part.state ? " (" : "",
			most.part.state ? thread_states[most.part.state].name : "",
			most.part.state ? ")" : "");
	scene_lock(scene, c->waits.what, lock);
	finding_set_text(f, "%u thread%s for %s, %.1f on average; %s%s%s", c->waits.threads,
		c->waits.threads == 1 ? " waits" : "s wait", lock, waiting,
		!c->holder_count      ? "its owner is not known"
		: c->holder_count > 1 ? "held in turn, mostly by "
				      : "held by ",
		chain, does);
	finding_prove(f, "%s waits for %s here:", scene_thread(scene, c->waits.thread), lock);
	scene_prove_stack(scene, f, c->waits.stack, 3);
	if (most.part.stack != PROFILE_NONE) {
		finding_prove(f, "%s holds it during %.0f %% of these waits, mostly here:",
			scene_thread(scene, holder),
			c->held_ns ? 100.0 * (double)c->holders[0].ns / (double)c->held_ns : 0);
		scene_prove_stack(scene, f, most.part.stack, 4);
	}
	finding_advise(f,
		"hold it for less time, or split it; all waits: jhot record -e lock -d 10 %d",
		scene->now->pid);
}

/* Cores in use: sampled CPU time, or the vitals where that is not sampled. */
static double cores_used(const struct scene *scene)
{
	struct profile_query q = scene_query(scene, EVENT_CPU);
	double seconds = scene_seconds(scene, EVENT_CPU);
	uint64_t weight = profile_sum(scene->profile, &q).weight;

	if (weight && seconds > 0)
		return (double)weight / NS_PER_S / seconds;
	return scene->now->cpu_pct > 0 ? scene->now->cpu_pct / 100.0 : 0;
}

/*
 * True when the only waiter holds another lock of the list: the finding about that lock names this
 * one in its chain.
 */
static bool is_link(const struct contended *list, uint32_t count, const struct contended *c)
{
	for (uint32_t i = 0; i < count && c->waits.threads == 1; i++)
		if (&list[i] != c && list[i].holder_count &&
			list[i].holders[0].thread == c->waits.thread)
			return true;
	return false;
}

/*
 * True when exactly one thread waits for the lock, and waits for the whole window: a standby, which
 * takes over when the owner ends and costs nothing. A wait whose begin was not seen may have been
 * found only some time after sampling began.
 */
static bool is_standby(const struct scene *scene, const struct contended *c)
{
	uint64_t window = (scene->to - scene->from) * NS_PER_S;
	struct profile_wait w;

	return c->waits.threads == 1 &&
	       profile_wait_at(scene->profile, c->waits.thread, scene->to, &w) &&
	       w.until_ns == PROFILE_STILL && w.method == c->waits.what &&
	       waited_ns(scene, &w) + (w.at_least ? NS_PER_S : 0) >= window;
}

/*
 * The part of the waits during which the lock was held, in ns. In the rest, the threads had been
 * woken and waited to run, as on a saturated machine: rule_cores reports that. Short waits end
 * before a poll finds the owner. If no poll did, the polls that found the lock free or its owner
 * unknown are taken as representative of all waits.
 */
static double held_ns(const struct contended *c)
{
	double waits = (double)c->waits.weight;
	double freed = (double)c->unowned.free_ns, unknown = (double)c->unowned.unknown_ns;

	if (!c->holder_count && freed > 0)
		return waits * unknown / (freed + unknown);
	return waits - freed;
}

/*
 * True when threads outside of executors try to acquire the lock, with a timeout, again and again,
 * and one thread holds it all the time: candidates, which take over when the owner ends.
 */
static bool are_candidates(const struct scene *scene, const struct lock_spending *l,
	const struct contended *c, double seconds)
{
	if (c->holder_count != 1 ||
		(double)c->held_ns < LOCKS_ALL * c->waits.threads * seconds * NS_PER_S)
		return false;
	for (uint32_t i = c->waits.first; i < c->waits.end; i++) {
		uint32_t thread = l->by.list[i].thread;
		uint32_t stack = scene_most(scene, EVENT_WALL, thread, NULL, 0).part.stack;

		if (stack == PROFILE_NONE || places_of(scene->places, stack).executor ||
			places_find(scene->places, stack, METHOD_TRIES) == PROFILE_NONE)
			return false;
	}
	return true;
}

static void judge_locks(const struct scene *scene)
{
	struct profile_query q = scene_query(scene, EVENT_LOCK);
	double seconds = scene_seconds(scene, EVENT_LOCK), running = cores_used(scene);
	struct lock_spending l = {.scene = scene};
	struct scene_group waits = {0};
	struct contended *found = NULL;
	struct unowned *unowned = NULL;
	uint32_t count = 0;

	profile_each(scene->profile, &q, add_wait, &l);
	while (seconds > 0 && scene_group_next(&l.by, &waits)) {
		double waiting = (double)waits.weight / NS_PER_S / seconds;
		uint32_t each = waits.threads < LOCKS_EACH_MOST ? waits.threads : LOCKS_EACH_MOST;

		if (waiting < LOCKS_LEAST || waiting < LOCKS_SHARE * (waiting + running) ||
			waiting < LOCKS_EACH * each || leads_to_cycle(scene, waits.thread))
			continue;
		found = xreallocarray(found, count + 1, sizeof(*found));
		unowned = unowned ? unowned : unowned_of(scene);
		found[count] = contended_of(&l, &waits, unowned);
		count += held_ns(&found[count]) >= LOCKS_LEAST * NS_PER_S * seconds &&
			 !is_standby(scene, &found[count]) &&
			 !are_candidates(scene, &l, &found[count], seconds);
	}
	for (uint32_t i = 0; i < count; i++)
		if (!is_link(found, count, &found[i]))
			report_lock(scene, &found[i],
				(double)found[i].waits.weight / NS_PER_S / seconds, running);
	free(found);
	free(unowned);
	free(l.by.list);
}

const struct finding_rule rule_locks = {
	.name = "locks",
	.title = "LOCK",
	.what = "contended locks: half a thread or more waiting on average",
	.events = 1u << EVENT_LOCK,
	.judge = judge_locks,
};
