/* SPDX-License-Identifier: Apache-2.0 */
/* The rules for threads, descriptors, large arrays, carriers and finalizers, on both sides of each threshold. */
#include "tests/findings/spend.h"

/* --- counters ---------------------------------------------------------------------------------------- */

static void starting(int64_t rate, int count)
{
	begin();
	v.threads_started = 40;
	for (int i = 0; i <= count; i++, v.threads_started += rate)
		second();
}

static void test_threads(void)
{
	starting(99, 10);
	is_silent("threads", "at 99 starts per second");
	starting(100, 10);
	is_found("threads", "at 100 starts per second");
	starting(1000, 6);
	is_silent("threads", "with 6 s of vitals");
	begin();
	seconds(10);
	is_silent("threads", "when starts are not counted");
}

/* Open descriptors and their limit: `open` at first, `rate` more per second until second `rises` of 10. */
static void opening(int64_t open, int64_t limit, int64_t rate, int rises)
{
	begin();
	v.host.fds = open;
	v.host.fds_limit = limit;
	for (int i = 0; i <= 10; i++, v.host.fds += i <= rises ? rate : 0)
		second();
}

static void test_descriptors(void)
{
	opening(100, 1024, 2, 10);
	is_found("descriptors", "when the limit will be reached in 452 s");
	opening(100, 2048, 2, 10);
	is_silent("descriptors", "when the limit will be reached in 964 s");
	opening(100, 1024, 20, 4);
	is_silent("descriptors", "when the rise has ended");
	opening(922, 1024, 0, 0);
	is_found("descriptors", "when 90 % of the limit are open");
	opening(921, 1024, 0, 0);
	is_silent("descriptors", "when less than 90 % of the limit are open");
	opening(-1, 1024, 0, 0);
	is_silent("descriptors", "when the open ones cannot be counted");
	opening(5000, -1, 50, 10);
	is_silent("descriptors", "without a limit");
}

static void collecting(int64_t all, int64_t large)
{
	begin();
	v.gc_count = 100;
	v.gc_humongous = large < 0 ? -1 : 3;
	v.gc_pct_x10 = 200;
	v.gc_time_ms = 5000;
	second();
	for (int i = 0; i < 10; i++)
		second();
	v.gc_count += all;
	v.gc_humongous += large < 0 ? 0 : large;
	second();
}

static void test_humongous(void)
{
	collecting(10, 5);
	is_found("humongous", "when half of the collections have this cause");
	is_silent("gc", "when humongous is reported, which is the cause");
	collecting(11, 5);
	is_silent("humongous", "when less than half of the collections have this cause");
	is_found("gc", "when less than half of the collections are humongous");
	collecting(4, 4);
	is_silent("humongous", "when there were only four collections");
	collecting(10, -1);
	is_silent("humongous", "with another collector than G1");
}

/*
 * In 10 s, resident memory grows by anon_mb, evenly or up to second `rises` only; the heap has used_mb of committed_mb in use; `samples`
 * samples allocate direct buffers.
 */
static void growing(
	int64_t anon_mb, int rises, int64_t used_mb, int64_t committed_mb, uint32_t samples)
{
	uint32_t stack;

	begin();
	v.host.anon_bytes = (int64_t)300 << 20;
	v.heap_used = used_mb << 20;
	v.heap_committed = committed_mb << 20;
	for (int i = 0; i <= 10; i++) {
		second();
		v.host.anon_bytes += i < rises ? ((anon_mb << 20) + rises - 1) / rises : 0;
	}
	thread_of(0, "decoder");
	stack = stack_of(stack_of(PROFILE_ROOT_STACK, "shop.Frames", "decode"),
		"java.nio.DirectByteBuffer", "<init>");
	profile_add(profile, EVENT_CPU, 1, stack, 0, samples, samples * 10 * MS);
	profile_advance(profile, SECONDS);
}

static void test_offheap(void)
{
	growing(64, 10, 100, 100, 3);
	is_found("offheap", "when 64 MB are added outside a heap that cannot grow");
	is_str(found("offheap")->what,
		"memory outside the Java heap grows by at least 6 MB per second: direct buffers, "
		"most of them allocated by Frames.decode",
		"the finding of offheap names the rate and the method");
	growing(63, 10, 100, 100, 3);
	is_silent("offheap", "when 63 MB are added");
	growing(163, 10, 0, 100, 3);
	is_silent("offheap", "when the heap may have 100 of 163 MB");
	growing(164, 10, 0, 100, 3);
	is_found("offheap", "when the heap may have 100 of 164 MB");
	growing(640, 6, 100, 100, 3);
	is_silent("offheap", "when the rise has ended");
	growing(640, 10, 100, 100, 2);
	is_silent("offheap", "when only two samples allocate direct buffers");
	growing(640, 10, -1, 100, 3);
	is_silent("offheap", "when the use of the heap is not known");
}

/* --- the kernel's count of waits for cores ------------------------------------------------------------ */

static const char *const busy[] = {"shop.Loop", "round", NULL};

static int64_t cpus_free_ms = -1; /* each second */

static void queueing(int64_t cpu_ms, int64_t queued_ms)
{
	begin();
	v.cpu_user_ms = v.cpu_system_ms = v.host.queued_ms = 0;
	for (int i = 0; i <= 10; i++) {
		v.host.cpus_free_ms = cpus_free_ms < 0 ? -1 : cpus_free_ms * i;
		second();
		v.cpu_user_ms += cpu_ms;
		v.host.queued_ms += queued_ms;
	}
	named(0, 4, "w-", THREAD_JAVA);
}

static const char *const pinned[] = {"java.lang.VirtualThread", "runContinuation", "shop.Client",
	"call", "java.lang.Thread", "sleep", NULL};

/* Four virtual threads wait for a carrier while one runs; CPUs are idle for free_ms per second (-1: not known). */
static void carrierless(int64_t free_ms)
{
	cpus_free_ms = free_ms;
	queueing(2000, 100);
	named(0, 6, "request-", THREAD_VIRTUAL);
	spend(0, 4, busy, THREAD_CARRIER, 1);
	spend(5, 1, busy, THREAD_ON_CPU, 1);
}

static void test_cores(void)
{
	queueing(1000, 1000);
	spend(0, 1, busy, THREAD_ON_CPU, 1);
	is_found("cores", "when one thread waits by the kernel's count, though not in samples");
	is_str(found("cores")->what,
		"CPU saturated: 1.0 threads running, 1.0 waiting for a core (runnable threads wait "
		"50 % of the time)",
		"the finding of cores has the kernel's figures");
	queueing(1000, 900);
	spend(0, 4, busy, THREAD_RUNNABLE, 1);
	is_silent("cores",
		"when four threads wait in samples, but less than one by the kernel's count");
	carrierless(-1);
	is_silent("cores",
		"when virtual threads wait for a carrier and the idle time of CPUs is not known");
	carrierless(250);
	is_silent(
		"cores", "when virtual threads wait for a carrier and a quarter of a CPU is idle");
	carrierless(249);
	is_found("cores",
		"when virtual threads wait for a carrier and less than a quarter of a CPU is idle");
	is_str(found("cores")->what,
		"CPU saturated: 2.0 threads running, 0.1 waiting for a core, 4.0 virtual threads "
		"for a carrier (runnable threads wait 67 % of the time)",
		"the finding of cores counts virtual threads apart from the kernel's threads");
	spend(4, 1, pinned, THREAD_SLEEPING, 0.33);
	is_found("cores", "when carriers are pinned for less than a quarter of their time");
	spend(4, 1, pinned, THREAD_SLEEPING, 0.01);
	is_silent("cores", "when carriers are pinned for more than a quarter of their time");
	begin();
	second();
	named(0, 4, "w-", THREAD_VIRTUAL);
	spend(0, 4, busy, THREAD_CARRIER, 1);
	is_silent("cores", "in the first second");
	cpus_free_ms = -1;
}

/* A CPU limit that throttles every period: threads wait for a core, but more cores would not help. */
static void limited(int seconds)
{
	begin();
	v.cpu_user_ms = v.cpu_system_ms = v.host.queued_ms = 0;
	v.host.cpu_limit = 150;
	v.host.cpu_period_us = 100000;
	v.host.cpu_periods = v.host.cpu_throttled = v.host.throttled_us = 0;
	for (int i = 0; i <= seconds; i++) {
		second();
		v.cpu_user_ms += 150;
		v.host.queued_ms += 3000;
		v.host.cpu_periods += 10;
		v.host.cpu_throttled += 10;
		v.host.throttled_us += 3000000;
	}
	named(0, 4, "w-", THREAD_JAVA);
	spend(0, 4, busy, THREAD_RUNNABLE, 0.75);
}

static void test_limited(void)
{
	limited(3);
	is_silent("throttled", "with 3 s of vitals");
	is_silent("cores", "with 3 s of vitals, because the CPU limit may be the cause");
	limited(4);
	is_found("throttled", "when every period of 4 s is throttled");
	limited(10);
	is_found("throttled", "when every period of 10 s is throttled");
	is_silent("cores", "when throttled is reported, which is the cause");
	v.host.cpu_limit = 0;
	for (int i = 0; i <= 11; i++, v.cpu_user_ms += 150, v.host.queued_ms += 3000)
		second();
	is_found("cores", "without a CPU limit");
}

/* --- carriers ------------------------------------------------------------------------------------------ */

static const char *const idle[] = {"java.util.concurrent.ForkJoinPool", "awaitWork", NULL};
static const char *const frozen[] = {"shop.Client", "call", "java.lang.Thread", "sleep", NULL};

/* Of each second, a virtual thread is parked in `frames` for `keeps`, and another waits for a carrier for `ready`. */
static void carrying(double keeps, double ready, const char *const *frames)
{
	begin();
	seconds(10);
	named(0, 8, "request-", THREAD_VIRTUAL);
	spend(0, 1, frames, THREAD_PARKED, keeps);
	spend(1, 1, frozen, THREAD_CARRIER, ready);
}

static void test_pinned(void)
{
	carrying(0.5, 1, pinned);
	is_found("pinned", "when half a carrier is pinned and one virtual thread waits for it");
	is_str(found("pinned")->what,
		"virtual threads pin 0.5 carriers while they wait in Client.call; 1.0 virtual "
		"threads wait for a carrier",
		"the finding of pinned names the method and both numbers");
	is_silent("cores", "when pinned is reported, which is the cause");
	carrying(0.49, 1, pinned);
	is_silent("pinned", "when less than half a carrier is pinned");
	carrying(1, 0.99, pinned);
	is_silent("pinned", "when less than one virtual thread waits for a carrier");
	carrying(1, 1, frozen);
	is_silent("pinned", "when virtual threads wait without a carrier");
	carrying(0.5, 1, pinned);
	spend(2, 1, pinned, THREAD_ON_CPU, 0.6);
	is_silent("pinned", "when carriers run for longer than they are pinned");
}

/* --- pauses on a saturated machine, and what causes collections ----------------------------------------- */

/* 10 s with 19 % of collection pauses; cpu_ms and queued_ms: CPU time and waits for cores of all threads per second. */
static void pausing(int64_t cpu_ms, int64_t queued_ms)
{
	begin();
	v.gc_pct_x10 = 190;
	v.gc_time_ms = 5000;
	v.cpu_user_ms = v.cpu_system_ms = v.host.queued_ms = v.gc_count = 0;
	v.gc_explicit = v.gc_metadata = 0;
	v.safepoint_count = v.safepoint_time_ms = v.safepoint_sync_ms = 0;
	for (int i = 0; i <= 10; i++) {
		second();
		v.cpu_user_ms += cpu_ms;
		v.host.queued_ms += queued_ms;
		v.safepoint_count += 5;
		v.safepoint_sync_ms += 95;
		v.safepoint_time_ms += 300;
		v.gc_count++;
	}
}

static void test_delayed(void)
{
	pausing(100, 80);
	is_found("gc", "when pauses take 19 % of the time, and 10.6 % without waits for cores");
	is_found("safepoint",
		"when delays take 9.5 % of the time, and 5.3 % without waits for cores");
	pausing(100, 100);
	is_silent("gc", "when pauses take 9.5 % of the time without waits for cores");
	is_silent("safepoint", "when delays take 4.8 % of the time without waits for cores");
	named(0, 1, "GC Thread#", THREAD_GC);
	spend(0, 1, busy, THREAD_ON_CPU, 0.6);
	spend(0, 1, busy, THREAD_RUNNABLE, 0.4);
	is_found("gc", "when samples show that its own threads rarely wait for cores");
}

/* pausing() with half of the pauses lost to waits for cores, and 10 more collections, with this number per cause. */
static void caused(int64_t explicit_gc, int64_t metadata)
{
	pausing(100, 100);
	v.gc_count += 10;
	v.gc_explicit += explicit_gc;
	v.gc_metadata += metadata;
	second();
}

static void test_causes(void)
{
	caused(11, 0);
	is_found("gc", "when most collections are requested by the program");
	is_str(found("gc")->what,
		"garbage collection pauses the program for 19 % of the time; 11 of 21 collections "
		"are requested by System.gc()",
		"the finding of gc counts the collections that System.gc() requests");
	caused(0, 11);
	is_silent("gc", "when growing metaspace is the cause, on a saturated machine");
	snprintf(v.vm_args, sizeof(v.vm_args), "-XX:MaxMetaspaceSize=64m");
	second();
	is_str(found("gc")->what,
		"garbage collection pauses the program for 19 % of the time; 11 of 20 collections "
		"are caused by metaspace at its limit",
		"the finding of gc names metaspace at its limit");
	caused(10, 0);
	is_silent("gc", "when the program requests less than half of the collections");
}

/* --- finalizers ---------------------------------------------------------------------------------------- */

static const char *const finalizes[] = {
	"java.lang.ref.Finalizer", "runFinalizer", "shop.Handle", "finalize", NULL};

static const char *const cleans[] = {"jdk.internal.ref.CleanerImpl", "run",
	"jdk.internal.ref.PhantomCleanable", "clean", "shop.Handle", "free", NULL};
static const char *const closes[] = {"shop.Handle", "close", "jdk.internal.ref.PhantomCleanable",
	"clean", "shop.Handle", "free", NULL};
static const char *const uncleaned[] = {"jdk.internal.ref.CleanerImpl", "run",
	"java.lang.ref.ReferenceQueue", "remove", "java.lang.Object", "wait", NULL};

static void cleaning(const char *const *frames, double share)
{
	begin();
	seconds(10);
	thread_of(0, "Cleaner-0");
	spend(0, 1, frames, THREAD_SLEEPING, share);
	spend(0, 1, uncleaned, THREAD_WAITING, 1 - share);
}

static void test_finalizers(void)
{
	begin();
	seconds(10);
	thread_of(0, "Finalizer");
	spend(0, 1, finalizes, THREAD_SLEEPING, 0.9);
	spend(0, 1, idle, THREAD_WAITING, 0.1);
	is_found("finalizers", "when the finalizer thread is busy for 90 % of the time");
	begin();
	seconds(10);
	thread_of(0, "Finalizer");
	spend(0, 1, finalizes, THREAD_SLEEPING, 0.89);
	spend(0, 1, idle, THREAD_WAITING, 0.11);
	is_silent("finalizers", "when the finalizer thread is busy for 89 % of the time");
	cleaning(cleans, 0.9);
	is_found("finalizers", "when a cleaner's thread is busy for 90 % of the time");
	is_str(found("finalizers")->what,
		"the cleaner thread Cleaner-0 is busy for 90 % of the time, mostly in Handle.free: "
		"the "
		"resources of unreachable objects stay in use",
		"the finding names the cleaning action");
	cleaning(cleans, 0.89);
	is_silent("finalizers", "when a cleaner's thread is busy for 89 % of the time");
	cleaning(closes, 1);
	is_silent("finalizers", "when another thread runs cleaning actions");
}

/* --- what could not be judged -------------------------------------------------------------------------- */

static const struct finding_rule *rule(const char *name)
{
	for (unsigned i = 0; finding_rules[i]; i++)
		if (!strcmp(finding_rules[i]->name, name))
			return finding_rules[i];
	return NULL;
}

static void test_blind(void)
{
	char why[FINDING_WHY] = "";
	int event;

	begin();
	seconds(10);
	v.events[EVENT_LOCK].state = VITALS_OFF;
	second();
	evaluate();
	ok(findings_not_judged(findings, rule("locks"), &event, why),
		"locks is not judged when lock is not sampled");
	is_str(why, "lock is not sampled", "the reason why locks is not judged names the event");
	is_int(event, EVENT_LOCK, "the event that is missing is lock");
	ok(findings_not_judged(findings, rule("classes"), &event, why),
		"classes is not judged after 10 s");
	is_str(why, "needs 30 s of data",
		"the reason why classes is not judged names the required time");
	v.uptime_s = 59;
	second();
	evaluate();
	ok(findings_not_judged(findings, rule("classes"), &event, why),
		"classes is not judged 59 s after the start");
	is_str(why, "the JVM has run for less than 60 s",
		"the reason why classes is not judged names the JVM's age");
	v.uptime_s = 3600;
	seconds(31);
	evaluate();
	ok(!findings_not_judged(findings, rule("classes"), &event, why),
		"classes is judged with 31 s of vitals");
}

/* --- recordings ---------------------------------------------------------------------------------------- */

/* Threads are started in the second of three minutes only. */
static void test_history(void)
{
	struct vitals file;

	begin();
	v.threads_started = 0;
	for (uint32_t at = 0; at < 180; at++) {
		profile_advance(profile, at);
		v.time_ns += NS_PER_S;
		v.threads_started += at >= 60 && at < 120 ? 200 : 0;
		profile_vitals_set(profile, &v);
	}
	file = v;
	is_int(findings_evaluate_minutes(findings, profile, &file, 0, UINT32_MAX), 1,
		"a recording of three minutes has one finding");
	is_str(findings_get(findings, 0)->rule->name, "threads",
		"the finding is of the rule threads");
	is_int(findings_get(findings, 0)->second, 60, "the finding is of the second minute");
}

int main(void)
{
	test_threads();
	test_descriptors();
	test_humongous();
	test_offheap();
	test_cores();
	test_limited();
	test_pinned();
	test_delayed();
	test_causes();
	test_finalizers();
	test_blind();
	test_history();
	findings_free(findings);
	profile_free(profile);
	return tap_done();
}
