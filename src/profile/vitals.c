/* SPDX-License-Identifier: Apache-2.0 */
/* How good the data is, by what the agent counted. */
#include "profile/vitals.h"

#include <string.h>

/* The agent's counters of broken walks are called as the frames are, without the brackets. */
static bool is_break(const char *name)
{
	return !strncmp(name, "break_", strlen("break_")) ||
	       !strncmp(name, "unknown", strlen("unknown"));
}

int64_t vitals_broken(const struct vitals *v, int64_t *samples, const char **most)
{
	int64_t broken = 0, top = 0;

	*samples = 0;
	*most = NULL;
	for (int i = 0; i < VITALS_EVENTS; i++)
		*samples += v->events[i].samples - v->events[i].lost;
	for (int i = 0; i < v->counter_count && i < VITALS_COUNTERS; i++) {
		if (!is_break(v->counters[i].name) || v->counters[i].value <= 0)
			continue;
		broken += v->counters[i].value;
		if (v->counters[i].value > top) {
			top = v->counters[i].value;
			*most = v->counters[i].name;
		}
	}
	return broken;
}
