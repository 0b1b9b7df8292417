/* SPDX-License-Identifier: Apache-2.0 */
/* Starts threads of the front end. Header-only; any thread. */
#ifndef JHOT_BASE_THREAD_H
#define JHOT_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

/*
 * pthread_create for a thread with all signals blocked: the main thread handles them. A thread inherits the mask of its creator, so
 * no signal reaches it even before it runs. attr may be NULL. Returns 0 or an error number.
 */
static inline int thread_start(
	pthread_t *out, const pthread_attr_t *attr, void *(*main)(void *arg), void *arg)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(out, attr, main, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

#endif
