/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the JVM is: hsperfdata and /proc, gathered into a struct vitals; and the agent's status page.
 *
 * Shares over the last 10 s come from a short history that each reading adds to. One thread.
 */
#ifndef JHOT_SESSION_GAUGES_GAUGES_H
#define JHOT_SESSION_GAUGES_GAUGES_H

#include "attach/cgroup.h"
#include "attach/jvm/hotspot.h"
#include "attach/jvm/hsperf.h"
#include "attach/proc.h"
#include "profile/vitals.h"
#include "wire/status.h"

struct gauges;
struct gauges *gauges_new(const struct hotspot *jvm);
void gauges_free(struct gauges *g);

/* gauges_read: the JVM's part of the vitals; of a JVM that has gone the last values stay. */
void gauges_read(struct gauges *g, bool alive, struct vitals *out);
/* gauges_peek: how full the heap is, for the next reading: a few loads from the JVM's own page, as often as one likes. */
void gauges_peek(struct gauges *g);

/* gauges_engine: enum wire_engine by its name in vitals; WIRE_ENGINE_NONE for NULL and others. */
uint32_t gauges_engine(const char *name);

/* gauges_status: the session's part, from the agent's page; each value is read once. */
void gauges_status(const struct wire_status *status, struct vitals *out);
/* gauges_shares: the *_pct_x10 fields, from what this and earlier readings said. */
void gauges_shares(struct gauges *g, struct vitals *out);

/* --- cpu.c ------------------------------------------------------------------------------------- */

/*
 * Whose CPU time a JVM's is, by the kernel's names of its threads: its compilers', its collector's, the kernel's on behalf
 * of all others, the program's. Threads that ended since the last look were the program's.
 */
enum gauges_owner { GAUGES_PROGRAM, GAUGES_JIT, GAUGES_GC, GAUGES_OWNERS };

struct gauges_task {
	pid_t tid;
	uint64_t start_ticks, utime, stime;
};

struct gauges_cpu {
	struct gauges_task *past, *now; /* of JIT and GC, in the order of the folder of tasks */
	unsigned past_count, now_count, cap;
	bool vm_collects; /* the VM thread does the collector's work */
	bool graal; /* compiles in C2's place: a thread was seen that HotSpot calls after JVMCI */
	uint64_t time_ns, ticks; /* of the last look, ticks since boot; 0: there was none */
	uint64_t utime, stime;   /* of the process, then */
	uint64_t used[GAUGES_OWNERS], kernel; /* since then; kernel: what JIT and GC used there */
};

/*
 * For how long threads have waited for a core since the first look: the sum of each thread's increase, so a thread that ends
 * takes nothing away, and one that started since the last look counts from 0.
 */
struct gauges_queue {
	struct gauges_wait {
		pid_t tid;
		uint64_t ns;
	} * past, *now; /* in the order of /proc, which is that of their starts */
	unsigned past_count, now_count, cap, at;
	uint64_t sum_ns;
	bool begun;
};
void gauges_queue_done(struct gauges_queue *q);
/* A look: begin, each task in the order of /proc, end. started: since the last look. Returns the sum in ms, -1: not known. */
void gauges_queue_begin(struct gauges_queue *q);
void gauges_queue_task(struct gauges_queue *q, pid_t pid, pid_t tid, bool started);
int64_t gauges_queue_end(struct gauges_queue *q);

/* gauges_pct: what this CPU time is of a core. */
double gauges_pct(uint64_t ticks, uint64_t elapsed_ns);
void gauges_cpu_done(struct gauges_cpu *c);
/* A look: begin, each task, end with what the process used in all. Fills the shares, -1 at the first look. */
void gauges_cpu_begin(struct gauges_cpu *c);
void gauges_cpu_task(struct gauges_cpu *c, pid_t tid, const struct proc_cpu *cpu, const char *comm);
void gauges_cpu_end(struct gauges_cpu *c, uint64_t now_ns, const struct proc_cpu *process,
	struct vitals_cpu *out);

/* --- host.c ------------------------------------------------------------------------------------ */

/* What the limits of the JVM's cgroups did to it since the first look: a limit that another takes the place of counts no
 * further, so counts only rise. */
struct gauges_host {
	struct cgroup_mount mount;
	struct cgroup_cpu last; /* limit < 0: there was none */
	int64_t periods, throttled, throttled_us;
};

void gauges_host_init(struct gauges_host *h);
void gauges_host_read(struct gauges_host *h, pid_t pid, struct vitals_host *out);

/* --- heap.c ------------------------------------------------------------------------------------ */

/* Heap, collections, safepoints, threads and classes from the JVM's own counters: their indices, looked up once. */
#define GAUGES_GENERATIONS 2
#define GAUGES_SPACES      6 /* two generations of up to three */
#define GAUGES_COLLECTORS  3

struct gauges_heap {
	const struct gauges_collector *kind; /* NULL: a collector we do not know */
	int64_t ticks_per_s;
	bool sync_apart; /* its counter of safepoints begins when all threads have stopped */
	int used[GAUGES_SPACES];
	int committed[GAUGES_GENERATIONS], max[GAUGES_GENERATIONS];
	int invocations[GAUGES_COLLECTORS], time[GAUGES_COLLECTORS];
	int safepoints, safepoint_time, safepoint_sync;
	int threads_live, threads_daemon, threads_started;
	int cause; /* of the last collection, in words */
	int compilations;
	int classes[2], unloaded[2];    /* all others, and those of the shared archive */
	int64_t gc_ns, safepoint_ns;    /* of the last reading */
	int64_t collections, humongous; /* the former as of the last peek */
	int64_t low, looks; /* the least that was in use since then; since the beginning */
};

/* jdk: its major number; of one that is not known (0, or 1 for JDK 8), what is sure. */
void gauges_heap_init(struct gauges_heap *h, const struct hsperf *perf, int jdk);
void gauges_heap_read(struct gauges_heap *h, const struct hsperf *perf, struct vitals *out);
/* How much is in use now, for the lowest until the next reading; -1: not known. */
int64_t gauges_heap_peek(struct gauges_heap *h, const struct hsperf *perf);

#endif
