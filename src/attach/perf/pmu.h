/* SPDX-License-Identifier: Apache-2.0 */
/* Events that the kernel describes in files: PMUs of sysfs, tracepoints of tracefs. sys: "/sys". */
#ifndef JHOT_ATTACH_PERF_PMU_H
#define JHOT_ATTACH_PERF_PMU_H

#include "attach/perf/events.h"

/* perf_pmu_find: "cpu/event=0x3c,umask=1/" or "cpu/NAME/". 0, or -1 with a sentence. */
int perf_pmu_find(const char *sys, const char *name, struct perf_event *out, struct err *err);

/* perf_tracepoint_find: "system:name". 0, or -1 when there is none. */
int perf_tracepoint_find(const char *sys, const char *name, struct perf_event *out);
/* Where tracefs is, into path; false if it is not mounted. */
bool perf_tracefs(const char *sys, char *path, size_t bytes);
/* Why there is none, as a clause; "" if there is. */
void perf_tracefs_why(char *why, size_t bytes);

#endif
