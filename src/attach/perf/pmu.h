/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resolves events that the kernel describes in files: PMUs of sysfs, tracepoints of tracefs. sys: normally "/sys". Reads a few small
 * files; no state; any thread.
 */
#ifndef JHOT_ATTACH_PERF_PMU_H
#define JHOT_ATTACH_PERF_PMU_H

#include "attach/perf/events.h"

/* Parses "cpu/event=0x3c,umask=1/" or "cpu/NAME/". 0, or -1 with an error. */
int perf_pmu_find(const char *sys, const char *name, struct perf_event *out, struct err *err);

/* Looks up "system:name". 0; -1: no such tracepoint. */
int perf_tracepoint_find(const char *sys, const char *name, struct perf_event *out);
/* Why tracepoints are not available, as a clause; "" if they are. */
void perf_tracefs_why(char *why, size_t bytes);

#endif
