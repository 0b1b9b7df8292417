/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of descriptors: each kind that this machine has; the others are skipped. */
#include "tests/tap.h"

#include "sampler/descriptor.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pty.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static struct descriptor_ports ports;
static char text[DESCRIPTOR_TEXT], folder[] = "/tmp/jhot-descriptor-XXXXXX";

static const char *describe(int fd, const char *verb)
{
	struct descriptor_call call = {fd, verb};
	struct descriptor_file file;

	if (!descriptor_file(fd, &file))
		return "closed";
	if (descriptor_text(&ports, &call, &file, text) != strlen(text))
		return "of another length";
	return text;
}

static void is(int fd, const char *verb, const char *want, const char *what)
{
	is_str(describe(fd, verb), want, what);
}

static struct sockaddr_in at(const char *host, int port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

	inet_pton(AF_INET, host, &a.sin_addr);
	return a;
}

static int port_of(int fd)
{
	struct sockaddr_in6 a;
	socklen_t bytes = sizeof(a);

	getsockname(fd, (void *)&a, &bytes);
	return ntohs(a.sin6_port);
}

/* Whether SO_PEERNAME returns the whole address of a peer: emulation of another CPU truncates it. */
static bool has_peernames(int fd)
{
	struct sockaddr_in peer;
	socklen_t bytes = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERNAME, &peer, &bytes) && bytes == sizeof(peer);
}

/* --- TCP ---------------------------------------------------------------------------------------------- */

static void test_tcp(void)
{
	struct sockaddr_in a = at("127.0.0.1", 0);
	int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
	int served, port;
	bool has_peername;
	char want[100];

	if (bind(listener, (void *)&a, sizeof(a)) || listen(listener, 5))
		abort();
	a = at("127.0.0.1", port = port_of(listener));
	is(client, "read", "socket read", "a socket that is not connected has no peer");
	if (connect(client, (void *)&a, sizeof(a)))
		abort();
	served = accept(listener, NULL, NULL);
	has_peername = has_peernames(client);
	snprintf(want, sizeof(want), "socket read\t127.0.0.1:%d", port);
	is(client, "read", want, "a client's socket is described by its peer");
	snprintf(want, sizeof(want), "socket write\t127.0.0.1:%d", port_of(client));
	ports = (struct descriptor_ports){.first = 1, .last = 65535}; /* no known port accepts */
	is(served, "write", want,
		"a server's socket is described by its peer while no accepting port is known");
	snprintf(want, sizeof(want), "accept\t127.0.0.1:%d", port);
	is(listener, "read", want,
		"a listening socket is described as accepting, whatever the call");
	ports = (struct descriptor_ports){0};
	snprintf(want, sizeof(want), "socket read\tclients of :%d", port);
	is(served, "read", want,
		"a server's socket is described by its port, found by a search for listeners");
	snprintf(want, sizeof(want), "socket read\t127.0.0.1:%d", port);
	is(client, "read", want, "a client's socket is still described by its peer");
	setsockopt(served, SOL_SOCKET, SO_LINGER, &(struct linger){1, 0}, sizeof(struct linger));
	close(served);
	if (has_peername)
		is(client, "read", want,
			"a client's socket is described by its peer after a reset");
	else
		tap_skip("a client's socket is described by its peer after a reset",
			"SO_PEERNAME is not supported");
	close(client);
	close(listener);
	is(client, "read", "closed", "a closed descriptor has no description");
}

/* A port outside the range of ephemeral ports is the server's. */
static void test_ports(void)
{
	struct sockaddr_in a = at("127.0.0.1", 0);
	struct descriptor_ports small = {.first = 65530, .last = 65535};
	int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
	int served;
	char want[100];

	if (bind(listener, (void *)&a, sizeof(a)) || listen(listener, 5))
		abort();
	a = at("127.0.0.1", port_of(listener));
	if (connect(client, (void *)&a, sizeof(a)))
		abort();
	served = accept(listener, NULL, NULL);
	small.first = small.last = (uint16_t)port_of(client);
	ports = small;
	snprintf(want, sizeof(want), "socket read\tclients of :%d", port_of(listener));
	is(served, "read", want,
		"a socket with a port that no client gets is described by its port");
	snprintf(want, sizeof(want), "socket read\t127.0.0.1:%d", port_of(listener));
	is(client, "read", want, "a socket whose peer has such a port is described by its peer");
	ports = (struct descriptor_ports){0};
	close(served);
	close(client);
	close(listener);
}

/* A socket that is being connected: the peer does not accept, and its backlog is full. */
static void test_connecting(void)
{
	struct sockaddr_in a = at("127.0.0.1", 0);
	int listener = socket(AF_INET, SOCK_STREAM, 0), clients[8], i = 0;
	struct pollfd last = {.events = POLLOUT};
	char want[100];

	if (bind(listener, (void *)&a, sizeof(a)) || listen(listener, 0))
		abort();
	a = at("127.0.0.1", port_of(listener));
	do {
		clients[i] = last.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(last.fd, (void *)&a, sizeof(a));
	} while (poll(&last, 1, 50) && ++i < 8);
	snprintf(want, sizeof(want), "socket connect\t127.0.0.1:%d", port_of(listener));
	if (i == 8)
		tap_skip("a connecting socket is described as connecting",
			"all connections were accepted");
	else if (!has_peernames(clients[0]))
		tap_skip("a connecting socket is described as connecting",
			"SO_PEERNAME is not supported");
	else
		is(last.fd, "write", want,
			"a connecting socket is described as connecting, whatever the call");
	for (i -= i == 8; i >= 0; i--)
		close(clients[i]);
	close(listener);
}

/* Datagram sockets, since connect(2) accepts any address for them without traffic. */
static void test_v6(void)
{
	static const char *const rows[][2] = {
		{"::1", "[::1]"},
		{"2001:db8::8:800:200c:417a", "[2001:db8::8:800:200c:417a]"},
		{"2001:db8:0:1:1:1:1:1", "[2001:db8:0:1:1:1:1:1]"},
		{"2001:0:0:1:0:0:0:1", "[2001:0:0:1::1]"},
		{"fd80:1:2:3:4:5:6:0", "[fd80:1:2:3:4:5:6:0]"},
		{"fd80:1:2:3:4:5::", "[fd80:1:2:3:4:5::]"},
		{"::ffff:127.0.0.5", "127.0.0.5"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_port = htons(53)};
		int fd = socket(AF_INET6, SOCK_DGRAM, 0);
		char want[100];

		inet_pton(AF_INET6, rows[i][0], &a.sin6_addr);
		snprintf(want, sizeof(want), "udp read\t%s:53", rows[i][1]);
		if (fd < 0 || connect(fd, (void *)&a, sizeof(a)))
			tap_skip(rows[i][0], "no route to it");
		else
			is(fd, "read", want, rows[i][0]);
		close(fd);
	}
}

static void test_any(void)
{
	struct sockaddr_in6 a = {.sin6_family = AF_INET6};
	int fd = socket(AF_INET6, SOCK_STREAM, 0);
	char want[100];

	if (fd < 0 || bind(fd, (void *)&a, sizeof(a)) || listen(fd, 1)) {
		tap_skip("a listener on the IPv6 wildcard address is described by its port",
			"no IPv6");
		return;
	}
	snprintf(want, sizeof(want), "accept\t:%d", port_of(fd));
	is(fd, "accept", want, "a listener on the IPv6 wildcard address is described by its port");
	close(fd);
}

static void test_udp(void)
{
	struct sockaddr_in a = at("127.0.0.1", 0), peer = at("127.0.0.1", 53);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	char want[100];

	if (bind(fd, (void *)&a, sizeof(a)))
		abort();
	snprintf(want, sizeof(want), "udp read\t127.0.0.1:%d", port_of(fd));
	is(fd, "read", want, "an unconnected UDP socket is described by its own address");
	if (!connect(fd, (void *)&peer, sizeof(peer)))
		is(fd, "read", "udp read\t127.0.0.1:53",
			"a connected UDP socket is described by its peer");
	close(fd);
}

/* --- unix sockets ------------------------------------------------------------------------------------- */

static void test_unix(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
	int abstract = socket(AF_UNIX, SOCK_STREAM, 0), pair[2], served;
	char want[200];

	snprintf(a.sun_path, sizeof(a.sun_path), "%s/sock", folder);
	if (bind(listener, (void *)&a, sizeof(a)) || listen(listener, 5) ||
		connect(client, (void *)&a, sizeof(a)) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		abort();
	served = accept(listener, NULL, NULL);
	snprintf(want, sizeof(want), "accept\t%s", a.sun_path);
	is(listener, "accept", want, "a listening unix socket is described by its path");
	snprintf(want, sizeof(want), "unix socket read\t%s", a.sun_path);
	is(client, "read", want, "a client's unix socket is described by its peer's path");
	is(served, "read", want, "a server's unix socket is described by its path");
	is(pair[0], "write", "unix socket write", "a socketpair has no path");
	memcpy(a.sun_path, "\0jhot-test", 10);
	if (!bind(abstract, (void *)&a, offsetof(struct sockaddr_un, sun_path) + 10) &&
		!listen(abstract, 1))
		is(abstract, "accept", "accept\t@jhot-test",
			"an abstract unix socket is described with an @");
	unlink(want + strlen("unix socket read\t"));
	close(listener), close(client), close(abstract), close(served);
	close(pair[0]), close(pair[1]);
}

/* --- the rest ----------------------------------------------------------------------------------------- */

static void test_files(void)
{
	char path[400], want[500];
	int fd;

	snprintf(path, sizeof(path), "%s/x.log", folder);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	snprintf(want, sizeof(want), "file sync\t%s", path);
	is(fd, "sync", want, "a file is described by its path");
	unlink(path);
	snprintf(want, sizeof(want), "file read\t%s (deleted)", path);
	is(fd, "read", want, "a deleted file is described as such");
	close(fd);
	snprintf(path, sizeof(path), "%s/", folder);
	memset(path + strlen(path), 'x', 255);
	path[strlen(folder) + 1 + 255] = '\0';
	fd = open(path, O_RDWR | O_CREAT, 0600);
	describe(fd, "read");
	ok(strlen(text) == DESCRIPTOR_TEXT - 1 && !strncmp(text, "file read\t...xxx", 16),
		"a long path is truncated at its start");
	unlink(path);
	close(fd);
	fd = open("/dev/zero", O_RDONLY);
	is(fd, "read", "device read\t/dev/zero", "a device is described by its path");
	close(fd);
}

static void test_pipes(void)
{
	char path[100], want[200];
	int ends[2], fifo;

	if (pipe(ends))
		abort();
	is(ends[0], "read", "pipe read", "the read end of a pipe is described as a pipe");
	is(ends[1], "write", "pipe write", "the write end of a pipe is described as a pipe");
	close(ends[0]), close(ends[1]);
	snprintf(path, sizeof(path), "%s/fifo", folder);
	if (mkfifo(path, 0600))
		abort();
	fifo = open(path, O_RDWR);
	snprintf(want, sizeof(want), "pipe read\t%s", path);
	is(fifo, "read", want, "a fifo is described by its path");
	unlink(path);
	close(fifo);
}

static int connected(int port)
{
	struct sockaddr_in a = at("127.0.0.1", port);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (connect(fd, (void *)&a, sizeof(a)))
		abort();
	return fd;
}

static int listening(int *port)
{
	struct sockaddr_in a = at("127.0.0.1", 0);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(fd, (void *)&a, sizeof(a)) || listen(fd, 50))
		abort();
	*port = port_of(fd);
	return fd;
}

static void add(int epoll, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		abort();
	ports = (struct descriptor_ports){0}; /* otherwise the description is cached for a second */
}

/* An event loop has a peer only if all of its sockets have the same one. */
static void test_epoll(void)
{
	int epoll = epoll_create1(0), event = eventfd(0, 0), first, second;
	int one = listening(&first), other = listening(&second), fds[21];
	char want[100];

	is(epoll, "wait", "epoll", "an epoll without sockets has no details");
	add(epoll, event);
	is(epoll, "wait", "epoll", "an eventfd does not count as a socket");
	for (int i = 0; i < 3; i++)
		add(epoll, fds[i] = connected(first));
	snprintf(want, sizeof(want), "epoll of 3 sockets\t127.0.0.1:%d", first);
	is(epoll, "wait", want, "an epoll of three sockets with the same peer names it");
	close(fds[2]);
	is(epoll, "wait", want, "the description is cached for a second");
	add(epoll, fds[2] = connected(second));
	is(epoll, "wait", "epoll of 3 sockets", "an epoll of sockets with two peers names none");
	for (int i = 3; i < 21; i++)
		add(epoll, fds[i] = connected(first));
	is(epoll, "wait", "epoll of 20+ sockets", "large numbers of sockets are rounded");
	for (int i = 0; i < 21; i++)
		close(fds[i]);
	add(epoll, one);
	is(epoll, "wait", "epoll of 1 socket", "an epoll with only a listener has one socket");
	add(epoll, fds[0] = accept(one, NULL, NULL));
	snprintf(want, sizeof(want), "epoll of 2 sockets\tclients of :%d", first);
	is(epoll, "wait", want, "an epoll with a listener and its connections names the port");
	close(fds[0]);
	close(epoll), close(event), close(one), close(other);
}

static void test_others(void)
{
	int event = eventfd(0, 0), epoll = epoll_create1(0), main_end, end;

	is(event, "read", "eventfd read", "an eventfd is described as such");
	is(epoll, "wait", "epoll", "an empty epoll is described as such");
	close(event), close(epoll);
	if (openpty(&main_end, &end, NULL, NULL, NULL)) {
		tap_skip("a terminal is described by its path", "no terminal can be opened");
		return;
	}
	describe(end, "read");
	ok(!strncmp(text, "terminal read\t/dev/pts/", 23),
		"a terminal is described by its path: %s", text);
	close(main_end), close(end);
}

int main(void)
{
	if (!mkdtemp(folder))
		abort();
	test_tcp();
	test_ports();
	test_connecting();
	test_v6();
	test_any();
	test_udp();
	test_unix();
	test_files();
	test_pipes();
	test_epoll();
	test_others();
	rmdir(folder);
	return tap_done();
}
