/* SPDX-License-Identifier: Apache-2.0 */
/* The vitals: the JVM's part from hsperfdata, /proc and cgroups, the session's part from the agent's status page. */
#include "session/gauges/gauges.h"

#include "attach/jvm/hsperf.h"
#include "attach/jvm/libjvm.h"
#include "attach/proc.h"
#include "base/buf.h"
#include "base/clean.h"
#include "base/clock.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GAUGES_SHARE_NS  (10 * NS_PER_S)
#define GAUGES_HISTORY   16
#define GAUGES_TASK_COST 100 /* reading all threads may take 1 % of the time */

struct gauges_past {
	uint64_t time_ns;
	int64_t gc_ns, safepoint_ns, cost_ns;
};

struct gauges {
	struct hotspot jvm;
	struct hsperf *perf;
	struct gauges_heap heap;
	struct gauges_cpu cpu;
	struct gauges_queue queue;
	struct gauges_host host;
	struct vitals who;  /* the constant values; all others are unknown */
	struct vitals last; /* of the last reading; reported on when the JVM has ended */

	uint64_t cpu_ticks, cpu_ns; /* of the last reading */
	uint64_t tasks_due_ns;

	/* A ring; the oldest is at past_count % GAUGES_HISTORY when it is full. */
	struct gauges_past past[GAUGES_HISTORY];
	unsigned past_count;
};

struct gauges *gauges_new(const struct hotspot *jvm)
{
	struct gauges *g = xcalloc(1, sizeof(*g));
	struct vitals *who = &g->who;
	struct libjvm lib;
	struct err why = {0};

	g->jvm = *jvm;
	vitals_unknown(who);
	who->pid = jvm->pid;
	snprintf(who->name, sizeof(who->name), "%s", jvm->name);
	snprintf(who->jdk, sizeof(who->jdk), "%s", jvm->jdk);
	snprintf(who->vm, sizeof(who->vm), "%s", jvm->vm);
	snprintf(who->user, sizeof(who->user), "%s", jvm->user);
	gauges_host_init(&g->host);
	libjvm_find(jvm->pid, &lib);
	g->perf = hsperf_open(jvm->pid, jvm->nspid, &lib, &why);
	if (g->perf)
		gauges_heap_init(&g->heap, g->perf, atoi(jvm->jdk));
	else
		snprintf(who->vitals_note, sizeof(who->vitals_note), "no JVM counters: %.78s",
			why.what);
	return g;
}

void gauges_free(struct gauges *g)
{
	if (!g)
		return;
	hsperf_close(g->perf);
	gauges_cpu_done(&g->cpu);
	gauges_queue_done(&g->queue);
	free(g);
}

/* --- limits of CPU time ------------------------------------------------------------------------------ */

void gauges_host_init(struct gauges_host *h)
{
	*h = (struct gauges_host){.last = {.limit = -1}};
	cgroup_mount_find(&h->mount, "cpu");
}

void gauges_host_read(struct gauges_host *h, pid_t pid, struct vitals_host *out)
{
	const struct cgroup_cpu *then = &h->last;
	struct cgroup_cpu now;
	enum cgroup_answer answer = cgroup_cpu(&h->mount, pid, &now);

	/* Compares counters only with those of the same cgroup, and not if it was recreated. */
	if (now.limit >= 0 && then->limit >= 0 && !strcmp(now.path, then->path) &&
		now.periods >= then->periods && now.throttled >= then->throttled &&
		now.throttled_us >= then->throttled_us) {
		h->periods += now.periods - then->periods;
		h->throttled += now.throttled - then->throttled;
		h->throttled_us += now.throttled_us - then->throttled_us;
	}
	h->last = now;
	out->cpu_limit = answer == CGROUP_NO_LIMIT ? 0 : -1;
	if (answer != CGROUP_LIMIT)
		return;
	out->cpu_limit = now.limit;
	out->cpu_period_us = now.period_us;
	out->cpu_periods = h->periods;
	out->cpu_throttled = h->throttled;
	out->throttled_us = h->throttled_us;
}

/* --- /proc ------------------------------------------------------------------------------------------- */

struct gauges_tasks {
	pid_t pid;
	int running;
	struct gauges_cpu *owners;
	struct gauges_queue *queue;
};

static void gauges_count_task(void *ctx, pid_t tid)
{
	struct gauges_tasks *t = ctx;
	struct proc_cpu cpu;
	char comm[32];

	if (!proc_thread_cpu(t->pid, tid, &cpu, comm)) {
		t->running += cpu.state == 'R';
		gauges_cpu_task(t->owners, tid, &cpu, comm);
		if (strncmp(comm, "jhot ", 5) != 0)
			gauges_queue_task(
				t->queue, t->pid, tid, cpu.start_ticks >= t->owners->ticks);
	}
}

/* Rate-limited, since it reads one file or more per thread; in between, reports the values of the last reading. */
static void gauges_read_tasks(struct gauges *g, struct vitals *v)
{
	struct gauges_tasks t = {.pid = g->jvm.pid, .owners = &g->cpu, .queue = &g->queue};
	struct proc_cpu process;

	v->threads_running = g->last.time_ns ? g->last.threads_running : -1;
	v->cpu = g->last.time_ns ? g->last.cpu : v->cpu;
	v->host.queued_ms = g->last.time_ns ? g->last.host.queued_ms : -1;
	if (v->time_ns < g->tasks_due_ns)
		return;
	gauges_cpu_begin(&g->cpu);
	gauges_queue_begin(&g->queue);
	g->cpu.vm_collects = !strcmp(v->gc_name, "Serial");
	if (proc_threads(g->jvm.pid, gauges_count_task, &t) || proc_cpu(g->jvm.pid, &process)) {
		v->threads_running = -1;
		return;
	}
	v->threads_running = t.running;
	v->host.queued_ms = gauges_queue_end(&g->queue);
	if (g->cpu.graal) { /* which the VM's name does not mention */
		snprintf(g->who.vm, sizeof(g->who.vm), "%.100s%sGraal", g->jvm.vm,
			*g->jvm.vm ? " with " : "");
		memcpy(v->vm, g->who.vm, sizeof(v->vm));
	}
	gauges_cpu_end(&g->cpu, clock_mono_ns(), &process, &v->cpu);
	g->tasks_due_ns = v->time_ns + (clock_mono_ns() - v->time_ns) * GAUGES_TASK_COST;
}

static int64_t gauges_ms(uint64_t ticks)
{
	return (int64_t)((double)ticks * 1000 / (double)sysconf(_SC_CLK_TCK));
}

/* Reads /proc and the cgroups. */
static void gauges_read_proc(struct gauges *g, struct vitals *v)
{
	struct proc_machine machine;
	struct proc_status status;
	struct proc_cpu cpu;

	if (!proc_status(g->jvm.pid, &status)) {
		v->rss_bytes = (int64_t)status.rss_bytes;
		v->host.anon_bytes = status.anon_bytes ? (int64_t)status.anon_bytes : -1;
		v->host.swap_bytes = (int64_t)status.swap_bytes;
		v->host.swapped_in = status.swap_bytes ? proc_swapped_in() : -1;
	}
	gauges_host_read(&g->host, g->jvm.pid, &v->host);
	gauges_read_tasks(g, v);
	v->host.fds = proc_fds_count(g->jvm.pid);
	v->host.fds_limit = proc_fds_limit(g->jvm.pid);
	if (!proc_machine(g->jvm.pid, &machine)) {
		if (machine.free_ticks >= 0)
			v->host.cpus_free_ms = gauges_ms((uint64_t)machine.free_ticks);
		v->machine_busy_ms = gauges_ms(machine.busy_ticks);
		v->machine_cpus = machine.cpus;
	}
	if (proc_cpu(g->jvm.pid, &cpu))
		return;
	v->cpu_user_ms = gauges_ms(cpu.utime);
	v->cpu_system_ms = gauges_ms(cpu.stime);
	v->host.major_faults = (int64_t)cpu.major_faults;
	uint64_t ticks = cpu.utime + cpu.stime;
	v->uptime_s = proc_uptime_s(cpu.start_ticks);
	if (g->cpu_ns && v->time_ns > g->cpu_ns && ticks >= g->cpu_ticks)
		v->cpu_pct = (int)(gauges_pct(ticks - g->cpu_ticks, v->time_ns - g->cpu_ns) + 0.5);
	g->cpu_ticks = ticks;
	g->cpu_ns = v->time_ns;
}

/* Reads the constant texts of hsperfdata. */
static void gauges_read_arguments(struct gauges *g)
{
	const struct {
		const char *name;
		char *out;
		size_t bytes;
	} texts[] = {
		{"sun.rt.javaCommand", g->who.command, sizeof(g->who.command)},
		{"java.rt.vmArgs", g->who.vm_args, sizeof(g->who.vm_args)},
		{"java.rt.vmFlags", g->who.vm_flags, sizeof(g->who.vm_flags)},
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (!hsperf_string(g->perf, hsperf_find(g->perf, texts[i].name), texts[i].out,
			    texts[i].bytes))
			texts[i].out[0] = '\0';
}

void gauges_read(struct gauges *g, bool alive, struct vitals *out)
{
	struct vitals_event events[VITALS_EVENTS]; /* the session's part */

	memcpy(events, out->events, sizeof(events));
	*out = g->last;
	if (alive) {
		if (g->perf && !*g->who.command)
			gauges_read_arguments(g); /* a starting JVM may not have them yet */
		*out = g->who;
		out->time_ns = clock_mono_ns();
		if (g->perf)
			gauges_heap_read(&g->heap, g->perf, out);
		gauges_read_proc(g, out);
		vitals_bound(out);
		g->last = *out;
	}
	memcpy(out->events, events, sizeof(events));
	out->time_ns = clock_mono_ns();
	out->alive = alive;
}

void gauges_peek(struct gauges *g)
{
	if (g->perf)
		gauges_heap_peek(&g->heap, g->perf);
}

/* --- the agent's page -------------------------------------------------------------------------------- */

static const char *const gauges_engines[] = {
	[WIRE_ENGINE_NONE] = "",
	[WIRE_ENGINE_PERF] = "perf",
	[WIRE_ENGINE_CTIMER] = "ctimer",
	[WIRE_ENGINE_WALL] = "wall",
	[WIRE_ENGINE_ALLOC] = "alloc",
	[WIRE_ENGINE_LOCK] = "lock",
	[WIRE_ENGINE_TRAP] = "trap",
};

uint32_t gauges_engine(const char *name)
{
	for (uint32_t i = 0; name && i < sizeof(gauges_engines) / sizeof(gauges_engines[0]); i++)
		if (!strcmp(gauges_engines[i], name))
			return i;
	return WIRE_ENGINE_NONE;
}

static int64_t gauges_int(const _Atomic uint64_t *value)
{
	uint64_t v = atomic_load(value);

	return v > VITALS_MAX ? VITALS_MAX : (int64_t)v;
}

static void gauges_read_event(const struct wire_event_status *from, struct vitals_event *to)
{
	static const char denied[] = "no perf_events: E";
	uint32_t engine = atomic_load(&from->engine), state = atomic_load(&from->state);

	to->state = state <= WIRE_EVENT_FAILED ? (int)state : WIRE_EVENT_OFF;
	to->samples = gauges_int(&from->samples);
	to->lost = gauges_int(&from->lost);
	if (state == WIRE_EVENT_OFF)
		return; /* engine and interval are retained for headers */
	snprintf(to->engine, sizeof(to->engine), "%s",
		engine < sizeof(gauges_engines) / sizeof(gauges_engines[0]) ? gauges_engines[engine]
									    : "?");
	to->interval = gauges_int(&from->interval);
	clean_shared(to->note, sizeof(to->note), from->note, sizeof(from->note));
	/* The JVM may not open perf_events, but we can, and lend them. */
	size_t used = strlen(to->note);
	if (!strncmp(to->note, denied, strlen(denied)) && geteuid() == 0)
		snprintf(to->note + used, sizeof(to->note) - used, "; try --engine=lent");
}

void gauges_status(const struct wire_status *status, struct vitals *out)
{
	uint32_t counters = atomic_load(&status->counters_used);

	clean_shared(out->walker, sizeof(out->walker), status->walker, sizeof(status->walker));
	clean_shared(out->walker_note, sizeof(out->walker_note), status->walker_note,
		sizeof(status->walker_note));
	out->cost_ns = gauges_int(&status->cost_ns);
	out->agent_bytes = gauges_int(&status->memory_bytes);
	out->code_max = gauges_int(&status->code_bytes) ? gauges_int(&status->code_bytes) : -1;
	out->code_used = out->code_max < 0 ? -1 : gauges_int(&status->code_used);
	out->lost = 0;
	for (int i = 0; i < VITALS_EVENTS && i < WIRE_EVENTS; i++) {
		gauges_read_event(&status->events[i], &out->events[i]);
		out->lost += out->events[i].lost;
	}
	out->counter_count = (int)(counters < WIRE_COUNTERS ? counters : WIRE_COUNTERS);
	for (int i = 0; i < out->counter_count; i++) {
		clean_shared(out->counters[i].name, sizeof(out->counters[i].name),
			status->counters[i].name, sizeof(status->counters[i].name));
		out->counters[i].value = gauges_int(&status->counters[i].value);
	}
}

/* --- shares over the last 10 s ----------------------------------------------------------------------- */

/* The share of the elapsed time, in thousandths; -1: unknown. */
static int gauges_share(int64_t now, int64_t then, uint64_t elapsed_ns)
{
	double share = (double)(now - then) * 1000 / (double)elapsed_ns + 0.5;

	return now < 0 || then < 0 || now < then || share > INT_MAX ? -1 : (int)share;
}

void gauges_shares(struct gauges *g, struct vitals *v)
{
	struct gauges_past now = {v->time_ns, v->gc_time_ms < 0 ? -1 : g->heap.gc_ns,
		v->safepoint_time_ms < 0 ? -1 : g->heap.safepoint_ns, v->cost_ns};
	unsigned kept = g->past_count < GAUGES_HISTORY ? g->past_count : GAUGES_HISTORY;
	const struct gauges_past *then = NULL;

	for (unsigned i = 0; i < kept; i++) { /* the oldest within the window */
		const struct gauges_past *p = &g->past[i];

		if (now.time_ns - p->time_ns <= GAUGES_SHARE_NS + NS_PER_S &&
			(!then || p->time_ns < then->time_ns))
			then = p;
	}
	if (then && now.time_ns > then->time_ns) {
		uint64_t elapsed_ns = now.time_ns - then->time_ns;

		v->gc_pct_x10 = gauges_share(now.gc_ns, then->gc_ns, elapsed_ns);
		v->safepoint_pct_x10 =
			gauges_share(now.safepoint_ns, then->safepoint_ns, elapsed_ns);
		v->cost_pct_x10 = gauges_share(now.cost_ns, then->cost_ns, elapsed_ns);
	}
	g->past[g->past_count++ % GAUGES_HISTORY] = now;
}
