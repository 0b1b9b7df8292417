/* SPDX-License-Identifier: Apache-2.0 */
/* The table of formats, and writing a file whole or not at all. */
#include "export/export.h"

#include "export/export_formats.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const struct export_format export_formats[] = {
	{".svg", "flame graph, one self-contained file for any browser", export_svg},
	{".collapsed", "one line per stack, for scripts and other viewers", export_collapsed},
	{".folded", "the same as .collapsed", export_collapsed},
	{NULL, NULL, NULL},
};

const struct export_format *export_format_by_path(const char *path)
{
	size_t len = strlen(path), suffix;

	for (const struct export_format *f = export_formats; f->suffix; f++) {
		suffix = strlen(f->suffix);
		if (len > suffix && !strcasecmp(path + len - suffix, f->suffix))
			return f;
	}
	return NULL;
}

static const struct export_hint {
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
	{ELOOP, "PATH.part is a symbolic link: remove it"},
};

static int write_failed(struct err *err, const char *path, const char *doing, const char *part)
{
	int error = errno;

	err_set_errno(err, ERR_OUTPUT, "cannot write %s", path);
	for (size_t i = 0; i < sizeof(hints) / sizeof(*hints); i++) {
		if (hints[i].error == error)
			err_hint(err, "%s", hints[i].hint);
	}
	err_detail(err, "%s %s: %s", doing, part, strerror(error));
	return -1;
}

static int write_all(int fd, const char *data, size_t len)
{
	ssize_t n;

	while (len) {
		n = write(fd, data, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

/* A device or a pipe cannot be replaced, only written to. */
static int write_into(const char *path, const struct buf *data, struct err *err)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), failed;

	if (fd < 0)
		return write_failed(err, path, "open", path);
	failed = write_all(fd, data->data, data->len);
	if (failed)
		write_failed(err, path, "write", path);
	if (close(fd) && !failed)
		failed = write_failed(err, path, "close", path);
	return failed ? -1 : 0;
}

static int write_part(
	int fd, const char *path, const char *part, const struct buf *data, struct err *err)
{
	const char *doing = NULL;
	int error;

	if (write_all(fd, data->data, data->len))
		doing = "write";
	else if (fsync(fd) && errno != EINVAL && errno != ENOSYS)
		doing = "fsync";
	error = errno;
	if (close(fd) && !doing) {
		doing = "close";
		error = errno;
	}
	errno = error;
	return doing ? write_failed(err, path, doing, part) : 0;
}

/* Write beside the file and rename, so that there is always a whole file, old or new. */
static int write_beside(
	const char *path, const char *target, mode_t mode, const struct buf *data, struct err *err)
{
	struct buf part = {0};
	int fd, result = -1;

	buf_printf(&part, "%s.part", target);
	fd = open(part.data, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0) {
		write_failed(err, path, "open", part.data);
		goto out;
	}
	if (mode)
		(void)fchmod(fd, mode & 0777); /* as the old file, where that is allowed */
	result = write_part(fd, path, part.data, data, err);
	if (!result && rename(part.data, target))
		result = write_failed(err, path, "rename", part.data);
	if (result)
		(void)unlink(part.data);
out:
	buf_done(&part);
	return result;
}

static int write_file(const char *path, const struct buf *data, struct err *err)
{
	struct stat st;
	char *target;
	int result;

	if (stat(path, &st))
		return write_beside(path, path, 0, data, err);
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return write_failed(err, path, "open", path);
	}
	if (!S_ISREG(st.st_mode))
		return write_into(path, data, err);
	target = realpath(path, NULL); /* not the link is replaced: what it points to */
	if (!target)
		return write_failed(err, path, "realpath", path);
	result = write_beside(path, target, st.st_mode, data, err);
	free(target);
	return result;
}

int export_write(const char *path, const struct export_format *format, const struct profile *p,
	const struct export_options *o, struct err *err)
{
	struct buf out = {0};
	int result = format->write(&out, p, o, err);

	if (!result)
		result = write_file(path, &out, err);
	buf_done(&out);
	return result;
}
