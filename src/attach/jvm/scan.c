/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inspects processes in a child, which reports each result.
 *
 * A file system that does not answer, or memory served by another process (userfaultfd, FUSE), blocks the reader, possibly in a
 * state that no signal ends. So the child is killed, or abandoned if that fails, and a new child continues with the next
 * process. A child that crashes on its input is handled in the same way.
 */
#include "attach/jvm/check.h"
#include "attach/jvm/hotspot.h"
#include "attach/proc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SILENT_FEW    3  /* this many hanging processes get the full timeout, later ones a tenth */
#define RUNNING_TIMES 10 /* factor of the timeout for a child that is runnable */
#define STOP_TURNS    10000 /* times 1 ms, for a killed child that gets no core */
#define STUCK_TURNS   50    /* times 1 ms, for a killed child that is blocked */
#define STEP_BYTES    65536

/* Per process, the child sends one of these bytes; after WORD_FOUND, a struct hotspot. */
enum word {
	WORD_NONE = '-',
	WORD_FOUND = '+',
};

struct hotspot_scan {
	pid_t *pids;
	int count, next; /* next: index of the pid being inspected */
	uint32_t cap, list_cap;
	bool only_java;
	pid_t child; /* 0: none */
	int fd;
	struct buf in;
	uint64_t since_ns; /* when the child last sent something */
	int silent;        /* processes whose examination timed out */
	struct hotspot_list list;
};

/* --- in the child ------------------------------------------------------------------------------------ */

_Noreturn static void child(const struct hotspot_scan *l, int fd)
{
	char reply[1 + sizeof(struct hotspot)];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = l->next; i < l->count; i++) {
		struct hotspot jvm;
		bool found = !hotspot_examine(l->pids[i], &jvm, l->only_java);

		reply[0] = found ? WORD_FOUND : WORD_NONE;
		memcpy(reply + 1, &jvm, sizeof(jvm));
		if (file_write(fd, reply, found ? sizeof(reply) : 1))
			break; /* the parent is gone */
	}
	_exit(0);
}

/* --- the child from outside -------------------------------------------------------------------------- */

pid_t child_fork(int *fd, struct err *err)
{
	sigset_t all, old;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return err_set_errno(err, ERR_FAILED,
			"Cannot create a socket for the process that examines the JVM");
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	pid_t pid = fork();
	if (pid)
		sigprocmask(SIG_SETMASK, &old, NULL);
	close(ends[pid == 0 ? 0 : 1]);
	*fd = ends[pid == 0 ? 1 : 0];
	if (pid >= 0)
		return pid;
	close(*fd);
	return err_set_errno(err, ERR_FAILED, "Cannot start the process that examines the JVM");
}

static int start(struct hotspot_scan *l, struct err *err)
{
	pid_t pid = child_fork(&l->fd, err);

	if (pid == 0)
		child(l, l->fd);
	if (pid < 0)
		return -1;
	l->child = pid;
	l->since_ns = clock_mono_ns();
	return 0;
}

/*
 * True when our child is blocked rather than runnable: on a busy machine it may just not have had a core. Reads the real /proc,
 * regardless of proc_root.
 */
static bool is_waiting(pid_t pid)
{
	char path[40], state = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	FILE *f = fopen(path, "re");
	if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	if (f)
		fclose(f);
	return state != 'R';
}

/* Kills the child. One that is blocked in the kernel is abandoned, and reaped by init after we exit. */
static void stop(struct hotspot_scan *l)
{
	static const struct timespec pause = {0, (long)NS_PER_MS};

	if (!l->child)
		return;
	kill(l->child, SIGKILL);
	for (int turns = 0, stuck = 0; turns < STOP_TURNS && stuck < STUCK_TURNS; turns++) {
		if (waitpid(l->child, NULL, WNOHANG) != 0)
			break;
		stuck += is_waiting(l->child);
		nanosleep(&pause, NULL);
	}
	l->child = 0;
	close(l->fd);
	buf_clear(&l->in);
}

/* --- its results ------------------------------------------------------------------------------------- */

static void add(struct hotspot_scan *l, const struct hotspot *jvm)
{
	l->list.jvms =
		xgrow(l->list.jvms, (size_t)l->list.count, &l->list_cap, sizeof(*l->list.jvms));
	l->list.jvms[l->list.count++] = *jvm;
}

/* Adds a row for a process that could not be examined, with the contents of /proc/PID/status and the reason. */
static void add_silent(struct hotspot_scan *l, const char *why)
{
	struct hotspot jvm = {.pid = l->pids[l->next], .verdict = HOTSPOT_NO, .uptime_s = -1};

	if (!hotspot_status(&jvm)) {
		snprintf(jvm.why, sizeof(jvm.why), "%s", why);
		add(l, &jvm);
	}
	l->next++;
}

/* Consumes the complete results in the input. */
static void consume(struct hotspot_scan *l)
{
	size_t at = 0;

	while (at < l->in.len && l->next < l->count) {
		bool found = l->in.data[at] == WORD_FOUND;
		struct hotspot jvm;

		if (found && l->in.len - at < 1 + sizeof(jvm))
			break;
		if (found) {
			memcpy(&jvm, l->in.data + at + 1, sizeof(jvm));
			add(l, &jvm);
		}
		at += found ? 1 + sizeof(jvm) : 1;
		l->next++;
	}
	memmove(l->in.data, l->in.data + at, l->in.len - at);
	l->in.len -= at;
}

static uint64_t patience_ns(const struct hotspot_scan *l)
{
	return HOTSPOT_PATIENCE_MS * NS_PER_MS / (l->silent < SILENT_FEW ? 1 : 10);
}

static bool is_stuck(const struct hotspot_scan *l)
{
	uint64_t waited_ns = clock_mono_ns() - l->since_ns;

	return waited_ns >= patience_ns(l) * RUNNING_TIMES ||
	       (waited_ns >= patience_ns(l) && is_waiting(l->child));
}

/* Waits up to timeout_ms for results, or kills a child that is stuck. */
static void scan_poll(struct hotspot_scan *l, int timeout_ms)
{
	struct pollfd p = {.fd = l->fd, .events = POLLIN};

	if (poll(&p, 1, timeout_ms) <= 0) {
		if (!is_stuck(l))
			return;
		stop(l);
		l->silent++;
		add_silent(l,
			"It could not be examined: reading its files or memory does not return.");
		return;
	}
	if (buf_read(&l->in, l->fd, STEP_BYTES) > 0) {
		l->since_ns = clock_mono_ns();
		consume(l);
	} else {
		stop(l);
		if (l->next < l->count)
			add_silent(l, "It could not be examined: the helper process was killed.");
	}
}

/* --- interface --------------------------------------------------------------------------------------- */

static void add_pid(void *ctx, pid_t pid)
{
	struct hotspot_scan *l = ctx;

	/* A JVM has several threads: this single stat(2) excludes most processes. */
	if (pid == getpid() || (l->only_java && proc_thread_count(pid) == 1))
		return;
	l->pids = xgrow(l->pids, (size_t)l->count, &l->cap, sizeof(*l->pids));
	l->pids[l->count++] = pid;
}

struct hotspot_scan *hotspot_scan_begin(struct err *err)
{
	struct hotspot_scan *l = xcalloc(1, sizeof(*l));

	l->only_java = true;
	if (!proc_pids(add_pid, l))
		return l;
	err_set(err, ERR_FAILED, "%s cannot be read, so no process can be seen.", proc_root);
	err_hint(err, "mount -t proc proc /proc");
	hotspot_scan_end(l);
	return NULL;
}

int hotspot_scan_step(struct hotspot_scan *l, int timeout_ms, struct err *err)
{
	uint64_t begin_ns = clock_mono_ns();

	while (l->next < l->count) {
		int64_t left_ms = timeout_ms - (int64_t)((clock_mono_ns() - begin_ns) / NS_PER_MS);

		if (!l->child && start(l, err))
			return -1;
		scan_poll(l, left_ms > 100 ? 100 : left_ms > 0 ? (int)left_ms : 0);
		if (l->next < l->count && left_ms <= 0)
			return 0;
	}
	stop(l);
	return 1;
}

static int by_pid(const void *a, const void *b)
{
	const struct hotspot *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

void hotspot_scan_copy(const struct hotspot_scan *l, struct hotspot_list *out)
{
	size_t bytes = (size_t)l->list.count * sizeof(*out->jvms);

	out->count = l->list.count;
	out->jvms = xmalloc(bytes);
	if (!bytes)
		return;
	memcpy(out->jvms, l->list.jvms, bytes);
	qsort(out->jvms, (size_t)out->count, sizeof(out->jvms[0]), by_pid);
}

void hotspot_scan_end(struct hotspot_scan *l)
{
	if (!l)
		return;
	stop(l);
	buf_done(&l->in);
	free(l->pids);
	free(l->list.jvms);
	free(l);
}

int hotspot_check(pid_t pid, struct hotspot *out, struct err *err)
{
	struct hotspot_scan l = {.pids = &pid, .count = 1};
	int rc = -1, seen = 0;

	if (pid > 0 && hotspot_is_thread(pid, err))
		return -1;
	while (pid > 0 && !seen)
		seen = hotspot_scan_step(&l, 1000, err);
	if (l.list.count) {
		*out = l.list.jvms[0];
		rc = 0;
	} else if (seen >= 0) {
		err_set(err, ERR_NO_TARGET, "There is no process %d.", (int)pid);
		err_hint(err, "jhot list");
	}
	buf_done(&l.in);
	free(l.list.jvms);
	return rc;
}
