/* SPDX-License-Identifier: Apache-2.0 */
/* Scans /proc for new threads, and opens an event on each as the agent would. */
#include "session/lend.h"

#include "attach/perf/lend.h"
#include "attach/proc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "wire/lend.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEND_EVERY_NS (50 * NS_PER_MS)
#define LEND_COST     20 /* scans may use 1/20 of the time */

_Static_assert(WIRE_LEND_MAX <= PERF_LEND_MAX, "a message can be sent");

struct lend {
	const struct hotspot *jvm;
	int socket;
	bool kernel_only;
	/* Threads that had an event at the end of the previous scan, and of this one; by their tid in our namespace. */
	struct hash_index before, now;
	uint64_t due_ns;
	bool full;   /* the socket is full: the agent has not received the last message */
	int refused; /* errno of an event that could not be opened; 0: none */

	/* the next message */
	struct wire_lend message;
	int32_t tids[WIRE_LEND_MAX]; /* in our namespace */
	int fds[WIRE_LEND_MAX];
};

/* --- sending ------------------------------------------------------------------------------------------- */

/* Sends the message, and closes its descriptors. */
static void lend_flush(struct lend *l)
{
	if (!l->message.count)
		return;
	l->full = perf_lend_send(
			  l->socket, &l->message, sizeof(l->message), l->fds, l->message.count) < 0;
	for (uint32_t i = 0; i < l->message.count; i++) {
		if (!l->full) /* otherwise retried at the next scan */
			hash_index_add(&l->now, hash_u64((uint64_t)l->tids[i]), 0);
		close(l->fds[i]); /* the JVM owns its copy */
	}
	l->message.count = 0;
}

/* --- threads ------------------------------------------------------------------------------------------- */

/* Keeps the entry of a thread that has an event; opens one on a new thread. */
static void lend_thread(void *ctx, pid_t tid)
{
	struct lend *l = ctx;
	uint64_t hash = hash_u64((uint64_t)tid);
	struct proc_status status;

	if (hash_index_find(&l->before, hash, NULL, NULL) != HASH_NONE) {
		hash_index_add(&l->now, hash, 0);
		return;
	}
	if (l->full)
		return;
	int fd = perf_lend_open(tid, l->kernel_only);
	if (fd < 0) {
		l->refused = errno == ESRCH ? l->refused : errno;
		return;
	}
	/* The tid may have been reused: the event must be on a thread of the JVM, not of another process. */
	if (proc_status(tid, &status) || status.tgid != l->jvm->pid) {
		close(fd);
		return;
	}
	l->tids[l->message.count] = tid;
	l->message.tids[l->message.count] = l->jvm->other_pid_ns ? status.nspid : tid;
	l->fds[l->message.count++] = fd;
	if (l->message.count == WIRE_LEND_MAX)
		lend_flush(l);
}

void lend_step(struct lend *l)
{
	uint64_t now_ns = clock_mono_ns();
	struct hash_index before = l->before;

	if (now_ns < l->due_ns)
		return;
	l->full = false;
	proc_threads(l->jvm->pid, lend_thread, l);
	lend_flush(l);
	l->before = l->now;
	l->now = before;
	hash_index_clear(&l->now);
	uint64_t took_ns = (clock_mono_ns() - now_ns) * LEND_COST;
	l->due_ns = now_ns + (took_ns > LEND_EVERY_NS ? took_ns : LEND_EVERY_NS);
}

/* --- begin, end -------------------------------------------------------------------------------------- */

static int lend_refused(int error, const char *what, struct err *err)
{
	err_set(err, ERR_ATTACH, "Cannot lend perf_events to the JVM: %s: %s.", what,
		strerror(error));
	if (error == ENOSYS || error == EBADF)
		err_hint(err, "this needs Linux 5.6: use another engine");
	else if (error == EACCES || error == EPERM)
		err_hint(err, "run jhot as root on the host, outside the container: sudo jhot ...");
	return -1;
}

struct lend *lend_begin(
	const struct hotspot *jvm, int pidfd, int socket_there, bool kernel_only, struct err *err)
{
	struct lend *l = xcalloc(1, sizeof(*l));

	l->jvm = jvm;
	l->kernel_only = kernel_only;
	l->socket = perf_lend_socket(pidfd, socket_there);
	if (l->socket < 0) {
		lend_refused(errno, "the agent's socket", err);
		lend_free(l);
		return NULL;
	}
	lend_step(l);
	if (!l->before.used && l->refused) {
		lend_refused(l->refused, "an event on the JVM's threads", err);
		lend_free(l);
		return NULL;
	}
	return l;
}

void lend_free(struct lend *l)
{
	if (!l)
		return;
	hash_index_done(&l->before);
	hash_index_done(&l->now);
	if (l->socket >= 0)
		close(l->socket);
	free(l);
}
