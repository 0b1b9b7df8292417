/* SPDX-License-Identifier: Apache-2.0 */
/* Files are written beside the old one and renamed, by names relative to an open folder. */
#include "base/file.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LINKS_MAX 40  /* as the kernel */
#define TRIES_MAX 100 /* names of a new file */

/* --- errors ------------------------------------------------------------------------------------------ */

/* An error of our own: belongs to another user, in a folder that everybody may write to. No file operation returns it. */
#define EFOREIGN EOWNERDEAD

static const struct file_hint {
	int error;
	const char *hint;
} hints[] = {
	{ENOSPC, "free some space there, or choose a folder on another disk"},
	{EDQUOT, "your disk quota is used up: free some space, or choose a folder on another disk"},
	{EFBIG, "the file would be larger than allowed (ulimit -f, or the file system's limit)"},
	{EROFS, "that file system is mounted read-only: choose another folder"},
	{EACCES, "you may not write there: choose a folder of your own"},
	{EPERM, "you may not write there: choose a folder of your own"},
	{ENOENT, "the folder does not exist: create it (mkdir -p), or choose another one"},
	{ENOTDIR, "a part of the path is a file, not a folder: choose another path"},
	{EISDIR, "that is a folder: add a file name"},
	{ENAMETOOLONG, "the name is too long: choose a shorter one"},
	{ELOOP, "its symbolic links lead in a circle: choose another path"},
	{EFOREIGN, "choose a name that does not exist there, or a folder of your own"},
};

/* The sentence and the hint for an errno. Returns -1. */
static int file_refused(struct err *err, const char *path, const char *doing)
{
	int error = errno;

	if (error == EFOREIGN)
		err_set(err, ERR_OUTPUT,
			"cannot write %s: another user's file or link is there, in a folder that "
			"everybody may write to",
			path);
	else
		err_set_errno(err, ERR_OUTPUT, "cannot write %s", path);
	for (size_t i = 0; i < sizeof(hints) / sizeof(*hints); i++)
		if (hints[i].error == error)
			err_hint(err, "%s", hints[i].hint);
	if (error != EFOREIGN)
		err_detail(err, "%s: %s", doing, strerror(error));
	errno = error;
	return -1;
}

/* --- where ------------------------------------------------------------------------------------------- */

/* A path that is walked part by part. */
struct walk {
	int dir;    /* O_PATH: the folder reached so far */
	char *path; /* owned; starts over with each link */
	char *left; /* what of it has not been walked */
	int links;
	/* The last part: */
	char name[NAME_MAX + 1];
	bool there;
	bool descriptor; /* a link in /proc to something open */
	struct stat st;  /* of the file, or of what is open; valid if there */
};

static void walk_done(struct walk *w)
{
	if (w->dir >= 0)
		close(w->dir);
	free(w->path);
}

/* Takes over the descriptor of a folder; -1: errno says why there is none. */
static int walk_into(struct walk *w, int dir)
{
	if (dir < 0)
		return -1;
	if (w->dir >= 0)
		close(w->dir);
	w->dir = dir;
	return 0;
}

/* Takes over the path. A relative one starts in the folder reached so far. */
static int walk_start(struct walk *w, char *path)
{
	free(w->path);
	w->path = w->left = path;
	if (*path != '/')
		return 0;
	return walk_into(w, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* `link`: an O_PATH descriptor of a symbolic link. What it says comes before what is left. */
static int walk_link(struct walk *w, int link)
{
	struct buf next = {0};
	char to[PATH_MAX];
	ssize_t n = readlinkat(link, "", to, sizeof(to));

	if (n < 0)
		return -1;
	if (++w->links > LINKS_MAX || (size_t)n == sizeof(to)) {
		errno = ELOOP;
		return -1;
	}
	buf_add(&next, to, (size_t)n);
	buf_adds(&next, w->left);
	return walk_start(w, buf_steal(&next));
}

static bool in_proc(int dir)
{
	struct statfs fs;

	return !fstatfs(dir, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

/*
 * Whether somebody else may have put a file or a link there: the kernel's rule for sticky folders (fs.protected_symlinks,
 * fs.protected_regular), for every folder that everybody may write to and whatever the kernel's settings are.
 */
static bool is_foreign(int dir, const struct stat *st)
{
	struct stat folder;

	if (fstat(dir, &folder))
		return true;
	if (!(folder.st_mode & S_IWOTH) &&
		(folder.st_mode & (S_ISVTX | S_IWGRP)) != (S_ISVTX | S_IWGRP))
		return false;
	return st->st_uid != geteuid() && st->st_uid != folder.st_uid;
}

/* One part of the path, which is open as fd (O_PATH). 1: more is left; 0: this was the last; -1 with errno. */
static int walk_found(struct walk *w, int fd)
{
	bool last = !*w->left, link, proc;

	if (fstat(fd, &w->st))
		return -1;
	link = S_ISLNK(w->st.st_mode);
	proc = link && in_proc(w->dir);
	if (!S_ISDIR(w->st.st_mode) && is_foreign(w->dir, &w->st)) {
		errno = EFOREIGN;
		return -1;
	}
	if (link && !proc)
		return walk_link(w, fd) ? -1 : 1;
	if (link && last) {
		w->there = w->descriptor = true;
		return fstatat(w->dir, w->name, &w->st, 0);
	}
	if (link) /* what is open has no path of its own: the kernel follows */
		return walk_into(w, openat(w->dir, w->name, O_PATH | O_DIRECTORY | O_CLOEXEC)) ? -1
											       : 1;
	if (S_ISDIR(w->st.st_mode))
		return walk_into(w, fcntl(fd, F_DUPFD_CLOEXEC, 0)) ? -1 : 1;
	if (!last)
		errno = ENOTDIR;
	w->there = last;
	return last ? 0 : -1;
}

static int walk_part(struct walk *w)
{
	size_t len;
	int fd, rc;

	w->left += strspn(w->left, "/");
	len = strcspn(w->left, "/");
	if (!len || len > NAME_MAX) {
		errno = len ? ENAMETOOLONG : EISDIR;
		return -1;
	}
	memcpy(w->name, w->left, len);
	w->name[len] = '\0';
	w->left += len;
	fd = openat(w->dir, w->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT && !*w->left ? 0 : -1;
	rc = walk_found(w, fd);
	close(fd);
	return rc;
}

/*
 * Walks to the folder that holds the last part of a path, whether or not that exists. Links are followed here and not by
 * the kernel, each only where nobody else can have put it. 0, or -1 with errno; walk_done in any case.
 */
static int walk(struct walk *w, const char *path)
{
	int rc;

	*w = (struct walk){.dir = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)};
	if (w->dir < 0 || walk_start(w, xstrdup(path)))
		return -1;
	do
		rc = walk_part(w);
	while (rc > 0);
	return rc;
}

/* --- beginning --------------------------------------------------------------------------------------- */

/* Our own is the very one that is open, with its offset; others can at least be added to. */
static int open_descriptor(const struct walk *w)
{
	struct stat st;
	int fd = atoi(w->name);

	if (!fstat(fd, &st) && st.st_dev == w->st.st_dev && st.st_ino == w->st.st_ino)
		return fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return openat(w->dir, w->name, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
}

/* A device or a pipe: the one that was found and no other. */
static int open_device(const struct walk *w)
{
	int fd = openat(w->dir, w->name, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && st.st_dev == w->st.st_dev && st.st_ino == w->st.st_ino)
		return fd;
	if (fd >= 0) {
		close(fd);
		errno = EFOREIGN;
	}
	return -1;
}

/* A new file under a name that nobody can guess, with the mode that the umask gives. */
static int open_part(struct file *f)
{
	mode_t mask = umask(0);
	int fd = -1;

	umask(mask);
	for (int i = 0; i < TRIES_MAX && fd < 0; i++) {
		struct buf name = {0};
		uint64_t random;

		if (getentropy(&random, sizeof(random)))
			return -1;
		buf_printf(&name, ".jhot-%016" PRIx64 ".part", random);
		free(f->part);
		f->part = buf_steal(&name);
		fd = openat(
			f->dir, f->part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			return -1;
	}
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

static int open_for(struct file *f, struct walk *w)
{
	int fd;

	if (walk(w, f->path))
		return -1;
	if (w->descriptor)
		return open_descriptor(w);
	if (w->there && !S_ISREG(w->st.st_mode))
		return open_device(w);
	if (w->there && faccessat(w->dir, w->name, W_OK, AT_EACCESS))
		return -1;
	f->dir = w->dir;
	w->dir = -1;
	f->name = xstrdup(w->name);
	fd = open_part(f);
	if (fd >= 0 && w->there)
		take_mode(fd, &w->st);
	return fd;
}

static void file_done(struct file *f)
{
	if (f->dir >= 0)
		close(f->dir);
	free(f->path);
	free(f->name);
	free(f->part);
	*f = (struct file){.fd = -1, .dir = -1};
}

int file_create(struct file *f, const char *path, struct err *err)
{
	struct walk w;

	*f = (struct file){.dir = -1, .path = xstrdup(path)};
	f->fd = open_for(f, &w);
	if (f->fd < 0)
		file_refused(err, path, "open");
	walk_done(&w);
	if (f->fd >= 0)
		return 0;
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
	if (!f->part || linkat(f->dir, f->part, f->dir, f->name, 0))
		return;
	unlinkat(f->dir, f->part, 0);
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
		unlinkat(f->dir, f->part, 0);
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
	if (f->part && renameat(f->dir, f->part, f->dir, f->name))
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
	struct file f;
	struct walk w;
	bool device;
	int rc;

	/* To open a pipe waits for its reader, and a device may do anything. */
	rc = walk(&w, path);
	device = !rc && w.there && (w.descriptor || !S_ISREG(w.st.st_mode));
	if (device)
		rc = faccessat(w.dir, w.name, W_OK, AT_EACCESS);
	if (rc)
		file_refused(err, path, "access");
	walk_done(&w);
	if (rc || device)
		return rc;
	if (file_create(&f, path, err))
		return -1;
	file_abandon(&f);
	return 0;
}
