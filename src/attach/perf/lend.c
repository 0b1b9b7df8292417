/* SPDX-License-Identifier: Apache-2.0 */
/* System calls without glibc wrappers: pidfd_getfd, perf_event_open. */
#include "attach/perf/lend.h"

#include "base/cpu_clock.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438 /* the same on every CPU */
#endif

#define LEND_PERIOD (1ull << 50) /* placeholder: the recipient sets the period */

int perf_lend_socket(int pidfd, int fd)
{
	return (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
}

int perf_lend_open(pid_t tid, bool kernel_only)
{
	struct perf_event_attr attr = cpu_clock(LEND_PERIOD);

	attr.exclude_user = kernel_only;
	int fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0 || errno != EINVAL)
		return fd;
	attr.read_format = 0; /* before Linux 6.0 */
	return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

int perf_lend_send(int socket, const void *bytes, size_t len, const int *fds, unsigned count)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int) * PERF_LEND_MAX)];
	} control = {.header = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
	struct iovec text = {(void *)(uintptr_t)bytes, len};
	struct msghdr message = {.msg_iov = &text,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = CMSG_SPACE(count * sizeof(int))};

	control.header.cmsg_len = CMSG_LEN(count * sizeof(int));
	memcpy(CMSG_DATA(&control.header), fds, count * sizeof(int));
	return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -1 : 0;
}
