/* SPDX-License-Identifier: Apache-2.0 */
/* Seize, interrupt, copy, detach; nothing else happens while a thread is stopped. */
#include "dump/remote.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/maps.h"

#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE          4096u
#define CACHE_PAGES   512u
#define STACK_COPY    (1u << 20) /* the rest of deeper stacks is read while the thread runs */
#define STACK_UNKNOWN (64u << 10)
#define BELOW_SP      256u /* the red zone */
#define EXTRA_MAX     16384u
#define SPIN_NS       20000ull
#define NAP_NS        500000
#define STUCK_NS      (500 * 1000000ull)

struct copy {
	uint64_t address;
	size_t bytes;
	uint8_t *data;
};

struct remote {
	pid_t pid; /* id for reading memory: a living thread if the first has exited */
	struct walk_mem mem;
	uint64_t page[CACHE_PAGES]; /* address | 1; 0: empty */
	uint8_t (*data)[PAGE];
	struct copy stack, extra;
	uint64_t longest_pause_ns;
};

/* --- memory ------------------------------------------------------------------------------------------ */

static ssize_t read_raw(const struct remote *r, uint64_t address, void *out, size_t bytes)
{
	struct iovec local = {out, bytes}, from = {(void *)(uintptr_t)address, bytes};

	return process_vm_readv(r->pid, &local, 1, &from, 1, 0);
}

static const uint8_t *page_get(struct remote *r, uint64_t address)
{
	uint64_t base = address & ~(uint64_t)(PAGE - 1);
	uint32_t i = (uint32_t)((base / PAGE) % CACHE_PAGES);

	if (r->page[i] != (base | 1)) {
		r->page[i] = 0;
		if (read_raw(r, base, r->data[i], PAGE) != PAGE)
			return NULL;
		r->page[i] = base | 1;
	}
	return r->data[i];
}

static bool copy_load(const struct copy *c, uint64_t address, void *out, size_t bytes)
{
	if (address < c->address || bytes > c->bytes || address - c->address > c->bytes - bytes)
		return false;
	memcpy(out, c->data + (address - c->address), bytes);
	return true;
}

static bool remote_load(const struct walk_mem *mem, uint64_t address, void *out, size_t bytes)
{
	struct remote *r = mem->ctx;

	if (copy_load(&r->stack, address, out, bytes) || copy_load(&r->extra, address, out, bytes))
		return true;
	while (bytes) {
		const uint8_t *page = page_get(r, address);
		size_t in = address % PAGE, part = PAGE - in < bytes ? PAGE - in : bytes;

		if (!page)
			return false;
		memcpy(out, page + in, part);
		out = (char *)out + part;
		address += part;
		bytes -= part;
	}
	return true;
}

const struct walk_mem *remote_mem(struct remote *r)
{
	return &r->mem;
}

void remote_forget(struct remote *r)
{
	memset(r->page, 0, sizeof(r->page));
	r->stack.bytes = r->extra.bytes = 0;
}

uint64_t remote_longest_pause_ns(const struct remote *r)
{
	return r->longest_pause_ns;
}

struct remote *remote_open(pid_t pid, uint64_t readable, struct err *err)
{
	struct remote *r = xcalloc(1, sizeof(*r));
	uint64_t word;

	r->pid = proc_living(pid);
	r->pid = r->pid ? r->pid : pid;
	r->mem = (struct walk_mem){.load = remote_load, .ctx = r};
	if (read_raw(r, readable, &word, sizeof(word)) != (ssize_t)sizeof(word)) {
		err_set_errno(err, ERR_ATTACH, "The memory of process %d cannot be read", (int)pid);
		free(r);
		return NULL;
	}
	r->data = xmalloc(CACHE_PAGES * sizeof(*r->data));
	r->stack.data = xmalloc(STACK_COPY);
	r->extra.data = xmalloc(EXTRA_MAX);
	return r;
}

/* --- threads ----------------------------------------------------------------------------------------- */

bool remote_regs(pid_t tid, struct walk_regs *out)
{
	struct user_regs_struct r;
	struct iovec iov = {&r, sizeof(r)};

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &iov))
		return false;
#if defined(__x86_64__)
	*out = (struct walk_regs){.pc = r.rip,
		.sp = r.rsp,
		.fp = r.rbp,
		.method = r.rbx,
		.sender = r.r13,
		.sender_19 = r.r13,
		.link = r.rax};
#else
	*out = (struct walk_regs){.pc = r.pc,
		.sp = r.sp,
		.fp = r.regs[29],
		.method = r.regs[12],
		.sender = r.regs[19],
		.sender_19 = r.regs[13],
		.link = r.regs[30]};
#endif
	return true;
}

static void copy_read(
	const struct remote *r, struct copy *copy, uint64_t address, uint64_t bytes, size_t max)
{
	ssize_t got = bytes ? read_raw(r, address, copy->data, bytes < max ? bytes : max) : 0;

	copy->address = address;
	copy->bytes = got > 0 ? (size_t)got : 0;
}

/*
 * Waits for the stop: spins at first, since it takes microseconds if the thread sleeps or has a CPU; then sleeps until SIGCHLD.
 * 1: stopped, 0: not within STUCK_NS, -1: gone. *running_ns: when the thread was last seen not stopped.
 */
static int wait_stop(pid_t tid, int *status, uint64_t *running_ns)
{
	const struct timespec nap = {0, NAP_NS};
	uint64_t since_ns = clock_mono_ns();
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (;;) {
		uint64_t now_ns = clock_mono_ns();
		pid_t got = waitpid(tid, status, __WALL | WNOHANG);

		if (got == tid)
			return WIFSTOPPED(*status) ? 1 : -1;
		if (got < 0 && errno != EINTR)
			return -1;
		*running_ns = now_ns;
		if (now_ns - since_ns > STUCK_NS)
			return 0;
		if (now_ns - since_ns > SPIN_NS)
			sigtimedwait(&child, NULL, &nap);
	}
}

/* The job of a tracer thread, which ends with each capture. */
struct tracing {
	struct remote *r;
	pid_t tid;
	const struct remote_want *want;
	remote_stack_fn *stack_end;
	void *ctx;
	struct walk_regs *regs;
	/* results */
	enum remote_result result;
	int error;           /* for REMOTE_DENIED */
	pid_t tracer;        /* its own thread id */
	uint64_t running_ns; /* when the thread was last seen running; 0: no stop was requested */
};

static enum remote_result stop_and_copy(struct tracing *t)
{
	struct remote *r = t->r;
	int status;

	if (ptrace(PTRACE_SEIZE, t->tid, 0, 0)) {
		t->error = errno;
		return t->error == ESRCH ? REMOTE_GONE : REMOTE_DENIED;
	}
	t->running_ns = clock_mono_ns();
	if (ptrace(PTRACE_INTERRUPT, t->tid, 0, 0))
		return REMOTE_GONE;
	int stopped = wait_stop(t->tid, &status, &t->running_ns);
	if (stopped <= 0)
		return stopped ? REMOTE_GONE : REMOTE_STUCK;
	bool read = remote_regs(t->tid, t->regs);
	if (read) {
		uint64_t from = t->regs->sp - BELOW_SP, end = t->stack_end(t->ctx, t->regs->sp);
		uint64_t bytes = end > t->regs->sp ? end - from : STACK_UNKNOWN;

		copy_read(r, &r->extra, t->want->address, t->want->bytes, EXTRA_MAX);
		copy_read(r, &r->stack, from, bytes, STACK_COPY);
		if (t->want->while_stopped)
			t->want->while_stopped(t->want->while_stopped_ctx);
	}
	/* If the stop was a signal delivery, passes the signal on; the stop that we requested has none. */
	ptrace(PTRACE_DETACH, t->tid, 0, (void *)(uintptr_t)(status >> 16 ? 0 : WSTOPSIG(status)));
	return read ? REMOTE_OK : REMOTE_GONE;
}

static void pause_record(struct tracing *t)
{
	uint64_t pause_ns = clock_mono_ns() - t->running_ns;

	if (pause_ns > t->r->longest_pause_ns)
		t->r->longest_pause_ns = pause_ns;
}

static void *trace(void *arg)
{
	const struct sched_param first = {.sched_priority = 1};
	struct tracing *t = arg;

	t->tracer = (pid_t)syscall(SYS_gettid); /* musl has no wrapper for tgkill */
	/*
	 * Real-time priority: on an overloaded machine, preemption of the tracer would be most of the pause. Requires
	 * privileges; harmless without.
	 */
	if (sched_getscheduler(0) == SCHED_OTHER)
		sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first);
	t->result = stop_and_copy(t);
	if (t->result != REMOTE_STUCK && t->running_ns)
		pause_record(t);
	return NULL;
}

/*
 * Waits until a tracer thread is gone. Its exit withdraws its stop request and detaches from a thread that has stopped
 * by then: no system call does that for a thread that is not stopped. The kernel does it after pthread_join has returned. The
 * pause recorded is the longest time for which the thread can have been stopped.
 */
static void wait_detached(struct tracing *t)
{
	const struct timespec nap = {0, NAP_NS};

	while (!syscall(SYS_tgkill, getpid(), t->tracer, 0))
		nanosleep(&nap, NULL);
	pause_record(t);
}

enum remote_result remote_capture(struct remote *r, pid_t tid, const struct remote_want *want,
	remote_stack_fn *stack_end, void *ctx, struct walk_regs *regs)
{
	static const int blocked[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGPIPE, SIGALRM,
		SIGCHLD}; /* SIGCHLD is blocked for sigtimedwait */
	struct tracing t = {
		.r = r, .tid = tid, .want = want, .stack_end = stack_end, .ctx = ctx, .regs = regs};
	sigset_t block, before;
	pthread_t tracer;

	remote_forget(r);
	sigemptyset(&block);
	for (size_t i = 0; i < sizeof(blocked) / sizeof(blocked[0]); i++)
		sigaddset(&block, blocked[i]);
	pthread_sigmask(SIG_BLOCK, &block, &before);
	int error = pthread_create(&tracer, NULL, trace, &t);
	if (error) {
		t.result = REMOTE_DENIED;
		t.error = error;
	} else {
		pthread_join(tracer, NULL);
		if (t.result == REMOTE_STUCK)
			wait_detached(&t);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = t.error;
	return t.result;
}

void remote_close(struct remote *r)
{
	if (!r)
		return;
	free(r->data);
	free(r->stack.data);
	free(r->extra.data);
	free(r);
}
