/* SPDX-License-Identifier: Apache-2.0 */
/* map_files is exact but privileged; the path needs no privileges but may name another file by now. */
#include "base/maps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_STEP 8192
#define DELETED   " (deleted)" /* suffix of a path */

const char *proc_root = "/proc";

const char *proc_path(char *out, pid_t pid, const char *file)
{
	snprintf(out, PROC_PATH_BYTES, "%s/%d/%s", proc_root, (int)pid, file);
	return out;
}

/* The state of a process or thread; 0 when it is gone. */
static char state_of(pid_t id)
{
	char path[PROC_PATH_BYTES], text[512];
	int fd = open(proc_path(path, id, "stat"), O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	const char *close_at = strrchr(text, ')');
	return close_at && close_at[1] ? close_at[2] : '\0';
}

pid_t proc_living(pid_t pid)
{
	char path[PROC_PATH_BYTES];
	DIR *dir = pid > 0 && state_of(pid) == 'Z' ? opendir(proc_path(path, pid, "task")) : NULL;
	struct dirent *e;
	pid_t found = 0;

	while (dir && !found && (e = readdir(dir)) != NULL) {
		pid_t tid = (pid_t)atoi(e->d_name);
		char state = tid > 0 && tid != pid ? state_of(tid) : '\0';

		if (state && !strchr("ZXx", state))
			found = tid;
	}
	if (dir)
		closedir(dir);
	return found;
}

const char *proc_path_living(char *out, pid_t pid, const char *file)
{
	pid_t living = proc_living(pid);

	return proc_path(out, living ? living : pid, file);
}

const char *path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Parses one line without its newline; map->path points into it, a "(deleted)" suffix is cut off in place. */
static bool parse_map(char *line, struct proc_map *map)
{
	unsigned long long start, end, offset, inode;
	int path_at = 0;

	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end, map->perms, &offset,
		    &map->dev_major, &map->dev_minor, &inode, &path_at) < 7)
		return false;
	map->start = start;
	map->end = end;
	map->offset = offset;
	map->inode = inode;
	map->path = path_at ? line + path_at : "";
	ssize_t suffix_at = (ssize_t)strlen(map->path) - (ssize_t)strlen(DELETED);
	map->deleted = suffix_at > 0 && !strcmp(map->path + suffix_at, DELETED);
	if (map->deleted)
		line[path_at + suffix_at] = '\0';
	return true;
}

/*
 * Reads in steps: callers often stop at the first mapping of libjvm, and the kernel formats only what is read.
 */
int proc_maps(pid_t pid, bool (*fn)(void *ctx, const struct proc_map *map), void *ctx)
{
	char path[PROC_PATH_BYTES], step[READ_STEP], *line = NULL;
	FILE *f = fopen(proc_path_living(path, pid, "maps"), "re");
	size_t cap = 0;
	ssize_t len;
	int rc = 0;

	if (!f)
		return -errno;
	setvbuf(f, step, _IOFBF, sizeof(step));
	errno = 0;
	while ((len = getline(&line, &cap, f)) > 0) {
		struct proc_map map = {0};

		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		if (parse_map(line, &map) && !fn(ctx, &map))
			break;
	}
	if (len < 0 && ferror(f))
		rc = errno ? -errno : -EIO;
	free(line);
	fclose(f);
	return rc;
}

int proc_open_in(pid_t pid, const char *dir, const char *path, int flags)
{
	char top[PROC_PATH_BYTES];

	if (pid <= 0)
		return rooted_link(path, flags);
	return rooted_open(proc_path_living(top, pid, dir), path, flags);
}

struct same {
	uint64_t start;
	bool there;
};

static bool check_same(void *ctx, const struct proc_map *map)
{
	struct same *same = ctx;

	if (map->start == same->start)
		same->there = !map->deleted;
	return map->start != same->start;
}

int proc_open_mapped(pid_t pid, const struct proc_map *map)
{
	char path[PROC_PATH_BYTES], file[64];
	struct same same = {.start = map->start};
	struct stat st;

	if (pid <= 0)
		return proc_open_in(0, "root", map->path, O_RDONLY);
	snprintf(file, sizeof(file), "map_files/%llx-%llx", (unsigned long long)map->start,
		(unsigned long long)map->end);
	int fd = rooted_link(proc_path_living(path, pid, file), O_RDONLY);
	if (fd >= 0 && !fstat(fd, &st) && (!map->inode || st.st_ino == map->inode))
		return fd;
	if (fd >= 0)
		close(fd); /* the range was remapped */
	fd = proc_open_in(pid, "root", map->path, O_RDONLY);
	if (fd < 0 || !map->inode || fstat(fd, &st) || st.st_ino == map->inode)
		return fd;
	/* Overlay file systems report different inodes in maps and stat, so check maps for "(deleted)". */
	proc_maps(pid, check_same, &same);
	if (same.there)
		return fd;
	close(fd);
	return -ESTALE;
}
