/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Putting the agent's file where a JVM can open it.
 *
 * place_prepare and place_put_by_root run with the caller's ids, place_put with the target's; all in the attach helper.
 */
#ifndef JHOT_ATTACH_PLACE_H
#define JHOT_ATTACH_PLACE_H

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
	struct agent_file agent; /* its bytes, always */
	struct buf read;         /* which are these if they are a file's */
	char name[PLACE_NAME];   /* what stands for it in a folder of the JVM's */
	mode_t mode;             /* and has there */
	/* Where it may go, or -errno; opened first, since an undumpable JVM's are closed to its own user. */
	int folders[PLACE_FOLDERS];

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

/* Zero bytes are not an initial state: always place_prepare first, place_done last. */
int place_prepare(
	struct place *p, const struct agent_file *agent, pid_t pid, pid_t nspid, struct err *err);
/*
 * On musl the agent keeps a descriptor of its file (sampler/agent.c): loaded by that, it is the library that is there, and
 * place_put has nothing to do. After place_prepare, with the caller's ids.
 */
void place_find_kept(struct place *p, pid_t pid);
/*
 * Where root finds that the JVM's user can put nothing that runs into any of the folders, read-only and noexec as those of hardened
 * containers are, it puts the agent into the JVM's /dev, if that is memory and root's alone: place_put has nothing to do. With the
 * caller's ids, after both others. The target's ids may not remove it there, so a process of root's does.
 */
void place_put_by_root(struct place *p, pid_t pid, uid_t uid, gid_t gid);
int place_put(struct place *p, pid_t pid, struct err *err);
/*
 * Unlinks what is in the folder, if it is still this one: the path is the same each time, and who comes after a jhot that
 * was killed may have put his there already.
 */
void place_done(struct place *p);

#endif
