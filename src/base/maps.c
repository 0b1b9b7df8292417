/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mappings, and opening of files. A mapped file is opened through map_files, which is exact but privileged, else by its path, which
 * needs no privileges but may name another file by now.
 *
 * Files in folders of other users are opened in three steps: an O_PATH descriptor, which has no side effects; fstat; the file itself
 * through /proc/self/fd.
 */
#include "base/maps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

/* --- resolving a path by component ------------------------------------------------------------------ */

#define WALK_DEPTH 64 /* folders below the root */
#define WALK_LINKS 40 /* the kernel's limit */

struct walk {
	int at[WALK_DEPTH + 1]; /* at[0] is the root, borrowed */
	int depth, links;
	char left[2 * PATH_MAX]; /* the remaining path */
};

static void walk_up(struct walk *w, int depth)
{
	while (w->depth > depth)
		close(w->at[w->depth--]);
}

/* Replaces the link in at[depth] by its target, resolved relative to the link's folder or to the root. */
static int walk_link(struct walk *w)
{
	char text[PATH_MAX], rest[sizeof(w->left)];
	ssize_t n = readlinkat(w->at[w->depth], "", text, sizeof(text) - 1);

	if (n < 0)
		return -errno;
	text[n] = '\0';
	snprintf(rest, sizeof(rest), "%s", w->left);
	if (++w->links > WALK_LINKS ||
		(size_t)snprintf(w->left, sizeof(w->left), "%s/%s", text, rest) >= sizeof(w->left))
		return -ELOOP;
	walk_up(w, text[0] == '/' ? 0 : w->depth - 1);
	return 0;
}

static int walk_part(struct walk *w)
{
	size_t skip = strspn(w->left, "/"), len = strcspn(w->left + skip, "/");
	char part[NAME_MAX + 1];

	if (len > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(part, w->left + skip, len);
	part[len] = '\0';
	memmove(w->left, w->left + skip + len, strlen(w->left + skip + len) + 1);
	if (!strcmp(part, ".."))
		walk_up(w, w->depth > 0 ? w->depth - 1 : 0);
	else if (len && strcmp(part, ".") != 0) {
		struct stat st;

		if (w->depth == WALK_DEPTH)
			return -ELOOP;
		int fd = openat(w->at[w->depth], part, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return -errno;
		w->at[++w->depth] = fd;
		if (fstat(fd, &st))
			return -errno;
		return S_ISLNK(st.st_mode) ? walk_link(w) : 0;
	}
	return 0;
}

int rooted_walk(int root, const char *path)
{
	struct walk w = {.at = {root}};
	int rc = 0;

	if ((size_t)snprintf(w.left, sizeof(w.left), "%s", path) >= sizeof(w.left))
		return -ENAMETOOLONG;
	while (!rc && w.left[0])
		rc = walk_part(&w);
	int fd = rc ? rc : fcntl(w.at[w.depth], F_DUPFD_CLOEXEC, 0);
	if (fd < 0 && !rc)
		fd = -errno;
	walk_up(&w, 0);
	return fd;
}

static int resolve(int root, const char *path)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));

	if (fd >= 0)
		return fd;
	/* Before Linux 5.6, or blocked by a seccomp filter. */
	return errno == ENOSYS || errno == EPERM ? rooted_walk(root, path) : -errno;
}

/* --- opening by type --------------------------------------------------------------------------------- */

static int open_regular(int path_fd, int flags)
{
	char link[40];
	struct stat st;

	if (fstat(path_fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISLNK(st.st_mode) ? -ELOOP : -EINVAL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", path_fd);
	int fd = open(link, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * Opens a path below root, absolute or not: with O_DIRECTORY a folder, with O_PATH a reference to any type of file, otherwise a
 * regular file.
 */
static int rooted_open(const char *root, const char *path, int flags)
{
	int base = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), fd;

	if (base < 0)
		return -errno;
	int at = resolve(base, path);
	close(base);
	if (at < 0 || ((flags & O_PATH) && !(flags & O_DIRECTORY)))
		return at;
	if (!(flags & O_DIRECTORY)) {
		fd = open_regular(at, flags);
	} else {
		fd = openat(at, ".", flags | O_CLOEXEC);
		fd = fd < 0 ? -errno : fd;
	}
	close(at);
	return fd;
}

/* Consumes the O_PATH descriptor; at < 0: returns -errno. */
static int open_and_close(int at, int flags)
{
	if (at < 0)
		return -errno;
	int fd = open_regular(at, flags);
	close(at);
	return fd;
}

int rooted_in(int dir, const char *name, int flags)
{
	return open_and_close(openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), flags);
}

int rooted_link(const char *link, int flags)
{
	return open_and_close(open(link, O_PATH | O_CLOEXEC), flags);
}

/* --- files of the process -------------------------------------------------------------------------- */

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
