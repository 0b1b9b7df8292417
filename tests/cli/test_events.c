/* SPDX-License-Identifier: Apache-2.0 */
/* -e, -i and the other sampling options; values in readable units. */
#include "base/clock.h"
#include "cli/line/args.h"
#include "cli/line/events.h"
#include "cli/line/units.h"
#include "cli/line/verb.h"
#include "symbols/child/child.h"

#include "tests/magnitudes.h"
#include "tests/profile/add.h"
#include "tests/tap.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SLOW      "JHOT_TEST_SLOW_FILE"
#define SLOW_S    3
#define SLOW_ASKS 8

static const struct verb record = {.bit = VERB_RECORD, .name = "record", .max_operands = 1};
const struct verb *const verbs[] = {&record, NULL};

static struct events events;
static struct err err;

static int parse(int argc, const char *const *argv)
{
	struct args args;
	int rc;

	memset(&err, 0, sizeof(err));
	if (args_parse(&args, &record, argc, (char *const *)argv, &err))
		return -2;
	rc = events_parse(&events, &args, EVENT_CPU, &err);
	args_done(&args);
	return rc;
}
#define PARSE(...) \
	parse(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), (const char *[]){__VA_ARGS__})

static void test_lists(void)
{
	is_int(parse(0, NULL), 0, "a command line without options is accepted");
	ok(events.count == 1 && events.ids[0] == EVENT_CPU && !events.how[0].interval,
		"without -e, cpu is sampled at its default interval");
	ok(events.budget == -1 && !events.only_threads,
		"without options, the agent's budget and all threads are used");
	is_int(PARSE("-e", "cpu,alloc=256k", "-e", "lock=20us,wall"), 0,
		"four events in two options are accepted");
	ok(events.count == 4 && events.ids[1] == EVENT_ALLOC && events.ids[3] == EVENT_WALL,
		"the events keep their order");
	ok(!events.how[0].interval && events.how[1].interval == 256 << 10 &&
			events.how[2].interval == 20000 && !events.how[3].interval,
		"each event has its own interval");
	is_str(events.names[2], "lock", "each event has its name");
	is_int(PARSE("-e", "cpu,alloc,wall=7ms", "-i", "1ms"), 0,
		"-i beside an interval of its own is accepted");
	ok(events.how[0].interval == NS_PER_MS && !events.how[1].interval &&
			events.how[2].interval == 7 * NS_PER_MS,
		"-i applies to events of its unit without their own interval");
	is_int(PARSE("-e", "alloc", "-i", "100000"), 0, "-i without a unit is accepted");
	is_int(events.how[0].interval, 100000, "an interval without a unit is in the event's unit");
}

static void test_refused(void)
{
	is_int(PARSE("-e", "alloc", "-i", "1ms"), -1, "a time as interval of bytes is refused");
	ok(err.kind == ERR_USAGE && strstr(err.what, "must be a size") != NULL,
		"the error says that the interval must be a size: %s", err.what);
	is_int(PARSE("-e", "cpu=1m"), -1, "a size as interval of time is refused");
	is_int(PARSE("-e", "cpu,lock,cpu"), -1, "the same event twice is refused");
	is_int(PARSE("-e", "cpu=never"), -1, "an invalid interval is refused");
	is_int(PARSE("-e", "cqu"), 0, "an unknown word is accepted as a function's name");
	is_int(events_resolve(&events, getpid(), NULL, &err), -1,
		"a function that is not in the program is refused");
	ok(strstr(err.hint, "-e cpu") != NULL, "the hint names the most similar event");
	is_int(PARSE("-e", "nosystem:nothing"), -1, "an unknown tracepoint is refused");
	is_int(PARSE("-e", "cs,faults,page-faults,cycles,r1"), -1, "a fifth perf event is refused");
	is_int(PARSE("-u", "-k"), -1, "-u with -k is refused");
	is_int(PARSE("-e", "lock", "--live"), -1, "--live without alloc is refused");
	is_int(PARSE("--budget", "much"), -1, "an invalid budget is refused");
	is_int(PARSE("--budget", "200"), -1, "a budget above one core is refused");
	is_int(PARSE("-e",
		       "a123456789012345678901234567890123456789012345678901234567890123456789"),
		-1, "a name that is too long is refused");
}

static void test_perf(void)
{
	is_int(PARSE("-e", "cpu,page-faults,malloc,libc.so:free=7", "-i", "5"), 0,
		"perf events and functions are accepted");
	ok(events.count == 4 && events.ids[1] == EVENT_USER_FIRST &&
			events.ids[3] == EVENT_USER_FIRST + 2,
		"perf events have ids of user events");
	is_str(events.how[1].name, "page-faults", "a perf event has its name");
	is_int(events_resolve(&events, getpid(), NULL, &err), 0,
		"functions are found in the process");
	ok(events.how[1].interval == 5 && events.how[3].interval == 7,
		"perf events have their intervals");
	ok(events.how[2].perf.config1 && events.how[3].perf.config1 &&
			events.how[2].perf.config1 != events.how[3].perf.config1,
		"the functions have addresses");
	is_str(events.how[2].unit, "calls", "a function's unit is calls");
}

/* Asked so often; the last time it gives up, if that is ever. */
struct asked {
	int times, most;
};

static bool ask(void *ctx)
{
	struct asked *a = ctx;

	return ++a->times <= a->most;
}

/* Symbol tables are read by another thread: who waits is asked, and may give up. */
static void test_patience(void)
{
	struct asked forever = {0, INT_MAX}, once = {0, 3};

	is_int(PARSE("-e", "nowhere_to_be_found"), 0,
		"a function that may be in any library is accepted");
	is_int(events_resolve(&events, getpid(), &(const struct patience){ask, &forever}, &err), -1,
		"a function in no library is refused");
	ok(forever.times > 3 && !strstr(err.what, "cancelled"), "the caller was asked %d times: %s",
		forever.times, err.what);
	is_int(events_resolve(&events, getpid(), &(const struct patience){ask, &once}, &err), -1,
		"a search that the caller cancels fails");
	ok(strstr(err.what, "cancelled") != NULL && once.times < forever.times,
		"a cancelled search ends early: %s", err.what);
}

/* The most time that passed between two questions. */
struct longest {
	int times;
	uint64_t last_ns, most_ns;
};

static bool ask_time(void *ctx)
{
	struct longest *l = ctx;
	uint64_t now_ns = clock_mono_ns();

	if (l->last_ns && now_ns - l->last_ns > l->most_ns)
		l->most_ns = now_ns - l->last_ns;
	l->last_ns = now_ns;
	return ++l->times < SLOW_ASKS;
}

/* In the parser's process: a file that takes seconds to read, where that is asked for. The process may do little but wait. */
static void slow_file(int fd)
{
	const struct timespec wait = {SLOW_S, 0};
	uint32_t word = 0;

	(void)fd;
	if (getenv(SLOW))
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &wait, NULL, 0);
}

/* Exported names are read by another thread, too: a slow file does not delay other requests. */
static void test_slow_file(void)
{
	struct longest longest = {0};

	setenv(SLOW, "1", 1);
	is_int(PARSE("-e", "libc.so:nowhere_to_be_found"), 0,
		"a function in a named library is accepted");
	is_int(events_resolve(
		       &events, getpid(), &(const struct patience){ask_time, &longest}, &err),
		-1, "resolving a function ends when its caller cancels it");
	unsetenv(SLOW);
	ok(longest.times >= SLOW_ASKS && longest.most_ns < NS_PER_S,
		"the caller was asked %d times meanwhile, at most %llu ms apart", longest.times,
		(unsigned long long)(longest.most_ns / NS_PER_MS));
}

static void test_flags(void)
{
	is_int(PARSE("-e", "alloc,cpu", "--live", "-u", "--only-threads", "http-*",
		       "--budget=0.5%"),
		0, "all flags are accepted together");
	ok(events.how[0].live && !events.how[1].live, "--live applies to alloc only");
	ok(events.how[0].user_only && events.how[1].user_only && !events.how[1].kernel_only,
		"-u applies to all events");
	is_str(events.only_threads, "http-*", "--only-threads sets the pattern");
	is_int(events.budget, 5, "--budget is converted to thousandths");
	is_int(PARSE("--budget=off", "-k"), 0, "--budget=off with -k is accepted");
	ok(events.budget == 0 && events.how[0].kernel_only,
		"--budget=off is 0, and -k excludes user code");
}

static void test_profile(void)
{
	struct profile *p = profile_new();
	struct args args = {.verb = &record};
	const char *words[] = {"-e", "cache-misses,cpu"}, *none[] = {"-e", "lock,nothing"};

	is_int(events_of_profile(&events, &args, p, &err), 0,
		"a profile without samples is accepted");
	ok(events.count == 1 && events.ids[0] == EVENT_CPU,
		"a profile without samples has the event cpu");
	profile_event_set(p, EVENT_USER_FIRST + 2, "cache-misses", "events", 1000);
	profile_add(p, EVENT_USER_FIRST + 2, 1, PROFILE_ROOT_STACK, 0, 1, 1);
	profile_add(p, EVENT_WALL, 1, PROFILE_ROOT_STACK, 0, 1, 1);
	events_of_profile(&events, &args, p, &err);
	ok(events.count == 2 && events.ids[0] == EVENT_WALL &&
			!strcmp(events.names[1], "cache-misses"),
		"without -e the events with samples are selected");
	args_parse(&args, &record, 2, (char *const *)words, &err);
	is_int(events_of_profile(&events, &args, p, &err), 0,
		"events selected with -e are accepted");
	ok(events.count == 2 && events.ids[0] == EVENT_USER_FIRST + 2,
		"user events are selected by name");
	args_done(&args);
	args_parse(&args, &record, 2, (char *const *)none, &err);
	is_int(events_of_profile(&events, &args, p, &err), -1,
		"an event that the profile does not have is refused");
	args_done(&args);
	profile_free(p);
}

static void value_ns(char out[64], uint64_t value)
{
	units_value(value, "ns", out, 64);
}

static void value_bytes(char out[64], uint64_t value)
{
	units_value(value, "bytes", out, 64);
}

static void value_events(char out[64], uint64_t value)
{
	units_value(value, "faults", out, 64);
}

static void test_magnitudes(void)
{
	static const struct magnitude_unit ns[] = {
		{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0}};
	static const struct magnitude_unit bytes[] = {
		{"B", 1}, {"kB", 0x1p10}, {"MB", 0x1p20}, {"GB", 0x1p30}, {NULL, 0}};
	static const struct magnitude_unit counts[] = {
		{"", 1}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {NULL, 0}};

	magnitude_check(value_ns, ns, INT64_MAX, 0.006, 12, "units_value of time");
	magnitude_check(value_bytes, bytes, INT64_MAX, 0.006, 13, "of bytes");
	magnitude_check(value_events, counts, INT64_MAX, 0.006, 12, "of what is counted");
	magnitude_check(value_ns, ns, 999000000000, 0.006, 7, "time is short");
	magnitude_check(value_bytes, bytes, 999ull << 30, 0.006, 8, "so are bytes");
	magnitude_check(value_events, counts, 999000000000, 0.006, 6, "and counts");
}

static void test_values(void)
{
	static const struct {
		uint64_t value;
		const char *unit, *text;
	} rows[] = {
		{0, "ns", "0 ns"},
		{999, "ns", "999 ns"},
		{1500, "ns", "1.50 us"},
		{34500000, "ns", "34.5 ms"},
		{62000000000, "ns", "62.0 s"},
		{620000000000, "ns", "620 s"},
		{100, "bytes", "100 B"},
		{1536, "bytes", "1.50 kB"},
		{5368709120, "bytes", "5.00 GB"},
		{12, "events", "12"},
		{9999, "events", "9999"},
		{10000, "events", "10.0 k"},
		{50000, "events", "50.0 k"},
		{123456, "events", "123 k"},
		{999499, "events", "999 k"},
		{999500, "events", "1.00 M"},
		{1234567, "events", "1.23 M"},
		{7, "cycles", "7"},
		{4200000000, "cycles", "4.20 G"},
	};
	char out[32];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is_str(units_value(rows[i].value, rows[i].unit, out, sizeof(out)), rows[i].text,
			rows[i].text);
}

int main(int argc, char **argv)
{
	if (elf_child_main(argc, argv, slow_file))
		return 0;
	test_lists();
	test_refused();
	test_perf();
	test_patience();
	test_slow_file();
	test_flags();
	test_profile();
	test_values();
	test_magnitudes();
	return tap_done();
}
