/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads with the names and signal masks of HotSpot's, for processes that play a JVM.
 *
 * The caller has blocked SIGQUIT: its threads inherit that, as HotSpot's do. A thread writes a byte to the pipe once
 * it is set up, and ends with the process.
 */
#ifndef JHOT_TESTS_ATTACH_ACTORS_H
#define JHOT_TESTS_ATTACH_ACTORS_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* A dispatcher name for a thread of the program that has HotSpot's name (as the kernel truncates it), but not its mask. */
#define ACTORS_PRETENDER  "Signal Dispatch "
#define ACTORS(collector) ((collector) ? 3 : 2)

static int actors_pipe;

static sigset_t actors_quit(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGQUIT);
	return set;
}

static void *actors_run(void *name)
{
	sigset_t set = actors_quit();
	int sig;

	prctl(PR_SET_NAME, name);
	if (!strcmp(name, "VM Thread") || !strcmp(name, ACTORS_PRETENDER))
		pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	if (write(actors_pipe, "r", 1) != 1)
		_exit(5);
	if (!strcmp(name, "collector") && !sigwait(&set, &sig))
		_exit(8);
	for (;;)
		pause();
}

/* Starts a VM thread, a dispatcher and, if `collector`, a thread that collects SIGQUIT and then ends the process. */
static void actors_start(int pipe_end, const char *dispatcher, bool collector)
{
	const char *names[] = {"VM Thread", dispatcher, "collector"};
	pthread_t thread;

	actors_pipe = pipe_end;
	for (int i = 0; i < ACTORS(collector); i++)
		if (pthread_create(&thread, NULL, actors_run, (char *)names[i]))
			_exit(9);
}

#endif
