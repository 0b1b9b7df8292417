/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a file so that nothing is lost: what stands under its name stays until all of the new one is on the disk.
 *
 * The bytes go into a new file beside it, made under a name that nobody can guess, which is synced and renamed at the
 * end. A symbolic link stays, what it points to is replaced; the new file has the old one's mode and, where that is
 * allowed, its owner, one without predecessor the umask's mode. A device, a pipe or an open descriptor (/dev/stdout)
 * is written as it comes. Errors are ERR_OUTPUT, a sentence with a hint. Embedded: file_create, file_write to its fd, then
 * file_commit or file_abandon. One thread.
 */
#ifndef JHOT_BASE_FILE_H
#define JHOT_BASE_FILE_H

#include "base/err.h"

#include <stddef.h>

/* file_write: every byte to a descriptor. 0, or -1 with errno. */
int file_write(int fd, const void *bytes, size_t len);

struct file {
	int fd;
	char *path;   /* as asked for; NULL: nothing is being written */
	char *target; /* where its links lead */
	char *part;   /* where the bytes are until they replace the target; NULL: in it already */
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
