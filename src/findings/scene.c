/* SPDX-License-Identifier: Apache-2.0 */
/* What several rules ask of the model, and how they write down what proves it. */
#include "findings/scene.h"

#include "base/buf.h"
#include "base/clock.h"
#include "profile/table/flat.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define CPU_POINTS 5 /* of which the average is one */

const struct scene_point *scene_last(const struct scene *scene)
{
	return &scene->points[scene->point_count - 1];
}

double scene_apart_s(const struct scene_point *then, const struct scene_point *now)
{
	return (double)(now->time_ns - then->time_ns) / (double)NS_PER_S;
}

const struct scene_point *scene_before(const struct scene *scene, double least_s, double most_s)
{
	for (unsigned i = 0; i < scene->point_count; i++) {
		double apart_s = scene_apart_s(&scene->points[i], scene_last(scene));

		if (apart_s <= most_s)
			return apart_s >= least_s ? &scene->points[i] : NULL;
	}
	return NULL;
}

double scene_rate(const struct scene_point *then, const struct scene_point *now, int64_t count_then,
	int64_t count_now)
{
	if (count_then < 0 || count_now < count_then || now->time_ns <= then->time_ns)
		return -1;
	return (double)(count_now - count_then) / scene_apart_s(then, now);
}

double scene_cpu(const struct scene *scene, struct vitals_cpu *out)
{
	double java = 0, jit = 0, gc = 0, kernel = 0;
	int known = 0;

	for (unsigned i = scene->point_count; i-- > 0;) {
		const struct scene_point *p = &scene->points[i];

		if (scene_apart_s(p, scene_last(scene)) > SCENE_MOST_S)
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
	return (struct profile_query){.event = event,
		.from = scene->from,
		.to = scene->to,
		.thread = PROFILE_ANY_THREAD,
		.by_weight = true};
}

double scene_seconds(const struct scene *scene, int event)
{
	struct profile_query q = scene_query(scene, event), wall = scene_query(scene, EVENT_WALL);
	uint32_t seconds = profile_covered(scene->profile, &q);

	if (scene->longest > 0 && scene->longest < seconds &&
		seconds == profile_covered(scene->profile, &wall))
		return scene->longest;
	return seconds;
}

/* Nanoseconds of each thread. */
struct lives {
	uint64_t *ns, most;
	uint32_t threads;
};

static void lives_add(void *ctx, const struct profile_part *part)
{
	struct lives *l = ctx;

	if (part->thread >= l->threads)
		return;
	l->ns[part->thread] += part->weight;
	if (l->ns[part->thread] > l->most)
		l->most = l->ns[part->thread];
}

double scene_longest(const struct scene *scene)
{
	struct profile_query q = scene_query(scene, EVENT_WALL);
	struct lives l = {.threads = profile_thread_count(scene->profile)};

	l.ns = xcalloc(l.threads + 1, sizeof(*l.ns));
	profile_each(scene->profile, &q, lives_add, &l);
	free(l.ns);
	return (double)l.most / NS_PER_S;
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

const char *scene_method(const struct scene *scene, uint32_t method)
{
	const struct profile_method *m;
	const char *full, *cut;

	if (method == PROFILE_NONE)
		return "a lock";
	m = profile_get_method(scene->profile, method);
	full = m->full;
	cut = *m->name && *m->class_name ? strrchr(m->class_name, '.') : strrchr(full, '.');
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

/* The stack of most weight. */
struct most {
	uint32_t stack;
	uint64_t weight;
};

static void most_of(void *ctx, const struct profile_part *part)
{
	struct most *most = ctx;

	if (part->weight > most->weight)
		*most = (struct most){part->stack, part->weight};
}

uint32_t scene_thread_stack(const struct scene *scene, uint32_t thread)
{
	static const int events[] = {EVENT_WALL, EVENT_CPU};
	struct most most = {PROFILE_NONE, 0};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]) && !most.weight; i++) {
		struct profile_query q = scene_query(scene, events[i]);

		q.thread = thread;
		profile_each(scene->profile, &q, most_of, &most);
	}
	return most.stack;
}

void scene_proof(struct finding *f, const char *fmt, ...)
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

void scene_proof_stack(const struct scene *scene, struct finding *f, uint32_t stack, unsigned most)
{
	uint32_t at = stack == PROFILE_NONE ? PROFILE_NONE : scene_own(scene, stack);

	for (at = at == PROFILE_NONE ? stack : at;
		at != PROFILE_NONE && at != PROFILE_ROOT_STACK && most; most--) {
		struct profile_stack s = profile_get_stack(scene->profile, at);
		const struct profile_frame *frame = profile_get_frame(scene->profile, s.frame);

		at = s.parent;
		if (strstr(profile_get_method(scene->profile, frame->method)->class_name,
			    "$$Lambda")) {
			most++; /* the JVM's own, before the method that it stands for */
			continue;
		}
		if (frame->line > 0)
			scene_proof(f, "  %s, line %d", scene_method(scene, frame->method),
				frame->line);
		else
			scene_proof(f, "  %s", scene_method(scene, frame->method));
	}
}
