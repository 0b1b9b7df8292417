/* SPDX-License-Identifier: Apache-2.0 */
/* Compares counters only with those of the same cgroup, and not if it was recreated. */
#include "session/gauges/gauges.h"

#include <string.h>

void gauges_host_init(struct gauges_host *h)
{
	*h = (struct gauges_host){.last = {.limit = -1}};
	cgroup_mount_find(&h->mount, "cpu");
}

static void gauges_host_add(struct gauges_host *h, const struct cgroup_cpu *now)
{
	const struct cgroup_cpu *then = &h->last;

	if (now->limit < 0 || then->limit < 0 || strcmp(now->path, then->path) != 0 ||
		now->periods < then->periods || now->throttled < then->throttled ||
		now->throttled_us < then->throttled_us)
		return;
	h->periods += now->periods - then->periods;
	h->throttled += now->throttled - then->throttled;
	h->throttled_us += now->throttled_us - then->throttled_us;
}

void gauges_host_read(struct gauges_host *h, pid_t pid, struct vitals_host *out)
{
	struct cgroup_cpu now;
	enum cgroup_answer answer = cgroup_cpu(&h->mount, pid, &now);

	out->cpu_limit = answer == CGROUP_NO_LIMIT ? 0 : -1;
	gauges_host_add(h, &now);
	h->last = now;
	if (answer != CGROUP_LIMIT)
		return;
	out->cpu_limit = now.limit;
	out->cpu_period_us = now.period_us;
	out->cpu_periods = h->periods;
	out->cpu_throttled = h->throttled;
	out->throttled_us = h->throttled_us;
}
