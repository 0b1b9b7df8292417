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
	"shop.Search find", "shop.Board newer", "java.lang.Object wait"};
static frames insert = {"java.util.concurrent.ThreadPoolExecutor runWorker", "shop.Page show",
	"shop.Trail add", "shop.EventQueue put", "java.util.concurrent.ArrayBlockingQueue put",
	"java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject await"};
static frames future = {"java.util.concurrent.ThreadPoolExecutor runWorker", "shop.Page show",
	"shop.Parts acquireAll", "java.util.concurrent.FutureTask get"};
static frames charge = {"java.util.concurrent.ThreadPoolExecutor runWorker", "shop.Page show",
	"shop.Payment charge", "java.net.Socket$SocketInputStream read",
	"sun.nio.ch.SocketDispatcher read0"};
static frames decode = {"java.util.concurrent.ThreadPoolExecutor runWorker", "shop.net.Session go",
	"shop.net.Session decode", "java.net.Socket$SocketInputStream read"};
static frames accepts = {
	"java.lang.Thread run", "shop.net.Port open", "java.net.ServerSocket accept"};
static frames selects = {"java.lang.Thread run", "shop.Loop run", "shop.Loop step",
	"sun.nio.ch.SelectorImpl select", "sun.nio.ch.EPoll wait"};

static struct profile *profile;

#define LOCK_HOLDERS (-1) /* in place of an event: the rows of EVENT_LOCK's holders */

/* What is to be sampled in each second. */
static struct {
	int event;
	struct profile_sample sample;
} samples[200];
static int sample_count;
static int each = 20;  /* samples of a thread in a second */
static char said[240]; /* by the first finding */

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

static const struct profile_io *waits_for; /* by threads in I/O; NULL: not known */

static uint32_t stack_of(frames f)
{
	uint32_t stack = PROFILE_ROOT_STACK;

	for (int i = 0; i < DEEP && f[i]; i++)
		stack = profile_stack_child(profile, stack,
			profile_frame(profile, method_of(f[i]), FRAME_COMPILED, 0xffff, 0));
	return stack;
}

static void begin(void)
{
	profile = profile_new();
	sample_count = 0;
}

/* So many threads of a pool, from this number on, each of them here for a part of the time. */
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

/* So many threads wait for one lock, each for so much of the time. */
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

/* For these parts of the time, polls find the lock that each of them waits for free, or do not know its owner. */
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

/* The findings of the model that was begun are of these rules, in order; it ends. */
static void finds(const char *rules, const char *what)
{
	struct findings *f = findings_new();
	struct vitals v = {.alive = true};
	char got[200] = "";
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
	is_str(got, rules, what);
	findings_free(f);
	profile_free(profile);
}

static void says(const char *what)
{
	is_str(said, what, "and says so");
}

static void cores(void)
{
	begin(), are("w-", 0, 4, busy, THREAD_ON_CPU, 0.73);
	are("w-", 0, 4, busy, THREAD_RUNNABLE, 0.27);
	finds("cores", "27 % of the time of four threads");
	begin(), are("w-", 0, 5, busy, THREAD_ON_CPU, 0.77);
	are("w-", 0, 5, busy, THREAD_RUNNABLE, 0.23);
	finds("", "23 % of five, more than one at any moment");
	begin(), are("w-", 0, 3, busy, THREAD_ON_CPU, 0.7);
	are("w-", 0, 3, busy, THREAD_RUNNABLE, 0.3);
	finds("", "30 % of three, less than one at any moment");
	each = 1;
	begin(), are("w-", 0, 5, busy, THREAD_RUNNABLE, 1);
	finds("cores", "50 samples");
	begin(), are("w-", 0, 4, busy, THREAD_RUNNABLE, 1);
	finds("", "40 samples are too few");
	each = 20;
}

static void locks(void)
{
	begin(), lock_and_cpu(1, 0.52, 1);
	finds("locks", "more than half a thread");
	begin(), lock_and_cpu(1, 0.48, 1);
	finds("", "less than half a thread");
	begin(), lock_and_cpu(1, 0.54, 2);
	finds("locks", "a fifth of it and the CPU time");
	begin(), lock_and_cpu(1, 0.54, 2.3);
	finds("", "little beside the CPU time");
	begin(), lock_and_cpu(20, 0.052, 1);
	finds("locks", "5 % of the time of each of twenty threads");
	begin(), lock_and_cpu(20, 0.048, 1);
	finds("", "less, though it is nearly one at any moment");
	begin(), lock_and_cpu(60, 0.035, 1);
	finds("locks", "more than two of sixty: no more is asked for");
	begin(), lock_and_cpu(60, 0.032, 1);
	finds("", "less than two of them");
	begin(), lock_and_cpu(4, 0.5, 1), lock_unowned(4, 0.35, 0.15);
	finds("locks", "2 threads wait, for more than half of one the lock is held");
	begin(), lock_and_cpu(4, 0.5, 1), lock_unowned(4, 0.4, 0.1);
	finds("", "the lock is mostly free: they wait to be woken");
	begin(), lock_and_cpu(4, 0.5, 1), lock_unowned(4, 0.15, 0);
	finds("",
		"most waits are too short for a poll, and whenever one was seen the lock was free");
	begin(), lock_and_cpu(4, 0.5, 1), lock_unowned(4, 0.05, 0.05);
	finds("locks", "in half of those that were seen it was not");
	begin(), lock_and_cpu(4, 0.5, 1), lock_unowned(4, 0, 0.1);
	finds("locks", "the owner is never known");
}

static void pools(void)
{
	begin(), are("http-", 0, 31, borrow, THREAD_PARKED, 1);
	are("http-", 31, 9, query, THREAD_IO, 0.2);
	are("http-", 31, 9, query, THREAD_ON_CPU, 0.8);
	finds("pool", "31 of 40");
	begin(), are("http-", 0, 29, borrow, THREAD_PARKED, 1);
	are("http-", 29, 11, query, THREAD_ON_CPU, 1);
	finds("", "29 of 40");
	begin(), are("http-", 0, 3, borrow, THREAD_PARKED, 1);
	finds("", "three are no pool");
	begin(), are("http-", 0, 4, borrow, THREAD_PARKED, 1);
	finds("pool", "four are one");
	begin(), are("http-", 0, 40, borrow, THREAD_PARKED, 0.952);
	are("http-", 0, 40, idle, THREAD_PARKED, 0.048);
	finds("pool", "they have no task for 4.8 % of the time");
	begin(), are("http-", 0, 40, borrow, THREAD_PARKED, 0.948);
	are("http-", 0, 40, idle, THREAD_PARKED, 0.052);
	finds("", "for 5.2 %: there are enough of them");
	begin(), are("http-", 0, 40, permit, THREAD_PARKED, 0.9948);
	are("http-", 0, 40, query, THREAD_ON_CPU, 0.0052);
	finds("pool", "a permit that they get now and then");
	begin(), are("http-", 0, 40, permit, THREAD_PARKED, 0.9952);
	are("http-", 0, 40, query, THREAD_ON_CPU, 0.0048);
	finds("", "one that they hardly ever get: it may be a signal");
	begin(), are("http-", 0, 40, changes, THREAD_WAITING, 0.979);
	are("http-", 0, 40, query, THREAD_ON_CPU, 0.021);
	finds("pool", "what they wait for may be what a thread has that works");
	begin(), are("http-", 0, 40, changes, THREAD_WAITING, 0.981);
	are("http-", 0, 40, query, THREAD_ON_CPU, 0.019);
	finds("", "mostly no thread has it: it is an event");
	begin(), are("http-", 0, 8, insert, THREAD_PARKED, 1);
	finds("pool", "all wait for space in a queue");
	says("8 of 8 threads http-* wait in EventQueue.put for space in a full queue; 0 do other "
	     "work");
	begin(), are("http-", 0, 8, insert, THREAD_PARKED, 0.7);
	are("http-", 0, 8, query, THREAD_ON_CPU, 0.3);
	finds("", "they wait for 70 % of the time");
	begin(), are("http-", 0, 30, borrow, THREAD_PARKED, 1);
	are("http-", 30, 3, idle, THREAD_PARKED, 1);
	finds("", "some wait for work");
	begin(), are("http-", 0, 40, idle, THREAD_PARKED, 1);
	finds("", "all wait for work");
	begin(), are("mail-", 0, 10, consume, THREAD_PARKED, 0.95);
	are("mail-", 0, 10, query, THREAD_ON_CPU, 0.05);
	finds("", "they loop over a queue");
	begin(), are("baker-", 0, 10, bread, THREAD_WAITING, 0.95);
	are("baker-", 0, 10, busy, THREAD_ON_CPU, 0.05);
	finds("", "they wait for what others make");
	begin(), are("http-", 0, 40, future, THREAD_PARKED, 0.9);
	are("http-", 0, 40, query, THREAD_ON_CPU, 0.1);
	finds("", "they wait for something to happen");
}

static void io(void)
{
	begin(), are("order-", 0, 1, charge, THREAD_IO, 0.52);
	are("order-", 0, 1, query, THREAD_ON_CPU, 0.48);
	finds("io", "more than half a thread");
	begin(), are("order-", 0, 1, charge, THREAD_IO, 0.45);
	are("order-", 0, 1, query, THREAD_SLEEPING, 0.55);
	finds("", "less than half a thread");
	begin(), are("order-", 0, 4, charge, THREAD_IO, 0.45);
	are("order-", 0, 4, query, THREAD_ON_CPU, 0.55);
	finds("", "less than half of the tasks");
	begin(), are("session-", 0, 4, decode, THREAD_IO, 1);
	are("port-", 4, 1, accepts, THREAD_IO, 1);
	finds("", "they wait for requests");
	begin(), are("loop-", 0, 4, selects, THREAD_IO, 1);
	finds("", "they wait for whoever comes");
}

/* What they wait for, where that is known. */
static void peers(void)
{
	const struct profile_io db = {"socket read", "10.0.0.5:5432"};
	const struct profile_io other = {"socket read", "10.0.0.6:5432"};
	const struct profile_io pipe = {"pipe read", ""}, port = {"accept", ":80"};
	const struct profile_io clients = {"socket read", "clients of :80"};

	begin(), waits_for = &db, are("order-", 0, 4, charge, THREAD_IO, 1);
	finds("io", "one peer"),
		says("Payment.charge waits for 10.0.0.5:5432: 4.0 threads on average");
	begin(), waits_for = &pipe, are("order-", 0, 4, charge, THREAD_IO, 1);
	finds("io", "a pipe"), says("Payment.charge waits for a pipe: 4.0 threads on average");
	begin(), waits_for = &db, are("order-", 0, 3, charge, THREAD_IO, 1);
	waits_for = &other, are("order-", 3, 1, charge, THREAD_IO, 1);
	finds("io", "mostly one");
	says("Payment.charge waits for 10.0.0.5:5432 and others: 4.0 threads on average");
	begin(), waits_for = &db, are("order-", 0, 8, charge, THREAD_IO, 1);
	waits_for = &other, are("order-", 8, 1, charge, THREAD_IO, 1);
	finds("io", "eight of nine");
	says("Payment.charge waits for 10.0.0.5:5432 and others: 9.0 threads on average");
	begin(), waits_for = &db, are("order-", 0, 9, charge, THREAD_IO, 1);
	waits_for = &other, are("order-", 9, 1, charge, THREAD_IO, 1);
	finds("io", "nine of ten");
	says("Payment.charge waits for 10.0.0.5:5432: 10.0 threads on average");
	begin(), waits_for = &db, are("order-", 0, 2, charge, THREAD_IO, 1);
	waits_for = &other, are("order-", 2, 2, charge, THREAD_IO, 1);
	finds("io", "one half each");
	says("Payment.charge waits for its peer: 4.0 threads on average");
	begin(), waits_for = &db, are("order-", 0, 4, charge, THREAD_IO, 0.4);
	are("order-", 0, 4, query, THREAD_IO, 0.4), are("order-", 0, 4, busy, THREAD_ON_CPU, 0.2);
	finds("io", "one peer, by two methods");
	says("Payment.charge and others wait for 10.0.0.5:5432: 3.2 threads on average");
	begin(), waits_for = &db, are("order-", 0, 4, charge, THREAD_IO, 0.4);
	waits_for = &other, are("order-", 0, 4, query, THREAD_IO, 0.4);
	are("order-", 0, 4, busy, THREAD_ON_CPU, 0.2);
	finds("", "two peers, by two methods");
	begin(), waits_for = &clients, are("order-", 0, 4, charge, THREAD_IO, 1);
	finds("", "they wait for clients, whatever they are called");
	begin(), waits_for = &port, are("order-", 0, 4, charge, THREAD_IO, 1);
	finds("", "or for whoever connects");
	waits_for = NULL;
}

int main(void)
{
	cores();
	locks();
	pools();
	io();
	peers();
	return tap_done();
}
