/* SPDX-License-Identifier: Apache-2.0 */
/* The parent's side: starts the child, sends requests, waits within limits, validates replies. */
#include "symbols/child/child.h"

#include "base/clock.h"
#include "symbols/child/protocol.h"
#include "symbols/child/serve.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGUMENT   "--elf-child"
#define PROGRAM    "/proc/self/exe"
#define CPU_MAX_MS 20000 /* per request; the child itself gives up after about 10 s */
/* Per request, for a child that blocks on an unresponsive file system. */
#define ELAPSED_MAX_MS 60000
#define POLL_MS        50
#define STEP_BYTES     (1u << 20)
#define REAP_TRIES     20
#define REAP_PAUSE_NS  5000000

extern char **environ;

struct elf_child {
	pid_t pid; /* 0: not running */
	int fd;
	clockid_t clock; /* of the child's CPU time */
	unsigned cpu_max_ms, elapsed_max_ms;
	uint64_t cpu_end_ns, elapsed_end_ns; /* of the current request */
	const char *why;                     /* why it was killed; NULL: it was not */
};

/* A complete reply. */
struct reply {
	struct child_reply head;
	struct buf parts[CHILD_PARTS];
};

/* Set at the start of main(): without elf_child_main() a child would run the whole program again. */
static bool can_serve;

bool elf_child_main(int argc, char **argv, void (*before)(int fd))
{
	if (argc == 2 && !strcmp(argv[1], ARGUMENT)) {
		child_serve(STDIN_FILENO, before);
		return true;
	}
	can_serve = true;
	return false;
}

struct elf_child *elf_child_new(void)
{
	struct elf_child *c = xcalloc(1, sizeof(*c));

	elf_child_limit(c, CPU_MAX_MS, ELAPSED_MAX_MS);
	return c;
}

void elf_child_limit(struct elf_child *c, unsigned cpu_ms, unsigned elapsed_ms)
{
	c->cpu_max_ms = cpu_ms;
	c->elapsed_max_ms = elapsed_ms;
}

/* --- lifetime ---------------------------------------------------------------------------------------- */

/* In a session of its own, so that Ctrl-C reaches only the parent. The socket is its stdin; it closes all other descriptors. */
static int spawn(struct elf_child *c, int socket)
{
	char *argv[] = {"jhot", ARGUMENT, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t all, none;

	sigfillset(&all);
	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(
		&attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	int error = posix_spawn(&c->pid, PROGRAM, &actions, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	if (error || clock_getcpuclockid(c->pid, &c->clock))
		c->clock = CLOCK_MONOTONIC;
	return error;
}

static int start(struct elf_child *c, struct err *err)
{
	int fds[2];

	if (!can_serve)
		return err_set(err, ERR_FAILED,
			"This program cannot read ELF files: main() lacks elf_child_main().");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return err_set_errno(
			err, ERR_FAILED, "Cannot start the process that parses ELF files");
	int error = spawn(c, fds[1]);
	close(fds[1]);
	if (error) {
		close(fds[0]);
		c->pid = 0;
		errno = error;
		return err_set_errno(
			err, ERR_FAILED, "Cannot start the process that parses ELF files");
	}
	c->fd = fds[0];
	return 0;
}

/* Kills and reaps the child. Returns its wait status, or -1 if it is stuck in the kernel. */
static int end(struct elf_child *c)
{
	const struct timespec pause = {0, REAP_PAUSE_NS};
	pid_t pid = c->pid, got = 0;
	int status = -1;

	close(c->fd);
	kill(pid, SIGKILL);
	c->pid = 0;
	for (int i = 0; i < REAP_TRIES; i++) {
		got = waitpid(pid, &status, WNOHANG);
		if (got == pid || (got < 0 && errno != EINTR))
			break;
		nanosleep(&pause, NULL);
	}
	return got == pid ? status : -1;
}

void elf_child_stop(struct elf_child *c)
{
	if (c->pid)
		end(c);
}

void elf_child_free(struct elf_child *c)
{
	if (!c)
		return;
	elf_child_stop(c);
	free(c);
}

/* Ends the child after a failed request and reports why. */
static int lost(struct elf_child *c, struct err *err)
{
	const char *why = c->why;
	int status = end(c);

	c->why = NULL;
	if (why)
		return err_set(err, ERR_FAILED, "The process that parses ELF files %s.", why);
	if (status != -1 && WIFEXITED(status))
		return err_set(err, ERR_FAILED,
			"The process that parses ELF files ended by itself (status %d).",
			WEXITSTATUS(status));
	return err_set(err, ERR_FAILED, "The process that parses ELF files crashed (%s).",
		status != -1 && WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "no status");
}

/* --- requests ---------------------------------------------------------------------------------------- */

static bool send_request(struct elf_child *c, uint32_t op, const int *fds, int count)
{
	struct child_request request = {CHILD_MAGIC, op};
	struct iovec data = {&request, sizeof(request)};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(CHILD_DESCRIPTORS * sizeof(int))];
	} control;
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};

	memset(&control, 0, sizeof(control));
	if (count) {
		message.msg_control = control.bytes;
		message.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
		struct cmsghdr *head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
		memcpy(CMSG_DATA(head), fds, (size_t)count * sizeof(int));
	}
	return sendmsg(c->fd, &message, MSG_NOSIGNAL) == (ssize_t)sizeof(request);
}

/* True, with the reason in c->why, when the request is to be given up. */
static bool is_out_of_time(struct elf_child *c, const atomic_bool *stop)
{
	if (stop && atomic_load(stop))
		c->why = "was stopped";
	else if (clock_read_ns(c->clock) > c->cpu_end_ns)
		c->why = "took too much time";
	else if (clock_mono_ns() > c->elapsed_end_ns)
		c->why = "did not answer";
	return c->why != NULL;
}

static bool receive(struct elf_child *c, void *to, size_t bytes, const atomic_bool *stop)
{
	size_t have = 0;

	while (have < bytes) {
		struct pollfd p = {.fd = c->fd, .events = POLLIN};
		int ready = poll(&p, 1, POLL_MS);

		if (is_out_of_time(c, stop))
			return false;
		if (ready <= 0)
			continue;
		ssize_t n = recv(c->fd, (char *)to + have, bytes - have, 0);
		if (n <= 0 && !(n < 0 && errno == EINTR))
			return false;
		have += n > 0 ? (size_t)n : 0;
	}
	return true;
}

/* Memory grows with the received data, not with the stated sizes. */
static bool receive_reply(
	struct elf_child *c, uint32_t op, const atomic_bool *stop, struct reply *out)
{
	if (!receive(c, &out->head, sizeof(out->head), stop))
		return false;
	if (!reply_fits(&out->head, op)) {
		c->why = "sent an invalid reply";
		return false;
	}
	for (int i = 0; i < CHILD_PARTS; i++) {
		struct buf *part = &out->parts[i];

		while (part->len < out->head.bytes[i]) {
			uint64_t left = out->head.bytes[i] - part->len;
			size_t step = left < STEP_BYTES ? (size_t)left : STEP_BYTES;

			buf_reserve(part, step);
			if (!receive(c, part->data + part->len, step, stop))
				return false;
			part->len += step;
			part->data[part->len] = '\0';
		}
	}
	return true;
}

static void reply_done(struct reply *r)
{
	for (int i = 0; i < CHILD_PARTS; i++)
		buf_done(&r->parts[i]);
}

static bool is_consistent(uint32_t op, const struct reply *r)
{
	switch (op) {
	case CHILD_FACTS: return reply_is_facts(&r->parts[0]);
	case CHILD_CRC: return r->parts[0].len == sizeof(uint32_t);
	case CHILD_NAMES: return reply_is_names(&r->parts[0], &r->parts[1]);
	case CHILD_UNWIND: return reply_is_unwind(&r->parts[0]);
	default: return reply_is_exports(&r->parts[0], &r->parts[1]);
	}
}

/* debug_fd -1: none. On success the caller frees the reply with reply_done. */
static int request(struct elf_child *c, uint32_t op, int fd, int debug_fd, const atomic_bool *stop,
	struct reply *out, struct err *err)
{
	const int fds[CHILD_DESCRIPTORS] = {fd, debug_fd};
	int count = fd < 0 ? 0 : debug_fd < 0 ? 1 : 2;

	*out = (struct reply){0};
	if (!c->pid && start(c, err))
		return -1;
	c->cpu_end_ns = clock_read_ns(c->clock) + c->cpu_max_ms * NS_PER_MS;
	c->elapsed_end_ns = clock_mono_ns() + c->elapsed_max_ms * NS_PER_MS;
	if (!send_request(c, op, fds, count) || !receive_reply(c, op, stop, out)) {
		reply_done(out);
		return lost(c, err);
	}
	if (out->head.failed) {
		reply_done(out);
		return err_set(err, ERR_INPUT, "%s", out->head.text);
	}
	if (!is_consistent(op, out)) {
		c->why = "sent an inconsistent reply";
		reply_done(out);
		return lost(c, err);
	}
	return 0;
}

int elf_child_facts(struct elf_child *c, int fd, const atomic_bool *stop, struct elf_facts *out,
	struct err *err)
{
	struct reply r;

	if (request(c, CHILD_FACTS, fd, -1, stop, &r, err))
		return -1;
	memcpy(out, r.parts[0].data, sizeof(*out));
	reply_done(&r);
	return 0;
}

int elf_child_crc(
	struct elf_child *c, int fd, const atomic_bool *stop, uint32_t *out, struct err *err)
{
	struct reply r;

	if (request(c, CHILD_CRC, fd, -1, stop, &r, err))
		return -1;
	memcpy(out, r.parts[0].data, sizeof(*out));
	reply_done(&r);
	return 0;
}

int elf_child_names(struct elf_child *c, int fd, int debug_fd, const atomic_bool *stop,
	struct symtab *out, struct err *err)
{
	struct reply r;

	if (request(c, CHILD_NAMES, fd, debug_fd, stop, &r, err))
		return -1;
	symtab_adopt(out, &r.parts[0], &r.parts[1]);
	out->full = r.head.flags & CHILD_FULL;
	return 0;
}

int elf_child_unwind(struct elf_child *c, int fd, int debug_fd, const atomic_bool *stop,
	struct buf *out, bool *keeps_fp, struct err *err)
{
	struct reply r;

	if (request(c, CHILD_UNWIND, fd, debug_fd, stop, &r, err))
		return -1;
	*out = r.parts[0];
	*keeps_fp = r.head.flags & CHILD_KEEPS_FP;
	return 0;
}

int elf_child_exports(struct elf_child *c, int fd, const atomic_bool *stop, struct buf *out,
	struct buf *texts, struct err *err)
{
	struct reply r;

	if (request(c, CHILD_EXPORTS, fd, -1, stop, &r, err))
		return -1;
	*out = r.parts[0];
	*texts = r.parts[1];
	return 0;
}
