/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sockets registered with an epoll, from /proc/self/fdinfo: their number, and their peer if all share it.
 *
 * The kernel lists them all at once and holds the epoll's lock meanwhile, 0.3 us per entry. So the file is read only if
 * no more than EPOLL_MOST descriptors are possible, and at most once a second: the text may be stale by that much.
 */
#include "sampler/descriptor.h"

#include "base/clock.h"
#include "sampler/signal/raw.h"
#include "sampler/text.h"

#include <string.h>

#define EPOLL_MOST  1024u
#define EPOLL_PEERS 64u /* sockets whose peers are queried */
/* Larger numbers are rounded down in steps, to limit the number of different texts. */
#define EPOLL_EXACT 16u
#define EPOLL_NS    NS_PER_S

struct registered {
	struct descriptor_ports *ports;
	uint32_t sockets;
	uint32_t connected;         /* connected ones of these; the others are listening */
	char peer[DESCRIPTOR_TEXT]; /* peer of the first connected one; "": none */
	bool differs;               /* true when another one has a different peer */
};

/* --- files of lines ------------------------------------------------------------------------------ */

typedef void line_fn(void *ctx, const char *line);

/* Calls fn with the beginning of each line of /proc/self/NAME, or NAME and a number. */
static void proc_lines(const char *name, int64_t number, line_fn *fn, void *ctx)
{
	char path[64], buffer[1024], line[32];
	struct text text = text_into(path, sizeof(path));
	uint32_t length = 0;
	long fd, bytes;

	text_add(&text, "/proc/self/");
	text_add(&text, name);
	if (number >= 0)
		text_add_number(&text, (uint64_t)number);
	fd = raw(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	while (fd >= 0 && (bytes = raw(SYS_read, fd, buffer, sizeof(buffer))) > 0) {
		for (const char *at = buffer; at < buffer + bytes; at++) {
			if (*at != '\n') {
				if (length < sizeof(line) - 1)
					line[length++] = *at;
				continue;
			}
			line[length] = '\0';
			length = 0;
			fn(ctx, line);
		}
	}
	if (fd >= 0)
		raw(SYS_close, fd);
}

/* Parses a line "NAME:  12 ..."; false when it has another name. */
static bool value(const char *line, const char *name, uint32_t *out)
{
	size_t bytes = strlen(name);
	uint32_t n = 0;

	if (strlen(line) < bytes || memcmp(line, name, bytes))
		return false;
	for (line += bytes; *line == ' ' || *line == '\t';)
		line++;
	for (; *line >= '0' && *line <= '9'; line++)
		n = n * 10 + (uint32_t)(*line - '0');
	*out = n;
	return true;
}

static void take_size(void *ctx, const char *line)
{
	value(line, "FDSize:", ctx);
}

/* --- registered sockets -------------------------------------------------------------------------- */

static void take_registered(void *ctx, const char *line)
{
	struct registered *r = ctx;
	struct descriptor_file file;
	char text[DESCRIPTOR_TEXT];
	const char *peer;
	uint32_t fd;

	if (!value(line, "tfd:", &fd) || !descriptor_file((int32_t)fd, &file) ||
		(file.mode & S_IFMT) != S_IFSOCK || ++r->sockets > EPOLL_PEERS)
		return;
	descriptor_text(r->ports, &(struct descriptor_call){(int32_t)fd, ""}, &file, text);
	if (!memcmp(text, "accept", strlen("accept")))
		return;
	peer = memchr(text, '\t', strlen(text));
	peer = peer ? peer + 1 : "";
	if (!r->connected++)
		memcpy(r->peer, peer, strlen(peer) + 1);
	r->differs |= strlen(r->peer) != strlen(peer) || memcmp(r->peer, peer, strlen(peer));
}

/* Appends 16, 20+, 50+, 100+, 200+ and so on. */
static void add_about(struct text *t, uint32_t n)
{
	static const uint32_t steps[] = {1000, 500, 200, 100, 50, 20, EPOLL_EXACT};
	uint32_t i = 0;

	while (steps[i] > n && steps[i] > EPOLL_EXACT)
		i++;
	text_add_number(t, n > EPOLL_EXACT ? steps[i] : n);
	text_add(t, n > EPOLL_EXACT ? "+" : "");
}

static void describe(struct descriptor_ports *ports, struct descriptor_epoll *e)
{
	struct text text = text_into(e->text, sizeof(e->text));
	struct registered r = {.ports = ports};
	uint32_t most = UINT32_MAX;

	text_add(&text, "epoll");
	proc_lines("status", -1, take_size, &most);
	if (most > EPOLL_MOST)
		return;
	proc_lines("fdinfo/", e->fd, take_registered, &r);
	if (!r.sockets)
		return;
	text_add(&text, " of ");
	add_about(&text, r.sockets);
	text_add(&text, r.sockets == 1 ? " socket" : " sockets");
	if (r.differs || !*r.peer || r.sockets > EPOLL_PEERS)
		return;
	text_add(&text, "\t");
	text_add(&text, r.peer);
}

void descriptor_epoll(struct descriptor_ports *ports, int32_t fd, struct text *out)
{
	struct descriptor_epoll *e = &ports->epolls[(uint32_t)fd % DESCRIPTOR_EPOLLS];
	uint64_t now = clock_mono_ns();

	if (!e->asked_ns || e->fd != fd || now - e->asked_ns > EPOLL_NS) {
		e->fd = fd;
		e->asked_ns = now;
		describe(ports, e);
	}
	text_add(out, e->text);
}
