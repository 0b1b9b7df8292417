/* SPDX-License-Identifier: Apache-2.0 */
/* gauges_cpu: a JVM's CPU time by owner, on synthetic threads. */
#include "session/gauges/gauges.h"

#include "base/clock.h"
#include "tests/tap.h"

#include <unistd.h>

#define HZ ((uint64_t)sysconf(_SC_CLK_TCK))

struct task {
	int tid;
	const char *comm;
	uint64_t start, utime, stime;
};

/* A poll at `second`: these threads, and the CPU time of the whole process. */
static struct vitals_cpu poll_tasks(struct gauges_cpu *c, int second, const struct task *tasks,
	int count, uint64_t utime, uint64_t stime)
{
	struct proc_cpu process = {.utime = utime, .stime = stime};
	struct vitals_cpu out;

	gauges_cpu_begin(c);
	for (int i = 0; i < count; i++)
		gauges_cpu_task(c, tasks[i].tid,
			&(struct proc_cpu){.utime = tasks[i].utime,
				.stime = tasks[i].stime,
				.start_ticks = tasks[i].start},
			tasks[i].comm);
	gauges_cpu_end(c, (uint64_t)(100 + second) * NS_PER_S, &process, &out);
	return out;
}

static void is_cpu(struct vitals_cpu got, int java, int jit, int gc, int kernel, const char *what)
{
	ok(got.java_pct == java && got.jit_pct == jit && got.gc_pct == gc &&
			got.kernel_pct == kernel,
		"%s: java %d, jit %d, gc %d, kernel %d", what, got.java_pct, got.jit_pct,
		got.gc_pct, got.kernel_pct);
}

int main(void)
{
	struct gauges_cpu c = {0};
	uint64_t h = HZ,
		 new = (uint64_t)1 << 60; /* started after the last poll, whenever that was */
	struct task first[] = {{1, "java", 5, 10 * h, 0}, {2, "C2 CompilerThre", 5, 20 * h, h},
		{3, "GC Thread#0", 5, 30 * h, 2 * h}, {4, "VM Thread", 5, 7 * h, 0}};
	struct task second[] = {{1, "java", 5, 11 * h, h},
		{2, "C2 CompilerThre", 5, 20 * h + h / 2, h}, {3, "GC Thread#0", 5, 32 * h, 3 * h},
		{4, "VM Thread", 5, 8 * h, 0}};
	struct task third[] = {{1, "java", 5, 12 * h, h}, {9, "GC Thread#1", new, h, 0},
		{3, "GC Thread#0", new, h / 4, 0}, {4, "VM Thread", 5, 9 * h, 0}};
	struct task fourth[] = {{1, "java", 5, 12 * h, h}, {10, "C1 CompilerThre", 6, 50 * h, 0},
		{3, "GC Thread#0", new, h / 4, 0}, {9, "GC Thread#1", new, h / 2, 0}};

	is_cpu(poll_tasks(&c, 0, first, 4, 70 * h, 5 * h), -1, -1, -1, -1,
		"the first poll has no CPU times");
	is_cpu(poll_tasks(&c, 2, second, 4, 75 * h, 8 * h), 125, 25, 150, 100,
		"two seconds, four threads: kernel time of GC threads counts as GC");
	is_cpu(poll_tasks(&c, 3, third, 4, 79 * h, 8 * h), 275, 0, 125, 0,
		"new threads count from their start, also with the tid of an ended one");
	is_cpu(poll_tasks(&c, 4, fourth, 4, 79 * h + h / 10, 8 * h), 10, 0, 0, 0,
		"no share is negative; a thread seen under a new name counts from then on");
	c.vm_collects = true;
	fourth[0] = (struct task){4, "VM Thread", 5, 10 * h, 0};
	poll_tasks(&c, 5, fourth, 4, 80 * h, 8 * h);
	fourth[0].utime += h / 2;
	is_cpu(poll_tasks(&c, 6, fourth, 4, 81 * h, 8 * h), 50, 0, 50, 0,
		"with Serial the VM thread's time counts as GC");
	ok(!c.graal, "with C1 and C2 threads Graal is not detected");
	fourth[1].comm = "LibGraal-1 Mana";
	poll_tasks(&c, 7, fourth, 4, 82 * h, 8 * h);
	ok(!c.graal, "the LibGraal management thread alone is not a Graal compiler");
	fourth[1].comm = "JVMCI-native Co";
	poll_tasks(&c, 8, fourth, 4, 83 * h, 8 * h);
	ok(c.graal, "Graal is detected by the name of its compiler thread");
	poll_tasks(&c, 9, first, 4, 84 * h, 8 * h);
	ok(c.graal, "Graal stays detected after its idle thread ended");
	gauges_cpu_done(&c);
	return tap_done();
}
