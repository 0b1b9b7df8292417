/* SPDX-License-Identifier: Apache-2.0 */
/* How an event was sampled, according to model and vitals. */
#include "cli/outputs/meta.h"

struct profile_intervals meta_intervals(const struct profile *p, const struct vitals *v, int event)
{
	struct profile_intervals every = profile_get_intervals(p, event);
	int64_t now = v->events[event].interval;

	if (!every.least && now > 0) /* no sample */
		every.least = every.most = (uint64_t)now;
	return every;
}

struct export_event meta_event(const struct profile *p, const struct vitals *v, int event)
{
	struct profile_intervals every = meta_intervals(p, v, event);
	int64_t lost = v->events[event].lost;

	return (struct export_event){.event = event,
		.engine = v->events[event].engine,
		.interval = every.least,
		.interval_most = every.most,
		.lost = (uint64_t)(lost > 0 ? lost : 0)};
}
