/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the state of the JVM (hsperfdata, /proc, cgroups) and of the agent (its status page) into a struct vitals.
 *
 * Shares over the last 10 s are computed from a short history, to which each reading adds. Single-threaded; reads small files
 * and does not block otherwise. Values that are not known are -1.
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

/* Reads the JVM's part of the vitals. alive false: keeps the values of the last reading. */
void gauges_read(struct gauges *g, bool alive, struct vitals *out);
/* Samples the heap usage for the minimum in the next reading. Costs a few small reads: may be called often. */
void gauges_peek(struct gauges *g);

/* The enum wire_engine with this name in vitals; WIRE_ENGINE_NONE for NULL and unknown names. */
uint32_t gauges_engine(const char *name);

/* Reads the session's part from the agent's page, which is hostile: each value is read once and bounded. */
void gauges_status(const struct wire_status *status, struct vitals *out);
/* Fills in the *_pct_x10 fields from this and earlier readings, and adds this one to the history. */
void gauges_shares(struct gauges *g, struct vitals *out);

/*
 * Throttling by the CPU limits of the JVM's cgroups since the first reading. Only increases of the same cgroup's counters are
 * added, so the sums never decrease when another limit becomes the tightest.
 */
struct gauges_host {
	struct cgroup_mount mount;
	struct cgroup_cpu last; /* limit < 0: no limit */
	int64_t periods, throttled, throttled_us;
};

void gauges_host_init(struct gauges_host *h);
void gauges_host_read(struct gauges_host *h, pid_t pid, struct vitals_host *out);

/* --- cpu.c ------------------------------------------------------------------------------------- */

/*
 * Attributes the JVM's CPU time by the kernel's names of its threads: compilers, collector, the program; and the kernel's time
 * on behalf of all threads but compilers and collector. Time of threads that ended since the last reading counts as the
 * program's.
 */
enum gauges_owner { GAUGES_PROGRAM, GAUGES_JIT, GAUGES_GC, GAUGES_OWNERS };

struct gauges_task {
	pid_t tid;
	uint64_t start_ticks, utime, stime;
};

struct gauges_cpu {
	struct gauges_task *past, *now; /* threads of JIT and GC */
	unsigned past_count, now_count, cap;
	bool vm_collects;        /* the VM thread collects garbage (Serial) */
	bool graal;              /* Graal replaces C2: a JVMCI compiler thread was seen */
	uint64_t time_ns, ticks; /* of the last reading, ticks since boot; 0: none yet */
	uint64_t utime, stime;   /* of the process at the last reading */
	uint64_t used[GAUGES_OWNERS], kernel; /* since then; kernel: system time of JIT and GC */
};

/*
 * Time that threads were runnable without a core since the first reading: the sum of each thread's increase. A thread that ends
 * does not decrease it, and one that started since the last reading counts from 0.
 */
struct gauges_queue {
	struct gauges_wait {
		pid_t tid;
		uint64_t ns;
	} * past, *now; /* in the order of /proc, i.e. by start */
	unsigned past_count, now_count, cap, at;
	uint64_t sum_ns;
	bool begun;
};
void gauges_queue_done(struct gauges_queue *q);
/*
 * One reading: begin, each task in the order of /proc, end. started: the thread started since the last reading. end returns
 * the sum in ms; -1: unknown.
 */
void gauges_queue_begin(struct gauges_queue *q);
void gauges_queue_task(struct gauges_queue *q, pid_t pid, pid_t tid, bool started);
int64_t gauges_queue_end(struct gauges_queue *q);

/* CPU time as a percentage of one core. */
double gauges_pct(uint64_t ticks, uint64_t elapsed_ns);
void gauges_cpu_done(struct gauges_cpu *c);
/* One reading: begin, each task, end with the process's total. Fills in the shares, -1 at the first reading. */
void gauges_cpu_begin(struct gauges_cpu *c);
void gauges_cpu_task(struct gauges_cpu *c, pid_t tid, const struct proc_cpu *cpu, const char *comm);
void gauges_cpu_end(struct gauges_cpu *c, uint64_t now_ns, const struct proc_cpu *process,
	struct vitals_cpu *out);

/* --- heap.c ------------------------------------------------------------------------------------ */

/* Heap, collections, safepoints, threads and classes from hsperfdata; indices of counters are looked up once. */
#define GAUGES_GENERATIONS 2
#define GAUGES_SPACES      6 /* two generations of up to three */
#define GAUGES_COLLECTORS  3

struct gauges_heap {
	const struct gauges_collector *kind; /* NULL: unknown collector */
	bool divided; /* heap_is_divided: the maximum is the sum of those of the generations */
	int64_t ticks_per_s;
	bool sync_apart; /* safepoint_time excludes the time until all threads have stopped */
	int used[GAUGES_SPACES];
	int committed[GAUGES_GENERATIONS], max[GAUGES_GENERATIONS];
	int invocations[GAUGES_COLLECTORS], time[GAUGES_COLLECTORS];
	int safepoints, safepoint_time, safepoint_sync;
	int threads_live, threads_daemon, threads_started;
	int cause, last_cause; /* of the present collection, and of the one before it: texts */
	int compilations;
	int classes[2], unloaded[2];              /* [0]: not shared, [1]: from the CDS archive */
	int64_t gc_ns, safepoint_ns;              /* at the last reading */
	int64_t collections;                      /* at the last peek */
	int64_t humongous, explicit_gc, metadata; /* collections by cause */
	/* Minimum in use since the last reading; number of peeks since the start. */
	int64_t low, polls;
};

/* jdk: its major version; 0 or 1 (unknown, JDK 8): safepoint times are then a lower bound. */
void gauges_heap_init(struct gauges_heap *h, const struct hsperf *perf, int jdk);
void gauges_heap_read(struct gauges_heap *h, const struct hsperf *perf, struct vitals *out);
/* Bytes in use now, also recorded for the minimum until the next reading; -1: unknown. */
int64_t gauges_heap_peek(struct gauges_heap *h, const struct hsperf *perf);

#endif
