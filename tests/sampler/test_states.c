/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of the wall clock without a JVM: thread states from /proc, kinds of waits by Java method, known traces; and
 * name patterns.
 */
#include "tests/tap.h"

#include "sampler/engine/wall.h"
#include "sampler/publish/state.h"
#include "sampler/task.h"
#include "sampler/text.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- states from /proc --------------------------------------------------------------------------- */

static void test_lines(void)
{
	char line[40];

	is_int(task_state_of("running\n"), TASK_RUNS, "\"running\" is a running thread");
	is_int(task_state_of("-1 0x7ffe 0x7f00\n"), WIRE_STATE_IO,
		"\"-1\" (waiting for a page) is I/O");
	is_int(task_state_of(""), TASK_UNKNOWN, "an empty line is unknown");
	snprintf(line, sizeof(line), "%d 0x1 0x2", SYS_futex);
	is_int(task_state_of(line), TASK_IN_FUTEX,
		"futex is a wait to be refined by the Java method");
	snprintf(line, sizeof(line), "%d 0x1 0x2", SYS_recvfrom);
	is_int(task_state_of(line), WIRE_STATE_IO, "recvfrom is I/O");
	snprintf(line, sizeof(line), "%d 0x1 0x2", SYS_clock_nanosleep);
	is_int(task_state_of(line), WIRE_STATE_SLEEPING, "clock_nanosleep is sleeping");
}

static void test_calls(void)
{
	struct task_call call;

	ok(task_call_of("45 0x5 0x7f10 0x2000 0x0 0x0 0x0 0x7ffe80 0x7f5a2b\n", &call) &&
			call.number == 45 && call.arguments[0] == 5 &&
			call.arguments[1] == 0x7f10 && call.arguments[2] == 0x2000 &&
			call.sp == 0x7ffe80 && call.pc == 0x7f5a2b,
		"a system call is parsed with arguments, stack pointer and pc");
	ok(task_call_of("-1 0x7ffe80 0x7f5a2b\n", &call) && call.number == TASK_NO_CALL &&
			call.sp == 0x7ffe80,
		"\"-1\" (waiting for a page) is no system call");
	ok(!task_call_of("running\n", &call), "\"running\" has no system call");
	ok(!task_call_of("", &call) && !task_call_of("-", &call), "an empty line is rejected");
	ok(!task_call_of("45 0x5 0x7f10 0x2000", &call), "a truncated line is rejected");
}

static _Atomic int other_tid;
static int other_pipe[2];

static void *other_main(void *arg)
{
	char byte;

	(void)arg;
	atomic_store(&other_tid, (int)syscall(SYS_gettid));
	return read(other_pipe[0], &byte, 1) == 1 ? arg : NULL;
}

/*
 * Whether /proc reports this thread's system call by our numbers; under emulation of another CPU they are the host's.
 */
static bool numbers_are_ours(void)
{
	int fd = open("/proc/thread-self/syscall", O_RDONLY | O_CLOEXEC);
	char line[100] = "";
	bool ours = read(fd, line, sizeof(line) - 1) > 0 && atol(line) == SYS_read;

	close(fd);
	return ours;
}

static void test_threads(void)
{
	int task_fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY),
	    self = (int)syscall(SYS_gettid);
	uint64_t before = 0, after = 0;
	struct task_call call;
	pthread_t other;
	uint32_t state;

	if (pipe(other_pipe) || pthread_create(&other, NULL, other_main, NULL))
		abort();
	while (!atomic_load(&other_tid))
		usleep(100);
	state = task_state(task_fd, self);
	if (state == TASK_UNKNOWN) {
		tap_skip("the states of threads are read", "not supported by this kernel");
	} else if (!numbers_are_ours()) {
		tap_skip("the states of threads are read",
			"/proc has another CPU's system call numbers");
	} else {
		is_int(state, WIRE_STATE_IO, "the calling thread, which reads /proc, is in I/O");
		while (task_state(task_fd, other_tid) == TASK_RUNS)
			usleep(100);
		is_int(task_state_call(task_fd, other_tid, &call), WIRE_STATE_IO,
			"a thread blocked in read is in I/O");
		ok(call.number == SYS_read && (int)call.arguments[0] == other_pipe[0],
			"the system call and descriptor of a blocked thread are known");
		is_int(task_state(task_fd, 1 << 30), TASK_UNKNOWN,
			"the state of an invalid tid is unknown");
	}
	ok(task_cpu_ns(other_tid, &before) && task_cpu_ns(other_tid, &after) && before == after,
		"the CPU time of a blocked thread does not increase");
	task_cpu_ns(self, &before);
	for (volatile int i = 0; i < 1000000; i++)
		;
	ok(task_cpu_ns(self, &after) && after > before,
		"the CPU time of a running thread increases");
	if (write(other_pipe[1], "x", 1) == 1)
		pthread_join(other, NULL);
	for (int i = 0; i < 10000 && task_cpu_ns(other_tid, &after); i++)
		usleep(1000); /* the thread exits shortly after it can be joined */
	ok(!task_cpu_ns(other_tid, &after), "an exited thread has no CPU time");
	close(task_fd);
}

/* --- waits by Java method ------------------------------------------------------------------------ */

static void add_method(struct states *states, uint32_t id, const char *class_name, const char *name)
{
	struct names_entry entry = {.id = id,
		.class_name = class_name,
		.name = name,
		.class_bytes = (uint16_t)strlen(class_name),
		.name_bytes = (uint16_t)strlen(name)};

	states_method(states, &entry);
}

static unsigned state_for(const struct states *states, uint32_t method)
{
	const uint64_t frames[] = {WIRE_NATIVE_FRAME(1, 0x1234),
		WIRE_METHOD_FRAME(WIRE_FRAME_C2, method, 3),
		WIRE_METHOD_FRAME(WIRE_FRAME_C2, 10, 3)};
	struct trace_key key = {.frames = frames,
		.count = method ? 3 : 1,
		.flags = WIRE_TRACE_IN_STATE(WALL_IN_FUTEX) | 1};

	return states_flags(states, &key);
}

/* virtual_state: the state of a virtual thread with `method` two frames above the leaf, called by `outer`. */
static unsigned virtual_state(const struct states *states, uint32_t method, uint32_t outer)
{
	const uint64_t frames[] = {WIRE_METHOD_FRAME(WIRE_FRAME_C2, 50, 3),
		WIRE_METHOD_FRAME(WIRE_FRAME_C2, 51, 3),
		WIRE_METHOD_FRAME(WIRE_FRAME_C2, method, 3),
		WIRE_METHOD_FRAME(WIRE_FRAME_C2, outer, 3)};
	struct trace_key key = {.frames = frames,
		.count = 4,
		.thread = WIRE_VIRTUAL_ID(7),
		.flags = WIRE_TRACE_IN_STATE(WALL_IN_FUTEX)};

	return WIRE_TRACE_STATE(states_flags(states, &key));
}

static void test_virtual_methods(void)
{
	struct states states = {0};

	add_method(&states, 20, "java/lang/VirtualThread", "sleepNanos");
	add_method(&states, 21, "java/util/concurrent/locks/LockSupport", "park");
	add_method(&states, 22, "sun/nio/ch/Poller", "poll");
	is_int(virtual_state(&states, 20, 60), WIRE_STATE_SLEEPING,
		"a virtual thread in sleepNanos sleeps");
	is_int(virtual_state(&states, 21, 60), WIRE_STATE_PARKED,
		"a virtual thread in park is parked");
	is_int(virtual_state(&states, 21, 22), WIRE_STATE_IO,
		"a virtual thread parked by Poller.poll is in I/O");
	is_int(virtual_state(&states, 60, 61), WIRE_STATE_SLEEPING,
		"a virtual thread in an unknown method sleeps");
}

static void test_methods(void)
{
	struct states states = {0};
	struct trace_key io = {.flags = WIRE_TRACE_IN_STATE(WIRE_STATE_IO)};

	add_method(&states, 10, "jdk/internal/misc/Unsafe", "park");
	add_method(&states, 11, "java/lang/Object", "wait");
	add_method(&states, 12, "java/lang/Thread", "sleep");
	add_method(&states, 13, "com/example/Unsafe", "park");
	is_int(state_for(&states, 10), WIRE_TRACE_IN_STATE(WIRE_STATE_PARKED) | 1,
		"Unsafe.park is parked, and other flags are found");
	is_int(state_for(&states, 11), WIRE_TRACE_IN_STATE(WIRE_STATE_WAITING) | 1,
		"Object.wait is waiting");
	is_int(state_for(&states, 12), WIRE_TRACE_IN_STATE(WIRE_STATE_SLEEPING) | 1,
		"Thread.sleep is sleeping");
	is_int(state_for(&states, 13), WIRE_TRACE_IN_STATE(WIRE_STATE_SLEEPING) | 1,
		"a method of the same name outside the JDK does not count");
	is_int(state_for(&states, 0), WIRE_TRACE_IN_STATE(WIRE_STATE_SLEEPING) | 1,
		"a stack without Java frames is sleeping");
	is_int(states_flags(&states, &io), io.flags, "a state from the kernel is found");
	for (uint32_t i = 0; i < STATES_IDS; i++)
		add_method(&states, 100 + i, "java/lang/Object", "wait");
	is_int(state_for(&states, 100 + STATES_IDS - 1),
		WIRE_TRACE_IN_STATE(WIRE_STATE_WAITING) | 1, "new method ids replace old ones");
}

/* --- known traces ------------------------------------------------------------------------------ */

static void test_known(void)
{
	struct known_traces *known = calloc(1, sizeof(*known));
	uint32_t found = 0, forgets = 0;
	uint64_t hash = 1;

	known->epoch = 1;
	ok(!known_id(known, 77), "an empty table knows no trace");
	ok(known_add(known, 77, 5) && known_id(known, 77) == 5, "an added trace is known");
	known_forget(known);
	ok(!known_id(known, 77), "known_forget removes all traces");
	for (uint32_t i = 1; i <= KNOWN_SLOTS; i++) {
		hash = hash * 6364136223846793005ull + 1442695040888963407ull;
		forgets += !known_add(known, hash, i);
		found += known_id(known, hash) == i;
	}
	is_int(found, KNOWN_SLOTS, "the trace added last is always known, however many there are");
	ok(forgets > 0, "a full table evicts traces");
	free(known);
}

int main(void)
{
	test_lines();
	test_calls();
	test_threads();
	test_methods();
	test_virtual_methods();
	test_known();
	return tap_done();
}
