/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a rule looks at, and what several rules ask of it. For this module's files.
 *
 * A scene is a window of the model, the vitals of now and those of the last minute. Rules keep nothing between looks.
 */
#ifndef JHOT_FINDINGS_SCENE_H
#define JHOT_FINDINGS_SCENE_H

#include "findings/finding.h"
#include "profile/profile.h"
#include "profile/vitals.h"

#include <stdbool.h>
#include <stdio.h>

#define SCENE_POINTS 60

/* "The last 10 s", of points that come once a second or so: a look of 10 s has fewer between its first and its last. */
#define SCENE_LEAST_S 8.0
#define SCENE_MOST_S  11.0

/* What is kept of the vitals of one second. */
struct scene_point {
	uint64_t time_ns;
	int64_t heap_low, heap_looks, gc_whole;
	int64_t safepoint_ms, sync_ms, safepoints;
	int64_t classes, unloaded;
	int64_t code_used, compilations;
	int64_t cpu_ms; /* of the JVM, since its start */
	int64_t collections, humongous, started;
	struct vitals_cpu cpu;
	struct vitals_host host;
};

struct scene {
	const struct profile *profile;
	const struct vitals *now;
	const struct profile_snapshot *baseline; /* of cpu, or NULL */
	const struct scene_point *points;        /* oldest first */
	unsigned point_count;
	uint32_t from, to;
	struct profile_part *wall; /* all parts of it; none where it is not sampled */
	uint32_t wall_count, wall_cap;
	uint32_t threads;
	uint64_t *lived,
		longest; /* what wall has seen of each thread, and of the one there for longest, in ns */
	struct places *places; /* where in their tasks threads are */
	struct findings *out;
	const struct finding_rule *rule; /* whose turn it is */
};

/* Around a look: what several rules ask for is made once. */
void scene_open(struct scene *scene);
void scene_close(struct scene *scene);

/* A new finding of the rule whose turn it is, nothing in it but rule, grade, share and subject; the least bad one leaves
 * where there are too many. NULL: this is it. */
struct finding *scene_found(
	const struct scene *scene, enum finding_grade grade, double share, uint64_t subject);
/* Whether this look has a finding of that rule already: rules run in the order of finding_rules. */
bool scene_has(const struct scene *scene, const struct finding_rule *rule);
/* One more line of proof, as far as there is space. */
void scene_proof(struct finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The frames of a stack as such lines, from the innermost one of the program's own on. */
void scene_proof_stack(const struct scene *scene, struct finding *f, uint32_t stack, unsigned most);

/* What was at least so many seconds before the last point, and at most so many: the oldest such; NULL: there is none. */
const struct scene_point *scene_before(const struct scene *scene, double least_s, double most_s);
const struct scene_point *scene_last(const struct scene *scene);
/* The first point by which so many of so many equal parts of the time since `then` had passed. */
const struct scene_point *scene_part(
	const struct scene *scene, const struct scene_point *then, int part, int parts);
double scene_apart_s(const struct scene_point *then, const struct scene_point *now);
/* How much a count rose in a second between the two; -1: not known. */
double scene_rate(const struct scene_point *then, const struct scene_point *now, int64_t count_then,
	int64_t count_now);
/* In per cent of the time since then: how long it took until all threads had come to a stop. */
double scene_sync_share(const struct scene *scene, const struct scene_point *then);
/* The same of the thread that waited for a core for longest. Whoever waits for one is late for a stop, too, and that is then
 * the cause: no more than what is beyond it is the program's own. */
double scene_queued_share(const struct scene *scene);
/* Whose CPU time it is, on average over the last 10 s, in per cent of a core. Returns what it is in all; -1: not known. */
double scene_cpu(const struct scene *scene, struct vitals_cpu *out);

/* A query over the scene's window. */
struct profile_query scene_query(const struct scene *scene, int event);
/*
 * The time of it in which the event was sampled: whole seconds, or less where wall tells, since the first and the last
 * second of a session are not whole.
 */
double scene_seconds(const struct scene *scene, int event);
/* The 95 % half width, 0..1, of a share that so many samples have told. */
double scene_error(uint64_t samples, double share);

/* The innermost frame of a stack that has one. */
const struct profile_frame *scene_frame(const struct scene *scene, uint32_t stack);
/* The innermost frame of the program's own, as a stack; PROFILE_NONE: it has none. */
uint32_t scene_own(const struct scene *scene, uint32_t stack);
/* "OrderService.place", without the package; "a lock" for PROFILE_NONE. */
const char *scene_method(const struct scene *scene, uint32_t method);
/* "ReentrantLock", "OrderService$Repo": what a lock of this class is called; returns out. */
#define SCENE_LOCK 100
const char *scene_lock(const struct scene *scene, uint32_t method, char out[SCENE_LOCK]);
const char *scene_thread(const struct scene *scene, uint32_t thread);
/* The ids of all threads' pools are below this. */
uint32_t scene_pools(const struct scene *scene);
/* Of a thread of Java's, virtual or not? */
bool scene_is_java(const struct scene *scene, uint32_t thread);

/* The part of most weight among those that rank highest; rank 0 is left out. */
struct scene_most {
	struct profile_part part; /* stack PROFILE_NONE: there is none */
	int event;
	unsigned rank;
};
typedef unsigned scene_rank(
	const struct scene *scene, const struct profile_part *part, uint32_t arg);
/* Of one thread or all; where wall tells nothing, of cpu. rank NULL: all are alike. */
struct scene_most scene_most(
	const struct scene *scene, int event, uint32_t thread, scene_rank *rank, uint32_t arg);

/*
 * CPU time that goes into one thing, and for whom: the stack in a sample that is the thing, PROFILE_NONE for other samples. Told
 * apart by the innermost method of the program's own there.
 */
typedef uint32_t scene_pick(const struct scene *scene, uint32_t stack);
struct scene_cost {
	uint64_t count, weight; /* of samples that are picked */
	double share, error;    /* of all CPU time that was sampled */
	uint32_t method,
		stack; /* the one for which it is most, and one of its stacks; PROFILE_NONE: none of its own */
	uint64_t most;
};
struct scene_cost scene_cost(const struct scene *scene, scene_pick *pick);
/* scene_found for such a cost: with its error, and leading to the method that has most of it. */
struct finding *scene_found_cost(const struct scene *scene, const struct scene_cost *cost);
/* How much of it that method has: "most" or "some". */
const char *scene_cost_part(const struct scene_cost *cost);

/* Time of a thread at one stack, put down to one thing: a lock, a method. */
struct scene_spent {
	uint32_t what, thread, stack;
	uint64_t weight;
};
struct scene_spending {
	struct scene_spent *list; /* the rule's to free */
	uint32_t count, cap;
};
/* All that was put down to one thing: list[first] to list[end], by thread. */
struct scene_group {
	uint32_t what, first, end, threads;
	uint32_t thread, stack; /* of the most of it */
	uint64_t weight, most;
};
void scene_spend(struct scene_spending *all, uint32_t what, const struct profile_part *part);
/* The first group, or the one after that; false: there is none. Groups begin all 0. */
bool scene_group_next(struct scene_spending *all, struct scene_group *group);

#endif
