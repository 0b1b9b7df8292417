/* SPDX-License-Identifier: Apache-2.0 */
/* What stands on top of a stack that waits: the place in the program that a person would name, and why. */
#include "profile/profile.h"
#include "tests/tap.h"

#include <string.h>

#define FRAMES 6

/* From the innermost to the outermost; a class with "::" is libjvm's, "libc" is native, as is "library!name". */
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
		with = profile_stack_resting(p, stack, cases[i].state);
		if (!cases[i].leaf) {
			ok(with == stack, "%s %s: as it is", cases[i].frames[0],
				thread_states[cases[i].state].name);
			continue;
		}
		leaf = profile_get_frame(p, profile_get_stack(p, with).frame);
		is_int(profile_get_stack(p, with).parent, stack, "on top of all that was sampled");
		is_str(profile_get_method(p, leaf->method)->full, cases[i].leaf, cases[i].leaf);
		is_int(leaf->type, FRAME_WAITS, "marked as what it is");
		is_int(profile_stack_resting(p, stack, cases[i].state), with, "once");
	}
	profile_free(p);
	return tap_done();
}
