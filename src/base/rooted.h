/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening what another process points at: its paths as it sees them, its links in /proc.
 *
 * Whoever it belongs to may have put anything there. So a path is resolved inside the given root, whatever links say;
 * only a regular file or a folder is opened, and looked at before: to open a fifo waits, to open a device may do
 * something; and nothing waits for whoever holds a lease on a file. A file system that does not answer (NFS, FUSE)
 * still makes each of these wait. A descriptor with O_CLOEXEC, or -errno: -EINVAL for what is neither.
 */
#ifndef JHOT_BASE_ROOTED_H
#define JHOT_BASE_ROOTED_H

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
