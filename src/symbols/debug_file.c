/* SPDX-License-Identifier: Apache-2.0 */
/* Searches the directories that gdb and elfutils search. */
#include "symbols/mapped.h"

#include "base/buf.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct search {
	struct elf_child *child;
	const atomic_bool *stop;
	pid_t pid;
	const char *path;
	const struct elf_facts *facts;
};

static bool matches(const struct search *s, int fd)
{
	const struct elf_facts *have = s->facts;
	struct elf_facts facts;
	uint32_t crc;

	if (elf_child_facts(s->child, fd, s->stop, &facts, NULL))
		return false;
	if (have->id_bytes)
		return facts.id_bytes == have->id_bytes &&
		       !memcmp(facts.id, have->id, have->id_bytes);
	return !elf_child_crc(s->child, fd, s->stop, &crc, NULL) && crc == have->link_crc;
}

/* A descriptor of the file if it matches, else -1. */
static int try(const struct search *s, pid_t pid, const char *path)
{
	int fd = proc_open_in(pid, "root", path, O_RDONLY);

	if (fd < 0)
		return -1;
	if (matches(s, fd))
		return fd;
	close(fd);
	return -1;
}

/* Appends the build id with a separator after its first byte: "ab/cdef...". */
static void add_id(const struct search *s, struct buf *out, const char *separator)
{
	for (size_t i = 0; i < s->facts->id_bytes; i++)
		buf_printf(out, "%s%02x", i == 1 ? separator : "", s->facts->id[i]);
}

static int by_id(const struct search *s)
{
	const char *cache = getenv("DEBUGINFOD_CACHE_PATH"), *xdg = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	struct buf path = {0};
	int fd;

	buf_adds(&path, "/usr/lib/debug/.build-id/");
	add_id(s, &path, "/");
	buf_adds(&path, ".debug");
	fd = try(s, s->pid, path.data);
	if (fd < 0 && s->pid > 0)
		fd = try(s, 0, path.data);
	if (fd < 0 && (cache || xdg || home)) {
		buf_clear(&path);
		if (cache)
			buf_printf(&path, "%s/", cache);
		else
			buf_printf(&path, "%s%s/debuginfod_client/", xdg ? xdg : home,
				xdg ? "" : "/.cache");
		add_id(s, &path, "");
		buf_adds(&path, "/debuginfo");
		fd = try(s, 0, path.data);
	}
	buf_done(&path);
	return fd;
}

static int by_link(const struct search *s)
{
	static const struct {
		const char *before, *after;
	} places[] = {{"", "/"}, {"", "/.debug/"}, {"/usr/lib/debug", "/"}};
	const char *slash = strrchr(s->path, '/');
	int folder = slash ? (int)(slash - s->path) : 0, fd = -1;

	for (size_t i = 0; slash && i < sizeof(places) / sizeof(places[0]) && fd < 0; i++) {
		struct buf path = {0};

		buf_printf(&path, "%s%.*s%s%s", places[i].before, folder, s->path, places[i].after,
			s->facts->link);
		if (strcmp(path.data, s->path))
			fd = try(s, s->pid, path.data);
		buf_done(&path);
	}
	return fd;
}

int debug_file_open(struct elf_child *child, pid_t pid, const char *path,
	const struct elf_facts *facts, const atomic_bool *stop)
{
	struct search s = {child, stop, pid, path, facts};
	int fd = facts->id_bytes ? by_id(&s) : -1;

	return fd < 0 && facts->link[0] ? by_link(&s) : fd;
}
