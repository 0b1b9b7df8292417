/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock that costs: who waits, where, and what its holder does meanwhile.
 *
 * Semaphores are none of this: nobody holds them (the rule of pools). Nor is one whose holder waits in a circle: that is
 * a deadlock.
 */
#include "findings/rules.h"
#include "findings/scene.h"

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

/* One thread's waits at one place for locks of one class. */
struct wait {
	uint32_t lock, thread, stack;
	uint64_t weight;
};

struct locks {
	const struct scene *scene;
	struct wait *list;
	uint32_t count, cap;
};

/* All waits for locks of one class. */
struct contended {
	uint32_t lock, threads, stack, waiter;
	uint64_t weight, most; /* most: of the waiter and stack */
	struct {
		uint32_t thread;
		uint64_t ns;
	} holders[HOLDERS];
	uint32_t holder_count;
	uint64_t held_ns;
};

/* What a holder does while it does not wait for a lock. */
struct holding {
	const struct scene *scene;
	uint32_t thread,
		where; /* where: the method in which others wait, best if the holder is in it */
	uint32_t stack;
	enum thread_state state;
	uint64_t weight;
	bool inside;
};

/* --- waits ------------------------------------------------------------------------------------------- */

static void wait_of(void *ctx, const struct profile_part *part)
{
	struct locks *l = ctx;
	const struct profile_frame *leaf = scene_frame(l->scene, part->stack);

	if (!frame_is_class(leaf->type) ||
		strstr(profile_get_method(l->scene->profile, leaf->method)->full, ".Semaphore$"))
		return;
	if (l->count == l->cap) {
		l->cap = l->cap ? 2 * l->cap : 256;
		l->list = xreallocarray(l->list, l->cap, sizeof(*l->list));
	}
	l->list[l->count++] = (struct wait){leaf->method, part->thread, part->stack, part->weight};
}

static int by_lock(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;

	if (x->lock != y->lock)
		return x->lock < y->lock ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static void add_holder(const struct scene *scene, struct contended *c, uint32_t waiter)
{
	struct profile_waited waited;
	uint32_t i = 0;

	if (!profile_waited(scene->profile, waiter, scene->from, scene->to, &waited) ||
		waited.method != c->lock || waited.owner == PROFILE_NONE)
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

/* The lock that begins at wait *i, which moves to the next; they are sorted. */
static struct contended take_lock(const struct locks *l, uint32_t *i)
{
	struct contended c = {.lock = l->list[*i].lock};
	uint32_t last = PROFILE_NONE;

	for (; *i < l->count && l->list[*i].lock == c.lock; ++*i) {
		const struct wait *w = &l->list[*i];

		if (w->thread != last) {
			c.threads++;
			add_holder(l->scene, &c, w->thread);
		}
		last = w->thread;
		c.weight += w->weight;
		if (w->weight > c.most) {
			c.most = w->weight;
			c.waiter = w->thread;
			c.stack = w->stack;
		}
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
	uint32_t at = c->holders[0].thread, lock = c->lock;
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
	bool lock = false;

	for (; stack != PROFILE_ROOT_STACK;
		stack = profile_get_stack(scene->profile, stack).parent) {
		const struct profile_method *m =
			profile_get_method(scene->profile, scene_frame(scene, stack)->method);

		if (strstr(m->class_name, "$ConditionObject"))
			return false;
		lock |= !strncmp(m->class_name, "java.util.concurrent.locks.Abstract", 35);
	}
	return lock;
}

static void holding_of(void *ctx, const struct profile_part *part)
{
	struct holding *h = ctx;
	bool inside;

	if (part->state == THREAD_MONITOR ||
		(part->state == THREAD_PARKED && parks_for_lock(h->scene, part->stack)))
		return;
	inside = passes(h->scene, part->stack, h->where);
	if (inside < h->inside || (inside == h->inside && part->weight <= h->weight))
		return;
	h->inside = inside;
	h->weight = part->weight;
	h->stack = part->stack;
	h->state = part->state;
}

static struct holding what_it_does(const struct scene *scene, uint32_t thread, uint32_t where)
{
	static const int events[] = {EVENT_WALL, EVENT_CPU};
	struct holding h = {
		.scene = scene, .thread = thread, .where = where, .stack = PROFILE_NONE};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]) && !h.weight; i++) {
		struct profile_query q = scene_query(scene, events[i]);

		q.thread = thread;
		profile_each(scene->profile, &q, holding_of, &h);
	}
	return h;
}

/* --- what is said ------------------------------------------------------------------------------------ */

static uint32_t own_method(const struct scene *scene, uint32_t stack)
{
	uint32_t own = stack == PROFILE_NONE ? PROFILE_NONE : scene_own(scene, stack);

	return own == PROFILE_NONE ? PROFILE_NONE : scene_frame(scene, own)->method;
}

static void tell_holder(const struct scene *scene, struct finding *f, const struct contended *c,
	uint32_t where, double moment)
{
	char lock[SCENE_LOCK], chain[140] = "", does[120] = "";
	uint32_t holder = PROFILE_NONE, in;
	struct holding h = {.stack = PROFILE_NONE};

	if (c->holder_count) {
		holder = last_holder(scene, c, chain, sizeof(chain));
		h = what_it_does(scene, holder, where);
	}
	in = own_method(scene, h.stack);
	if (h.inside)
		in = where;
	if (in != PROFILE_NONE)
		snprintf(does, sizeof(does), " in %s%s%s%s", scene_method(scene, in),
			h.state ? " (" : "", h.state ? thread_states[h.state].name : "",
			h.state ? ")" : "");
	scene_lock(scene, c->lock, lock);
	snprintf(f->what, sizeof(f->what), "%u thread%s for %s: %.1f at any moment; held%s by %s%s",
		c->threads, c->threads == 1 ? " waits" : "s wait", lock, moment,
		c->holder_count > 1 ? " in turns, most" : "",
		c->holder_count ? chain : "one that is not known", does);
	scene_proof(f, "%s waits for %s here:", scene_thread(scene, c->waiter), lock);
	scene_proof_stack(scene, f, c->stack, 3);
	if (h.stack == PROFILE_NONE)
		return;
	scene_proof(f, "%s holds it for %.0f %% of these waits, and meanwhile is mostly here:",
		scene_thread(scene, holder),
		c->held_ns ? 100.0 * (double)c->holders[0].ns / (double)c->held_ns : 0);
	scene_proof_stack(scene, f, h.stack, 4);
}

static void tell(const struct scene *scene, const struct contended *c, double moment, double used)
{
	double share = moment / (moment + used);
	struct finding *f = scene_found(scene, FINDING_COSTS, share, c->lock);
	struct profile_query q = scene_query(scene, EVENT_CPU);
	uint32_t where = own_method(scene, c->stack);

	if (!f)
		return;
	f->error = scene_error(c->weight / LOOK_NS + profile_sum(scene->profile, &q).count, share);
	f->event = EVENT_LOCK;
	f->thread = c->waiter;
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
	for (uint32_t i = 0; i < found->count && c->threads == 1; i++)
		if (&found->list[i] != c && found->list[i].holder_count &&
			found->list[i].holders[0].thread == c->waiter)
			return true;
	return false;
}

static bool costs(const struct contended *c, double moment, double used)
{
	return moment >= LEAST && moment >= MUCH * (moment + used) &&
	       moment >= EACH * (c->threads < EACH_MOST ? c->threads : EACH_MOST);
}

static void look(const struct scene *scene)
{
	struct profile_query q = scene_query(scene, EVENT_LOCK);
	double seconds = scene_seconds(scene, EVENT_LOCK), used = cores(scene);
	struct locks l = {.scene = scene};
	struct kept found = {0};

	profile_each(scene->profile, &q, wait_of, &l);
	if (l.count)
		qsort(l.list, l.count, sizeof(*l.list), by_lock);
	for (uint32_t i = 0; i < l.count && seconds > 0;) {
		struct contended c = take_lock(&l, &i);
		double moment = (double)c.weight / NS_PER_S / seconds;

		if (costs(&c, moment, used) && !in_circle(scene, c.waiter))
			keep(&found, &c);
	}
	for (uint32_t i = 0; i < found.count; i++)
		if (!is_link(&found, &found.list[i]))
			tell(scene, &found.list[i],
				(double)found.list[i].weight / NS_PER_S / seconds, used);
	free(found.list);
	free(l.list);
}

const struct finding_rule rule_locks = {
	.name = "locks",
	.title = "LOCK",
	.what = "locks that half a thread and more waits for all the time",
	.events = 1u << EVENT_LOCK,
	.look = look,
};
