/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input and output of one evaluation, and the queries that several rules share. Internal to this
 * module.
 *
 * A scene is a window [from, to) of the model, the current vitals, and the points of the last
 * minute. Rules keep no state between evaluations. All pointers are borrowed and valid until
 * scene_close(). One thread.
 */
#ifndef JHOT_FINDINGS_SCENE_H
#define JHOT_FINDINGS_SCENE_H

#include "findings/finding.h"
#include "profile/profile.h"
#include "profile/vitals.h"

#include <stdbool.h>
#include <stdio.h>

#define SCENE_POINTS 60

/*
 * Bounds of "the last 10 s": points come about once a second, so 10 s of sampling have fewer
 * between the first and the last.
 */
#define SCENE_LEAST_S 8.0
#define SCENE_MOST_S  11.0

/* Vitals of one second. Counters rise since the JVM's start; -1: not known. */
struct scene_point {
	uint64_t time_ns;
	int64_t heap_low, heap_looks, gc_whole;
	int64_t heap_used, heap_committed;
	int64_t safepoint_ms, sync_ms, safepoints;
	int64_t classes, unloaded;
	int64_t code_used, compilations;
	int64_t cpu_ms; /* of the JVM */
	int64_t collections, humongous, explicit_gc, metadata;
	int64_t started;
	struct vitals_cpu cpu;
	struct vitals_host host;
};

struct scene {
	const struct profile *profile;
	const struct vitals *now;
	const struct profile_snapshot *baseline; /* of cpu, or NULL */
	const char *const *requests;             /* see findings_set_requests() */
	const struct scene_point *points;        /* oldest first */
	unsigned point_count;
	uint32_t from, to;
	/* Set by scene_open(). */
	const struct scene_point *last; /* the newest point; NULL: none */
	const struct scene_point *then; /* the start of the last 10 s; NULL: not known */
	struct profile_part *wall; /* all parts of the event wall; empty if it is not sampled */
	uint32_t wall_count, wall_cap;
	uint32_t threads;
	uint64_t *lived;  /* ns of wall samples, per thread */
	uint64_t longest; /* of the thread that has most */
	struct places *places;
	struct findings *out;
	const struct finding_rule *rule; /* being evaluated */
};

void scene_open(struct scene *scene);
void scene_close(struct scene *scene);

/* --- reporting ---------------------------------------------------------------------------------------- */

/*
 * A new finding of the current rule with grade, share and subject set, event -1, thread, method and
 * error none. Never NULL. When FINDINGS_MAX are in use the least severe one is replaced, or, if
 * that is the new one, it is discarded afterwards. Valid until the next call.
 */
struct finding *scene_found(
	const struct scene *scene, enum finding_grade grade, double share, uint64_t subject);
/* True when this evaluation has a finding of an earlier rule (order: finding_rules). */
bool scene_has(const struct scene *scene, const struct finding_rule *rule);

/* Set the sentence and the advice; append a line of evidence, if there is space. */
void finding_set_text(struct finding *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void finding_advise(struct finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void finding_prove(struct finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/*
 * Appends up to `most` frames of a stack as evidence, from the innermost own frame outwards,
 * without lambda classes.
 */
void scene_prove_stack(const struct scene *scene, struct finding *f, uint32_t stack, unsigned most);

/* --- vitals ------------------------------------------------------------------------------------------- */

double scene_elapsed_s(const struct scene_point *then, const struct scene_point *now);
/* The oldest point between least_s and most_s before the last one. NULL: none. */
const struct scene_point *scene_before(const struct scene *scene, double least_s, double most_s);
/* The first point at or after part / parts of the time from `then` to the last point. */
const struct scene_point *scene_part(
	const struct scene *scene, const struct scene_point *then, int part, int parts);
/* Increase of a counter per second. -1: not known. */
double scene_rate(const struct scene_point *then, const struct scene_point *now, int64_t count_then,
	int64_t count_now);
#define SCENE_RATE(then, now, field) scene_rate(then, now, (then)->field, (now)->field)
/* Time that safepoints took to stop all threads, in % of the last 10 s (scene->then is not NULL). */
double scene_sync_share(const struct scene *scene);
/*
 * Time for which the most delayed thread waited for a core, in % of the window: an upper bound of
 * how much that delays safepoints.
 */
double scene_queued_share(const struct scene *scene);
/*
 * Share (0..1) of the runnable time of the JVM's own threads (collectors, VM thread) in which they
 * waited for a core. With fewer than 30 samples of them, the kernel's figure for all threads. This
 * part of a pause is not the collector's work.
 */
double scene_delayed_share(const struct scene *scene);
/* Mean CPU use of the last 10 s by its owner, in % of a core. Returns the total. -1: not known. */
double scene_cpu(const struct scene *scene, struct vitals_cpu *out);

/* --- the window ---------------------------------------------------------------------------------------- */

struct profile_query scene_query(const struct scene *scene, int event);
/*
 * Seconds of the window in which the event was sampled. Whole seconds, or less where wall samples
 * prove that the first and last second of the session are partial.
 */
double scene_seconds(const struct scene *scene, int event);
/* 95 % half width (0..1) of a share estimated from this number of samples. */
double scene_error(uint64_t samples, double share);

/* The innermost frame of a stack, which must not be empty. */
const struct profile_frame *scene_frame(const struct scene *scene, uint32_t stack);
/* The stack that ends in the innermost own frame (profile_frame_own), and its method. PROFILE_NONE: none. */
uint32_t scene_own(const struct scene *scene, uint32_t stack);
uint32_t scene_own_method(
	const struct scene *scene, uint32_t stack); /* stack may be PROFILE_NONE */
bool scene_has_method(const struct scene *scene, uint32_t stack, uint32_t method);
/* "OrderService.place", without the package. "a lock" for PROFILE_NONE. */
const char *scene_method(const struct scene *scene, uint32_t method);
/* Display name of a lock by its class: "ReentrantLock", "OrderService$Repo". Returns out. */
#define SCENE_LOCK 100
const char *scene_lock(const struct scene *scene, uint32_t method, char out[SCENE_LOCK]);
const char *scene_thread(const struct scene *scene, uint32_t thread);
uint32_t scene_pools(
	const struct scene *scene); /* upper bound (exclusive) of the pool ids of all threads */
bool scene_is_java(const struct scene *scene, uint32_t thread); /* platform or virtual */

/* Average numbers of virtual threads. */
struct scene_carriers {
	double runs;   /* mounted, and on a core or waiting for one */
	double pinned; /* mounted, and waiting for something else: they block their carrier */
	double ready;  /* waiting for a carrier */
};
struct scene_carriers scene_carriers(const struct scene *scene);
/* True for a virtual thread that waits without releasing its carrier. */
bool scene_pins(const struct scene *scene, const struct profile_part *part);

/* The part with most weight among those of the highest rank; parts of rank 0 are ignored. */
struct scene_most {
	struct profile_part part; /* stack PROFILE_NONE: none */
	int event;
	unsigned rank;
};
typedef unsigned scene_rank(
	const struct scene *scene, const struct profile_part *part, uint64_t arg);
/* Of one thread or PROFILE_ANY_THREAD. Falls back from wall to cpu when wall has none. rank NULL: all are equal. */
struct scene_most scene_most(
	const struct scene *scene, int event, uint32_t thread, scene_rank *rank, uint64_t arg);

/*
 * CPU time of one activity and the own method that causes most of it. A pick maps a sample's stack
 * to the stack of the activity in it, or PROFILE_NONE.
 */
typedef uint32_t scene_pick(const struct scene *scene, uint32_t stack, uint64_t arg);
struct scene_cost {
	uint64_t count, weight; /* of the picked samples */
	double share, error;    /* of all sampled CPU time */
	/* The own method with most of it, and one of its stacks; PROFILE_NONE: none. */
	uint32_t method, stack;
	uint64_t most; /* its weight */
};
struct scene_cost scene_cost(const struct scene *scene, scene_pick *pick, uint64_t arg);
/* The same for frames of a method of this kind (METHOD_... of places.h). */
struct scene_cost scene_cost_of(const struct scene *scene, uint64_t kinds);
/* scene_found() for a cost: with its share and error, and its method as the navigation target. */
struct finding *scene_found_cost(const struct scene *scene, const struct scene_cost *cost);
/* The part of the cost that is its method's: "most" (at least half) or "some". */
const char *scene_cost_part(const struct scene_cost *cost);
/*
 * Appends its stack, if there is one, as evidence under a heading, and sets its method in this
 * event as the navigation target.
 */
void scene_prove_cost(const struct scene *scene, struct finding *f, const struct scene_cost *cost,
	const char *heading, int event);

/* Time by thread and stack, attributed to something: a lock's class, a method, a peer. */
struct scene_spent {
	uint32_t what, thread, stack;
	uint64_t weight;
};
struct scene_spending {
	struct scene_spent *list; /* the rule frees it */
	uint32_t count, cap;
};
/* All time attributed to one thing: list[first, end), sorted by thread. */
struct scene_group {
	uint32_t what, first, end, threads;
	uint32_t thread, stack; /* of its largest entry */
	uint64_t weight, most;
};
void scene_spend(struct scene_spending *all, uint32_t what, const struct profile_part *part);
/* Advances to the next group, starting from an all-zero one; the first call sorts the list. False at the end. */
bool scene_group_next(struct scene_spending *all, struct scene_group *group);

#endif
