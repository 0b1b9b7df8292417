/* SPDX-License-Identifier: Apache-2.0 */
/* Passing descriptors to another process: the socket may be anything, and the peer may never receive. */
#include "attach/perf/lend.h"

#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SENT_MAX 100000 /* more than a socket buffers */

static const char text[] = "sent along";

/* The number of descriptors received, each of the same file as `file`; -1 on anything else. */
static int received(int from, int file)
{
	int fds[PERF_LEND_MAX], count;
	char bytes[sizeof(text)], control[CMSG_SPACE(sizeof(fds))] = {0};
	struct iovec part = {bytes, sizeof(bytes)};
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control)};
	struct cmsghdr *header = (void *)control;
	struct stat wanted, got;

	if (recvmsg(from, &message, 0) != sizeof(bytes) || memcmp(bytes, text, sizeof(text)) != 0)
		return -1;
	count = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
	memcpy(fds, CMSG_DATA(header), (size_t)count * sizeof(int));
	fstat(file, &wanted);
	for (int i = 0; i < count; i++) {
		if (fstat(fds[i], &got) || got.st_ino != wanted.st_ino)
			return -1;
		close(fds[i]);
	}
	return count;
}

static void test_send(int file)
{
	int pair[2], fds[PERF_LEND_MAX], sent = 0;

	for (int i = 0; i < PERF_LEND_MAX; i++)
		fds[i] = file;
	ok(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), "a socket pair is created");
	ok(!perf_lend_send(pair[0], text, sizeof(text), fds, 1) && received(pair[1], file) == 1,
		"one descriptor is transferred");
	ok(!perf_lend_send(pair[0], text, sizeof(text), fds, PERF_LEND_MAX) &&
			received(pair[1], file) == PERF_LEND_MAX,
		"PERF_LEND_MAX descriptors are transferred in one message");
	while (sent < SENT_MAX && !perf_lend_send(pair[0], text, sizeof(text), fds, PERF_LEND_MAX))
		sent++;
	ok(sent > 0 && sent < SENT_MAX && (errno == EAGAIN || errno == ETOOMANYREFS),
		"sending to a peer that does not receive fails without blocking (after %d "
		"messages)",
		sent);
	close(pair[1]);
	ok(perf_lend_send(pair[0], text, sizeof(text), fds, 1) < 0 &&
			(errno == EPIPE || errno == ECONNRESET),
		"sending to a closed peer fails without SIGPIPE");
	ok(perf_lend_send(file, text, sizeof(text), fds, 1) < 0 && errno == ENOTSOCK,
		"sending to a descriptor that is not a socket fails with ENOTSOCK");
	close(pair[0]);
}

static void test_socket(int file)
{
	int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0), fd = perf_lend_socket(pidfd, file);
	struct stat wanted, got;

	if (fd < 0 && (errno == ENOSYS || errno == EPERM || pidfd < 0)) {
		tap_skip("a descriptor of another process is duplicated",
			"not supported by this kernel");
		return;
	}
	ok(!fstat(file, &wanted) && !fstat(fd, &got) && wanted.st_ino == got.st_ino,
		"a descriptor of another process is duplicated by its number");
	ok(fcntl(fd, F_GETFD) & FD_CLOEXEC, "the duplicate is close-on-exec");
	ok(perf_lend_socket(pidfd, 1 << 20) < 0 && errno == EBADF,
		"an unused descriptor number fails with EBADF");
	close(fd);
	close(pidfd);
}

int main(void)
{
	int file = open("/dev/zero", O_RDONLY);

	test_send(file);
	test_socket(file);
	close(file);
	return tap_done();
}
