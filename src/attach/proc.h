/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc, read: small files, status fields, a process's and its threads' CPU time, namespaces.
 *
 * Plain values; -1, -errno or false when the process is gone or closed to us.
 */
#ifndef JHOT_ATTACH_PROC_H
#define JHOT_ATTACH_PROC_H

#include "base/buf.h"
#include "base/maps.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

int proc_read(pid_t pid, const char *file, struct buf *out); /* whole file, 0 or -errno */
int proc_read_host(const char *file, struct buf *out); /* the same of a file in /proc itself */
int proc_read_path(const char *path, struct buf *out); /* the same of any small file */
/* proc_setting: the number of a setting, a file in /proc/sys, or what is taken for it where it cannot be read. */
int proc_setting(const char *name, int otherwise);

/* proc_link: where a symbolic link of /proc/PID points; false if it cannot be read. */
bool proc_link(pid_t pid, const char *file, char *out, size_t bytes);

/* All processes, in the order of /proc. -1 if there is no /proc. */
int proc_pids(void (*fn)(void *ctx, pid_t pid), void *ctx);

struct proc_status {
	uid_t euid;
	gid_t egid;
	pid_t tgid;   /* the process that it is a thread of; for a process itself its own pid */
	pid_t nspid;  /* 0 if the kernel is too old to tell (before 4.1) */
	int ns_depth; /* fields in NSpid */
	pid_t tracer; /* who traces it, 0 if nobody */
	int threads;
	uint64_t fd_size;     /* what its table of descriptors has space for */
	uint64_t vm_bytes;    /* its address space */
	uint64_t data_bytes;  /* of it, what is private and may be written */
	uint64_t lock_bytes;  /* of it, what must not be moved out */
	uint64_t rss_bytes;   /* 0 for kernel threads and zombies */
	uint64_t swap_bytes;  /* what of it was moved out */
	uint64_t sig_caught;  /* bit N-1 = signal N; of the process */
	uint64_t sig_blocked; /* of the thread (of a process: its first) */
	uint64_t sig_pending; /* for the thread, or for the process */
	uint64_t caps;        /* effective: bit N = CAP_ N */
	char state;
	char name[32];
};
int proc_status(pid_t pid, struct proc_status *out);
int proc_thread_status(pid_t pid, pid_t tid, struct proc_status *out);
/* proc_thread_name: comm, at most 15 characters; "" when the thread is gone. */
void proc_thread_name(pid_t pid, pid_t tid, char out[32]);

struct proc_cpu {
	uint64_t utime, stime; /* clock ticks */
	uint64_t start_ticks;  /* since boot */
	uint64_t major_faults; /* pages that had to be read from a disk first */
	char state;
};
int proc_cpu(pid_t pid, struct proc_cpu *out);
/* One thread, by its tid here. */
int proc_thread_cpu(pid_t pid, pid_t tid, struct proc_cpu *out, char comm[32]);
/* For how long a thread has waited for a core, in ns; false: the kernel does not say. */
bool proc_thread_queued_ns(pid_t pid, pid_t tid, uint64_t *ns);
/* All threads: fn(ctx, tid here). */
int proc_threads(pid_t pid, void (*fn)(void *ctx, pid_t tid), void *ctx);
/* proc_find_thread: the first thread that matches, the oldest first; 0 if none does. Reads no further. */
pid_t proc_find_thread(pid_t pid, bool (*matches)(void *ctx, pid_t pid, pid_t tid), void *ctx);

/* The CPUs that are in use, how long all of them have been busy since the host came up, and for how long those had nothing to do
 * that the process may run on, added up; -1: it is not known which. */
struct proc_machine {
	uint64_t busy_ticks;
	int64_t free_ticks;
	int cpus;
};
int proc_machine(pid_t pid, struct proc_machine *out);

/* Pages that the host has read back from swap since it came up, for anybody; -1 if not known. */
int64_t proc_swapped_in(void);

/* The number of its threads by one stat, much cheaper than status; 0 if not known. */
int proc_thread_count(pid_t pid);

/* The number of its mappings; 0 if not known. Takes about 1 ms for each 1,000 of them. */
unsigned proc_maps_count(pid_t pid);

/* How many descriptors it has open, by one stat; -1 if not known (before Linux 6.2, or not ours). */
int64_t proc_fds_count(pid_t pid);
/* How many it may have open (RLIMIT_NOFILE); -1: not known, or no limit. */
int64_t proc_fds_limit(pid_t pid);
/* The soft limit of this name ("Max open files") in the text of /proc/PID/limits; PROC_NO_LIMIT: unlimited, or not there. */
#define PROC_NO_LIMIT UINT64_MAX
uint64_t proc_limit(const char *limits, const char *name);

/* proc_fds_open_to_us: may we list its descriptors and see where they point? */
bool proc_fds_open_to_us(pid_t pid);

int64_t proc_uptime_s(uint64_t start_ticks); /* age of a process that began then; -1 if not known */

/* proc_same_ns: is the process in our namespace of this kind ("mnt", "pid")? true when it cannot be told. */
bool proc_same_ns(pid_t pid, const char *kind);
/*
 * proc_mounts_are_ours: true when the process is in our user namespace and so is the owner of its mount namespace: what it has
 * mounted was mounted by somebody with our own privileges. False when it cannot be told (before Linux 4.9).
 */
bool proc_mounts_are_ours(pid_t pid);
/* proc_ns_root: the user that is root in the process's user namespace, as seen from ours; 0 when it cannot be told. */
uid_t proc_ns_root(pid_t pid);
/* proc_same_root: is its "/" the same folder as ours? true when it cannot be told. */
bool proc_same_root(pid_t pid);

#endif
