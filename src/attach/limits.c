/* SPDX-License-Identifier: Apache-2.0 */
/* Compares limits of processes, cgroups, the kernel and the machine with their usage. */
#include "attach/limits.h"

#include "attach/cgroup.h"
#include "attach/proc.h"
#include "base/buf.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Threads: the listener, three of the agent, and one in reserve for the program. */
#define THREADS 5
/* Descriptors: the attach socket, its connection, the agent's file, and one in reserve for the program. */
#define FDS 4
/* Resident memory of a session, and of the front end if it counts against the same limit. */
#define RESIDENT_BYTES (24u << 20)
#define OWN_BYTES      (40u << 20)

/*
 * Memory that the JVM maps, measured on JDK 8, 17 and 25: its attach listener 1.1 to 2.4 MB of data in 4 mappings; a session
 * 50 MB, plus 4 MB for threads, in 24 to 50 mappings. The agent itself checks what single events map in addition
 * (sampler/session/memory.c).
 */
struct need {
	const char *who;
	uint64_t bytes, maps;
};
static const struct need listener = {"its attach listener", 4u << 20, 16};
static const struct need session = {"a session", 54u << 20, 64};

/* An attach may use at most 1/SHARE of the resource that is still free; the remainder is reserved for the program. */
#define SHARE 2

/* --- threads ------------------------------------------------------------------------------------------ */

/*
 * True unless starting THREADS more threads under this limit would fail. The kernel counts all threads of the user, of which we
 * may not see all, so this forks that many processes with the JVM's uid and limit, and kills them.
 */
static bool may_start_threads(uint64_t limit)
{
	struct rlimit own;
	pid_t pids[THREADS];
	int n = 0;

	if (limit == PROC_NO_LIMIT || getrlimit(RLIMIT_NPROC, &own) || own.rlim_max < limit)
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
		"JVM %d is at its limit of threads: HotSpot starts a thread for the first attach, "
		"and ends the JVM if that fails. jhot did not attach.",
		(int)jvm->pid);
}

static int check_threads(const struct hotspot *jvm, const char *limits, struct err *err)
{
	struct cgroup_mount mount;
	uint64_t limit = proc_limit(limits, "Max processes");

	cgroup_mount_find(&mount, "pids");
	int64_t left = cgroup_pids_left(&mount, jvm->pid);
	if (left < THREADS) {
		refuse_threads(jvm, err);
		err_hint(err, "raise pids.max of its cgroup (--pids-limit, podPidsLimit)");
		err_detail(err, "its cgroups allow %" PRId64 " more threads, %d are needed",
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

/* --- descriptors ------------------------------------------------------------------------------------- */

/* Open descriptors below the limit; there may be others above it, if it was lowered later. */
static uint64_t count_fds(pid_t pid, uint64_t limit)
{
	char path[PROC_PATH_BYTES];
	DIR *dir = opendir(proc_path_living(path, pid, "fd"));
	struct dirent *e;
	uint64_t n = 0;

	while (dir && (e = readdir(dir)))
		n += e->d_name[0] != '.' && strtoull(e->d_name, NULL, 10) < limit;
	if (dir)
		closedir(dir);
	return n;
}

/* used: slots of its descriptor table, an upper bound. Descriptors are counted only if that is near the limit. */
static int check_fds(const struct hotspot *jvm, const char *limits, uint64_t used, struct err *err)
{
	uint64_t limit = proc_limit(limits, "Max open files");

	if (used + FDS > limit)
		used = count_fds(jvm->pid, limit);
	if (used + FDS <= limit)
		return 0;
	err_set(err, ERR_ATTACH,
		"JVM %d has no free file descriptors, %" PRIu64 " of %" PRIu64
		", and attaching takes %d.",
		(int)jvm->pid, used, limit, FDS);
	err_hint(err, "sudo prlimit --pid %d --nofile=%" PRIu64 ":", (int)jvm->pid, limit + 100);
	err_hint(err, "ls -l /proc/%d/fd shows what holds them", (int)jvm->pid);
	return -1;
}

/* --- memory, mappings ----------------------------------------------------------------------------------- */

/* One limit, in bytes or in mappings. */
struct limit {
	const char *what;
	const char *option;  /* of prlimit; NULL: not a limit of the process */
	const char *setting; /* the setting to raise if option is NULL */
	uint64_t limit, used, need;
};

static int check_limit(
	const struct hotspot *jvm, const struct need *need, const struct limit *l, struct err *err)
{
	uint64_t left = l->limit > l->used ? l->limit - l->used : 0;

	if (l->limit == PROC_NO_LIMIT || left >= SHARE * l->need)
		return 0;
	err_set(err, ERR_ATTACH,
		"JVM %d is near its limit of %s: %s would take %s of what is left, and HotSpot "
		"ends the JVM when an allocation fails. jhot did not attach.",
		(int)jvm->pid, l->what, need->who, left < l->need ? "all" : "most");
	if (l->option)
		err_hint(err, "sudo prlimit --pid %d --%s=unlimited", (int)jvm->pid, l->option);
	else
		err_hint(err, "raise %s", l->setting);
	err_hint(err, "jhot dump %d      shows what its threads do, without an agent",
		(int)jvm->pid);
	if (l->need >= 1024)
		err_detail(err,
			"%" PRIu64 " of %" PRIu64 " kB are used, %" PRIu64 " kB must be left",
			l->used / 1024, l->limit / 1024, SHARE * l->need / 1024);
	else
		err_detail(err, "%" PRIu64 " of %" PRIu64 " are used, %" PRIu64 " must be left",
			l->used, l->limit, SHARE * l->need);
	return -1;
}

/* Without overcommit, the kernel limits the memory committed to all processes together. */
static struct limit commit_limit(uint64_t need)
{
	struct limit l = {"committed memory (vm.overcommit_memory=2)", NULL,
		"vm.overcommit_ratio, or add swap", PROC_NO_LIMIT, 0, need};
	struct buf text = {0};

	if (proc_setting("vm/overcommit_memory", 0) == 2 && !proc_read_host("meminfo", &text)) {
		const char *most = proc_field(buf_str(&text), "CommitLimit:");

		if (*most)
			l.limit = strtoull(most, NULL, 10) * 1024;
		l.used = strtoull(proc_field(buf_str(&text), "Committed_AS:"), NULL, 10) * 1024;
	}
	buf_done(&text);
	return l;
}

static int check_memory(const struct hotspot *jvm, const struct need *need, struct err *err)
{
	struct proc_status status;
	struct buf read = {0};
	int rc = 0;

	if (proc_read(jvm->pid, "limits", &read) || proc_status(jvm->pid, &status)) {
		buf_done(&read);
		return 0;
	}
	const char *limits = buf_str(&read);
	/* The limit of locked memory counts if the process locks some (with MCL_FUTURE also ours), without CAP_IPC_LOCK. */
	bool locks = status.lock_bytes && !(status.caps >> CAP_IPC_LOCK & 1);
	const struct limit rows[] = {
		{"address space (ulimit -v)", "as", NULL, proc_limit(limits, "Max address space"),
			status.vm_bytes, need->bytes},
		{"data (ulimit -d)", "data", NULL, proc_limit(limits, "Max data size"),
			status.data_bytes, need->bytes},
		{"locked memory (ulimit -l)", "memlock", NULL,
			locks ? proc_limit(limits, "Max locked memory") : PROC_NO_LIMIT,
			status.lock_bytes, need->bytes},
		commit_limit(need->bytes),
		{"mappings (vm.max_map_count)", NULL, "vm.max_map_count",
			(uint64_t)proc_setting("vm/max_map_count", 65530),
			proc_maps_count(jvm->pid), need->maps},
	};

	for (size_t i = 0; !rc && i < sizeof(rows) / sizeof(rows[0]); i++)
		rc = check_limit(jvm, need, &rows[i], err);
	buf_done(&read);
	return rc;
}

int limits_check_listener(const struct hotspot *jvm, struct err *err)
{
	struct proc_status status;
	struct buf limits = {0};
	bool refused = false;

	if (!proc_read(jvm->pid, "limits", &limits) && !proc_status(jvm->pid, &status))
		refused = check_fds(jvm, buf_str(&limits), status.fd_size, err) ||
			  check_memory(jvm, &listener, err) ||
			  check_threads(jvm, buf_str(&limits), err);
	buf_done(&limits);
	return refused ? -1 : 0;
}

/* Attaching and a session allocate objects for three threads, and a buffer for each. */
#define HEAP_BYTES (256 << 10)
#define HEAP_PART  1024 /* a collector that divides the heap into regions needs a free one */

static int check_heap(const struct hotspot *jvm, struct err *err)
{
	const struct heap *h = &jvm->heap;
	int64_t need = h->most / HEAP_PART > HEAP_BYTES ? h->most / HEAP_PART : HEAP_BYTES;

	if (!jvm->exits_on_full_heap || h->left < 0 || h->left >= need)
		return 0;
	err_set(err, ERR_ATTACH,
		"The heap of JVM %d is full, and the JVM ends, runs a command or writes a dump "
		"when "
		"an allocation fails (OnOutOfMemoryError): attaching allocates some objects. jhot "
		"did not attach.",
		(int)jvm->pid);
	err_hint(err, "raise -Xmx");
	err_hint(err, "jhot dump %d      shows what its threads do, without an agent",
		(int)jvm->pid);
	err_detail(err,
		"the last collection left %" PRId64 " of %" PRId64 " kB, %" PRId64 " must be left",
		h->left / 1024, h->most / 1024, need / 1024);
	return -1;
}

/* Checks memory left in its cgroups, so that the session does not invoke their OOM killer. */
static int check_cgroups(const struct hotspot *jvm, struct err *err)
{
	bool same = cgroup_is_ours(jvm->pid);
	unsigned need = RESIDENT_BYTES + (same ? OWN_BYTES : 0);
	struct cgroup_mount mount;

	cgroup_mount_find(&mount, "memory");
	int64_t left = cgroup_memory_left(&mount, jvm->pid);
	if (left >= need)
		return 0;
	err_set(err, ERR_ATTACH,
		"JVM %d has nearly reached its container's memory limit: with %s loaded, the "
		"kernel might kill it. jhot did not attach.",
		(int)jvm->pid, same ? "jhot and its agent" : "the agent");
	err_hint(err, "raise the limit by %u MB (docker update --memory, resources.limits.memory)",
		need >> 20);
	if (same)
		err_hint(err, "run jhot on the host, or in a container beside it");
	err_hint(err, "jhot dump %d      shows what its threads do, without an agent",
		(int)jvm->pid);
	err_detail(err,
		"its cgroups allow %" PRId64 " kB more if file pages are reclaimed; %u may be "
		"needed",
		left < 0 ? 0 : left / 1024, need / 1024);
	return -1;
}

int limits_check_agent(const struct hotspot *jvm, struct err *err)
{
	return check_heap(jvm, err) || check_memory(jvm, &session, err) || check_cgroups(jvm, err)
		       ? -1
		       : 0;
}
