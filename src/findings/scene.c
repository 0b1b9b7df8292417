/* SPDX-License-Identifier: Apache-2.0 */
/* Queries that several rules share, and the text of findings. */
#include "findings/scene.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/java_name.h"
#include "findings/places.h"
#include "profile/table/flat.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define CPU_POINTS      5  /* least, for a mean */
#define DELAYED_SAMPLES 30 /* of the JVM's own threads */

double scene_elapsed_s(const struct scene_point *then, const struct scene_point *now)
{
	return (double)(now->time_ns - then->time_ns) / (double)NS_PER_S;
}

const struct scene_point *scene_before(const struct scene *scene, double least_s, double most_s)
{
	for (unsigned i = 0; i < scene->point_count; i++) {
		double apart_s = scene_elapsed_s(&scene->points[i], scene->last);

		if (apart_s <= most_s)
			return apart_s >= least_s ? &scene->points[i] : NULL;
	}
	return NULL;
}

const struct scene_point *scene_part(
	const struct scene *scene, const struct scene_point *then, int part, int parts)
{
	double apart_s = scene_elapsed_s(then, scene->last);

	for (const struct scene_point *p = then; p < scene->last; p++)
		if (scene_elapsed_s(then, p) >= apart_s * part / parts)
			return p;
	return scene->last;
}

double scene_rate(const struct scene_point *then, const struct scene_point *now, int64_t count_then,
	int64_t count_now)
{
	if (count_then < 0 || count_now < count_then || now->time_ns <= then->time_ns)
		return -1;
	return (double)(count_now - count_then) / scene_elapsed_s(then, now);
}

double scene_sync_share(const struct scene *scene)
{
	return SCENE_RATE(scene->then, scene->last, sync_ms) / 10;
}

double scene_queued_share(const struct scene *scene)
{
	double seconds = scene_seconds(scene, EVENT_WALL);
	uint64_t *waited = xcalloc(scene->threads + 1, sizeof(*waited)), longest = 0;

	for (uint32_t i = 0; i < scene->wall_count; i++) {
		const struct profile_part *part = &scene->wall[i];

		if (part->state != THREAD_RUNNABLE ||
			profile_get_thread(scene->profile, part->thread)->kind == THREAD_AGENT)
			continue;
		waited[part->thread] += part->weight;
		longest = waited[part->thread] > longest ? waited[part->thread] : longest;
	}
	free(waited);
	return seconds > 0 ? 100.0 * (double)longest / NS_PER_S / seconds : 0;
}

double scene_delayed_share(const struct scene *scene)
{
	const struct scene_point *then = scene->then, *now = scene->last;
	uint64_t ran_ns = 0, waited_ns = 0, samples = 0;

	for (uint32_t i = 0; i < scene->wall_count; i++) {
		const struct profile_part *part = &scene->wall[i];
		enum thread_kind kind = profile_get_thread(scene->profile, part->thread)->kind;
		bool waits = part->state == THREAD_RUNNABLE;

		if ((kind != THREAD_GC && kind != THREAD_VM) ||
			(!waits && part->state != THREAD_ON_CPU))
			continue;
		*(waits ? &waited_ns : &ran_ns) += part->weight;
		samples += part->count;
	}
	if (samples >= DELAYED_SAMPLES)
		return (double)waited_ns / (double)(waited_ns + ran_ns);
	double ran = then ? SCENE_RATE(then, now, cpu_ms) : -1;
	double queued = then ? SCENE_RATE(then, now, host.queued_ms) : -1;
	return ran >= 0 && queued > 0 ? queued / (ran + queued) : 0;
}

double scene_cpu(const struct scene *scene, struct vitals_cpu *out)
{
	double java = 0, jit = 0, gc = 0, kernel = 0;
	int known = 0;

	for (unsigned i = scene->point_count; i-- > 0;) {
		const struct scene_point *p = &scene->points[i];

		if (scene_elapsed_s(p, scene->last) > SCENE_MOST_S)
			break;
		if (p->cpu.java_pct < 0 || p->cpu.jit_pct < 0 || p->cpu.gc_pct < 0 ||
			p->cpu.kernel_pct < 0)
			continue;
		java += p->cpu.java_pct;
		jit += p->cpu.jit_pct;
		gc += p->cpu.gc_pct;
		kernel += p->cpu.kernel_pct;
		known++;
	}
	if (known < CPU_POINTS)
		return -1;
	*out = (struct vitals_cpu){
		(int)(java / known), (int)(jit / known), (int)(gc / known), (int)(kernel / known)};
	return (java + jit + gc + kernel) / known;
}

struct profile_query scene_query(const struct scene *scene, int event)
{
	struct profile_query q = profile_whole(event);

	q.from = scene->from;
	q.to = scene->to;
	q.by_weight = true;
	return q;
}

double scene_seconds(const struct scene *scene, int event)
{
	struct profile_query q = scene_query(scene, event), wall = scene_query(scene, EVENT_WALL);
	uint32_t seconds = profile_covered(scene->profile, &q);

	if (scene->longest && scene->longest < seconds * NS_PER_S &&
		seconds == profile_covered(scene->profile, &wall))
		return (double)scene->longest / NS_PER_S;
	return seconds;
}

static void wall_add(void *ctx, const struct profile_part *part)
{
	struct scene *scene = ctx;

	if (part->thread >= scene->threads)
		return;
	scene->wall = xgrow(scene->wall, scene->wall_count, &scene->wall_cap, sizeof(*scene->wall));
	scene->wall[scene->wall_count++] = *part;
	scene->lived[part->thread] += part->weight;
	if (scene->lived[part->thread] > scene->longest)
		scene->longest = scene->lived[part->thread];
}

void scene_open(struct scene *scene)
{
	struct profile_query q = scene_query(scene, EVENT_WALL);

	scene->last = scene->point_count ? &scene->points[scene->point_count - 1] : NULL;
	scene->then = scene_before(scene, SCENE_LEAST_S, SCENE_MOST_S);
	scene->threads = profile_thread_count(scene->profile);
	scene->lived = xcalloc(scene->threads + 1, sizeof(*scene->lived));
	profile_each(scene->profile, &q, wall_add, scene);
	scene->places = places_new(scene);
}

void scene_close(struct scene *scene)
{
	places_free(scene->places);
	free(scene->lived);
	free(scene->wall);
}

double scene_error(uint64_t samples, double share)
{
	return flat_half_width((uint64_t)(share * (double)samples + 0.5), samples) / 100;
}

const struct profile_frame *scene_frame(const struct scene *scene, uint32_t stack)
{
	return profile_get_frame(scene->profile, profile_get_stack(scene->profile, stack).frame);
}

uint32_t scene_own(const struct scene *scene, uint32_t stack)
{
	while (stack != PROFILE_ROOT_STACK) {
		struct profile_stack s = profile_get_stack(scene->profile, stack);

		if (profile_frame_own(scene->profile, s.frame))
			return stack;
		stack = s.parent;
	}
	return PROFILE_NONE;
}

uint32_t scene_own_method(const struct scene *scene, uint32_t stack)
{
	uint32_t own = stack == PROFILE_NONE ? PROFILE_NONE : scene_own(scene, stack);

	return own == PROFILE_NONE ? PROFILE_NONE : scene_frame(scene, own)->method;
}

bool scene_has_method(const struct scene *scene, uint32_t stack, uint32_t method)
{
	for (; stack != PROFILE_ROOT_STACK; stack = profile_get_stack(scene->profile, stack).parent)
		if (scene_frame(scene, stack)->method == method)
			return true;
	return false;
}

const char *scene_method(const struct scene *scene, uint32_t method)
{
	if (method == PROFILE_NONE)
		return "a lock";
	const struct profile_method *m = profile_get_method(scene->profile, method);
	const char *full = m->full;
	if (!*m->class_name) /* native: "[libc.so.6] __poll" has no class to shorten */
		return full;
	const char *cut =
		*m->name && *m->class_name ? strrchr(m->class_name, '.') : strrchr(full, '.');
	if (!cut)
		return full;
	return full + (cut - (*m->name && *m->class_name ? m->class_name : full)) + 1;
}

const char *scene_lock(const struct scene *scene, uint32_t method, char out[SCENE_LOCK])
{
	static const char *const inner[] = {"$NonfairSync", "$FairSync", "$Sync"};
	const char *name = scene_method(scene, method), *word = "";
	size_t bytes = strlen(name);

	if (method != PROFILE_NONE && strncmp(name, PROFILE_MIRROR, strlen(PROFILE_MIRROR)) != 0 &&
		!strncmp(profile_get_method(scene->profile, method)->full, PROFILE_MIRROR,
			strlen(PROFILE_MIRROR)))
		word = PROFILE_MIRROR;

	for (size_t i = 0; i < sizeof(inner) / sizeof(inner[0]); i++) {
		size_t end = strlen(inner[i]);

		if (bytes > end && !strcmp(name + bytes - end, inner[i]))
			bytes -= end;
	}
	snprintf(out, SCENE_LOCK, "%s%.*s", word, (int)bytes, name);
	return out;
}

const char *scene_thread(const struct scene *scene, uint32_t thread)
{
	return profile_get_thread(scene->profile, thread)->name;
}

uint32_t scene_pools(const struct scene *scene)
{
	uint32_t pools = 0;

	for (uint32_t i = 0; i < scene->threads; i++) {
		uint32_t pool = profile_get_thread(scene->profile, i)->pool;

		pools = pool >= pools ? pool + 1 : pools;
	}
	return pools;
}

bool scene_is_java(const struct scene *scene, uint32_t thread)
{
	enum thread_kind kind = profile_get_thread(scene->profile, thread)->kind;

	return kind == THREAD_JAVA || kind == THREAD_VIRTUAL;
}

static bool state_blocks(enum thread_state state)
{
	return state == THREAD_SLEEPING || state == THREAD_MONITOR || state == THREAD_WAITING ||
	       state == THREAD_PARKED || state == THREAD_IO;
}

bool scene_pins(const struct scene *scene, const struct profile_part *part)
{
	return profile_get_thread(scene->profile, part->thread)->kind == THREAD_VIRTUAL &&
	       state_blocks(part->state) &&
	       places_find(scene->places, part->stack, METHOD_MOUNTS) != PROFILE_NONE;
}

struct scene_carriers scene_carriers(const struct scene *scene)
{
	double seconds = scene_seconds(scene, EVENT_WALL);
	struct scene_carriers c = {0};

	for (uint32_t i = 0; i < scene->wall_count && seconds > 0; i++) {
		const struct profile_part *part = &scene->wall[i];
		double on_average = (double)part->weight / NS_PER_S / seconds;

		if (profile_get_thread(scene->profile, part->thread)->kind != THREAD_VIRTUAL)
			continue;
		if (part->state == THREAD_CARRIER)
			c.ready += on_average;
		else if (scene_pins(scene, part))
			c.pinned += on_average;
		else if (!state_blocks(part->state))
			c.runs += on_average;
	}
	return c;
}

/* --- the largest part -------------------------------------------------------------------------------- */

struct ranking {
	const struct scene *scene;
	scene_rank *rank;
	uint64_t arg;
	struct scene_most most;
};

static void ranking_add(void *ctx, const struct profile_part *part)
{
	struct ranking *r = ctx;
	unsigned rank = r->rank ? r->rank(r->scene, part, r->arg) : 1;

	if (!rank || rank < r->most.rank ||
		(rank == r->most.rank && part->weight <= r->most.part.weight))
		return;
	r->most.part = *part;
	r->most.rank = rank;
}

struct scene_most scene_most(
	const struct scene *scene, int event, uint32_t thread, scene_rank *rank, uint64_t arg)
{
	struct profile_query q = scene_query(scene, event);
	struct ranking r = {scene, rank, arg, {.part.stack = PROFILE_NONE, .event = event}};

	q.thread = thread;
	profile_each(scene->profile, &q, ranking_add, &r);
	if (event == EVENT_WALL && !r.most.rank)
		return scene_most(scene, EVENT_CPU, thread, rank, arg);
	return r.most;
}

/* --- the cost of an activity --------------------------------------------------------------------------- */

#define COST_METHODS 32 /* own methods with a sum each; the last one includes all others */

struct cost_method {
	uint32_t method, stack; /* stack: one of its stacks */
	uint64_t weight;
};

struct costing {
	const struct scene *scene;
	scene_pick *pick;
	uint64_t arg;
	struct scene_cost cost;
	struct cost_method by[COST_METHODS];
	unsigned by_count;
};

static void costing_add(void *ctx, const struct profile_part *part)
{
	struct costing *c = ctx;
	uint32_t at = c->pick(c->scene, part->stack, c->arg);
	struct cost_method *by = c->by;

	if (at == PROFILE_NONE)
		return;
	c->cost.count += part->count;
	c->cost.weight += part->weight;
	uint32_t method = scene_own_method(c->scene, at);
	while (by < c->by + c->by_count && by->method != method)
		by++;
	if (by == c->by + COST_METHODS)
		by--;
	else if (by == c->by + c->by_count) {
		*by = (struct cost_method){method, at, 0};
		c->by_count++;
	}
	by->weight += part->weight;
}

struct scene_cost scene_cost(const struct scene *scene, scene_pick *pick, uint64_t arg)
{
	struct profile_query q = scene_query(scene, EVENT_CPU);
	struct profile_sum all = profile_sum(scene->profile, &q);
	struct costing c = {.scene = scene,
		.pick = pick,
		.arg = arg,
		.cost = {.method = PROFILE_NONE, .stack = PROFILE_NONE}};

	profile_each(scene->profile, &q, costing_add, &c);
	for (const struct cost_method *by = c.by; by < c.by + c.by_count; by++)
		if (by->weight > c.cost.most) {
			c.cost.method = by->method;
			c.cost.stack = by->stack;
			c.cost.most = by->weight;
		}
	c.cost.share = all.weight ? (double)c.cost.weight / (double)all.weight : 0;
	c.cost.error = flat_half_width(c.cost.count, all.count) / 100;
	return c.cost;
}

static uint32_t pick_method(const struct scene *scene, uint32_t stack, uint64_t kinds)
{
	return places_find(scene->places, stack, kinds);
}

struct scene_cost scene_cost_of(const struct scene *scene, uint64_t kinds)
{
	return scene_cost(scene, pick_method, kinds);
}

struct finding *scene_found_cost(const struct scene *scene, const struct scene_cost *cost)
{
	struct finding *f = scene_found(scene, FINDING_COSTS, cost->share, 0);

	f->error = cost->error;
	f->event = EVENT_CPU;
	f->method = cost->method;
	return f;
}

const char *scene_cost_part(const struct scene_cost *cost)
{
	return 2 * cost->most >= cost->weight ? "most" : "some";
}

void scene_prove_cost(const struct scene *scene, struct finding *f, const struct scene_cost *cost,
	const char *heading, int event)
{
	f->event = event;
	f->method = cost->method;
	if (cost->stack == PROFILE_NONE)
		return;
	finding_prove(f, "%s", heading);
	scene_prove_stack(scene, f, cost->stack, 4);
}

void scene_spend(struct scene_spending *all, uint32_t what, const struct profile_part *part)
{
	all->list = xgrow(all->list, all->count, &all->cap, sizeof(*all->list));
	all->list[all->count++] =
		(struct scene_spent){what, part->thread, part->stack, part->weight};
}

static int by_what(const void *a, const void *b)
{
	const struct scene_spent *x = a, *y = b;

	if (x->what != y->what)
		return x->what < y->what ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

bool scene_group_next(struct scene_spending *all, struct scene_group *group)
{
	uint32_t at = group->end, last = PROFILE_NONE;

	if (at == all->count)
		return false;
	if (!at)
		qsort(all->list, all->count, sizeof(*all->list), by_what);
	*group = (struct scene_group){.what = all->list[at].what, .first = at};
	for (; at < all->count && all->list[at].what == group->what; at++) {
		const struct scene_spent *spent = &all->list[at];

		group->threads += spent->thread != last;
		last = spent->thread;
		group->weight += spent->weight;
		if (spent->weight > group->most) {
			group->most = spent->weight;
			group->thread = spent->thread;
			group->stack = spent->stack;
		}
	}
	group->end = at;
	return true;
}

/* --- the text of a finding ------------------------------------------------------------------------------------------- */

void finding_set_text(struct finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->what, sizeof(f->what), fmt, ap);
	va_end(ap);
}

void finding_advise(struct finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->advice, sizeof(f->advice), fmt, ap);
	va_end(ap);
}

void finding_prove(struct finding *f, const char *fmt, ...)
{
	size_t used = strlen(f->proof);
	va_list ap;

	if (used + 40 >= sizeof(f->proof))
		return;
	if (used)
		f->proof[used++] = '\n';
	va_start(ap, fmt);
	vsnprintf(f->proof + used, sizeof(f->proof) - used, fmt, ap);
	va_end(ap);
}

void scene_prove_stack(const struct scene *scene, struct finding *f, uint32_t stack, unsigned most)
{
	uint32_t at = stack == PROFILE_NONE ? PROFILE_NONE : scene_own(scene, stack);

	for (at = at == PROFILE_NONE ? stack : at;
		at != PROFILE_NONE && at != PROFILE_ROOT_STACK && most; most--) {
		struct profile_stack s = profile_get_stack(scene->profile, at);
		const struct profile_frame *frame = profile_get_frame(scene->profile, s.frame);

		at = s.parent;
		if (java_name_is_lambda(
			    profile_get_method(scene->profile, frame->method)->class_name)) {
			most++; /* the JVM's generated class, called before the lambda's method */
			continue;
		}
		if (frame->line > 0)
			finding_prove(f, "  %s, line %d", scene_method(scene, frame->method),
				frame->line);
		else
			finding_prove(f, "  %s", scene_method(scene, frame->method));
	}
}
