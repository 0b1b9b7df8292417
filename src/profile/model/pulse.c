/* SPDX-License-Identifier: Apache-2.0 */
/* How an event's weight lies in a second. */
#include "base/clock.h"
#include "profile/model/model.h"

#define PART_NS   (NS_PER_S / PROFILE_PULSE)
#define LENGTH_NS (2 * NS_PER_S) /* what took longer tells of no part of a second */

void profile_add_pulse(
	struct profile *p, int event, uint64_t from_ns, uint64_t to_ns, uint64_t weight)
{
	uint64_t to = to_ns > from_ns ? to_ns : from_ns + 1, length = to - from_ns, end;

	if (event < 0 || event >= PROFILE_EVENTS || !weight || length > LENGTH_NS ||
		to / NS_PER_S >= PROFILE_NONE)
		return;
	for (uint64_t at = from_ns; at < to; at = end) {
		end = at - at % PART_NS + PART_NS;
		if (end > to)
			end = to;
		slices_pulse(&p->events[event], (uint32_t)(at / NS_PER_S),
			(unsigned)(at % NS_PER_S / PART_NS),
			(float)((double)weight * (double)(end - at) / (double)length));
	}
}

bool profile_pulse(const struct profile *p, int event, uint32_t second, uint8_t out[PROFILE_PULSE])
{
	const struct slices *s;
	const struct slice *sl;
	float most = 0;
	uint32_t i;

	if (event < 0 || event >= PROFILE_EVENTS)
		return false;
	s = &p->events[event];
	i = slices_find(s, second);
	sl = i < s->count && s->list[i].from == second ? &s->list[i] : NULL;
	for (unsigned k = 0; sl && sl->pulse && k < PROFILE_PULSE; k++)
		most = sl->pulse[k] > most ? sl->pulse[k] : most;
	if (most <= 0)
		return false;
	for (unsigned k = 0; k < PROFILE_PULSE; k++)
		out[k] = (uint8_t)(sl->pulse[k] / most * PROFILE_PULSE_MOST + 0.5f);
	return true;
}
