/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces files atomically: the old content stays until the new one is completely on disk.
 *
 * The bytes go into a new file in the same folder, without a name (O_TMPFILE) or, where the file system does not support that, with
 * an unpredictable one. It is synced and gets its name at the end. All names are relative to the folder that the path led to when
 * the file was created. A symbolic link is kept, and its target replaced. The new file gets the mode of the old one and, if
 * permitted, its owner; without an old one, the mode that the umask gives. A device, pipe or open descriptor (/dev/stdout) is
 * written directly.
 *
 * In world-writable folders such as /tmp, files and links of other users than the folder's owner are refused, even if
 * fs.protected_symlinks and fs.protected_regular are off.
 *
 * Errors are ERR_OUTPUT with a hint. Embedded: file_create, file_write to its fd, then one of file_commit, file_abandon and
 * file_close_uncommitted. Blocks for the file system, file_commit for the sync. One thread.
 */
#ifndef JHOT_BASE_FILE_H
#define JHOT_BASE_FILE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Writes all bytes to a descriptor, retrying short writes and EINTR. 0, or -1 with errno. */
int file_write(int fd, const void *bytes, size_t len);

struct file {
	int fd;
	int dir;      /* O_PATH: the folder of name and part; -1: the file is written directly */
	char *path;   /* as given to file_create; NULL: closed */
	char *name;   /* in dir */
	bool unnamed; /* neither this name nor a temporary one: nothing is left if we are killed */
	char *part;   /* in dir, the temporary name; NULL: none yet, or already renamed */
};

int file_create(struct file *f, const char *path, struct err *err);
/* Makes an incomplete file visible: under its name, or under a temporary one if another file has that name. */
void file_appear(struct file *f);
/* 0: the new content is on disk and under its name. -1: nothing has changed. Closes f in either case. */
int file_commit(struct file *f, struct err *err);
/* Discards the new content, except after file_appear, and closes f. Idempotent. */
void file_abandon(struct file *f);
/* Closes f, and leaves the bytes where they are: under the temporary name, or after file_appear under its name. */
void file_close_uncommitted(struct file *f);

/* Creates, writes and commits. */
int file_write_whole(const char *path, const void *bytes, size_t len, struct err *err);
/*
 * Opens the folder (O_DIRECTORY) that holds the last component of a path, following links by the rules above. The caller closes it.
 * -1 with an error.
 */
int file_open_folder(const char *path, struct err *err);
/* Checks whether the file could be written, as far as that is known in advance. Changes no existing file. */
int file_check(const char *path, struct err *err);

#endif
