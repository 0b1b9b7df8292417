/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of another process: which it has mapped, and opening them as it sees them, as base/rooted.h says.
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

#endif
