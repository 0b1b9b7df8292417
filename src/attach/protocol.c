/* SPDX-License-Identifier: Apache-2.0 */
/* The attach protocol: wake the listener, send a request, read the answer. */
#include "attach/protocol.h"

#include "attach/limits.h"
#include "attach/proc.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define VERSION       "1"
#define ARG_BYTES     1024 /* the listener's buffer for one argument, before JDK 24 */
#define FIRST_STEP_US 500
#define LAST_STEP_US  20000
#define LEFT_MS       2000 /* less than a caller that gives up waits for its helper (REAP_TURNS) */
#define REPLY_LIMIT   (64u << 20)

/* --- waiting ------------------------------------------------------------------------------------------ */

/*
 * Wait for sock (-1: for the time only). 1 = sock is ready, 0 = the time is over, -1 = the caller or the
 * JVM is gone.
 */
static int wait_for(const struct protocol *p, int sock, uint64_t ns, struct err *err)
{
	struct pollfd fds[] = {{sock, POLLIN, 0}, {p->pidfd, POLLIN, 0}, {p->caller, POLLIN, 0}};
	struct timespec ts = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
	int n = ppoll(fds, 3, &ts, NULL);

	if (n <= 0)
		return 0;
	if (fds[0].revents)
		return 1;
	if (fds[1].revents)
		return err_set(err, ERR_GONE, "JVM %d ended while it was asked.", (int)p->jvm->pid);
	return err_set(err, ERR_FAILED, "The attach was given up: jhot itself has ended.");
}

/* --- the socket --------------------------------------------------------------------------------------- */

/*
 * Who listens at the other end, as the kernel knows it: whatever was put under the name, between a look and the
 * connection or before. Only the JVM itself is told anything.
 */
static bool is_the_jvm(int sock, const struct hotspot *jvm, struct err *err)
{
	struct ucred peer = {0};
	socklen_t bytes = sizeof(peer);

	if (!getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) && peer.pid == jvm->pid &&
		peer.uid == jvm->euid)
		return true;
	err_set(err, ERR_ATTACH,
		"Behind /tmp/.java_pid%d is process %d of uid %u, and not JVM %d. It was told "
		"nothing.",
		(int)jvm->nspid, (int)peer.pid, (unsigned)peer.uid, (int)jvm->pid);
	err_hint(err, "remove /proc/%d/root/tmp/.java_pid%d if it is nobody's", (int)jvm->pid,
		(int)jvm->nspid);
	return false;
}

#define NO_SOCKET -1
#define OTHERS    -2

/* The rest is no word of the JVM's: SIGQUIT has one whose listener runs write all its stacks to its output. */
static bool nobody_listens(int error)
{
	return error == ENOENT || error == ECONNREFUSED || error == EPROTOTYPE;
}

/* no_socket: NO_SOCKET where nobody listens; else OTHERS with an error. */
static int no_socket(const struct hotspot *jvm, int error, struct err *err)
{
	if (nobody_listens(error))
		return NO_SOCKET;
	errno = error;
	err_set_errno(
		err, ERR_ATTACH, "The attach socket of JVM %d cannot be reached", (int)jvm->pid);
	return OTHERS;
}

static void socket_name(struct sockaddr_un *addr, const struct protocol *p)
{
	*addr = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(addr->sun_path, sizeof(addr->sun_path), ".java_pid%d", (int)p->jvm->nspid);
}

/* A connected socket of the JVM's own in the current folder; NO_SOCKET without an error, OTHERS with one. */
static int try_connect(const struct protocol *p, struct err *err)
{
	const struct timeval patience = {p->listen_ms / 1000, p->listen_ms % 1000 * 1000};
	const struct hotspot *jvm = p->jvm;
	struct sockaddr_un addr;
	struct stat st;
	int sock, error;

	socket_name(&addr, p);
	if (lstat(addr.sun_path, &st))
		return no_socket(jvm, errno, err);
	if (!S_ISSOCK(st.st_mode) || st.st_uid != jvm->euid)
		return NO_SOCKET;
	sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return no_socket(jvm, errno, err);
	/* Where somebody listens and accepts nobody; of what is sent, too. */
	setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (!connect(sock, (const struct sockaddr *)&addr, sizeof(addr))) {
		if (is_the_jvm(sock, jvm, err))
			return sock;
		close(sock);
		return OTHERS;
	}
	error = errno;
	close(sock);
	if (error != EAGAIN)
		return no_socket(jvm, error, err);
	err_set(err, ERR_ATTACH, "JVM %d has an attach socket, but accepts nobody within %d s.",
		(int)jvm->pid, p->listen_ms / 1000);
	return OTHERS;
}

#define TRIGGER_NAME 32

/* The JVM stats this name in its working folder, then in /tmp, and compares the owner with itself. */
struct trigger {
	char name[TRIGGER_NAME];
	int dir;
	bool others; /* it was there already, and so lately that who made it may be waking the JVM just now */
};

static void trigger_name(char name[TRIGGER_NAME], const struct protocol *p)
{
	snprintf(name, TRIGGER_NAME, ".attach_pid%d", (int)p->jvm->nspid);
}

static bool make_trigger(struct trigger *t, int dir, const struct protocol *p)
{
	int fd = openat(dir, t->name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
	int error = fd < 0 ? errno : EPERM;
	struct stat st;

	if (fd >= 0)
		close(fd);
	if (!fstatat(dir, t->name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
		st.st_uid == p->jvm->euid) {
		t->dir = dir;
		t->others = fd < 0 && clock_wall_ns() < (uint64_t)st.st_mtime * NS_PER_S +
								NS_PER_S +
								(uint64_t)p->listen_ms * NS_PER_MS;
		return true;
	}
	if (fd >= 0) /* a file system that gives files to somebody else: of no use to the JVM */
		unlinkat(dir, t->name, 0);
	errno = error;
	return false;
}

/* Without a pidfd (before Linux 5.3) handles_quit has just said which process the number is. */
static int send_quit(const struct protocol *p)
{
	int rc = -1;

	if (p->pidfd >= 0)
		rc = (int)syscall(SYS_pidfd_send_signal, p->pidfd, SIGQUIT, NULL, 0);
	if (p->pidfd < 0 || (rc && (errno == ENOSYS || errno == EPERM)))
		rc = kill(p->jvm->pid, SIGQUIT);
	return rc;
}

/* The last look before the signal: is it the process that was looked at, not a thread, and is its handler there? */
static bool handles_quit(const struct hotspot *jvm)
{
	struct proc_status status;
	struct proc_cpu cpu;

	return !proc_status(jvm->pid, &status) && status.tgid == jvm->pid &&
	       ((status.sig_caught >> (SIGQUIT - 1)) & 1) && status.euid == jvm->euid &&
	       !proc_cpu(jvm->pid, &cpu) && cpu.start_ticks == jvm->start_ticks;
}

/* A socket, NO_SOCKET when the time is over, or OTHERS with an error. */
static int poll_socket(const struct protocol *p, struct err *err)
{
	uint64_t start = clock_mono_ns(), now = start,
		 end = start + (uint64_t)p->listen_ms * NS_PER_MS;

	for (; now < end; now = clock_mono_ns()) {
		uint64_t step = (now - start) / 8;
		int sock = try_connect(p, err);

		if (sock != NO_SOCKET)
			return sock;
		if (step < FIRST_STEP_US * NS_PER_US)
			step = FIRST_STEP_US * NS_PER_US;
		if (step > LAST_STEP_US * NS_PER_US)
			step = LAST_STEP_US * NS_PER_US;
		if (wait_for(p, -1, step, err) < 0)
			return OTHERS;
	}
	return NO_SOCKET;
}

/*
 * A JVM that has been signalled and finds no trigger writes all its stacks; one whose socket was deleted never makes another.
 * So the trigger stays until it has looked, which its socket tells, also where nobody can use that any more.
 */
static void await_look(const struct protocol *p)
{
	uint64_t end = clock_mono_ns() + LEFT_MS * NS_PER_MS;
	struct protocol alone = *p;
	struct sockaddr_un addr;
	struct err why = {0};
	struct stat st;

	alone.caller = -1;
	socket_name(&addr, p);
	while (lstat(addr.sun_path, &st) && clock_mono_ns() < end &&
		wait_for(&alone, -1, LAST_STEP_US * NS_PER_US, &why) >= 0)
		;
}

static int await_socket(const struct protocol *p, struct err *err)
{
	int sock = poll_socket(p, err);

	if (sock == OTHERS)
		await_look(p);
	if (sock != NO_SOCKET)
		return sock;
	err_set(err, ERR_ATTACH, "JVM %d did not open its attach socket within %d s.",
		(int)p->jvm->pid, p->listen_ms / 1000);
	err_hint(err,
		"try again: a JVM that is starting, swapping or in a long pause answers later");
	err_hint(err, "look whether it was started with -XX:+DisableAttachMechanism");
	err_detail(err, "no /tmp/.java_pid%d in its root after SIGQUIT", (int)p->jvm->nspid);
	return -1;
}

/* What one that was killed has left: of no use to a JVM that listens. */
static void drop_trigger(const struct protocol *p)
{
	const int dirs[] = {AT_FDCWD, p->cwd};
	char name[TRIGGER_NAME];
	struct stat st;

	trigger_name(name, p);
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		if ((dirs[i] == AT_FDCWD || dirs[i] >= 0) &&
			!fstatat(dirs[i], name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
			st.st_uid == p->jvm->euid)
			unlinkat(dirs[i], name, 0);
}

static int place_trigger(struct trigger *t, const struct protocol *p, struct err *err)
{
	trigger_name(t->name, p);
	if (make_trigger(t, AT_FDCWD, p) || (p->cwd >= 0 && make_trigger(t, p->cwd, p)))
		return 0;
	err_set_errno(err, ERR_ATTACH,
		"The file %s that wakes the JVM's attach listener can be made "
		"neither in its /tmp nor in its working folder",
		t->name);
	err_hint(err, "make its /tmp writable: the JVM needs it for its attach socket, too");
	return -1;
}

static int signal_listener(const struct protocol *p, struct err *err)
{
	if (!handles_quit(p->jvm))
		return err_set(err, ERR_ATTACH,
			"Process %d changed while it was looked at: it does not handle SIGQUIT.",
			(int)p->jvm->pid);
	if (send_quit(p))
		return err_set_errno(
			err, ERR_ATTACH, "JVM %d cannot be signalled", (int)p->jvm->pid);
	return await_socket(p, err);
}

/*
 * A second SIGQUIT would have the JVM write all its stacks. So whoever has made the trigger wakes it, and only if it has not
 * been woken since; another waits for that, or until it is clear that nobody is at it any more.
 */
static int wake_listener(const struct protocol *p, struct err *err)
{
	struct trigger trigger = {0};
	int sock;

	if (limits_check(p->jvm, err) || place_trigger(&trigger, p, err))
		return -1;
	sock = trigger.others ? poll_socket(p, err) : try_connect(p, err);
	if (sock == NO_SOCKET) {
		trigger.others = false;
		sock = signal_listener(p, err);
	}
	if (sock >= 0 || !trigger.others)
		unlinkat(trigger.dir, trigger.name, 0);
	return sock;
}

int protocol_connect(const struct protocol *p, struct err *err)
{
	int sock = try_connect(p, err);

	if (sock == NO_SOCKET)
		return wake_listener(p, err);
	if (sock >= 0)
		drop_trigger(p);
	return sock;
}

/* --- the conversation --------------------------------------------------------------------------------- */

int protocol_send(int sock, const char *op, const char *const args[3], struct err *err)
{
	struct buf request = {0};
	size_t at = 0;
	int rc = 0;

	buf_add(&request, VERSION, sizeof(VERSION));
	buf_add(&request, op, strlen(op) + 1);
	for (int i = 0; i < 3 && !rc; i++) {
		size_t len = args[i] ? strlen(args[i]) : 0;

		if (len > ARG_BYTES)
			rc = err_set(err, ERR_ATTACH,
				"An argument is %zu bytes long, and a JVM takes %d: %s", len,
				ARG_BYTES, args[i]);
		else
			buf_add(&request, args[i] ? args[i] : "", len + 1);
	}
	while (!rc && at < request.len) {
		ssize_t n = send(sock, request.data + at, request.len - at, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			rc = err_set_errno(err, ERR_ATTACH, "The JVM hung up on the request");
		else if (n > 0)
			at += (size_t)n;
	}
	buf_done(&request);
	return rc;
}

int protocol_receive(const struct protocol *p, int sock, struct buf *reply, struct err *err)
{
	uint64_t end = clock_mono_ns() + (uint64_t)p->reply_ms * NS_PER_MS, now;

	while ((now = clock_mono_ns()) < end && reply->len < REPLY_LIMIT) {
		int ready = wait_for(p, sock, end - now, err);
		ssize_t n;

		if (ready < 0)
			return -1;
		if (ready == 0)
			continue;
		buf_reserve(reply, 65536);
		n = recv(sock, reply->data + reply->len, 65536, MSG_DONTWAIT);
		if (n == 0)
			return 0;
		if (n < 0 && errno == ECONNRESET)
			return 0;
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return err_set_errno(err, ERR_ATTACH, "The JVM's answer cannot be read");
		if (n > 0) {
			reply->len += (size_t)n;
			reply->data[reply->len] = '\0';
		}
	}
	err_set(err, ERR_ATTACH, "JVM %d took the request but did not answer within %d s.",
		(int)p->jvm->pid, p->reply_ms / 1000);
	err_hint(err,
		"try again: a JVM in a long pause, or with another tool attached, answers later");
	return -1;
}
