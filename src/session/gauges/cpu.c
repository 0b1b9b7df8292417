/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU time by kind of thread, and time spent waiting for a core. Both are sums of each thread's increases, so a thread
 * that ends subtracts nothing and no share is negative.
 */
#include "session/gauges/gauges.h"

#include "base/buf.h"
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Prefixes of the kernel's names of threads, which have at most 15 characters. */
static const char *const gauges_jit[] = {"C1 Comp", "C2 Comp", "JVMCI", "LibGraal", NULL};
static const char *const gauges_gc[] = {"GC Thread", "GC task thread", "G1 ", "ParGC",
	"Concurrent Mark", "Gang worker", "ZWorker", "ZDirector", "ZDriver", "ZStat", "ZUncommit",
	"ZUnmap", "RuntimeWorker", "XWorker", "XDirector", "XDriver", "XStat", "XUncommit",
	"XUnmap", "Shenandoah", "ShenWorker", NULL};

/*
 * HotSpot names compiler threads after the compiler, and Graal is the only one behind JVMCI: "JVMCI CompilerThread0", as a
 * library "JVMCI-native CompilerThread0". A JVM with JVMCI enabled that compiles with C2 has none of these. LibGraal's own
 * threads do not prove it: they also serve languages that run on such a JVM.
 */
static const char *const gauges_graal[] = {"JVMCI Comp", "JVMCI-native Co", NULL};

static bool gauges_begins(const char *comm, const char *const *with)
{
	while (*with && strncmp(comm, *with, strlen(*with)) != 0)
		with++;
	return *with;
}

static enum gauges_owner gauges_owner(const struct gauges_cpu *c, const char *comm)
{
	if (gauges_begins(comm, gauges_jit))
		return GAUGES_JIT;
	return gauges_begins(comm, gauges_gc) || (c->vm_collects && !strcmp(comm, "VM Thread"))
		       ? GAUGES_GC
		       : GAUGES_PROGRAM;
}

void gauges_cpu_done(struct gauges_cpu *c)
{
	free(c->past);
	free(c->now);
}

void gauges_cpu_begin(struct gauges_cpu *c)
{
	memset(c->used, 0, sizeof(c->used));
	c->kernel = 0;
	c->now_count = 0;
}

/* The increase, 0 if the value went back: values read one after the other are not consistent. */
static uint64_t gauges_more(uint64_t now, uint64_t then)
{
	return now > then ? now - then : 0;
}

void gauges_cpu_task(struct gauges_cpu *c, pid_t tid, const struct proc_cpu *cpu, const char *comm)
{
	enum gauges_owner owner = gauges_owner(c, comm);
	const struct gauges_task *past = NULL;

	c->graal |= gauges_begins(comm, gauges_graal);
	if (owner == GAUGES_PROGRAM)
		return;
	if (c->now_count == c->cap) {
		c->cap = c->cap ? c->cap * 2 : 32;
		c->now = xreallocarray(c->now, c->cap, sizeof(*c->now));
		c->past = xreallocarray(c->past, c->cap, sizeof(*c->past));
	}
	struct gauges_task *now = &c->now[c->now_count++];
	*now = (struct gauges_task){tid, cpu->start_ticks, cpu->utime, cpu->stime};
	for (unsigned i = 0; i < c->past_count && !past; i++)
		if (c->past[i].tid == tid && c->past[i].start_ticks == cpu->start_ticks)
			past = &c->past[i];
	if (!past && cpu->start_ticks < c->ticks)
		return; /* renamed since the last reading: its increase is unknown */
	c->used[owner] += gauges_more(cpu->utime, past ? past->utime : 0) +
			  gauges_more(cpu->stime, past ? past->stime : 0);
	c->kernel += gauges_more(cpu->stime, past ? past->stime : 0);
}

/* --- waits for a core -------------------------------------------------------------------------------- */

void gauges_queue_done(struct gauges_queue *q)
{
	free(q->past);
	free(q->now);
}

void gauges_queue_begin(struct gauges_queue *q)
{
	q->now_count = q->at = 0;
}

void gauges_queue_task(struct gauges_queue *q, pid_t pid, pid_t tid, bool started)
{
	unsigned at = q->at;
	uint64_t ns;

	if (!proc_thread_queued_ns(pid, tid, &ns))
		return; /* not run yet, or ended */
	if (q->now_count == q->cap) {
		q->cap = q->cap ? q->cap * 2 : 64;
		q->now = xreallocarray(q->now, q->cap, sizeof(*q->now));
		q->past = xreallocarray(q->past, q->cap, sizeof(*q->past));
	}
	uint64_t then = started && q->begun ? 0 : ns;
	while (!started && at < q->past_count && q->past[at].tid != tid)
		at++;
	if (!started && at < q->past_count) {
		then = q->past[at].ns;
		q->at = at + 1;
	}
	q->sum_ns += gauges_more(ns, then);
	q->now[q->now_count++] = (struct gauges_wait){tid, ns};
}

int64_t gauges_queue_end(struct gauges_queue *q)
{
	struct gauges_wait *past = q->past;

	q->past = q->now;
	q->past_count = q->now_count;
	q->now = past;
	q->begun |= q->past_count > 0;
	return q->past_count ? (int64_t)(q->sum_ns / NS_PER_MS) : -1;
}

double gauges_pct(uint64_t ticks, uint64_t elapsed_ns)
{
	return (double)ticks * 100 / (double)sysconf(_SC_CLK_TCK) /
	       ((double)elapsed_ns / (double)NS_PER_S);
}

/* The same, rounded. */
static int gauges_percent(uint64_t ticks, uint64_t elapsed_ns)
{
	return (int)(gauges_pct(ticks, elapsed_ns) + 0.5);
}

void gauges_cpu_end(struct gauges_cpu *c, uint64_t now_ns, const struct proc_cpu *process,
	struct vitals_cpu *out)
{
	struct gauges_task *past = c->past;
	uint64_t elapsed_ns = now_ns - c->time_ns;
	uint64_t own = c->used[GAUGES_JIT] + c->used[GAUGES_GC];

	*out = (struct vitals_cpu){-1, -1, -1, -1};
	if (c->time_ns && elapsed_ns) {
		uint64_t kernel = gauges_more(gauges_more(process->stime, c->stime), c->kernel);
		uint64_t all = gauges_more(process->utime + process->stime, c->utime + c->stime);
		out->jit_pct = gauges_percent(c->used[GAUGES_JIT], elapsed_ns);
		out->gc_pct = gauges_percent(c->used[GAUGES_GC], elapsed_ns);
		out->kernel_pct = gauges_percent(kernel, elapsed_ns);
		out->java_pct = gauges_percent(gauges_more(all, own + kernel), elapsed_ns);
	}
	c->past = c->now;
	c->past_count = c->now_count;
	c->now = past;
	c->time_ns = now_ns;
	struct timespec t = {0};
	clock_gettime(CLOCK_BOOTTIME, &t);
	c->ticks = (uint64_t)((double)t.tv_sec * (double)sysconf(_SC_CLK_TCK) +
			      (double)t.tv_nsec * (double)sysconf(_SC_CLK_TCK) / (double)NS_PER_S);
	c->utime = process->utime;
	c->stime = process->stime;
}
