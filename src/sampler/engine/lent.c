/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receiving borrowed perf_events. The sender is the front end that owns the session's shared memory, so it is trusted:
 * it can do more than this anyway.
 */
#include "sampler/engine/lent.h"

#include "sampler/engine/arms.h"
#include "sampler/engine/events.h"
#include "sampler/engine/perf_fd.h"
#include "sampler/session/files.h"
#include "sampler/session/scan.h"
#include "sampler/signal/raw.h"
#include "wire/lend.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Datagrams received per call at most; a front end sends no more. */
#define LENT_AT_ONCE (THREADS_MAX / WIRE_LEND_MAX)

/* A datagram and the descriptors that came with it. */
struct lent_message {
	struct wire_lend lend;
	/* True when it or some of its descriptors cannot be received for lack of descriptors. */
	bool cut;
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int) * WIRE_LEND_MAX)];
};

/* Connects on "jhot files", since the front end can only copy descriptors in the program's table. */
static void lent_connect(void *ctx)
{
	struct sampler *s = ctx;
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	long fd = raw(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	memcpy(at.sun_path, s->lent.name, s->lent.name_bytes);
	files_identify(&s->lent.theirs, (int32_t)fd);
	if (fd >= 0 && raw(SYS_connect, fd, &at,
			       offsetof(struct sockaddr_un, sun_path) + s->lent.name_bytes) < 0)
		files_close(&s->lent.theirs);
}

static void lent_close_theirs(void *ctx)
{
	files_close(ctx);
}

/* A listening socket with a name chosen by the kernel. Returns its descriptor or -errno. */
static long lent_listen(struct sampler *s)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	socklen_t bytes = sizeof(at);
	long error, fd = raw(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return fd;
	error = raw(SYS_bind, fd, &at, sizeof(at.sun_family));
	if (error >= 0)
		error = raw(SYS_listen, fd, 1);
	if (error >= 0)
		error = raw(SYS_getsockname, fd, &at, &bytes);
	if (error >= 0 && bytes - offsetof(struct sockaddr_un, sun_path) > sizeof(s->lent.name))
		error = -ENAMETOOLONG;
	if (error < 0) {
		raw(SYS_close, fd);
		return error;
	}
	s->lent.name_bytes = (uint32_t)(bytes - offsetof(struct sockaddr_un, sun_path));
	memcpy(s->lent.name, at.sun_path, s->lent.name_bytes);
	return fd;
}

/* Accepts a connection from this process only. */
static long lent_accept(long listening)
{
	struct ucred peer = {0};
	socklen_t bytes = sizeof(peer);
	long fd = raw(SYS_accept4, listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0 && (raw(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) < 0 ||
			       peer.pid != (pid_t)raw(SYS_getpid))) {
		raw(SYS_close, fd);
		return -EPERM;
	}
	return fd;
}

int lent_open(struct sampler *s)
{
	long listening, fd = -EIO;

	if (sampler_is_lent(s))
		return s->lent.theirs.fd >= 0 ? s->lent.theirs.fd : -EBUSY;
	if (!s->files.own)
		return -EPERM;
	listening = lent_listen(s);
	if (listening < 0)
		return (int)listening;
	if (files_run(s, lent_connect, s) && s->lent.theirs.fd >= 0)
		fd = lent_accept(listening);
	raw(SYS_close, listening);
	if (fd < 0) {
		files_run(s, lent_close_theirs, &s->lent.theirs);
		return (int)fd;
	}
	s->lent.ours = (int32_t)fd;
	return s->lent.theirs.fd;
}

/* Receives one datagram. Returns the number of descriptors stored in fds. */
static uint32_t lent_receive(const struct sampler *s, struct lent_message *message, int *fds)
{
	struct iovec text = {&message->lend, sizeof(message->lend)};
	struct msghdr header = {.msg_iov = &text,
		.msg_iovlen = 1,
		.msg_control = message->control,
		.msg_controllen = sizeof(message->control)};
	const struct cmsghdr *part = (const void *)message->control;
	size_t bytes;

	message->lend.count = 0;
	if (raw(SYS_recvmsg, s->lent.ours, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0 ||
		header.msg_controllen < sizeof(*part) || part->cmsg_level != SOL_SOCKET ||
		part->cmsg_type != SCM_RIGHTS)
		return 0;
	message->cut = header.msg_flags & MSG_CTRUNC;
	bytes = part->cmsg_len - CMSG_LEN(0);
	memcpy(fds, CMSG_DATA(part), bytes);
	return (uint32_t)(bytes / sizeof(int));
}

/* Hands the descriptor to its thread, which may be unlisted yet or have ended; in the latter case closes it. */
static void lent_give(struct sampler *s, int32_t tid, int fd)
{
	struct thread_slot *slot = threads_find(s->threads, tid);

	if (!slot) {
		scan_threads(s, false);
		slot = threads_find(s->threads, tid);
	}
	perf_fd_adopt();
	if (slot && !atomic_load(&slot->gone))
		arms_lend(s, slot, fd);
	else
		perf_fd_close(fd, NULL);
}

/* Peeks at the next datagram without consuming it. Returns false if there is none. */
static bool lent_next(const struct sampler *s, struct wire_lend *lend)
{
	return sampler_is_lent(s) && raw(SYS_recvfrom, s->lent.ours, lend, sizeof(*lend),
					     MSG_DONTWAIT | MSG_PEEK) == sizeof(*lend);
}

void lent_take(struct sampler *s)
{
	struct lent_message message = {.cut = false};
	int fds[WIRE_LEND_MAX];

	if (s->lent.theirs.fd >= 0 && lent_next(s, &message.lend)) /* the front end has its copy */
		files_run(s, lent_close_theirs, &s->lent.theirs);

	/* Each needs two: the borrowed one that is retained, and the engine's duplicate. */
	for (uint32_t n = 0; n < LENT_AT_ONCE && !message.cut && lent_next(s, &message.lend); n++) {
		uint32_t count = 0;

		message.cut = !perf_fd_space(2 * message.lend.count);
		if (!message.cut)
			count = lent_receive(s, &message, fds);
		for (uint32_t i = 0; i < count; i++)
			lent_give(s, i < message.lend.count ? message.lend.tids[i] : 0, fds[i]);
	}
	if (message.cut && !s->lent.short_said)
		events_degraded(s, WIRE_CPU,
			"too few file descriptors: some threads without kernel frames");
	s->lent.short_said |= message.cut;
}

void lent_close(struct sampler *s)
{
	for (struct thread_slot *slot = NULL; (slot = threads_after(s->threads, slot));)
		arms_lend_end(slot);
	if (!sampler_is_lent(s))
		return;
	raw(SYS_close, s->lent.ours);
	if (s->lent.theirs.fd >= 0)
		files_run(s, lent_close_theirs, &s->lent.theirs);
}
