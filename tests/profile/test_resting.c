/* SPDX-License-Identifier: Apache-2.0 */
/* The leaf that is added to a waiting stack: the place in the program that a person would name, and the reason. */
#include "profile/query/filter.h"
#include "tests/tap.h"

#include <string.h>

#define FRAMES 6

/* Innermost frame first; a class with "::" is libjvm's, "libc" is native, as is "library!name". */
static const struct {
	enum thread_state state;
	const char *frames[FRAMES];
	const char *leaf; /* NULL: none is added */
} cases[] = {
	{THREAD_SLEEPING,
		{"libc nanosleep", "os::sleep", "java.lang.Thread sleep",
			"java.util.concurrent.TimeUnit sleep", "shop.Customer run",
			"java.lang.Thread run"},
		"shop.Customer.run sleeps"},
	{THREAD_PARKED,
		{"libc futex", "Parker::park", "jdk.internal.misc.Unsafe park",
			"java.util.concurrent.locks.LockSupport park",
			"java.util.concurrent.LinkedBlockingQueue take",
			"java.util.concurrent.ThreadPoolExecutor runWorker"},
		"java.util.concurrent.LinkedBlockingQueue.take is parked"},
	{THREAD_PARKED,
		{"sun.misc.Unsafe park", "java.util.concurrent.locks.LockSupport park",
			"java.util.concurrent.ForkJoinPool awaitWork",
			"java.util.concurrent.ForkJoinWorkerThread run"},
		"java.util.concurrent.ForkJoinWorkerThread.run is parked"},
	{THREAD_MONITOR, {"ObjectMonitor::enter", "shop.Cart add", "shop.Customer run"},
		"shop.Cart.add waits for a monitor"},
	{THREAD_WAITING, {"java.lang.Object wait", "java.lang.Thread join"},
		"java.lang.Object.wait waits to be notified"},
	{THREAD_IO, {"libc accept", "sun.nio.ch.Net accept", "shop.Server serve"},
		"shop.Server.serve is in I/O"},
	{THREAD_SLEEPING,
		{"libc futex", "PlatformMonitor::wait", "Monitor::wait", "CompileQueue::get",
			"Thread::call_run", "libc start_thread"},
		"CompileQueue::get sleeps"},
	{THREAD_SLEEPING, {"libc futex", "Monitor::wait", "libc start_thread"},
		"Monitor::wait sleeps"},
	{THREAD_SLEEPING, {"libc futex", "libc start_thread"}, NULL},
	{THREAD_SLEEPING, {"libc 0x9a700", "libc 0x92620"}, "[libc.so.6] sleeps"},
	{THREAD_SLEEPING, {"libc 0x9a700", "libc 0x8f340", "libc.so.6!0x92620"},
		"[libc.so.6] sleeps"},
	{THREAD_SLEEPING, {"libc 0x9a700", "libjli.so!CallJavaMainInNewThread", "java!main"},
		"CallJavaMainInNewThread sleeps"},
	{THREAD_SLEEPING,
		{"ld-musl-x86_64.so.1!pthread_cond_timedwait", "libjli.so!CallJavaMainInNewThread",
			"java!main"},
		"CallJavaMainInNewThread sleeps"},
	{THREAD_PARKED, {"libc 0x9a700", "libjvm.so!0xa37470"}, "[libc.so.6] is parked"},
	{THREAD_ON_CPU, {"libc memcpy", "shop.Customer run"}, NULL},
	{THREAD_RUNNABLE, {"libc futex", "shop.Customer run"}, NULL},
	{THREAD_STATE_NONE, {"libc futex", "shop.Customer run"}, NULL},
};

static uint32_t frame_of(struct profile *p, const char *text)
{
	char class_name[80];
	const char *name = strchr(text, ' ');
	bool native = !strncmp(text, "libc ", 5);

	if (strchr(text, '!')) {
		name = strchr(text, '!');
		snprintf(class_name, sizeof(class_name), "%.*s", (int)(name - text), text);
		return profile_frame(p, profile_method(p, "", name + 1, "", class_name),
			FRAME_NATIVE, 0xffff, 0);
	}
	if (!name)
		return profile_frame(
			p, profile_method(p, "", text, "", "libjvm.so"), FRAME_VM, 0xffff, 0);
	snprintf(class_name, sizeof(class_name), "%.*s", (int)(name - text), text);
	return profile_frame(p,
		profile_method(
			p, native ? "" : class_name, name + 1, "", native ? "libc.so.6" : ""),
		native ? FRAME_NATIVE : FRAME_COMPILED, 0xffff, 0);
}

/* The target of a system call goes into the leaf, or is a frame of its own. */
static const struct {
	enum thread_state state;
	const char *frame;
	struct profile_io io;
	const char *leaf, *below;
	bool has_io;
} io_cases[] = {
	{THREAD_IO, "shop.Client charge", {"socket read", "10.0.0.5:5432"},
		"shop.Client.charge: socket read 10.0.0.5:5432", "shop.Client.charge", true},
	{THREAD_IO, "shop.Client charge", {"pipe read", ""}, "shop.Client.charge: pipe read",
		"shop.Client.charge", true},
	{THREAD_IO, "libc read", {"accept", ":80"}, "[accept :80]", "[libc.so.6] read", true},
	{THREAD_SLEEPING, "shop.Client charge", {"pipe read", ""}, "shop.Client.charge sleeps",
		"shop.Client.charge", false},
};

static const char *name_at(const struct profile *p, uint32_t stack)
{
	return profile_get_method(
		p, profile_get_frame(p, profile_get_stack(p, stack).frame)->method)
		->full;
}

/* With filter_set_io the target of the call is a frame of its own, if the leaf is a place in the program. */
static void check_separate(const struct profile *p, uint32_t stack, size_t i)
{
	struct filter *f = filter_new();
	bool separate = io_cases[i].has_io && *io_cases[i].leaf != '[';
	struct profile_io io;
	char want[80];

	filter_set_io(f, true);
	stack = filter_map_stack(f, p, stack);
	snprintf(want, sizeof(want), "[%s%s%s]", io_cases[i].io.what,
		*io_cases[i].io.where ? " " : "", io_cases[i].io.where);
	is_str(name_at(p, stack), separate ? want : io_cases[i].leaf,
		"with filter_set_io the target of the call is the leaf");
	if (separate)
		is_str(name_at(p, profile_get_stack(p, stack).parent),
			"shop.Client.charge is in I/O",
			"with filter_set_io the caller of the target is the waiting place");
	is_int(profile_stack_io(p, stack, &io), io_cases[i].has_io,
		"profile_stack_io works on the filtered stack, too");
	filter_free(f);
}

static void test_io(struct profile *p)
{
	for (size_t i = 0; i < sizeof(io_cases) / sizeof(io_cases[0]); i++) {
		uint32_t stack =
			profile_stack_child(p, PROFILE_ROOT_STACK, frame_of(p, io_cases[i].frame));
		struct profile_io io;
		bool has_io;

		stack = profile_stack_waiting(p, stack, io_cases[i].state, &io_cases[i].io);
		is_str(name_at(p, stack), io_cases[i].leaf, io_cases[i].leaf);
		is_str(name_at(p, profile_get_stack(p, stack).parent), io_cases[i].below,
			"the leaf is on top of the sampled frame");
		check_separate(p, stack, i);
		has_io = profile_stack_io(p, stack, &io);
		is_int(has_io, io_cases[i].has_io,
			"profile_stack_io reports a target exactly for I/O states");
		if (has_io && io_cases[i].has_io)
			ok(!strcmp(io.what, io_cases[i].io.what) &&
					!strcmp(io.where, io_cases[i].io.where),
				"profile_stack_io returns the target: %s, %s", io.what, io.where);
	}
}

static uint32_t named(struct profile *p, const char *frame, int files)
{
	uint32_t stack = profile_stack_child(p, PROFILE_ROOT_STACK, frame_of(p, frame)), names = 0;

	for (int i = 0; i < files; i++) {
		char path[40];
		struct profile_io io = {"file read", path};

		snprintf(path, sizeof(path), "/data/%d-%u", i, profile_info(p).now);
		names += strstr(name_at(p, profile_stack_waiting(p, stack, THREAD_IO, &io)),
				 path) != NULL;
	}
	return names;
}

/* A place that reads thousands of files does not get a row for each. */
static void test_many_targets(struct profile *p)
{
	is_int(named(p, "shop.Images load", 20), 20, "20 files of a place have a leaf each");
	is_int(named(p, "shop.Images load", 1000), 24,
		"of 1,000 files of a place at most 24 have a leaf");
	is_int(named(p, "shop.Images load", 20), 20, "has_io files keep their leaf");
	is_int(named(p, "shop.Logs read", 20), 20, "another place has its own limit");
	profile_advance(p, 59);
	is_int(named(p, "shop.Images load", 20), 0,
		"no further files get a leaf within the same minute");
	profile_advance(p, 61);
	is_int(named(p, "shop.Images load", 20), 20, "further files get a leaf a minute later");
}

/* Stacks as above. idle: the thread waits for work, so a query with without_idle excludes its samples. */
static const struct {
	enum thread_kind kind;
	enum thread_state state;
	const char *frames[FRAMES];
	bool idle;
	const char *what;
} idle_cases[] = {
	{THREAD_JAVA, THREAD_PARKED,
		{"jdk.internal.misc.Unsafe park", "java.util.concurrent.LinkedBlockingQueue take",
			"java.util.concurrent.ThreadPoolExecutor getTask",
			"java.util.concurrent.ThreadPoolExecutor runWorker"},
		true, "a pool's thread between tasks is idle"},
	{THREAD_JAVA, THREAD_PARKED,
		{"jdk.internal.misc.Unsafe park", "java.util.concurrent.LinkedBlockingQueue take",
			"shop.Oven bake", "java.util.concurrent.ThreadPoolExecutor runWorker"},
		false, "a task that waits for a queue is not idle"},
	{THREAD_JAVA, THREAD_ON_CPU,
		{"java.util.concurrent.LinkedBlockingQueue poll",
			"java.util.concurrent.ThreadPoolExecutor getTask"},
		false, "a pool's thread that fetches a task is not idle"},
	{THREAD_JAVA, THREAD_PARKED,
		{"jdk.internal.misc.Unsafe park", "java.util.concurrent.ForkJoinPool awaitWork"},
		true, "a worker of the common pool without work is idle"},
	{THREAD_VIRTUAL, THREAD_IO,
		{"sun.nio.ch.Net accept", "sun.nio.ch.ServerSocketChannelImpl accept",
			"shop.Server serve"},
		true, "a thread that accepts clients is idle"},
	{THREAD_JAVA, THREAD_IO,
		{"sun.nio.ch.EPoll wait", "sun.nio.ch.EPollSelectorImpl doSelect",
			"io.netty.channel.nio.NioEventLoop run"},
		true, "an event loop without events is idle"},
	{THREAD_JAVA, THREAD_IO, {"sun.nio.ch.NioSocketImpl read", "shop.Client charge"}, false,
		"a read from a socket is not idle"},
	{THREAD_JAVA, THREAD_SLEEPING, {"java.lang.Thread sleep", "shop.Job run"}, false,
		"a sleep is not idle"},
	{THREAD_JAVA, THREAD_SLEEPING,
		{"java.lang.Thread sleep", "shop.Task run", "java.util.TimerThread mainLoop"},
		false, "a timer's task that sleeps is not idle"},
	{THREAD_JAVA, THREAD_WAITING, {"java.lang.Object wait", "java.util.TimerThread mainLoop"},
		true, "a timer between tasks is idle"},
	{THREAD_JAVA, THREAD_WAITING, {"java.lang.ref.Reference waitForReferencePendingList"}, true,
		"the Reference Handler is idle"},
	{THREAD_GC, THREAD_SLEEPING, {"libc futex", "Monitor::wait"}, true,
		"a waiting GC thread is idle"},
	{THREAD_JAVA, THREAD_SLEEPING, {"libc futex", "PlatformMonitor::wait", "libc start_thread"},
		true, "a waiting JavaThread of the JVM is idle"},
	{THREAD_JAVA, THREAD_WAITING, {"ObjectMonitor::wait", "java.lang.Object wait"}, false,
		"a Java thread that waits in Object.wait is not idle"},
	{THREAD_NATIVE, THREAD_SLEEPING, {"libc futex", "Monitor::wait", "libshop.so!call_java"},
		false, "a native thread of the program that waits in the JVM is not idle"},
	{THREAD_GC, THREAD_ON_CPU, {"G1ParScanThreadState::trim_queue"}, false,
		"a running GC thread is not idle"},
	{THREAD_NATIVE, THREAD_SLEEPING, {"libc futex", "libshop.so!wait_for_order"}, false,
		"a waiting native thread of the program is not idle"},
};

static void test_idle(void)
{
	struct profile *p = profile_new();
	struct profile_query q = profile_whole(EVENT_WALL);
	uint64_t idle = 0;

	profile_advance(p, 0);
	for (uint32_t i = 0; i < sizeof(idle_cases) / sizeof(idle_cases[0]); i++) {
		uint32_t stack = PROFILE_ROOT_STACK;

		profile_thread_set(p, i,
			&(struct profile_thread){.tid = (int)i + 1, .kind = idle_cases[i].kind});
		for (int k = FRAMES; k-- > 0;)
			if (idle_cases[i].frames[k])
				stack = profile_stack_child(
					p, stack, frame_of(p, idle_cases[i].frames[k]));
		stack = profile_stack_waiting(p, stack, idle_cases[i].state, NULL);
		profile_add_sample(p, EVENT_WALL, 0,
			&(struct profile_sample){stack, i, idle_cases[i].state, 1, 1});
		idle += idle_cases[i].idle;
		q.thread = i;
		q.without_idle = true;
		is_int(profile_sum(p, &q).count, !idle_cases[i].idle, idle_cases[i].what);
		q.without_idle = false;
		is_int(profile_sum(p, &q).count, 1,
			"an idle thread's sample counts in a query that includes idle threads");
	}
	q.thread = PROFILE_ANY_THREAD;
	is_int(profile_sum(p, &q).count, sizeof(idle_cases) / sizeof(idle_cases[0]),
		"a query that includes idle threads has all samples");
	q.without_idle = true;
	is_int(profile_sum(p, &q).count, sizeof(idle_cases) / sizeof(idle_cases[0]) - idle,
		"a query without idle threads has all others");
	profile_free(p);
}

int main(void)
{
	struct profile *p = profile_new();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t stack = PROFILE_ROOT_STACK, with;
		const struct profile_frame *leaf;

		for (int k = FRAMES; k-- > 0;)
			if (cases[i].frames[k])
				stack = profile_stack_child(
					p, stack, frame_of(p, cases[i].frames[k]));
		with = profile_stack_waiting(p, stack, cases[i].state, NULL);
		if (!cases[i].leaf) {
			ok(with == stack, "%s, state %s: no leaf is added", cases[i].frames[0],
				thread_states[cases[i].state].name);
			continue;
		}
		leaf = profile_get_frame(p, profile_get_stack(p, with).frame);
		is_int(profile_get_stack(p, with).parent, stack,
			"the leaf is added on top of the sampled stack");
		is_str(profile_get_method(p, leaf->method)->full, cases[i].leaf, cases[i].leaf);
		is_int(leaf->type, FRAME_WAITS, "the leaf has type FRAME_WAITS");
		is_int(profile_stack_waiting(p, stack, cases[i].state, NULL), with,
			"adding the leaf again returns the same stack");
	}
	test_io(p);
	test_many_targets(p);
	profile_free(p);
	test_idle();
	return tap_done();
}
