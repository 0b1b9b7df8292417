/* SPDX-License-Identifier: Apache-2.0 */
/* The server: one non-blocking connection per client, each with a recording of its own. */
#include "base/clock.h"
#include "share/share.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CLIENTS    8
#define HELLO_NS   (5 * NS_PER_S) /* a client must have sent its request by then */
#define UNREAD_MAX (1u << 20)     /* a client with more than this gets nothing new */
#define FINISH_NS  (10 * NS_PER_S)
#define FINISH_MS  50

struct client {
	int fd; /* -1: unused */
	enum share_request request;
	uint64_t accepted_ns;
	struct recording_writer *writer;
	uint64_t vitals_ns; /* time of the last vitals that it got */
	struct buf content; /* of the next message */
	struct buf out;
	size_t sent; /* bytes of out */
	bool last;   /* the recording is complete */
};

struct share {
	struct share_options options;
	char host[256];
	int fds[2]; /* listening in our and in the JVM's network namespace; -1: none */
	struct client clients[CLIENTS];
};

/* A socket that listens in our or in the JVM's network namespace; -1: not possible. */
static int listen_in(const struct hotspot *jvm, bool of_jvm)
{
	struct sockaddr_un at;
	socklen_t bytes = share_address(jvm, &at);
	int fd = share_socket(jvm, of_jvm, SOCK_NONBLOCK);

	if (fd < 0 || (!bind(fd, (struct sockaddr *)&at, bytes) && !listen(fd, CLIENTS)))
		return fd;
	close(fd);
	return -1;
}

struct share *share_open(const struct share_options *o, struct err *err)
{
	int fd = listen_in(&o->jvm, false);

	if (fd < 0) {
		err_set_errno(err, ERR_FAILED,
			"The session cannot be shared with other jhot processes: its socket");
		return NULL;
	}
	struct share *s = xcalloc(1, sizeof(*s));
	s->options = *o;
	if (!o->meta.host && !gethostname(s->host, sizeof(s->host) - 1))
		s->options.meta.host = s->host;
	s->fds[0] = fd;
	s->fds[1] = listen_in(&o->jvm, true);
	for (int i = 0; i < CLIENTS; i++)
		s->clients[i].fd = -1;
	return s;
}

static void client_end(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	recording_close(c->writer);
	buf_done(&c->content);
	buf_done(&c->out);
	*c = (struct client){.fd = -1};
}

void share_close(struct share *s)
{
	if (!s)
		return;
	for (int i = 0; i < CLIENTS; i++)
		client_end(&s->clients[i]);
	for (int i = 0; i < 2; i++)
		if (s->fds[i] >= 0)
			close(s->fds[i]);
	free(s);
}

/* --- clients ------------------------------------------------------------------------------------------- */

/* Accepts connections of trusted users, up to CLIENTS. */
static void accept_clients(struct share *s, int listening)
{
	int fd, i;
	pid_t pid;

	while ((fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		for (i = 0; i < CLIENTS && s->clients[i].fd >= 0; i++)
			;
		if (i == CLIENTS || !share_trusts(fd, &s->options.jvm, &pid)) {
			close(fd);
			continue;
		}
		s->clients[i].fd = fd;
		s->clients[i].accepted_ns = clock_mono_ns();
	}
}

/* Reads the request. Returns false if the client is to be dropped. */
static bool read_hello(struct client *c)
{
	struct share_hello hello;
	ssize_t n = recv(c->fd, &hello, sizeof(hello), 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return clock_mono_ns() - c->accepted_ns < HELLO_NS;
	if (n != sizeof(hello) || memcmp(hello.magic, SHARE_MAGIC, sizeof(hello.magic)) != 0 ||
		hello.version != SHARE_VERSION || hello.request < SHARE_WATCH ||
		hello.request > SHARE_COPY)
		return false;
	c->request = hello.request;
	return true;
}

/* Moves the content to the output, as one message. */
static void add_message(struct client *c)
{
	uint32_t bytes = (uint32_t)c->content.len;

	if (!bytes)
		return;
	if (c->content.len >= SHARE_MESSAGE) {
		c->last = true;
	} else {
		buf_add(&c->out, &bytes, sizeof(bytes));
		buf_add(&c->out, c->content.data, c->content.len);
	}
	buf_clear(&c->content);
}

/* Begins the client's recording, if necessary, and adds the current vitals. */
static void client_prepare(struct share *s, struct client *c, const struct vitals *v)
{
	if (!c->writer) {
		c->writer = recording_create_stream(&c->content);
		recording_begin(c->writer, s->options.profile, &s->options.meta);
	}
	if (c->vitals_ns != v->time_ns)
		recording_vitals(c->writer, v);
	c->vitals_ns = v->time_ns;
}

/* Completes the recording: it ends with all that the profile has now. */
static void client_finish(
	struct share *s, struct client *c, const struct vitals *v, uint64_t duration_ns)
{
	client_prepare(s, c, v);
	recording_finish(c->writer, duration_ns, NULL);
	add_message(c);
	c->last = true;
}

/* send(2) without SIGPIPE, or write(2) to a pipe: the caller that adds one ignores that signal. */
static ssize_t write_some(int fd, const void *bytes, size_t count)
{
	ssize_t n = send(fd, bytes, count, MSG_NOSIGNAL);

	return n < 0 && errno == ENOTSOCK ? write(fd, bytes, count) : n;
}

/* Sends as much as the client reads. Returns false if the client has closed its end, or has received everything. */
static bool client_send(struct client *c)
{
	ssize_t n = 1;

	while (c->sent < c->out.len && n > 0) {
		n = write_some(c->fd, c->out.data + c->sent, c->out.len - c->sent);
		c->sent += n > 0 ? (size_t)n : 0;
	}
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return false;
	if (c->sent == c->out.len) {
		buf_done(&c->out); /* the first message may have been large */
		c->sent = 0;
		if (c->last)
			return false;
	}
	/* The reader sends nothing after its request, so input means that it has closed its end. */
	struct pollfd p = {.fd = c->fd, .events = POLLIN};
	return !(poll(&p, 1, 0) > 0 && p.revents & (POLLIN | POLLERR | POLLHUP));
}

void share_add(struct share *s, int fd)
{
	struct client *c = s->clients;

	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	*c = (struct client){.fd = fd, .request = SHARE_WATCH};
}

bool share_has_clients(const struct share *s)
{
	for (int i = 0; i < CLIENTS; i++)
		if (s->clients[i].fd >= 0)
			return true;
	return false;
}

void share_step(struct share *s, const struct vitals *v, uint64_t duration_ns)
{
	for (int i = 0; i < 2; i++)
		accept_clients(s, s->fds[i]);
	for (int i = 0; i < CLIENTS; i++) {
		struct client *c = &s->clients[i];

		if (c->fd < 0)
			continue;
		if (!c->request && !read_hello(c)) {
			client_end(c);
			continue;
		}
		if (!c->last && c->request == SHARE_WATCH) {
			client_prepare(s, c, v);
			if (c->out.len - c->sent <= UNREAD_MAX) {
				recording_follow(c->writer, NULL);
				add_message(c);
			}
		} else if (!c->last && c->request == SHARE_COPY) {
			client_finish(s, c, v, duration_ns);
		}
		if (c->request && !client_send(c))
			client_end(c);
	}
}

void share_finish(struct share *s, const struct vitals *v, uint64_t duration_ns)
{
	uint64_t begin_ns = clock_mono_ns();
	bool unsent = true;

	share_step(s, v, duration_ns);
	for (int i = 0; i < CLIENTS; i++)
		if (s->clients[i].request == SHARE_WATCH && !s->clients[i].last)
			client_finish(s, &s->clients[i], v, duration_ns);
	while (unsent && clock_mono_ns() - begin_ns < FINISH_NS) {
		unsent = false;
		for (int i = 0; i < CLIENTS; i++) {
			struct client *c = &s->clients[i];

			if (c->fd >= 0 && (!c->request || !client_send(c)))
				client_end(c);
			unsent |= c->fd >= 0;
		}
		if (unsent)
			poll(NULL, 0, FINISH_MS);
	}
}

/* --- the socket, for both sides --------------------------------------------------------------------------- */

#define OWN_NET "/proc/self/ns/net"

int share_socket(const struct hotspot *jvm, bool of_jvm, int flags)
{
	struct stat own, other;
	char path[64];

	if (!of_jvm)
		return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)jvm->pid);
	if (stat(path, &other) || stat(OWN_NET, &own) ||
		(own.st_dev == other.st_dev && own.st_ino == other.st_ino))
		return -1;
	int there = open(path, O_RDONLY | O_CLOEXEC), here = open(OWN_NET, O_RDONLY | O_CLOEXEC);
	int fd = -1;
	if (there >= 0 && here >= 0 && !setns(there, CLONE_NEWNET)) {
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
		if (setns(here, CLONE_NEWNET))
			abort(); /* it was ours a moment ago; in another namespace nothing else would work */
	}
	if (there >= 0)
		close(there);
	if (here >= 0)
		close(here);
	return fd;
}

socklen_t share_address(const struct hotspot *jvm, struct sockaddr_un *at)
{
	*at = (struct sockaddr_un){.sun_family = AF_UNIX};
	int n = snprintf(at->sun_path + 1, sizeof(at->sun_path) - 1, "jhot-%llu-%d",
		(unsigned long long)jvm->start_ticks, (int)jvm->nspid);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

bool share_trusts(int fd, const struct hotspot *jvm, pid_t *pid)
{
	struct ucred peer = {0};
	socklen_t bytes = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes))
		return false;
	*pid = peer.pid;
	return peer.uid == 0 || peer.uid == geteuid() || peer.uid == jvm->euid;
}
