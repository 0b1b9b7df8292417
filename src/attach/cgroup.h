/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits and state of a process's cgroups: CPU quota and throttling, remaining threads and memory, frozen or not. Reads
 * version 2, or the controller's hierarchy of version 1 where that is mounted.
 *
 * Read through our own mounts. If they do not show the process's cgroups, they are read through its root
 * (/proc/PID/root/sys/fs/cgroup), which may show only the innermost one; limits of the outer ones are then missed. Plain
 * values, any thread. Reads a few small files per level. Tests replace the root of /proc (proc_root in base/maps.h).
 */
#ifndef JHOT_ATTACH_CGROUP_H
#define JHOT_ATTACH_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CGROUP_PATH 768

/* Where a controller is mounted. v1: a hierarchy of version 1; false: version 2. */
struct cgroup_mount {
	const char *controller; /* "cpu", "pids", "memory" */
	bool v1;
	char top[256]; /* the cgroup at the mount point, normally "/" */
	char at[256];  /* the mount point; "": not mounted */
};
/* Finds the mount of this controller, version 1 before version 2. The name is borrowed, not copied. */
void cgroup_mount_find(struct cgroup_mount *out, const char *controller);

/* The tightest CPU limit among a process's cgroup and its ancestors, with that cgroup's counters since its creation. */
struct cgroup_cpu {
	char path[CGROUP_PATH]; /* folder of the cgroup that sets the limit */
	int64_t limit;          /* thousandths of a core; -1: none */
	int64_t period_us;
	int64_t periods;      /* periods in which any of its tasks was runnable */
	int64_t throttled;    /* of these, periods in which it was throttled */
	int64_t throttled_us; /* throttled time, summed over CPUs */
};
/* UNKNOWN: the cgroups are not all visible, or the counters of the limit cannot be read. */
enum cgroup_answer { CGROUP_UNKNOWN, CGROUP_NO_LIMIT, CGROUP_LIMIT };
enum cgroup_answer cgroup_cpu(const struct cgroup_mount *mount, pid_t pid, struct cgroup_cpu *out);

/* Threads that its cgroups still allow; INT64_MAX: no limit, or unknown. */
int64_t cgroup_pids_left(const struct cgroup_mount *mount, pid_t pid);
/* Bytes that its cgroups still allow, counting reclaimable file pages and free swap as available; INT64_MAX as above. */
int64_t cgroup_memory_left(const struct cgroup_mount *mount, pid_t pid);

/* True when the process is in exactly our cgroups, e.g. in the same container. */
bool cgroup_is_ours(pid_t pid);

/* True when its cgroup or an ancestor is frozen or freezing, e.g. by `docker pause`. */
bool cgroup_frozen(pid_t pid);

#endif
