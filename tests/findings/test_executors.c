/* SPDX-License-Identifier: Apache-2.0 */
/* The rules for executors and for single threads that others wait for, on both sides of each threshold. */
#include "tests/findings/spend.h"

/* --- executors ----------------------------------------------------------------------------------------- */

#define JUC "java.util.concurrent."
static const char *const task[] = {JUC "ForkJoinTask", "doExec",
	JUC "CompletableFuture$AsyncSupply", "run", "shop.Prices", "lookUp", "java.lang.Thread",
	"sleep", NULL};
static const char *const loop[] = {JUC "ThreadPoolExecutor", "runWorker", JUC "FutureTask", "run",
	"shop.Mails", "watch", "java.lang.Thread", "sleep", NULL};
static const char *const get[] = {JUC "ThreadPoolExecutor", "runWorker", "shop.Page", "show",
	"shop.Parts", "all", JUC "FutureTask", "get", NULL};
static const char *const idle[] = {"java.util.concurrent.ForkJoinPool", "awaitWork", NULL};
static const char *const join[] = {
	"shop.Handler", "answer", "java.util.concurrent.CompletableFuture", "waitingGet", NULL};

/* Three workers wait in a task, are idle and run for these shares; `waiters` other threads wait for such tasks. */
static void starving(uint32_t waiters, double waits, double idles, double runs)
{
	begin();
	seconds(10);
	named(0, 3, "ForkJoinPool.commonPool-worker-", THREAD_JAVA);
	named(3, waiters, "http-", THREAD_JAVA);
	spend(0, 3, task, THREAD_SLEEPING, waits);
	spend(0, 3, idle, THREAD_PARKED, idles);
	spend(0, 3, task, THREAD_ON_CPU, runs);
	spend(3, waiters, join, THREAD_PARKED, 1);
}

static void test_starved(void)
{
	starving(4, 0.95, 0.05, 0);
	is_found("starved", "when four threads wait for tasks and all three workers are blocked");
	starving(3, 1, 0, 0);
	is_silent("starved",
		"when no more threads wait than there are workers, so each task may have its own");
	starving(8, 0.94, 0.06, 0);
	is_silent("starved", "when the workers are idle for 6 % of the time");
	starving(8, 0.74, 0, 0.26);
	is_silent("starved", "when the tasks compute for a quarter of the time");
	starving(8, 1, 0, 0);
	named(11, 3, "report-", THREAD_JAVA);
	spend(11, 3, task, THREAD_SLEEPING, 0.1);
	spend(11, 3, idle, THREAD_PARKED, 0.9);
	is_found("starved", "when 9 % of such tasks run in another executor");
	spend(11, 1, task, THREAD_ON_CPU, 0.1);
	is_silent("starved", "when more than 10 % of such tasks run in another executor");
	begin();
	seconds(10);
	named(0, 3, "mail-", THREAD_JAVA);
	named(3, 8, "http-", THREAD_JAVA);
	spend(0, 3, loop, THREAD_SLEEPING, 1);
	spend(3, 8, join, THREAD_PARKED, 1);
	is_silent(
		"starved", "when the executor runs another kind of task than the threads wait for");
	begin();
	seconds(10);
	named(0, 4, "http-", THREAD_JAVA);
	spend(0, 4, get, THREAD_PARKED, 1);
	is_found("starved", "when all threads of an executor wait for its own tasks");
	is_str(found("starved")->what,
		"all 4 threads http-* wait for other tasks, and no thread runs these",
		"the finding of starved says that no thread runs these tasks");
	named(4, 1, "mail-", THREAD_JAVA);
	spend(4, 1, loop, THREAD_SLEEPING, 0.1);
	spend(4, 1, idle, THREAD_PARKED, 0.9);
	is_silent("starved", "when a thread runs such a task");
}

static double waiters_work; /* share of the time in which threads do not wait for tasks */

/* One thread of an executor computes and waits for a core for these shares; `waiters` threads wait for its tasks. */
static void computing(uint32_t waiters, double runs, double queued, int64_t free_ms, int64_t cpus)
{
	begin();
	v.machine_cpus = cpus;
	for (int i = 0; i <= 10; i++) {
		v.host.cpus_free_ms = free_ms < 0 ? -1 : free_ms * i;
		second();
	}
	named(0, 1, "report-", THREAD_JAVA);
	named(1, waiters, "http-", THREAD_JAVA);
	spend(0, 1, task, THREAD_ON_CPU, runs);
	spend(0, 1, task, THREAD_RUNNABLE, queued);
	spend(0, 1, idle, THREAD_PARKED, 1 - runs - queued);
	spend(1, waiters, join, THREAD_PARKED, 1 - waiters_work);
	spend(1, waiters, get, THREAD_ON_CPU, waiters_work);
}

static void test_busy(void)
{
	computing(2, 0.95, 0, 250, 1);
	is_found("starved", "when the only thread computes and a quarter of a CPU is idle");
	is_str(found("starved")->what,
		"2.0 threads wait for tasks, while the only thread report-* is busy with tasks, "
		"mostly in Prices.lookUp",
		"the finding of starved says that the only thread is busy");
	computing(2, 0.95, 0, 249, 1);
	is_silent("starved", "when the only thread computes and less than a quarter of a CPU is "
			     "idle, of one CPU");
	computing(2, 0.95, 0, 0, 2);
	is_found("starved", "when the only thread computes and there are two CPUs");
	computing(2, 0.95, 0, -1, -1);
	is_silent("starved", "when neither the CPUs nor their idle time are known");
	computing(2, 0.94, 0, 900, 2);
	is_silent("starved", "when the only thread is idle for 6 % of the time");
	computing(2, 0.11, 0.89, 0, 2);
	is_found("starved", "when the only thread waits for a core for 89 % of the time");
	computing(2, 0.09, 0.91, 0, 2);
	is_silent("starved", "when the only thread waits for a core for 91 % of the time");
	waiters_work = 0.25;
	computing(4, 0.5, 0.5, 0, 2);
	is_found("starved", "when two threads would wait if the only thread got a core at once");
	computing(4, 0.49, 0.51, 0, 2);
	is_silent("starved", "when fewer than two would wait then");
	waiters_work = 0;
	computing(1, 1, 0, 900, 2);
	is_silent("starved", "when one thread waits for tasks");
}

static const char *const piece[] = {JUC "ForkJoinWorkerThread", "run", JUC "ForkJoinTask", "doExec",
	"shop.Prices", "lookUp", "java.lang.Thread", "sleep", NULL};
static const char *const helps[] = {JUC "ThreadPoolExecutor", "runWorker", "shop.Page", "show",
	JUC "ForkJoinTask", "invoke", JUC "ForkJoinTask", "doExec", "shop.Prices", "lookUp",
	"java.lang.Thread", "sleep", NULL};

/* Three workers of a ForkJoinPool wait in a task, or run, for these shares; callers help them. */
static void helping(uint32_t callers, double waits, double runs)
{
	begin();
	seconds(10);
	named(0, 3, "ForkJoinPool.commonPool-worker-", THREAD_JAVA);
	named(3, callers, "http-", THREAD_JAVA);
	spend(0, 3, piece, THREAD_SLEEPING, waits);
	spend(0, 3, piece, THREAD_ON_CPU, runs);
	spend(3, callers, helps, THREAD_SLEEPING, 1);
}

static void test_helped(void)
{
	helping(2, 0.75, 0.25);
	is_found("starved", "when two callers help workers that wait for 75 % of the time");
	is_str(found("starved")->what,
		"all 3 threads ForkJoinPool.commonPool-worker-* are blocked in tasks, mostly in "
		"Prices.lookUp, and 2.0 other threads run or await such tasks",
		"the finding of starved names the workers, the method and the number of callers");
	helping(2, 0.74, 0.26);
	is_silent("starved", "when two callers help workers that wait for 74 % of the time");
	helping(1, 1, 0);
	is_silent("starved", "when one caller helps workers that wait");
}

/* --- scheduled tasks --------------------------------------------------------------------------------------- */

#define SCHEDULED                              \
	JUC "ThreadPoolExecutor", "runWorker", \
		JUC "ScheduledThreadPoolExecutor$ScheduledFutureTask", "run"
static const char *const report[] = {
	SCHEDULED, "shop.Report", "build", "java.lang.Thread", "sleep", NULL};
static const char *const beat[] = {SCHEDULED, "shop.Heart", "beat", NULL};
static const char *const due[] = {JUC "ThreadPoolExecutor", "getTask", NULL};

#define TIMER "java.util.TimerThread", "run", "java.util.TimerThread", "mainLoop"
static const char *const timer_report[] = {
	TIMER, "shop.Report", "build", "java.lang.Thread", "sleep", NULL};
static const char *const timer_beat[] = {TIMER, "shop.Heart", "beat", NULL};
static const char *const timer_due[] = {TIMER, "java.lang.Object", "wait", NULL};

/* One thread is in a slow task for this share of the time, and waits for one that is due for the rest. */
static void scheduling_in(double slow, const char *const *in_task, const char *const *waits,
	const char *const *other, uint32_t samples)
{
	begin();
	seconds(10);
	named(0, 1, "timer-", THREAD_JAVA);
	spend(0, 1, in_task, THREAD_SLEEPING, slow);
	spend(0, 1, waits, THREAD_PARKED, 1 - slow);
	profile_add(profile, EVENT_CPU, 1, stack_within(PROFILE_ROOT_STACK, other), 0, samples,
		samples * MS);
}

/* In a ScheduledThreadPoolExecutor; cpu has this number of samples of `other`. */
static void scheduling(double slow, const char *const *other, uint32_t samples)
{
	scheduling_in(slow, report, due, other, samples);
}

static void test_timer(void)
{
	scheduling(0.95, beat, 3);
	is_found("timer", "when the only thread is idle for 5 % of the time");
	is_str(found("timer")->what,
		"the only thread timer-* is never idle, 95 % of the time in the scheduled task "
		"Report.build: others, such as Heart.beat, start late",
		"the finding of timer names the slow task and another one");
	scheduling(0.94, beat, 3);
	is_silent("timer", "when the only thread is idle for 6 % of the time");
	scheduling(1, beat, 2);
	is_silent("timer", "with two samples of another task");
	scheduling(1, report, 30);
	is_silent("timer", "when there is one task only");
	scheduling_in(0.95, timer_report, timer_due, timer_beat, 3);
	is_found("timer", "when a java.util.Timer is idle for 5 % of the time");
	scheduling_in(0.94, timer_report, timer_due, timer_beat, 3);
	is_silent("timer", "when a java.util.Timer is idle for 6 % of the time");
}

/* --- one thread that waits for a lock ------------------------------------------------------------------ */

/* One thread has waited for a lock of the leader since that second, and `more` others, too. */
static void standing_by(uint64_t since_s, bool at_least, uint32_t more)
{
	uint32_t lock, stack;

	begin();
	seconds(10);
	thread_of(0, "standby");
	thread_of(1, "leader");
	named(2, more, "node-", THREAD_JAVA);
	lock = profile_method(profile, "shop.Leader", "", "", "");
	stack = profile_stack_child(profile, stack_of(PROFILE_ROOT_STACK, "shop.Node", "lead"),
		profile_frame(profile, lock, FRAME_CLASS, 0xffff, 0));
	for (uint32_t i = 0; i < 2 + more; i++)
		for (uint32_t at = 0; i != 1 && at < SECONDS; at++)
			profile_add_sample(profile, EVENT_LOCK, at,
				&(struct profile_sample){
					stack, i, THREAD_STATE_NONE, 20, NS_PER_S});
	for (uint32_t i = 0; i < 2 + more; i++)
		if (i != 1)
			profile_wait_set(profile, &(struct profile_wait){.thread = i,
							  .owner = 1,
							  .method = lock,
							  .lock = 7,
							  .since_ns = since_s * NS_PER_S,
							  .until_ns = PROFILE_STILL,
							  .at_least = at_least});
	profile_advance(profile, SECONDS);
}

/* Two threads wait for a lock for this share of the time, in these frames; `owners` threads hold it in turn. */
static void trying(const char *const *frames, double share, uint32_t owners)
{
	uint32_t lock, stack;

	begin();
	seconds(10);
	named(0, 4, "node-", THREAD_JAVA);
	lock = profile_method(profile, "shop.Leader", "", "", "");
	stack = profile_stack_child(profile, stack_within(PROFILE_ROOT_STACK, frames),
		profile_frame(profile, lock, FRAME_CLASS, 0xffff, 0));
	spend(0, 2, frames, THREAD_PARKED, share);
	spend(0, 2, loop, THREAD_SLEEPING, 1 - share);
	for (uint32_t i = 0; i < 2; i++)
		for (uint32_t at = 0; at < SECONDS; at++) {
			profile_add_sample(profile, EVENT_LOCK, at,
				&(struct profile_sample){stack, i, THREAD_STATE_NONE, 20,
					(uint64_t)(share * 1000) * MS});
			profile_wait_set(profile,
				&(struct profile_wait){.thread = i,
					.owner = 2 + at % owners,
					.method = lock,
					.lock = 7,
					.since_ns =
						at * NS_PER_S + (uint64_t)((1 - share) * 1000) * MS,
					.until_ns = (at + 1) * NS_PER_S});
		}
	profile_advance(profile, SECONDS);
}

static const char *const tries[] = {"java.lang.Thread", "run", "shop.Node", "lead",
	"java.util.concurrent.locks.ReentrantLock", "tryLock", NULL};
static const char *const locks[] = {"java.lang.Thread", "run", "shop.Node", "lead",
	"java.util.concurrent.locks.ReentrantLock", "lock", NULL};
static const char *const tries_in_task[] = {"java.util.concurrent.ThreadPoolExecutor", "runWorker",
	"shop.Node", "lead", "java.util.concurrent.locks.ReentrantLock", "tryLock", NULL};

static const char *const accepts[] = {"java.lang.Thread", "run", "shop.Port", "open",
	"java.net.ServerSocket", "accept", "java.util.concurrent.locks.ReentrantLock", "lock",
	NULL};
static const char *const leads[] = {"java.lang.Thread", "run", "shop.Node", "lead", NULL};
static const char *const sleeps[] = {
	"java.lang.Thread", "run", "shop.Node", "lead", "java.lang.Thread", "sleep", NULL};

static void test_candidates(void)
{
	trying(tries, 0.9, 1);
	is_silent("locks", "when threads try to acquire it, with a timeout, and one holds it");
	trying(tries, 0.89, 1);
	is_found("locks", "when threads try to acquire it for 89 % of the time");
	trying(tries, 0.9, 2);
	is_found("locks", "when threads try to acquire it, and two hold it in turn");
	trying(tries_in_task, 0.9, 1);
	is_found("locks", "when tasks of an executor try to acquire it");
	trying(locks, 0.9, 1);
	is_found("locks", "when threads wait for it without a timeout");
	trying(accepts, 0.9, 1);
	is_silent("locks", "when threads wait to accept the next connection");
	trying(locks, 0.9, 1);
	spend(2, 1, leads, THREAD_RUNNABLE, 0.6);
	spend(2, 1, sleeps, THREAD_SLEEPING, 0.4);
	is_str(found("locks")->what,
		"2 threads wait for Leader, 1.8 on average; held by node-2 in Node.lead (sleeps)",
		"a thread that waits for a core to acquire the lock does not hold it");
}

static void test_standby(void)
{
	standing_by(0, false, 0);
	is_silent("locks", "when one thread waits for the whole window");
	standing_by(1, false, 0);
	is_found("locks", "when one thread began to wait in the window");
	standing_by(1, true, 0);
	is_silent("locks", "when one thread waited already when sampling began");
	standing_by(2, true, 0);
	is_found("locks", "when the wait of one thread was found after 2 s");
	standing_by(0, false, 1);
	is_found("locks", "when two threads wait for the whole window");
}

/* --- class initializers ---------------------------------------------------------------------------------- */

static const char *const awaits_config[] = {
	"shop.Page", "show", "", "InstanceKlass::initialize_impl", "", "ObjectMonitor::wait", NULL};
static const char *const awaits_nameless[] = {"shop.Page", "show", "", "0x6c6dc0", NULL};
static const char *const awaits_object[] = {
	"shop.Page", "show", "java.lang.Object", "wait", "", "0x6c6dc0", NULL};
static const char *const initializes[] = {"shop.Page", "show", "", "InstanceKlass::initialize_impl",
	"shop.Config", "<clinit>", "java.lang.Thread", "sleep", NULL};
static const char *const awaits_inside[] = {"shop.Config", "<clinit>", "",
	"InstanceKlass::initialize_impl", "", "ObjectMonitor::wait", NULL};

/* Frames without a class are native. */
static uint32_t mixed_stack(const char *const *frames)
{
	uint32_t stack = PROFILE_ROOT_STACK;

	for (; frames[0]; frames += 2) {
		uint32_t method = profile_method(profile, frames[0], frames[1], "", "");

		stack = profile_stack_child(profile, stack,
			profile_frame(profile, method, *frames[0] ? FRAME_COMPILED : FRAME_NATIVE,
				0xffff, 0));
	}
	return stack;
}

static void wait_in(uint32_t first, uint32_t count, const char *const *frames,
	enum thread_state state, double share)
{
	uint32_t stack = mixed_stack(frames);

	for (uint32_t at = 0; at < SECONDS; at++)
		for (uint32_t i = first; i < first + count; i++)
			profile_add_sample(profile, EVENT_WALL, at,
				&(struct profile_sample){
					stack, i, state, 20, (uint64_t)(share * 1000) * MS});
	profile_advance(profile, SECONDS);
}

/* Thread 0 is in `runner`, thread 1 waits in `waiter`, both for this share of the time; thread 2 sleeps. */
static void initializing(const char *const *runner, const char *const *waiter, double share)
{
	begin();
	seconds(10);
	named(0, 3, "http-", THREAD_JAVA);
	spend(2, 1, loop, THREAD_SLEEPING, 1);
	wait_in(0, 1, runner, THREAD_WAITING, share);
	wait_in(1, 1, waiter, THREAD_WAITING, share);
}

static void test_clinit(void)
{
	initializing(initializes, awaits_config, 0.5);
	is_found("clinit", "when a thread waits for half of the time");
	is_str(found("clinit")->what,
		"1 thread waits for a class initializer, 0.5 on average: Config.<clinit>, run by "
		"http-0, is mostly in Config.<clinit> (waits to be notified)",
		"the finding of clinit names the initializer and the thread that runs it");
	initializing(initializes, awaits_config, 0.49);
	is_silent("clinit", "when a thread waits for less than half of the time");
	initializing(initializes, awaits_nameless, 1);
	is_found("clinit", "when a thread waits in a JVM without symbols");
	initializing(initializes, awaits_object, 1);
	is_silent("clinit", "when a thread waits in Object.wait of a JVM without symbols");
	initializing(awaits_config, awaits_config, 1);
	is_silent("clinit", "when no thread is in an initializer");
	initializing(awaits_inside, awaits_inside, 1);
	is_found("clinit", "when two threads wait inside initializers");
	ok(found("clinit")->grade == FINDING_BLOCKED,
		"two threads that wait inside initializers block each other");
	initializing(awaits_inside, awaits_config, 1);
	is_silent("clinit", "when one thread waits inside an initializer, and none runs one");
}

int main(void)
{
	test_starved();
	test_busy();
	test_helped();
	test_timer();
	test_standby();
	test_candidates();
	test_clinit();
	return tap_done();
}
