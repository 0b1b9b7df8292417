/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A forked helper speaks the attach protocol with the target's ids. The caller treats its reply as hostile input, since other
 * processes of the target's user can interfere with it.
 */
#include "attach/attach.h"

#include "attach/jvm/check.h"
#include "attach/jvm/libjvm.h"
#include "attach/limits.h"
#include "attach/proc.h"
#include "attach/protocol.h"
#include "base/clock.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_LIMIT (80u << 20) /* more than protocol_receive accepts */
#define HELPER_MS    (HOTSPOT_PATIENCE_MS * 10 + 2 * ATTACH_LISTEN_MS + ATTACH_REPLY_MS)
#define REAP_MS      3000 /* for the helper to remove its files after the caller has cancelled */

/* Polling interval for a JVM that is starting. */
static const struct timespec start_pause = {0, 50 * (long)NS_PER_MS};

/* Header that the child sends before the bytes of the reply. */
struct answer {
	int rc;
	size_t bytes;
	struct err err;
};

/* --- in the child ------------------------------------------------------------------------------------ */

static int assume_ids(const struct hotspot *jvm, struct err *err)
{
	if (geteuid() == jvm->euid && getegid() == jvm->egid)
		return 0;
	/* A user namespace may forbid dropping groups. HotSpot checks only uid and gid, so that is harmless. */
	if (setgroups(0, NULL) && errno != EPERM)
		return err_set_errno(err, ERR_ATTACH, "Cannot drop jhot's supplementary groups");
	if (!setresgid(jvm->egid, jvm->egid, jvm->egid) &&
		!setresuid(jvm->euid, jvm->euid, jvm->euid))
		return 0;
	err_set_errno(err, ERR_ATTACH, "Cannot switch to the ids of JVM %d (uid %u, gid %u)",
		(int)jvm->pid, (unsigned)jvm->euid, (unsigned)jvm->egid);
	err_hint(err, "sudo -u %s jhot %d", jvm->user, (int)jvm->pid);
	return -1;
}

/*
 * Repeats the check right before attaching, and verifies that pid still denotes the same process. Polls for up to
 * ATTACH_START_MS while the JVM is starting.
 */
static int check_again(const struct hotspot *before, struct hotspot *now, struct err *err)
{
	uint64_t end_ns = clock_mono_ns() + ATTACH_START_MS * NS_PER_MS;

	if (hotspot_is_thread(before->pid, err))
		return -1;
	for (;; nanosleep(&start_pause, NULL)) {
		if (hotspot_examine(before->pid, now, false))
			return err_set(err, ERR_NO_TARGET, "Process %d no longer exists.",
				(int)before->pid);
		if (!now->starting || clock_mono_ns() >= end_ns)
			break;
	}
	if (now->nspid != before->nspid || now->euid != before->euid ||
		now->start_ticks != before->start_ticks)
		return err_set(err, ERR_NO_TARGET, "Process id %d now belongs to another process.",
			(int)before->pid);
	if (now->verdict == HOTSPOT_NO || now->verdict == HOTSPOT_NEEDS_UID)
		return hotspot_refusal(now, err);
	return 0;
}

/* Runs in the target's temporary folder with the target's ids. */
static int converse(const struct protocol *p, const struct attach_request *rq, struct place *place,
	struct buf *reply, struct err *err)
{
	const char *args[3] = {rq->args[0], rq->args[1], rq->args[2]};

	if (rq->agent && limits_check_agent(p->jvm, err))
		return -1;
	int sock = protocol_connect(p, err);
	if (sock < 0)
		return -1;
	/* Install the agent last, so that its file exists for as short a time as possible. */
	int rc = rq->agent ? place_write(place, err) : 0;
	if (rq->agent)
		args[0] = place->path;
	if (!rc)
		rc = protocol_send(sock, rq->op, args, err);
	if (!rc)
		rc = protocol_receive(p, sock, reply, err);
	close(sock);
	return rc;
}

/* Opens the target's folders and reads the agent, which needs the caller's ids, then assumes the target's ids. */
static int serve(const struct attach_request *rq, const struct hotspot *jvm, int pidfd, int caller,
	struct buf *reply, struct err *err)
{
	pid_t pid = jvm->pid;
	struct protocol p = {.jvm = jvm,
		.pidfd = pidfd,
		.caller = caller,
		.listen_ms = ATTACH_LISTEN_MS,
		.reply_ms = ATTACH_REPLY_MS};
	struct place *place = rq->agent ? xcalloc(1, sizeof(*place)) : NULL;
	int temp = proc_open_in(pid, "root", jvm->temp, O_PATH | O_DIRECTORY), rc = -1;

	p.cwd = proc_open_in(pid, "cwd", ".", O_PATH | O_DIRECTORY);
	if (place && place_prepare(place, rq->agent, jvm, err))
		goto out;
	if (place && exe_is_musl(pid))
		place_find_retained(place);
	if (place)
		place_write_by_root(place);
	if (temp < 0 || fchdir(temp))
		err_set(err, ERR_ATTACH, "Cannot enter %s of JVM %d: %s", jvm->temp, (int)pid,
			strerror(temp < 0 ? -temp : errno));
	else if (!assume_ids(jvm, err))
		rc = converse(&p, rq, place, reply, err);
out:
	if (place)
		place_done(place);
	free(place);
	return rc;
}

_Noreturn static void child(
	const struct hotspot *jvm, const struct attach_request *rq, int pidfd, int caller)
{
	struct answer answer;
	struct hotspot now;
	struct buf reply = {0};

	memset(&answer, 0, sizeof(answer));
	setsid(); /* leave the terminal and process group, and their signals */
	answer.rc = check_again(jvm, &now, &answer.err);
	if (!answer.rc)
		answer.rc = serve(rq, &now, pidfd, caller, &reply, &answer.err);
	answer.bytes = reply.len;
	if (!file_write(caller, &answer, sizeof(answer)))
		file_write(caller, reply.data, reply.len);
	_exit(0);
}

/* --- in the caller ----------------------------------------------------------------------------------- */

/* 0 at the end of the child's output; -1 with an error when the caller cancels or the child exceeds HELPER_MS. */
static int read_all(const struct hotspot *jvm, const struct patience *patience, int fd,
	struct buf *out, struct err *err)
{
	uint64_t end_ns = clock_mono_ns() + HELPER_MS * NS_PER_MS;
	struct pollfd p = {.fd = fd, .events = POLLIN};

	while (out->len < ANSWER_LIMIT) {
		if (poll(&p, 1, PATIENCE_STEP_MS) <= 0) {
			if (!patience_left(patience))
				return err_set(err, ERR_FAILED,
					"Attaching to JVM %d was cancelled.", (int)jvm->pid);
			if (clock_mono_ns() < end_ns)
				continue;
			return err_set(err, ERR_ATTACH,
				"Attaching to JVM %d hangs: reading its files or memory does not "
				"return.",
				(int)jvm->pid);
		}
		if (buf_read(out, fd, 65536) <= 0)
			return 0;
	}
	return 0;
}

/* The closed socket makes the child remove its files and exit. One that is blocked in the kernel is left behind. */
static void reap(pid_t pid)
{
	static const struct timespec pause = {0, (long)NS_PER_MS};

	for (int ms = 0; ms < REAP_MS; ms++) {
		pid_t gone = waitpid(pid, NULL, WNOHANG);

		if (gone == pid || (gone < 0 && errno != EINTR))
			return;
		nanosleep(&pause, NULL);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, WNOHANG);
}

static int parse_answer(const struct buf *got, struct buf *reply, struct err *err)
{
	struct answer answer;

	if (got->len < sizeof(answer))
		return err_set(
			err, ERR_ATTACH, "The helper process that attaches to the JVM was killed.");
	memcpy(&answer, got->data, sizeof(answer));
	if (answer.bytes != got->len - sizeof(answer))
		return err_set(err, ERR_ATTACH,
			"The reply of the helper process that attaches to the JVM is truncated.");
	err_clean(&answer.err);
	if (answer.rc) {
		bool known = answer.err.kind > ERR_NONE && answer.err.kind <= ERR_GONE;

		if (!known)
			answer.err.kind = ERR_ATTACH;
		if (err)
			*err = answer.err;
		return -1;
	}
	buf_add(reply, got->data + sizeof(answer), answer.bytes);
	return 0;
}

int attach_send(const struct hotspot *jvm, const struct attach_request *rq,
	const struct patience *patience, struct buf *reply, struct err *err)
{
	/* Opened before the repeated check, so that the process checked is the one watched. -1 before Linux 5.3. */
	int pidfd = (int)syscall(SYS_pidfd_open, jvm->pid, 0), fd;
	struct buf got = {0};
	pid_t pid = child_fork(&fd, err);

	if (pid == 0)
		child(jvm, rq, pidfd, fd);
	if (pidfd >= 0)
		close(pidfd);
	if (pid < 0)
		return -1;
	int rc = read_all(jvm, patience, fd, &got, err);
	close(fd);
	if (rc)
		reap(pid);
	else
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	if (!rc)
		rc = parse_answer(&got, reply, err);
	buf_done(&got);
	return rc;
}

/* --- loading the agent ------------------------------------------------------------------------------- */

/* A starting JVM's listener answers some 50 ms before it accepts agents, longer on a busy host: the request is repeated. */
int attach_load(const struct hotspot *jvm, const struct agent_file *agent, const char *options,
	const struct patience *patience, struct err *err)
{
	/* "true": the path is absolute, not a library's name to be completed. */
	const struct attach_request rq = {
		.agent = agent, .op = "load", .args = {NULL, "true", options}};
	uint64_t end_ns = clock_mono_ns() + ATTACH_START_MS * NS_PER_MS;
	struct buf reply = {0};
	int rc, result = -1;

	for (;;) {
		rc = attach_send(jvm, &rq, patience, &reply, err);
		if (rc || !reply_is_starting(buf_str(&reply)) || clock_mono_ns() >= end_ns ||
			!patience_left(patience))
			break;
		buf_clear(&reply);
		nanosleep(&start_pause, NULL);
	}
	if (!rc)
		rc = reply_load(buf_str(&reply), reply.len, &result, err);
	buf_done(&reply);
	return rc ? -1 : result;
}
