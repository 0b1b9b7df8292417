/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc, read: small files, status fields, a process's and its threads' CPU time, namespaces.
 *
 * Plain values; -1 or false when the process is gone or closed to us. The root folder is a parameter
 * only for tests (proc_root, "/proc").
 */
#ifndef JHOT_ATTACH_PROC_H
#define JHOT_ATTACH_PROC_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

extern const char *proc_root;

int proc_read(pid_t pid, const char *file, struct buf *out); /* whole file, 0 or -errno */

struct proc_status {
	uid_t euid;
	gid_t egid;
	pid_t nspid;
	int ns_depth; /* fields in NSpid */
	int threads;
	uint64_t rss_bytes;
	uint64_t sig_caught;
	char state;
};
int proc_status(pid_t pid, struct proc_status *out);

struct proc_cpu {
	uint64_t utime, stime; /* clock ticks */
	uint64_t start_ticks;  /* since boot */
	char state;
};
int proc_cpu(pid_t pid, struct proc_cpu *out);
/* One thread, by its tid here. */
int proc_thread_cpu(pid_t pid, pid_t tid, struct proc_cpu *out, char comm[32]);
/* All threads: fn(ctx, tid here, tid as the process sees it). */
int proc_threads(pid_t pid, void (*fn)(void *ctx, pid_t tid), void *ctx);

/* One line of maps. */
struct proc_map {
	uint64_t start, end, offset, inode;
	unsigned dev_major, dev_minor;
	char perms[5];
	const char *path; /* "" if none; valid during the call */
};
int proc_maps(pid_t pid, bool (*fn)(void *ctx, const struct proc_map *map), void *ctx);

int64_t proc_uptime_s(uint64_t start_ticks);

#endif
