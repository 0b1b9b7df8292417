/* SPDX-License-Identifier: Apache-2.0 */
/* The list of JVMs, a bit of it at a time: the screen goes on meanwhile. */
#include "cli/live/own.h"

#include "base/buf.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LIST_MS 50 /* of a look at all processes, before the screen goes on */

static int cpu_pct(const struct picker *p, const struct hotspot *jvm, uint64_t now_ns)
{
	for (int i = 0; i < p->list.count; i++) {
		const struct hotspot *before = &p->list.jvms[i];

		if (before->pid == jvm->pid && now_ns - p->list_ns > 100 * NS_PER_MS &&
			jvm->cpu_ticks >= before->cpu_ticks)
			return (int)((double)(jvm->cpu_ticks - before->cpu_ticks) * 100 * NS_PER_S /
				     (double)sysconf(_SC_CLK_TCK) / (double)(now_ns - p->list_ns));
	}
	return -1;
}

static void fill_row(struct app_jvm *row, const struct hotspot *jvm, int pct)
{
	*row = (struct app_jvm){
		.pid = jvm->pid,
		.cpu_pct = pct,
		.rss_bytes = (int64_t)jvm->rss_bytes,
		.uptime_s = jvm->uptime_s,
		.threads = jvm->threads,
		.can_attach = jvm->verdict <= HOTSPOT_UNKNOWN,
	};
	snprintf(row->user, sizeof(row->user), "%s", jvm->user);
	snprintf(row->jdk, sizeof(row->jdk), "%s", jvm->jdk);
	snprintf(row->name, sizeof(row->name), "%s", jvm->name);
	snprintf(row->attach, sizeof(row->attach), "%s", hotspot_verdict_names[jvm->verdict]);
	snprintf(row->why, sizeof(row->why), "%s", jvm->why);
}

/* What is known so far takes the place of what was. */
static void take_rows(struct picker *p)
{
	uint64_t now_ns = clock_mono_ns();
	struct hotspot_list list;
	struct app_jvm *rows;

	hotspot_look_copy(p->look, &list);
	rows = xcalloc((size_t)list.count, sizeof(*rows));
	for (int i = 0; i < list.count; i++)
		fill_row(&rows[i], &list.jvms[i], cpu_pct(p, &list.jvms[i], now_ns));
	hotspot_list_done(&p->list);
	free(p->rows);
	p->list = list;
	p->list_ns = now_ns;
	p->rows = rows;
}

/* Until all were looked at, those of the last time are shown, or, the first time, those that there are so far. */
int picker_list(struct picker *p, const struct app_jvm **out, struct err *err)
{
	int over;

	if (!p->look && !(p->look = hotspot_look_begin(err)))
		return -1;
	over = hotspot_look_step(p->look, LIST_MS, err);
	if (over > 0 || !p->listed)
		take_rows(p);
	if (over == 0) {
		err_set(err, ERR_BUSY, "Still looking at the processes that there are.");
	} else {
		hotspot_look_end(p->look);
		p->look = NULL;
		p->listed = over > 0;
	}
	*out = p->rows;
	return over < 0 ? -1 : p->list.count;
}

void picker_done(struct picker *p)
{
	hotspot_look_end(p->look);
	hotspot_list_done(&p->list);
	free(p->rows);
}
