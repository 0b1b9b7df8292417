/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much CPU a process's cgroups give it, how often they have stopped it, how many threads and how much memory they still
 * allow, and whether they are frozen: version 2, or the controller of version 1.
 *
 * Read through our own mounts; where they do not show the process's cgroups, through its own, which may show less than there
 * is. Plain values. The root folder of /proc is maps.h's proc_root.
 */
#ifndef JHOT_ATTACH_CGROUP_H
#define JHOT_ATTACH_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CGROUP_PATH 768

/* Where a controller is mounted. */
struct cgroup_mount {
	const char *controller; /* "cpu", "pids", "memory" */
	bool v1;
	char top[256]; /* the cgroup that is seen there, "/" as a rule */
	char at[256];  /* the folder; "": there is none */
};
void cgroup_mount_find(struct cgroup_mount *out, const char *controller);

/* The tightest limit among a process's cgroup and those that it lies in, and what that one counted since it was made. */
struct cgroup_cpu {
	char path[CGROUP_PATH]; /* its folder */
	int64_t limit;          /* in 0.001 cores */
	int64_t period_us;
	int64_t periods;      /* in which somebody of it wanted to run */
	int64_t throttled;    /* of these: in which it was stopped */
	int64_t throttled_us; /* for how long, added up over the CPUs */
};
enum cgroup_answer { CGROUP_UNKNOWN, CGROUP_NO_LIMIT, CGROUP_LIMIT };
enum cgroup_answer cgroup_cpu(const struct cgroup_mount *mount, pid_t pid, struct cgroup_cpu *out);

/* cgroup_pids_left: how many threads more its cgroups let it start; INT64_MAX where they set no limit, or none is known. */
int64_t cgroup_pids_left(const struct cgroup_mount *mount, pid_t pid);
/* cgroup_memory_left: the same of bytes, with what pages of files and swap would make room for. */
int64_t cgroup_memory_left(const struct cgroup_mount *mount, pid_t pid);

/* cgroup_is_ours: are we in the very same ones, as in its container? */
bool cgroup_is_ours(pid_t pid);

/* cgroup_frozen: is its cgroup, or one that this lies in, as `docker pause` leaves it? */
bool cgroup_frozen(pid_t pid);

#endif
