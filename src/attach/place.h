/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Installs the agent's file where a JVM can open it and no third user can replace it.
 *
 * All functions run in the attach helper; place_prepare, place_find_retained and place_write_by_root with the caller's ids,
 * place_write with the target's. They block as long as the target's file systems do. Single-threaded.
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

/* The agent: the bytes embedded in the program or, if path is set, the content of that file. Borrowed. */
struct agent_file {
	const char *path;
	const void *bytes;
	size_t len;
};

#define PLACE_NAME 128

struct place {
	const struct hotspot *jvm;
	struct agent_file agent; /* bytes are always set */
	struct buf read;         /* owns them if they were read from a file */
	char name[PLACE_NAME];   /* its file name in a folder of the JVM */
	mode_t mode;             /* its mode there */
	/* Candidate folders, or -errno. Opened first: those of an undumpable JVM are closed to the JVM's own user. */
	int folders[PLACE_FOLDERS];
	bool safe[PLACE_FOLDERS]; /* only root and the JVM's user can replace files in it */

	/* where it was installed */
	char path[PATH_MAX]; /* as the JVM opens it; "": not installed */
	int dir;             /* the folder with our file; -1: no file to remove */
	ino_t inode;         /* of our file */
	int memfd;           /* target of our link; -1: the file is a copy */
	int remover_fd;      /* the remover deletes the file when this closes; -1: no remover */
	pid_t remover;       /* child process that deletes the file */
};

/* The agent's file name: version, hash of the bytes, and the JVM's pid in its own namespace. */
void place_name(const void *bytes, size_t len, pid_t nspid, char out[PLACE_NAME]);

/* Initializes *p in every case; the caller must call place_done, also on failure. The jvm and the agent stay the caller's. */
int place_prepare(struct place *p, const struct agent_file *agent, const struct hotspot *jvm,
	struct err *err);
/*
 * Finds a descriptor of this agent's file that the JVM keeps open, and uses its path; place_write then installs nothing. The
 * agent keeps one where the loader cannot recognize a loaded file by its path: on musl, and where it was loaded from an
 * unnamed memfd (sampler/agent.c). Call after place_prepare, with the caller's ids; place_write does so itself if no folder is
 * usable.
 */
void place_find_retained(struct place *p);
/*
 * For root: if the JVM's user cannot install an executable file in any candidate folder (read-only or noexec, as in hardened
 * containers), installs the agent in the JVM's /dev, provided that this is a tmpfs that only root can write to and only root
 * can have mounted; place_write then installs nothing. A no-op otherwise. Call with the caller's ids, after the two above. A
 * forked process that stays root removes the file, since the target's ids may not.
 */
void place_write_by_root(struct place *p);
/* Installs the agent in the first usable safe folder, else as a memfd of ours; sets p->path. 0, or -1 with an error. */
int place_write(struct place *p, struct err *err);
/*
 * Removes our file, unless its inode has changed: the path is the same for every attach, so a later jhot may have replaced the
 * file of one that was killed. Idempotent.
 */
void place_done(struct place *p);

#endif
