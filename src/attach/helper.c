/* SPDX-License-Identifier: Apache-2.0 */
/* The forked helper that speaks the attach protocol with the target's ids. */
#include "attach/helper.h"

#include "attach/attach.h"
#include "attach/jvm/check.h"
#include "attach/place.h"
#include "attach/proc.h"
#include "attach/protocol.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_LIMIT (80u << 20)
#define HELPER_MS    (HOTSPOT_PATIENCE_MS * 10 + ATTACH_LISTEN_MS + ATTACH_REPLY_MS)
#define REAP_TURNS   3000 /* of a millisecond */

/* What the child sends before the reply's bytes. */
struct answer {
	int rc;
	size_t bytes;
	struct err err;
};

/* --- in the child ------------------------------------------------------------------------------------- */

static int take_ids(const struct hotspot *jvm, struct err *err)
{
	if (geteuid() == jvm->euid && getegid() == jvm->egid)
		return 0;
	/* Dropping groups may be forbidden in a user namespace; to HotSpot they do not matter. */
	if (setgroups(0, NULL) && errno != EPERM)
		return err_set_errno(err, ERR_ATTACH, "jhot's groups cannot be dropped");
	if (!setresgid(jvm->egid, jvm->egid, jvm->egid) &&
		!setresuid(jvm->euid, jvm->euid, jvm->euid))
		return 0;
	err_set_errno(err, ERR_ATTACH, "The ids of JVM %d (uid %u, gid %u) cannot be taken",
		(int)jvm->pid, (unsigned)jvm->euid, (unsigned)jvm->egid);
	err_hint(err, "sudo -u %s jhot %d", jvm->user, (int)jvm->pid);
	return -1;
}

/* One that takes no requests yet will do so soon. */
static int look_when_started(pid_t pid, struct hotspot *now)
{
	const struct timespec pause = {0, 50 * (long)NS_PER_MS};
	uint64_t end_ns = clock_mono_ns() + ATTACH_START_MS * NS_PER_MS;

	for (;;) {
		if (hotspot_look_at(pid, now, false))
			return -1;
		if (!now->starting || clock_mono_ns() >= end_ns)
			return 0;
		nanosleep(&pause, NULL);
	}
}

/* What is asked, and perhaps signalled, is what is looked at now, and the same as before. */
static int look_again(const struct hotspot *before, struct hotspot *now, struct err *err)
{
	if (hotspot_is_thread(before->pid, err))
		return -1;
	if (look_when_started(before->pid, now))
		return err_set(
			err, ERR_NO_TARGET, "There is no process %d any more.", (int)before->pid);
	if (now->nspid != before->nspid || now->euid != before->euid ||
		now->start_ticks != before->start_ticks)
		return err_set(err, ERR_NO_TARGET, "Process %d is another one than before.",
			(int)before->pid);
	if (now->verdict == HOTSPOT_NO || now->verdict == HOTSPOT_NEEDS_UID)
		return hotspot_refusal(now, err);
	return 0;
}

/* In the target's /tmp, with the target's ids. */
static int converse(const struct protocol *p, const struct helper_request *rq, struct place *place,
	struct buf *reply, struct err *err)
{
	const char *args[3] = {rq->args[0], rq->args[1], rq->args[2]};
	int sock, rc;

	if (rq->agent) {
		if (place_put(place, p->jvm->pid, err))
			return -1;
		args[0] = place->path;
	}
	sock = protocol_connect(p, err);
	if (sock < 0)
		return -1;
	rc = protocol_send(sock, rq->op, args, err);
	if (!rc)
		rc = protocol_receive(p, sock, reply, err);
	close(sock);
	return rc;
}

/* What needs the caller's ids comes first: the folders of the target, the agent's file. */
static int serve(const struct helper_request *rq, const struct hotspot *jvm, int caller,
	struct buf *reply, struct err *err)
{
	pid_t pid = jvm->pid;
	struct protocol p = {.jvm = jvm,
		.pidfd = rq->pidfd,
		.caller = caller,
		.listen_ms = ATTACH_LISTEN_MS,
		.reply_ms = ATTACH_REPLY_MS};
	struct place *place = rq->agent ? xcalloc(1, sizeof(*place)) : NULL;
	int tmp = proc_open_in(pid, "root", "/tmp", O_PATH | O_DIRECTORY), rc = -1;

	p.cwd = proc_open_in(pid, "cwd", ".", O_PATH | O_DIRECTORY);
	if (place && place_prepare(place, rq->agent, jvm->nspid, err))
		goto out;
	if (tmp < 0 || fchdir(tmp))
		err_set(err, ERR_ATTACH, "/tmp of JVM %d cannot be entered: %s", (int)pid,
			strerror(tmp < 0 ? -tmp : errno));
	else if (!take_ids(jvm, err))
		rc = converse(&p, rq, place, reply, err);
out:
	if (place)
		place_done(place);
	free(place);
	return rc;
}

static void send_all(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len) {
		ssize_t n = send(fd, at, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		at += n;
		len -= (size_t)n;
	}
}

_Noreturn static void child(const struct helper_request *rq, int caller)
{
	struct answer answer;
	struct hotspot now;
	struct buf reply = {0};

	memset(&answer, 0, sizeof(answer));
	setsid(); /* a signal to the terminal's or the caller's group is not for us */
	answer.rc = look_again(rq->jvm, &now, &answer.err);
	if (!answer.rc)
		answer.rc = serve(rq, &now, caller, &reply, &answer.err);
	answer.bytes = reply.len;
	send_all(caller, &answer, sizeof(answer));
	send_all(caller, reply.data, reply.len);
	_exit(0);
}

/* --- in the caller ------------------------------------------------------------------------------------ */

/* 0 when the child has said all; -1 with an error when who waits gives up, or the child does not come to an end. */
static int read_all(const struct helper_request *rq, const struct patience *patience, int fd,
	struct buf *out, struct err *err)
{
	uint64_t end_ns = clock_mono_ns() + HELPER_MS * NS_PER_MS;
	struct pollfd p = {.fd = fd, .events = POLLIN};

	while (out->len < ANSWER_LIMIT) {
		ssize_t n;

		if (poll(&p, 1, PATIENCE_STEP_MS) <= 0) {
			if (!patience_left(patience))
				return err_set(err, ERR_FAILED, "Attaching to JVM %d was given up.",
					(int)rq->jvm->pid);
			if (clock_mono_ns() < end_ns)
				continue;
			return err_set(err, ERR_ATTACH,
				"Attaching to JVM %d does not come to an end: its files or its "
				"memory do not answer.",
				(int)rq->jvm->pid);
		}
		buf_reserve(out, 65536);
		n = read(fd, out->data + out->len, 65536);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		out->len += (size_t)n;
		out->data[out->len] = '\0';
	}
	return 0;
}

/* Hung up on, it removes its files and ends; where it cannot, because the kernel waits for somebody, it is left. */
static void reap(pid_t pid)
{
	static const struct timespec pause = {0, (long)NS_PER_MS};

	for (int turns = 0; turns < REAP_TURNS; turns++) {
		pid_t gone = waitpid(pid, NULL, WNOHANG);

		if (gone == pid || (gone < 0 && errno != EINTR))
			return;
		nanosleep(&pause, NULL);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, WNOHANG);
}

static int take_answer(const struct buf *got, struct buf *reply, struct err *err)
{
	struct answer answer;

	if (got->len < sizeof(answer))
		return err_set(err, ERR_ATTACH, "The helper that talks to the JVM was killed.");
	memcpy(&answer, got->data, sizeof(answer));
	if (answer.bytes != got->len - sizeof(answer))
		return err_set(err, ERR_ATTACH,
			"The answer of the helper that talks to the JVM is cut off.");
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

int helper_run(const struct helper_request *rq, const struct patience *patience, struct buf *reply,
	struct err *err)
{
	sigset_t all, old;
	struct buf got = {0};
	int ends[2], rc;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return err_set_errno(err, ERR_FAILED, "No socket for the attach helper");
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		child(rq, ends[1]);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return err_set_errno(err, ERR_FAILED, "No process for the attach helper");
	}
	rc = read_all(rq, patience, ends[0], &got, err);
	close(ends[0]);
	if (rc)
		reap(pid);
	else
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	if (!rc)
		rc = take_answer(&got, reply, err);
	buf_done(&got);
	return rc;
}
