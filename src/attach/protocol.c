/* SPDX-License-Identifier: Apache-2.0 */
/* The attach protocol: wakes the listener, sends a request, reads the reply. */
#include "attach/protocol.h"

#include "attach/jvm/listener.h"
#include "attach/limits.h"
#include "attach/proc.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define VERSION     "1"
#define ARG_BYTES   1024 /* size of the listener's argument buffer before JDK 24 */
#define REPLY_LIMIT (64u << 20)

/* Polling for the socket: the interval is 1/8 of the time already waited, within these bounds. */
#define POLL_MIN_US 500
#define POLL_MAX_US 20000
/* A trigger file younger than this may be in use by another tool; the JDK's own tools wait a little less for a socket. */
#define BUSY_S 15
/* A SIGQUIT is taken to be lost after this time, longer than any pause that a JVM survives, and may be repeated. */
#define SENT_S 600
/* Polling interval of the detached process that removes a trigger file. */
#define LATER_POLL_MS 500

/* --- waiting ----------------------------------------------------------------------------------------- */

/* Waits until sock is readable (-1: for the time only). 1: readable, 0: timeout, -1 with an error: caller or JVM has ended. */
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
		return err_set(err, ERR_GONE, "JVM %d exited during the attach.", (int)p->jvm->pid);
	return err_set(err, ERR_FAILED, "The attach was cancelled: jhot itself has exited.");
}

/* --- the socket -------------------------------------------------------------------------------------- */

/*
 * Identifies the peer by its kernel-supplied credentials (SO_PEERCRED), which cannot be forged by replacing the socket file.
 * Nothing is sent to any process but the JVM.
 */
static bool is_the_jvm(int sock, const struct hotspot *jvm, struct err *err)
{
	struct ucred peer = {0};
	socklen_t bytes = sizeof(peer);

	if (!getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) && peer.pid == jvm->pid &&
		peer.uid == jvm->euid)
		return true;
	err_set(err, ERR_ATTACH,
		"%s/.java_pid%d belongs to process %d of uid %u, not to JVM %d. jhot sent it "
		"nothing.",
		jvm->temp, (int)jvm->nspid, (int)peer.pid, (unsigned)peer.uid, (int)jvm->pid);
	err_hint(err, "give each container its own /tmp: the socket may belong to a JVM with the "
		      "same pid in another container");
	return false;
}

#define NO_SOCKET -1
#define FAILED    -2

/* Classifies a failed connect: NO_SOCKET if the JVM has no listener yet, else FAILED, with an error. */
static int no_socket(const struct hotspot *jvm, int error, struct err *err)
{
	/* Only these errors prove that there is no listener. With a running one, SIGQUIT would make the JVM print all stacks. */
	if (error == ENOENT || error == ECONNREFUSED || error == EPROTOTYPE)
		return NO_SOCKET;
	errno = error;
	err_set_errno(
		err, ERR_ATTACH, "The attach socket of JVM %d cannot be reached", (int)jvm->pid);
	return FAILED;
}

static void socket_name(struct sockaddr_un *addr, const struct protocol *p)
{
	*addr = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(addr->sun_path, sizeof(addr->sun_path), ".java_pid%d", (int)p->jvm->nspid);
}

/* Connects to the JVM's socket in the current folder; NO_SOCKET without an error, FAILED with one. */
static int try_connect(const struct protocol *p, struct err *err)
{
	const struct timeval patience = {p->listen_ms / 1000, p->listen_ms % 1000 * 1000};
	const struct hotspot *jvm = p->jvm;
	struct sockaddr_un addr;
	struct stat st;

	socket_name(&addr, p);
	if (lstat(addr.sun_path, &st))
		return no_socket(jvm, errno, err);
	if (!S_ISSOCK(st.st_mode) || st.st_uid != jvm->euid)
		return NO_SOCKET;
	int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return no_socket(jvm, errno, err);
	/* Limits connect, if the peer listens but never accepts, and send. */
	setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (!connect(sock, (const struct sockaddr *)&addr, sizeof(addr))) {
		if (is_the_jvm(sock, jvm, err))
			return sock;
		close(sock);
		return FAILED;
	}
	int error = errno;
	close(sock);
	if (error != EAGAIN)
		return no_socket(jvm, error, err);
	err_set(err, ERR_ATTACH,
		"JVM %d has an attach socket, but did not accept the connection within %d s.",
		(int)jvm->pid, p->listen_ms / 1000);
	return FAILED;
}

/* The inode at the socket's path; 0: none. */
static ino_t socket_inode(const struct protocol *p)
{
	struct sockaddr_un addr;
	struct stat st;

	socket_name(&addr, p);
	return lstat(addr.sun_path, &st) ? 0 : st.st_ino;
}

/* Polls for the socket with increasing intervals. A socket, NO_SOCKET on timeout, or FAILED with an error. */
static int poll_socket(const struct protocol *p, struct err *err)
{
	uint64_t start = clock_mono_ns(), now = start,
		 end = start + (uint64_t)p->listen_ms * NS_PER_MS;

	for (; now < end; now = clock_mono_ns()) {
		uint64_t step = (now - start) / 8;
		int sock = try_connect(p, err);

		if (sock != NO_SOCKET)
			return sock;
		if (step < POLL_MIN_US * NS_PER_US)
			step = POLL_MIN_US * NS_PER_US;
		if (step > POLL_MAX_US * NS_PER_US)
			step = POLL_MAX_US * NS_PER_US;
		if (wait_for(p, -1, step, err) < 0)
			return FAILED;
	}
	return NO_SOCKET;
}

/* --- the trigger file -------------------------------------------------------------------------------- */

#define TRIGGER_NAME  ".attach_pid%d"
#define TRIGGER_BYTES 32

/*
 * The trigger file .attach_pidN, which the JVM's Signal Dispatcher stats after a SIGQUIT. jhot removes write permission
 * (SENT_MODE) from its file right before the signal: a file with that mode means that a SIGQUIT may still be pending.
 */
struct trigger {
	char name[TRIGGER_BYTES];
	int dir; /* AT_FDCWD (the JVM's temporary folder) or its working folder */
	int fd;
	ino_t socket_before; /* inode at the socket's path before the signal; 0: none */
	enum {
		TRIGGER_OURS,
		/* Created by another tool less than BUSY_S ago, so it may be waking the JVM right now. */
		TRIGGER_BUSY,
		/* A jhot has sent SIGQUIT, and the JVM has not handled it yet. */
		TRIGGER_SENT,
	} state;
};

#define NEW_MODE  0600
#define SENT_MODE 0400

/* Time since a wall-clock timestamp; UINT64_MAX for one in the future, which a clock change has invalidated. */
static uint64_t age_ns(const struct timespec *then)
{
	uint64_t now = clock_wall_ns(),
		 ns = (uint64_t)then->tv_sec * NS_PER_S + (uint64_t)then->tv_nsec;

	if (ns > now + 2 * NS_PER_S)
		return UINT64_MAX;
	return now > ns ? now - ns : 0;
}

/* Uses an existing trigger file. False with errno if it is not owned by the JVM's user. */
static bool adopt_trigger(struct trigger *t, int dir, const struct protocol *p)
{
	int64_t age_s = proc_uptime_s(p->jvm->start_ticks);
	struct stat st;

	t->fd = openat(dir, t->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (t->fd < 0)
		return false;
	if (fstat(t->fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != p->jvm->euid) {
		close(t->fd);
		t->fd = -1;
		errno = EEXIST;
		return false;
	}
	t->dir = dir;
	t->state = TRIGGER_OURS;
	if ((st.st_mode & 07777) == SENT_MODE && age_ns(&st.st_ctim) < SENT_S * NS_PER_S &&
		(age_s < 0 || age_ns(&st.st_ctim) < ((uint64_t)age_s + 2) * NS_PER_S))
		t->state = TRIGGER_SENT;
	else if ((st.st_mode & 07777) != SENT_MODE && age_ns(&st.st_mtim) < BUSY_S * NS_PER_S)
		t->state = TRIGGER_BUSY;
	return true;
}

static bool make_trigger(struct trigger *t, int dir, const struct protocol *p)
{
	struct stat st;

	t->fd = openat(
		dir, t->name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, NEW_MODE);
	if (t->fd < 0 && errno == EEXIST && adopt_trigger(t, dir, p))
		return true;
	if (t->fd < 0)
		return false;
	if (!fstat(t->fd, &st) && st.st_uid == p->jvm->euid) {
		t->dir = dir;
		t->state = TRIGGER_OURS;
		return true;
	}
	int error = errno ? errno : EPERM;
	/* The file system assigns another owner (e.g. NFS root squash), so the JVM would reject the file. */
	unlinkat(dir, t->name, 0);
	close(t->fd);
	t->fd = -1;
	errno = error;
	return false;
}

/*
 * Creates or adopts the trigger. The JVM checks its working folder first: any file of this name there, of any owner, hides
 * the one in the temporary folder.
 */
static int place_trigger(struct trigger *t, const struct protocol *p, struct err *err)
{
	struct stat st;

	*t = (struct trigger){.fd = -1};
	snprintf(t->name, sizeof(t->name), TRIGGER_NAME, (int)p->jvm->nspid);
	/* EACCES: the JVM, with the same ids, cannot find anything there either. */
	if (p->cwd < 0 && p->cwd != -EACCES)
		return err_set(err, ERR_ATTACH, "Cannot enter the working folder of JVM %d: %s",
			(int)p->jvm->pid, strerror(-p->cwd));
	if (p->cwd >= 0 && !fstatat(p->cwd, t->name, &st, 0)) {
		if (adopt_trigger(t, p->cwd, p))
			return 0;
		err_set(err, ERR_ATTACH,
			"%s in the working folder of JVM %d prevents attaching: it belongs to "
			"another user, or is not a regular file.",
			t->name, (int)p->jvm->pid);
		err_hint(err, "sudo rm /proc/%d/cwd/%s", (int)p->jvm->pid, t->name);
		return -1;
	}
	if (make_trigger(t, AT_FDCWD, p) || (p->cwd >= 0 && make_trigger(t, p->cwd, p)))
		return 0;
	err_set_errno(err, ERR_ATTACH,
		"Cannot create the file %s, which wakes the JVM's attach listener, in its %s or in "
		"its working folder",
		t->name, p->jvm->temp);
	err_hint(err, "make its %s writable: the JVM creates its attach socket there, too",
		p->jvm->temp);
	return -1;
}

/* Removes a trigger file of the JVM's user, which a JVM that already listens does not need. */
static void remove_stale_trigger(const struct protocol *p)
{
	const int dirs[] = {AT_FDCWD, p->cwd};
	char name[TRIGGER_BYTES];
	struct stat st;

	snprintf(name, sizeof(name), TRIGGER_NAME, (int)p->jvm->nspid);
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		if ((dirs[i] == AT_FDCWD || dirs[i] >= 0) &&
			!fstatat(dirs[i], name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
			st.st_uid == p->jvm->euid)
			unlinkat(dirs[i], name, 0);
}

/* --- waking the listener --------------------------------------------------------------------------- */

/*
 * Sends SIGQUIT to the VM thread, right after the last check that this is still the same process and that HotSpot handles the
 * signal. True when the signal was sent, or one is already pending.
 */
static bool signal_listener(struct trigger *t, const struct protocol *p, struct err *err)
{
	const struct hotspot *jvm = p->jvm;
	struct proc_status status;
	struct proc_cpu cpu;
	pid_t vm_thread = 0;

	if (!proc_status(jvm->pid, &status) && status.tgid == jvm->pid &&
		status.euid == jvm->euid && !proc_cpu(jvm->pid, &cpu) &&
		cpu.start_ticks == jvm->start_ticks)
		vm_thread = listener_wakes(jvm->pid, jvm->full_signals);
	if (!vm_thread) {
		err_set(err, ERR_ATTACH,
			"Process %d changed while it was checked: it does not handle SIGQUIT.",
			(int)jvm->pid);
		return false;
	}
	if (fchmod(t->fd, SENT_MODE)) {
		err_set_errno(err, ERR_ATTACH, "Cannot change the mode of %s", t->name);
		return false;
	}
	t->state = TRIGGER_SENT;
	t->socket_before = socket_inode(p);
	if (!proc_thread_status(jvm->pid, vm_thread, &status) &&
		(status.sig_pending >> (SIGQUIT - 1)) & 1)
		return true;
	/* The VM thread only: a thread of the program may consume process-directed signals (sigwait, signalfd). */
	if (!syscall(SYS_tgkill, jvm->pid, vm_thread, SIGQUIT))
		return true;
	t->state = TRIGGER_OURS;
	err_set_errno(err, ERR_ATTACH, "Cannot send a signal to JVM %d", (int)jvm->pid);
	return false;
}

/* Waits up to wait_ns; true when the JVM has opened a new socket since the signal, or has ended. */
static bool quit_is_handled(const struct trigger *t, const struct protocol *p, uint64_t wait_ns)
{
	struct protocol without_caller = *p;
	struct err none = {0};

	without_caller.caller = -1;
	if (wait_for(&without_caller, -1, wait_ns, &none) < 0 ||
		(p->pidfd < 0 && kill(p->jvm->pid, 0) && errno == ESRCH))
		return true;
	ino_t now = socket_inode(p);
	return now && now != t->socket_before;
}

/* Closes all descriptors except a and b; either may be -1. */
static void close_all_but(int a, int b)
{
	struct rlimit limit;
	int end = 1 << 16;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < (rlim_t)end)
		end = (int)limit.rlim_cur;
	for (int fd = 0; fd < end; fd++)
		if (fd != a && fd != b)
			close(fd);
}

/*
 * The trigger of a SIGQUIT that the JVM has not handled yet must stay: without it, HotSpot would print all stacks. A detached
 * process removes it when the JVM has opened its socket or has ended, at most SENT_S seconds later. If that process cannot be
 * started, is killed or times out, the next attach removes the trigger (remove_stale_trigger).
 */
static void remove_trigger_later(const struct trigger *t, const struct protocol *p)
{
	static const int ending_signals[] = {SIGHUP, SIGINT, SIGTERM};
	uint64_t end = clock_mono_ns() + SENT_S * NS_PER_S;
	sigset_t none;

	if (quit_is_handled(t, p, 0)) {
		unlinkat(t->dir, t->name, 0);
		return;
	}
	pid_t pid = fork();
	if (pid > 0)
		waitpid(pid, NULL, 0);
	if (pid != 0)
		return;
	if (fork() != 0)
		_exit(0);
	close_all_but(p->pidfd, t->dir);
	for (size_t i = 0; i < sizeof(ending_signals) / sizeof(ending_signals[0]); i++)
		signal(ending_signals[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	while (clock_mono_ns() < end)
		if (quit_is_handled(t, p, LATER_POLL_MS * NS_PER_MS)) {
			unlinkat(t->dir, t->name, 0);
			break;
		}
	_exit(0);
}

static int report_no_socket(const struct protocol *p, struct err *err)
{
	err_set(err, ERR_ATTACH, "JVM %d did not open its attach socket within %d s.",
		(int)p->jvm->pid, p->listen_ms / 1000);
	err_hint(err,
		"try again: a JVM that is starting, swapping or in a long pause answers later");
	err_hint(err, "check whether it was started with -XX:+DisableAttachMechanism");
	err_detail(err, "no %s/.java_pid%d in its root after SIGQUIT", p->jvm->temp,
		(int)p->jvm->nspid);
	return NO_SOCKET;
}

static int report_busy(const struct trigger *t, const struct protocol *p, struct err *err)
{
	if (t->state == TRIGGER_BUSY)
		err_set(err, ERR_ATTACH,
			"Another tool has begun to attach to JVM %d (%s), and the JVM has not "
			"opened "
			"its attach socket within %d s.",
			(int)p->jvm->pid, t->name, p->listen_ms / 1000);
	else
		err_set(err, ERR_ATTACH,
			"JVM %d has not handled an earlier SIGQUIT yet. jhot does not send a "
			"second "
			"one: the JVM would print a thread dump.",
			(int)p->jvm->pid);
	err_hint(err, "try again later: a JVM that is stopped, swapping or in a long pause answers "
		      "afterwards");
	err_hint(err, "jhot dump %d      shows what its threads do, from outside the JVM",
		(int)p->jvm->pid);
	return NO_SOCKET;
}

/*
 * Wakes the listener, and waits for its socket. At most one SIGQUIT may be pending, since HotSpot prints all stacks for a
 * second one: while another tool is waking the JVM or an earlier SIGQUIT of jhot is unhandled, this only waits.
 */
static int wake_listener(const struct protocol *p, struct err *err)
{
	struct trigger trigger;
	bool sent = false;
	int sock;

	if (limits_check_listener(p->jvm, err) || place_trigger(&trigger, p, err))
		return NO_SOCKET;
	if (trigger.state == TRIGGER_OURS) {
		sock = try_connect(p, err);
		if (sock == NO_SOCKET && signal_listener(&trigger, p, err)) {
			sent = true;
			sock = poll_socket(p, err);
			if (sock == NO_SOCKET)
				report_no_socket(p, err);
		}
	} else {
		sock = poll_socket(p, err);
		if (sock == NO_SOCKET)
			report_busy(&trigger, p, err);
	}
	if (sock < 0 && sent)
		remove_trigger_later(&trigger, p);
	else if (sock >= 0 || trigger.state == TRIGGER_OURS)
		unlinkat(trigger.dir, trigger.name, 0);
	if (trigger.fd >= 0)
		close(trigger.fd);
	return sock;
}

int protocol_connect(const struct protocol *p, struct err *err)
{
	int sock = try_connect(p, err);

	if (sock == NO_SOCKET)
		return wake_listener(p, err);
	if (sock >= 0)
		remove_stale_trigger(p);
	return sock;
}

/* --- request and reply ------------------------------------------------------------------------------- */

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
				"An argument has %zu bytes, and a JVM accepts at most %d: %s", len,
				ARG_BYTES, args[i]);
		else
			buf_add(&request, args[i] ? args[i] : "", len + 1);
	}
	while (!rc && at < request.len) {
		ssize_t n = send(sock, request.data + at, request.len - at, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			rc = err_set_errno(err, ERR_ATTACH,
				"The JVM closed the connection during the request");
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

		if (ready < 0)
			return -1;
		if (ready == 0)
			continue;
		buf_reserve(reply, 65536);
		ssize_t n = recv(sock, reply->data + reply->len, 65536, MSG_DONTWAIT);
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
	err_set(err, ERR_ATTACH, "JVM %d accepted the request but did not answer within %d s.",
		(int)p->jvm->pid, p->reply_ms / 1000);
	err_hint(err,
		"try again: a JVM in a long pause, or with another tool attached, answers later");
	return -1;
}
