/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receiving borrowed perf_events. The sender is the front end that owns the session's shared memory, so it is trusted:
 * it can do more than this anyway.
 */
#include "sampler/engine/borrowed.h"

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
#define BORROWED_BATCH (THREADS_MAX / WIRE_LEND_MAX)

/* A datagram and the descriptors that came with it. */
struct borrowed_message {
	struct wire_lend lend;
	/* True when it or some of its descriptors cannot be received for lack of descriptors. */
	bool cut;
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int) * WIRE_LEND_MAX)];
};

/* Connects on "jhot files", since the front end can only copy descriptors in the program's table. */
static void borrowed_connect(void *ctx)
{
	struct sampler *s = ctx;
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	long fd = raw(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	memcpy(at.sun_path, s->borrowed.name, s->borrowed.name_bytes);
	raw_file_identify(&s->borrowed.program_side, (int32_t)fd);
	if (fd >= 0 && raw(SYS_connect, fd, &at,
			       offsetof(struct sockaddr_un, sun_path) + s->borrowed.name_bytes) < 0)
		raw_file_close(&s->borrowed.program_side);
}

static void borrowed_close_socket(void *ctx)
{
	raw_file_close(ctx);
}

/* A listening socket with a name chosen by the kernel. Returns its descriptor or -errno. */
static long borrowed_listen(struct sampler *s)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	socklen_t bytes = sizeof(at);
	long fd = raw(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return fd;
	long error = raw(SYS_bind, fd, &at, sizeof(at.sun_family));
	if (error >= 0)
		error = raw(SYS_listen, fd, 1);
	if (error >= 0)
		error = raw(SYS_getsockname, fd, &at, &bytes);
	if (error >= 0 && bytes - offsetof(struct sockaddr_un, sun_path) > sizeof(s->borrowed.name))
		error = -ENAMETOOLONG;
	if (error < 0) {
		raw(SYS_close, fd);
		return error;
	}
	s->borrowed.name_bytes = (uint32_t)(bytes - offsetof(struct sockaddr_un, sun_path));
	memcpy(s->borrowed.name, at.sun_path, s->borrowed.name_bytes);
	return fd;
}

/* Accepts a connection from this process only. */
static long borrowed_accept(long listening)
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

int borrowed_open(struct sampler *s)
{
	long fd = -EIO;

	if (sampler_borrows(s))
		return s->borrowed.program_side.fd >= 0 ? s->borrowed.program_side.fd : -EBUSY;
	if (!s->files.own)
		return -EPERM;
	long listening = borrowed_listen(s);
	if (listening < 0)
		return (int)listening;
	if (files_run(s, borrowed_connect, s) && s->borrowed.program_side.fd >= 0)
		fd = borrowed_accept(listening);
	raw(SYS_close, listening);
	if (fd < 0) {
		files_run(s, borrowed_close_socket, &s->borrowed.program_side);
		return (int)fd;
	}
	s->borrowed.agent_side = (int32_t)fd;
	return s->borrowed.program_side.fd;
}

/* Receives one datagram. Returns the number of descriptors stored in fds. */
static uint32_t borrowed_receive(
	const struct sampler *s, struct borrowed_message *message, int *fds)
{
	struct iovec text = {&message->lend, sizeof(message->lend)};
	struct msghdr header = {.msg_iov = &text,
		.msg_iovlen = 1,
		.msg_control = message->control,
		.msg_controllen = sizeof(message->control)};
	const struct cmsghdr *part = (const void *)message->control;

	message->lend.count = 0;
	if (raw(SYS_recvmsg, s->borrowed.agent_side, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <=
			0 ||
		header.msg_controllen < sizeof(*part) || part->cmsg_level != SOL_SOCKET ||
		part->cmsg_type != SCM_RIGHTS)
		return 0;
	message->cut = header.msg_flags & MSG_CTRUNC;
	size_t bytes = part->cmsg_len - CMSG_LEN(0);
	memcpy(fds, CMSG_DATA(part), bytes);
	return (uint32_t)(bytes / sizeof(int));
}

/* Assigns the descriptor to its thread, which may not be listed yet. Closes it if the thread has ended. */
static void borrowed_assign(struct sampler *s, int32_t tid, int fd)
{
	struct thread_slot *slot = threads_find(s->threads, tid);

	if (!slot) {
		scan_threads(s, false);
		slot = threads_find(s->threads, tid);
	}
	perf_fd_adopt();
	if (slot && !atomic_load(&slot->gone))
		arms_borrow(s, slot, fd);
	else
		perf_fd_close(fd, NULL);
}

/* Peeks at the next datagram without consuming it. Returns false if there is none. */
static bool borrowed_next(const struct sampler *s, struct wire_lend *lend)
{
	return sampler_borrows(s) && raw(SYS_recvfrom, s->borrowed.agent_side, lend, sizeof(*lend),
					     MSG_DONTWAIT | MSG_PEEK) == sizeof(*lend);
}

void borrowed_receive_all(struct sampler *s)
{
	struct borrowed_message message = {.cut = false};
	int fds[WIRE_LEND_MAX];

	if (s->borrowed.program_side.fd >= 0 &&
		borrowed_next(s, &message.lend)) /* the front end has its copy */
		files_run(s, borrowed_close_socket, &s->borrowed.program_side);

	/* Each needs two: the borrowed one that is retained, and the engine's duplicate. */
	for (uint32_t n = 0; n < BORROWED_BATCH && !message.cut && borrowed_next(s, &message.lend);
		n++) {
		uint32_t count = 0;

		message.cut = !perf_fd_space(2 * message.lend.count);
		if (!message.cut)
			count = borrowed_receive(s, &message, fds);
		for (uint32_t i = 0; i < count; i++)
			borrowed_assign(
				s, i < message.lend.count ? message.lend.tids[i] : 0, fds[i]);
	}
	if (message.cut && !s->borrowed.shortage_reported)
		events_degraded(
			s, WIRE_CPU, "too few file descriptors: no kernel frames for some threads");
	s->borrowed.shortage_reported |= message.cut;
}

void borrowed_close(struct sampler *s)
{
	for (struct thread_slot *slot = NULL; (slot = threads_after(s->threads, slot));)
		arms_borrow_end(slot);
	if (!sampler_borrows(s))
		return;
	raw(SYS_close, s->borrowed.agent_side);
	if (s->borrowed.program_side.fd >= 0)
		files_run(s, borrowed_close_socket, &s->borrowed.program_side);
}
