/* SPDX-License-Identifier: Apache-2.0 */
/* The ring of the header's figures. */
#include "tui/time/time.h"

#define REACH_S 10

void history_put(struct history *h, uint32_t second, const struct vitals *v)
{
	h->points[second % PROFILE_HISTORY_S] = (struct history_point){
		.second = second + 1,
		.cpu_pct = v->cpu_pct,
		.gc_pct_x10 = v->gc_pct_x10,
		.safepoint_pct_x10 = v->safepoint_pct_x10,
		.threads_running = v->threads_running,
		.cost_pct_x10 = v->cost_pct_x10,
		.cpu = v->cpu,
		.heap_used = v->heap_used,
		.heap_max = v->heap_max,
		.rss = v->rss_bytes,
		.gc_count = v->gc_count,
		.gc_ms = v->gc_time_ms,
		.threads = v->threads_live,
		.lost = v->lost,
		.uptime_s = v->uptime_s,
	};
}

static const struct history_point *exactly(const struct history *h, uint32_t second)
{
	const struct history_point *p = &h->points[second % PROFILE_HISTORY_S];

	return p->second == second + 1 ? p : NULL;
}

const struct history_point *history_at(const struct history *h, uint32_t second)
{
	for (uint32_t back = 0; back <= REACH_S && back <= second; back++) {
		const struct history_point *p = exactly(h, second - back);

		if (p)
			return p;
	}
	return NULL;
}

static int64_t value_of(const struct history_point *p, enum history_what what)
{
	switch (what) {
	case HISTORY_CPU: return p->cpu_pct;
	case HISTORY_HEAP: return p->heap_used;
	case HISTORY_GC: return p->gc_pct_x10;
	default: return p->safepoint_pct_x10;
	}
}

void history_values(
	const struct history *h, enum history_what what, uint32_t second, int64_t *out, int n)
{
	for (int i = 0; i < n; i++) {
		uint32_t back = (uint32_t)(n - 1 - i);
		const struct history_point *p = back <= second ? exactly(h, second - back) : NULL;

		out[i] = p ? value_of(p, what) : -1;
	}
}
