/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a rule looks at, and what several rules ask of it. For this module's files.
 *
 * A scene is a window of the model, the vitals of now and those of the last minute. Rules keep nothing between looks.
 */
#ifndef JHOT_FINDINGS_SCENE_H
#define JHOT_FINDINGS_SCENE_H

#include "findings/findings.h"

#include <stdio.h>

#define SCENE_POINTS 60

/* "The last 10 s", of points that come once a second or so: a look of 10 s has fewer between its first and its last. */
#define SCENE_LEAST_S 8.0
#define SCENE_MOST_S  11.0

/* What is kept of the vitals of one second. */
struct scene_point {
	uint64_t time_ns;
	int64_t heap_used, gc_whole;
	int64_t safepoint_ms, sync_ms;
	int64_t classes, unloaded;
	struct vitals_cpu cpu;
	struct vitals_host host;
};

struct scene {
	const struct profile *profile;
	const struct vitals *now;
	const struct scene_point *points; /* oldest first */
	unsigned point_count;
	uint32_t from, to;
	double longest; /* scene_longest */
	struct findings *out;
	const struct finding_rule *rule; /* whose turn it is */
};

/* A new finding of the rule whose turn it is, nothing in it but rule, grade, share and subject; the least bad one leaves
 * where there are too many. NULL: this is it. */
struct finding *scene_found(
	const struct scene *scene, enum finding_grade grade, double share, uint64_t subject);
/* One more line of proof, as far as there is room. */
void scene_proof(struct finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The frames of a stack as such lines, from the innermost one of the program's own on. */
void scene_proof_stack(const struct scene *scene, struct finding *f, uint32_t stack, unsigned most);

/* What was at least so many seconds before the last point, and at most so many: the oldest such; NULL: there is none. */
const struct scene_point *scene_before(const struct scene *scene, double least_s, double most_s);
const struct scene_point *scene_last(const struct scene *scene);
double scene_apart_s(const struct scene_point *then, const struct scene_point *now);
/* How much a count rose in a second between the two; -1: not known. */
double scene_rate(const struct scene_point *then, const struct scene_point *now, int64_t count_then,
	int64_t count_now);
/* Whose CPU time it is, on average over the last 10 s, in per cent of a core. Returns what it is in all; -1: not known. */
double scene_cpu(const struct scene *scene, struct vitals_cpu *out);

/* A query over the scene's window. */
struct profile_query scene_query(const struct scene *scene, int event);
/*
 * The time of it in which the event was sampled: whole seconds, or less where wall tells, since the first and the last
 * second of a session are not whole.
 */
double scene_seconds(const struct scene *scene, int event);
/* What wall has seen of the thread that was there for longest, in seconds; 0: it is not sampled. */
double scene_longest(const struct scene *scene);

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
/* Where a thread is most of the time: of wall, else of cpu; PROFILE_NONE: it was not sampled. */
uint32_t scene_thread_stack(const struct scene *scene, uint32_t thread);

#endif
