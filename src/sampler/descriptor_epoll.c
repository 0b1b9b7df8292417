/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is registered with an epoll, by /proc/self/fdinfo: how many sockets, and their peer if all have the same.
 *
 * The kernel tells all of it at once, and has the epoll locked meanwhile, for 0.3 us each. So it is asked where no more
 * can be registered than EPOLL_MOST, and once a second: the text may be that old.
 */
#include "sampler/descriptor.h"

#include "base/clock.h"
#include "sampler/signal/raw.h"
#include "sampler/text.h"

#include <string.h>

#define EPOLL_MOST  1024u
#define EPOLL_PEERS 64u /* sockets that are asked for their peers */
#define EPOLL_EXACT 16u /* from there on in steps: many numbers would be as many names */
#define EPOLL_NS    NS_PER_S

struct registered {
	struct descriptor_ports *ports;
	uint32_t sockets;
	uint32_t connected;         /* of these; the rest accepts */
	char peer[DESCRIPTOR_TEXT]; /* of the first of them; "": it has none */
	bool differs;               /* others have another */
};

/* --- files of lines ------------------------------------------------------------------------------ */

typedef void line_fn(void *ctx, const char *line);

/* proc_lines: the beginnings of the lines of /proc/self/NAME, or of NAME and a number. */
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

/* value: of a line "NAME:  12 ...". false: it has another name. */
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

/* --- what is registered -------------------------------------------------------------------------- */

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

/* add_about: 16, 20+, 50+, 100+, 200+ */
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
