/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of predefined events, parsers of all other names, and probes: an event is opened on this process, and a refusal of
 * the kernel is explained.
 */
#include "attach/perf/events.h"

#include "attach/perf/pmu.h"
#include "attach/proc.h"

#include <ctype.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *perf_events_sys = "/sys";

#define CACHE(cache, op, result)                                          \
	(PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##op << 8 | \
		PERF_COUNT_HW_CACHE_RESULT_##result << 16)

/*
 * Intervals: about 1,000 samples/s for a busy core, or every occurrence of a rare event. Sampling a context switch causes
 * another one.
 */
static const struct {
	const char *name, *alias, *unit, *kind;
	uint32_t type;
	uint64_t config, interval;
} perf_rows[] = {
#define HARDWARE(name, alias, unit, config, interval)                                      \
	{                                                                                  \
		name, alias, unit, "hardware", PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config, \
			interval                                                           \
	}
	HARDWARE("cycles", "cpu-cycles", "cycles", CPU_CYCLES, 1000000),
	HARDWARE("instructions", NULL, "instructions", INSTRUCTIONS, 1000000),
	HARDWARE("cache-references", NULL, "references", CACHE_REFERENCES, 100000),
	HARDWARE("cache-misses", NULL, "misses", CACHE_MISSES, 1000),
	HARDWARE("branches", "branch-instructions", "branches", BRANCH_INSTRUCTIONS, 100000),
	HARDWARE("branch-misses", NULL, "misses", BRANCH_MISSES, 10000),
	HARDWARE("bus-cycles", NULL, "cycles", BUS_CYCLES, 100000),
	HARDWARE("ref-cycles", NULL, "cycles", REF_CPU_CYCLES, 1000000),
	HARDWARE("stalled-cycles-frontend", NULL, "cycles", STALLED_CYCLES_FRONTEND, 1000000),
	HARDWARE("stalled-cycles-backend", NULL, "cycles", STALLED_CYCLES_BACKEND, 1000000),
#define CACHED(name, cache, op, result, interval)                                            \
	{                                                                                    \
		name, NULL, "misses", "cache", PERF_TYPE_HW_CACHE, CACHE(cache, op, result), \
			interval                                                             \
	}
	CACHED("L1-dcache-load-misses", L1D, READ, MISS, 100000),
	CACHED("L1-icache-load-misses", L1I, READ, MISS, 100000),
	CACHED("LLC-load-misses", LL, READ, MISS, 1000),
	CACHED("LLC-store-misses", LL, WRITE, MISS, 1000),
	CACHED("dTLB-load-misses", DTLB, READ, MISS, 1000),
	CACHED("dTLB-store-misses", DTLB, WRITE, MISS, 1000),
	CACHED("iTLB-load-misses", ITLB, READ, MISS, 1000),
#define SOFTWARE(name, alias, unit, config, interval)                                      \
	{                                                                                  \
		name, alias, unit, "software", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##config, \
			interval                                                           \
	}
	SOFTWARE("task-clock", NULL, "ns", TASK_CLOCK, 10000000),
	SOFTWARE("page-faults", "faults", "faults", PAGE_FAULTS, 1),
	SOFTWARE("minor-faults", NULL, "faults", PAGE_FAULTS_MIN, 1),
	SOFTWARE("major-faults", NULL, "faults", PAGE_FAULTS_MAJ, 1),
	SOFTWARE("context-switches", "cs", "switches", CONTEXT_SWITCHES, 10),
	SOFTWARE("cpu-migrations", "migrations", "migrations", CPU_MIGRATIONS, 1),
	SOFTWARE("alignment-faults", NULL, "faults", ALIGNMENT_FAULTS, 1),
	SOFTWARE("emulation-faults", NULL, "faults", EMULATION_FAULTS, 1),
};
#define PERF_ROWS ((int)(sizeof(perf_rows) / sizeof(perf_rows[0])))

bool perf_events_each(int i, struct perf_event *out)
{
	if (i < 0 || i >= PERF_ROWS)
		return false;
	*out = (struct perf_event){.name = perf_rows[i].name,
		.kind = perf_rows[i].kind,
		.unit = perf_rows[i].unit,
		.interval = perf_rows[i].interval,
		.type = perf_rows[i].type,
		.config = perf_rows[i].config};
	return true;
}

/* --- parsers: each consumes names of its form, or returns NOT_MINE ----------------------------------- */

struct request {
	const char *name;
	perf_events_function *function;
	void *ctx;
	struct perf_event *out;
};

enum parsed { NOT_MINE, PARSED, REFUSED };

static enum parsed parse_predefined(const struct request *r, struct err *err)
{
	for (int i = 0; i < PERF_ROWS; i++)
		if (!strcmp(r->name, perf_rows[i].name) ||
			(perf_rows[i].alias && !strcmp(r->name, perf_rows[i].alias)))
			return perf_events_each(i, r->out) ? PARSED : NOT_MINE;
	return NOT_MINE;
}

/* r1a2. A function's name that starts like this contains a character that is not a hex digit. */
static enum parsed parse_raw(const struct request *r, struct err *err)
{
	char *end;

	if (r->name[0] != 'r' || !isxdigit((unsigned char)r->name[1]))
		return NOT_MINE;
	r->out->config = strtoull(r->name + 1, &end, 16);
	if (*end)
		return NOT_MINE;
	r->out->type = PERF_TYPE_RAW;
	r->out->interval = 1000000;
	return PARSED;
}

static enum parsed parse_pmu(const struct request *r, struct err *err)
{
	const char *slash = strchr(r->name, '/');

	if (!slash || !strncmp(r->name, "mem:", 4))
		return NOT_MINE;
	return perf_pmu_find(perf_events_sys, r->name, r->out, err) ? REFUSED : PARSED;
}

/* Resolves NAME or LIBRARY:NAME. */
static int find_function(
	const struct request *r, const char *text, uint64_t *address, struct err *err)
{
	const char *colon = strrchr(text, ':');
	char library[64];

	if (!r->function)
		return err_set(err, ERR_USAGE,
			"\"%s\" is a function of a program, and no program was given.", text);
	if (!colon || colon == text || colon[-1] == ':')
		return r->function(r->ctx, NULL, text, address, err);
	snprintf(library, sizeof(library), "%.*s", (int)(colon - text), text);
	return r->function(r->ctx, library, colon + 1, address, err);
}

static uint32_t access_of(const char *letters)
{
	uint32_t bits = 0;

	for (; *letters; letters++) {
		const char *at = strchr("rwx", *letters);

		if (!at)
			return 0;
		bits |= (const uint32_t[]){
			HW_BREAKPOINT_R, HW_BREAKPOINT_W, HW_BREAKPOINT_X}[at - "rwx"];
	}
	return bits;
}

static void breakpoint_set(
	struct perf_event *out, uint64_t address, uint64_t bytes, uint32_t access)
{
	out->type = PERF_TYPE_BREAKPOINT;
	out->bp_type = access;
	out->config1 = address;
	out->config2 = access == HW_BREAKPOINT_X ? sizeof(long) : bytes;
	out->interval = 1;
	out->unit = access == HW_BREAKPOINT_X ? "calls" : "accesses";
}

/* mem:ADDRESS[/BYTES][:rwx] */
static enum parsed parse_breakpoint(const struct request *r, struct err *err)
{
	char place[64], *end;
	uint32_t access = HW_BREAKPOINT_RW;
	uint64_t bytes = 8;

	if (strncmp(r->name, "mem:", 4))
		return NOT_MINE;
	snprintf(place, sizeof(place), "%s", r->name + 4);
	char *tail = strrchr(place, ':');
	if (tail && access_of(tail + 1)) {
		*tail = '\0';
		access = access_of(tail + 1);
	}
	tail = strchr(place, '/');
	if (tail) {
		*tail = '\0';
		bytes = strtoull(tail + 1, &end, 0);
	}
	if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) {
		err_set(err, ERR_USAGE, "A breakpoint watches 1, 2, 4 or 8 bytes.");
		return REFUSED;
	}
	uint64_t address = strtoull(place, &end, 0);
	if ((*end || end == place) && find_function(r, place, &address, err))
		return REFUSED;
	if (access == HW_BREAKPOINT_R)
		access = HW_BREAKPOINT_RW; /* x86 has no read-only breakpoints */
	breakpoint_set(r->out, address, bytes, access);
	return PARSED;
}

static enum parsed parse_tracepoint(const struct request *r, struct err *err)
{
	const char *colon = strchr(r->name, ':');
	char why[160] = "";

	if (!colon || strchr(colon + 1, ':') || strstr(r->name, ".so"))
		return NOT_MINE;
	int found = perf_tracepoint_find(perf_events_sys, r->name, r->out);
	if (found == 0)
		return PARSED;
	perf_tracefs_why(why, sizeof(why));
	err_set(err, ERR_USAGE, "There is no tracepoint \"%s\"%s%s.", r->name, *why ? ": " : "",
		why);
	err_hint(err, *why ? "mount -t tracefs nodev /sys/kernel/tracing"
			   : "jhot events PID lists the available events");
	return REFUSED;
}

static enum parsed parse_function(const struct request *r, struct err *err)
{
	uint64_t address;

	if (!r->function || (!isalpha((unsigned char)r->name[0]) && r->name[0] != '_'))
		return NOT_MINE;
	if (find_function(r, r->name, &address, err))
		return REFUSED;
	breakpoint_set(r->out, address, sizeof(long), HW_BREAKPOINT_X);
	return PARSED;
}

int perf_events_find(const char *name, perf_events_function *function, void *ctx,
	struct perf_event *out, struct err *err)
{
	static enum parsed (*const parsers[])(const struct request *r, struct err *err) = {
		parse_predefined, parse_raw, parse_pmu, parse_breakpoint, parse_tracepoint,
		parse_function};
	struct request r = {name, function, ctx, out};

	*out = (struct perf_event){.unit = "events", .interval = 1};
	for (size_t i = 0; i < sizeof(parsers) / sizeof(parsers[0]); i++) {
		enum parsed parsed = parsers[i](&r, err);

		if (parsed == REFUSED)
			return -1;
		if (parsed == PARSED)
			return 0;
	}
	return err_set(err, ERR_USAGE, "There is no event \"%s\".", name);
}

/* --- probes ------------------------------------------------------------------------------------------ */

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
