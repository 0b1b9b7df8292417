/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes files without losing what they replace: the old content stays until all of the new one is on the disk.
 *
 * The bytes go into a new file in the same folder, under a name that nobody can guess, which is synced and renamed at the
 * end. All names are relative to the folder that the path led to when the file was created. A symbolic link stays, its
 * target is replaced. The new file gets the mode of the old one and, where that is allowed, its owner; without an old one
 * the mode that the umask gives. A device, a pipe or an open descriptor (/dev/stdout) is written directly.
 *
 * In a folder that everybody may write to, such as /tmp, files and links of other users are refused, whatever
 * fs.protected_symlinks and fs.protected_regular say; those of the folder's owner are not.
 *
 * Errors are ERR_OUTPUT, a sentence with a hint. Embedded: file_create, file_write to its fd, then file_commit or
 * file_abandon. One thread.
 */
#ifndef JHOT_BASE_FILE_H
#define JHOT_BASE_FILE_H

#include "base/err.h"

#include <stddef.h>

/* file_write: every byte to a descriptor. 0, or -1 with errno. */
int file_write(int fd, const void *bytes, size_t len);

struct file {
	int fd;
	int dir;    /* O_PATH: the folder of name and part; -1: written directly */
	char *path; /* as asked for; NULL: nothing is being written */
	char *name; /* in dir */
	char *part; /* in dir: the bytes until they replace the old file; NULL: they are under the name already */
};

int file_create(struct file *f, const char *path, struct err *err);
/* file_appear: what is written so far is there under its name, if nothing else is. */
void file_appear(struct file *f);
/* file_commit: all of it is on the disk and under its name, or (-1) what was there is, and nothing else. */
int file_commit(struct file *f, struct err *err);
/* file_abandon: as if it had never been begun; what has appeared stays. */
void file_abandon(struct file *f);
/* file_leave: ends writing and keeps what there is where it is. */
void file_leave(struct file *f);

/* file_put: all of that in one. */
int file_put(const char *path, const void *bytes, size_t len, struct err *err);
/* file_check: could it be written, as far as can be seen before? Touches nothing that is there. */
int file_check(const char *path, struct err *err);

#endif
