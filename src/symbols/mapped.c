/* SPDX-License-Identifier: Apache-2.0 */
/* Opening files, comparing build ids with memory, and searching for separate debug files. */
#include "symbols/mapped.h"

#include "base/buf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define VDSO "[vdso]"

static bool begins_as_elf(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, SELFMAG, 0) == SELFMAG && !memcmp(magic, ELFMAG, SELFMAG);
}

struct place {
	uint64_t address;
	const char *path;
	bool found;
};

static bool find_place(void *ctx, const struct proc_map *map)
{
	struct place *p = ctx;

	if (p->address - map->start >= map->end - map->start)
		return true;
	p->found = !strcmp(map->path, p->path);
	return false;
}

/*
 * True if the process has mapped another file under this path: its memory holds a different build id. Memory that is unreadable or
 * belongs to another mapping proves nothing.
 */
static bool is_overwritten(pid_t pid, const struct proc_map *map, const struct elf_facts *facts)
{
	const struct elf_segment *s =
		elf_segment_of_offset(facts->segments, facts->segment_count, map->offset);
	unsigned char id[ELF_BUILD_ID_MAX];
	struct iovec local = {id, facts->id_bytes}, remote = {NULL, facts->id_bytes};
	struct place place = {.path = map->path};
	pid_t living = proc_living(pid);

	if (pid <= 0 || !facts->id_address || !s)
		return false;
	place.address = map->start - (map->offset - s->offset) - s->address + facts->id_address;
	remote.iov_base = (void *)(uintptr_t)place.address;
	if (process_vm_readv(living ? living : pid, &local, 1, &remote, 1, 0) !=
			(ssize_t)facts->id_bytes ||
		!memcmp(id, facts->id, facts->id_bytes))
		return false;
	proc_maps(pid, find_place, &place);
	return place.found;
}

/* True when the process, or its first thread, has ended: /proc/PID/root leads nowhere then. */
static bool has_ended(pid_t pid)
{
	int root = pid > 0 ? proc_open_in(pid, "root", "/", O_PATH | O_DIRECTORY) : 0;

	if (root > 0)
		close(root);
	return root == -ENOENT || root == -ESRCH;
}

/* Opens the mapped file. A descriptor, or -errno with an error that names the file. */
static int open_file(pid_t pid, const struct proc_map *map, struct err *err)
{
	const char *name = path_name(map->path);
	int fd = proc_open_mapped(pid, map);
	bool ended = fd == -ENOENT && has_ended(pid);
	struct stat st;

	/* Our own root may have the file: it is the mapped one if it has the same inode. */
	if (ended && map->inode && !map->deleted) {
		fd = proc_open_in(0, "root", map->path, O_RDONLY);
		if (fd >= 0 && (fstat(fd, &st) || st.st_ino != map->inode)) {
			close(fd);
			fd = -ENOENT;
		}
		fd = fd < 0 ? -ENOENT : fd;
	}
	if (fd == -ESTALE) {
		err_set(err, ERR_INPUT, "%s has been replaced since the JVM mapped it.", name);
	} else if (fd == -ENOENT && ended) {
		err_set(err, ERR_GONE, "the JVM ended before %s could be read.", name);
	} else if (fd < 0) {
		errno = -fd;
		err_set_errno(err, ERR_INPUT, "%s cannot be read", name);
	}
	return fd;
}

/* --- separate debug files ------------------------------------------------------------------------------ */

struct search {
	struct elf_child *child;
	const atomic_bool *stop;
	pid_t pid;
	const char *path;
	const struct elf_facts *facts;
};

/* Opens a file whose build id, or without one whose checksum, is that of the debug file searched for; else -1. */
static int open_matching(const struct search *s, pid_t pid, const char *path)
{
	int fd = proc_open_in(pid, "root", path, O_RDONLY);
	const struct elf_facts *have = s->facts;
	struct elf_facts facts;
	bool matches = false;
	uint32_t crc;

	if (fd < 0)
		return -1;
	if (!elf_child_facts(s->child, fd, s->stop, &facts, NULL)) {
		if (have->id_bytes)
			matches = facts.id_bytes == have->id_bytes &&
				  !memcmp(facts.id, have->id, have->id_bytes);
		else
			matches = !elf_child_crc(s->child, fd, s->stop, &crc, NULL) &&
				  crc == have->link_crc;
	}
	if (matches)
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

static int open_by_id(const struct search *s)
{
	const char *cache = getenv("DEBUGINFOD_CACHE_PATH"), *xdg = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	struct buf path = {0};

	buf_adds(&path, "/usr/lib/debug/.build-id/");
	add_id(s, &path, "/");
	buf_adds(&path, ".debug");
	int fd = open_matching(s, s->pid, path.data);
	if (fd < 0 && s->pid > 0)
		fd = open_matching(s, 0, path.data);
	if (fd < 0 && (cache || xdg || home)) {
		buf_clear(&path);
		if (cache)
			buf_printf(&path, "%s/", cache);
		else
			buf_printf(&path, "%s%s/debuginfod_client/", xdg ? xdg : home,
				xdg ? "" : "/.cache");
		add_id(s, &path, "");
		buf_adds(&path, "/debuginfo");
		fd = open_matching(s, 0, path.data);
	}
	buf_done(&path);
	return fd;
}

static int open_by_link(const struct search *s)
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
			fd = open_matching(s, s->pid, path.data);
		buf_done(&path);
	}
	return fd;
}

int debug_file_open(struct elf_child *child, pid_t pid, const char *path,
	const struct elf_facts *facts, const atomic_bool *stop)
{
	struct search s = {child, stop, pid, path, facts};
	int fd = facts->id_bytes ? open_by_id(&s) : -1;

	return fd < 0 && facts->link[0] ? open_by_link(&s) : fd;
}

/* --- mapped files -------------------------------------------------------------------------------------- */

enum mapped mapped_open(struct elf_child *child, pid_t pid, const struct proc_map *map,
	const atomic_bool *stop, struct mapped_file *out, struct err *err)
{
	bool vdso = !strcmp(map->path, VDSO);
	enum mapped result = MAPPED_FAILED;

	*out = (struct mapped_file){.fd = -1, .debug_fd = -1};
	if (!vdso && pid > 0 && map->path[0] != '/')
		return MAPPED_OTHER;
	out->fd = vdso ? -1 : open_file(pid, map, err);
	if (!vdso && out->fd < 0)
		return MAPPED_FAILED;
	if (!vdso && !begins_as_elf(out->fd)) {
		result = MAPPED_OTHER;
	} else if (elf_child_facts(child, out->fd, stop, &out->facts, err)) {
		err_prefix(err, "%s: ", path_name(map->path));
	} else if (!vdso && is_overwritten(pid, map, &out->facts)) {
		err_set(err, ERR_INPUT, "%s has been overwritten since the JVM mapped it.",
			path_name(map->path));
	} else {
		if (!vdso)
			out->debug_fd = debug_file_open(child, pid, map->path, &out->facts, stop);
		return MAPPED_OPEN;
	}
	mapped_close(out);
	return result;
}

void mapped_close(struct mapped_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	if (f->debug_fd >= 0)
		close(f->debug_fd);
	f->fd = f->debug_fd = -1;
}

enum mapped unwind_pack_mapped(struct elf_child *child, pid_t pid, const struct proc_map *map,
	const atomic_bool *stop, struct buf *out, bool *keeps_fp, struct err *err)
{
	struct mapped_file file;
	enum mapped opened = mapped_open(child, pid, map, stop, &file, err);

	if (opened != MAPPED_OPEN)
		return opened;
	if (elf_child_unwind(child, file.fd, file.debug_fd, stop, out, keeps_fp, err)) {
		err_prefix(err, "%s: ", path_name(map->path));
		opened = MAPPED_FAILED;
	}
	mapped_close(&file);
	return opened;
}
