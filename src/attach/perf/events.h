/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resolves the names of perf events to arguments of perf_event_open(2), and probes whether this host supports them.
 *
 *   cycles, page-faults...          predefined, see perf_events_each
 *   r1a2                            a raw event code of the CPU, in hex
 *   cpu/event=0x3c,umask=0/         a PMU of /sys/bus/event_source/devices and its terms
 *   syscalls:sys_enter_openat       a tracepoint of tracefs
 *   mem:ADDRESS[/BYTES][:rwx]       a breakpoint; ADDRESS a number or a function
 *   malloc, libc.so.6:malloc        calls of a native function: a breakpoint on its first instruction
 *
 * Plain values, no state; any thread. The caller supplies the addresses of functions in the target.
 */
#ifndef JHOT_ATTACH_PERF_EVENTS_H
#define JHOT_ATTACH_PERF_EVENTS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event {
	const char *name, *kind; /* predefined events only; kind: "hardware", "cache", "software" */
	const char *unit;        /* unit of its counts: "cycles", "ns" */
	uint64_t interval;       /* default sampling interval, in that unit */
	uint32_t type, bp_type;
	uint64_t config, config1, config2;
};

/*
 * Looks up the address of a function in the target. library: suffix of the library's path; NULL: any. 0, or -1 with an error.
 */
typedef int perf_events_function(
	void *ctx, const char *library, const char *function, uint64_t *address, struct err *err);

/* function NULL: events on functions are not supported here. 0, or -1 with an error, ERR_USAGE for an unknown event. */
int perf_events_find(const char *name, perf_events_function *function, void *ctx,
	struct perf_event *out, struct err *err);

/* Enumerates the predefined events: i = 0, 1, ...; false at the end. */
bool perf_events_each(int i, struct perf_event *out);

/*
 * Checks that this process may open the event, by opening it on itself. 0, or -1 with the reason and the remedy in `why`, as a
 * clause ("not allowed: ...").
 */
int perf_events_probe(const struct perf_event *event, bool user_only, char *why, size_t bytes);
/* The same for the clock that samples the event cpu, kernel frames included. */
int perf_events_probe_cpu(char *why, size_t bytes);
/*
 * True when this process may set breakpoints, but they never fire, as under some hypervisors; `why` receives the reason, as a
 * clause. It writes to a variable that it watches.
 */
bool perf_breakpoints_dead(char *why, size_t bytes);

/* A form of names of events that are not predefined, and whether such events are possible here. */
struct perf_event_form {
	const char *form, *unit, *note;
	char why[200]; /* why they are not; "": they are */
};
/* Enumerates the forms: i = 0, 1, ...; false at the end. */
bool perf_events_form(int i, struct perf_event_form *out);

extern const char *perf_events_sys; /* "/sys"; tests set another root */

#endif
