/* SPDX-License-Identifier: Apache-2.0 */
/* Probes events by opening them, and explains the kernel's refusals. */
#include "attach/perf/events.h"

#include "attach/perf/pmu.h"
#include "attach/proc.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *perf_events_sys = "/sys";

#define NO_COUNTER "no such hardware counter: the CPU lacks it, or the hypervisor hides it"

/* Why the kernel does not support an event of this type. */
static const char *const probe_missing[PERF_TYPE_MAX] = {
	[PERF_TYPE_HARDWARE] = NO_COUNTER,
	[PERF_TYPE_HW_CACHE] = NO_COUNTER,
	[PERF_TYPE_RAW] = NO_COUNTER,
	[PERF_TYPE_TRACEPOINT] = "the kernel has no tracepoint of this number",
};

static void probe_why(const struct perf_event *event, int error, char *why, size_t bytes)
{
	const char *missing = event->type < PERF_TYPE_MAX ? probe_missing[event->type] : NULL;

	if (error == ENOENT || error == ENODEV || error == EOPNOTSUPP)
		snprintf(why, bytes, "%s", missing ? missing : "the kernel does not have it");
	else if (error == EACCES || error == EPERM)
		snprintf(why, bytes,
			"not allowed: kernel.perf_event_paranoid is %d (be root, or have "
			"CAP_PERFMON%s)",
			proc_setting("kernel/perf_event_paranoid", 99),
			event->type == PERF_TYPE_TRACEPOINT ? ""
							    : ", or count the program only: -u");
	else if (error == ENOSPC)
		snprintf(why, bytes, "all breakpoints of the CPU are in use");
	else if (error == ENOSYS)
		snprintf(why, bytes, "this kernel or container has no perf_event_open");
	else
		snprintf(why, bytes, "the kernel refuses it: %s", strerror(error));
}

bool perf_breakpoints_dead(char *why, size_t bytes)
{
	static volatile char watched;
	struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT,
		.size = PERF_ATTR_SIZE_VER1,
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)&watched,
		.bp_len = HW_BREAKPOINT_LEN_1,
		.exclude_kernel = 1,
		.exclude_hv = 1};
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	uint64_t writes = 1;

	if (fd < 0)
		return false;
	watched = 1;
	if (read((int)fd, &writes, sizeof(writes)) != sizeof(writes))
		writes = 1;
	close((int)fd);
	if (!writes)
		snprintf(why, bytes,
			"breakpoints never fire on this machine: its hypervisor does not emulate "
			"the CPU's debug registers");
	return !writes;
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

	attr.bp_type = event->bp_type;
	attr.config1 = event->config1;
	attr.config2 = event->config2;
	if (bytes)
		*why = '\0';
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0) {
		probe_why(event, errno, why, bytes);
		return -1;
	}
	close((int)fd);
	return event->type == PERF_TYPE_BREAKPOINT && perf_breakpoints_dead(why, bytes) ? -1 : 0;
}

int perf_events_probe_cpu(char *why, size_t bytes)
{
	static const struct perf_event clock = {.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.interval = 10000000};

	return perf_events_probe(&clock, false, why, bytes);
}

void perf_tracefs_why(char *why, size_t bytes)
{
	char path[PROC_PATH_BYTES];

	if (perf_tracefs(perf_events_sys, path, sizeof(path)))
		*why = '\0';
	else
		snprintf(why, bytes, "tracefs is not mounted%s",
			geteuid() ? ", or for root only" : "");
}

static const struct {
	const char *form, *unit, *note;
	uint32_t type;
} probe_forms[] = {
	{"rHEX", "events", "the CPU's own number", PERF_TYPE_RAW},
	{"PMU/TERM=N,.../", "events", "as in /sys/bus/event_source/devices", PERF_TYPE_RAW},
	{"SYSTEM:NAME", "events", "a tracepoint: syscalls:sys_enter_openat", PERF_TYPE_TRACEPOINT},
	{"mem:ADDR[/N][:rwx]", "accesses", "a breakpoint", PERF_TYPE_BREAKPOINT},
	{"[LIBRARY:]FUNCTION", "calls", "a native function: malloc", PERF_TYPE_BREAKPOINT},
};

bool perf_events_form(int i, struct perf_event_form *out)
{
	static const char here = 0; /* a variable to set a breakpoint on */
	struct perf_event any = {.interval = 1};

	if (i < 0 || i >= (int)(sizeof(probe_forms) / sizeof(probe_forms[0])))
		return false;
	*out = (struct perf_event_form){
		probe_forms[i].form, probe_forms[i].unit, probe_forms[i].note, ""};
	any.type = probe_forms[i].type;
	bool breakpoint = any.type == PERF_TYPE_BREAKPOINT;
	if (breakpoint) {
		any.bp_type = HW_BREAKPOINT_W;
		any.config1 = (uint64_t)(uintptr_t)&here;
		any.config2 = HW_BREAKPOINT_LEN_1;
	} else if (any.type == PERF_TYPE_TRACEPOINT) {
		any.type = PERF_TYPE_SOFTWARE; /* requires the same rights, and always exists */
		any.config = PERF_COUNT_SW_PAGE_FAULTS;
		perf_tracefs_why(out->why, sizeof(out->why));
	}
	if (!out->why[0])
		perf_events_probe(&any, breakpoint, out->why, sizeof(out->why));
	return true;
}
