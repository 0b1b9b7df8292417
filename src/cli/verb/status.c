/* SPDX-License-Identifier: Apache-2.0 */
/* `jhot status`: shows the session that a JVM has. */
#include "attach/proc.h"
#include "base/buf.h"
#include "base/clean.h"
#include "base/clock.h"
#include "base/json.h"
#include "cli/background.h"
#include "cli/line/verb.h"
#include "cli/recorder/pusher.h"
#include "session/session.h"
#include "tui/screen/text.h"

#include <stdio.h>
#include <string.h>

/* 0 if the time is unknown (0) or in the future. */
static int64_t seconds_since(uint64_t wall_ns)
{
	uint64_t now_ns = clock_wall_ns();

	return wall_ns && now_ns > wall_ns ? (int64_t)((now_ns - wall_ns) / NS_PER_S) : 0;
}

static void status_headline(const struct hotspot *jvm, const struct session_status *s)
{
	char age[TEXT_NUMBER];

	printf("%d %s: ", (int)jvm->pid, jvm->name);
	if (s->active && !s->front_end_pid)
		puts("in an orphaned session, which is about to end");
	else if (s->active)
		printf("profiled by %s (jhot process %d) for %s%s\n",
			s->front_end[0] ? s->front_end : "?", s->front_end_pid,
			text_uptime(age, seconds_since(s->since_wall_ns)),
			s->lease_live ? ""
				      : ", which no longer responds: the session is about to end");
	else
		puts(s->loaded ? "not being profiled; the agent is still loaded"
			       : "not being profiled; no agent is loaded");
}

/* Prints the command line of a process. */
static void print_command(int pid)
{
	struct buf args = {0};
	char text[512];

	if (!proc_read(pid, "cmdline", &args) && args.len) {
		for (size_t i = 0; i + 1 < args.len; i++)
			if (!args.data[i])
				args.data[i] = ' ';
		clean_text(text, sizeof(text), args.data, strlen(args.data));
		printf("command: %s\n", text);
	}
	buf_done(&args);
}

static void status_print(const struct hotspot *jvm, const struct session_status *s)
{
	status_headline(jvm, s);
	if (s->active && s->front_end_pid)
		print_command(s->front_end_pid);
	fputs(s->text, stdout);
	if (s->active && s->front_end_pid) {
		struct push_counts c;
		char age[TEXT_NUMBER];

		if (pusher_counts_of(s->front_end_pid, &c)) {
			printf("push: %llu file%s (%llu bytes) to %s, %u waiting, %llu removed "
			       "before, %llu "
			       "refused, %llu profile%s rejected\n",
				(unsigned long long)c.pushed, plural(c.pushed),
				(unsigned long long)c.bytes, c.url, c.queued,
				(unsigned long long)c.dropped, (unsigned long long)c.refused,
				(unsigned long long)c.rejected, plural(c.rejected));
			if (c.failing_since_ns)
				printf("push: failing for %s: %s\n",
					text_uptime(
						age, seconds_since((uint64_t)c.failing_since_ns)),
					c.error);
			else if (*c.error)
				printf("push: the last error was: %s\n", c.error);
		}
	}
	if (s->active && background_is_process(s->front_end_pid)) {
		puts("log:");
		background_print_log(s->front_end_pid);
	}
}

static void status_json_events(struct json *j, const struct session_status *s)
{
	static const char *const states[] = {"off", "on", "failed"};

	json_begin(j, "events", '[');
	for (int i = 0; i < VITALS_EVENTS; i++) {
		const struct vitals_event *e = &s->vitals.events[i];

		if (e->state == VITALS_OFF && !e->samples)
			continue;
		json_begin(j, NULL, '{');
		json_str(j, "event", s->events[i]);
		json_str(j, "state", states[e->state]);
		json_str(j, "engine", e->engine);
		json_int(j, "interval", e->interval);
		json_int(j, "samples", e->samples);
		json_int(j, "lost", e->lost);
		json_str(j, "note", e->note);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void status_json(const struct hotspot *jvm, const struct session_status *s)
{
	const struct vitals *v = &s->vitals;
	struct buf text = {0};
	struct json j = {.out = &text};

	json_begin(&j, NULL, '{');
	json_int(&j, "pid", jvm->pid);
	json_str(&j, "name", jvm->name);
	json_bool(&j, "loaded", s->loaded);
	json_bool(&j, "active", s->active);
	json_bool(&j, "lease_live", s->lease_live);
	json_str(&j, "holder", s->front_end);
	json_int(&j, "holder_pid", s->front_end_pid);
	json_int(&j, "held_s", s->active ? seconds_since(s->since_wall_ns) : 0);
	if (s->active) {
		status_json_events(&j, s);
		json_int(&j, "cost_ns", v->cost_ns);
		json_int(&j, "memory_bytes", v->agent_bytes);
		json_begin(&j, "counters", '{');
		for (int i = 0; i < v->counter_count; i++)
			json_int(&j, v->counters[i].name, v->counters[i].value);
		json_end(&j, '}');
		struct push_counts c;
		if (pusher_counts_of(s->front_end_pid, &c)) {
			json_begin(&j, "push", '{');
			json_str(&j, "url", c.url);
			json_int(&j, "pushed", (int64_t)c.pushed);
			json_int(&j, "bytes", (int64_t)c.bytes);
			json_int(&j, "waiting", c.queued);
			json_int(&j, "removed", (int64_t)c.dropped);
			json_int(&j, "refused", (int64_t)c.refused);
			json_int(&j, "rejected", (int64_t)c.rejected);
			json_int(&j, "attempts", (int64_t)c.attempts);
			json_bool(&j, "failing", c.failing_since_ns != 0);
			json_str(&j, "error", c.error);
			json_end(&j, '}');
		}
	}
	json_str(&j, "text", s->text);
	json_end(&j, '}');
	json_print(&j, stdout);
}

/* Finds any JVM that we may inspect, including one that cannot be attached now. */
static int status_find(const char *pid_or_name, struct hotspot *jvm, struct err *err)
{
	if (hotspot_find(pid_or_name, jvm, err))
		return -1;
	return jvm->verdict == HOTSPOT_NEEDS_UID ? hotspot_refusal(jvm, err) : 0;
}

/* Prints a line for each JVM that is being profiled. */
static int status_all(const struct args *args, struct err *err)
{
	struct session_status status;
	struct hotspot_list list;
	int active = 0;

	if (hotspot_list(&list, err))
		return -1;
	for (int i = 0; i < list.count; i++) {
		const struct hotspot *jvm = &list.jvms[i];

		if (jvm->verdict == HOTSPOT_NEEDS_UID || session_status(jvm, &status, NULL) ||
			!status.active)
			continue;
		active++;
		if (args_has(args, OPT_JSON))
			status_json(jvm, &status);
		else
			status_headline(jvm, &status);
	}
	if (!active && !args_has(args, OPT_JSON))
		puts("No JVM is being profiled.");
	hotspot_list_done(&list);
	return 0;
}

static int run_status(const struct args *args, struct err *err)
{
	struct session_status status;
	struct hotspot jvm;

	if (!args->operand_count)
		return status_all(args, err);
	if (status_find(args->operands[0], &jvm, err) || session_status(&jvm, &status, err))
		return -1;
	(args_has(args, OPT_JSON) ? status_json : status_print)(&jvm, &status);
	return 0;
}

const struct verb verb_status = {
	.bit = VERB_STATUS,
	.name = "status",
	.synopsis = "[--json] [PID|NAME]",
	.help = "show whether a JVM is being profiled, without loading anything",
	.text = "Without PID or NAME, lists all JVMs that are being profiled. With one, "
		"shows whether the JVM is being profiled, by whom, for how long, with which "
		"events and losses, and what an earlier session has left in it.",
	.min_operands = 0,
	.max_operands = 1,
	.run = run_status,
};
