/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drops the child's privileges: descriptors, user, capabilities, tracing, limits, and finally system calls.
 *
 * The steps are independent: if the kernel or a container refuses one, the others still hold.
 */
#include "symbols/child/serve.h"

#include <errno.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY 65534
/* A browser's library needs 250 MB of sections and 350 MB of tables. */
#define MEMORY_MAX (2ull << 30)
#define CPU_MAX_S  600   /* for all requests; the parent limits each of them */
#define FILES_MAX  8     /* the socket and the descriptors of a request */
#define CLOSE_MAX  65536 /* without close_range (before Linux 5.9) */

#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1 /* sanitizers map terabytes */
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

static void close_others(int keep)
{
	if (keep > 0)
		for (int fd = 0; fd < keep; fd++)
			close(fd);
#ifdef SYS_close_range
	if (!syscall(SYS_close_range, (unsigned)keep + 1, ~0u, 0u))
		return;
#endif
	for (int fd = keep + 1; fd < CLOSE_MAX; fd++)
		close(fd);
}

/* Root becomes nobody. In a user namespace without that user, only the capabilities are dropped. */
static void drop_privileges(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};

	if (geteuid() == 0) {
		setgroups(0, NULL);
		if (setresgid(NOBODY, NOBODY, NOBODY) && errno != EINVAL && errno != EPERM)
			_exit(1);
		if (setresuid(NOBODY, NOBODY, NOBODY) && errno != EINVAL && errno != EPERM)
			_exit(1);
	}
	syscall(SYS_capset, &head, none);
}

static void limit(int what, rlim_t most)
{
	const struct rlimit l = {most, most};

	setrlimit(what, &l);
}

/* --- system calls ------------------------------------------------------------------------------------ */

#if defined(__x86_64__)
#define FILTER_ARCH AUDIT_ARCH_X86_64
#else
#define FILTER_ARCH AUDIT_ARCH_AARCH64
#endif
#define X32_CALLS 0x40000000u /* x86-64: numbers of the x32 ABI */

/* By path, newfstatat reveals only that a file exists; glibc implements fstat with it. */
static const unsigned short allowed[] = {SYS_read, SYS_pread64, SYS_recvmsg, SYS_sendto, SYS_lseek,
	SYS_fstat, SYS_newfstatat, SYS_close, SYS_munmap, SYS_mremap, SYS_brk, SYS_madvise,
	SYS_futex, SYS_clock_gettime, SYS_getrandom, SYS_sysinfo, SYS_rt_sigreturn,
	SYS_rt_sigprocmask, SYS_restart_syscall, SYS_exit, SYS_exit_group};

/* Calls that are allowed if the argument has none of these bits. */
static const struct {
	unsigned short call, argument;
	unsigned bits;
} without[] = {{SYS_mmap, 2, PROT_EXEC}, {SYS_mprotect, 2, PROT_EXEC}};

#define ARGUMENT_AT(i) ((unsigned)(offsetof(struct seccomp_data, args) + 8 * (i)))
#define LIST(a)        (sizeof(a) / sizeof(*(a)))
#define FILTER_MAX     (16 + 2 * LIST(allowed) + 5 * LIST(without))

/* Installs the filter. fcntl: libelf only asks whether a descriptor is open (F_GETFD, 1) and how (F_GETFL, 3). */
static void filter_calls(void)
{
	const struct sock_filter no = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
				 yes = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
				 kill = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL),
				 number = BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					 offsetof(struct seccomp_data, nr));
	struct sock_filter f[FILTER_MAX];
	struct sock_fprog program = {.filter = f};
	unsigned n = 0;

	f[n++] = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
	f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FILTER_ARCH, 1, 0);
	f[n++] = kill;
	f[n++] = number;
	f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_CALLS, 0, 1);
	f[n++] = kill;
	for (size_t i = 0; i < LIST(allowed); i++) {
		f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i], 0, 1);
		f[n++] = yes;
	}
	for (size_t i = 0; i < LIST(without); i++) {
		f[n++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, without[i].call, 0, 4);
		f[n++] = (struct sock_filter)BPF_STMT(
			BPF_LD | BPF_W | BPF_ABS, ARGUMENT_AT(without[i].argument));
		f[n++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JSET | BPF_K, without[i].bits, 1, 0);
		f[n++] = yes;
		f[n++] = no;
	}
	f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 4);
	f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARGUMENT_AT(1));
	f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1, 1, 0);
	f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 3, 0, 1);
	f[n++] = yes;
	f[n++] = no;
	program.len = (unsigned short)n;
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

void child_confine(int socket)
{
	close_others(socket);
	prctl(PR_SET_NAME, "jhot-elf");
	drop_privileges();
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* after the change of user, which would clear it */
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (!SANITIZED)
		limit(RLIMIT_AS, MEMORY_MAX);
	limit(RLIMIT_CPU, CPU_MAX_S);
	limit(RLIMIT_NOFILE, FILES_MAX);
	limit(RLIMIT_NPROC, 0);
	limit(RLIMIT_FSIZE, 0);
	limit(RLIMIT_CORE, 0);
	filter_calls();
}
