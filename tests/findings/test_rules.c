/* SPDX-License-Identifier: Apache-2.0 */
/* The rules on both sides of each threshold, and order and age of findings, on synthetic vitals and models. */
#include "tests/findings/judge.h"

/* --- the host ---------------------------------------------------------------------------------------- */

/* So many periods a second, in so many of which it was stopped over 10 s. */
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
	is_silent("throttled", "at 4 %");
	throttled(500, 100, 49, 10);
	is_silent("throttled", "at 4.9 %");
	throttled(500, 10, 5, 10);
	is_found("throttled", "at 5 %");
	is_str(found("throttled")->what,
		"the cgroup's limit of 0.5 cores throttles the program in 5 % of its periods of "
		"100 ms",
		"what it says");
	throttled(500, 10, 50, 3);
	is_silent("throttled", "before 4 s are known");
	throttled(500, 10, 50, 4);
	is_found("throttled", "after that");
	throttled(500, 1, 4, 10);
	is_silent("throttled", "where 4 of 10 periods it ran in are 4 of 100 there were");
	throttled(-1, 10, 50, 10);
	is_silent("throttled", "where the limit is not known");
	throttled(0, 10, 50, 10);
	is_silent("throttled", "where there is none");
	throttled(500, 10, 50, 10);
	v.host.cpu_limit = 800;
	second();
	is_silent("throttled", "where the limit was changed meanwhile");
}

/* Faults and pages read back, a second, in the first and in the second half of 10 s. */
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
	is_found("swap", "at 50 faults a second");
	swapping(51, 49, 60, 49);
	is_silent("swap", "below");
	swapping(50, 500, 600, 500);
	is_silent("swap", "with 50 MB that were moved out");
	swapping(500, 500, 0, 500);
	is_silent("swap", "where the faults are for files");
	swapping(500, 500, 600, 10);
	is_silent("swap", "after a burst");
	swapping(500, 10, 600, 500);
	is_silent("swap", "when it has begun");
	swapping(500, 500, 600, 500);
	v.host.swapped_in = -1;
	second();
	is_silent("swap", "where it is not known what was read back");
}

/* --- the JVM ----------------------------------------------------------------------------------------- */

static int sync_ms = 40, stops_each = 1; /* of each second, in how many stops */

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

/* One thread that runs for so much of the time, and others that wait for a core. */
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
	is_found("cores", "one thread waits, and half a CPU is not free");
	freeing(500);
	is_silent("cores", "where it is");
	freeing(-1);
	is_found("cores", "where that is not known");
}

/* It is found where a thread waits for a core for a little less than this, and not where it does for a little more. */
static void beyond_queues(const char *rule, uint32_t percent)
{
	stopping(500, 0, 10);
	running(100, percent - 1);
	is_found(rule, "5 % beyond what a thread waits for a core");
	stopping(500, 0, 10);
	running(100, percent + 1);
	is_silent(rule, "less beyond that");
}

static void test_stops(void)
{
	sync_ms = 20;
	stopping(49, 0, 10);
	is_silent("stops", "at 4.9 %");
	stopping(50, 0, 10);
	is_found("stops", "at 5 %");
	sync_ms = 40;
	stopping(90, 0, 10);
	is_found("stops", "at 9 %");
	is_str(found("stops")->what,
		"safepoints other than collections stop the program for 9 % of the time; 4 % until "
		"all threads had stopped",
		"what it says");
	v.safepoint_sync_ms = -1;
	second();
	is_str(found("stops")->what,
		"safepoints other than collections stop the program for 9 % of the time",
		"and what it does not where that is not known");
	beyond_queues("stops", 45);
	stopping(900, 790, 10);
	is_silent("stops", "where collections stop it for longer");
	stopping(900, -1, 10);
	is_silent("stops", "where those are not known");
	stopping(-1, 0, 10);
	is_silent("stops", "where safepoints are not known");
	stopping(90, 0, 5);
	is_silent("stops", "before 8 s are known");
}

static void test_safepoint(void)
{
	sync_ms = 49;
	stopping(60, 0, 10);
	is_silent("safepoint", "at 4.9 %");
	sync_ms = 50;
	stopping(60, 0, 10);
	running(100, 0);
	is_found("safepoint", "at 5 %");
	is_str(found("safepoint")->what,
		"threads are slow to reach safepoints: all others wait for them 5 % of the time, "
		"50.0 ms per safepoint",
		"what it says");
	ok(strstr(found("safepoint")->proof, "only counter ran that long"), "and who it is");
	is_silent("stops", "when threads are late");
	sync_ms = 400;
	beyond_queues("safepoint", 35);
	sync_ms = 50;
	stopping(60, 0, 10);
	running(4, 0);
	ok(!strstr(found("safepoint")->proof, "counter"), "nor who it is not: it runs for less");
	stopping(60, 0, 5);
	is_silent("safepoint", "before 8 s are known");
	stops_each = 0;
	stopping(60, 0, 10);
	v.safepoint_count = 4;
	v.safepoint_sync_ms += 100;
	second();
	is_silent("safepoint", "of four stops");
	v.safepoint_count = 5;
	v.safepoint_sync_ms += 100;
	second();
	is_found("safepoint", "of five");
	stops_each = 1;
	sync_ms = 40;
}

/* Loaded and unloaded a second, for so long; the last seconds differently. */
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

static void test_classes(void)
{
	loading(50, 0, 31, 0, 0);
	is_found("classes", "50 a second for 30 s");
	v.uptime_s = 60;
	findings_vitals(findings, &v);
	is_found("classes", "a minute after the start");
	v.uptime_s = 59;
	findings_vitals(findings, &v);
	is_silent("classes", "in the first minute");
	loading(49, 0, 31, 0, 0);
	is_silent("classes", "at 49 a second");
	loading(200, 0, 29, 0, 0);
	is_silent("classes", "after 29 s");
	loading(200, 0, 31, 11, 10);
	is_silent("classes", "when it ebbs away");
	loading(200, 0, 11, 0, 0);
	is_silent("classes", "after 10 s, if they stay");
	loading(200, 100, 11, 0, 0);
	v.uptime_s = 5;
	findings_vitals(findings, &v);
	is_found("classes", "after 10 s, if they are thrown away again");
	loading(200, 99, 11, 0, 0);
	is_silent("classes", "if fewer than half are");
}

static int looks_each = 8; /* at the heap, a second */

static void heap(int64_t used, int64_t whole, int seconds, int dip)
{
	begin();
	v.heap_max = 100 << 20;
	v.gc_whole = 7;
	for (int i = 0; i < seconds; i++) {
		v.heap_low = (i == dip ? 60 : used) << 20;
		v.heap_looks = 70 + looks_each * i;
		v.gc_whole = 7 + whole * i / (seconds - 1);
		second();
	}
}

static void test_heap(void)
{
	looks_each = 6;
	heap(85, 3, 3, -1);
	is_found("heap", "full at 12 looks, with 3 collections");
	v.gc_pct_x10 = 300;
	second();
	is_silent("gc", "beside it, whose cause it is");
	looks_each = 1;
	heap(99, 30, 12, -1);
	is_silent("heap", "after 11 looks");
	looks_each = 8;
	heap(84, 30, 30, -1);
	is_silent("heap", "at 84 %");
	heap(99, 2, 8, -1);
	is_silent("heap", "after 2 collections of all of it");
	heap(99, 0, 60, -1);
	is_silent("heap", "while only what is young is collected");
	heap(99, 30, 14, 12);
	is_silent("heap", "when less was in use a moment ago");
	heap(99, 30, 30, -1);
	v.heap_max = -1;
	second();
	is_silent("heap", "where its size is not known");
	heap(99, 30, 30, -1);
	v.heap_low = -1;
	second();
	is_silent("heap", "where what is in use is not known");
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
	is_silent("gc", "at 9.9 % and a sixth of the CPU time");
	collecting(100, (struct vitals_cpu){100, 0, 20, 0}, 10);
	is_found("gc", "at 10 %");
	is_str(found("gc")->what, "garbage collection pauses the program for 10 % of the time",
		"what it says");
	collecting(0, (struct vitals_cpu){75, 0, 25, 0}, 10);
	is_found("gc", "at a quarter of the CPU time");
	collecting(0, (struct vitals_cpu){76, 0, 24, 0}, 10);
	is_silent("gc", "at 24 %");
	collecting(0, (struct vitals_cpu){20, 0, 30, 0}, 10);
	is_found("gc", "of half a core");
	collecting(0, (struct vitals_cpu){19, 0, 30, 0}, 10);
	is_silent("gc", "of less");
	collecting(0, (struct vitals_cpu){100, 0, 0, 0}, 10);
	v.cpu = (struct vitals_cpu){0, 0, 200, 0};
	second();
	is_silent("gc", "when one second had a collection in it");
	collecting(500, (struct vitals_cpu){-1, -1, -1, -1}, 3);
	is_silent("gc", "before 8 s are known");
	collecting(-1, (struct vitals_cpu){-1, -1, -1, -1}, 10);
	is_silent("gc", "where nothing is known");
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
	is_found("jit", "40 % of the CPU time, after a minute");
	compiling(59, (struct vitals_cpu){60, 40, 0, 0});
	is_silent("jit", "before");
	compiling(-1, (struct vitals_cpu){60, 40, 0, 0});
	is_silent("jit", "where its age is not known");
	compiling(60, (struct vitals_cpu){61, 39, 0, 0});
	is_silent("jit", "at 39 %");
	compiling(60, (struct vitals_cpu){10, 40, 0, 0});
	is_found("jit", "of half a core");
	compiling(60, (struct vitals_cpu){9, 40, 0, 0});
	is_silent("jit", "of less than half a core");
}

/* --- the model --------------------------------------------------------------------------------------- */

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
	is_found("exceptions", "10 % of the CPU time");
	is_str(found("exceptions")->what,
		"10 % of the CPU time is spent filling in stack traces of exceptions, most of it "
		"for Orders.parse",
		"what it says");
	throwing(40, 370);
	is_silent("exceptions", "below");
	throwing(28, 0);
	is_silent("exceptions", "of 28 samples");
	throwing(32, 0);
	is_found("exceptions", "of 32");
	v.events[EVENT_CPU].state = VITALS_OFF;
	second();
	is_silent("exceptions", "where CPU is not sampled");
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

/* A circle of n threads, the first of them of this number. */
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
	is_found("deadlock", "of two, after 2.5 s");
	is_int(looks(), 1, "once, not once per thread");
	begin_model();
	circle(0, 2, SECONDS - 1.5);
	is_silent("deadlock", "before 2 s");
	begin_model();
	circle(0, 5, 1);
	is_found("deadlock", "of five");
	is_str(found("deadlock")->what,
		"a, b, c and 2 more wait for each other: deadlocked for 11 s", "what it says");
	waits_for(4, 0, 1, 11 * NS_PER_S + 500 * MS);
	is_silent("deadlock", "when one of them goes on");
	begin_model();
	circle(0, 3, 1);
	waits_for(2, PROFILE_NONE, 2, PROFILE_STILL);
	is_silent("deadlock", "where an owner is not known");
	begin_model();
	circle(1, 2, 1);
	thread_of(0, "behind");
	waits_for(0, 1, 1, PROFILE_STILL);
	is_int(looks(), 1, "who waits behind a circle is not part of it");
	ok(found("deadlock") && !strstr(found("deadlock")->what, "behind"), "nor named");
	begin_model();
	circle(0, 2, 1);
	for (uint32_t second = 1; second < SECONDS; second++)
		profile_add(profile, EVENT_WALL, second,
			stack_of(stack_of(PROFILE_ROOT_STACK, "shop.Payer", "run"),
				"java.util.concurrent.locks.ReentrantLock", "tryLock"),
			1, 20, 1000 * MS);
	is_silent("deadlock", "when one of them waits for a limited time");
	begin_model();
	thread_of(0, "a"), thread_of(1, "b");
	waits_for(0, 1, 1, PROFILE_STILL), waits_for(1, 0, 1, PROFILE_STILL);
	is_silent("deadlock", "where samples would tell of limited waits, and there are none yet");
	v.events[EVENT_WALL].state = VITALS_OFF;
	second();
	is_found("deadlock", "where there will be none");
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
	is_int(looks(), 4, "four at once");
	is_str(findings_get(findings, 0)->rule->name, "deadlock", "what stands still is first");
	is_str(findings_get(findings, 1)->rule->name, "stops", "of what costs, what costs most");
	is_str(findings_get(findings, 2)->rule->name, "gc", "then less");
	is_str(findings_get(findings, 3)->rule->name, "jit", "what is worth knowing is last");

	for (uint32_t i = 1; i < FINDINGS_MAX + 3; i++)
		circle(2 * i, 2, 1);
	is_int(looks(), FINDINGS_MAX, "no more than there is space for");
	for (unsigned i = 0; i < FINDINGS_MAX; i++) {
		f = findings_get(findings, i);
		ordered = ordered && !strcmp(f->rule->name, "deadlock") && f->subject == 2 * i;
	}
	ok(ordered, "the worst of them, in a set order");
}

static void test_since(void)
{
	begin_model();
	circle(0, 2, 1);
	is_int(found("deadlock")->since_s, 0, "found for the first time");
	for (int i = 0; i < 5; i++)
		second();
	is_int(found("deadlock")->since_s, 5, "and 5 s later");
	circle(2, 2, 1);
	second();
	looks();
	is_int(findings_get(findings, 0)->since_s, 6, "the old one is old");
	is_int(findings_get(findings, 1)->since_s, 0, "a new one of the same rule is new");
	for (int i = 0; i < 10; i++)
		second();
	is_int(found("deadlock")->since_s, 16, "10 s without a look are no end");
	for (int i = 0; i < 11; i++)
		second();
	is_int(found("deadlock")->since_s, 0, "11 s are");
	throttled(500, 10, 50, 10);
	ok(found("throttled"), "throttled is found");
	v.time_ns -= 20 * NS_PER_S;
	findings_vitals(findings, &v);
	is_silent("throttled", "when another time is looked at");
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
	is_int(looks(), 0, "nothing known, nothing found");
	findings_free(findings);
	profile_free(profile);
	return tap_done();
}
