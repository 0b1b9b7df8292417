/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that reacts to the stop too late: it continues by itself as soon as it can. */
#include "dump/remote.h"

#include "base/clock.h"
#include "tests/tap.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LATE_US (1200 * 1000u) /* longer than a capture waits for the stop */

/* Shared with the target. */
static struct shared {
	atomic_int steps;   /* grows while the target runs */
	atomic_int waits;   /* 1: it is about to wait in vfork, where a stop has to wait */
	atomic_int signals; /* SIGUSR1 so far */
} * shared;

static void on_signal(int sig)
{
	(void)sig;
	atomic_fetch_add(&shared->signals, 1);
}

static void target(void)
{
	pid_t child;

	signal(SIGUSR1, on_signal);
	atomic_store(&shared->waits, 1);
	child = vfork();
	if (child == 0) {
		usleep(LATE_US);
		_exit(0);
	}
	for (;;) {
		atomic_fetch_add(&shared->steps, 1);
		usleep(1000);
	}
}

static uint64_t no_end(void *ctx, uint64_t sp)
{
	(void)ctx, (void)sp;
	return 0;
}

static bool counts(atomic_int *counter, uint64_t within_ns)
{
	uint64_t until_ns = clock_mono_ns() + within_ns;
	int before = atomic_load(counter);

	while (atomic_load(counter) == before && clock_mono_ns() < until_ns)
		usleep(1000);
	return atomic_load(counter) != before;
}

static void test_late(void)
{
	const struct remote_want nothing = {0};
	struct walk_regs regs;
	struct err err = {0};
	struct remote *r;
	uint64_t pause_ns;
	pid_t pid = fork();

	if (pid == 0)
		target();
	while (!atomic_load(&shared->waits))
		usleep(1000);
	usleep(100 * 1000); /* into vfork */
	kill(pid, SIGUSR1);
	r = remote_open(pid, (uint64_t)(uintptr_t)&shared, &err);
	ok(r != NULL, "the process's memory can be opened");
	if (!r)
		goto out;
	ok(remote_capture(r, pid, &nothing, no_end, NULL, &regs) == REMOTE_STUCK,
		"capturing a thread in vfork times out");
	pause_ns = remote_longest_pause_ns(r);
	ok(pause_ns > 0 && pause_ns < 300 * NS_PER_MS, "its pause is bounded: %llu us at most",
		(unsigned long long)(pause_ns / 1000));
	ok(counts(&shared->steps, 10 * NS_PER_S), "the thread continues after the failed capture");
	ok(counts(&shared->steps, 10 * NS_PER_S), "the thread is still running later");
	ok(atomic_load(&shared->signals) == 1,
		"a signal that was pending during the capture arrived");
	ok(remote_capture(r, pid, &nothing, no_end, NULL, &regs) == REMOTE_OK,
		"the thread can be captured after vfork");
	ok(counts(&shared->steps, 10 * NS_PER_S), "the thread continues after the capture");
out:
	remote_close(r);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int main(void)
{
	shared = mmap(
		NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	test_late();
	return tap_done();
}
