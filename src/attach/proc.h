/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readers of /proc: small files, status fields, CPU times of processes and threads, namespaces.
 *
 * Plain values; any thread. -1, -errno or false when the process is gone or we may not read it. Where a process's first
 * thread has exited, its memory, files and status are read from a living thread (base/maps.h). Reading files of a process
 * that hangs in the kernel may block.
 */
#ifndef JHOT_ATTACH_PROC_H
#define JHOT_ATTACH_PROC_H

#include "base/buf.h"
#include "base/maps.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads a whole file into out: of /proc/PID, of /proc itself, at any path. 0 or -errno. */
int proc_read(pid_t pid, const char *file, struct buf *out);
int proc_read_host(const char *file, struct buf *out);
int proc_read_path(const char *path, struct buf *out);
/* The number in /proc/sys/NAME, or `otherwise` if it cannot be read. */
int proc_setting(const char *name, int otherwise);

/* The target of a symbolic link in /proc/PID, cut to fit; false if it cannot be read. */
bool proc_link(pid_t pid, const char *file, char *out, size_t bytes);

/*
 * The text after `key` and blanks in the line that begins with `key` and a blank, as in status ("Uid:"), meminfo, limits and
 * cgroup files; "" if there is no such line.
 */
const char *proc_field(const char *text, const char *key);

/* Calls fn for each process, in the order of /proc. 0 or -errno. */
int proc_pids(void (*fn)(void *ctx, pid_t pid), void *ctx);

/* The processes of the last call of proc_has_newcomers. Zero-initialized. */
struct proc_newcomers {
	pid_t *list; /* ascending */
	uint32_t count, cap;
};
/* True if there is a process that the last call did not see. A scan for JVMs costs a hundred times as much. */
bool proc_has_newcomers(struct proc_newcomers *p);
void proc_newcomers_done(struct proc_newcomers *p);

struct proc_status {
	uid_t euid;
	gid_t egid;
	pid_t tgid;   /* pid of the process that it belongs to */
	pid_t nspid;  /* pid in the innermost namespace; 0: unknown (before Linux 4.1) */
	int ns_depth; /* fields in NSpid */
	pid_t tracer; /* pid of its tracer; 0: none */
	int threads;
	uint64_t fd_size;     /* slots of its descriptor table, an upper bound of open files */
	uint64_t vm_bytes;    /* address space */
	uint64_t data_bytes;  /* of it, private and writable */
	uint64_t lock_bytes;  /* of it, locked */
	uint64_t rss_bytes;   /* 0 for kernel threads and zombies */
	uint64_t anon_bytes;  /* of it, memory of no file; 0: not known (before Linux 4.5) */
	uint64_t swap_bytes;  /* swapped out */
	uint64_t sig_caught;  /* bit N-1: signal N; per process */
	uint64_t sig_blocked; /* per thread; for a process, of its first */
	uint64_t sig_pending; /* pending for the thread or for the process */
	uint64_t caps;        /* effective capabilities, bit N: capability N */
	char state;
	char name[32];
};
/* 0, or -1 when the process is gone. */
int proc_status(pid_t pid, struct proc_status *out);
int proc_thread_status(pid_t pid, pid_t tid, struct proc_status *out);
/* The kernel's name (comm) of a thread, at most 15 characters, cleaned; "" when it is gone. */
void proc_thread_name(pid_t pid, pid_t tid, char out[32]);

struct proc_cpu {
	uint64_t utime, stime; /* clock ticks */
	uint64_t start_ticks;  /* since boot */
	uint64_t major_faults; /* page faults that needed I/O */
	char state;
};
int proc_cpu(pid_t pid, struct proc_cpu *out);
/* The same of one thread, by its tid in our namespace; comm: its name, cleaned. */
int proc_thread_cpu(pid_t pid, pid_t tid, struct proc_cpu *out, char comm[32]);
/* Total time that a thread was runnable but had no core, in ns; false: not reported by the kernel. */
bool proc_thread_queued_ns(pid_t pid, pid_t tid, uint64_t *ns);
/* Calls fn for each thread, with its tid in our namespace. 0 or -errno. */
int proc_threads(pid_t pid, void (*fn)(void *ctx, pid_t tid), void *ctx);
/* The first (oldest) thread for which matches() is true; 0: none. Later threads are not read. */
pid_t proc_find_thread(pid_t pid, bool (*matches)(void *ctx, pid_t pid, pid_t tid), void *ctx);

/* CPU time of the machine, in clock ticks since boot. proc_machine returns 0 or -errno. */
struct proc_machine {
	uint64_t busy_ticks; /* summed over all CPUs */
	/* Idle time of the CPUs that the process may run on; -1: its affinity is unknown. */
	int64_t free_ticks;
	int cpus; /* online */
};
int proc_machine(pid_t pid, struct proc_machine *out);

/* Pages that the host has swapped in since boot, for all processes; -1: unknown. */
int64_t proc_swapped_in(void);

/* The number of its threads, by a single stat(2), much cheaper than proc_status; 0: unknown. */
int proc_thread_count(pid_t pid);

/* The number of its mappings; 0: unknown. Takes about 1 ms per 1,000 mappings. */
unsigned proc_maps_count(pid_t pid);

/* The number of its open descriptors, by a single stat(2); -1: unknown (before Linux 6.2, or not permitted). */
int64_t proc_fds_count(pid_t pid);
/* Its soft RLIMIT_NOFILE; -1: unknown, or no limit. */
int64_t proc_fds_limit(pid_t pid);
/* The soft limit of this name ("Max open files") in the text of /proc/PID/limits; PROC_NO_LIMIT: unlimited or missing. */
#define PROC_NO_LIMIT UINT64_MAX
uint64_t proc_limit(const char *limits, const char *name);

/* True when we may list its descriptors and read where they point. */
bool proc_fds_open_to_us(pid_t pid);

int64_t proc_uptime_s(uint64_t start_ticks); /* age of a process that started then; -1: unknown */

/* True when the process is in our namespace of this kind ("mnt", "pid"), or when that is unknown. */
bool proc_same_ns(pid_t pid, const char *kind);
/*
 * True when the process is in our user namespace and its mount namespace is owned by that, too: then the user who mounted its file
 * systems had our privileges. False when unknown (before Linux 4.9).
 */
bool proc_mounts_are_ours(pid_t pid);
/* The uid, in our user namespace, of root in the process's user namespace; 0 when unknown. */
uid_t proc_ns_root(pid_t pid);
/* True when its "/" is the same folder as ours, or when that is unknown. */
bool proc_same_root(pid_t pid);

#endif
