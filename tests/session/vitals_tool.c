/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints a session's vitals and threads after SECONDS, for scripts, as lines of "name value" and
 * "thread TID STATE USER% SYSTEM% NAME".
 *
 *    vitals_tool PID SECONDS [AGENT]
 */
#include "base/clock.h"
#include "session/session.h"
#include "symbols/child/child.h"

#include <stdio.h>
#include <stdlib.h>

static void print_vitals(const struct vitals *v)
{
	printf("pid %d\nname %s\njdk %s\nvm %s\nuser %s\nuptime_s %lld\n", v->pid, v->name, v->jdk,
		v->vm, v->user, (long long)v->uptime_s);
	printf("cpu_user_ms %lld\ncpu_system_ms %lld\nmachine_busy_ms %lld\nmachine_cpus %lld\n",
		(long long)v->cpu_user_ms, (long long)v->cpu_system_ms,
		(long long)v->machine_busy_ms, (long long)v->machine_cpus);
	printf("heap_committed %lld\ngc_time_ns %lld\n", (long long)v->heap_committed,
		(long long)v->gc_time_ns);
	printf("cpu_pct %d\nrss_bytes %lld\nheap_used %lld\nheap_max %lld\n", v->cpu_pct,
		(long long)v->rss_bytes, (long long)v->heap_used, (long long)v->heap_max);
	printf("heap_low %lld\nheap_looks %lld\n", (long long)v->heap_low,
		(long long)v->heap_looks);
	printf("java_pct %d\njit_pct %d\ngc_cpu_pct %d\nkernel_pct %d\n", v->cpu.java_pct,
		v->cpu.jit_pct, v->cpu.gc_pct, v->cpu.kernel_pct);
	printf("gc_name %s\ngc_count %lld\ngc_time_ms %lld\ngc_pct_x10 %d\n", v->gc_name,
		(long long)v->gc_count, (long long)v->gc_time_ms, v->gc_pct_x10);
	printf("safepoint_count %lld\nsafepoint_time_ms %lld\nsafepoint_pct_x10 %d\n",
		(long long)v->safepoint_count, (long long)v->safepoint_time_ms,
		v->safepoint_pct_x10);
	printf("threads_live %lld\nthreads_daemon %lld\nthreads_running %d\nclasses_loaded %lld\n",
		(long long)v->threads_live, (long long)v->threads_daemon, v->threads_running,
		(long long)v->classes_loaded);
	printf("classes_unloaded %lld\ngc_whole %lld\nsafepoint_sync_ms %lld\nmajor_faults %lld\n"
	       "swap_bytes %lld\ncpu_limit %lld\n",
		(long long)v->classes_unloaded, (long long)v->gc_whole,
		(long long)v->safepoint_sync_ms, (long long)v->host.major_faults,
		(long long)v->host.swap_bytes, (long long)v->host.cpu_limit);
	printf("vitals_note %s\nalive %d\nstalled %d\nwalker %s\nlost %lld\ncost_ns "
	       "%lld\ncost_pct_x10 %d\n",
		v->vitals_note, v->alive, v->stalled, v->walker, (long long)v->lost,
		(long long)v->cost_ns, v->cost_pct_x10);
	printf("agent_bytes %lld\ncounters %d\nengine %s\nsamples %lld\n",
		(long long)v->agent_bytes, v->counter_count, v->events[EVENT_CPU].engine,
		(long long)v->events[EVENT_CPU].samples);
}

static void print_threads(struct session *s, const struct profile *p)
{
	struct session_thread_cpu *rows = NULL;
	int count = session_threads(s, &rows);

	for (int i = 0; i < count; i++)
		printf("thread %d %c %.0f %.0f %s\n", profile_get_thread(p, rows[i].thread)->tid,
			rows[i].state, (double)rows[i].user_pct, (double)rows[i].system_pct,
			profile_get_thread(p, rows[i].thread)->name);
}

static int fail(const struct err *err)
{
	fprintf(stderr, "%s\n", err->what);
	return (int)err->kind;
}

int main(int argc, char **argv)
{
	struct session_options options = {.agent.path = argc > 3 ? argv[3] : NULL};
	struct session_thread_cpu *rows;
	struct hotspot jvm;
	struct err err = {0};
	struct profile *p;
	struct session *s;
	uint64_t end_ns;

	if (elf_child_main(argc, argv, NULL))
		return 0;
	if (argc < 3)
		return 2;
	if (hotspot_check(atoi(argv[1]), &jvm, &err))
		return fail(&err);
	p = profile_new();
	s = session_open(&jvm, &options, p, &err);
	if (!s || session_event_start(s, EVENT_CPU, 0, &err))
		return fail(&err);
	end_ns = clock_mono_ns() + (uint64_t)(atof(argv[2]) * (double)NS_PER_S);
	session_drain(s, &err);
	session_threads(s, &rows);
	while (clock_mono_ns() < end_ns && session_drain(s, &err) >= 0)
		session_wait(s, 200);
	print_vitals(session_vitals(s));
	print_threads(s, p);
	session_close(s);
	profile_free(p);
	return 0;
}
