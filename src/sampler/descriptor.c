/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describes sockets by both of their ends, epolls by the sockets registered with them, and everything else by its link
 * in /proc/self/fd.
 *
 * To list the sockets of an epoll in /proc/self/fdinfo, the kernel holds the epoll's lock for 0.3 us per socket, which
 * delays the program. So the file is read at most once a second, which makes the text stale by up to a second, and only
 * if the process cannot have more than EPOLL_FDS_MAX descriptors.
 */
#include "sampler/descriptor.h"

#include "base/clock.h"
#include "sampler/procfile.h"
#include "sampler/signal/raw.h"
#include "sampler/text.h"

#include <netinet/tcp.h>
#include <string.h>

#define LISTENERS_FDS   1024 /* takes 0.2 ms */
#define DESCRIPTOR_PATH 40

#define EPOLL_FDS_MAX   1024u
#define EPOLL_PEERS     64u /* sockets whose peers are queried */
/* Larger numbers are rounded down in steps, to limit the number of different texts. */
#define EPOLL_EXACT 16u
#define EPOLL_NS    NS_PER_S

/* A text under construction. */
struct describing {
	struct descriptor_ports *ports;
	const struct descriptor_call *call;
	struct text text;
};

/* The path of a descriptor of the program below /proc/self/fd/ or fdinfo/; valid on any thread. */
static void path_of(const char *folder, int32_t fd, char path[DESCRIPTOR_PATH])
{
	struct text text = text_into(path, DESCRIPTOR_PATH);

	text_add(&text, folder);
	text_add_number(&text, (uint64_t)fd);
}

bool descriptor_file(int32_t fd, struct descriptor_file *out)
{
	char path[DESCRIPTOR_PATH];
	struct statx st;

	if (fd < 0)
		return false;
	path_of("/proc/self/fd/", fd, path);
	if (raw_stat_path(path, &st) < 0)
		return false;
	*out = (struct descriptor_file){
		(uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor, st.stx_ino, st.stx_mode};
	return true;
}

/* Appends for example "socket read". */
static void describe(struct describing *d, const char *what, const char *verb)
{
	text_add(&d->text, what);
	if (*what && *verb)
		text_add(&d->text, " ");
	text_add(&d->text, verb);
}

/* --- addresses ---------------------------------------------------------------------------------- */

static unsigned group(const uint8_t *bytes, int i)
{
	return (unsigned)bytes[2 * i] << 8 | bytes[2 * i + 1];
}

/* Omits the longest run of at least two zero groups, as RFC 5952 requires. */
static void add_v6(struct text *t, const uint8_t *bytes)
{
	int from = 8, most = 1;

	for (int i = 0, run; i < 8; i += run + 1) {
		for (run = 0; i + run < 8 && !group(bytes, i + run); run++)
			;
		if (run > most) {
			from = i;
			most = run;
		}
	}
	for (int i = 0; i < 8; i++) {
		if (i == from) {
			text_add(t, "::");
			i += most - 1;
			continue;
		}
		if (i && i != from + most)
			text_add(t, ":");
		for (int shift = 12; shift >= 0; shift -= 4)
			if (!shift || group(bytes, i) >> shift)
				text_add_bytes(
					t, &"0123456789abcdef"[group(bytes, i) >> shift & 15], 1);
	}
}

/*
 * The IPv4 address of an end, also if it is an IPv4-mapped IPv6 address, which Java's sockets use; NULL if it has none.
 */
static const uint8_t *v4_of(const struct descriptor_end *end)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	if (end->at.any.sa_family == AF_INET)
		return (const uint8_t *)&end->at.v4.sin_addr;
	return memcmp(&end->at.v6.sin6_addr, mapped, sizeof(mapped))
		       ? NULL
		       : (const uint8_t *)&end->at.v6.sin6_addr + sizeof(mapped);
}

static bool is_inet(const struct descriptor_end *end)
{
	sa_family_t family = end->at.any.sa_family;

	return (family == AF_INET && end->bytes >= sizeof(end->at.v4)) ||
	       (family == AF_INET6 && end->bytes >= sizeof(end->at.v6));
}

static uint16_t port_of(const struct descriptor_end *end)
{
	return __builtin_bswap16(
		end->at.any.sa_family == AF_INET ? end->at.v4.sin_port : end->at.v6.sin6_port);
}

/* Appends "10.0.0.5:5432", "[fe80::1]:5432", or ":8080" for the wildcard address. */
static void add_inet(struct text *t, const struct descriptor_end *end)
{
	static const uint8_t any[16];
	const uint8_t *v4 = v4_of(end), *v6 = (const uint8_t *)&end->at.v6.sin6_addr;

	if (v4 && memcmp(v4, any, 4)) {
		for (int i = 0; i < 4; i++) {
			text_add(t, i ? "." : "");
			text_add_number(t, v4[i]);
		}
	} else if (!v4 && memcmp(v6, any, sizeof(any))) {
		text_add(t, "[");
		add_v6(t, v6);
		text_add(t, "]");
	}
	text_add(t, ":");
	text_add_number(t, port_of(end));
}

/* Appends a path; if it is too long, only its end. */
static void add_path(struct text *t, const char *path, size_t bytes)
{
	size_t space = (size_t)(t->end - t->at), left = bytes > space ? bytes - space + 3 : 0;

	if (left)
		text_add(t, "...");
	while (left && left < bytes && ((unsigned char)path[left] & 0xc0) == 0x80)
		left++; /* not in the middle of a character */
	text_add_bytes(t, path + left, bytes - left);
}

/* Appends a path, or an abstract name, which begins with NUL, as "@name". False: the end has no name. */
static bool add_unix(struct text *t, const struct descriptor_end *end)
{
	const char *path = end->at.un.sun_path;
	size_t bytes = end->bytes > offsetof(struct sockaddr_un, sun_path)
			       ? end->bytes - offsetof(struct sockaddr_un, sun_path)
			       : 0;

	if (end->at.any.sa_family != AF_UNIX || !bytes)
		return false;
	if (*path && memchr(path, '\0', bytes))
		bytes = strlen(path);
	text_add(t, "\t");
	if (!*path)
		text_add(t, "@");
	add_path(t, path + !*path, bytes - !*path);
	return true;
}

/* --- sockets ------------------------------------------------------------------------------------ */

static bool get_end(long number, int32_t fd, struct descriptor_end *out)
{
	socklen_t bytes = sizeof(out->at);

	*out = (struct descriptor_end){.bytes = 0};
	if (raw(number, fd, &out->at, &bytes) < 0)
		return false;
	out->bytes = bytes < sizeof(out->at) ? bytes : sizeof(out->at);
	return true;
}

static int option(int32_t fd, int name)
{
	int value = 0;
	socklen_t bytes = sizeof(value);

	return raw(SYS_getsockopt, fd, SOL_SOCKET, name, &value, &bytes) < 0 ? 0 : value;
}

static bool listens(const struct descriptor_ports *ports, uint16_t port)
{
	for (uint32_t i = 0; i < DESCRIPTOR_PORTS; i++)
		if (ports->listening[i] == port)
			return true;
	return false;
}

static void remember(struct descriptor_ports *ports, uint16_t port)
{
	if (!listens(ports, port))
		ports->listening[ports->count++ % DESCRIPTOR_PORTS] = port;
}

/* Reads the range of ephemeral ports, "32768	60999"; these are also the defaults of Linux. */
static void query_range(struct descriptor_ports *ports)
{
	char line[32];
	const char *at = line;

	procfile_read("/proc/sys/net/ipv4/ip_local_port_range", line, sizeof(line));
	ports->first = (uint16_t)procfile_digits(&at, 10);
	at += *at == '\t';
	ports->last = (uint16_t)procfile_digits(&at, 10);
	if (!ports->last) {
		ports->first = 32768;
		ports->last = 60999;
	}
}

/*
 * Finds the listening ports among the first descriptors, because a serving thread may be seen before an accepting one.
 */
static void query_listeners(void *ctx)
{
	struct descriptor_query *q = ctx;
	struct descriptor_end own;

	q->found = 0;
	for (int32_t fd = 0; fd < LISTENERS_FDS && q->found < DESCRIPTOR_PORTS; fd++)
		if (option(fd, SO_ACCEPTCONN) && get_end(SYS_getsockname, fd, &own) &&
			is_inet(&own))
			q->listening[q->found++] = port_of(&own);
}

/* Queries everything known about the socket. */
static void query_socket(void *ctx)
{
	struct descriptor_query *q = ctx;

	socklen_t state_bytes = 1;
	uint8_t state = 0; /* the first byte of TCP_INFO */

	get_end(SYS_getsockname, q->fd, &q->own);
	q->listens = option(q->fd, SO_ACCEPTCONN);
	q->datagrams = option(q->fd, SO_TYPE) == SOCK_DGRAM;
	q->connects = false;
	if (get_end(SYS_getpeername, q->fd, &q->peer))
		return;
	/* The address that it is connecting to, or was connected to. */
	socklen_t peer_bytes = q->own.bytes;
	if (!is_inet(&q->own) ||
		raw(SYS_getsockopt, q->fd, SOL_SOCKET, SO_PEERNAME, &q->peer.at, &peer_bytes) < 0)
		return;
	q->peer.bytes = peer_bytes;
	q->connects =
		raw(SYS_getsockopt, q->fd, IPPROTO_TCP, TCP_INFO, &state, &state_bytes) >= 0 &&
		state == TCP_SYN_SENT;
}

/* Runs a query on a thread that shares the program's descriptors. Returns false when it did not finish. */
static bool query_run(struct descriptor_ports *ports, void (*function)(void *))
{
	if (ports->run)
		return ports->run(ports->runner, function, &ports->query);
	function(&ports->query);
	return true;
}

/*
 * True when the peer has connected to this end: the own port listens, or only the peer's is in the ephemeral range.
 */
static bool serves(struct descriptor_ports *ports, uint16_t own, uint16_t peer)
{
	if (!own)
		return false; /* it is not connected */
	if (!ports->last) {
		query_range(ports);
		if (query_run(ports, query_listeners))
			for (uint32_t i = 0; i < ports->query.found; i++)
				remember(ports, ports->query.listening[i]);
	}
	if (listens(ports, own))
		return true;
	return (own < ports->first || own > ports->last) && peer >= ports->first &&
	       peer <= ports->last;
}

static void describe_stream(
	struct describing *d, const struct descriptor_end *own, const struct descriptor_end *peer)
{
	if (!is_inet(peer))
		return;
	text_add(&d->text, "\t");
	if (!is_inet(own) || !serves(d->ports, port_of(own), port_of(peer))) {
		add_inet(&d->text, peer);
		return;
	}
	text_add(&d->text, "clients of :");
	text_add_number(&d->text, port_of(own));
}

static void describe_socket(struct describing *d)
{
	const char *verb = d->call->verb;
	struct descriptor_query *q = &d->ports->query;

	q->fd = d->call->fd;
	if (!query_run(d->ports, query_socket)) {
		describe(d, "socket", verb);
		return;
	}
	struct descriptor_end own = q->own; /* saved: serves() makes the next query */
	struct descriptor_end peer = q->peer;
	if (q->listens) {
		describe(d, "", "accept");
		if (is_inet(&own)) {
			text_add(&d->text, "\t");
			add_inet(&d->text, &own);
			remember(d->ports, port_of(&own));
		} else {
			add_unix(&d->text, &own);
		}
		return;
	}
	if (q->connects)
		verb = "connect"; /* even if it waits in another call until then */
	if (own.at.any.sa_family == AF_UNIX) {
		describe(d, "unix socket", verb);
		if (!add_unix(&d->text, &peer))
			add_unix(&d->text, &own);
	} else if (q->datagrams) {
		describe(d, "udp", verb);
		if (is_inet(&peer) || is_inet(&own)) {
			text_add(&d->text, "\t");
			add_inet(&d->text, is_inet(&peer) ? &peer : &own);
		}
	} else {
		describe(d, "socket", verb);
		describe_stream(d, &own, &peer);
	}
}

/* --- epolls ------------------------------------------------------------------------------------- */

struct registered {
	struct descriptor_ports *ports;
	uint32_t sockets;
	uint32_t connected;         /* connected ones of these; the others are listening */
	char peer[DESCRIPTOR_TEXT]; /* peer of the first connected one; "": none */
	bool differs;               /* true when another one has a different peer */
};

static void add_registered(void *ctx, const char *line, size_t bytes)
{
	struct registered *r = ctx;
	uint64_t fd = procfile_number(line, "tfd:", UINT64_MAX);
	struct descriptor_file file;
	char text[DESCRIPTOR_TEXT];

	(void)bytes;
	if (fd == UINT64_MAX || !descriptor_file((int32_t)fd, &file) ||
		(file.mode & S_IFMT) != S_IFSOCK || ++r->sockets > EPOLL_PEERS)
		return;
	descriptor_text(r->ports, &(struct descriptor_call){(int32_t)fd, ""}, &file, text);
	if (!memcmp(text, "accept", strlen("accept")))
		return;
	const char *peer = memchr(text, '\t', strlen(text));
	peer = peer ? peer + 1 : "";
	if (!r->connected++)
		memcpy(r->peer, peer, strlen(peer) + 1);
	r->differs |= strlen(r->peer) != strlen(peer) || memcmp(r->peer, peer, strlen(peer));
}

static void describe_registered(struct descriptor_ports *ports, struct descriptor_epoll *e)
{
	/* "20+", "50+", "100+", "200+" and so on */
	static const uint32_t steps[] = {1000, 500, 200, 100, 50, 20, EPOLL_EXACT};
	struct text text = text_into(e->text, sizeof(e->text));
	struct registered r = {.ports = ports};
	char path[DESCRIPTOR_PATH], buffer[PROCFILE_STATUS];
	uint32_t i = 0;

	text_add(&text, "epoll");
	/* FDSize of the program's descriptor table, not of this thread's own. */
	procfile_read("/proc/self/status", buffer, sizeof(buffer));
	if (procfile_number(buffer, "FDSize:", UINT64_MAX) > EPOLL_FDS_MAX)
		return;
	path_of("/proc/self/fdinfo/", e->fd, path);
	procfile_lines(path, buffer, sizeof(buffer), add_registered, &r);
	if (!r.sockets)
		return;
	while (steps[i] > r.sockets && steps[i] > EPOLL_EXACT)
		i++;
	text_add(&text, " of ");
	text_add_number(&text, r.sockets > EPOLL_EXACT ? steps[i] : r.sockets);
	text_add(&text, r.sockets > EPOLL_EXACT ? "+" : "");
	text_add(&text, r.sockets == 1 ? " socket" : " sockets");
	if (r.differs || !*r.peer || r.sockets > EPOLL_PEERS)
		return;
	text_add(&text, "\t");
	text_add(&text, r.peer);
}

static void describe_epoll(struct describing *d)
{
	int32_t fd = d->call->fd;
	struct descriptor_epoll *e = &d->ports->epolls[(uint32_t)fd % DESCRIPTOR_EPOLLS];
	uint64_t now = clock_mono_ns();

	if (!e->asked_ns || e->fd != fd || now - e->asked_ns > EPOLL_NS) {
		e->fd = fd;
		e->asked_ns = now;
		describe_registered(d->ports, e);
	}
	text_add(&d->text, e->text);
}

/* --- the rest ----------------------------------------------------------------------------------- */

static bool begins(const char *text, const char *with)
{
	return strlen(text) >= strlen(with) && !memcmp(text, with, strlen(with));
}

/* The link is for example "anon_inode:[eventfd]". */
static void describe_anonymous(struct describing *d, const char *link)
{
	const char *from = memchr(link, ':', strlen(link));

	from = from ? from + 1 : link;
	from += *from == '[';
	if (begins(from, "eventpoll")) {
		describe_epoll(d);
		return;
	}
	text_add_bytes(&d->text, from, strcspn(from, "]"));
	text_add(&d->text, " ");
	text_add(&d->text, d->call->verb);
}

static const char *what_is(const struct descriptor_file *file, const char *link)
{
	static const struct {
		uint32_t format;
		const char *path, *what; /* path: prefix of the link */
	} rows[] = {
		{S_IFIFO, "", "pipe"},
		{S_IFREG, "", "file"},
		{S_IFDIR, "", "folder"},
		{S_IFCHR, "/dev/pts/", "terminal"},
		{S_IFCHR, "/dev/tty", "terminal"},
		{S_IFCHR, "", "device"},
		{S_IFBLK, "", "device"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if ((file->mode & S_IFMT) == rows[i].format && begins(link, rows[i].path))
			return rows[i].what;
	return NULL;
}

static void describe_file(struct describing *d, const struct descriptor_file *file)
{
	char path[DESCRIPTOR_PATH], link[1024];

	path_of("/proc/self/fd/", d->call->fd, path);
	long bytes = raw(SYS_readlinkat, AT_FDCWD, path, link, sizeof(link) - 1);
	link[bytes > 0 ? bytes : 0] = '\0';
	const char *what = what_is(file, link);
	if (!what) {
		describe_anonymous(d, link);
		return;
	}
	describe(d, what, d->call->verb);
	if (*link == '/') {
		text_add(&d->text, "\t");
		add_path(&d->text, link, (size_t)bytes);
	}
}

size_t descriptor_text(struct descriptor_ports *ports, const struct descriptor_call *call,
	const struct descriptor_file *file, char out[DESCRIPTOR_TEXT])
{
	struct describing d = {ports, call, text_into(out, DESCRIPTOR_TEXT)};

	if ((file->mode & S_IFMT) == S_IFSOCK)
		describe_socket(&d);
	else
		describe_file(&d, file);
	return (size_t)(d.text.at - out);
}
