/* SPDX-License-Identifier: Apache-2.0 */
/* Two queues, a thread for each, one lock, and one condition for all that changes. */
#include "symbols/loader.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define LOADER_END_MS  1000 /* loader_free waits this long for running loads to return */
#define LOADER_REST_MS 2000 /* idle time after which the parser child ends */

enum { LOAD_NEW, LOAD_PENDING, LOAD_DONE };

/* Bytes of stack. A demangler keeps the parsed name on it, and recurses. Pages that are not touched cost nothing. */
static const size_t loader_stacks[LOADER_LANES] = {
	[LOADER_FILES] = 1u << 20, [LOADER_NAMES] = 8u << 20};

/* All fields but loader and thread are guarded by the loader's lock. */
struct lane {
	struct loader *loader;
	pthread_t thread;
	struct load *first, **last;
	bool started, working, ended; /* started: the thread exists */
};

struct loader {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* any field that the lock guards */
	struct lane lanes[LOADER_LANES];
	unsigned done;           /* number of finished loads; guarded by the lock */
	struct elf_child *child; /* used by the thread of LOADER_FILES */
	int nice;                /* constant once a lane has started */
	bool threaded;           /* the owner's: loader_start was called */
	atomic_bool stop;
};

/* The time in `ms` from now, on the clock of pthread_cond_timedwait. */
static struct timespec loader_in(unsigned ms)
{
	uint64_t at_ns = clock_mono_ns() + ms * NS_PER_MS;

	return (struct timespec){(time_t)(at_ns / NS_PER_S), (long)(at_ns % NS_PER_S)};
}

/* Waits for a load; the caller holds the lock. The child survives short pauses between loads. */
static void lane_idle(struct lane *lane)
{
	struct loader *loader = lane->loader;
	struct timespec at = loader_in(LOADER_REST_MS);
	bool files = lane == &loader->lanes[LOADER_FILES];
	int rc = 0;

	while (files && !lane->first && !atomic_load(&loader->stop) && rc != ETIMEDOUT)
		rc = pthread_cond_timedwait(&loader->changed, &loader->lock, &at);
	if (rc == ETIMEDOUT) {
		pthread_mutex_unlock(&loader->lock);
		elf_child_stop(loader->child);
		pthread_mutex_lock(&loader->lock);
	}
	while (!lane->first && !atomic_load(&loader->stop))
		pthread_cond_wait(&loader->changed, &loader->lock);
}

static void *lane_main(void *arg)
{
	struct lane *lane = arg;
	struct loader *loader = lane->loader;
	struct elf_child *child = lane == &loader->lanes[LOADER_FILES] ? loader->child : NULL;

	setpriority(PRIO_PROCESS, (id_t)gettid(), loader->nice);
	pthread_mutex_lock(&loader->lock);
	while (!atomic_load(&loader->stop)) {
		struct load *l = lane->first;

		if (!l) {
			lane_idle(lane);
			continue;
		}
		lane->first = l->next;
		if (!lane->first)
			lane->last = &lane->first;
		lane->working = true;
		pthread_mutex_unlock(&loader->lock);
		l->run(l, child, &loader->stop);
		pthread_mutex_lock(&loader->lock);
		atomic_store(&l->state, LOAD_DONE);
		lane->working = false;
		loader->done++;
		pthread_cond_broadcast(&loader->changed);
	}
	lane->ended = true;
	pthread_cond_broadcast(&loader->changed);
	pthread_mutex_unlock(&loader->lock);
	return NULL;
}

struct loader *loader_new(void)
{
	struct loader *loader = xcalloc(1, sizeof(*loader));
	pthread_condattr_t attr;

	for (int i = 0; i < LOADER_LANES; i++) {
		loader->lanes[i].loader = loader;
		loader->lanes[i].last = &loader->lanes[i].first;
	}
	loader->child = elf_child_new();
	pthread_mutex_init(&loader->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&loader->changed, &attr);
	pthread_condattr_destroy(&attr);
	return loader;
}

void loader_start(struct loader *loader, int nice)
{
	if (loader->threaded)
		return;
	loader->nice = nice;
	loader->threaded = true;
}

/* Creates the lane's thread. False if it does not exist. */
static bool lane_start(struct lane *lane)
{
	pthread_attr_t stack;

	if (lane->started || !lane->loader->threaded)
		return lane->started;
	pthread_attr_init(&stack);
	pthread_attr_setstacksize(&stack, loader_stacks[lane - lane->loader->lanes]);
	lane->started = !thread_start(&lane->thread, &stack, lane_main, lane);
	pthread_attr_destroy(&stack);
	return lane->started;
}

static bool lane_has_ended(const struct lane *lane)
{
	return !lane->started || lane->ended;
}

bool loader_free(struct loader *loader)
{
	struct timespec at = loader_in(LOADER_END_MS);
	bool ended[LOADER_LANES], all = true;

	if (!loader)
		return true;
	pthread_mutex_lock(&loader->lock);
	atomic_store(&loader->stop, true);
	pthread_cond_broadcast(&loader->changed);
	while (!(lane_has_ended(&loader->lanes[LOADER_FILES]) &&
		       lane_has_ended(&loader->lanes[LOADER_NAMES])) &&
		pthread_cond_timedwait(&loader->changed, &loader->lock, &at) != ETIMEDOUT)
		;
	for (int i = 0; i < LOADER_LANES; i++)
		ended[i] = lane_has_ended(&loader->lanes[i]);
	pthread_mutex_unlock(&loader->lock);
	for (int i = 0; i < LOADER_LANES; i++) {
		if (loader->lanes[i].started)
			(ended[i] ? pthread_join(loader->lanes[i].thread, NULL)
				  : pthread_detach(loader->lanes[i].thread));
		all &= ended[i];
	}
	if (!all)
		return false;
	elf_child_free(loader->child);
	pthread_cond_destroy(&loader->changed);
	pthread_mutex_destroy(&loader->lock);
	free(loader);
	return true;
}

bool loader_request(struct loader *loader, struct load *l)
{
	static const atomic_bool never;
	struct lane *lane = &loader->lanes[l->lane];
	int state = atomic_load(&l->state);

	if (state == LOAD_DONE)
		return true;
	if (state == LOAD_PENDING)
		return false;
	if (!lane_start(lane)) {
		l->run(l, loader->child, &never);
		atomic_store(&l->state, LOAD_DONE);
		return true;
	}
	pthread_mutex_lock(&loader->lock);
	atomic_store(&l->state, LOAD_PENDING);
	l->next = NULL;
	*lane->last = l;
	lane->last = &l->next;
	pthread_cond_broadcast(&loader->changed);
	pthread_mutex_unlock(&loader->lock);
	return false;
}

bool loader_is_pending(const struct load *l)
{
	return atomic_load(&l->state) == LOAD_PENDING;
}

static bool loader_is_busy(const struct loader *loader)
{
	bool busy = false;

	for (int i = 0; i < LOADER_LANES; i++)
		busy |= loader->lanes[i].first || loader->lanes[i].working;
	return busy;
}

void loader_wait(struct loader *loader, unsigned ms)
{
	struct timespec at = loader_in(ms);
	unsigned done;

	if (!loader->threaded || !ms)
		return;
	pthread_mutex_lock(&loader->lock);
	done = loader->done;
	while (done == loader->done && loader_is_busy(loader) &&
		pthread_cond_timedwait(&loader->changed, &loader->lock, &at) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&loader->lock);
}
