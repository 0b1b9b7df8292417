/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock that costs: who waits, where, and what its holder does meanwhile.
 *
 * Semaphores are none of this: nobody holds them (the rule of pools). Nor is one whose holder waits in a circle: that is
 * a deadlock.
 */
#include "findings/places.h"
#include "findings/rules.h"

#include "base/buf.h"
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

#define LEAST     0.5  /* threads that wait at any moment, */
#define EACH      0.05 /* so much of the time of each that ever waits */
#define EACH_MOST 40   /* (but of no more: threads come and go), */
#define MUCH      0.20 /* and of the CPU time and this together */
#define LOOK_NS   (2 * NS_PER_MS)
#define HOLDERS   64
#define CHAIN_MAX 6
#define INSIDE    2u /* how a holder ranks that is in the method in which others wait */

struct locks {
	const struct scene *scene;
	struct scene_spending waits; /* by the lock's class */
};

/* All waits for locks of one class. */
struct contended {
	struct scene_group waits;
	struct {
		uint32_t thread;
		uint64_t ns;
	} holders[HOLDERS];
	uint32_t holder_count;
	uint64_t held_ns;
};

/* --- waits ------------------------------------------------------------------------------------------- */

static void wait_of(void *ctx, const struct profile_part *part)
{
	struct locks *l = ctx;
	const struct profile_frame *leaf = scene_frame(l->scene, part->stack);

	if (!frame_is_class(leaf->type) ||
		strstr(profile_get_method(l->scene->profile, leaf->method)->full, ".Semaphore$"))
		return;
	scene_spend(&l->waits, leaf->method, part);
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
	if (i == HOLDERS)
		return;
	if (i == c->holder_count)
		c->holders[c->holder_count++].thread = waited.owner;
	c->holders[i].ns += waited.ns;
	c->held_ns += waited.ns;
}

static struct contended contended_of(const struct locks *l, const struct scene_group *waits)
{
	struct contended c = {.waits = *waits};

	for (uint32_t i = waits->first, last = PROFILE_NONE; i < waits->end; i++) {
		uint32_t thread = l->waits.list[i].thread;

		if (thread != last)
			add_holder(l->scene, &c, thread);
		last = thread;
	}
	for (uint32_t k = 1; k < c.holder_count; k++)
		if (c.holders[k].ns > c.holders[0].ns)
			c.holders[0] = c.holders[k];
	return c;
}

/* --- holders ----------------------------------------------------------------------------------------- */

/* Do owners lead on and on? */
static bool in_circle(const struct scene *scene, uint32_t thread)
{
	struct profile_wait w;

	for (int i = 0; i < 64; i++) {
		if (!profile_wait_at(scene->profile, thread, scene->to, &w) ||
			w.until_ns != PROFILE_STILL || w.owner == PROFILE_NONE)
			return false;
		thread = w.owner;
	}
	return true;
}

/* The last one of those who hold what the one before waits for, most of the time; text: how it comes to that. */
static uint32_t last_holder(
	const struct scene *scene, const struct contended *c, char *text, size_t bytes)
{
	uint32_t at = c->holders[0].thread, lock = c->waits.what;
	uint64_t window = (uint64_t)(scene_seconds(scene, EVENT_LOCK) * NS_PER_S);
	struct profile_waited waited;

	snprintf(text, bytes, "%s", scene_thread(scene, at));
	for (int i = 0; i < CHAIN_MAX; i++) {
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

static bool passes(const struct scene *scene, uint32_t stack, uint32_t method)
{
	for (; stack != PROFILE_ROOT_STACK; stack = profile_get_stack(scene->profile, stack).parent)
		if (scene_frame(scene, stack)->method == method)
			return true;
	return false;
}

/* Parked for a lock: one of Java's own synchronizers is on the stack, and no condition. */
static bool parks_for_lock(const struct scene *scene, uint32_t stack)
{
	return places_find(scene->places, stack, METHOD_SYNC) != PROFILE_NONE &&
	       places_find(scene->places, stack, PLACE_CHANGE) == PROFILE_NONE;
}

/* What a holder does while it does not wait for a lock: best in the method in which others wait. */
static unsigned holding(const struct scene *scene, const struct profile_part *part, uint32_t where)
{
	if (part->state == THREAD_MONITOR ||
		(part->state == THREAD_PARKED && parks_for_lock(scene, part->stack)))
		return 0;
	return passes(scene, part->stack, where) ? INSIDE : INSIDE - 1;
}

/* --- what is said ------------------------------------------------------------------------------------ */

static uint32_t own_method(const struct scene *scene, uint32_t stack)
{
	uint32_t own = stack == PROFILE_NONE ? PROFILE_NONE : scene_own(scene, stack);

	return own == PROFILE_NONE ? PROFILE_NONE : scene_frame(scene, own)->method;
}

/*
 * In what a thread was while others waited for locks that it held: its innermost own method for most of that time. PROFILE_NONE:
 * not known.
 */
static void held_of(void *ctx, const struct profile_part *part)
{
	struct locks *l = ctx;
	uint32_t method = own_method(l->scene, part->stack);

	if (method != PROFILE_NONE)
		scene_spend(&l->waits, method, part);
}

static uint32_t held_in(const struct scene *scene, uint32_t holder)
{
	struct profile_query q = scene_query(scene, EVENT_LOCK);
	struct locks held = {.scene = scene};
	struct scene_group group = {0}, most = {.what = PROFILE_NONE};

	q.holders = true;
	q.thread = holder;
	profile_each(scene->profile, &q, held_of, &held);
	while (scene_group_next(&held.waits, &group))
		most = group.weight > most.weight ? group : most;
	free(held.waits.list);
	return most.what;
}

static void tell_holder(const struct scene *scene, struct finding *f, const struct contended *c,
	uint32_t where, double moment)
{
	char lock[SCENE_LOCK], chain[140] = "", does[120] = "";
	uint32_t holder = PROFILE_NONE, in;
	struct scene_most most = {.part.stack = PROFILE_NONE};

	if (c->holder_count) {
		holder = last_holder(scene, c, chain, sizeof(chain));
		most = scene_most(scene, EVENT_WALL, holder, holding, where);
		in = most.rank == INSIDE ? PROFILE_NONE : held_in(scene, holder);
		if (in != PROFILE_NONE) {
			where = in;
			most = scene_most(scene, EVENT_WALL, holder, holding, where);
		}
	}
	in = most.rank == INSIDE ? where : own_method(scene, most.part.stack);
	if (in != PROFILE_NONE)
		snprintf(does, sizeof(does), " in %s%s%s%s", scene_method(scene, in),
			most.part.state ? " (" : "",
			most.part.state ? thread_states[most.part.state].name : "",
			most.part.state ? ")" : "");
	scene_lock(scene, c->waits.what, lock);
	snprintf(f->what, sizeof(f->what), "%u thread%s for %s: %.1f at any moment; %s%s%s",
		c->waits.threads, c->waits.threads == 1 ? " waits" : "s wait", lock, moment,
		!c->holder_count      ? "its owner is not known"
		: c->holder_count > 1 ? "held in turns, most by "
				      : "held by ",
		chain, does);
	scene_proof(f, "%s waits for %s here:", scene_thread(scene, c->waits.thread), lock);
	scene_proof_stack(scene, f, c->waits.stack, 3);
	if (most.part.stack == PROFILE_NONE)
		return;
	scene_proof(f, "%s holds it for %.0f %% of these waits, and meanwhile is mostly here:",
		scene_thread(scene, holder),
		c->held_ns ? 100.0 * (double)c->holders[0].ns / (double)c->held_ns : 0);
	scene_proof_stack(scene, f, most.part.stack, 4);
}

static void tell(const struct scene *scene, const struct contended *c, double moment, double used)
{
	double share = moment / (moment + used);
	struct finding *f = scene_found(scene, FINDING_COSTS, share, c->waits.what);
	struct profile_query q = scene_query(scene, EVENT_CPU);
	uint32_t where = own_method(scene, c->waits.stack);

	if (!f)
		return;
	f->error = scene_error(
		c->waits.weight / LOOK_NS + profile_sum(scene->profile, &q).count, share);
	f->event = EVENT_LOCK;
	f->thread = c->waits.thread;
	f->method = where;
	tell_holder(scene, f, c, where, moment);
	snprintf(f->look, sizeof(f->look),
		"do less while it is held, or split it: `jhot record -e lock -d 10 %d` has all "
		"that wait",
		scene->now->pid);
}

/* cores: how many are used; of the vitals where CPU time is not sampled. */
static double cores(const struct scene *scene)
{
	struct profile_query q = scene_query(scene, EVENT_CPU);
	double seconds = scene_seconds(scene, EVENT_CPU);
	uint64_t weight = profile_sum(scene->profile, &q).weight;

	if (weight && seconds > 0)
		return (double)weight / NS_PER_S / seconds;
	return scene->now->cpu_pct > 0 ? scene->now->cpu_pct / 100.0 : 0;
}

/* What is worth a sentence. */
struct kept {
	struct contended *list;
	uint32_t count;
};

static void keep(struct kept *found, const struct contended *c)
{
	found->list = xreallocarray(found->list, found->count + 1, sizeof(*found->list));
	found->list[found->count++] = *c;
}

/* Does but the holder of another wait for it? It is told as a link of that chain. */
static bool is_link(const struct kept *found, const struct contended *c)
{
	for (uint32_t i = 0; i < found->count && c->waits.threads == 1; i++)
		if (&found->list[i] != c && found->list[i].holder_count &&
			found->list[i].holders[0].thread == c->waits.thread)
			return true;
	return false;
}

static bool costs(const struct contended *c, double moment, double used)
{
	return moment >= LEAST && moment >= MUCH * (moment + used) &&
	       moment >= EACH * (c->waits.threads < EACH_MOST ? c->waits.threads : EACH_MOST);
}

static void look(const struct scene *scene)
{
	struct profile_query q = scene_query(scene, EVENT_LOCK);
	double seconds = scene_seconds(scene, EVENT_LOCK), used = cores(scene);
	struct locks l = {.scene = scene};
	struct scene_group waits = {0};
	struct kept found = {0};

	profile_each(scene->profile, &q, wait_of, &l);
	while (seconds > 0 && scene_group_next(&l.waits, &waits)) {
		struct contended c = contended_of(&l, &waits);
		double moment = (double)c.waits.weight / NS_PER_S / seconds;

		if (costs(&c, moment, used) && !in_circle(scene, c.waits.thread))
			keep(&found, &c);
	}
	for (uint32_t i = 0; i < found.count; i++)
		if (!is_link(&found, &found.list[i]))
			tell(scene, &found.list[i],
				(double)found.list[i].waits.weight / NS_PER_S / seconds, used);
	free(found.list);
	free(l.waits.list);
}

const struct finding_rule rule_locks = {
	.name = "locks",
	.title = "LOCK",
	.what = "locks that half a thread and more waits for all the time",
	.events = 1u << EVENT_LOCK,
	.look = look,
};
