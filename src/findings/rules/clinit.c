/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule clinit: threads wait for a static initializer.
 *
 * A class is initialized by one thread. All others that use it wait inside the JVM, in no lock that
 * a thread dump shows. Their stacks end, without a Java frame, in the JVM's function that
 * initializes classes; the initializing thread's has <clinit> below it. A JVM without symbols does
 * not show that function. There, a thread that waits to be notified in other Java code than
 * Object.wait waits inside the JVM.
 */
#include "findings/places.h"
#include "findings/rules.h"
#include "findings/scene.h"

#include "base/buf.h"
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

/* Waiting threads on average: a slow initializer while a program starts is normal. */
#define CLINIT_LEAST 0.5

struct clinit {
	const struct scene *scene;
	uint64_t waits; /* ns of all threads */
	uint32_t threads;
	uint32_t inside;            /* threads that wait inside an initializer */
	struct profile_part waiter; /* the longest wait; weight 0: none */
	struct profile_part runner; /* the longest part in an initializer that does not wait */
};

/* True when a frame between these is a C++ function whose name is known. */
static bool has_symbols(const struct scene *scene, uint32_t stack, uint32_t java)
{
	for (; stack != java; stack = profile_get_stack(scene->profile, stack).parent)
		if (strstr(places_method(scene, stack)->name, "::"))
			return true;
	return false;
}

/* True when the thread waits until another one has initialized a class. */
static bool awaits_class(const struct scene *scene, const struct profile_part *part)
{
	uint32_t java = places_of(scene->places, part->stack).java;

	if (part->state == THREAD_ON_CPU || part->state == THREAD_RUNNABLE || java == PROFILE_NONE)
		return false;
	uint32_t at = places_find(scene->places, part->stack, METHOD_INITIALIZES);
	if (at == PROFILE_NONE)
		return part->state == THREAD_WAITING && !has_symbols(scene, part->stack, java) &&
		       strcmp(places_method(scene, java)->class_name, "java.lang.Object") != 0;
	return places_of(scene->places, at).java == java;
}

static void add_longest(struct profile_part *longest, const struct profile_part *part)
{
	if (part->weight > longest->weight)
		*longest = *part;
}

static void clinit_count(struct clinit *c)
{
	enum { WAITS = 1, INSIDE = 2 };
	const struct scene *scene = c->scene;
	unsigned char *seen = xcalloc(scene->threads + 1, 1);

	for (uint32_t i = 0; i < scene->wall_count; i++) {
		const struct profile_part *part = &scene->wall[i];
		bool inside =
			places_find(scene->places, part->stack, METHOD_CLINIT) != PROFILE_NONE;

		if (!scene_is_java(scene, part->thread))
			continue;
		if (awaits_class(scene, part)) {
			c->waits += part->weight;
			seen[part->thread] |= inside ? WAITS | INSIDE : WAITS;
			add_longest(&c->waiter, part);
		} else if (inside) {
			add_longest(&c->runner, part);
		}
	}
	for (uint32_t i = 0; i < scene->threads; i++) {
		c->threads += (seen[i] & WAITS) != 0;
		c->inside += (seen[i] & INSIDE) != 0;
	}
	free(seen);
}

static void report_clinit(const struct clinit *c, double waiting)
{
	const struct scene *scene = c->scene;
	uint32_t at = places_find(scene->places, c->runner.stack, METHOD_CLINIT);
	uint32_t own = places_of(scene->places, c->runner.stack).own;
	struct finding *f = scene_found(scene, FINDING_COSTS, -1, scene_frame(scene, at)->method);

	f->event = EVENT_WALL;
	f->thread = c->runner.thread;
	f->method = scene_frame(scene, own == PROFILE_NONE ? at : own)->method;
	finding_set_text(f,
		"%u thread%s for a class initializer, %.1f on average: %s, run by %s, is "
		"mostly in %s (%s)",
		c->threads, c->threads == 1 ? " waits" : "s wait", waiting,
		scene_method(scene, scene_frame(scene, at)->method),
		scene_thread(scene, c->runner.thread), scene_method(scene, f->method),
		thread_states[c->runner.state].name);
	finding_prove(f, "%s runs the initializer:", scene_thread(scene, c->runner.thread));
	scene_prove_stack(scene, f, c->runner.stack, 2);
	finding_prove(f, "%s waits for it here:", scene_thread(scene, c->waiter.thread));
	scene_prove_stack(scene, f, c->waiter.stack, 3);
	finding_advise(f,
		"do not wait or do I/O in a static initializer; initialize the class before "
		"it is needed");
}

/* No thread runs an initializer, and several wait inside one: for each other. */
static void report_cycle(const struct clinit *c, double waiting)
{
	const struct scene *scene = c->scene;
	struct finding *f = scene_found(scene, FINDING_BLOCKED, 1, c->waiter.thread);

	f->event = EVENT_WALL;
	f->thread = c->waiter.thread;
	f->method = scene_own_method(scene, c->waiter.stack);
	finding_set_text(f,
		"%u threads in class initializers wait for each other's classes; %.1f "
		"threads wait for these on average",
		c->inside, waiting);
	for (uint32_t i = 0, shown = 0; i < scene->wall_count && shown < 2; i++) {
		const struct profile_part *part = &scene->wall[i];

		if (!awaits_class(scene, part) ||
			places_find(scene->places, part->stack, METHOD_CLINIT) == PROFILE_NONE ||
			(shown && part->thread == f->thread))
			continue;
		f->thread = part->thread;
		shown++;
		finding_prove(f, "%s waits here:", scene_thread(scene, part->thread));
		scene_prove_stack(scene, f, part->stack, 1);
	}
	finding_advise(f, "break the cycle: a static initializer must not need a class whose "
			  "initializer needs its own");
}

static void judge_clinit(const struct scene *scene)
{
	struct clinit c = {.scene = scene};
	double seconds = scene_seconds(scene, EVENT_WALL);

	if (seconds <= 0)
		return;
	clinit_count(&c);
	double waiting = (double)c.waits / NS_PER_S / seconds;
	if (waiting < CLINIT_LEAST)
		return;
	if (c.runner.weight)
		report_clinit(&c, waiting);
	else if (c.inside > 1)
		report_cycle(&c, waiting);
}

const struct finding_rule rule_clinit = {
	.name = "clinit",
	.title = "CLASS INIT",
	.what = "threads that wait for a class initializer: half a thread or more on average",
	.events = 1u << EVENT_WALL,
	.judge = judge_clinit,
};
