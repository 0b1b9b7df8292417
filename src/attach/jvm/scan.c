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

#define TIMEOUTS_FEW  3  /* this many hanging processes get the full timeout, later ones a tenth */
#define RUNNING_TIMES 10 /* factor of the timeout for a child that is runnable */
#define STOP_MS       10000 /* for a killed child to be reaped */
#define STOP_STUCK_MS 50    /* of these, blocked in the kernel */
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
	uint64_t since_ns; /* when the child was started or last sent something */
	int timeouts;      /* processes whose inspection timed out */
	struct hotspot_list list;
};

/* --- in the child ------------------------------------------------------------------------------------ */

_Noreturn static void child(const struct hotspot_scan *s, int fd)
{
	char reply[1 + sizeof(struct hotspot)];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = s->next; i < s->count; i++) {
		struct hotspot jvm;
		bool found = !hotspot_examine(s->pids[i], &jvm, s->only_java);

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

static int start(struct hotspot_scan *s, struct err *err)
{
	pid_t pid = child_fork(&s->fd, err);

	if (pid == 0)
		child(s, s->fd);
	if (pid < 0)
		return -1;
	s->child = pid;
	s->since_ns = clock_mono_ns();
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
static void stop(struct hotspot_scan *s)
{
	static const struct timespec pause = {0, (long)NS_PER_MS};

	if (!s->child)
		return;
	kill(s->child, SIGKILL);
	for (int ms = 0, stuck = 0; ms < STOP_MS && stuck < STOP_STUCK_MS; ms++) {
		if (waitpid(s->child, NULL, WNOHANG) != 0)
			break;
		stuck += is_waiting(s->child);
		nanosleep(&pause, NULL);
	}
	s->child = 0;
	close(s->fd);
	buf_clear(&s->in);
}

/* --- its results ------------------------------------------------------------------------------------- */

static void add(struct hotspot_scan *s, const struct hotspot *jvm)
{
	s->list.jvms =
		xgrow(s->list.jvms, (size_t)s->list.count, &s->list_cap, sizeof(*s->list.jvms));
	s->list.jvms[s->list.count++] = *jvm;
}

/* Adds a row for a process that could not be examined, with the contents of /proc/PID/status and the reason. */
static void add_unexamined(struct hotspot_scan *s, const char *why)
{
	struct hotspot jvm = {.pid = s->pids[s->next], .verdict = HOTSPOT_NO, .uptime_s = -1};

	if (!hotspot_status(&jvm)) {
		snprintf(jvm.why, sizeof(jvm.why), "%s", why);
		add(s, &jvm);
	}
	s->next++;
}

/* Consumes the complete results in the input. */
static void consume(struct hotspot_scan *s)
{
	size_t at = 0;

	while (at < s->in.len && s->next < s->count) {
		bool found = s->in.data[at] == WORD_FOUND;
		struct hotspot jvm;

		if (found && s->in.len - at < 1 + sizeof(jvm))
			break;
		if (found) {
			memcpy(&jvm, s->in.data + at + 1, sizeof(jvm));
			add(s, &jvm);
		}
		at += found ? 1 + sizeof(jvm) : 1;
		s->next++;
	}
	memmove(s->in.data, s->in.data + at, s->in.len - at);
	s->in.len -= at;
}

static uint64_t patience_ns(const struct hotspot_scan *s)
{
	return HOTSPOT_PATIENCE_MS * NS_PER_MS / (s->timeouts < TIMEOUTS_FEW ? 1 : 10);
}

/* Waits up to timeout_ms for results, or kills a child that is stuck. */
static void scan_poll(struct hotspot_scan *s, int timeout_ms)
{
	struct pollfd p = {.fd = s->fd, .events = POLLIN};

	if (poll(&p, 1, timeout_ms) <= 0) {
		uint64_t waited_ns = clock_mono_ns() - s->since_ns;

		if (waited_ns < patience_ns(s) ||
			(waited_ns < patience_ns(s) * RUNNING_TIMES && !is_waiting(s->child)))
			return;
		stop(s);
		s->timeouts++;
		add_unexamined(s,
			"It could not be examined: reading its files or memory does not return.");
		return;
	}
	if (buf_read(&s->in, s->fd, STEP_BYTES) > 0) {
		s->since_ns = clock_mono_ns();
		consume(s);
	} else {
		stop(s);
		if (s->next < s->count)
			add_unexamined(
				s, "It could not be examined: the helper process was killed.");
	}
}

/* --- interface --------------------------------------------------------------------------------------- */

static void add_pid(void *ctx, pid_t pid)
{
	struct hotspot_scan *s = ctx;

	/* A JVM has several threads: this single stat(2) excludes most processes. */
	if (pid == getpid() || (s->only_java && proc_thread_count(pid) == 1))
		return;
	s->pids = xgrow(s->pids, (size_t)s->count, &s->cap, sizeof(*s->pids));
	s->pids[s->count++] = pid;
}

struct hotspot_scan *hotspot_scan_begin(struct err *err)
{
	struct hotspot_scan *s = xcalloc(1, sizeof(*s));

	s->only_java = true;
	if (!proc_pids(add_pid, s))
		return s;
	err_set(err, ERR_FAILED, "%s cannot be read, so no process can be seen.", proc_root);
	err_hint(err, "mount -t proc proc /proc");
	hotspot_scan_end(s);
	return NULL;
}

int hotspot_scan_step(struct hotspot_scan *s, int timeout_ms, struct err *err)
{
	uint64_t begin_ns = clock_mono_ns();

	while (s->next < s->count) {
		int64_t left_ms = timeout_ms - (int64_t)((clock_mono_ns() - begin_ns) / NS_PER_MS);

		if (!s->child && start(s, err))
			return -1;
		scan_poll(s, left_ms > 100 ? 100 : left_ms > 0 ? (int)left_ms : 0);
		if (s->next < s->count && left_ms <= 0)
			return 0;
	}
	stop(s);
	return 1;
}

static int by_pid(const void *a, const void *b)
{
	const struct hotspot *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

void hotspot_scan_copy(const struct hotspot_scan *s, struct hotspot_list *out)
{
	size_t bytes = (size_t)s->list.count * sizeof(*out->jvms);

	out->count = s->list.count;
	out->jvms = xmalloc(bytes);
	if (!bytes)
		return;
	memcpy(out->jvms, s->list.jvms, bytes);
	qsort(out->jvms, (size_t)out->count, sizeof(out->jvms[0]), by_pid);
}

void hotspot_scan_end(struct hotspot_scan *s)
{
	if (!s)
		return;
	stop(s);
	buf_done(&s->in);
	free(s->pids);
	free(s->list.jvms);
	free(s);
}

int hotspot_check(pid_t pid, struct hotspot *out, struct err *err)
{
	struct hotspot_scan s = {.pids = &pid, .count = 1};
	int rc = -1, seen = 0;

	if (pid > 0 && hotspot_is_thread(pid, err))
		return -1;
	while (pid > 0 && !seen)
		seen = hotspot_scan_step(&s, 1000, err);
	if (s.list.count) {
		*out = s.list.jvms[0];
		rc = 0;
	} else if (seen >= 0) {
		err_set(err, ERR_NO_TARGET, "There is no process %d.", (int)pid);
		err_hint(err, "jhot list");
	}
	buf_done(&s.in);
	free(s.list.jvms);
	return rc;
}
