/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded into jhot: makes ptrace fail, as kernel.yama.ptrace_scope 3 does. FAKE_SCOPE is the value that the
 * setting shows.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

long ptrace(int request, ...);

long ptrace(int request, ...)
{
	(void)request;
	errno = EPERM;
	return -1;
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long locals,
	const struct iovec *remote, unsigned long remotes, unsigned long flags)
{
	(void)pid, (void)local, (void)locals, (void)remote, (void)remotes, (void)flags;
	errno = EPERM;
	return -1;
}

static int open_scope(const char *scope)
{
	int fd = memfd_create("scope", MFD_CLOEXEC);

	if (fd < 0 || write(fd, scope, strlen(scope)) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		abort();
	return fd;
}

int open(const char *path, int flags, ...)
{
	const char *scope = getenv("FAKE_SCOPE");
	int mode = 0;
	va_list ap;

	if (scope && !strcmp(path, "/proc/sys/kernel/yama/ptrace_scope"))
		return open_scope(scope);
	va_start(ap, flags);
	if (flags & (O_CREAT | __O_TMPFILE))
		mode = va_arg(ap, int);
	va_end(ap);
	return openat(AT_FDCWD, path, flags, mode);
}
