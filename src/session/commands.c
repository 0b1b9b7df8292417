/* SPDX-License-Identifier: Apache-2.0 */
/* Commands to the agent while it samples: events on and off, thread filter, depth, budget. */
#include "attach/perf/events.h"
#include "base/clock.h"
#include "profile/calls/calls.h"
#include "session/alloc_trap.h"
#include "session/state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* How long the first event may wait for unwind rows: they take 10 ms, plus a wait for a core on a busy machine. */
#define COMMANDS_AHEAD_NS (150 * NS_PER_MS)

/* Stores true if a mapped library is known to sample allocations itself; ctx: a bool. */
static bool commands_see_profiler(void *ctx, const struct proc_map *map)
{
	bool *seen = ctx;

	*seen = strstr(map->path, "libasyncProfiler") != NULL;
	return !*seen;
}

/* Sends a command. The agent's result, >= 0; -1 with its refusal as the error. */
static int commands_request(
	struct session *s, const struct wire_command *command, const char *what, struct err *err)
{
	struct control_answer answer;
	bool seen = false;

	if (s->over)
		return session_end(s, &s->over_err, err);
	session_feed_settle(s);
	if (control_command(&s->mapping, command, SESSION_START_MS, session_idle, s, &answer, err))
		return session_jvm_alive(s) ? err_prefix(err, "%s: ", what)
					    : err_set(err, ERR_GONE, "%s: JVM %d has ended.", what,
						      (int)s->jvm.pid);
	if (answer.result >= 0)
		return answer.result;
	if (answer.text[0]) {
		err_set(err, ERR_FAILED, "%s: %s.", what, answer.text);
		if (answer.result == -EBUSY && command->event == EVENT_ALLOC)
			proc_maps(s->jvm.pid, commands_see_profiler, &seen);
		if (seen)
			err_hint(err, "async-profiler is loaded there: asprof stop %d",
				(int)s->jvm.pid);
		return -1;
	}
	errno = -answer.result;
	return err_set_errno(err, ERR_FAILED, "%s", what);
}

static int commands_send(
	struct session *s, const struct wire_command *command, const char *what, struct err *err)
{
	return commands_request(s, command, what, err) < 0 ? -1 : 0;
}

/* --- events ------------------------------------------------------------------------------------------ */

/* Records in the model the definition of a user event, and that an event was switched on or off. */
static void commands_switched(struct session *s, const struct session_event *e, bool on)
{
	bool named = e->event >= EVENT_USER_FIRST && e->name;
	uint64_t now_ns = session_now_ns(s);

	if (named)
		profile_event_set(
			s->profile, e->event, e->name, e->unit ? e->unit : "events", e->interval);
	reader_event(s->reader, now_ns, e->event, on);
}

#define COMMANDS_LENT "lent"
const char *const session_engines[] = {"perf", "ctimer", COMMANDS_LENT, NULL};

/* Starts lending perf_events if the event requests that engine; lasts until the session ends. */
static int commands_lend(struct session *s, const struct session_event *e, struct err *err)
{
	struct wire_command command = {.op = WIRE_OP_LEND};

	if (!e->engine || strcmp(e->engine, COMMANDS_LENT) != 0 || s->lend)
		return 0;
	int socket = commands_request(s, &command, "perf_events cannot be lent", err);
	if (socket < 0)
		return -1;
	s->lend = lend_begin(&s->jvm, s->pidfd, socket, e->kernel_only, err);
	return s->lend ? 0 : -1;
}

/* Adds the addresses of the allocation trap to the command if this JVM needs it. */
static int commands_trap(struct session *s, struct wire_command *command, struct err *err)
{
	struct alloc_trap trap;

	if (command->event != EVENT_ALLOC || !alloc_trap_needed(&s->jvm))
		return 0;
	if (alloc_trap_find(&s->jvm, s->symbols, &trap, err))
		return -1;
	command->perf = (struct wire_perf_event){.type = WIRE_PERF_BREAKPOINT,
		.config = trap.in_buffer,
		.config1 = trap.outside,
		.config2 = trap.bytes_argument};
	return 0;
}

static const char *commands_name(const struct session *s, const struct session_event *e)
{
	return e->name ? e->name : profile_get_event(s->profile, e->event)->name;
}

int session_event_begin(struct session *s, const struct session_event *e, struct err *err)
{
	struct wire_command command = {.op = WIRE_OP_EVENT_START,
		.event = (uint32_t)e->event,
		.interval = e->interval,
		.flags = (e->live ? WIRE_START_LIVE : 0) | (e->is_default ? WIRE_START_CHOSEN : 0) |
			 (e->user_only ? WIRE_START_USER_ONLY : 0) |
			 (e->kernel_only ? WIRE_START_KERNEL_ONLY : 0),
		.arg = gauges_engine(e->engine),
		.perf = {e->perf.type, e->perf.bp_type, e->perf.config, e->perf.config1,
			e->perf.config2}};
	char(*names)[64] = s->mapping.control ? s->mapping.control->event_names : NULL;
	char what[160], why[200];

	snprintf(what, sizeof(what), "The event \"%.90s\" could not be started",
		commands_name(s, e));
	if (e->name)
		snprintf(command.text, sizeof(command.text), "%s", e->name);
	if (commands_trap(s, &command, err))
		return err_prefix(err, "%s: ", what);
	if (command.perf.type == WIRE_PERF_BREAKPOINT && perf_breakpoints_dead(why, sizeof(why)))
		return err_set(err, ERR_FAILED, "%s: it needs a breakpoint, and %s.", what, why);
	if (commands_lend(s, e, err))
		return err_prefix(err, "%s: ", what);
	/* Makes the first stacks complete: sends rows of all libraries but libjvm (sent while sampling), loads kernel symbols. */
	if (!s->over && !s->started && session_pull(s, NULL) >= 0) {
		s->started = true;
		session_feed_unwind(s, COMMANDS_AHEAD_NS);
		if (!e->user_only) /* takes longer than the rows, which do not depend on it */
			symbols_load_kernel(s->symbols);
	}
	if (session_contexts_send(s, COMMANDS_AHEAD_NS, err))
		return -1;
	if (names && e->event >= EVENT_USER_FIRST && e->name) /* for jhot status */
		snprintf(names[e->event - EVENT_USER_FIRST], sizeof(names[0]), "%s", e->name);
	if (commands_send(s, &command, what, err))
		return -1;
	commands_switched(s, e, true);
	return 0;
}

int session_event_start(struct session *s, int event, uint64_t interval, struct err *err)
{
	return session_event_begin(
		s, &(struct session_event){.event = event, .interval = interval}, err);
}

int session_event_stop(struct session *s, int event, struct err *err)
{
	struct wire_command command = {.op = WIRE_OP_EVENT_STOP, .event = (uint32_t)event};
	const struct session_event e = {.event = event};
	char what[160];

	snprintf(what, sizeof(what), "The event \"%.90s\" could not be stopped",
		commands_name(s, &e));
	if (commands_send(s, &command, what, err))
		return -1;
	commands_switched(s, &e, false);
	return 0;
}

/* --- threads, depth, budget --------------------------------------------------------------------------------- */

int session_only_threads(struct session *s, const char *pattern, struct err *err)
{
	struct wire_command command = {.op = WIRE_OP_THREADS};

	if (strlen(pattern) >= sizeof(command.text))
		return err_set(err, ERR_USAGE,
			"A pattern for thread names has at most %zu characters.",
			sizeof(command.text) - 1);
	memcpy(command.text, pattern, strlen(pattern) + 1);
	return commands_send(s, &command, "The threads could not be selected", err);
}

/* Sends the ids of the methods, if they have changed. */
int session_latency_send(struct session *s, struct err *err)
{
	struct wire_command command = {.op = WIRE_OP_LATENCY, .interval = s->latency_ns};
	struct wire_timed_method methods[WIRE_TIMED_METHODS];
	bool changed;

	command.arg = frames_timed(s->frames, methods, &changed);
	memcpy(command.text, methods, sizeof(methods));
	return changed ? commands_send(s, &command, "The latency of calls cannot be measured", err)
		       : 0;
}

int session_contexts_send(struct session *s, uint64_t wait_ns, struct err *err)
{
	struct wire_command command = {.op = WIRE_OP_CONTEXTS};
	struct wire_contexts where;

	if (!s->contexts || !contexts_poll(s->contexts, wait_ns, &where))
		return 0;
	memcpy(command.text, &where, sizeof(where));
	return commands_send(s, &command, "Requests cannot be read", err);
}

int session_latency(struct session *s, const char *method, uint64_t interval, struct err *err)
{
	struct wire_command off = {.op = WIRE_OP_LATENCY};
	const char *name = strrchr(method, '.') ? strrchr(method, '.') + 1 : method;

	snprintf(off.text, sizeof(off.text), "%s", name);
	if (commands_send(s, &off, "Measuring the latency of calls cannot be stopped", err))
		return -1;
	s->latency_ns = interval ? interval : SESSION_LATENCY_NS;
	frames_time(s->frames, method);
	calls_begin(s->profile, *method ? method : NULL, s->latency_ns);
	return session_latency_send(s, err);
}

_Static_assert(SESSION_DEPTH_MAX == WIRE_DEPTH_MAX, "the agent's maximum");

int session_depth(struct session *s, unsigned limit, unsigned top, unsigned root, struct err *err)
{
	struct wire_command command = {.op = WIRE_OP_DEPTH, .arg = WIRE_DEPTH(limit, top, root)};

	return commands_send(s, &command, "The depth of stacks could not be set", err);
}

int session_budget(struct session *s, unsigned per_mille, bool only_defaults, struct err *err)
{
	struct wire_command command = {.op = WIRE_OP_BUDGET,
		.arg = per_mille,
		.flags = only_defaults ? WIRE_BUDGET_CHOSEN : 0};

	return commands_send(s, &command, "The budget could not be set", err);
}
