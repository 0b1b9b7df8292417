/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of processes, cgroups, descriptors, address space and memory, each held against what is in use. */
#include "attach/limits.h"

#include "attach/cgroup.h"
#include "attach/proc.h"
#include "base/buf.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The listener, the agent's two, and one that stays the program's. */
#define THREADS 4
/* The attach socket, its connection, the agent's file, its memory. */
#define FDS 4
/* The listener's stack with its guard, the agent and its memory. */
#define SPACE_BYTES (24u << 20)
/* What the front end takes, where that counts against the same limit. */
#define OWN_BYTES (40u << 20)

#define NO_LIMIT  UINT64_MAX

/* Of /proc/PID/limits: "Max open files            1024                 524288               files". */
static uint64_t limit_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);
	char *end;
	uint64_t value;

	if (!at)
		return NO_LIMIT;
	at += strlen(name);
	value = strtoull(at, &end, 10);
	return end == at ? NO_LIMIT : value; /* "unlimited" */
}

/* --- threads ------------------------------------------------------------------------------------------ */

/*
 * The kernel counts all threads of a user against the limit, and who asks may not see them all. So as many processes as the
 * JVM needs threads are started in its user's name, under its limit.
 */
static bool may_start_threads(uint64_t limit)
{
	struct rlimit own;
	pid_t pids[THREADS];
	int n = 0;

	if (limit == NO_LIMIT || getrlimit(RLIMIT_NPROC, &own) || own.rlim_max < limit)
		return true;
	own.rlim_cur = limit;
	if (setrlimit(RLIMIT_NPROC, &own))
		return true;
	for (; n < THREADS; n++) {
		pids[n] = fork();
		if (pids[n] == 0)
			for (;;)
				pause();
		if (pids[n] < 0)
			break;
	}
	for (int i = 0; i < n; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	return n == THREADS || errno != EAGAIN;
}

static int refuse_threads(const struct hotspot *jvm, struct err *err)
{
	return err_set(err, ERR_ATTACH,
		"JVM %d is at its limit of threads: HotSpot starts one when it is first attached "
		"to, and ends the JVM if it gets none. It was not asked.",
		(int)jvm->pid);
}

static int check_threads(const struct hotspot *jvm, const char *limits, struct err *err)
{
	struct cgroup_mount mount;
	uint64_t limit = limit_of(limits, "Max processes");
	int64_t left;

	cgroup_mount_find(&mount, "pids");
	left = cgroup_pids_left(&mount, jvm->pid);
	if (left < THREADS) {
		refuse_threads(jvm, err);
		err_hint(err, "raise pids.max of its cgroup (--pids-limit, podPidsLimit)");
		err_detail(err, "its cgroups allow %" PRId64 " threads more, %d are needed",
			left < 0 ? 0 : left, THREADS);
		return -1;
	}
	if (may_start_threads(limit))
		return 0;
	refuse_threads(jvm, err);
	err_hint(err, "sudo prlimit --pid %d --nproc=%" PRIu64, (int)jvm->pid, limit + 100);
	err_detail(err, "user %s may have %" PRIu64 " threads, %d more are needed", jvm->user,
		limit, THREADS);
	return -1;
}

/* --- descriptors, address space ----------------------------------------------------------------------- */

/* Those below the limit: it may have been lowered since. */
static uint64_t count_fds(pid_t pid, uint64_t limit)
{
	char path[PROC_PATH_BYTES];
	DIR *dir = opendir(proc_path(path, pid, "fd"));
	struct dirent *e;
	uint64_t n = 0;

	while (dir && (e = readdir(dir)))
		n += e->d_name[0] != '.' && strtoull(e->d_name, NULL, 10) < limit;
	if (dir)
		closedir(dir);
	return n;
}

/* used: what its table has space for; where the limit is well beyond that nothing needs to be counted. */
static int check_fds(const struct hotspot *jvm, const char *limits, uint64_t used, struct err *err)
{
	uint64_t limit = limit_of(limits, "Max open files");

	if (used + FDS > limit)
		used = count_fds(jvm->pid, limit);
	if (used + FDS <= limit)
		return 0;
	err_set(err, ERR_ATTACH,
		"JVM %d has used up its file descriptors, %" PRIu64 " of %" PRIu64
		", and attaching takes %d.",
		(int)jvm->pid, used, limit, FDS);
	err_hint(err, "sudo prlimit --pid %d --nofile=%" PRIu64 ":", (int)jvm->pid, limit + 100);
	err_hint(err, "ls -l /proc/%d/fd shows what holds them", (int)jvm->pid);
	return -1;
}

static int check_space(
	const struct hotspot *jvm, const char *limits, uint64_t used, struct err *err)
{
	uint64_t limit = limit_of(limits, "Max address space");

	if (limit == NO_LIMIT || used + SPACE_BYTES <= limit)
		return 0;
	err_set(err, ERR_ATTACH,
		"JVM %d has used up its address space (ulimit -v): attaching takes a thread with "
		"its stack, and the JVM ends if it cannot have it. It was not asked.",
		(int)jvm->pid);
	err_hint(err, "sudo prlimit --pid %d --as=unlimited", (int)jvm->pid);
	err_detail(err, "%" PRIu64 " of %" PRIu64 " kB are used", used / 1024, limit / 1024);
	return -1;
}

int limits_check(const struct hotspot *jvm, struct err *err)
{
	struct proc_status status;
	struct buf limits = {0};
	bool refused = false;

	if (!proc_read(jvm->pid, "limits", &limits) && !proc_status(jvm->pid, &status))
		refused = check_fds(jvm, buf_str(&limits), status.fd_size, err) ||
			  check_space(jvm, buf_str(&limits), status.vm_bytes, err) ||
			  check_threads(jvm, buf_str(&limits), err);
	buf_done(&limits);
	return refused ? -1 : 0;
}

int limits_check_memory(const struct hotspot *jvm, struct err *err)
{
	bool same = cgroup_is_ours(jvm->pid);
	unsigned need = SPACE_BYTES + (same ? OWN_BYTES : 0);
	struct cgroup_mount mount;
	int64_t left;

	cgroup_mount_find(&mount, "memory");
	left = cgroup_memory_left(&mount, jvm->pid);
	if (left >= need)
		return 0;
	err_set(err, ERR_ATTACH,
		"JVM %d has nearly reached its container's limit of memory: with %s in it the "
		"kernel might kill it. It was not asked.",
		(int)jvm->pid, same ? "jhot and its agent" : "the agent");
	err_hint(err, "raise the limit by %u MB (docker update --memory, resources.limits.memory)",
		need >> 20);
	if (same)
		err_hint(err, "run jhot on the host, or in a container beside it");
	err_hint(err, "jhot dump %d      shows what its threads do, without an agent",
		(int)jvm->pid);
	err_detail(err,
		"its cgroups allow %" PRId64 " kB more, without pages of files; %u may be needed",
		left < 0 ? 0 : left / 1024, need / 1024);
	return -1;
}
