/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of vitals, and the quality of the data by the agent's counters. */
#include "profile/vitals.h"

#include <stddef.h>
#include <string.h>

#define PCT_MAX  (100 * 100000) /* 100,000 cores */
#define UPTIME_S ((int64_t)1 << 36)
#define PIDS_MAX (1 << 22) /* the kernel's limit of pids */

static void bound(int64_t *value, int64_t most, int64_t otherwise)
{
	if (*value < 0 || *value > most)
		*value = otherwise;
}

static void bound_int(int *value, int most)
{
	if (*value < 0 || *value > most)
		*value = -1;
}

const struct vitals_host vitals_host_unknown = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};

void vitals_unknown(struct vitals *v)
{
	v->uptime_s = v->rss_bytes = v->heap_used = v->heap_max = -1;
	v->gc_count = v->gc_time_ms = v->safepoint_count = v->safepoint_time_ms = -1;
	v->threads_live = v->threads_daemon = v->classes_loaded = -1;
	v->cpu_pct = v->gc_pct_x10 = v->safepoint_pct_x10 = v->threads_running = v->cost_pct_x10 =
		-1;
	v->cpu = (struct vitals_cpu){-1, -1, -1, -1};
	v->host = vitals_host_unknown;
	v->safepoint_sync_ms = v->classes_unloaded = v->gc_whole = v->gc_time_ns = -1;
	v->heap_committed = v->cpu_user_ms = v->cpu_system_ms = -1;
	v->machine_busy_ms = v->machine_cpus = -1;
	v->code_used = v->code_max = v->compilations = -1;
	v->heap_low = v->heap_looks = v->threads_started = -1;
	v->gc_humongous = v->gc_explicit = v->gc_metadata = -1;
}

void vitals_bound(struct vitals *v)
{
	int64_t *const gauges[] = {&v->rss_bytes, &v->heap_used, &v->heap_max, &v->gc_count,
		&v->gc_time_ms, &v->safepoint_count, &v->safepoint_time_ms, &v->threads_live,
		&v->threads_daemon, &v->classes_loaded, &v->host.cpu_limit, &v->host.cpu_period_us,
		&v->host.cpu_periods, &v->host.cpu_throttled, &v->host.throttled_us,
		&v->host.major_faults, &v->host.swap_bytes, &v->host.swapped_in,
		&v->host.cpus_free_ms, &v->safepoint_sync_ms, &v->classes_unloaded, &v->gc_whole,
		&v->gc_time_ns, &v->heap_committed, &v->cpu_user_ms, &v->cpu_system_ms,
		&v->machine_busy_ms, &v->machine_cpus, &v->code_used, &v->code_max,
		&v->compilations, &v->heap_low, &v->heap_looks, &v->host.queued_ms, &v->host.fds,
		&v->host.fds_limit, &v->host.anon_bytes, &v->threads_started, &v->gc_humongous,
		&v->gc_explicit, &v->gc_metadata};
	int *const shares[] = {&v->cpu_pct, &v->gc_pct_x10, &v->safepoint_pct_x10, &v->cost_pct_x10,
		&v->cpu.java_pct, &v->cpu.jit_pct, &v->cpu.gc_pct, &v->cpu.kernel_pct};

	for (size_t i = 0; i < sizeof(gauges) / sizeof(gauges[0]); i++)
		bound(gauges[i], VITALS_MAX, -1);
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
		bound_int(shares[i], PCT_MAX);
	bound(&v->uptime_s, UPTIME_S, -1);
	bound_int(&v->threads_running, PIDS_MAX);
	bound(&v->cost_ns, VITALS_MAX, 0);
	bound(&v->agent_bytes, VITALS_MAX, 0);
	v->lost = 0;
	for (int i = 0; i < VITALS_EVENTS; i++) {
		struct vitals_event *e = &v->events[i];

		bound(&e->interval, VITALS_MAX, 0);
		bound(&e->samples, VITALS_MAX, 0);
		bound(&e->lost, VITALS_MAX, 0);
		v->lost += e->lost;
	}
	if (v->counter_count < 0 || v->counter_count > VITALS_COUNTERS)
		v->counter_count = 0;
	for (int i = 0; i < v->counter_count; i++)
		bound(&v->counters[i].value, VITALS_MAX, 0);
}

/* Counters of broken walks are named as the frames, without the brackets. */
static bool is_break(const char *name)
{
	return !strncmp(name, "break_", strlen("break_")) ||
	       !strncmp(name, "unknown", strlen("unknown"));
}

enum vitals_loss vitals_loss(const char *counter)
{
	static const struct {
		const char *name;
		enum vitals_loss loss;
	} rows[] = {
		{"table_full", VITALS_LOST},
		{"no_thread", VITALS_LOST},
		{"perf_lost", VITALS_LOST},
		{"late", VITALS_LOST},
		{"live_full", VITALS_LOST},
		{"wait_over", VITALS_LOST},
		{"moved", VITALS_LOST},
		{"threads_full", VITALS_UNSAMPLED},
		{"threads_missed", VITALS_UNSAMPLED},
		{"arm_failed", VITALS_UNSAMPLED},
		{"contexts_lost", VITALS_NO_REQUEST},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(rows[i].name, counter))
			return rows[i].loss;
	return VITALS_NO_LOSS;
}

int64_t vitals_broken(const struct vitals *v, int64_t *samples, const char **most)
{
	int64_t broken = 0, top = 0;

	*samples = 0;
	*most = NULL;
	for (int i = 0; i < VITALS_EVENTS; i++)
		*samples += v->events[i].samples - v->events[i].lost;
	for (int i = 0; i < v->counter_count && i < VITALS_COUNTERS; i++) {
		if (!is_break(v->counters[i].name) || v->counters[i].value <= 0)
			continue;
		broken += v->counters[i].value;
		if (v->counters[i].value > top) {
			top = v->counters[i].value;
			*most = v->counters[i].name;
		}
	}
	return broken;
}
