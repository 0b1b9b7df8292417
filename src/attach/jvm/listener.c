/* SPDX-License-Identifier: Apache-2.0 */
/* Recognizes HotSpot's threads by name and signal mask. */
#include "attach/jvm/listener.h"

#include "attach/proc.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>

#define QUIT_BIT (UINT64_C(1) << (SIGQUIT - 1))

/* A thread to find, by name and signal mask. */
struct wanted {
	const char *names[2]; /* NULL: any name */
	enum { ANY_MASK, BLOCKS_QUIT, ACCEPTS_QUIT } mask;
	bool not_first; /* not the process's first thread */
};

static bool matches(void *ctx, pid_t pid, pid_t tid)
{
	const struct wanted *w = ctx;
	struct proc_status status;
	char name[32];

	if (w->not_first && tid == pid)
		return false;
	if (w->names[0]) {
		proc_thread_name(pid, tid, name);
		if (strcmp(name, w->names[0]) && (!w->names[1] || strcmp(name, w->names[1])))
			return false;
	}
	if (w->mask == ANY_MASK)
		return true;
	bool blocks = !proc_thread_status(pid, tid, &status) && status.sig_blocked & QUIT_BIT;
	return blocks == (w->mask == BLOCKS_QUIT);
}

static pid_t find_thread(pid_t pid, struct wanted wanted)
{
	return proc_find_thread(pid, matches, &wanted);
}

pid_t listener_wakes(pid_t pid, bool full_signals)
{
	/* The kernel keeps 15 characters. Since JDK 25 the JVM itself shortens the name, to "Signal ..atcher". */
	static const struct wanted dispatcher = {
		.names = {"Signal Dispatch", "Signal ..atcher"}, .mask = BLOCKS_QUIT};
	struct proc_status status;

	if (proc_status(pid, &status) || !(status.sig_caught & QUIT_BIT))
		return 0;
	if (find_thread(pid, dispatcher))
		return find_thread(
			pid, (struct wanted){.names = {"VM Thread"}, .mask = ACCEPTS_QUIT});
	if (full_signals && !find_thread(pid, (struct wanted){.names = {"VM Thread"}}) &&
		find_thread(pid, (struct wanted){.mask = BLOCKS_QUIT}))
		return find_thread(pid, (struct wanted){.mask = ACCEPTS_QUIT, .not_first = true});
	return 0;
}

bool listener_runs(pid_t pid)
{
	return find_thread(pid, (struct wanted){.names = {"Attach Listener"}}) != 0;
}
