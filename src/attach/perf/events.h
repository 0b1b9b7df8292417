/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf's events by name: what perf_event_open(2) is to be asked for, and whether this host has it.
 *
 *   cycles, page-faults...          predefined, see perf_events_each
 *   r1a2                            a raw number of the CPU's own, in hex
 *   cpu/event=0x3c,umask=0/         a PMU of /sys/bus/event_source/devices and its terms
 *   syscalls:sys_enter_openat       a tracepoint, by tracefs
 *   mem:ADDRESS[/BYTES][:rwx]       a breakpoint; ADDRESS a number or a function
 *   malloc, libc.so.6:malloc        calls of a native function: a breakpoint on its first instruction
 *
 * Plain values, no state. Where functions are in the target is the caller's to say.
 */
#ifndef JHOT_ATTACH_PERF_EVENTS_H
#define JHOT_ATTACH_PERF_EVENTS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event {
	const char *name, *kind; /* of a predefined one; kind: "hardware", "cache", "software" */
	const char *unit;        /* of what it counts: "cycles", "ns" */
	uint64_t interval;       /* the default: a sample for so many of these */
	uint32_t type, bp_type;
	uint64_t config, config1, config2;
};

/*
 * The address of a function in the target: of this library (the end of its path; NULL: any). 0, or -1 with a
 * sentence.
 */
typedef int perf_events_function(
	void *ctx, const char *library, const char *function, uint64_t *address, struct err *err);

/* perf_events_find: function NULL: functions are not possible here. ERR_USAGE for what is no event. */
int perf_events_find(const char *name, perf_events_function *function, void *ctx,
	struct perf_event *out, struct err *err);

/* The predefined ones: i counts up from 0; false at the end. */
bool perf_events_each(int i, struct perf_event *out);

/*
 * perf_events_probe: can this process have it? Opens and closes it, on itself. 0 or -errno; `why` says what is
 * missing and what to do, as a clause ("the kernel shows...").
 */
int perf_events_probe(const struct perf_event *event, bool user_only, char *why, size_t bytes);
/* The clock by which cpu is sampled, kernel frames included: the same. */
int perf_events_probe_cpu(char *why, size_t bytes);

/* A form of names that are not predefined, and whether any such event is possible here. */
struct perf_event_form {
	const char *form, *unit, *note;
	char why[200]; /* "" if it is */
};
/* i counts up from 0; false at the end. */
bool perf_events_form(int i, struct perf_event_form *out);

extern const char *perf_events_sys; /* "/sys"; another only in tests */

#endif
