/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises HotSpot's threads by name and signal mask. */
#include "attach/jvm/listener.h"

#include "attach/proc.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>

#define QUIT_BIT (UINT64_C(1) << (SIGQUIT - 1))

static bool blocks_quit(pid_t pid, pid_t tid)
{
	struct proc_status status;

	return !proc_thread_status(pid, tid, &status) && status.sig_blocked & QUIT_BIT;
}

/* The kernel keeps 15 characters: "Signal Dispatch". Since JDK 25 the JVM itself shortens it to "Signal ..atcher". */
static bool is_dispatcher(void *ctx, pid_t pid, pid_t tid)
{
	char name[32];

	(void)ctx;
	proc_thread_name(pid, tid, name);
	return (!strcmp(name, "Signal Dispatch") || !strcmp(name, "Signal ..atcher")) &&
	       blocks_quit(pid, tid);
}

static bool is_vm_thread(void *ctx, pid_t pid, pid_t tid)
{
	char name[32];

	(void)ctx;
	proc_thread_name(pid, tid, name);
	return !strcmp(name, "VM Thread") && !blocks_quit(pid, tid);
}

static bool is_listener(void *ctx, pid_t pid, pid_t tid)
{
	char name[32];

	(void)ctx;
	proc_thread_name(pid, tid, name);
	return !strcmp(name, "Attach Listener");
}

static bool has_vm_name(void *ctx, pid_t pid, pid_t tid)
{
	char name[32];

	(void)ctx;
	proc_thread_name(pid, tid, name);
	return !strcmp(name, "VM Thread");
}

static bool is_blocking(void *ctx, pid_t pid, pid_t tid)
{
	(void)ctx;
	return blocks_quit(pid, tid);
}

static bool is_taking(void *ctx, pid_t pid, pid_t tid)
{
	(void)ctx;
	return tid != pid && !blocks_quit(pid, tid);
}

pid_t listener_wakes(pid_t pid, bool full_signals)
{
	struct proc_status status;

	if (proc_status(pid, &status) || !(status.sig_caught & QUIT_BIT))
		return 0;
	if (proc_find_thread(pid, is_dispatcher, NULL))
		return proc_find_thread(pid, is_vm_thread, NULL);
	if (full_signals && !proc_find_thread(pid, has_vm_name, NULL) &&
		proc_find_thread(pid, is_blocking, NULL))
		return proc_find_thread(pid, is_taking, NULL);
	return 0;
}

bool listener_runs(pid_t pid)
{
	return proc_find_thread(pid, is_listener, NULL) != 0;
}
