/* SPDX-License-Identifier: Apache-2.0 */
/* System calls that need more than one line. */
#include "sampler/signal/raw.h"

#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#ifndef PR_SET_VMA
#define PR_SET_VMA           0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

#define NS_PER_S 1000000000ull

_Atomic uint8_t raw_forbidden[RAW_CALLS];
bool raw_reads_fs;

long raw_call_3(long n, long a, long b, long c)
{
	int refusal = raw_refusal(n);

	return refusal ? refusal : raw_syscall(n, a, b, c, 0, 0, 0);
}

long raw_call_6(long n, long a, long b, long c, long d, long e, long f)
{
	int refusal = raw_refusal(n);

	return refusal ? refusal : raw_syscall(n, a, b, c, d, e, f);
}

bool raw_may_read_counter(void)
{
	int mode = PR_TSC_ENABLE;
	long error = raw(SYS_prctl, PR_GET_TSC, &mode);

	return mode == PR_TSC_ENABLE && (error >= 0 || error == -EINVAL); /* aarch64: Linux 6.12 */
}

static void map_describe(long at, size_t bytes)
{
	raw(SYS_madvise, at, bytes, MADV_NOHUGEPAGE);
	/* A name for readers of /proc/PID/maps; not all kernels support it. */
	raw(SYS_prctl, PR_SET_VMA, PR_SET_VMA_ANON_NAME, at, bytes, "jhot");
}

void *raw_map(size_t bytes)
{
	long at =
		raw(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at < 0 && at > -4096)
		return NULL;
	map_describe(at, bytes);
	return (void *)at;
}

void *raw_map_ready(size_t bytes)
{
	size_t whole = (bytes + 4095) & ~(size_t)4095;
	size_t ready = whole < RAW_READY ? whole : RAW_READY;
	long at = raw(SYS_mmap, 0, whole + RAW_READY, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at < 0 && at > -4096)
		return NULL;
	/* A huge page starts at a multiple of its size. */
	size_t before = -(size_t)at & (RAW_READY - 1);
	char *base = (char *)at + before;
	if (before)
		raw(SYS_munmap, at, before);
	raw(SYS_munmap, base + whole, RAW_READY - before);
	map_describe((long)base, whole);
	raw(SYS_madvise, base, ready, MADV_HUGEPAGE);
	for (size_t i = 0; i < ready; i += 4096)
		*(volatile char *)(base + i) = 0;
	return base;
}

void raw_unmap(void *memory, size_t bytes)
{
	if (memory)
		raw(SYS_munmap, memory, bytes);
}

int raw_stat(int fd, struct statx *out)
{
	return (int)raw(
		SYS_statx, fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO, out);
}

int raw_stat_path(const char *path, struct statx *out)
{
	return (int)raw(SYS_statx, AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO, out);
}

#define FD_FLOOR 200

long raw_fd_high(long fd)
{
	long high = fd < 0 ? fd : raw(SYS_fcntl, fd, F_DUPFD_CLOEXEC, FD_FLOOR);

	if (fd < 0 || high < 0)
		return fd;
	raw(SYS_close, fd);
	return high;
}

void raw_file_identify(struct raw_file *file, int32_t fd)
{
	struct stat st;

	*file = (struct raw_file){.fd = fd < 0 ? -1 : fd};
	if (fd < 0 || raw(SYS_fstat, fd, &st) < 0)
		return;
	file->device = st.st_dev;
	file->inode = st.st_ino;
}

bool raw_file_same(const struct raw_file *file)
{
	struct stat st;

	return file->fd >= 0 && raw(SYS_fstat, file->fd, &st) >= 0 && st.st_dev == file->device &&
	       st.st_ino == file->inode;
}

void raw_file_close(struct raw_file *file)
{
	if (raw_file_same(file))
		raw(SYS_close, file->fd);
	file->fd = -1;
}

void raw_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns)
{
	struct timespec ts = {(time_t)(timeout_ns / NS_PER_S), (long)(timeout_ns % NS_PER_S)};

	raw(SYS_futex, word, FUTEX_WAIT, expected, &ts);
}

void raw_futex_wake(_Atomic uint32_t *word)
{
	raw(SYS_futex, word, FUTEX_WAKE, INT32_MAX);
}

void raw_sleep(uint64_t ns)
{
	_Atomic uint32_t never = 0;

	raw_futex_wait(&never, 0, ns);
}

uint64_t raw_clock_ns(int32_t clock)
{
	struct timespec now = {0, 0};

	raw(SYS_clock_gettime, clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t raw_limit(int resource)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	raw(SYS_prlimit64, 0, resource, NULL, &limit);
	return limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

#if defined(__x86_64__)
/* Debuggers and libgcc recognize a signal frame by exactly these bytes at its return address. */
void raw_restorer(void) __attribute__((visibility("hidden")));
__asm__(".text\n"
	".p2align 4\n"
	"nop\n"
	".globl raw_restorer\n"
	".hidden raw_restorer\n"
	".type raw_restorer, @function\n"
	"raw_restorer:\n"
	"mov $15, %rax\n"
	"syscall\n"
	".size raw_restorer, . - raw_restorer\n");
#endif

int raw_sigaction_get(int sig, struct raw_sigaction *out)
{
	return (int)raw(SYS_rt_sigaction, sig, NULL, out, sizeof(out->mask));
}

int raw_sigaction_set(int sig, const struct raw_sigaction *in, struct raw_sigaction *old)
{
	return (int)raw(SYS_rt_sigaction, sig, in, old, sizeof(in->mask));
}

struct raw_sigaction raw_sigaction_make(
	void (*handler)(int, siginfo_t *, void *), unsigned long flags, uint64_t mask)
{
	struct raw_sigaction action = {
		.handler = (void *)handler, .flags = flags | SA_SIGINFO, .mask = mask};

#if defined(__x86_64__)
	action.flags |= RAW_SA_RESTORER;
	action.restorer = (void *)raw_restorer;
#else
	action.flags &= ~RAW_SA_RESTORER; /* the kernel's own trampoline */
#endif
	return action;
}
