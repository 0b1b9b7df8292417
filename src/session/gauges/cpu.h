/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose CPU time a JVM's is: its compilers', its collector's, the kernel's on behalf of all others, the program's.
 *
 * By the kernel's names of its threads, which HotSpot gives on all versions. A look takes each thread once; threads that ended
 * since the last one were the program's. Embedded in struct gauges.
 */
#ifndef JHOT_SESSION_GAUGES_CPU_H
#define JHOT_SESSION_GAUGES_CPU_H

#include "attach/proc.h"
#include "profile/vitals.h"

enum gauges_owner { GAUGES_PROGRAM, GAUGES_JIT, GAUGES_GC, GAUGES_OWNERS };

struct gauges_task {
	pid_t tid;
	uint64_t start_ticks, utime, stime;
};

struct gauges_cpu {
	struct gauges_task *past, *now; /* of JIT and GC, in the order of the folder of tasks */
	unsigned past_count, now_count, cap;
	bool vm_collects;        /* the VM thread does the collector's work */
	uint64_t time_ns, ticks; /* of the last look, ticks since boot; 0: there was none */
	uint64_t utime, stime;   /* of the process, then */
	uint64_t used[GAUGES_OWNERS], kernel; /* since then; kernel: what JIT and GC used there */
};

void gauges_cpu_done(struct gauges_cpu *c);
/* A look: begin, each task, end with what the process used in all. Fills the shares, -1 at the first look. */
void gauges_cpu_begin(struct gauges_cpu *c);
void gauges_cpu_task(struct gauges_cpu *c, pid_t tid, const struct proc_cpu *cpu, const char *comm);
void gauges_cpu_end(struct gauges_cpu *c, uint64_t now_ns, const struct proc_cpu *process,
	struct vitals_cpu *out);

#endif
