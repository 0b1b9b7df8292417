/* SPDX-License-Identifier: Apache-2.0 */
/* The rules for waits on both sides of each threshold, on hand-made models of 10 s. */
#include "findings/findings.h"
#include "tests/tap.h"

#include <stdio.h>
#include <string.h>

#define SECONDS 10
#define SECOND  1000000000ull
#define DEEP    9

/* From the outermost frame to the innermost: "class method". */
typedef const char *const frames[DEEP];

static frames busy = {"java.lang.Thread run", "shop.Worker run", "shop.Prices sum"};
static frames idle = {"java.util.concurrent.ThreadPoolExecutor runWorker",
	"java.util.concurrent.ThreadPoolExecutor getTask",
	"java.util.concurrent.LinkedBlockingQueue take",
	"java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject await"};
static frames borrow = {"java.util.concurrent.ThreadPoolExecutor runWorker", "shop.Page show",
	"shop.Connections borrow", "java.util.concurrent.LinkedBlockingQueue take",
	"java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject await"};
static frames permit = {"java.util.concurrent.ThreadPoolExecutor runWorker", "shop.Page show",
	"shop.Search find", "shop.Limit enter", "java.util.concurrent.Semaphore acquire"};
static frames query = {
	"java.util.concurrent.ThreadPoolExecutor runWorker", "shop.Page show", "shop.Sql query"};
static frames consume = {"java.util.concurrent.ThreadPoolExecutor runWorker", "shop.Mails go",
	"java.util.concurrent.LinkedBlockingQueue take",
	"java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject await"};
static frames bread = {
	"java.lang.Thread run", "shop.Baker run", "shop.Shelf getBread", "java.lang.Object wait"};
static frames changes = {"java.util.concurrent.ThreadPoolExecutor runWorker", "shop.Page show",
	"shop.Search find", "shop.Board newer", "java.lang.Object wait", "java.lang.Object wait"};
static frames changes_timed = {"java.util.concurrent.ThreadPoolExecutor runWorker",
	"shop.Page show", "shop.Search find", "shop.Board newer", "java.lang.Object wait"};
static frames newer = {"java.util.concurrent.ThreadPoolExecutor runWorker", "shop.Page show",
	"shop.Search find", "shop.Board newer"};
static frames obtain = {"java.util.concurrent.ThreadPoolExecutor runWorker", "shop.Page show",
	"shop.Search find", "shop.Backlog obtain", "java.util.concurrent.LinkedBlockingQueue take",
	"java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject await"};
static frames obtained = {"java.util.concurrent.ThreadPoolExecutor runWorker", "shop.Page show",
	"shop.Search find", "shop.Backlog obtain", "shop.Sql query"};
static frames pay = {"java.util.concurrent.ThreadPoolExecutor runWorker", "shop.Page show",
	"shop.Search find", "shop.Payment process", "java.util.concurrent.Semaphore acquire"};
static frames paying = {"java.util.concurrent.ThreadPoolExecutor runWorker", "shop.Page show",
	"shop.Search find", "shop.Payment process", "shop.Sql query"};
static frames insert = {"java.util.concurrent.ThreadPoolExecutor runWorker", "shop.Page show",
	"shop.Trail add", "shop.EventQueue put", "java.util.concurrent.ArrayBlockingQueue put",
	"java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject await"};
static frames future = {"java.util.concurrent.ThreadPoolExecutor runWorker", "shop.Page show",
	"shop.Parts acquireAll", "java.util.concurrent.FutureTask get"};
static frames charge = {"java.util.concurrent.ThreadPoolExecutor runWorker", "shop.Page show",
	"shop.Payment charge", "java.net.Socket$SocketInputStream read",
	"sun.nio.ch.SocketDispatcher read0"};
static frames http = {"java.util.concurrent.ThreadPoolExecutor runWorker", "shop.Page show",
	"shop.Payment charge", "jdk.internal.net.http.HttpClientImpl send",
	"java.util.concurrent.CompletableFuture get"};
static frames reserve = {"java.util.concurrent.ThreadPoolExecutor runWorker", "shop.Page show",
	"shop.StockObserver reserve", "java.net.Socket$SocketInputStream read"};
static frames reply = {"java.util.concurrent.ThreadPoolExecutor runWorker", "shop.Page show",
	"shop.Link receiveReply", "java.net.Socket$SocketInputStream read"};
static frames next_job = {"java.util.concurrent.ThreadPoolExecutor runWorker", "shop.Runner go",
	"shop.Runner cycle", "shop.Jobs acquireNextJob",
	"java.util.concurrent.LinkedBlockingQueue take",
	"java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject await"};
static frames worker_pool = {"java.lang.Thread run", "shop.Runner run", "shop.WorkerPool get",
	"java.lang.Object wait", "java.lang.Object wait"};
static frames prune = {"java.util.concurrent.ThreadPoolExecutor runWorker", "shop.Page show",
	"shop.Search find", "shop.Threads prune", "java.util.concurrent.Semaphore acquire"};
static frames release = {"java.util.concurrent.ThreadPoolExecutor runWorker", "shop.Page show",
	"shop.Board release", "java.lang.Object wait"};
static frames decode = {"java.util.concurrent.ThreadPoolExecutor runWorker", "shop.net.Session go",
	"shop.net.Session decode", "java.net.Socket$SocketInputStream read"};
static frames accepts = {
	"java.lang.Thread run", "shop.net.Port open", "java.net.ServerSocket accept"};
static frames selects = {"java.lang.Thread run", "shop.Loop run", "shop.Loop step",
	"sun.nio.ch.SelectorImpl select", "sun.nio.ch.EPoll wait"};

static frames converts = {"java.util.concurrent.ThreadPoolExecutor runWorker", "shop.Page show",
	"shop.Image convert", "java.lang.ProcessImpl waitFor", "java.lang.Object wait"};
static frames converts_alone = {
	"java.lang.Thread run", "shop.Image convert", "java.lang.ProcessImpl waitFor"};
static frames starts = {"java.util.concurrent.ThreadPoolExecutor runWorker", "shop.Page show",
	"shop.Image convert", "java.lang.ProcessBuilder start"};

static struct profile *profile;

#define LOCK_HOLDERS (-1) /* in place of an event: the rows of EVENT_LOCK's holders */

/* Samples that finds() adds to each second of the model. event: LOCK_HOLDERS or an enum event. */
static struct {
	int event;
	struct profile_sample sample;
} samples[200];
static int sample_count;
static int each = 20;  /* number of samples that an entry of samples[] counts as */
static char said[240]; /* the sentence of the first finding; "": none */

static void add(int event, uint32_t stack, uint32_t thread, enum thread_state state, double part)
{
	samples[sample_count].event = event;
	samples[sample_count++].sample = (struct profile_sample){
		stack, thread, state, (uint32_t)each, (uint64_t)(part * SECOND)};
}

static uint32_t method_of(const char *text)
{
	char class_name[120];
	const char *name = strchr(text, ' ');

	snprintf(class_name, sizeof(class_name), "%.*s", (int)(name - text), text);
	return profile_method(profile, class_name, name + 1, "", "");
}

static const struct profile_io *waits_for; /* target of the I/O of are(); NULL: not known */

static uint32_t stack_of(frames f)
{
	uint32_t stack = PROFILE_ROOT_STACK;

	for (int i = 0; i < DEEP && f[i]; i++)
		stack = profile_stack_child(profile, stack,
			profile_frame(profile, method_of(f[i]), FRAME_COMPILED, 0xffff, 0));
	return stack;
}

/* Begins an empty model, which finds() frees. */
static void begin(void)
{
	profile = profile_new();
	sample_count = 0;
}

/* The threads [first, first + threads) of a pool spend this part of the time in this stack and state. */
static void are(const char *pool, uint32_t first, uint32_t threads, frames f,
	enum thread_state state, double part)
{
	for (uint32_t i = first; i < first + threads; i++) {
		char name[40];

		snprintf(name, sizeof(name), "%s%u", pool, i);
		profile_thread_set(profile, i,
			&(struct profile_thread){
				.tid = (int)i + 1, .kind = THREAD_JAVA, .name = name});
		add(EVENT_WALL, profile_stack_waiting(profile, stack_of(f), state, waits_for), i,
			state, part);
	}
}

/* Threads that run, and wait for one lock for a part of the time; they use this number of cores. */
static void lock_and_cpu(uint32_t threads, double waiting, double cores)
{
	uint32_t lock = profile_method(profile, "shop.Cart", "", "", "");
	uint32_t stack = profile_stack_child(
		profile, stack_of(busy), profile_frame(profile, lock, FRAME_CLASS, 0xffff, 0));

	are("w-", 0, threads, busy, THREAD_ON_CPU, 1);
	for (uint32_t i = 0; i < threads; i++)
		add(EVENT_LOCK, stack, i, THREAD_STATE_NONE, waiting);
	add(EVENT_CPU, stack_of(busy), 0, THREAD_STATE_NONE, cores);
}

/* For these parts of the time, polls see the lock of each waiting thread free, or do not know its owner. */
static void lock_unowned(uint32_t threads, double free_part, double unknown)
{
	static const char *const rows[] = {"[free: the waiter is being woken]", "[unknown owner]"};

	for (uint32_t i = 0; i < 2 * threads; i++) {
		uint32_t method = profile_method(profile, "", rows[i % 2], "", "");
		uint32_t row = profile_stack_child(profile, PROFILE_ROOT_STACK,
			profile_frame(profile, method, FRAME_NATIVE, 0xffff, 0));

		add(LOCK_HOLDERS, row, i / 2, THREAD_STATE_NONE, i % 2 ? unknown : free_part);
	}
}

/* Checks that the rules in `rules` report, in this order and no others, on the model, and frees it. */
static void finds(const char *rules, const char *what)
{
	struct findings *f = findings_new();
	struct vitals v = {.alive = true};
	char got[200] = "", name[200];
	unsigned count;

	for (uint32_t s = 0; s < SECONDS; s++)
		for (int i = 0; i < sample_count; i++)
			if (samples[i].event == LOCK_HOLDERS)
				profile_add_holder(profile, s, &samples[i].sample);
			else
				profile_add_sample(
					profile, samples[i].event, s, &samples[i].sample);
	for (int i = 0; i < EVENT_USER_FIRST; i++)
		v.events[i].state = VITALS_ON;
	findings_vitals(f, &v);
	count = findings_evaluate(f, profile, 0, SECONDS);
	snprintf(said, sizeof(said), "%s", count ? findings_get(f, 0)->what : "");
	for (unsigned i = 0; i < count; i++) {
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s", i ? " " : "",
			findings_get(f, i)->rule->name);
		diag("%s", findings_get(f, i)->what);
	}
	snprintf(name, sizeof(name), "%s is reported %s", *rules ? rules : "nothing", what);
	is_str(got, rules, name);
	findings_free(f);
	profile_free(profile);
}

static void says(const char *what)
{
	is_str(said, what,
		"the finding names the method, what it waits for, and how many threads wait");
}

static void cores(void)
{
	begin(), are("w-", 0, 4, busy, THREAD_ON_CPU, 0.73);
	are("w-", 0, 4, busy, THREAD_RUNNABLE, 0.27);
	finds("cores", "when four threads wait for a core for 27 % of the time");
	begin(), are("w-", 0, 5, busy, THREAD_ON_CPU, 0.77);
	are("w-", 0, 5, busy, THREAD_RUNNABLE, 0.23);
	finds("", "when five threads, more than one on average, wait for only 23 % of the time");
	begin(), are("w-", 0, 3, busy, THREAD_ON_CPU, 0.7);
	are("w-", 0, 3, busy, THREAD_RUNNABLE, 0.3);
	finds("", "when three threads, less than one on average, wait for 30 % of the time");
	each = 1;
	begin(), are("w-", 0, 5, busy, THREAD_RUNNABLE, 1);
	finds("cores", "with 50 samples");
	begin(), are("w-", 0, 4, busy, THREAD_RUNNABLE, 1);
	finds("", "with 40 samples");
	each = 20;
}

static void locks(void)
{
	begin(), lock_and_cpu(1, 0.52, 1);
	finds("locks", "when more than half a thread waits for a lock");
	begin(), lock_and_cpu(1, 0.48, 1);
	finds("", "when less than half a thread waits for a lock");
	begin(), lock_and_cpu(1, 0.54, 2);
	finds("locks", "when waits are more than a fifth of waits and CPU time");
	begin(), lock_and_cpu(1, 0.54, 2.3);
	finds("", "when waits are less than a fifth of waits and CPU time");
	begin(), lock_and_cpu(20, 0.052, 1);
	finds("locks", "when twenty threads wait for more than 5 % of the time each");
	begin(), lock_and_cpu(20, 0.048, 1);
	finds("", "when twenty threads, nearly one on average, wait for less than 5 % of the time "
		  "each");
	begin(), lock_and_cpu(60, 0.035, 1);
	finds("locks", "when more than two of sixty threads wait, for which 3.5 % of the time each "
		       "suffices");
	begin(), lock_and_cpu(60, 0.032, 1);
	finds("", "when fewer than two of sixty threads wait");
	begin(), lock_and_cpu(4, 0.5, 1), lock_unowned(4, 0.35, 0.15);
	finds("locks",
		"when two threads wait, more than half a thread of them while the lock is held");
	begin(), lock_and_cpu(4, 0.5, 1), lock_unowned(4, 0.4, 0.1);
	finds("", "when two threads wait, mostly to be woken after the lock became free");
	begin(), lock_and_cpu(4, 0.5, 1), lock_unowned(4, 0.15, 0);
	finds("", "when polls see few of the waits, and the lock is free in all of these");
	begin(), lock_and_cpu(4, 0.5, 1), lock_unowned(4, 0.05, 0.05);
	finds("locks", "when polls see few of the waits, and the lock is held in half of these");
	begin(), lock_and_cpu(4, 0.5, 1), lock_unowned(4, 0, 0.1);
	finds("locks", "when polls never know the owner");
}

/* Rule pool where no name says that the threads wait for a resource. */
static void nameless(void)
{
	begin(), are("http-", 0, 40, permit, THREAD_PARKED, 0.979);
	are("http-", 0, 40, query, THREAD_ON_CPU, 0.021);
	finds("pool", "when on average 0.84 threads work, which may have the permits");
	begin(), are("http-", 0, 40, permit, THREAD_PARKED, 0.981);
	are("http-", 0, 40, query, THREAD_ON_CPU, 0.019);
	finds("", "when on average 0.76 threads work: a permit may be a signal");
	begin(), are("http-", 0, 40, permit, THREAD_PARKED, 0.976);
	are("http-", 0, 40, permit, THREAD_RUNNABLE, 0.024);
	finds("", "when threads that are woken wait for a core");
	begin(), are("http-", 0, 40, changes_timed, THREAD_WAITING, 0.9);
	are("http-", 0, 40, changes_timed, THREAD_MONITOR, 0.05);
	are("http-", 0, 40, newer, THREAD_MONITOR, 0.05);
	finds("", "when threads that are woken wait for a monitor");
	begin(), are("http-", 0, 40, pay, THREAD_PARKED, 0.979);
	are("http-", 0, 40, paying, THREAD_ON_CPU, 0.021);
	finds("pool", "when on average 0.84 threads work in the method that waits");
	begin(), are("http-", 0, 40, pay, THREAD_PARKED, 0.979);
	are("http-", 0, 40, query, THREAD_ON_CPU, 0.021);
	finds("", "when a method that processes something waits, and no thread works in it");
	begin(), are("http-", 0, 40, obtain, THREAD_PARKED, 0.979);
	are("http-", 0, 40, obtained, THREAD_ON_CPU, 0.021);
	finds("pool", "when a method waits for an element of a queue and works with it");
	begin(), are("http-", 0, 40, obtain, THREAD_PARKED, 0.9);
	are("http-", 0, 40, query, THREAD_ON_CPU, 0.1);
	finds("", "when a method waits for an element of a queue and returns it: it may be a task");
	begin(), are("http-", 0, 40, prune, THREAD_PARKED, 0.9);
	are("http-", 0, 40, query, THREAD_ON_CPU, 0.1);
	finds("pool", "when the name only contains \"run\"");
	begin(), are("runner-", 0, 6, next_job, THREAD_PARKED, 0.95);
	are("runner-", 0, 6, busy, THREAD_ON_CPU, 0.05);
	finds("", "when threads acquire their next job");
	begin(), are("runner-", 0, 6, worker_pool, THREAD_WAITING, 0.95);
	are("runner-", 0, 6, busy, THREAD_ON_CPU, 0.05);
	finds("", "when a class named \"Pool\" is one of threads");
	begin(), are("http-", 0, 4, release, THREAD_WAITING, 1);
	finds("", "when the name only contains \"lease\"");
	begin(), are("http-", 0, 40, changes, THREAD_WAITING, 0.979);
	are("http-", 0, 40, query, THREAD_ON_CPU, 0.021);
	finds("pool", "when on average 0.84 threads work, which may own what the others wait for");
	begin(), are("http-", 0, 40, changes, THREAD_WAITING, 0.981);
	are("http-", 0, 40, query, THREAD_ON_CPU, 0.019);
	finds("", "when on average 0.76 threads work, so the others wait for an event");
	begin(), are("http-", 0, 40, changes_timed, THREAD_WAITING, 0.9);
	are("http-", 0, 40, query, THREAD_ON_CPU, 0.1);
	finds("", "when threads wait for a condition with a timeout, as long polls do");
}

static void pools(void)
{
	begin(), are("http-", 0, 31, borrow, THREAD_PARKED, 1);
	are("http-", 31, 9, query, THREAD_IO, 0.2);
	are("http-", 31, 9, query, THREAD_ON_CPU, 0.8);
	finds("pool", "when 31 of 40 threads wait for a connection");
	begin(), are("http-", 0, 29, borrow, THREAD_PARKED, 1);
	are("http-", 29, 11, query, THREAD_ON_CPU, 1);
	finds("", "when 29 of 40 threads wait for a connection");
	begin(), are("http-", 0, 3, borrow, THREAD_PARKED, 1);
	finds("", "when a pool has three threads");
	begin(), are("http-", 0, 4, borrow, THREAD_PARKED, 1);
	finds("pool", "when a pool has four threads");
	begin(), are("http-", 0, 40, borrow, THREAD_PARKED, 0.952);
	are("http-", 0, 40, idle, THREAD_PARKED, 0.048);
	finds("pool", "when the threads are idle for 4.8 % of the time");
	begin(), are("http-", 0, 40, borrow, THREAD_PARKED, 0.948);
	are("http-", 0, 40, idle, THREAD_PARKED, 0.052);
	finds("", "when the threads are idle for 5.2 % of the time, so there are enough of them");
	begin(), are("http-", 0, 8, insert, THREAD_PARKED, 1);
	finds("pool", "when all threads wait for space in a queue");
	says("8 of 8 threads http-* wait in EventQueue.put for space in a full queue; 0 do other "
	     "work");
	begin(), are("http-", 0, 8, insert, THREAD_PARKED, 0.7);
	are("http-", 0, 8, query, THREAD_ON_CPU, 0.3);
	finds("", "when threads wait for space in a queue for 70 % of the time");
	begin(), are("http-", 0, 30, borrow, THREAD_PARKED, 1);
	are("http-", 30, 3, idle, THREAD_PARKED, 1);
	finds("", "when three of 33 threads are idle");
	begin(), are("http-", 0, 40, idle, THREAD_PARKED, 1);
	finds("", "when all threads are idle");
	begin(), are("mail-", 0, 10, consume, THREAD_PARKED, 0.95);
	are("mail-", 0, 10, query, THREAD_ON_CPU, 0.05);
	finds("", "when the task is a loop over a queue");
	begin(), are("baker-", 0, 10, bread, THREAD_WAITING, 0.95);
	are("baker-", 0, 10, busy, THREAD_ON_CPU, 0.05);
	finds("", "when threads wait for what other threads produce");
	begin(), are("http-", 0, 40, future, THREAD_PARKED, 0.9);
	are("http-", 0, 40, query, THREAD_ON_CPU, 0.1);
	finds("", "when threads wait for a future");
}

static void io(void)
{
	begin(), are("order-", 0, 1, charge, THREAD_IO, 0.52);
	are("order-", 0, 1, query, THREAD_ON_CPU, 0.48);
	finds("io", "when more than half a thread waits");
	begin(), are("order-", 0, 1, charge, THREAD_IO, 0.45);
	are("order-", 0, 1, query, THREAD_SLEEPING, 0.55);
	finds("", "when less than half a thread waits");
	begin(), are("order-", 0, 1, charge, THREAD_IO, 0.88);
	are("order-", 0, 1, query, THREAD_ON_CPU, 0.12);
	finds("io", "when the only thread of an executor waits for 88 % of the time");
	begin(), are("order-", 0, 1, charge, THREAD_IO, 0.91);
	are("order-", 0, 1, query, THREAD_ON_CPU, 0.09);
	finds("", "when the only thread of an executor waits for 91 % of the time: a long poll");
	begin(), are("order-", 0, 4, http, THREAD_PARKED, 1);
	finds("io", "when threads wait for the answer that another thread reads");
	says("Payment.charge waits for its peer: 4.0 threads on average");
	begin(), are("order-", 0, 4, charge, THREAD_IO, 0.45);
	are("order-", 0, 4, query, THREAD_ON_CPU, 0.55);
	finds("", "when waits take less than half of the tasks' time");
	begin(), are("order-", 0, 4, charge, THREAD_IO, 0.45);
	are("order-", 0, 4, charge, THREAD_RUNNABLE, 0.15);
	are("order-", 0, 4, query, THREAD_ON_CPU, 0.4);
	finds("io", "when waits for a core inside the I/O calls are not counted as other work");
	begin(), are("order-", 0, 4, reserve, THREAD_IO, 1);
	finds("io", "when the names only contain \"serve\" and \"server\"");
	begin(), are("order-", 0, 4, reply, THREAD_IO, 1);
	finds("io", "when a method receives a reply");
	begin(), are("session-", 0, 4, decode, THREAD_IO, 1);
	are("port-", 4, 1, accepts, THREAD_IO, 1);
	finds("", "when threads wait for requests");
	begin(), are("loop-", 0, 4, selects, THREAD_IO, 1);
	finds("", "when threads wait for any event of a selector");
}

/* Rule io where threads wait for child processes. */
static void children(void)
{
	each = 1;
	begin(), are("http-", 0, 2, converts, THREAD_WAITING, 0.9);
	are("http-", 0, 1, starts, THREAD_ON_CPU, 0.1);
	finds("io", "when tasks wait for child processes and more are started");
	says("Image.convert waits for child processes: 1.8 threads on average");
	begin(), are("http-", 0, 2, converts, THREAD_WAITING, 1);
	finds("", "when tasks wait for child processes and none is started");
	begin(), are("http-", 0, 2, converts_alone, THREAD_WAITING, 0.9);
	are("http-", 0, 1, starts, THREAD_ON_CPU, 0.1);
	finds("", "when threads outside of executors wait for child processes");
	each = 20;
}

/* Rule io where the target of the wait is known. */
static void peers(void)
{
	const struct profile_io db = {"socket read", "10.0.0.5:5432"};
	const struct profile_io other = {"socket read", "10.0.0.6:5432"};
	const struct profile_io pipe = {"pipe read", ""}, port = {"accept", ":80"};
	const struct profile_io clients = {"socket read", "clients of :80"};

	begin(), waits_for = &db, are("order-", 0, 4, charge, THREAD_IO, 1);
	finds("io", "when all threads wait for one peer"),
		says("Payment.charge waits for 10.0.0.5:5432: 4.0 threads on average");
	begin(), waits_for = &pipe, are("order-", 0, 4, charge, THREAD_IO, 0.88);
	are("order-", 0, 4, query, THREAD_ON_CPU, 0.12);
	finds("io", "when all threads wait for a pipe for 88 % of the time"),
		says("Payment.charge waits for a pipe: 3.5 threads on average");
	begin(), waits_for = &pipe, are("order-", 0, 4, charge, THREAD_IO, 0.91);
	are("order-", 0, 4, query, THREAD_ON_CPU, 0.09);
	finds("", "when all threads wait for a pipe for 91 % of the time");
	begin(), waits_for = &db, are("order-", 0, 3, charge, THREAD_IO, 1);
	waits_for = &other, are("order-", 3, 1, charge, THREAD_IO, 1);
	finds("io", "when three of four threads wait for one peer");
	says("Payment.charge waits for 10.0.0.5:5432 and others: 4.0 threads on average");
	begin(), waits_for = &db, are("order-", 0, 8, charge, THREAD_IO, 1);
	waits_for = &other, are("order-", 8, 1, charge, THREAD_IO, 1);
	finds("io", "when eight of nine threads wait for one peer");
	says("Payment.charge waits for 10.0.0.5:5432 and others: 9.0 threads on average");
	begin(), waits_for = &db, are("order-", 0, 9, charge, THREAD_IO, 1);
	waits_for = &other, are("order-", 9, 1, charge, THREAD_IO, 1);
	finds("io", "when nine of ten threads wait for one peer");
	says("Payment.charge waits for 10.0.0.5:5432: 10.0 threads on average");
	begin(), waits_for = &db, are("order-", 0, 2, charge, THREAD_IO, 1);
	waits_for = &other, are("order-", 2, 2, charge, THREAD_IO, 1);
	finds("io", "when half of the threads wait for each of two peers");
	says("Payment.charge waits for its peer: 4.0 threads on average");
	begin(), waits_for = &db, are("order-", 0, 4, charge, THREAD_IO, 0.4);
	are("order-", 0, 4, query, THREAD_IO, 0.4), are("order-", 0, 4, busy, THREAD_ON_CPU, 0.2);
	finds("io", "when two methods together wait long enough for one peer");
	says("Payment.charge and others wait for 10.0.0.5:5432: 3.2 threads on average");
	begin(), waits_for = &db, are("order-", 0, 4, charge, THREAD_IO, 0.4);
	waits_for = &other, are("order-", 0, 4, query, THREAD_IO, 0.4);
	are("order-", 0, 4, busy, THREAD_ON_CPU, 0.2);
	finds("", "when each of two methods waits too little, for a peer of its own");
	begin(), waits_for = &clients, are("order-", 0, 4, charge, THREAD_IO, 1);
	finds("", "when threads wait for clients, whatever their methods are called");
	begin(), waits_for = &port, are("order-", 0, 4, charge, THREAD_IO, 1);
	finds("", "when threads wait for connections");
	waits_for = NULL;
}

int main(void)
{
	cores();
	locks();
	pools();
	nameless();
	io();
	peers();
	children();
	return tap_done();
}
