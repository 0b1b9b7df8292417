/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands, waits and the lease. The futexes are in a shared mapping, so they are not FUTEX_PRIVATE. Each wait is
 * divided into slices, since the agent may fail to wake us.
 */
#include "session/mapping.h"

#include "attach/proc.h"
#include "base/buf.h"
#include "base/clean.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/thread.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLICE_NS (10 * NS_PER_MS)
#define POLL_NS  (50 * NS_PER_MS) /* interval of reading the state of the agent's threads */
#define LIST_NS  NS_PER_S /* interval of listing them: a JVM may have thousands of threads */
#define THREADS  8        /* of the agent, at most this many are watched */
#define BEATS_MS (2 * LEASE_BEAT_MS + 200) /* two beats, and a tolerance for a busy machine */

static void control_futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Waits up to ns until the word differs from `value`; may wake spuriously. */
static void control_futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t ns)
{
	struct timespec timeout = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};

	syscall(SYS_futex, word, FUTEX_WAIT, value, &timeout, NULL, 0);
}

/* A wait: its limit, and the time that already counts against it. */
struct control_wait {
	struct mapping *m;
	uint64_t begin_ns, limit_ns, counted_ns;
	control_idle_fn *idle;
	void *ctx;
	/* the agent's threads, and whether one was busy at the last reading */
	uint64_t polled_ns, listed_ns;
	pid_t tids[THREADS];
	int count;
	bool busy;
};

static struct control_wait control_wait_begin(
	struct mapping *m, unsigned timeout_ms, control_idle_fn *idle, void *ctx)
{
	uint64_t now_ns = clock_mono_ns();

	return (struct control_wait){.m = m,
		.begin_ns = now_ns,
		.polled_ns = now_ns,
		.limit_ns = timeout_ms * NS_PER_MS,
		.idle = idle,
		.ctx = ctx};
}

static void control_add_thread(void *ctx, pid_t tid)
{
	struct control_wait *w = ctx;
	struct proc_cpu cpu;
	char name[32];

	if (w->count < THREADS && !proc_thread_cpu(w->m->pid, tid, &cpu, name) &&
		!strncmp(name, "jhot", strlen("jhot")))
		w->tids[w->count++] = tid;
}

/* True while one of the agent's threads runs, waits for a core, or is blocked in the kernel. */
static bool control_agent_busy(struct control_wait *w, uint64_t now_ns)
{
	struct proc_cpu cpu;
	char name[32];

	if (!w->m->pid || now_ns - w->polled_ns < POLL_NS)
		return w->busy;
	w->polled_ns = now_ns;
	if (!w->listed_ns || now_ns - w->listed_ns > LIST_NS) {
		w->count = 0;
		proc_threads(w->m->pid, control_add_thread, w);
		w->listed_ns = now_ns;
	}
	w->busy = false;
	for (int i = 0; i < w->count && !w->busy; i++)
		w->busy = !proc_thread_cpu(w->m->pid, w->tids[i], &cpu, name) &&
			  (cpu.state == 'R' || cpu.state == 'D');
	return w->busy;
}

/* Waits one slice for *word to differ from value. False: timeout, or idle cancelled. */
static bool control_slice(struct control_wait *w, _Atomic uint32_t *word, uint32_t value)
{
	uint64_t left_ns = w->limit_ns > w->counted_ns ? w->limit_ns - w->counted_ns : 0;
	uint64_t slice_ns = left_ns < SLICE_NS ? left_ns : SLICE_NS;

	if (!left_ns || clock_mono_ns() - w->begin_ns >= w->limit_ns * CONTROL_STRETCH)
		return false;
	control_futex_wait(word, value, slice_ns);
	uint64_t now_ns = clock_mono_ns();
	if (!control_agent_busy(w, now_ns))
		w->counted_ns += slice_ns;
	return !w->idle || w->idle(w->ctx);
}

static bool control_left(struct mapping *m)
{
	return atomic_load(&m->status->agent_state) == WIRE_AGENT_LEFT;
}

/* Waits until the command with this sequence number is answered. */
static bool control_wait_done(struct control_wait *w, uint32_t seq)
{
	struct mapping *m = w->m;

	for (;;) {
		uint32_t done = atomic_load_explicit(&m->status->done_seq, memory_order_acquire);

		if (done == seq)
			return true;
		if (control_left(m) || !control_slice(w, &m->status->done_seq, done))
			return atomic_load_explicit(&m->status->done_seq, memory_order_acquire) ==
			       seq;
	}
}

static int control_silence(const struct control_wait *w, struct err *err)
{
	double s = (double)(clock_mono_ns() - w->begin_ns) / (double)NS_PER_S;

	if (control_left(w->m))
		return err_set(err, ERR_GONE, "The agent ended this session.");
	if (w->counted_ns < w->limit_ns &&
		s * (double)NS_PER_S < (double)w->limit_ns * CONTROL_STRETCH)
		return err_set(err, ERR_FAILED,
			"Cancelled after %.1f s without an answer from the agent.", s);
	err_set(err, ERR_FAILED, "The agent in the JVM did not answer within %.1f s.", s);
	err_hint(err, "try again: a JVM that is swapping or stopped answers late");
	return -1;
}

bool control_is_idle(struct mapping *m)
{
	return atomic_load_explicit(&m->status->done_seq, memory_order_acquire) ==
	       atomic_load(&m->control->command_seq);
}

bool control_wait_idle(struct mapping *m, unsigned timeout_ms, control_idle_fn *idle, void *ctx)
{
	struct control_wait w = control_wait_begin(m, timeout_ms, idle, ctx);

	return control_wait_done(&w, atomic_load(&m->control->command_seq));
}

void control_post(struct mapping *m, const struct wire_command *command)
{
	uint32_t seq = atomic_load(&m->control->command_seq);

	memcpy(&m->control->command, command, sizeof(*command));
	atomic_store_explicit(&m->control->command_seq, seq + 1, memory_order_release);
	control_futex_wake(&m->control->command_seq);
}

void control_answer(struct mapping *m, struct control_answer *out)
{
	out->result = atomic_load(&m->status->done_result);
	clean_shared(
		out->text, sizeof(out->text), m->status->done_text, sizeof(m->status->done_text));
}

int control_command(struct mapping *m, const struct wire_command *command, unsigned timeout_ms,
	control_idle_fn *idle, void *ctx, struct control_answer *answer, struct err *err)
{
	struct control_wait w = control_wait_begin(m, timeout_ms, idle, ctx);
	uint32_t seq = atomic_load(&m->control->command_seq);

	if (!control_wait_done(&w, seq)) /* the previous command is not answered */
		return control_silence(&w, err);
	control_post(m, command);
	if (!control_wait_done(&w, seq + 1))
		return control_silence(&w, err);
	control_answer(m, answer);
	return 0;
}

int control_wait_state(
	struct mapping *m, uint32_t state, unsigned timeout_ms, control_idle_fn *idle, void *ctx)
{
	struct control_wait w = control_wait_begin(m, timeout_ms, idle, ctx);

	for (;;) {
		uint32_t seen = atomic_load(&m->status->publish_seq);
		uint32_t now = atomic_load(&m->status->agent_state);

		if (now == state || now == WIRE_AGENT_LEFT)
			return (int)now;
		if (!control_slice(&w, &m->status->publish_seq, seen))
			return -1;
	}
}

bool control_wait_publication(struct mapping *m, uint32_t seen, unsigned timeout_ms)
{
	if (timeout_ms && atomic_load(&m->status->publish_seq) == seen)
		control_futex_wait(&m->status->publish_seq, seen, timeout_ms * NS_PER_MS);
	return atomic_load(&m->status->publish_seq) != seen;
}

void control_identify(struct mapping *m)
{
	struct wire_control *c = m->control;
	char user[64], tty[64] = "";

	if (ttyname_r(STDIN_FILENO, tty, sizeof(tty)) && ttyname_r(STDERR_FILENO, tty, sizeof(tty)))
		tty[0] = '\0';
	env_user(getuid(), user, sizeof(user));
	c->front_end_start_ns = clock_wall_ns();
	c->front_end_pid = getpid();
	snprintf(c->front_end_name, sizeof(c->front_end_name), "%.31s%s%.27s", user,
		tty[0] ? "@" : "", strncmp(tty, "/dev/", 5) ? tty : tty + 5);
}

void control_front_end(
	const struct mapping *m, char *out, size_t bytes, int *pid, uint64_t *since_wall_ns)
{
	clean_shared(out, bytes, m->control->front_end_name, sizeof(m->control->front_end_name));
	*pid = *(volatile const int32_t *)&m->control->front_end_pid;
	*since_wall_ns = *(volatile const uint64_t *)&m->control->front_end_start_ns;
}

bool control_beats(const struct mapping *m)
{
	uint64_t end_ns = clock_mono_ns() + BEATS_MS * NS_PER_MS;
	uint32_t first = atomic_load(&m->control->beat);
	struct timespec step = {0, SLICE_NS};

	while (clock_mono_ns() < end_ns) {
		if (atomic_load(&m->control->beat) != first)
			return true;
		nanosleep(&step, NULL);
	}
	return false;
}

/* --- the lease --------------------------------------------------------------------------------------- */

/*
 * A thread that beats while the main loop makes progress, so the beats cease when this process dies or hangs. A robust list
 * lets the agent distinguish death from starvation: the kernel marks the robust locks that a thread owns when it dies.
 */
struct lease {
	struct mapping *mapping;
	unsigned beat_ms;
	uint64_t stall_ns;
	_Atomic uint64_t moved_ns;
	atomic_bool busy;
	pthread_t thread;
	_Atomic uint32_t stop;
	struct robust_list_head robust; /* list of that thread, with control.front_end */
	struct robust_list entry;
};

static void *lease_main(void *arg)
{
	struct lease *l = arg;
	_Atomic uint32_t *word = &l->mapping->control->front_end;

	/* The robust lock; no other code in this thread uses them. Without kernel support the word stays 0. */
	l->entry.next = &l->robust.list;
	l->robust.list.next = &l->entry;
	l->robust.futex_offset = (char *)word - (char *)&l->entry;
	if (!syscall(SYS_set_robust_list, &l->robust, sizeof(l->robust)))
		atomic_store(word, (uint32_t)syscall(SYS_gettid));
	while (!atomic_load(&l->stop)) {
		if (atomic_load(&l->busy) ||
			clock_mono_ns() - atomic_load(&l->moved_ns) < l->stall_ns)
			atomic_fetch_add(&l->mapping->control->beat, 1);
		control_futex_wait(&l->stop, 0, l->beat_ms * NS_PER_MS);
	}
	l->robust.list.next = &l->robust.list;
	atomic_store(word, 0);
	return NULL;
}

struct lease *lease_start(struct mapping *m, unsigned beat_ms, unsigned stall_ms, struct err *err)
{
	struct lease *l = xcalloc(1, sizeof(*l));

	l->mapping = m;
	l->beat_ms = beat_ms;
	l->stall_ns = stall_ms * NS_PER_MS;
	lease_renew(l);
	int error = thread_start(&l->thread, NULL, lease_main, l);
	if (!error)
		return l;
	free(l);
	errno = error;
	err_set_errno(err, ERR_FAILED, "Cannot start the thread that keeps the session alive");
	return NULL;
}

void lease_renew(struct lease *l)
{
	atomic_store(&l->moved_ns, clock_mono_ns());
}

void lease_busy(struct lease *l, bool busy)
{
	lease_renew(l);
	atomic_store(&l->busy, busy);
}

void lease_stop(struct lease *l)
{
	if (!l)
		return;
	atomic_store(&l->stop, 1);
	control_futex_wake(&l->stop);
	pthread_join(l->thread, NULL);
	free(l);
}
