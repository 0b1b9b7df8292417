/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a temporary file beside the old one and renames it, with all names relative to an open folder. */
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

#define LINKS_MAX     40 /* the kernel's limit */
#define PROC_FD       "/proc/self/fd/%d"
#define PROC_FD_BYTES 32
#define TRIES_MAX     100 /* attempts to find an unused temporary name */

/* --- errors ------------------------------------------------------------------------------------------ */

/* Our own errno: a file of another user in a world-writable folder. No file operation returns this value. */
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

/* Sets sentence and hint for errno, which it preserves. Returns -1. */
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

/* --- resolving --------------------------------------------------------------------------------------- */

/* State of resolving a path component by component. */
struct walk {
	int dir;    /* O_PATH: the current folder */
	char *path; /* owned; replaced at each link */
	char *left; /* its unresolved rest */
	int links;
	/* The last component: */
	char name[NAME_MAX + 1];
	bool there;
	bool descriptor; /* it is a link in /proc to an open file */
	struct stat st;  /* of the file, or of the open file; valid if there */
};

static void walk_done(struct walk *w)
{
	if (w->dir >= 0)
		close(w->dir);
	free(w->path);
}

/* Consumes a folder's descriptor and continues there; -1: errno is already set. */
static int walk_into(struct walk *w, int dir)
{
	if (dir < 0)
		return -1;
	if (w->dir >= 0)
		close(w->dir);
	w->dir = dir;
	return 0;
}

/* Consumes the path. A relative one continues in the current folder. */
static int walk_start(struct walk *w, char *path)
{
	free(w->path);
	w->path = w->left = path;
	if (*path != '/')
		return 0;
	return walk_into(w, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* Inserts the target of a link (an O_PATH descriptor) before the remaining path. */
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

/*
 * True when another user may have planted this file or link: the kernel's rule for sticky folders (fs.protected_symlinks,
 * fs.protected_regular), applied to every world-writable folder, even if the kernel does not.
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

/* Handles one component, open as fd (O_PATH). 1: more follow, 0: it was the last, -1 with errno. */
static int walk_found(struct walk *w, int fd)
{
	bool last = !*w->left;
	struct statfs fs;

	if (fstat(fd, &w->st))
		return -1;
	bool link = S_ISLNK(w->st.st_mode);
	bool proc = link && !fstatfs(w->dir, &fs) && fs.f_type == PROC_SUPER_MAGIC;
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
	if (link) /* a magic link has no path: the kernel must follow it */
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
	w->left += strspn(w->left, "/");
	size_t len = strcspn(w->left, "/");
	if (!len || len > NAME_MAX) {
		errno = len ? ENAMETOOLONG : EISDIR;
		return -1;
	}
	memcpy(w->name, w->left, len);
	w->name[len] = '\0';
	w->left += len;
	int fd = openat(w->dir, w->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT && !*w->left ? 0 : -1;
	int rc = walk_found(w, fd);
	close(fd);
	return rc;
}

/*
 * Resolves a path to the folder of its last component, whether or not that exists. Follows links itself, only those that no
 * other user can have planted. 0, or -1 with errno; the caller calls walk_done in either case.
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

/* --- opening ----------------------------------------------------------------------------------------- */

/* One of our own descriptors is duplicated, sharing its offset; another process's is opened for appending. */
static int open_descriptor(const struct walk *w)
{
	struct stat st;
	int fd = atoi(w->name);

	if (!fstat(fd, &st) && st.st_dev == w->st.st_dev && st.st_ino == w->st.st_ino)
		return fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return openat(w->dir, w->name, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
}

/* Opens a device or pipe, verifying that it is the one that was checked (TOCTOU). */
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

/* Sets f->part to an unpredictable name. */
static int choose_part(struct file *f)
{
	struct buf name = {0};
	uint64_t random;

	if (getentropy(&random, sizeof(random)))
		return -1;
	buf_printf(&name, ".jhot-%016" PRIx64 ".part", random);
	free(f->part);
	f->part = buf_steal(&name);
	return 0;
}

/* Names a file that has none yet. */
static int give_name(const struct file *f, const char *name)
{
	char link[PROC_FD_BYTES];

	snprintf(link, sizeof(link), PROC_FD, f->fd);
	return linkat(AT_FDCWD, link, f->dir, name, AT_SYMLINK_FOLLOW);
}

/* Creates a file without a name, or on file systems that do not support that with a temporary one. */
static int open_new(struct file *f)
{
	char link[PROC_FD_BYTES];
	mode_t mask = umask(0);
	int fd = openat(f->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	umask(mask);
	snprintf(link, sizeof(link), PROC_FD, fd);
	f->unnamed = fd >= 0 && !access(link, F_OK);
	if (fd >= 0 && !f->unnamed) {
		close(fd);
		fd = -1;
	}
	for (int i = 0; i < TRIES_MAX && fd < 0; i++) {
		if (choose_part(f))
			return -1;
		fd = openat(
			f->dir, f->part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			return -1;
	}
	if (fd >= 0)
		(void)fchmod(fd, 0666 & ~mask);
	return fd;
}

static int open_for(struct file *f, struct walk *w)
{
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
	int fd = open_new(f);
	if (fd >= 0 && w->there) {
		/* Keep owner and mode. A group that cannot be kept gets the rights of others. */
		mode_t mode = w->st.st_mode & 0777;

		if (fchown(fd, w->st.st_uid, w->st.st_gid) && fchown(fd, (uid_t)-1, w->st.st_gid))
			mode = (mode & ~(mode_t)070) | (mode & 07) << 3;
		(void)fchmod(fd, mode);
	}
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

/* Gives an unnamed file a temporary name. */
static int name_part(struct file *f)
{
	int rc = -1;

	for (int i = 0; i < TRIES_MAX && rc; i++) {
		if (choose_part(f))
			break;
		rc = give_name(f, f->part);
		if (rc && errno != EEXIST)
			break;
	}
	if (!rc) {
		f->unnamed = false;
		return 0;
	}
	free(f->part);
	f->part = NULL;
	return -1;
}

void file_appear(struct file *f)
{
	if (f->unnamed) {
		f->unnamed = give_name(f, f->name) != 0;
		if (f->unnamed)
			name_part(f);
		return;
	}
	if (!f->part || linkat(f->dir, f->part, f->dir, f->name, 0))
		return;
	unlinkat(f->dir, f->part, 0);
	free(f->part);
	f->part = NULL;
}

void file_close_uncommitted(struct file *f)
{
	if (!f->path)
		return;
	if (f->unnamed)
		name_part(f);
	if (f->fd >= 0)
		close(f->fd);
	file_done(f);
}

void file_abandon(struct file *f)
{
	if (f->path && f->part)
		unlinkat(f->dir, f->part, 0);
	f->unnamed = false; /* nothing to name */
	file_close_uncommitted(f);
}

/* The step that failed, NULL: none. Devices, which cannot be synced, are no failure. */
static const char *commit(struct file *f)
{
	bool unsynced = fsync(f->fd) && errno != EINVAL && errno != ENOSYS && errno != EROFS;
	int error = errno, fd = f->fd;

	if (!unsynced && f->unnamed) {
		f->unnamed = give_name(f, f->name) != 0;
		if (f->unnamed && (errno != EEXIST || name_part(f)))
			return "link";
	}
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

/* --- all in one -------------------------------------------------------------------------------------- */

int file_write_whole(const char *path, const void *bytes, size_t len, struct err *err)
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

int file_open_folder(const char *path, struct err *err)
{
	struct walk w;
	int fd = -1;

	if (!walk(&w, path))
		fd = openat(w.dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		file_refused(err, path, "open");
	walk_done(&w);
	return fd;
}

int file_check(const char *path, struct err *err)
{
	struct file f;
	struct walk w;

	/* Opening a pipe would wait for its reader, and opening a device may have side effects. */
	int rc = walk(&w, path);
	bool device = !rc && w.there && (w.descriptor || !S_ISREG(w.st.st_mode));
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
