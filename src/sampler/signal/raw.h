/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls without libc: they touch neither errno nor other thread-local storage, bind to no versioned symbol, and
 * are signal-safe. Results are the kernel's: >= 0, or -errno. Each call has a row in wire/calls.h.
 *
 * struct raw_sigaction is the kernel's own layout (include/linux/signal_types.h), the same on both CPUs.
 */
#ifndef JHOT_SAMPLER_SIGNAL_RAW_H
#define JHOT_SAMPLER_SIGNAL_RAW_H

#include <fcntl.h>
#include <linux/stat.h> /* struct statx, which some libcs lack */
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#if defined(__x86_64__)
static inline long raw_syscall(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}
#elif defined(__aarch64__)
static inline long raw_syscall(long n, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}
#else
#error "unsupported CPU: define raw_syscall"
#endif

/*
 * Calls that a seccomp filter forbids are never made, since the filter may kill the process for them. Indexed by system
 * call number: the error that raw() returns instead; 0: the call is made. Written by sampler/calls.c only.
 */
#define RAW_CALLS 512
extern _Atomic uint8_t raw_forbidden[RAW_CALLS];

static inline int raw_refusal(long n)
{
	return -(int)atomic_load_explicit(&raw_forbidden[n], memory_order_relaxed);
}

/* Out of line: inlining the check at each of 180 call sites would add 10 kB. */
long raw_call_3(long n, long a, long b, long c);
long raw_call_6(long n, long a, long b, long c, long d, long e, long f);

/* The same number on every CPU; headers before Linux 5.9 lack it. */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

#define RAW_ARCH_GET_FS 0x1003 /* asm/prctl.h */

/* raw(NUMBER, up to six arguments): each argument is converted to long. */
#define RAW_3(n, a, b, c, ...) raw_call_3((n), (long)(a), (long)(b), (long)(c))
#define RAW_6(n, a, b, c, d, e, f, ...) \
	raw_call_6((n), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define RAW_PICK(n, a, b, c, d, e, f, pick, ...) pick
#define raw(...)                                                                  \
	RAW_PICK(__VA_ARGS__, RAW_6, RAW_6, RAW_6, RAW_3, RAW_3, RAW_3, RAW_3, 0) \
	(__VA_ARGS__, 0, 0, 0, 0, 0, 0)

static inline int32_t raw_gettid(void)
{
	return (int32_t)raw(SYS_gettid);
}

/* The base of thread-local storage. Only for threads set up by libc. */
static inline uint64_t raw_libc_thread_pointer(void)
{
	uint64_t pointer;

#if defined(__x86_64__)
	__asm__ volatile("mov %%fs:0, %0" : "=r"(pointer));
#else
	__asm__ volatile("mrs %0, tpidr_el0" : "=r"(pointer));
#endif
	return pointer;
}

/* True when user code may execute rdfsbase (x86-64, Linux 5.9). agent.c sets it before the first session. */
extern bool raw_reads_fs;

/* The same on any thread, for any value of its register. 0: none. */
static inline uint64_t raw_thread_pointer(void)
{
#if defined(__x86_64__)
	uint64_t pointer = 0;

	if (raw_reads_fs) {
		__asm__ volatile("rdfsbase %0" : "=r"(pointer));
		return pointer;
	}
	return raw(SYS_arch_prctl, RAW_ARCH_GET_FS, &pointer) < 0 ? 0 : pointer;
#else
	return raw_libc_thread_pointer();
#endif
}

/* False where the thread's reads of the CPU's counter would fault (PR_SET_TSC), or that is unknown. */
bool raw_may_read_counter(void);

/*
 * Maps zeroed private memory without transparent huge pages; NULL on failure. A forked child inherits a copy, because a
 * handler that runs there needs it.
 */
void *raw_map(size_t bytes);
/*
 * As raw_map, with the first RAW_READY bytes already populated, by one huge page where the system provides it.
 * Otherwise handlers would pay for a page fault per page, and for TLB misses later.
 */
#define RAW_READY (2u << 20)
void *raw_map_ready(size_t bytes);
void raw_unmap(void *memory, size_t bytes);

/*
 * Type and inode of an open file, from cached attributes: no server of a network file system, which may not answer, is
 * contacted. 0 or -errno; fails on Linux before 4.11.
 */
int raw_stat(int fd, struct statx *out);
int raw_stat_path(const char *path, struct statx *out);

/*
 * Moves a descriptor to a high number so that the target's own descriptors keep the low ones. It stays below 256, the
 * initial size of the table: growing the table of a multithreaded process takes the kernel 8 to 20 ms. Returns the new
 * descriptor, the old one if no high number is free, and passes errors through.
 */
long raw_fd_high(long fd);

/* A descriptor and the identity of the file it was opened for. fd < 0: none. */
struct raw_file {
	int32_t fd;
	uint64_t device, inode;
};
/* raw_file_identify records the identity of the file behind a descriptor; raw_file_same checks that it is unchanged. */
void raw_file_identify(struct raw_file *file, int32_t fd);
bool raw_file_same(const struct raw_file *file);
/*
 * Closes the descriptor unless it is another file by now. Check and close are two calls (TOCTOU): in a shared table a
 * race remains.
 */
void raw_file_close(struct raw_file *file);

/* Process-shared futexes. raw_futex_wait returns when *word != expected, on a wake-up, or after timeout_ns. */
void raw_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns);
void raw_futex_wake(_Atomic uint32_t *word);

/* Sleeps for at most `ns`. Uses a futex, which every JVM needs too; a filter may forbid nanosleep. */
void raw_sleep(uint64_t ns);

/* A clock in ns; 0 if it cannot be read. */
uint64_t raw_clock_ns(int32_t clock);

/* The soft limit of a resource of this process; UINT64_MAX: unlimited or unreadable. */
uint64_t raw_limit(int resource);

/* An entry of getdents64; the next entry follows `bytes` further on. */
struct raw_dirent {
	uint64_t ino;
	int64_t off;
	uint16_t bytes;
	uint8_t type;
	char name[];
};

#define RAW_SA_RESTORER 0x04000000ul

struct raw_sigaction {
	void *handler; /* or SIG_DFL, SIG_IGN */
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

/* Get and set a signal action in the kernel, bypassing any interposed sigaction (libjsig). 0 or -errno. */
int raw_sigaction_get(int sig, struct raw_sigaction *out);
int raw_sigaction_set(int sig, const struct raw_sigaction *in, struct raw_sigaction *old);
/* An action that calls handler(sig, info, ucontext). */
struct raw_sigaction raw_sigaction_make(
	void (*handler)(int, siginfo_t *, void *), unsigned long flags, uint64_t mask);

#endif
