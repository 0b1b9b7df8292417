/* SPDX-License-Identifier: Apache-2.0 */
/* Threads are looked for in /proc; whoever is new there gets an event, opened as the agent would do it. */
#include "session/lend.h"

#include "attach/proc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "wire/lend.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438 /* the same on every CPU */
#endif

#define LEND_EVERY_NS (50 * NS_PER_MS)
#define LEND_COST     20           /* of the time, 1/20 may go into looking */
#define LEND_PERIOD   (1ull << 50) /* the agent sets its own */
#define LEND_LOST     (1u << 4)    /* PERF_FORMAT_LOST of Linux 6.0, which older headers lack */

struct lend {
	const struct hotspot *jvm;
	int socket;
	bool kernel_only;
	struct hash_index had,
		has; /* threads by their tid here: served at the last look, at this one */
	uint64_t due_ns;
	bool full;   /* the socket: the agent has yet to take what was sent */
	int refused; /* errno of an event that the kernel did not open, 0: none */

	/* what goes out next */
	struct wire_lend message;
	int32_t tids[WIRE_LEND_MAX]; /* here */
	int fds[WIRE_LEND_MAX];
};

/* --- sending ------------------------------------------------------------------------------------------- */

/* 0 or errno; what was sent is the JVM's alone, what was not is given up. */
static int lend_send(struct lend *l)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(l->fds))];
	} control = {.header = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
	size_t bytes = l->message.count * sizeof(l->fds[0]);
	struct iovec text = {&l->message, sizeof(l->message)};
	struct msghdr header = {.msg_iov = &text,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = CMSG_SPACE(bytes)};
	int error;

	control.header.cmsg_len = CMSG_LEN(bytes);
	memcpy(CMSG_DATA(&control.header), l->fds, bytes);
	error = sendmsg(l->socket, &header, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? errno : 0;
	for (uint32_t i = 0; i < l->message.count; i++)
		close(l->fds[i]);
	return error;
}

static void lend_flush(struct lend *l)
{
	if (!l->message.count)
		return;
	if (lend_send(l))
		l->full = true; /* they are tried again */
	else
		for (uint32_t i = 0; i < l->message.count; i++)
			hash_index_add(&l->has, hash_u64((uint64_t)l->tids[i]), 0);
	l->message.count = 0;
}

/* --- threads ------------------------------------------------------------------------------------------- */

/* As the agent asks for it: perf_attr in sampler/engine/perf.c. */
static int lend_open_event(const struct lend *l, pid_t tid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE_VER1,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = LEND_PERIOD,
		.sample_type = PERF_SAMPLE_CALLCHAIN,
		.read_format = LEND_LOST,
		.disabled = 1,
		.wakeup_events = 1,
		.exclude_callchain_user = 1,
		.exclude_hv = 1,
		.exclude_user = l->kernel_only,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0 || errno != EINVAL)
		return fd;
	attr.read_format = 0; /* an older kernel */
	return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* The event is the JVM's thread's: one that had ended has not given its number to a thread of somebody else's meanwhile. */
static bool lend_is_its(const struct lend *l, pid_t tid, int32_t *there)
{
	struct proc_status status;

	if (proc_status(tid, &status) || status.tgid != l->jvm->pid)
		return false;
	*there = l->jvm->other_pid_ns ? status.nspid : tid;
	return true;
}

static void lend_thread(void *ctx, pid_t tid)
{
	struct lend *l = ctx;
	uint64_t hash = hash_u64((uint64_t)tid);
	int32_t there;
	int fd;

	if (hash_index_find(&l->had, hash, NULL, NULL) != HASH_NONE) {
		hash_index_add(&l->has, hash, 0);
		return;
	}
	if (l->full)
		return;
	fd = lend_open_event(l, tid);
	if (fd < 0) {
		l->refused = errno == ESRCH ? l->refused : errno;
		return;
	}
	if (!lend_is_its(l, tid, &there)) {
		close(fd);
		return;
	}
	l->tids[l->message.count] = tid;
	l->message.tids[l->message.count] = there;
	l->fds[l->message.count++] = fd;
	if (l->message.count == WIRE_LEND_MAX)
		lend_flush(l);
}

void lend_step(struct lend *l)
{
	uint64_t now_ns = clock_mono_ns(), took_ns;
	struct hash_index had = l->had;

	if (now_ns < l->due_ns)
		return;
	l->full = false;
	proc_threads(l->jvm->pid, lend_thread, l);
	lend_flush(l);
	l->had = l->has;
	l->has = had;
	hash_index_clear(&l->has);
	took_ns = (clock_mono_ns() - now_ns) * LEND_COST;
	l->due_ns = now_ns + (took_ns > LEND_EVERY_NS ? took_ns : LEND_EVERY_NS);
}

/* --- beginning, end -------------------------------------------------------------------------------------- */

static int lend_refused(int error, const char *what, struct err *err)
{
	err_set(err, ERR_ATTACH, "perf_events cannot be lent: %s: %s.", what, strerror(error));
	if (error == ENOSYS || error == EBADF)
		err_hint(err, "this needs Linux 5.6: use another engine");
	else if (error == EACCES || error == EPERM)
		err_hint(err, "be root on the host, outside of the container: sudo jhot ...");
	return -1;
}

struct lend *lend_begin(
	const struct hotspot *jvm, int pidfd, int socket_there, bool kernel_only, struct err *err)
{
	struct lend *l = xcalloc(1, sizeof(*l));

	l->jvm = jvm;
	l->kernel_only = kernel_only;
	l->socket = (int)syscall(SYS_pidfd_getfd, pidfd, socket_there, 0);
	if (l->socket < 0) {
		lend_refused(errno, "the agent's socket", err);
		lend_free(l);
		return NULL;
	}
	lend_step(l);
	if (!l->had.used && l->refused) {
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
	hash_index_done(&l->had);
	hash_index_done(&l->has);
	if (l->socket >= 0)
		close(l->socket);
	free(l);
}
