/* SPDX-License-Identifier: Apache-2.0 */
/* map_files is exact but privileged; a path is for everyone but may have been replaced. */
#include "symbols/target_file.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* Takes the descriptor (or -1 with errno): a regular file is returned, anything else closed. */
static int target_file_checked(int fd)
{
	struct stat st;
	int error = fd < 0 ? errno : 0;

	if (fd >= 0 && fstat(fd, &st))
		error = errno;
	else if (fd >= 0 && !S_ISREG(st.st_mode))
		error = EINVAL;
	if (error && fd >= 0)
		close(fd);
	return error ? -error : fd;
}

static int target_file_open_in_root(int root, const char *path)
{
	struct open_how how = {
		.flags = OPEN_FLAGS, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};

	return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

int target_file_open(pid_t pid, const char *path)
{
	char name[64];
	struct buf full = {0};
	int root, fd;

	if (pid <= 0)
		return target_file_checked(open(path, OPEN_FLAGS));
	snprintf(name, sizeof(name), "/proc/%d/root", (int)pid);
	root = open(name, O_PATH | O_CLOEXEC | O_DIRECTORY);
	if (root < 0)
		return -errno;
	fd = target_file_open_in_root(root, path);
	if (fd < 0 && (errno == ENOSYS || errno == EPERM)) { /* EPERM: a seccomp filter of old */
		buf_printf(&full, "%s/%s", name, path);
		fd = open(full.data, OPEN_FLAGS);
		buf_done(&full);
	}
	fd = target_file_checked(fd);
	close(root);
	return fd;
}

/* Does maps call the file behind this mapping deleted (or is the mapping gone)? */
static bool target_file_was_deleted(pid_t pid, uint64_t start)
{
	char name[64], *line = NULL;
	size_t cap = 0;
	bool deleted = true;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	f = fopen(name, "re");
	while (f && getline(&line, &cap, f) > 0) {
		const char *mark;

		if (strtoull(line, NULL, 16) != start)
			continue;
		mark = strstr(line, " (deleted)\n");
		deleted = mark != NULL;
		break;
	}
	free(line);
	if (f)
		fclose(f);
	return deleted;
}

int target_file_open_module(pid_t pid, const struct symbols_module *m)
{
	char name[96];
	struct stat st;
	int fd;

	if (pid <= 0)
		return target_file_open(0, m->path);
	snprintf(name, sizeof(name), "/proc/%d/map_files/%llx-%llx", (int)pid,
		(unsigned long long)m->start, (unsigned long long)m->end);
	fd = target_file_checked(open(name, OPEN_FLAGS));
	if (fd >= 0 && !fstat(fd, &st) && (!m->inode || st.st_ino == m->inode))
		return fd;
	if (fd >= 0)
		close(fd); /* the range was mapped anew since the agent saw it */
	fd = target_file_open(pid, m->path);
	/* Overlay file systems show another inode in maps than in stat, so ask maps itself. */
	if (fd >= 0 && m->inode && !fstat(fd, &st) && st.st_ino != m->inode &&
		target_file_was_deleted(pid, m->start)) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}
