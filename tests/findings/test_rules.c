/* SPDX-License-Identifier: Apache-2.0 */
/* The rules on both sides of each threshold, and order and age of findings, on synthetic vitals and models. */
#include "tests/findings/judge.h"

/* --- the host ---------------------------------------------------------------------------------------- */

/* A cgroup's limit in 0.001 cores, and the periods per second in which it is runnable; `stopped` of 10 s are throttled. */
static void throttled(int64_t limit, int64_t periods, int64_t stopped, int seconds)
{
	begin();
	v.host.cpu_limit = limit;
	v.host.cpu_period_us = 100000;
	v.host.cpu_periods = v.host.cpu_throttled = v.host.throttled_us = 0;
	for (int i = 0; i <= seconds; i++) {
		second();
		v.host.cpu_periods += periods;
		v.host.cpu_throttled = stopped * (i + 1) / 10;
		v.host.throttled_us += 1000;
	}
}

static void test_throttled(void)
{
	throttled(500, 10, 4, 10);
	is_silent("throttled", "when 4 % of the periods are throttled");
	throttled(500, 100, 49, 10);
	is_silent("throttled", "when 4.9 % of the periods are throttled");
	throttled(500, 10, 5, 10);
	is_found("throttled", "when 5 % of the periods are throttled");
	is_str(found("throttled")->what,
		"the cgroup's limit of 0.5 cores throttles the program in 5 % of its periods of "
		"100 ms",
		"the finding of throttled names the limit, the share and the period");
	throttled(500, 10, 50, 3);
	is_silent("throttled", "with 3 s of vitals");
	throttled(500, 10, 50, 4);
	is_found("throttled", "with 4 s of vitals");
	throttled(500, 1, 4, 10);
	is_silent("throttled", "when 4 of 10 runnable periods, but of 100 in all, are throttled");
	throttled(-1, 10, 50, 10);
	is_silent("throttled", "when the limit is not known");
	throttled(0, 10, 50, 10);
	is_silent("throttled", "without a limit");
	throttled(500, 10, 50, 10);
	v.host.cpu_limit = 800;
	second();
	is_silent("throttled", "when the limit was changed in the window");
}

/* MB swapped out; per second, pages read from swap and major faults, these in the first and in the second half of 10 s. */
static void swapping(int64_t mb, int faults, int pages, int later)
{
	begin();
	v.host.swap_bytes = mb << 20;
	v.host.major_faults = 1000;
	v.host.swapped_in = 5000;
	v.rss_bytes = 100 << 20;
	for (int i = 0; i <= 10; i++) {
		second();
		v.host.major_faults += i < 5 ? faults : later;
		v.host.swapped_in += pages;
	}
}

static void test_swap(void)
{
	swapping(51, 50, 60, 50);
	is_found("swap", "at 50 major faults per second");
	swapping(51, 49, 60, 49);
	is_silent("swap", "at 49 major faults per second");
	swapping(50, 500, 600, 500);
	is_silent("swap", "with only 50 MB swapped out");
	swapping(500, 500, 0, 500);
	is_silent("swap", "when nothing is read from swap, so the faults are for files");
	swapping(500, 500, 600, 10);
	is_silent("swap", "when the faults end after half of the window");
	swapping(500, 10, 600, 500);
	is_silent("swap", "when the faults begin in the second half of the window");
	swapping(500, 500, 600, 500);
	v.host.swapped_in = -1;
	second();
	is_silent("swap", "when the reads from swap are not known");
}

/* --- the JVM ----------------------------------------------------------------------------------------- */

static int sync_ms = 40,
	   stops_each = 1; /* per second: ms until all threads had stopped; safepoints */

static void stopping(int safepoints, int gc, int seconds)
{
	begin();
	v.safepoint_pct_x10 = safepoints;
	v.gc_pct_x10 = gc;
	v.safepoint_sync_ms = 0;
	v.safepoint_time_ms = v.gc_time_ms = v.safepoint_count = 0;
	for (int i = 0; i <= seconds;
		i++, v.safepoint_sync_ms += sync_ms, v.safepoint_count += stops_each)
		second();
}

/* Thread 0 runs for `percent` of the time, thread 1 waits for a core for `waiting_percent`, thread 2 sleeps. */
static void running(uint32_t percent, uint32_t waiting_percent)
{
	thread_of(0, "counter");
	thread_of(1, "waiting");
	thread_of(2, "idle");
	for (uint32_t at = 0; at < SECONDS; at++) {
		profile_add_sample(profile, EVENT_WALL, at,
			&(struct profile_sample){stack_of(PROFILE_ROOT_STACK, "shop.Loop", "round"),
				0, THREAD_ON_CPU, 20, percent * 10 * MS});
		profile_add_sample(profile, EVENT_WALL, at,
			&(struct profile_sample){stack_of(PROFILE_ROOT_STACK, "shop.Loop", "round"),
				1, THREAD_RUNNABLE, 20, waiting_percent * 10 * MS});
	}
	for (uint32_t at = 0; at < SECONDS; at++)
		profile_add_sample(profile, EVENT_WALL, at,
			&(struct profile_sample){
				PROFILE_ROOT_STACK, 2, THREAD_SLEEPING, 20, NS_PER_S});
	profile_advance(profile, SECONDS);
}

static void freeing(int cpus_free_ms)
{
	begin();
	v.host.cpus_free_ms = cpus_free_ms < 0 ? -1 : 1000;
	for (int i = 0; i <= 10; i++) {
		second();
		v.host.cpus_free_ms += cpus_free_ms < 0 ? 0 : cpus_free_ms;
	}
	running(100, 100);
}

static void test_cores(void)
{
	freeing(499);
	is_found("cores", "when one thread waits and less than half a CPU is idle");
	freeing(500);
	is_silent("cores", "when one thread waits and half a CPU is idle");
	freeing(-1);
	is_found("cores", "when one thread waits and the idle time of CPUs is not known");
}

/* A delay counts only beyond a thread's wait for a core. percent: the longest such wait at which the rule reports. */
static void beyond_queues(const char *rule, uint32_t percent)
{
	stopping(500, 0, 10);
	running(100, percent - 1);
	is_found(rule, "when the delay exceeds the wait for a core by 6 % of the time");
	stopping(500, 0, 10);
	running(100, percent + 1);
	is_silent(rule, "when the delay exceeds the wait for a core by 4 % of the time");
}

static void test_stops(void)
{
	sync_ms = 20;
	stopping(49, 0, 10);
	is_silent("stops", "when safepoints take 4.9 % of the time");
	stopping(50, 0, 10);
	is_found("stops", "when safepoints take 5 % of the time");
	sync_ms = 40;
	stopping(90, 0, 10);
	is_found("stops", "when safepoints take 9 % of the time");
	is_str(found("stops")->what,
		"safepoints other than collections stop the program for 9 % of the time, including "
		"4 % to stop all threads",
		"the finding of stops names the shares of stops and of the time to stop all "
		"threads");
	v.safepoint_sync_ms = -1;
	second();
	is_str(found("stops")->what,
		"safepoints other than collections stop the program for 9 % of the time",
		"the finding of stops omits the time to stop all threads when it is not known");
	beyond_queues("stops", 45);
	stopping(900, 790, 10);
	is_silent("stops", "when most of the stopped time is collections");
	stopping(900, -1, 10);
	is_silent("stops", "when the time of collections is not known");
	stopping(-1, 0, 10);
	is_silent("stops", "when the time of safepoints is not known");
	stopping(90, 0, 5);
	is_silent("stops", "with 5 s of vitals");
}

static void test_safepoint(void)
{
	sync_ms = 49;
	stopping(60, 0, 10);
	is_silent("safepoint", "when reaching safepoints takes 4.9 % of the time");
	sync_ms = 50;
	stopping(60, 0, 10);
	running(100, 0);
	is_found("safepoint", "when reaching safepoints takes 5 % of the time");
	is_str(found("safepoint")->what,
		"threads are slow to reach safepoints: all others wait for them 5 % of the time, "
		"50.0 ms per safepoint",
		"the finding of safepoint names the share of the time and the time per safepoint");
	ok(strstr(found("safepoint")->proof, "only counter ran that long"),
		"the finding of safepoint names the only thread that ran long enough");
	is_silent("stops", "when most of the stopped time is spent reaching safepoints");
	sync_ms = 400;
	beyond_queues("safepoint", 35);
	sync_ms = 50;
	stopping(60, 0, 10);
	running(4, 0);
	ok(!strstr(found("safepoint")->proof, "counter"),
		"the finding of safepoint names no thread when none ran long enough");
	stopping(60, 0, 5);
	is_silent("safepoint", "with 5 s of vitals");
	stops_each = 0;
	stopping(60, 0, 10);
	v.safepoint_count = 4;
	v.safepoint_sync_ms += 100;
	second();
	is_silent("safepoint", "with 4 safepoints in the window");
	v.safepoint_count = 5;
	v.safepoint_sync_ms += 100;
	second();
	is_found("safepoint", "with 5 safepoints in the window");
	stops_each = 1;
	sync_ms = 40;
}

/* Classes loaded and unloaded per second, for `seconds`; in the `last` of them, last_rate are loaded. */
static void loading(int rate, int unloaded, int seconds, int last, int last_rate)
{
	begin();
	v.classes_loaded = v.classes_unloaded = 0;
	for (int i = 0; i <= seconds; i++) {
		second();
		v.classes_loaded += i >= seconds - last ? last_rate : rate;
		v.classes_unloaded += unloaded;
	}
}

/* 200 classes per second for 10 s, up to these totals at this time in seconds after the JVM's start; none is unloaded. */
static void loaded_since_start(int64_t loaded, int64_t unloaded, int64_t uptime_s)
{
	begin();
	v.uptime_s = uptime_s;
	v.classes_unloaded = unloaded;
	for (int i = 0; i <= 10; i++) {
		v.classes_loaded = loaded - 200 * (10 - i);
		second();
	}
}

static void test_classes(void)
{
	loading(50, 0, 31, 0, 0);
	is_found("classes", "when 50 classes per second have been loaded for 30 s");
	v.uptime_s = 60;
	findings_vitals(findings, &v);
	is_found("classes", "60 s after the start");
	v.uptime_s = 59;
	findings_vitals(findings, &v);
	is_silent("classes", "59 s after the start");
	loading(49, 0, 31, 0, 0);
	is_silent("classes", "at 49 classes per second");
	loading(200, 0, 29, 0, 0);
	is_silent("classes", "when classes have been loaded for 29 s");
	loading(200, 0, 31, 11, 10);
	is_silent("classes", "when the rate drops in the last third of the window");
	loading(200, 0, 11, 0, 0);
	is_silent("classes", "after 10 s when the classes stay loaded");
	loading(200, 100, 11, 0, 0);
	v.uptime_s = 5;
	findings_vitals(findings, &v);
	is_found("classes", "after 10 s when half of the classes are unloaded again");
	loading(200, 99, 11, 0, 0);
	is_silent("classes", "after 10 s when fewer than half of the classes are unloaded again");
	loaded_since_start(10000, 5000, 200);
	is_found("classes",
		"after 10 s when half of all classes, 50 per second, are unloaded again");
	loaded_since_start(10000, 4999, 200);
	is_silent("classes", "after 10 s when fewer than half of all classes are unloaded again");
	loaded_since_start(10000, 5000, 201);
	is_silent(
		"classes", "after 10 s when fewer than 50 per second were loaded since the start");
	loaded_since_start(2950, 2950, 59);
	is_silent("classes", "after 10 s when all classes are unloaded again 59 s after the start");
}

static int readings_each = 8; /* readings of the heap per second */

/* `used` of 100 MB in use for `seconds`, with `whole` whole-heap collections; 60 MB at second `dip` (-1: never). */
static void heap(int64_t used, int64_t whole, int seconds, int dip)
{
	begin();
	v.heap_max = 100 << 20;
	v.gc_whole = 7;
	for (int i = 0; i < seconds; i++) {
		v.heap_low = (i == dip ? 60 : used) << 20;
		v.heap_looks = 70 + readings_each * i;
		v.gc_whole = 7 + whole * i / (seconds - 1);
		second();
	}
}

static void test_heap(void)
{
	readings_each = 6;
	heap(85, 3, 3, -1);
	is_found("heap", "when 12 readings show 85 % in use, with 3 whole-heap collections");
	snprintf(v.gc_name, sizeof(v.gc_name), "ZGC");
	v.gc_pct_x10 = 300;
	second();
	ok(strstr(found("heap")->advice, "allocates"), "ZGC may also be too slow");
	is_silent("gc", "when heap is reported, which is the cause");
	readings_each = 1;
	heap(99, 30, 12, -1);
	is_silent("heap", "after 11 readings");
	readings_each = 8;
	heap(84, 30, 30, -1);
	is_silent("heap", "when 84 % of the heap are in use");
	heap(99, 2, 8, -1);
	is_silent("heap", "after 2 whole-heap collections");
	heap(99, 0, 60, -1);
	is_silent("heap", "when only young collections ran");
	heap(99, 30, 14, 12);
	is_silent("heap", "when less was in use a second ago");
	heap(99, 30, 30, -1);
	v.heap_max = -1;
	second();
	is_silent("heap", "when the heap's maximum is not known");
	heap(99, 30, 30, -1);
	v.heap_low = -1;
	second();
	is_silent("heap", "when the heap's use is not known");
}

static void collecting(int pauses, struct vitals_cpu cpu, int seconds)
{
	begin();
	v.gc_pct_x10 = pauses;
	v.gc_time_ms = 1500;
	v.cpu = cpu;
	for (int i = 0; i <= seconds; i++)
		second();
}

static void test_gc(void)
{
	collecting(99, (struct vitals_cpu){100, 0, 20, 0}, 10);
	is_silent("gc",
		"when pauses take 9.9 % of the time, and the collector a sixth of the CPU time");
	collecting(100, (struct vitals_cpu){100, 0, 20, 0}, 10);
	is_found("gc", "when pauses take 10 % of the time");
	is_str(found("gc")->what, "garbage collection pauses the program for 10 % of the time",
		"the finding of gc names the share of the time");
	collecting(0, (struct vitals_cpu){75, 0, 25, 0}, 10);
	is_found("gc", "when the collector takes 25 % of the CPU time");
	collecting(0, (struct vitals_cpu){76, 0, 24, 0}, 10);
	is_silent("gc", "when the collector takes 24 % of the CPU time");
	collecting(0, (struct vitals_cpu){20, 0, 30, 0}, 10);
	is_found("gc", "when the CPU time is half a core");
	collecting(0, (struct vitals_cpu){19, 0, 30, 0}, 10);
	is_silent("gc", "when the CPU time is less than half a core");
	collecting(0, (struct vitals_cpu){100, 0, 0, 0}, 10);
	v.cpu = (struct vitals_cpu){0, 0, 200, 0};
	second();
	is_silent("gc", "when the collector used CPU time in the last second only");
	collecting(500, (struct vitals_cpu){-1, -1, -1, -1}, 3);
	is_silent("gc", "with 3 s of vitals");
	collecting(-1, (struct vitals_cpu){-1, -1, -1, -1}, 10);
	is_silent("gc", "when neither pauses nor CPU time are known");
}

static void compiling(int64_t uptime_s, struct vitals_cpu cpu)
{
	begin();
	v.uptime_s = uptime_s;
	v.cpu = cpu;
	for (int i = 0; i <= 10; i++)
		second();
}

static void test_jit(void)
{
	compiling(60, (struct vitals_cpu){60, 40, 0, 0});
	is_found("jit", "when compilers take 40 % of the CPU time, 60 s after the start");
	compiling(59, (struct vitals_cpu){60, 40, 0, 0});
	is_silent("jit", "59 s after the start");
	compiling(-1, (struct vitals_cpu){60, 40, 0, 0});
	is_silent("jit", "when the JVM's age is not known");
	compiling(60, (struct vitals_cpu){61, 39, 0, 0});
	is_silent("jit", "when compilers take 39 % of the CPU time");
	compiling(60, (struct vitals_cpu){10, 40, 0, 0});
	is_found("jit", "when the CPU time is half a core");
	compiling(60, (struct vitals_cpu){9, 40, 0, 0});
	is_silent("jit", "when the CPU time is less than half a core");
}

/* --- the model --------------------------------------------------------------------------------------- */

/* `thrown` CPU samples in stack traces of exceptions, three quarters of them for shop.Orders.parse, and `other`. */
static void throwing(uint32_t thrown, uint32_t other)
{
	uint32_t shop, rare, fill;

	begin();
	thread_of(0, "worker");
	shop = stack_of(PROFILE_ROOT_STACK, "shop.Orders", "parse");
	rare = stack_of(PROFILE_ROOT_STACK, "shop.Rare", "parse");
	fill = stack_of(stack_of(shop, "java.lang.Exception", "<init>"), "java.lang.Throwable",
		"fillInStackTrace");
	profile_add(profile, EVENT_CPU, 1, fill, 0, thrown - thrown / 4,
		(thrown - thrown / 4) * 10 * MS);
	fill = stack_of(rare, "java.lang.Throwable", "fillInStackTrace");
	profile_add(profile, EVENT_CPU, 1, fill, 0, thrown / 4, thrown / 4 * 10 * MS);
	profile_add(profile, EVENT_CPU, 1, shop, 0, other, other * 10 * MS);
	profile_advance(profile, SECONDS);
	second();
}

static void test_exceptions(void)
{
	throwing(40, 360);
	is_found("exceptions", "when stack traces take 10 % of the CPU time");
	is_str(found("exceptions")->what,
		"10 % of the CPU time is spent filling in stack traces of exceptions, most of it "
		"for Orders.parse",
		"the finding of exceptions names the share and the method that throws most");
	throwing(40, 370);
	is_silent("exceptions", "when stack traces take less than 10 % of the CPU time");
	throwing(28, 0);
	is_silent("exceptions", "with 28 samples of stack traces");
	throwing(32, 0);
	is_found("exceptions", "with 32 samples of stack traces");
	v.events[EVENT_CPU].state = VITALS_OFF;
	second();
	is_silent("exceptions", "when cpu is not sampled");
}

static void waits_for(uint32_t thread, uint32_t owner, double since_s, uint64_t until_ns)
{
	profile_wait_set(
		profile, &(struct profile_wait){.thread = thread,
				 .owner = owner,
				 .method = profile_method(profile, "shop.Account", "", "", ""),
				 .lock = owner + 1000,
				 .since_ns = (uint64_t)(since_s * 1e9),
				 .until_ns = until_ns});
}

/* A cycle of waits by the n threads with the ids from `first` on. */
static void circle(uint32_t first, uint32_t n, double since_s)
{
	static const char *const names[] = {"a", "b", "c", "d", "e"};

	for (uint32_t i = 0; i < n; i++)
		thread_of(first + i, names[i]);
	for (uint32_t i = 0; i < n; i++)
		waits_for(first + i, first + (i + 1) % n, since_s, PROFILE_STILL);
	profile_add_sample(profile, EVENT_WALL, 1,
		&(struct profile_sample){stack_of(PROFILE_ROOT_STACK, "shop.Account", "pay"), first,
			THREAD_MONITOR, 1, MS});
}

static void begin_model(void)
{
	begin();
	profile_advance(profile, SECONDS);
	second();
}

static void test_deadlock(void)
{
	begin_model();
	circle(0, 2, SECONDS - 2.5);
	is_found("deadlock", "when two threads have waited for each other for 2.5 s");
	is_int(evaluate(), 1, "a deadlock of two threads is one finding");
	begin_model();
	circle(0, 2, SECONDS - 1.5);
	is_silent("deadlock", "when two threads have waited for each other for 1.5 s");
	begin_model();
	circle(0, 5, 1);
	is_found("deadlock", "when five threads wait in a cycle");
	is_str(found("deadlock")->what,
		"a, b, c and 2 more wait for each other: deadlocked for 11 s",
		"the finding of deadlock names three threads, counts the others, and gives the "
		"duration");
	waits_for(4, 0, 1, 11 * NS_PER_S + 500 * MS);
	is_silent("deadlock", "when the wait of one thread has ended");
	begin_model();
	circle(0, 3, 1);
	waits_for(2, PROFILE_NONE, 2, PROFILE_STILL);
	is_silent("deadlock", "when the owner of a lock is not known");
	begin_model();
	circle(1, 2, 1);
	thread_of(0, "behind");
	waits_for(0, 1, 1, PROFILE_STILL);
	is_int(evaluate(), 1, "a thread that waits for a deadlocked one adds no finding");
	ok(found("deadlock") && !strstr(found("deadlock")->what, "behind"),
		"the finding of deadlock does not name a thread outside the cycle");
	begin_model();
	circle(0, 2, 1);
	for (uint32_t second = 1; second < SECONDS; second++)
		profile_add(profile, EVENT_WALL, second,
			stack_of(stack_of(PROFILE_ROOT_STACK, "shop.Payer", "run"),
				"java.util.concurrent.locks.ReentrantLock", "tryLock"),
			1, 20, 1000 * MS);
	is_silent("deadlock", "when one thread waits with a timeout");
	begin_model();
	thread_of(0, "a"), thread_of(1, "b");
	waits_for(0, 1, 1, PROFILE_STILL), waits_for(1, 0, 1, PROFILE_STILL);
	is_silent(
		"deadlock", "while samples of wall, which would show timeouts, are still missing");
	v.events[EVENT_WALL].state = VITALS_OFF;
	second();
	is_found("deadlock", "without samples of wall when wall is not sampled");
}

/* --- the list ---------------------------------------------------------------------------------------- */

static void test_order(void)
{
	const struct finding *f;
	bool ordered = true;

	compiling(60, (struct vitals_cpu){20, 70, 10, 0});
	v.gc_pct_x10 = 300;
	v.safepoint_pct_x10 = 950;
	profile_advance(profile, SECONDS);
	circle(0, 2, 1);
	second();
	is_int(evaluate(), 4, "four rules report at once");
	is_str(findings_get(findings, 0)->rule->name, "deadlock", "a deadlock is first");
	is_str(findings_get(findings, 1)->rule->name, "stops",
		"the finding with the highest cost is second");
	is_str(findings_get(findings, 2)->rule->name, "gc", "a finding with a lower cost is third");
	is_str(findings_get(findings, 3)->rule->name, "jit",
		"a finding that is only worth knowing is last");

	for (uint32_t i = 1; i < FINDINGS_MAX + 3; i++)
		circle(2 * i, 2, 1);
	is_int(evaluate(), FINDINGS_MAX, "at most FINDINGS_MAX findings are reported");
	for (unsigned i = 0; i < FINDINGS_MAX; i++) {
		f = findings_get(findings, i);
		ordered = ordered && !strcmp(f->rule->name, "deadlock") && f->subject == 2 * i;
	}
	ok(ordered, "these are the deadlocks, ordered by thread id");
}

static void test_since(void)
{
	begin_model();
	circle(0, 2, 1);
	is_int(found("deadlock")->since_s, 0, "a new finding is 0 s old");
	for (int i = 0; i < 5; i++)
		second();
	is_int(found("deadlock")->since_s, 5, "5 s later the finding is 5 s old");
	circle(2, 2, 1);
	second();
	evaluate();
	is_int(findings_get(findings, 0)->since_s, 6,
		"a finding keeps its age when the same rule finds another");
	is_int(findings_get(findings, 1)->since_s, 0,
		"another finding of the same rule is 0 s old");
	for (int i = 0; i < 10; i++)
		second();
	is_int(found("deadlock")->since_s, 16,
		"a finding keeps its age when there was no evaluation for 10 s");
	for (int i = 0; i < 11; i++)
		second();
	is_int(found("deadlock")->since_s, 0,
		"a finding is new when there was no evaluation for 11 s");
	throttled(500, 10, 50, 10);
	ok(found("throttled"), "throttled is reported");
	v.time_ns -= 20 * NS_PER_S;
	findings_vitals(findings, &v);
	is_silent("throttled", "when time has gone back, which discards the vitals");
}

int main(void)
{
	test_throttled();
	test_swap();
	test_stops();
	test_safepoint();
	test_cores();
	test_classes();
	test_heap();
	test_gc();
	test_jit();
	test_exceptions();
	test_deadlock();
	test_order();
	test_since();
	begin();
	is_int(evaluate(), 0, "nothing is reported when no vitals are known");
	findings_free(findings);
	profile_free(profile);
	return tap_done();
}
