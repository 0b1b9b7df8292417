/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that beats while the main loop moves; when this process dies or hangs, so does the beat. That it died, and
 * was not only kept from running, the kernel says: it marks the locks that a thread still holds at its end.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "session/mapping.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

struct lease {
	struct mapping *mapping;
	unsigned beat_ms;
	uint64_t stall_ns;
	_Atomic uint64_t moved_ns;
	pthread_t thread;
	_Atomic uint32_t stop;
	struct robust_list_head held; /* of that thread: control.holder */
	struct robust_list holder;
};

/* Nothing else in this thread uses robust locks. Where the kernel has no list, the word stays 0. */
static void lease_hold(struct lease *l)
{
	_Atomic uint32_t *word = &l->mapping->control->holder;

	l->holder.next = &l->held.list;
	l->held.list.next = &l->holder;
	l->held.futex_offset = (char *)word - (char *)&l->holder;
	if (!syscall(SYS_set_robust_list, &l->held, sizeof(l->held)))
		atomic_store(word, (uint32_t)syscall(SYS_gettid));
}

static void *lease_main(void *arg)
{
	struct lease *l = arg;

	lease_hold(l);
	while (!atomic_load(&l->stop)) {
		if (clock_mono_ns() - atomic_load(&l->moved_ns) < l->stall_ns)
			atomic_fetch_add(&l->mapping->control->beat, 1);
		control_futex_wait(&l->stop, 0, l->beat_ms * NS_PER_MS);
	}
	l->held.list.next = &l->held.list;
	atomic_store(&l->mapping->control->holder, 0);
	return NULL;
}

struct lease *lease_start_with(
	struct mapping *m, unsigned beat_ms, unsigned stall_ms, struct err *err)
{
	struct lease *l = xcalloc(1, sizeof(*l));
	sigset_t all, before;
	int error;

	l->mapping = m;
	l->beat_ms = beat_ms;
	l->stall_ns = stall_ms * NS_PER_MS;
	lease_moved(l);
	sigfillset(&all); /* signals are the main thread's */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&l->thread, NULL, lease_main, l);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!error)
		return l;
	free(l);
	errno = error;
	err_set_errno(err, ERR_FAILED, "The thread that keeps the session cannot be started");
	return NULL;
}

struct lease *lease_start(struct mapping *m, struct err *err)
{
	return lease_start_with(m, LEASE_BEAT_MS, LEASE_STALL_MS, err);
}

void lease_moved(struct lease *l)
{
	atomic_store(&l->moved_ns, clock_mono_ns());
}

void lease_stop(struct lease *l)
{
	if (!l)
		return;
	atomic_store(&l->stop, 1);
	control_futex_wake(&l->stop);
	pthread_join(l->thread, NULL);
	free(l);
}
