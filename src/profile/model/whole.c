/* SPDX-License-Identifier: Apache-2.0 */
/* What there is in a profile, one by one. */
#include "profile/whole.h"

#include "profile/model/model.h"

uint32_t profile_next_held(const struct profile *p, uint32_t second)
{
	uint32_t next = PROFILE_NONE;

	for (int i = 0; i < MODEL_SLICES; i++) {
		const struct slices *s = &p->events[i];
		uint32_t at = slices_find(s, second);

		if (at < s->count && s->list[at].from < next)
			next = s->list[at].from;
		if (s->marks[SLICES_EVICTED].second && second <= s->marks[SLICES_EVICTED].second &&
			s->marks[SLICES_EVICTED].second < next &&
			s->evicted_to > s->marks[SLICES_EVICTED].second)
			next = s->marks[SLICES_EVICTED].second;
	}
	return next;
}

uint64_t profile_process_ns(const struct profile *p, uint32_t from, uint32_t to)
{
	const struct profile_query q = {
		.event = MODEL_PROCESS, .from = from, .to = to, .thread = PROFILE_ANY_THREAD};

	return profile_sum(p, &q).weight;
}

bool profile_get_run(const struct profile *p, int event, uint32_t i, struct profile_run *out)
{
	const struct slices *s;

	if (event < 0 || event >= PROFILE_EVENTS || i >= p->events[event].run_count)
		return false;
	s = &p->events[event];
	*out = (struct profile_run){s->runs[i].from, s->runs[i].to};
	return true;
}

bool profile_get_gap(const struct profile *p, uint32_t i, struct profile_run *out)
{
	if (i >= p->gap_count)
		return false;
	*out = (struct profile_run){p->gaps[i].from, p->gaps[i].to};
	return true;
}

uint64_t profile_wait_count(const struct profile *p)
{
	return p->waits.count;
}

bool profile_get_wait(const struct profile *p, uint64_t number, struct profile_wait *out)
{
	const struct model_waits *w = &p->waits;

	if (number >= w->count || number + w->cap < w->count)
		return false;
	*out = w->ring[number % w->cap].pub;
	return true;
}
