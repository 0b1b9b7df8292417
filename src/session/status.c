/* SPDX-License-Identifier: Apache-2.0 */
/* The state of jhot in a JVM, read through /proc, and stopping another front end's session. */
#include "attach/proc.h"
#include "base/buf.h"
#include "base/clean.h"
#include "base/clock.h"
#include "profile/vitals.h"
#include "session/gauges/gauges.h"
#include "session/mapping.h"
#include "session/session.h"

#include <stdio.h>
#include <string.h>

#define STOP_MS 3000

/* --- what is mapped ---------------------------------------------------------------------------------- */

static bool status_see_map(void *ctx, const struct proc_map *map)
{
	struct buf *files = ctx;
	char path[512];

	clean_text(path, sizeof(path), map->path, strlen(map->path));
	if (!strncmp(path_name(path), "libjhot", strlen("libjhot")) &&
		!strstr(buf_str(files), path))
		buf_printf(files, "  %s%s\n", path, map->deleted ? " (deleted)" : "");
	return true;
}

/* --- the session ------------------------------------------------------------------------------------- */

static void status_events(struct buf *text, const struct session_status *out)
{
	const struct vitals *v = &out->vitals;

	for (int i = 0; i < VITALS_EVENTS && i < PROFILE_EVENTS; i++) {
		const struct vitals_event *e = &v->events[i];

		if (e->state == WIRE_EVENT_OFF && !e->samples)
			continue;
		buf_printf(text, "event %s: %s, ", out->events[i],
			e->state == WIRE_EVENT_ON ? e->engine
			: e->state                ? "failed"
						  : "off");
		if (e->state == WIRE_EVENT_ON && !profile_events[i].weight_is_time)
			buf_printf(text, "every %lld %s, ", (long long)e->interval,
				profile_events[i].unit);
		else if (e->state == WIRE_EVENT_ON)
			buf_printf(text, e->interval >= 1000000 ? "every %g ms, " : "every %g us, ",
				(double)e->interval / (e->interval >= 1000000 ? 1e6 : 1e3));
		buf_printf(text, "%lld samples, %lld lost%s%s\n", (long long)e->samples,
			(long long)e->lost, e->note[0] ? "; " : "", e->note);
	}
}

static void status_cost(struct buf *text, const struct wire_walk_cost *c)
{
	buf_printf(text, "%llu, median %u ns, p99 %u ns, mean %u ns\n",
		(unsigned long long)atomic_load(&c->walks), atomic_load(&c->median_ns),
		atomic_load(&c->p99_ns), atomic_load(&c->mean_ns));
}

/* The names of events: those of user events from the front end that owns the session. */
static void status_names(const struct mapping *m, struct session_status *out)
{
	for (int i = 0; i < PROFILE_EVENTS; i++) {
		char *to = out->events[i];

		if (i >= EVENT_USER_FIRST)
			clean_shared(to, sizeof(out->events[i]),
				m->control->event_names[i - EVENT_USER_FIRST],
				sizeof(m->control->event_names[0]));
		if (!*to)
			snprintf(to, sizeof(out->events[i]), "%s", profile_events[i].name);
	}
}

static void status_debug_info(struct buf *text, const struct wire_status *status)
{
	static const char *const words[] = {
		[WIRE_DEBUG_INFO_OWN] = "the JVM's own setting (DebugNonSafepoints)",
		[WIRE_DEBUG_INFO_SET] = "DebugNonSafepoints is set until the session ends; code "
					"compiled earlier has no inlining info",
		[WIRE_DEBUG_INFO_NONE] =
			"DebugNonSafepoints cannot be set: time may be attributed to the caller",
	};
	uint32_t is = atomic_load(&status->debug_info);

	if (is < sizeof(words) / sizeof(words[0]) && words[is])
		buf_printf(text, "inlined methods: %s\n", words[is]);
}

static void status_session(const struct mapping *m, struct session_status *out, struct buf *text)
{
	struct vitals v = {0};
	const char *reason, *before = "counters: ";
	int64_t samples;

	gauges_status(m->status, &v);
	out->vitals = v;
	status_names(m, out);
	control_front_end(m, out->front_end, sizeof(out->front_end), &out->front_end_pid,
		&out->since_wall_ns);
	out->lease_live = control_beats(m);
	buf_printf(text, "walker: %s%s%s\n", v.walker, v.walker_note[0] ? "; " : "", v.walker_note);
	status_debug_info(text, m->status);
	status_events(text, out);
	int64_t broken = vitals_broken(&v, &samples, &reason);
	if (samples > 0)
		buf_printf(text, "broken: %lld of %lld stacks, %.2f %%%s%s\n", (long long)broken,
			(long long)samples, (double)broken * 100 / (double)samples,
			reason ? ", most of them " : "", reason ? reason : "");
	for (int i = 0; i < v.counter_count; i++) {
		if (!v.counters[i].value)
			continue;
		buf_printf(text, "%s%s %lld", before, v.counters[i].name,
			(long long)v.counters[i].value);
		before = ", ";
	}
	if (*before == ',')
		buf_addc(text, '\n');
	/* The cost of walks by depth, and of naming stacks with new names. */
	const struct wire_status *status = m->status;
	for (int i = 0; i < WIRE_WALK_CLASSES; i++) {
		const struct wire_walk_cost *c = &status->walk_cost[i];
		unsigned depth_max = atomic_load(&c->depth_max);
		if (!atomic_load(&c->walks))
			continue;
		if (i == 0)
			buf_adds(text, "walks: ");
		else if (depth_max == UINT32_MAX)
			buf_adds(text, "  deeper: ");
		else
			buf_printf(text, "  up to %u frames: ", depth_max);
		status_cost(text, c);
	}
	if (atomic_load(&status->name_cost.walks)) {
		buf_adds(text, "naming stacks with new names: ");
		status_cost(text, &status->name_cost);
	}
	buf_printf(text, "agent: %.1f ms of CPU time, %lld kB mapped\n", (double)v.cost_ns / 1e6,
		(long long)v.agent_bytes / 1024);
}

int session_status(const struct hotspot *jvm, struct session_status *out, struct err *err)
{
	struct buf files = {0}, text = {0};
	struct mapping m;

	memset(out, 0, sizeof(*out));
	int rc = proc_maps(jvm->pid, status_see_map, &files);
	if (rc) {
		buf_done(&files);
		return err_set(err, ERR_ATTACH, "The mappings of process %d cannot be read: %s.",
			(int)jvm->pid, strerror(-rc));
	}
	out->loaded = files.len > 0;
	int found = mapping_find(&m, jvm->pid, NULL, err);
	if (found > 0) {
		out->active = atomic_load(&m.status->agent_state) != WIRE_AGENT_LEFT;
		if (out->active)
			status_session(&m, out, &text);
		mapping_close(&m);
	}
	if (out->loaded)
		buf_printf(&text, "%s:\n%s",
			out->active ? "mapped" : "stays mapped, idle, until the JVM exits",
			files.data);
	snprintf(out->text, sizeof(out->text), "%s", buf_str(&text));
	buf_done(&files);
	buf_done(&text);
	return found < 0 ? -1 : 0;
}

/* --- stop -------------------------------------------------------------------------------------------- */

int session_stop(const struct hotspot *jvm, struct err *err)
{
	struct wire_command command = {.op = WIRE_OP_DETACH};
	struct control_answer answer;
	struct mapping m;
	int found = mapping_find(&m, jvm->pid, NULL, err), rc = 0;

	if (found <= 0)
		return found;
	if (atomic_load(&m.status->agent_state) != WIRE_AGENT_LEFT &&
		(control_command(&m, &command, STOP_MS, NULL, NULL, &answer, NULL) ||
			control_wait_state(&m, WIRE_AGENT_LEFT, STOP_MS, NULL, NULL) !=
				WIRE_AGENT_LEFT) &&
		atomic_load(&m.status->agent_state) != WIRE_AGENT_LEFT)
		rc = err_set(err, ERR_FAILED,
			"The agent in JVM %d does not answer, so it could not be stopped.",
			(int)jvm->pid);
	mapping_close(&m);
	return rc;
}
