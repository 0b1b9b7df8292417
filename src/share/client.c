/* SPDX-License-Identifier: Apache-2.0 */
/* The client: collects messages, and reads complete ones as a recording. */
#include "share/share.h"

#include "base/clock.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE (1u << 20) /* bytes of one read */

struct shared {
	int fd;
	pid_t server;
	struct profile *profile;
	struct recording *recording; /* NULL before the first message */
	struct buf in;               /* messages, the last one perhaps incomplete */
	size_t at, end;              /* of in: the unread part of the message being read */
	struct vitals unknown;       /* until the first message */
	bool complete;
};

/* Connects and sends the request. Returns a socket, or -1 with an error. */
static int connect_server(const struct hotspot *jvm, enum share_request request, int flags,
	pid_t *server, struct err *err)
{
	const struct share_hello hello = {SHARE_MAGIC, SHARE_VERSION, request};
	struct sockaddr_un at;
	socklen_t bytes = share_address(jvm, &at);
	int fd = -1;

	for (int of_jvm = 1; of_jvm >= 0 && fd < 0; of_jvm--) {
		fd = share_socket(jvm, of_jvm, flags);
		if (fd >= 0 && connect(fd, (struct sockaddr *)&at, bytes)) {
			close(fd);
			fd = -1;
		}
	}
	if (fd < 0)
		err_set(err, ERR_NO_TARGET, "No jhot of this host is profiling the JVM.");
	else if (!share_trusts(fd, jvm, server))
		err_set(err, ERR_ATTACH,
			"The jhot that is profiling the JVM (process %d) belongs to another user.",
			(int)*server);
	else if (send(fd, &hello, sizeof(hello), MSG_NOSIGNAL) != sizeof(hello))
		err_set_errno(err, ERR_NO_TARGET, "The jhot that is profiling the JVM");
	else
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

struct shared *shared_open_fd(int fd, struct profile *p)
{
	struct shared *s = xcalloc(1, sizeof(*s));

	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	s->fd = fd;
	s->profile = p;
	vitals_unknown(&s->unknown);
	return s;
}

struct shared *shared_open(
	const struct hotspot *jvm, enum share_request request, struct profile *p, struct err *err)
{
	pid_t server = 0;
	int fd = connect_server(jvm, request, SOCK_NONBLOCK, &server, err);
	struct shared *s = fd >= 0 ? shared_open_fd(fd, p) : NULL;

	if (s)
		s->server = server;
	return s;
}

int shared_relay(const struct hotspot *jvm, int out, struct err *err)
{
	pid_t server = 0;
	int fd = connect_server(jvm, SHARE_WATCH, 0, &server, err);
	struct buf bytes = {0};

	if (fd < 0)
		return -1;
	while (buf_read(&bytes, fd, PIECE) > 0 && !file_write(out, bytes.data, bytes.len))
		buf_clear(&bytes);
	buf_done(&bytes);
	close(fd);
	return 0;
}

void shared_close(struct shared *s)
{
	if (!s)
		return;
	recording_free(s->recording);
	close(s->fd);
	buf_done(&s->in);
	free(s);
}

/* A recording_input: the rest of the message being read. */
static ssize_t message_input(void *ctx, void *bytes, size_t count, struct err *err)
{
	struct shared *s = ctx;
	size_t n = s->end - s->at < count ? s->end - s->at : count;

	(void)err;
	memcpy(bytes, s->in.data + s->at, n);
	s->at += n;
	return (ssize_t)n;
}

/* Reads all complete messages. Returns how many, or -1. */
static int read_messages(struct shared *s, struct err *err)
{
	size_t done = 0;
	uint32_t bytes;
	int count = 0;

	while (s->in.len - done >= sizeof(bytes)) {
		memcpy(&bytes, s->in.data + done, sizeof(bytes));
		if (bytes >= SHARE_MESSAGE)
			return err_set(err, ERR_FAILED,
				"The jhot process %d sent something that is not a profile.",
				(int)s->server);
		if (s->in.len - done - sizeof(bytes) < bytes)
			break;
		s->at = done + sizeof(bytes);
		s->end = s->at + bytes;
		done = s->end;
		if (!s->recording) {
			s->recording = recording_open_input(message_input, s, s->profile, err);
			if (!s->recording)
				return -1;
			recording_grows(s->recording);
		}
		int rc = recording_read(s->recording, UINT32_MAX, err);
		s->complete = !rc;
		if (rc < 0)
			return -1;
		count++;
	}
	if (done == s->in.len)
		buf_done(&s->in); /* the first message may have been large */
	else if (done) {
		memmove(s->in.data, s->in.data + done, s->in.len - done);
		s->in.len -= done;
	}
	return count;
}

/* Sets the error of a connection that has ended. Returns -1. */
static int ended(const struct shared *s, struct err *err)
{
	if (s->complete)
		return err_set(err, ERR_GONE, "The session that was watched has ended.");
	if (s->server > 0)
		return err_set(err, ERR_GONE,
			"The jhot process %d, which was profiling the JVM, has ended.",
			(int)s->server);
	return err_set(err, ERR_GONE, "The connection to the other jhot was lost.");
}

int shared_read(struct shared *s, int timeout_ms, struct err *err)
{
	uint64_t begin_ns = clock_mono_ns();
	int read = 0, left = timeout_ms;
	bool open = true;

	while (!read && open) {
		struct pollfd p = {.fd = s->fd, .events = POLLIN};
		ssize_t n;

		if (poll(&p, 1, left) == 0)
			return 0;
		do
			n = buf_read(&s->in, s->fd, PIECE);
		while (n > 0 && s->in.len < 2 * (size_t)SHARE_MESSAGE);
		open = n < 0 && errno == EAGAIN;
		read = read_messages(s, err);
		left = timeout_ms - (int)((clock_mono_ns() - begin_ns) / NS_PER_MS);
		if (left < 0)
			left = 0;
	}
	if (read < 0)
		return -1;
	return read ? 1 : ended(s, err);
}

bool shared_complete(const struct shared *s)
{
	return s->complete;
}

pid_t shared_server(const struct shared *s)
{
	return s->server;
}

const struct vitals *shared_vitals(const struct shared *s)
{
	return s->recording ? recording_vitals_now(s->recording) : &s->unknown;
}

const struct recording *shared_recording(const struct shared *s)
{
	return s->recording;
}
