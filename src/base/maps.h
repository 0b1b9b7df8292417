/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of another process: lists its mappings, and opens files as it sees them.
 *
 * Plain functions, any thread. -errno when the process is gone or we may not read it. Blocks as long as the process's file
 * systems do. proc_root is "/proc"; only tests replace it.
 */
#ifndef JHOT_BASE_MAPS_H
#define JHOT_BASE_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PROC_PATH_BYTES 512

extern const char *proc_root;

/* Formats "/proc/PID/file" into out[PROC_PATH_BYTES]; returns out. */
const char *proc_path(char *out, pid_t pid, const char *file);

/*
 * For a process whose main thread has exited: the tid of another thread that is alive. 0 while the main thread is alive, or
 * if all threads have exited. /proc/PID of such a process shows no memory and no files, but /proc/TID does. The functions
 * below handle this case themselves. proc_path_living: proc_path of that thread, or of the pid if it is 0.
 */
pid_t proc_living(pid_t pid);
const char *proc_path_living(char *out, pid_t pid, const char *file);

/* A mapping of a file: one line of maps. */
struct proc_map {
	uint64_t start, end, offset, inode;
	unsigned dev_major, dev_minor;
	char perms[5];
	bool deleted;     /* the file was deleted; another one may have its path */
	const char *path; /* in the process's root, or "[vdso]"; "": none; valid during the call */
};
/* The last component of a path. */
const char *path_name(const char *path);
/* Calls fn for each mapping until it returns false. 0, or -errno if maps cannot be read. */
int proc_maps(pid_t pid, bool (*fn)(void *ctx, const struct proc_map *map), void *ctx);

/*
 * Opens a regular file or folder as the process sees it; path is absolute, or relative to dir ("root" or "cwd"). A descriptor
 * or -errno. pid 0: opens the path as given, for tests and our own files.
 */
int proc_open_in(pid_t pid, const char *dir, const char *path, int flags);
/*
 * Opens the very file that is mapped, even if it was deleted (which needs privileges). -ESTALE: another file has its path now.
 */
int proc_open_mapped(pid_t pid, const struct proc_map *map);

/* --- files of other users ------------------------------------------------------------------------------ */

/*
 * Safe opening of files in folders that another user controls. A path is resolved inside the given root, also through
 * links. Only regular files and folders are opened, and their type is checked first: opening a FIFO blocks, opening a device may
 * have side effects. Opening never waits for the holder of a lease on a file, but still blocks if the file system does not
 * answer (NFS, FUSE). Returns a descriptor with O_CLOEXEC, or -errno, -EINVAL for other types of files.
 */

/* Opens the regular file of this name in an open folder; does not follow a link. */
int rooted_in(int dir, const char *name, int flags);
/* Opens the regular file that a link in /proc leads to (exe, map_files/..., fd/...), wherever that is. */
int rooted_link(const char *link, int flags);

/* Replaces openat2(2), i.e. RESOLVE_IN_ROOT, before Linux 5.6: resolves a path component by component, as O_PATH. */
int rooted_walk(int root, const char *path);

#endif
