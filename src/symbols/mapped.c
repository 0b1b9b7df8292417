/* SPDX-License-Identifier: Apache-2.0 */
/* Opening files and comparing build ids with memory. */
#include "symbols/mapped.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
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

static int open_file(pid_t pid, const struct proc_map *map, struct err *err)
{
	const char *name = path_name(map->path);
	int fd = proc_open_mapped(pid, map);

	if (fd == -ESTALE) {
		err_set(err, ERR_INPUT, "%s has been replaced since the JVM mapped it.", name);
	} else if (fd == -ENOENT && has_ended(pid)) {
		err_set(err, ERR_GONE, "the JVM ended before %s could be read.", name);
	} else if (fd < 0) {
		errno = -fd;
		err_set_errno(err, ERR_INPUT, "%s cannot be read", name);
	}
	return fd;
}

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
