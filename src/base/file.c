/* SPDX-License-Identifier: Apache-2.0 */
/* Beside the file and renamed, so that there is always a whole one, old or new. */
#include "base/file.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LINKS_MAX 40 /* as the kernel */

/* --- errors ------------------------------------------------------------------------------------------ */

static const struct file_hint {
	int error;
	const char *hint;
} hints[] = {
	{ENOSPC, "free some space there, or choose a folder on another disk"},
	{EDQUOT, "your disk quota is used up: free some space, or choose a folder on another disk"},
	{EFBIG, "the file would be larger than allowed (ulimit -f, or the file system's limit)"},
	{EROFS, "that file system is mounted read-only: choose another folder"},
	{EACCES, "you may not write there: choose a folder of your own, such as /tmp"},
	{EPERM, "you may not write there: choose a folder of your own, such as /tmp"},
	{ENOENT, "the folder does not exist: create it (mkdir -p), or choose another one"},
	{ENOTDIR, "a part of the path is a file, not a folder: choose another path"},
	{EISDIR, "that is a folder: add a file name"},
	{ENAMETOOLONG, "the name is too long: choose a shorter one"},
	{ELOOP, "its symbolic links lead in a circle: choose another path"},
};

/* The sentence and the hint for an errno. Returns -1. */
static int file_refused(struct err *err, const char *path, const char *doing)
{
	int error = errno;

	err_set_errno(err, ERR_OUTPUT, "cannot write %s", path);
	for (size_t i = 0; i < sizeof(hints) / sizeof(*hints); i++)
		if (hints[i].error == error)
			err_hint(err, "%s", hints[i].hint);
	err_detail(err, "%s: %s", doing, strerror(error));
	errno = error;
	return -1;
}

/* --- where ------------------------------------------------------------------------------------------- */

static size_t folder_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Is it one of the links in /proc that stand for something open? */
static bool is_descriptor(const char *link)
{
	struct buf folder = {0};
	struct statfs fs;
	bool is;

	buf_add(&folder, link, folder_len(link));
	is = !statfs(folder.len ? buf_str(&folder) : ".", &fs) && fs.f_type == PROC_SUPER_MAGIC;
	buf_done(&folder);
	return is;
}

/* What the links of a path lead to, there or not, up to a descriptor's. NULL with errno. */
static char *follow(const char *path)
{
	char *at = xstrdup(path);

	for (int i = 0; i < LINKS_MAX; i++) {
		struct buf next = {0};
		char to[4096];
		ssize_t n = readlink(at, to, sizeof(to));

		if (n < 0 || is_descriptor(at))
			return at;
		if (*to != '/')
			buf_add(&next, at, folder_len(at));
		buf_add(&next, to, (size_t)n);
		free(at);
		at = buf_steal(&next);
	}
	free(at);
	errno = ELOOP;
	return NULL;
}

/* --- beginning --------------------------------------------------------------------------------------- */

/* Our own is the very one that is open, with its offset; others can at least be added to. */
static int open_descriptor(const char *link, const struct stat *there)
{
	struct stat st;
	int fd = atoi(link + folder_len(link));

	if (!fstat(fd, &st) && st.st_dev == there->st_dev && st.st_ino == there->st_ino)
		return fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return open(link, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
}

/* A new file, which no one else can have put there, with the mode that the umask gives. */
static int open_part(struct file *f)
{
	mode_t mask = umask(0);
	struct buf name = {0};
	int fd;

	umask(mask);
	buf_add(&name, f->target, folder_len(f->target));
	buf_adds(&name, ".jhot-XXXXXX.part");
	f->part = buf_steal(&name);
	fd = mkostemps(f->part, strlen(".part"), O_CLOEXEC);
	if (fd >= 0)
		(void)fchmod(fd, 0666 & ~mask);
	return fd;
}

/* As the old one, where that is allowed; a group that cannot be kept is not given to another. */
static void take_mode(int fd, const struct stat *old)
{
	mode_t mode = old->st_mode & 0777;

	if (fchown(fd, old->st_uid, old->st_gid) && fchown(fd, (uid_t)-1, old->st_gid))
		mode = (mode & ~(mode_t)070) | (mode & 07) << 3;
	(void)fchmod(fd, mode);
}

static int open_for(struct file *f)
{
	struct stat st;
	bool there = !stat(f->path, &st);
	int fd;

	if (!there && errno != ENOENT)
		return -1;
	f->target = follow(f->path);
	if (!f->target)
		return -1;
	if (there && S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return -1;
	}
	if (there && is_descriptor(f->target))
		return open_descriptor(f->target, &st);
	if (there && !S_ISREG(st.st_mode))
		return open(f->target, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (there && faccessat(AT_FDCWD, f->target, W_OK, AT_EACCESS))
		return -1;
	fd = open_part(f);
	if (fd >= 0 && there)
		take_mode(fd, &st);
	return fd;
}

static void file_done(struct file *f)
{
	free(f->path);
	free(f->target);
	free(f->part);
	memset(f, 0, sizeof(*f));
	f->fd = -1;
}

int file_create(struct file *f, const char *path, struct err *err)
{
	memset(f, 0, sizeof(*f));
	f->path = xstrdup(path);
	f->fd = open_for(f);
	if (f->fd >= 0)
		return 0;
	file_refused(err, path, "open");
	file_done(f);
	return -1;
}

/* --- writing ----------------------------------------------------------------------------------------- */

int file_write(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

/* --- ending ------------------------------------------------------------------------------------------ */

void file_appear(struct file *f)
{
	if (!f->part || link(f->part, f->target))
		return;
	unlink(f->part);
	free(f->part);
	f->part = NULL;
}

void file_leave(struct file *f)
{
	if (!f->path)
		return;
	if (f->fd >= 0)
		close(f->fd);
	file_done(f);
}

void file_abandon(struct file *f)
{
	if (f->path && f->part)
		unlink(f->part);
	file_leave(f);
}

/* What of it failed, NULL if nothing did. A device has nothing to sync. */
static const char *commit(struct file *f)
{
	bool unsynced = fsync(f->fd) && errno != EINVAL && errno != ENOSYS && errno != EROFS;
	int error = errno, fd = f->fd;

	f->fd = -1;
	if (close(fd) && !unsynced)
		return "close";
	errno = error;
	if (unsynced)
		return "fsync";
	if (f->part && rename(f->part, f->target))
		return "rename";
	free(f->part);
	f->part = NULL;
	return NULL;
}

int file_commit(struct file *f, struct err *err)
{
	const char *failed = commit(f);

	if (failed)
		file_refused(err, f->path, failed);
	file_abandon(f);
	return failed ? -1 : 0;
}

/* --- in one ------------------------------------------------------------------------------------------ */

int file_put(const char *path, const void *bytes, size_t len, struct err *err)
{
	struct file f;

	if (file_create(&f, path, err))
		return -1;
	if (!file_write(f.fd, bytes, len))
		return file_commit(&f, err);
	file_refused(err, path, "write");
	file_abandon(&f);
	return -1;
}

int file_check(const char *path, struct err *err)
{
	struct stat st;
	struct file f;

	/* To open a pipe waits for its reader, a device may do anything. */
	if (!stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS)
			       ? file_refused(err, path, "access")
			       : 0;
	if (file_create(&f, path, err))
		return -1;
	file_abandon(&f);
	return 0;
}
