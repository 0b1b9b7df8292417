/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of another process: which it has mapped, and opening them as it sees them.
 *
 * Plain functions; -errno when the process is gone or closed to us. The root folder is a parameter only for tests
 * (proc_root, "/proc").
 */
#ifndef JHOT_BASE_MAPS_H
#define JHOT_BASE_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PROC_PATH_BYTES 512

extern const char *proc_root;

/* proc_path: "/proc/PID/file" into out[PROC_PATH_BYTES]; returns out. */
const char *proc_path(char *out, pid_t pid, const char *file);

/*
 * proc_living: a thread of a process whose first thread has exited; 0 while that lives, or when all have. What /proc shows of
 * such a process's memory and files is empty: it is shown of its threads, by /proc/TID. The functions below ask for it
 * themselves. proc_path_living: proc_path of that thread where there is one.
 */
pid_t proc_living(pid_t pid);
const char *proc_path_living(char *out, pid_t pid, const char *file);

/* A mapping of a file: one line of maps. */
struct proc_map {
	uint64_t start, end, offset, inode;
	unsigned dev_major, dev_minor;
	char perms[5];
	bool deleted;     /* there is no such file any more: another one may have its path */
	const char *path; /* in the process's root, "[vdso]", "" if none; valid during the call */
};
/* path_name: the last part of a path. */
const char *path_name(const char *path);
/* fn returns false to stop. 0, or -errno when maps cannot be read. */
int proc_maps(pid_t pid, bool (*fn)(void *ctx, const struct proc_map *map), void *ctx);

/*
 * proc_open_in: a file or folder of the process's own view, a path absolute or relative to its root. A descriptor or
 * -errno. dir is "root" or "cwd". pid 0: the file as named, for tests and our own files.
 */
int proc_open_in(pid_t pid, const char *dir, const char *path, int flags);
/*
 * proc_open_mapped: the very file that is mapped, also when it was deleted since (needs privileges then). -ESTALE:
 * another file stands at its path now.
 */
int proc_open_mapped(pid_t pid, const struct proc_map *map);

/* --- rooted.c ------------------------------------------------------------------------------------------ */

/*
 * Whoever a process belongs to may have put anything where it points. So a path is resolved inside the given root,
 * whatever links say; only a regular file or a folder is opened, and looked at before: to open a fifo waits, to open a
 * device may do something; and nothing waits for whoever holds a lease on a file. A file system that does not answer
 * (NFS, FUSE) still makes each of these wait. A descriptor with O_CLOEXEC, or -errno: -EINVAL for what is neither.
 */

/*
 * rooted_open: a path below root, absolute or not. With O_DIRECTORY a folder, else a regular file; with O_PATH
 * anything, without being opened.
 */
int rooted_open(const char *root, const char *path, int flags);
/* rooted_in: the regular file of this name in an open folder; never through a link. */
int rooted_in(int dir, const char *name, int flags);
/* rooted_link: the regular file that a link of /proc leads to (exe, map_files/..., fd/...), wherever it is. */
int rooted_link(const char *link, int flags);

/* rooted_walk: what kernels before 5.6 cannot do, part by part: a path below an open folder, as O_PATH. For tests, too. */
int rooted_walk(int root, const char *path);

#endif
