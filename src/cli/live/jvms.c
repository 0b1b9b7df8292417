/* SPDX-License-Identifier: Apache-2.0 */
/* The JVMs of this host, for the picker. */
#include "cli/live/own.h"

#include "base/buf.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* CPU use since the last completed scan, in percent of a core; -1: unknown. */
static int jvms_cpu_pct(const struct jvms *j, const struct hotspot *jvm, uint64_t now_ns)
{
	for (int i = 0; i < j->list.count; i++) {
		const struct hotspot *before = &j->list.jvms[i];

		if (before->pid == jvm->pid && now_ns - j->list_ns > 100 * NS_PER_MS &&
			jvm->cpu_ticks >= before->cpu_ticks)
			return (int)((double)(jvm->cpu_ticks - before->cpu_ticks) * 100 * NS_PER_S /
				     (double)sysconf(_SC_CLK_TCK) / (double)(now_ns - j->list_ns));
	}
	return -1;
}

/* Replaces the rows by the JVMs that the scan has found. */
static void jvms_replace_rows(struct jvms *j)
{
	uint64_t now_ns = clock_mono_ns();
	struct hotspot_list list;
	struct app_jvm *rows;

	hotspot_scan_copy(j->scan, &list);
	rows = xcalloc((size_t)list.count, sizeof(*rows));
	for (int i = 0; i < list.count; i++) {
		const struct hotspot *jvm = &list.jvms[i];
		struct app_jvm *row = &rows[i];

		*row = (struct app_jvm){
			.id = jvm->pid,
			.pid = jvm->pid,
			.cpu_pct = jvms_cpu_pct(j, jvm, now_ns),
			.rss_bytes = (int64_t)jvm->rss_bytes,
			.uptime_s = jvm->uptime_s,
			.threads = jvm->threads,
			.can_attach = jvm->verdict <= HOTSPOT_UNKNOWN,
		};
		snprintf(row->user, sizeof(row->user), "%s", jvm->user);
		snprintf(row->jdk, sizeof(row->jdk), "%s", jvm->jdk);
		snprintf(row->name, sizeof(row->name), "%s", jvm->name);
		snprintf(row->attach, sizeof(row->attach), "%s",
			hotspot_verdict_names[jvm->verdict]);
		snprintf(row->why, sizeof(row->why), "%s", jvm->why);
	}
	hotspot_list_done(&j->list);
	free(j->rows);
	j->list = list;
	j->list_ns = now_ns;
	j->rows = rows;
}

int jvms_list(struct jvms *j, const struct app_jvm **out, struct err *err)
{
	int over;

	if (!j->scan && !(j->scan = hotspot_scan_begin(err)))
		return -1;
	over = hotspot_scan_step(j->scan, 0, err);
	if (over > 0 || !j->listed)
		jvms_replace_rows(j);
	if (over == 0) {
		err_set(err, ERR_BUSY, "The scan of processes is still running.");
	} else {
		hotspot_scan_end(j->scan);
		j->scan = NULL;
		j->listed = over > 0;
	}
	*out = j->rows;
	return over < 0 ? -1 : j->list.count;
}

void jvms_done(struct jvms *j)
{
	hotspot_scan_end(j->scan);
	hotspot_list_done(&j->list);
	free(j->rows);
}
