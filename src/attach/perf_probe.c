/* SPDX-License-Identifier: Apache-2.0 */
/* Asking the kernel, and what its refusals mean. */
#include "attach/perf_events.h"

#include "attach/perf_pmu.h"
#include "attach/proc.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *perf_events_sys = "/sys";

/* probe_paranoid: the kernel's setting; 99 where it cannot be read. */
static int probe_paranoid(void)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int value = 99;

	if (f && fscanf(f, "%d", &value) != 1)
		value = 99;
	if (f)
		fclose(f);
	return value;
}

#define NO_COUNTER "no such hardware counter: the CPU has none, or a virtual machine hides it"

/* What it means that the kernel does not know an event of this type. */
static const char *const probe_missing[PERF_TYPE_MAX] = {
	[PERF_TYPE_HARDWARE] = NO_COUNTER,
	[PERF_TYPE_HW_CACHE] = NO_COUNTER,
	[PERF_TYPE_RAW] = NO_COUNTER,
	[PERF_TYPE_TRACEPOINT] = "the kernel has no tracepoint of this number",
};

static const char *missing(uint32_t type)
{
	const char *why = type < PERF_TYPE_MAX ? probe_missing[type] : NULL;

	return why ? why : "the kernel does not have it";
}

static void probe_why(const struct perf_event *event, int error, char *why, size_t bytes)
{
	if (error == ENOENT || error == ENODEV || error == EOPNOTSUPP)
		snprintf(why, bytes, "%s", missing(event->type));
	else if (error == EACCES || error == EPERM)
		snprintf(why, bytes,
			"not allowed: kernel.perf_event_paranoid is %d (be root, or have "
			"CAP_PERFMON%s)",
			probe_paranoid(),
			event->type == PERF_TYPE_TRACEPOINT ? ""
							    : ", or count the program only: -u");
	else if (error == ENOSPC)
		snprintf(why, bytes, "all breakpoints of the CPU are in use");
	else if (error == ENOSYS)
		snprintf(why, bytes, "this kernel or container has no perf_event_open");
	else
		snprintf(why, bytes, "the kernel refuses it: %s", strerror(error));
}

int perf_events_probe(const struct perf_event *event, bool user_only, char *why, size_t bytes)
{
	struct perf_event_attr attr = {.type = event->type,
		.size = PERF_ATTR_SIZE_VER1,
		.config = event->config,
		.sample_period = event->interval,
		.sample_type = PERF_SAMPLE_CALLCHAIN,
		.disabled = 1,
		.exclude_kernel = user_only,
		.exclude_hv = 1};
	long fd;

	attr.bp_type = event->bp_type;
	attr.config1 = event->config1;
	attr.config2 = event->config2;
	if (bytes)
		*why = '\0';
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0) {
		close((int)fd);
		return 0;
	}
	probe_why(event, errno, why, bytes);
	return -1;
}

void perf_events_tracepoints(char *why, size_t bytes)
{
	char path[PROC_PATH_BYTES];

	if (perf_tracefs(perf_events_sys, path, sizeof(path)))
		*why = '\0';
	else if (geteuid())
		snprintf(why, bytes, "tracefs is not mounted, or for root only");
	else
		snprintf(why, bytes, "tracefs is not mounted");
}
