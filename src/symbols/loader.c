/* SPDX-License-Identifier: Apache-2.0 */
/* One queue, one thread, one condition for both directions. */
#include "symbols/loader.h"

#include "base/buf.h"
#include "base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define LOADER_END_MS  1000 /* what the end waits for a load to give up */
#define LOADER_REST_MS 2000 /* without a load, before the child ends */
#define LOADER_STACK   (1u << 20)

enum { LOAD_NEW, LOAD_ASKED, LOAD_DONE };

struct loader {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed; /* any of the fields below */
	struct load *first, **last;
	bool started, working, ended;
	struct elf_child *child;
	int nice;
	unsigned done; /* loads, so far */
	atomic_bool stop;
};

static struct timespec loader_in(unsigned ms)
{
	uint64_t at_ns = clock_mono_ns() + ms * NS_PER_MS;

	return (struct timespec){(time_t)(at_ns / NS_PER_S), (long)(at_ns % NS_PER_S)};
}

/* Waits for a load, with the lock. The child is kept for those that follow at once. */
static void loader_idle(struct loader *w)
{
	struct timespec at = loader_in(LOADER_REST_MS);
	int rc = 0;

	while (!w->first && !atomic_load(&w->stop) && rc != ETIMEDOUT)
		rc = pthread_cond_timedwait(&w->changed, &w->lock, &at);
	if (rc == ETIMEDOUT) {
		pthread_mutex_unlock(&w->lock);
		elf_child_rest(w->child);
		pthread_mutex_lock(&w->lock);
	}
	while (!w->first && !atomic_load(&w->stop))
		pthread_cond_wait(&w->changed, &w->lock);
}

static void *loader_main(void *arg)
{
	struct loader *w = arg;

	setpriority(PRIO_PROCESS, (id_t)gettid(), w->nice);
	pthread_mutex_lock(&w->lock);
	while (!atomic_load(&w->stop)) {
		struct load *l = w->first;

		if (!l) {
			loader_idle(w);
			continue;
		}
		w->first = l->next;
		if (!w->first)
			w->last = &w->first;
		w->working = true;
		pthread_mutex_unlock(&w->lock);
		l->run(l, w->child, &w->stop);
		pthread_mutex_lock(&w->lock);
		atomic_store(&l->state, LOAD_DONE);
		w->working = false;
		w->done++;
		pthread_cond_broadcast(&w->changed);
	}
	w->ended = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

struct loader *loader_new(void)
{
	struct loader *w = xcalloc(1, sizeof(*w));
	pthread_condattr_t attr;

	w->last = &w->first;
	w->child = elf_child_new();
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->changed, &attr);
	pthread_condattr_destroy(&attr);
	return w;
}

void loader_start(struct loader *w, int nice)
{
	sigset_t all, before;
	pthread_attr_t stack;

	if (w->started)
		return;
	w->nice = nice;
	pthread_attr_init(&stack);
	pthread_attr_setstacksize(&stack, LOADER_STACK);
	sigfillset(&all); /* signals are the main thread's */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	w->started = !pthread_create(&w->thread, &stack, loader_main, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&stack);
}

static bool loader_join(struct loader *w)
{
	struct timespec at = loader_in(LOADER_END_MS);
	bool ended;

	pthread_mutex_lock(&w->lock);
	atomic_store(&w->stop, true);
	pthread_cond_broadcast(&w->changed);
	while (!w->ended && pthread_cond_timedwait(&w->changed, &w->lock, &at) != ETIMEDOUT)
		;
	ended = w->ended;
	pthread_mutex_unlock(&w->lock);
	if (ended)
		pthread_join(w->thread, NULL);
	else
		pthread_detach(w->thread);
	return ended;
}

bool loader_free(struct loader *w)
{
	if (!w)
		return true;
	if (w->started && !loader_join(w))
		return false;
	elf_child_free(w->child);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	free(w);
	return true;
}

bool loader_ask(struct loader *w, struct load *l)
{
	static const atomic_bool never;
	int state = atomic_load(&l->state);

	if (state == LOAD_DONE)
		return true;
	if (!w->started) {
		l->run(l, w->child, &never);
		atomic_store(&l->state, LOAD_DONE);
		return true;
	}
	if (state == LOAD_ASKED)
		return false;
	pthread_mutex_lock(&w->lock);
	atomic_store(&l->state, LOAD_ASKED);
	l->next = NULL;
	*w->last = l;
	w->last = &l->next;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	return false;
}

bool loader_is_waiting(const struct load *l)
{
	return atomic_load(&l->state) == LOAD_ASKED;
}

void loader_wait(struct loader *w, unsigned ms)
{
	struct timespec at = loader_in(ms);
	unsigned done;

	if (!w->started || !ms)
		return;
	pthread_mutex_lock(&w->lock);
	done = w->done;
	while (done == w->done && (w->first || w->working) &&
		pthread_cond_timedwait(&w->changed, &w->lock, &at) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&w->lock);
}
