/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about safepoints: threads that are slow to reach them, and those that are not for garbage collection. */
#include "findings/places.h"
#include "findings/rules.h"
#include "findings/scene.h"

#include "base/buf.h"
#include "base/clock.h"

#include <stdlib.h>

#define STOPS_PCT 5.0 /* of the last 10 s */

/* --- safepoint: the time until all threads have stopped ------------------------------------------------- */

/*
 * Caused by a loop that is compiled without a safepoint poll, or one long step such as the copy of
 * a large array. The JVM counts how long it waited but not for which thread. The late thread runs
 * during that time, so only threads that ran for at least as long are candidates. A thread that
 * waits for a core is late as well: the rule is silent where that explains the delay, by the
 * samples of the most delayed thread (scene_queued_share) or of the JVM's own threads
 * (scene_delayed_share).
 */
#define SAFEPOINT_LEAST 5 /* safepoints: a single one may be late by chance */

static unsigned on_cpu(const struct scene *scene, const struct profile_part *part, uint64_t unused)
{
	(void)scene, (void)unused;
	return part->state == THREAD_ON_CPU;
}

/* Names the Java thread that ran longest, of those that ran for at least this share of the time. */
static void prove_late_thread(const struct scene *scene, struct finding *f, double share)
{
	double least = share * scene_seconds(scene, EVENT_WALL) * NS_PER_S;
	uint64_t *ran = xcalloc(scene->threads + 1, sizeof(*ran)), longest = 0;
	uint32_t candidates = 0, thread = PROFILE_NONE;

	for (uint32_t i = 0; i < scene->wall_count; i++)
		if (scene->wall[i].state == THREAD_ON_CPU)
			ran[scene->wall[i].thread] += scene->wall[i].weight;
	for (uint32_t i = 0; i < scene->threads; i++) {
		if (!scene_is_java(scene, i) || (double)ran[i] < least)
			continue;
		candidates++;
		if (ran[i] > longest) {
			longest = ran[i];
			thread = i;
		}
	}
	free(ran);
	if (!candidates)
		return;
	if (candidates == 1)
		finding_prove(
			f, "only %s ran that long, mostly here:", scene_thread(scene, thread));
	else
		finding_prove(f, "%s ran longest of %u candidates, mostly here:",
			scene_thread(scene, thread), candidates);
	scene_prove_stack(scene, f, scene_most(scene, EVENT_WALL, thread, on_cpu, 0).part.stack, 3);
	f->event = EVENT_WALL;
	f->thread = thread;
}

static void judge_safepoint(const struct scene *scene)
{
	const struct scene_point *then = scene->then, *now = scene->last;
	double share = then ? scene_sync_share(scene) : 0;

	if (share - scene_queued_share(scene) < STOPS_PCT ||
		share * (1 - scene_delayed_share(scene)) < STOPS_PCT)
		return;
	double stops = (double)(now->safepoints - then->safepoints);
	double sync_ms = (double)(now->sync_ms - then->sync_ms);
	if (stops < SAFEPOINT_LEAST)
		return;
	struct finding *f = scene_found(scene, FINDING_COSTS, share / 100, 0);
	finding_set_text(f,
		"threads are slow to reach safepoints: all others wait for them %.0f %% of the "
		"time, %.1f ms per safepoint",
		share, sync_ms / stops);
	finding_prove(f,
		"%.0f safepoints in the last %.0f s; stopping all threads took %.1f s in total",
		stops, scene_elapsed_s(then, now), sync_ms / 1000);
	prove_late_thread(scene, f, share / 100);
	finding_advise(f, "look for a long int loop without a safepoint poll "
			  "(-XX:+UseCountedLoopSafepoints), or a large array copy");
}

const struct finding_rule rule_safepoint = {
	.name = "safepoint",
	.title = "LATE",
	.what = "threads that are slow to reach safepoints: all others wait for them 5 % of the "
		"time",
	.judge = judge_safepoint,
};

/* --- stops: safepoints other than collections ------------------------------------------------------------ */

/*
 * Thread dumps, class redefinition, heap dumps and the like. Part of a collection's safepoint is in
 * no collector's count, so there is no finding where collections stop the program for longer; nor
 * where most of the time is spent on stopping the threads (rule_safepoint), or where threads wait
 * for a core as long, which makes everything slow.
 */
static unsigned stops_all(
	const struct scene *scene, const struct profile_part *part, uint64_t unused)
{
	(void)unused;
	return places_find(scene->places, part->stack, METHOD_STOPS) != PROFILE_NONE;
}

static void judge_stops(const struct scene *scene)
{
	double gc = scene->now->gc_pct_x10 / 10.0;
	double rest = scene->now->safepoint_pct_x10 / 10.0 - gc;
	char part[80] = "";

	if (!scene->then || scene->now->gc_pct_x10 < 0 ||
		rest - scene_queued_share(scene) < STOPS_PCT ||
		rest * (1 - scene_delayed_share(scene)) < STOPS_PCT || rest < gc)
		return;
	double sync = scene_sync_share(scene);
	if (rest < 2 * sync)
		return;
	struct finding *f = scene_found(scene, FINDING_COSTS, rest / 100, 0);
	if (sync >= 1)
		snprintf(part, sizeof(part), ", including %.0f %% to stop all threads", sync);
	finding_set_text(f,
		"safepoints other than collections stop the program for %.0f %% of the time%s",
		100 * f->share, part);
	finding_prove(f, "since the JVM's start: %lld safepoints, %.1f s; collections %.1f s",
		(long long)scene->now->safepoint_count,
		(double)scene->now->safepoint_time_ms / 1000,
		(double)scene->now->gc_time_ms / 1000);
	finding_advise(
		f, "start the JVM with -Xlog:safepoint to log the reason for each safepoint");
	/* The thread that requests most of them, if it is one of the program's. */
	struct scene_most most = scene_most(scene, EVENT_WALL, PROFILE_ANY_THREAD, stops_all, 0);
	uint32_t at = places_find(scene->places, most.part.stack, METHOD_STOPS);
	if (at == PROFILE_NONE)
		return;
	finding_prove(f,
		"%s calls %s, which stops all threads:", scene_thread(scene, most.part.thread),
		scene_method(scene, scene_frame(scene, at)->method));
	scene_prove_stack(scene, f, at, 3);
	f->event = most.event;
	f->thread = most.part.thread;
}

const struct finding_rule rule_stops = {
	.name = "stops",
	.title = "STOPPED",
	.what = "safepoints other than collections that stop the program for 5 % of the time",
	.judge = judge_stops,
};
