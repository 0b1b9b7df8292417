/* SPDX-License-Identifier: Apache-2.0 */
/* Names of perf events: every form and every error; PMUs and tracepoints from a mock /sys. */
#include "tests/tap.h"

#include "attach/perf/events.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/stat.h>
#include <unistd.h>

static char sys_root[64];

static void make_file(const char *path, const char *text)
{
	char whole[400];
	FILE *f;

	snprintf(whole, sizeof(whole), "%s/%s", sys_root, path);
	for (char *at = whole + strlen(sys_root) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(whole, 0755);
		*at = '/';
	}
	f = fopen(whole, "w");
	fprintf(f, "%s\n", text);
	fclose(f);
}

static void make_sys(void)
{
	snprintf(sys_root, sizeof(sys_root), "/tmp/jhot-perf.XXXXXX");
	if (!mkdtemp(sys_root))
		abort();
	make_file("bus/event_source/devices/cpu/type", "4");
	make_file("bus/event_source/devices/cpu/format/event", "config:0-7");
	make_file("bus/event_source/devices/cpu/format/umask", "config:8-15");
	make_file("bus/event_source/devices/cpu/format/inv", "config:23");
	make_file("bus/event_source/devices/cpu/format/split", "config:0-3,32-35");
	make_file("bus/event_source/devices/cpu/format/extra", "config1:0-63");
	make_file("bus/event_source/devices/cpu/events/stalls", "event=0xa2,umask=0x04,inv");
	make_file("bus/event_source/devices/cpu/events/loop", "loop");
	make_file("kernel/tracing/events/syscalls/sys_enter_openat/id", "628");
	perf_events_sys = sys_root;
}

static int function_known(
	void *ctx, const char *library, const char *function, uint64_t *address, struct err *err)
{
	*address = 0x7000;
	if (!strcmp(function, "malloc") && (!library || !strcmp(library, "libc.so.6")))
		return 0;
	return err_set(err, ERR_USAGE, "no %s in %s", function, library ? library : "any");
}

static const struct wanted {
	const char *name;
	uint32_t type, bp_type;
	uint64_t config, config1, config2, interval;
	const char *unit;
} wanted_rows[] = {
	{"cycles", PERF_TYPE_HARDWARE, 0, 0, 0, 0, 1000000, "cycles"},
	{"cpu-cycles", PERF_TYPE_HARDWARE, 0, 0, 0, 0, 1000000, "cycles"},
	{"LLC-load-misses", PERF_TYPE_HW_CACHE, 0, 0x10002, 0, 0, 1000, "misses"},
	{"page-faults", PERF_TYPE_SOFTWARE, 0, 2, 0, 0, 1, "faults"},
	{"cs", PERF_TYPE_SOFTWARE, 0, 3, 0, 0, 10, "switches"},
	{"r1a2", PERF_TYPE_RAW, 0, 0x1a2, 0, 0, 1000000, "events"},
	{"cpu/event=0x3c,umask=1/", 4, 0, 0x13c, 0, 0, 1000000, "events"},
	{"cpu/stalls/", 4, 0, 0x8004a2, 0, 0, 1000000, "events"},
	{"cpu/split=0xff/", 4, 0, 0xf0000000full, 0, 0, 1000000, "events"},
	{"cpu/event=1,extra=0x123456789a,period=77/", 4, 0, 1, 0x123456789aull, 0, 77, "events"},
	{"syscalls:sys_enter_openat", PERF_TYPE_TRACEPOINT, 0, 628, 0, 0, 1, "events"},
	{"mem:0x1000", PERF_TYPE_BREAKPOINT, HW_BREAKPOINT_RW, 0, 0x1000, 8, 1, "accesses"},
	{"mem:0x1000/4:w", PERF_TYPE_BREAKPOINT, HW_BREAKPOINT_W, 0, 0x1000, 4, 1, "accesses"},
	{"mem:malloc:x", PERF_TYPE_BREAKPOINT, HW_BREAKPOINT_X, 0, 0x7000, 8, 1, "calls"},
	{"malloc", PERF_TYPE_BREAKPOINT, HW_BREAKPOINT_X, 0, 0x7000, 8, 1, "calls"},
	{"libc.so.6:malloc", PERF_TYPE_BREAKPOINT, HW_BREAKPOINT_X, 0, 0x7000, 8, 1, "calls"},
};

static void test_names(void)
{
	for (size_t i = 0; i < sizeof(wanted_rows) / sizeof(wanted_rows[0]); i++) {
		const struct wanted *w = &wanted_rows[i];
		struct err err = {0};
		struct perf_event e;

		ok(perf_events_find(w->name, function_known, NULL, &e, &err) == 0,
			"%s is a known event", w->name);
		ok(e.type == w->type && e.bp_type == w->bp_type && e.config == w->config &&
				e.config1 == w->config1 && e.config2 == w->config2,
			"%s has type %u and config %llx", w->name, e.type,
			(unsigned long long)e.config);
		ok(e.interval == w->interval && !strcmp(e.unit, w->unit),
			"%s has a default interval of %llu %s", w->name,
			(unsigned long long)e.interval, e.unit);
	}
}

static const char *const refused[] = {"nonsense", "cpu/nonsense=1/", "cpu/event=x/",
	"nopmu/event=1/", "cpu/event=1", "cpu/loop/", "../cpu/event=1/", "syscalls:no_such",
	"../x:id", "mem:", "mem:0x10/3", "mem:nonsense:x", "libother.so:malloc", "1malloc", "", ":",
	"//", "rxyz"};

static void test_refusals(void)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct err err = {0};
		struct perf_event e;

		ok(perf_events_find(refused[i], function_known, NULL, &e, &err) == -1 &&
				err.kind == ERR_USAGE && err.what[0],
			"\"%s\" is refused: %s", refused[i], err.what);
	}
}

static void test_probe(void)
{
	struct err err = {0};
	struct perf_event e, none = {.type = 0xfffffff0, .interval = 1};
	char why[200] = "";
	struct perf_event_form form;
	int i = 0, mentions = 0;

	ok(perf_events_probe(&none, true, why, sizeof(why)) < 0 && why[0],
		"an unknown PMU type is reported as unavailable: %s", why);
	perf_events_find("page-faults", NULL, NULL, &e, &err);
	ok(perf_events_probe(&e, true, why, sizeof(why)) == 0 || why[0],
		"page-faults can be opened, or a reason is given: %s", why);
	while (perf_events_each(i, &e) && e.name && e.kind && e.unit && e.interval)
		i++;
	ok(i > 20 && !perf_events_each(i, &e), "%d predefined events are listed", i);
	ok(perf_events_find("malloc", NULL, NULL, &e, &err) < 0,
		"a function name is rejected without a symbol lookup");
	perf_events_sys = "/nonexistent";
	for (i = 0; perf_events_form(i, &form); i++)
		mentions += strstr(form.why, "tracefs") != NULL;
	is_int(mentions, 1, "without tracefs, exactly one form (tracepoints) mentions it");
	ok(perf_events_find("syscalls:sys_enter_openat", NULL, NULL, &e, &err) < 0 &&
			strstr(err.what, "tracefs"),
		"without tracefs, the error for a tracepoint mentions it: %s", err.what);
}

int main(void)
{
	char command[100];

	make_sys();
	test_names();
	test_refusals();
	test_probe();
	perf_events_sys = "/sys";
	snprintf(command, sizeof(command), "rm -r %s", sys_root);
	ok(system(command) == 0, "the mock /sys is removed");
	return tap_done();
}
