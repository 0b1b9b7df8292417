/* SPDX-License-Identifier: Apache-2.0 */
/* The table of rules, their evaluation, and for how long each problem has been reported. */
#include "findings/findings.h"

#include "base/buf.h"
#include "base/clock.h"
#include "findings/rules.h"
#include "findings/scene.h"

#include <stdlib.h>
#include <string.h>

#define FORGET_NS (10 * NS_PER_S) /* a shorter pause does not restart since_s */

const struct finding_rule *const finding_rules[] = {
	&rule_deadlock,
	&rule_heap,
	&rule_humongous,
	&rule_gc,
	&rule_jit,
	&rule_codecache,
	&rule_interpreted,
	&rule_deopt,
	&rule_exceptions,
	&rule_collisions,
	&rule_throttled,
	&rule_swap,
	&rule_safepoint,
	&rule_stops,
	&rule_classes,
	&rule_locks,
	&rule_clinit,
	&rule_pool,
	&rule_starved,
	&rule_timer,
	&rule_io,
	&rule_requests,
	&rule_pinned,
	&rule_cores,
	&rule_finalizers,
	&rule_offheap,
	&rule_threads,
	&rule_descriptors,
	&rule_new,
	NULL,
};

/* When a problem was first and last reported. */
struct seen {
	const struct finding_rule *rule;
	uint64_t subject, since_ns, last_ns;
};

struct findings {
	struct finding list[FINDINGS_MAX];
	unsigned count;
	struct finding discarded; /* what scene_found() returns for a finding that is not kept */
	struct seen seen[4 * FINDINGS_MAX];
	struct vitals now;
	const struct profile_snapshot *baseline;
	const char *const *requests;
	struct scene_point points[SCENE_POINTS];
	unsigned point_count;
};

struct findings *findings_new(void)
{
	return xcalloc(1, sizeof(struct findings));
}

void findings_free(struct findings *f)
{
	free(f);
}

void findings_vitals(struct findings *f, const struct vitals *v)
{
	const struct scene_point point = {.time_ns = v->time_ns,
		.heap_low = v->heap_low,
		.heap_looks = v->heap_looks,
		.gc_whole = v->gc_whole,
		.heap_used = v->heap_used,
		.heap_committed = v->heap_committed,
		.safepoint_ms = v->safepoint_time_ms,
		.sync_ms = v->safepoint_sync_ms,
		.safepoints = v->safepoint_count,
		.classes = v->classes_loaded,
		.unloaded = v->classes_unloaded,
		.code_used = v->code_used,
		.compilations = v->compilations,
		.cpu_ms = v->cpu_user_ms < 0 || v->cpu_system_ms < 0
				  ? -1
				  : v->cpu_user_ms + v->cpu_system_ms,
		.collections = v->gc_count,
		.humongous = v->gc_humongous,
		.explicit_gc = v->gc_explicit,
		.metadata = v->gc_metadata,
		.started = v->threads_started,
		.cpu = v->cpu,
		.host = v->host};

	if (v->time_ns < f->now.time_ns)
		f->point_count = 0;
	f->now = *v;
	if (f->point_count && v->time_ns - f->points[f->point_count - 1].time_ns < NS_PER_S / 2)
		return;
	if (f->point_count == SCENE_POINTS)
		memmove(f->points, f->points + 1, --f->point_count * sizeof(f->points[0]));
	f->points[f->point_count++] = point;
}

void findings_history(
	struct findings *f, const struct profile *p, const struct vitals *v, uint32_t to)
{
	struct vitals then = *v;
	uint32_t end = profile_info(p).now + 1;

	to = to < end ? to : end;
	f->point_count = 0;
	for (uint32_t s = to > SCENE_POINTS ? to - SCENE_POINTS : 0; s < to; s++) {
		const struct vitals_second *kept = profile_vitals(p, s);

		if (!kept)
			continue;
		vitals_restore(&then, kept);
		findings_vitals(f, &then);
	}
	f->now = then;
}

void findings_baseline(struct findings *f, const struct profile_snapshot *cpu)
{
	f->baseline = cpu;
}

void findings_set_requests(struct findings *f, const char *const *methods)
{
	f->requests = methods;
}

const char *const *findings_requests(const struct findings *f)
{
	return f->requests;
}

/* The first event that a rule needs and that is not sampled. -1: none. */
static int missing_event(const struct finding_rule *rule, const struct vitals *v)
{
	for (int i = 0; i < EVENT_USER_FIRST; i++) {
		/* When the JVM has ended all events are off; those that were on until then have an engine. */
		bool on = v->events[i].state == VITALS_ON || (!v->alive && *v->events[i].engine);

		if (rule->events & 1u << i && !on)
			return i;
	}
	return -1;
}

bool findings_not_judged(const struct findings *f, const struct finding_rule *rule, int *event,
	char why[FINDING_WHY])
{
	double seen_s = 0;

	for (unsigned i = 0; i < f->count; i++)
		if (f->list[i].rule == rule)
			return false;
	if (f->point_count)
		seen_s = scene_elapsed_s(&f->points[0], &f->points[f->point_count - 1]);
	*event = missing_event(rule, &f->now);
	if (*event >= 0)
		snprintf(why, FINDING_WHY, "%s is not sampled", profile_events[*event].name);
	else if (rule->uptime_s && f->now.uptime_s >= 0 && f->now.uptime_s < rule->uptime_s)
		snprintf(why, FINDING_WHY, "the JVM has run for less than %d s", rule->uptime_s);
	else if (seen_s < rule->needs_s)
		snprintf(why, FINDING_WHY, "needs %d s of data", rule->needs_s);
	else
		return false;
	return true;
}

static int worse_first(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;

	if (x->grade != y->grade)
		return x->grade > y->grade ? -1 : 1;
	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	if (x->rule != y->rule)
		return strcmp(x->rule->name, y->rule->name);
	return x->subject < y->subject ? -1 : x->subject > y->subject;
}

struct finding *scene_found(
	const struct scene *scene, enum finding_grade grade, double share, uint64_t subject)
{
	struct findings *out = scene->out;
	const struct finding found = {.rule = scene->rule,
		.grade = grade,
		.share = share,
		.error = -1,
		.event = -1,
		.thread = PROFILE_NONE,
		.method = PROFILE_NONE,
		.subject = subject};

	if (out->count == FINDINGS_MAX) {
		qsort(out->list, out->count, sizeof(out->list[0]), worse_first);
		if (worse_first(&out->list[out->count - 1], &found) < 0) {
			out->discarded = found;
			return &out->discarded;
		}
		out->count--;
	}
	out->list[out->count] = found;
	return &out->list[out->count++];
}

bool scene_has(const struct scene *scene, const struct finding_rule *rule)
{
	for (unsigned i = 0; i < scene->out->count; i++)
		if (scene->out->list[i].rule == rule)
			return true;
	return false;
}

/*
 * Seconds since the problem was first reported without a break; updates `seen`, of which the oldest
 * entry is reused.
 */
static double since_of(struct findings *f, const struct finding *found)
{
	uint64_t now = f->now.time_ns;
	struct seen *s = &f->seen[0];

	for (size_t i = 0; i < sizeof(f->seen) / sizeof(f->seen[0]); i++) {
		struct seen *other = &f->seen[i];

		if (other->rule == found->rule && other->subject == found->subject &&
			now - other->last_ns <= FORGET_NS) {
			other->last_ns = now;
			return (double)(now - other->since_ns) / (double)NS_PER_S;
		}
		s = other->last_ns < s->last_ns ? other : s;
	}
	*s = (struct seen){found->rule, found->subject, now, now};
	return 0;
}

unsigned findings_evaluate(struct findings *f, const struct profile *p, uint32_t from, uint32_t to)
{
	struct scene scene = {.profile = p,
		.now = &f->now,
		.baseline = f->baseline,
		.requests = f->requests,
		.points = f->points,
		.point_count = f->point_count,
		.from = from,
		.to = to,
		.out = f};

	f->count = 0;
	scene_open(&scene);
	for (const struct finding_rule *const *rule = finding_rules; *rule; rule++) {
		scene.rule = *rule;
		if (missing_event(*rule, &f->now) < 0)
			(*rule)->judge(&scene);
	}
	scene_close(&scene);
	qsort(f->list, f->count, sizeof(f->list[0]), worse_first);
	for (unsigned i = 0; i < f->count; i++)
		f->list[i].since_s = since_of(f, &f->list[i]);
	return f->count;
}

static void keep_worst(struct finding *list, unsigned *count, const struct finding *found)
{
	unsigned i = 0;

	while (i < *count && (list[i].rule != found->rule || list[i].subject != found->subject))
		i++;
	if (i == *count && i == FINDINGS_MAX) {
		qsort(list, *count, sizeof(*list), worse_first);
		i--;
	}
	*count += i == *count;
	if (!list[i].rule || worse_first(found, &list[i]) < 0)
		list[i] = *found;
}

unsigned findings_evaluate_minutes(struct findings *f, const struct profile *p,
	const struct vitals *v, uint32_t from, uint32_t to)
{
	struct finding worst[FINDINGS_MAX + 1] = {0};
	uint32_t end = profile_info(p).now + 1;
	unsigned count = 0;

	to = to < end ? to : end;
	do {
		/* A remainder shorter than a minute is evaluated with the minute before it. */
		uint32_t step = to - from < 2 * SCENE_POINTS ? to - from : SCENE_POINTS;
		findings_history(f, p, v, from + step);
		findings_evaluate(f, p, from, from + step);
		for (unsigned i = 0; i < f->count; i++) {
			f->list[i].second = from;
			keep_worst(worst, &count, &f->list[i]);
		}
		from += step;
	} while (from < to);
	qsort(worst, count, sizeof(*worst), worse_first);
	memcpy(f->list, worst, sizeof(f->list));
	f->count = count;
	return count;
}

const struct finding *findings_get(const struct findings *f, unsigned i)
{
	return &f->list[i];
}
