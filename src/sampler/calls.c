/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries system calls in a child of this process. The child
 *
 *   shares the memory (CLONE_VM): no page is copied, and results are simply stored. The calling thread waits (CLONE_VFORK);
 *   shares the descriptors (CLONE_FILES): its exit closes nothing;
 *   has its own signal actions, and all signals blocked: SECCOMP_RET_TRAP kills it, and no handler of the program runs;
 *   sends no signal when it exits (exit signal 0), so a wait() of the program does not see it;
 *   must not dump core: that would be the JVM's whole memory, and up to Linux 5.15 a dump kills every process that
 *   shares the memory. From 5.16 on the child's own RLIMIT_CORE prevents it (1 byte: no dump into a pipe either);
 *   before, the process is made undumpable while the child lives.
 *
 * A call for which the filter kills costs one child; the next child continues after that call.
 */
#include "sampler/calls.h"

#include "sampler/procfile.h"
#include "sampler/publish/publish.h"
#include "sampler/sampler.h"
#include "sampler/session/lease.h"
#include "sampler/signal/raw.h"
#include "sampler/text.h"
#include "wire/calls.h"

#include "base/clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/memfd.h>
#include <linux/perf_event.h>
#include <netinet/in.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sampler/compat.h"

#define CHILD_FLAGS (CLONE_VM | CLONE_VFORK | CLONE_FILES | CLONE_FS) /* exit signal 0 */
#define CHILD_STACK 4096u

enum need { VITAL, NEEDED, OPTIONAL };

/* Arguments that are replaced by addresses. */
enum { SCRATCH = INT32_MIN, EMPTY };

/* One attempt: a row of the table, or another use of its call that a filter may treat differently. */
struct attempt {
	uint32_t call; /* enum wire_call */
	int32_t arguments[4];
};

/* The table without pointers, which the loader would have to relocate. */
static const struct row {
	uint16_t number;
	uint8_t need;
} rows[CALL_COUNT] = {
#define ROW(name, need, ...) {SYS_##name, need},
	WIRE_CALLS(ROW)
#undef ROW
};
static const char texts[] = /* per row: the call's name, and the loss without it */
#define TEXT(name, need, use, lost, ...) #name "\0" lost "\0"
	WIRE_CALLS(TEXT);
#undef TEXT

static const struct attempt attempts[] = {
#define ATTEMPT(name, need, use, lost, ...) {CALL_##name, {__VA_ARGS__}},
	WIRE_CALLS(ATTEMPT)
#undef ATTEMPT
	/* variants that differ in their second argument */
	{CALL_prctl, {PR_SET_NAME, 0, 0, 0}},
	{CALL_prctl, {PR_GET_TSC, SCRATCH, 0, 0}},
	{CALL_prctl, {0x53564d41 /* PR_SET_VMA */, 0, 1, 0}},
	{CALL_fcntl, {-1, F_DUPFD_CLOEXEC, 0, 0}},
	{CALL_fcntl, {-1, F_SETSIG, SIGURG, 0}},
	{CALL_fcntl, {-1, F_SETOWN_EX, 0, 0}},
	{CALL_fcntl, {-1, F_SETFL, O_ASYNC, 0}},
	{CALL_ioctl, {-1, PERF_EVENT_IOC_ENABLE, 0, 0}},
	{CALL_ioctl, {-1, PERF_EVENT_IOC_DISABLE, 0, 0}},
	{CALL_ioctl, {-1, PERF_EVENT_IOC_SET_OUTPUT, 0, 0}},
	{CALL_memfd_create, {0, MFD_CLOEXEC | MFD_ALLOW_SEALING | 8 /* MFD_NOEXEC_SEAL */, 0, 0}},
	{CALL_madvise, {0, 0, MADV_HUGEPAGE, 0}},
	{CALL_madvise, {0, 0, MADV_DONTFORK, 0}},
	{CALL_getsockopt, {-1, IPPROTO_TCP, 11 /* TCP_INFO */, 0}},
};
#define ATTEMPTS (sizeof(attempts) / sizeof(attempts[0]))

/* Written by the child, read after it has ended. */
static struct trial {
	bool old_kernel; /* true: core dumps kill every process that shares the memory */
	/* True while the process is undumpable, which must be undone. */
	volatile bool undumpable;
	volatile uint32_t next; /* index of the attempt after the current one */
	volatile uint32_t call; /* the call in progress; CALL_COUNT: all done */
	volatile uint8_t errors[ATTEMPTS];
} trial;

static struct {
	uint32_t filters; /* number of filters that `result` applies to */
	int result;
} known;

/* --- in the child ------------------------------------------------------------------------------------- */

/*
 * Prevents a core dump of this child. If the child is killed earlier, it dumps core, which from Linux 5.16 on is merely
 * slow.
 */
static void no_core(struct trial *t)
{
	struct rlimit limit = {0, 0};

	if (t->old_kernel) {
		t->call = CALL_prctl;
		if (raw(SYS_prctl, PR_GET_DUMPABLE) == 1)
			t->undumpable = raw(SYS_prctl, PR_SET_DUMPABLE, 0) == 0;
		return;
	}
	t->call = CALL_prlimit64;
	raw(SYS_prlimit64, 0, RLIMIT_CORE, NULL, &limit);
	limit.rlim_cur = limit.rlim_max > 0; /* 1: no dump into a pipe either */
	raw(SYS_prlimit64, 0, RLIMIT_CORE, &limit, NULL);
}

static long argument(int32_t value)
{
	static char scratch[512], empty[1];

	return value == SCRATCH ? (long)(uintptr_t)scratch
	       : value == EMPTY ? (long)(uintptr_t)empty
				: value;
}

static void child_main(uint32_t from)
{
	struct trial *t = &trial;

	no_core(t);
	for (uint32_t i = from; i < ATTEMPTS; i++) {
		const struct row *r = &rows[attempts[i].call];
		const int32_t *a = attempts[i].arguments;

		if (r->need == VITAL)
			continue;
		t->next = i + 1;
		t->call = attempts[i].call;
		long result = raw(
			r->number, argument(a[0]), argument(a[1]), argument(a[2]), argument(a[3]));
		if (result == -EPERM || result == -EACCES || result == -ENOSYS)
			t->errors[i] = (uint8_t)-result;
	}
	t->call = CALL_COUNT;
	for (;;)
		raw_syscall(SYS_exit, 0, 0, 0, 0, 0, 0);
}

/*
 * Makes the system call clone or clone3 and calls child_main(from) in the child, on the child's own stack. In the
 * parent, no register changes beyond the clobbers. Returns the child's id, or -errno.
 */
static long child_start(long number, long a, long b, uint32_t from)
{
	void (*entry)(uint32_t) = child_main;
	long result;

#if defined(__x86_64__)
	register long r10 __asm__("r10") = 0;
	register long r8 __asm__("r8") = 0;

	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jne 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "mov %[from], %%edi\n\t"
			 "call *%[entry]\n\t"
			 "hlt\n"
			 "1:"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(0), "r"(r10),
			 "r"(r8), [entry] "b"(entry), [from] "r"(from)
			 : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = 0;
	register long x3 __asm__("x3") = 0;
	register long x4 __asm__("x4") = 0;

	__asm__ volatile(
		"svc 0\n\t"
		"cbnz x0, 1f\n\t"
		"mov x29, xzr\n\t"
		"mov w0, %w[from]\n\t"
		"blr %[entry]\n\t"
		"brk 1\n"
		"1:"
		: "+r"(x0)
		: "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), [entry] "r"(entry), [from] "r"(from)
		: "memory");
	result = x0;
#endif
	return result;
}

/* --- in the JVM ---------------------------------------------------------------------------------------- */

/*
 * Uses the call with which this libc starts threads, which the filter therefore allows: glibc from 2.34 on uses clone3,
 * and clone if that fails with ENOSYS. A filter cannot inspect clone3's flags, but those of clone: one that allows
 * clone for threads only is not detected.
 */
static long child_clone(uint32_t from)
{
	static _Alignas(16) char stack[CHILD_STACK];
	const char *(*version)(void) =
		(const char *(*)(void))(uintptr_t)dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
	/* struct clone_args of Linux 5.3 */
	uint64_t args[8] = {[0] = CHILD_FLAGS, [5] = (uintptr_t)stack, [6] = sizeof(stack)};
	const char *text = version ? version() : "0.";
	long pid = -ENOSYS;

	if (text[0] == '2' && text[1] == '.' && text[2] >= '3' && text[3] >= '0' &&
		(text[2] > '3' || text[3] >= '4'))
		pid = child_start(SYS_clone3, (long)(uintptr_t)args, sizeof(args), from);
	if (pid == -ENOSYS)
		pid = child_start(
			SYS_clone, CHILD_FLAGS, (long)(uintptr_t)(stack + sizeof(stack)), from);
	return pid;
}

/* Runs one child for the attempts from `from` on. Returns its id after it has ended, or -errno. */
static long try_from(uint32_t from)
{
	uint64_t all = ~0ull, before = 0;

	trial.next = from;
	trial.undumpable = false;
	raw(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
	long pid = child_clone(from);
	if (pid > 0 && trial.undumpable)
		raw(SYS_prctl, PR_SET_DUMPABLE, 1);
	raw(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
	return pid;
}

static void forbid(uint32_t call, uint8_t error)
{
	atomic_store_explicit(&raw_forbidden[rows[call].number], error, memory_order_relaxed);
}

/* Runs children until every attempt is made. AGENT_OK or AGENT_UNTRIED. */
static int try_all(void)
{
	static int32_t pids[ATTEMPTS + 2];
	uint32_t children = 0;
	long pid = 0;

	trial.call = 0;
	for (uint32_t from = 0; trial.call < CALL_COUNT; from = trial.next) {
		pid = children < sizeof(pids) / sizeof(pids[0]) ? try_from(from) : -EAGAIN;
		if (pid < 0)
			break;
		pids[children++] = (int32_t)pid;
		if (trial.call < CALL_COUNT)
			forbid(trial.call, EPERM);
		/* This child stays a zombie until the JVM ends: start no more. */
		if (raw_refusal(SYS_wait4))
			break;
	}
	for (uint32_t i = 0; i < children; i++)
		while (raw(SYS_wait4, pids[i], NULL, __WALL, NULL) == -EINTR)
			;
	for (uint32_t i = 0; i < ATTEMPTS; i++)
		if (trial.errors[i])
			forbid(attempts[i].call, trial.errors[i]);
	return pid < 0 ? AGENT_UNTRIED : AGENT_OK;
}

/* --- detecting filters ---------------------------------------------------------------------------------- */

/* Tries the calls if the number of filters has changed. again: also if Linux does not report how many there are. */
static int try_when_changed(bool again)
{
	char status[PROCFILE_STATUS];
	uint32_t filters = procfile_status(status) ? procfile_filters(status) : PROCFILE_FILTERS;

	if (filters == known.filters && !(again && filters == PROCFILE_FILTERS))
		return known.result;
	if (raw_refusal(SYS_wait4))
		return known.result; /* each further child would stay a zombie */
	known.filters = filters;
	known.result = AGENT_OK;
	if (!filters)
		return AGENT_OK;
	trial.old_kernel = !procfile_linux_since(5, 16);
	known.result = try_all();
	for (uint32_t i = 0; i < CALL_COUNT && known.result == AGENT_OK; i++)
		if (rows[i].need == NEEDED && raw_refusal(rows[i].number))
			known.result = AGENT_FORBIDDEN + (int)i;
	return known.result;
}

static int try_locked(bool again)
{
	static _Atomic uint32_t lock;

	while (atomic_exchange(&lock, 1))
		raw_sleep(NS_PER_MS);
	int result = try_when_changed(again);
	atomic_store(&lock, 0);
	return result;
}

int calls_try(void)
{
	return try_locked(true);
}

void calls_poll(struct sampler *s)
{
	uint32_t before = known.filters;

	if (try_locked(false) != AGENT_OK)
		lease_end(s, SAMPLER_FORBIDDEN);
	if (known.filters != before)
		calls_report(s);
}

bool calls_are_of(uint32_t filters)
{
	return filters == known.filters;
}

void calls_report(struct sampler *s)
{
	const char *name = texts, *lost, *previous = "";
	char note[512];
	struct text text = text_into(note, sizeof(note));

	for (uint32_t i = 0; i < CALL_COUNT; i++, name = lost + strlen(lost) + 1) {
		lost = name + strlen(name) + 1;
		if (!raw_refusal(rows[i].number) || !*lost ||
			(strlen(previous) == strlen(lost) &&
				!memcmp(previous, lost, strlen(previous))))
			continue;
		text_add(&text, *previous ? "; " : "the JVM's seccomp filter forbids ");
		text_add(&text, name);
		text_add(&text, " (");
		text_add(&text, lost);
		text_add(&text, ")");
		previous = lost;
	}
	if (*previous)
		publish_note(s->publish, WIRE_NOTE_TEXT, clock_mono_ns(), 0, note);
}
