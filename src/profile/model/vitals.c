/* SPDX-License-Identifier: Apache-2.0 */
/* The vitals of each second: a ring that is as long as the history, and the first of all. */
#include "profile/vitals.h"
#include "profile/model/model.h"

#include "base/buf.h"

#include <stdlib.h>

#define VITALS_S_MAX (1u << 18) /* seconds that are kept at most: three days */

struct model_vitals {
	struct vitals_second first; /* second: PROFILE_NONE: none were told yet */
	struct vitals_second *ring;
	uint32_t seconds; /* of the ring */
};

static struct model_vitals *vitals_new(void)
{
	struct model_vitals *v = xcalloc(1, sizeof(*v));

	v->first.second = PROFILE_NONE;
	return v;
}

/* It grows while no second has taken the place of another, so seconds keep their places. */
static void vitals_fit(struct model_vitals *v, uint32_t now, uint32_t history_s)
{
	uint32_t most = history_s < VITALS_S_MAX ? history_s : VITALS_S_MAX, had = v->seconds;

	while (v->seconds < most && v->seconds <= now)
		v->seconds = v->seconds ? v->seconds * 2 : PROFILE_HISTORY_S;
	if (v->seconds == had && had)
		return;
	v->seconds = v->seconds ? v->seconds : PROFILE_HISTORY_S;
	v->ring = xreallocarray(v->ring, v->seconds, sizeof(*v->ring));
	for (uint32_t i = had; i < v->seconds; i++)
		v->ring[i].second = PROFILE_NONE;
}

void model_vitals_free(struct model_vitals *v)
{
	if (v)
		free(v->ring);
	free(v);
}

size_t model_vitals_bytes(const struct profile *p)
{
	return p->vitals ? p->vitals->seconds * sizeof(*p->vitals->ring) : 0;
}

void profile_vitals_set(struct profile *p, const struct vitals *v)
{
	struct vitals_second *s;

	if (!p->vitals)
		p->vitals = vitals_new();
	vitals_fit(p->vitals, p->now, p->history_s);
	s = &p->vitals->ring[p->now % p->vitals->seconds];
	*s = (struct vitals_second){
		.second = p->now,
		.time_ns = v->time_ns,
		.cpu_pct = v->cpu_pct,
		.gc_pct_x10 = v->gc_pct_x10,
		.safepoint_pct_x10 = v->safepoint_pct_x10,
		.threads_running = v->threads_running,
		.cost_pct_x10 = v->cost_pct_x10,
		.cpu = v->cpu,
		.rss_bytes = v->rss_bytes,
		.heap_used = v->heap_used,
		.heap_committed = v->heap_committed,
		.heap_max = v->heap_max,
		.gc_count = v->gc_count,
		.gc_whole = v->gc_whole,
		.gc_time_ns = v->gc_time_ns,
		.cpu_user_ms = v->cpu_user_ms,
		.cpu_system_ms = v->cpu_system_ms,
		.machine_busy_ms = v->machine_busy_ms,
		.machine_cpus = v->machine_cpus,
		.threads_live = v->threads_live,
		.threads_daemon = v->threads_daemon,
		.lost = v->lost,
		.uptime_s = v->uptime_s,
	};
	if (p->vitals->first.second == PROFILE_NONE)
		p->vitals->first = *s;
}

const struct vitals_second *profile_vitals(const struct profile *p, uint32_t second)
{
	const struct vitals_second *s;

	if (!p->vitals)
		return NULL;
	s = &p->vitals->ring[second % p->vitals->seconds];
	return s->second == second ? s : NULL;
}

const struct vitals_second *profile_vitals_first(const struct profile *p)
{
	return p->vitals && p->vitals->first.second != PROFILE_NONE ? &p->vitals->first : NULL;
}
