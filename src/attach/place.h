/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Putting the agent's file where a JVM can open it.
 *
 * place_prepare runs with the caller's ids, place_put with the target's; both in the attach helper.
 */
#ifndef JHOT_ATTACH_PLACE_H
#define JHOT_ATTACH_PLACE_H

#include "base/buf.h"
#include "base/err.h"

#include <limits.h>
#include <sys/stat.h>
#include <sys/types.h>

#define PLACE_PREFIX "libjhot-"

struct place {
	/* the file here */
	char source[PATH_MAX]; /* symbolic links resolved */
	struct stat source_stat;
	struct buf source_bytes;
	char name[128]; /* of a copy */

	/* where it is for the JVM */
	char path[PATH_MAX]; /* as the JVM opens it */
	int copy_dir;        /* folder of the copy, -1 if none was made */
	ino_t copy_inode;
};

/* Zero bytes are not an initial state: always place_prepare first, place_done last. */
int place_prepare(struct place *p, const char *agent, pid_t nspid, struct err *err);
int place_put(struct place *p, pid_t pid, struct err *err);
/*
 * Unlinks the copy, if it is still this one: the path is the same each time, and who comes after a jhot that was killed may
 * have put his there already.
 */
void place_done(struct place *p);

#endif
