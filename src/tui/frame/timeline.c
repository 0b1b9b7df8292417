/* SPDX-License-Identifier: Apache-2.0 */
/* Windows over the history, and the vitals of its seconds. */
#include "tui/frame/timeline.h"

#include <stdio.h>

const uint32_t timeline_windows[TIMELINE_WINDOWS] = {1, 5, 10, 30, 60, 0};

void timeline_init(struct timeline *t)
{
	*t = (struct timeline){.window = 2};
}

uint32_t timeline_to(const struct timeline *t, const struct profile *p)
{
	uint32_t now;

	if (t->frozen)
		return t->frozen_to;
	now = profile_info(p).now;
	return now < t->since + 2 ? now + 1 : now;
}

void timeline_query(const struct timeline *t, const struct profile *p, struct profile_query *q)
{
	uint32_t seconds = timeline_windows[t->window];

	q->to = timeline_to(t, p);
	q->from = seconds && q->to > seconds ? q->to - seconds : 0;
	profile_align(p, &q->from, &q->to);
	if (q->from < t->since)
		q->from = t->since < q->to ? t->since : q->to;
}

const char *timeline_label(const struct timeline *t, char out[16])
{
	uint32_t seconds = timeline_windows[t->window];

	if (!seconds)
		snprintf(out, 16, "all");
	else
		snprintf(out, 16, seconds < 60 ? "%us" : "%um",
			seconds < 60 ? seconds : seconds / 60);
	return out;
}

void timeline_freeze(struct timeline *t, const struct profile *p, bool frozen)
{
	if (frozen)
		t->frozen_to = timeline_to(t, p);
	t->frozen = frozen;
	profile_freeze(p, frozen ? t->frozen_to : PROFILE_NONE);
}

bool timeline_step(struct timeline *t, const struct profile *p, int seconds)
{
	struct profile_info info = profile_info(p);
	int64_t to = (int64_t)t->frozen_to + seconds;

	if (to <= (int64_t)info.oldest || to > (int64_t)info.now ||
		(info.evicted_to > info.evicted_from && to > (int64_t)info.evicted_from))
		return false;
	t->frozen_to = (uint32_t)to;
	profile_freeze(p, t->frozen_to);
	return true;
}

/* --- vitals by second ------------------------------------------------------------------------------ */

#define REACH_S 10

const struct vitals_second *history_at(const struct profile *p, uint32_t second)
{
	for (uint32_t back = 0; back <= REACH_S && back <= second; back++) {
		const struct vitals_second *v = profile_vitals(p, second - back);

		if (v)
			return v;
	}
	return NULL;
}

void history_values(
	const struct profile *p, enum history_what what, uint32_t second, int64_t *out, int n)
{
	for (int i = 0; i < n; i++) {
		uint32_t back = (uint32_t)(n - 1 - i);
		const struct vitals_second *v =
			back <= second ? profile_vitals(p, second - back) : NULL;

		out[i] = !v                     ? -1
			 : what == HISTORY_CPU  ? v->cpu_pct
			 : what == HISTORY_HEAP ? v->heap_used
			 : what == HISTORY_GC   ? v->gc_pct_x10
						: v->safepoint_pct_x10;
	}
}
