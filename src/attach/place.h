/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts the agent's file where a JVM can open it and nobody else can replace it.
 *
 * place_prepare and place_put_by_root run with the caller's ids, place_put with the target's; all in the attach helper.
 */
#ifndef JHOT_ATTACH_PLACE_H
#define JHOT_ATTACH_PLACE_H

#include "attach/jvm/hotspot.h"
#include "base/buf.h"
#include "base/err.h"

#include <limits.h>
#include <sys/types.h>

#define PLACE_PREFIX  "libjhot-"

#define PLACE_FOLDERS 3

/* The agent: these bytes, which the program carries, or where a path is given what that file holds. */
struct agent_file {
	const char *path;
	const void *bytes;
	size_t len;
};

#define PLACE_NAME 128

struct place {
	const struct hotspot *jvm;
	struct agent_file agent; /* its bytes, always */
	struct buf read;         /* which are these if they are a file's */
	char name[PLACE_NAME];   /* what stands for it in a folder of the JVM's */
	mode_t mode;             /* and has there */
	/* Where it may go, or -errno; opened first, since an undumpable JVM's are closed to its own user. */
	int folders[PLACE_FOLDERS];
	bool safe[PLACE_FOLDERS]; /* only root and the JVM's user can replace what is in it */

	/* where it is for the JVM */
	char path[PATH_MAX]; /* as the JVM opens it */
	int dir;             /* the folder, -1 if there is nothing in it: the JVM has it already */
	ino_t inode;         /* of what is in it */
	int memfd;           /* what that is a link to; -1: it is a copy */
	int keeper_fd; /* held open until it may be removed by this process; -1: there is none */
	pid_t keeper;
};

/* place_name: what bytes are called in a JVM of this pid in its own namespace. */
void place_name(const void *bytes, size_t len, pid_t nspid, char out[PLACE_NAME]);

/* Zero bytes are not an initial state: always place_prepare first, place_done last. The jvm stays the caller's. */
int place_prepare(struct place *p, const struct agent_file *agent, const struct hotspot *jvm,
	struct err *err);
/*
 * The agent keeps a descriptor of its file where its path does not tell the loader that it is loaded already: on musl, and
 * where it was loaded from memory without a name (sampler/agent.c). place_put then has nothing to do: the JVM loads that
 * descriptor. After place_prepare, with the caller's ids; place_put asks itself where there is no folder.
 */
void place_find_kept(struct place *p);
/*
 * Where root finds that the JVM's user can put nothing that runs into any of the folders, read-only and noexec as those of
 * hardened containers are, it puts the agent into the JVM's /dev, if that is a tmpfs that root alone writes to, and only
 * root can have mounted it there: place_put has nothing to do. With the caller's ids, after both others. The target's ids
 * may not remove it there, so a process of root's does.
 */
void place_put_by_root(struct place *p);
/* Into a safe folder, else into memory. */
int place_put(struct place *p, struct err *err);
/*
 * Unlinks what is in the folder, if it is still this one: the path is the same each time, and who comes after a jhot that
 * was killed may have put his there already.
 */
void place_done(struct place *p);

#endif
