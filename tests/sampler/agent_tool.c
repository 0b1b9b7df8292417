/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent on a command line, for the tests on real JVMs:
 *
 *   agent_tool PID AGENT [KEY=VALUE]...
 *
 *   token=T       of the session (default t and the tool's own pid)
 *   take=1        end an existing session
 *   agct=1        walk with AsyncGetCallTrace
 *   seconds=N     sampling time, or until SIGINT (default 2; 0: start nothing)
 *   samples=N     stop after this many samples
 *   event=NAME[:N] to sample, at this interval: cpu (if none is given), alloc, lock, wall, or
 *                 perf/TYPE/CONFIG[/BP_TYPE/CONFIG1/CONFIG2] with numbers as in perf_event_open(2); may be repeated
 *   interval=N    for events without their own
 *   flags=N       WIRE_START_* for all events
 *   threads=GLOB  sample only matching threads
 *   budget=N      thousandths of a core
 *   budget_default=N  the same, only for intervals that the agent has chosen
 *   swing=N       every N seconds switch the budget between a whole core and budget=N
 *   engine=N      enum wire_engine, for all events
 *   states=1      print the weight of each thread in each state
 *   kinds=1       print the kind of each thread that has samples
 *   idle=1        read nothing while sampling: the ring runs full
 *   rows=1        send unwind rows (2: invalid ones first, which the agent must refuse)
 *   park=1        park the agent for the second second
 *   leave=detach  how to end: detach, silent (stop the beat), or now (exit as if killed)
 *   top=N         print this many methods by self samples
 *   stacks=FILE   collapsed stacks with method names
 *   weights=FILE  the same, by weight, each preceded by its event
 *   waits=FILE    waits with their owners, a line each
 *
 * Prints "key value" lines. Exit code: 0, or 1 on a failure, result - 100 when the load was refused.
 */
#include "symbols/child/child.h"
#include "tests/sampler/driver.h"
#include "tests/sampler/driver_rows.h"
#include "tests/sampler/driver_trap.h"

#include "base/clock.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct settings {
	char token[32];
	const char *leave, *stacks, *weights, *waits;
	long agct, take, seconds, samples, interval, idle, park, rows, top, flags, budget,
		budget_default, swing, engine, states, kinds;
	const char *threads;
	uint32_t starts;
	struct wire_command start[WIRE_EVENTS];
};

static const char *const event_names[WIRE_EVENTS] = {
	"cpu", "alloc", "lock", "wall", "perf0", "perf1", "perf2", "perf3"};

static const struct {
	const char *key;
	size_t at;
} number_rows[] = {
	{"agct", offsetof(struct settings, agct)},
	{"take", offsetof(struct settings, take)},
	{"seconds", offsetof(struct settings, seconds)},
	{"samples", offsetof(struct settings, samples)},
	{"interval", offsetof(struct settings, interval)},
	{"idle", offsetof(struct settings, idle)},
	{"park", offsetof(struct settings, park)},
	{"rows", offsetof(struct settings, rows)},
	{"top", offsetof(struct settings, top)},
	{"flags", offsetof(struct settings, flags)},
	{"budget", offsetof(struct settings, budget)},
	{"budget_default", offsetof(struct settings, budget_default)},
	{"swing", offsetof(struct settings, swing)},
	{"engine", offsetof(struct settings, engine)},
	{"states", offsetof(struct settings, states)},
	{"kinds", offsetof(struct settings, kinds)},
};

/* settings_perf: the numbers after "perf"; each perf event gets the next free event id. */
static void settings_perf(struct settings *s, struct wire_command *c, char *at)
{
	uint64_t numbers[5] = {0};

	c->event = WIRE_USER_FIRST;
	for (uint32_t i = 0; i < s->starts; i++)
		c->event += s->start[i].event >= WIRE_USER_FIRST;
	for (int i = 0; i < 5 && *at == '/'; i++)
		numbers[i] = strtoull(at + 1, &at, 0);
	c->perf = (struct wire_perf_event){.type = (uint32_t)numbers[0],
		.config = numbers[1],
		.bp_type = (uint32_t)numbers[2],
		.config1 = numbers[3],
		.config2 = numbers[4]};
}

static bool settings_event(struct settings *s, char *value)
{
	struct wire_command *c = &s->start[s->starts];
	char *colon = strchr(value, ':');

	if (s->starts == WIRE_EVENTS)
		return false;
	*c = (struct wire_command){.op = WIRE_OP_EVENT_START, .event = WIRE_EVENTS};
	if (colon) {
		*colon = '\0';
		c->interval = strtoull(colon + 1, NULL, 0);
	}
	for (uint32_t i = 0; i < WIRE_USER_FIRST; i++)
		c->event = strcmp(value, event_names[i]) ? c->event : i;
	if (!strncmp(value, "perf", 4))
		settings_perf(s, c, value + 4);
	s->starts++;
	return c->event < WIRE_EVENTS;
}

static bool settings_set(struct settings *s, const char *key, size_t bytes, char *value)
{
	if (!strncmp(key, "token=", bytes + 1))
		return snprintf(s->token, sizeof(s->token), "%s", value) > 0;
	if (!strncmp(key, "threads=", bytes + 1))
		return (s->threads = value) != NULL;
	if (!strncmp(key, "event=", bytes + 1))
		return settings_event(s, value);
	if (!strncmp(key, "leave=", bytes + 1))
		return (s->leave = value) != NULL;
	if (!strncmp(key, "stacks=", bytes + 1))
		return (s->stacks = value) != NULL;
	if (!strncmp(key, "weights=", bytes + 1))
		return (s->weights = value) != NULL;
	if (!strncmp(key, "waits=", bytes + 1))
		return (s->waits = value) != NULL;
	for (size_t i = 0; i < sizeof(number_rows) / sizeof(number_rows[0]); i++) {
		if (strlen(number_rows[i].key) != bytes || strncmp(key, number_rows[i].key, bytes))
			continue;
		*(long *)(void *)((char *)s + number_rows[i].at) = atol(value);
		return true;
	}
	return false;
}

static bool settings_parse(struct settings *s, int argc, char **argv)
{
	*s = (struct settings){.leave = "detach", .seconds = 2};
	snprintf(s->token, sizeof(s->token), "t%d", (int)getpid());
	for (int i = 3; i < argc; i++) {
		char *equals = strchr(argv[i], '=');

		if (!equals || !settings_set(s, argv[i], (size_t)(equals - argv[i]), equals + 1))
			return false;
	}
	if (!s->starts)
		settings_event(s, (char[]){"cpu"});
	return argc >= 3;
}

/* --- printing -------------------------------------------------------------------------------- */

static void print_status(const struct driver *d, uint32_t event)
{
	const struct wire_status *s = d->status;
	const struct wire_event_status *e = &s->events[event];

	printf("walker %s\nwalker_note %s\n", s->walker, s->walker_note);
	printf("engine %u\nengine_note %s\ninterval %" PRIu64 "\n", atomic_load(&e->engine),
		e->note, atomic_load(&e->interval));
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void print_sums(const struct driver *d)
{
	const struct wire_event_status *e = d->status->events;
	uint64_t taken = 0, lost = 0, cost = atomic_load(&d->status->cost_ns);

	for (uint32_t i = 0; i < WIRE_EVENTS; i++) {
		taken += atomic_load(&e[i].samples);
		lost += atomic_load(&e[i].lost);
		if (d->events[i].samples)
			printf("event %s samples %" PRIu64 " weight %" PRIu64 " broken %" PRIu64
			       " interval %" PRIu64 " changes %" PRIu64 " note %s\n",
				event_names[i], d->events[i].samples, d->events[i].weight,
				d->events[i].broken, d->events[i].interval, d->events[i].changes,
				e[i].note);
	}

	printf("samples %" PRIu64 "\nweight_ms %" PRIu64 "\nrecords %" PRIu64 "\nticks %" PRIu64
	       "\nused_ms %" PRIu64 "\nhalves %" PRIu64 "\ngaps %" PRIu64 "\nunknown_ids %" PRIu64
	       "\nunknown %s\n",
		d->samples, d->weight / 1000000, d->records, d->ticks, d->cpu_ns / 1000000,
		d->halves, d->gaps, d->unknown_ids, d->unknown);
	printf("waits %" PRIu64 "\nwaits_ended %" PRIu64 "\nwaits_owned %" PRIu64 "\n", d->waits,
		d->waits_ended, d->waits_owned);
	printf("taken %" PRIu64 "\nlost %" PRIu64 "\nnote %s\n", taken, lost, d->note);
	printf("broken_pct %.2f\njava_pct %.2f\nkernel_pct %.2f\ndepth %.1f\n",
		percent(d->broken, d->samples), percent(d->java, d->samples),
		percent(d->kernel, d->samples),
		d->samples ? (double)d->frames / (double)d->samples : 0);
	printf("cost_us %.2f\ncost_total_ms %.1f\nmemory_kb %" PRIu64 "\n",
		taken ? (double)cost / (double)taken / 1000 : 0, (double)cost / 1e6,
		atomic_load(&d->status->memory_bytes) / 1024);
	for (uint32_t i = 0; i < atomic_load(&d->status->counters_used); i++) {
		if (atomic_load(&d->status->counters[i].value))
			printf("counter %s %" PRIu64 "\n", d->status->counters[i].name,
				atomic_load(&d->status->counters[i].value));
	}
}

/* print_states: "state THREAD STATE ms samples" for every trace's thread and state. */
static void print_states(const struct driver *d)
{
	static const char *const names[WIRE_STATES] = {"none", "on_cpu", "runnable", "sleeping",
		"monitor", "waiting", "parked", "io", "holds", "carrier"};

	for (uint32_t i = 0; i < DRIVER_NAMES; i++) {
		const struct driver_trace *t = &d->traces[i];
		unsigned state = t->record ? WIRE_TRACE_STATE(t->record->flags) : 0;
		const char *name = t->record ? d->threads[t->record->thread % DRIVER_NAMES] : NULL;

		if (t->count && t->record->event == WIRE_WALL)
			printf("state %s\t%s\t%" PRIu64 "\t%" PRIu64 "\n", name ? name : "?",
				state < WIRE_STATES ? names[state] : "bad", t->weight / 1000000,
				t->count);
	}
}

/* print_kinds: "kind KIND THREAD" for every thread with samples, by its last name and kind. */
static void print_kinds(const struct driver *d)
{
	static const char *const names[] = {[WIRE_THREAD_NATIVE] = "native",
		[WIRE_THREAD_JAVA] = "java",
		[WIRE_THREAD_COMPILER] = "compiler",
		[WIRE_THREAD_GC] = "gc",
		[WIRE_THREAD_VM] = "vm"};
	uint32_t kind;

	for (uint32_t i = 0; i < DRIVER_NAMES; i++) {
		kind = d->thread_kinds[i];
		if (d->threads[i])
			printf("kind %s %s\n",
				kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "other",
				d->threads[i]);
	}
}

static void print_top(struct driver *d, long top)
{
	for (long n = 0; n < top; n++) {
		struct driver_method *best = NULL;

		for (uint32_t i = 0; i < DRIVER_NAMES; i++) {
			if (d->methods[i].self && (!best || d->methods[i].self > best->self))
				best = &d->methods[i];
		}
		if (!best)
			break;
		printf("top %5.1f%% self %5.1f%% total %s\n", percent(best->self, d->samples),
			percent(best->total, d->samples), best->name ? best->name : "?");
		best->self = 0;
	}
}

static void print_rows(const struct driver_rows *rows)
{
	struct unwind_feed_status st;

	driver_rows_status(rows, &st);
	printf("rows_modules %u\nrows_kb %zu\nrows_without %u\nrows_no_space %u\nrows_note %s\n",
		st.sent, st.bytes >> 10, st.without_rows, st.without_space, st.note);
}

static void print_frame(FILE *f, struct driver *d, uint64_t frame)
{
	static const char *const marks[256] = {[WIRE_FRAME_INTERPRETED] = "_[0]",
		[WIRE_FRAME_C1] = "_[1]",
		[WIRE_FRAME_C2] = "_[j]",
		[WIRE_FRAME_INLINED] = "_[i]",
		[WIRE_FRAME_NO_INLINING] = "_[j]",
		[WIRE_FRAME_C1_NO_INLINING] = "_[1]",
		[WIRE_FRAME_CLASS_OUTSIDE] = "_[k]"};
	unsigned kind = WIRE_FRAME_KIND(frame);
	const struct driver_method *m = &d->methods[WIRE_FRAME_METHOD(frame) % DRIVER_NAMES];
	const struct wire_module *module = d->modules[WIRE_FRAME_MODULE(frame)];
	const char *slash;

	if (kind == WIRE_FRAME_NATIVE && module) {
		slash = memrchr(module->path, '/', module->path_bytes);
		slash = slash ? slash + 1 : module->path;
		fprintf(f, "%.*s+0x%llx", (int)(module->path + module->path_bytes - slash), slash,
			(unsigned long long)WIRE_FRAME_OFFSET(frame));
	} else if (driver_frame_named(frame)) {
		fprintf(f, "%s%s", m->name ? m->name : "?", marks[kind] ? marks[kind] : "");
	} else {
		fprintf(f, "%s%llx", kind == WIRE_FRAME_KERNEL ? "kernel:" : "raw:",
			(unsigned long long)WIRE_FRAME_PAYLOAD(frame));
	}
}

/* print_stacks: what the owners of locks did is an event of its own ("held"), not a wait. */
static void print_stacks(struct driver *d, const char *path, bool weights)
{
	FILE *f = fopen(path, "w");

	for (uint32_t i = 0; f && i < DRIVER_NAMES; i++) {
		const struct wire_trace *t = d->traces[i].record;

		bool is_owner = t && WIRE_TRACE_STATE(t->flags) == WIRE_STATE_HOLDS;

		if (!t || !d->traces[i].count || (is_owner && !weights))
			continue;
		if (weights)
			fprintf(f, "%s;", is_owner ? "held" : event_names[t->event % WIRE_EVENTS]);
		fprintf(f, "[%s]",
			d->threads[t->thread % DRIVER_NAMES] ? d->threads[t->thread % DRIVER_NAMES]
							     : "?");
		for (uint32_t at = t->frame_count; at-- > 0;) {
			fputc(';', f);
			print_frame(f, d, t->frames[at]);
		}
		fprintf(f, " %" PRIu64 "\n", weights ? d->traces[i].weight : d->traces[i].count);
	}
	if (f)
		fclose(f);
}

static FILE *waits_file;

static const char *thread_name(const struct driver *d, uint32_t id)
{
	const char *name = id ? d->threads[id % DRIVER_NAMES] : NULL;

	return name ? name : "?";
}

static void print_wait(struct driver *d, const struct wire_wait *w)
{
	const char *class = w->method ? d->methods[w->method % DRIVER_NAMES].name : NULL;

	fprintf(waits_file, "%s %s for %s of %s after %s%" PRIu64 " ms, since %" PRIu64 "\n",
		thread_name(d, w->thread), w->ended ? "waited" : "waits", class ? class : "?",
		thread_name(d, w->owner), w->at_least ? "at least " : "",
		(w->time_ns - w->since_ns) / 1000000, w->since_ns);
}

/* --- a session ------------------------------------------------------------------------------- */

static volatile sig_atomic_t tool_stopped;

static void tool_stop(int sig)
{
	(void)sig;
	tool_stopped = 1;
}

static bool tool_has_failed(const struct driver *d)
{
	for (int i = 0; i < WIRE_EVENTS; i++)
		if (atomic_load(&d->status->events[i].state) == WIRE_EVENT_FAILED)
			return true;
	return false;
}

static bool tool_sample(struct driver *d, const struct settings *s, struct driver_rows *rows)
{
	uint64_t start = clock_mono_ns(), end = start + (uint64_t)s->seconds * NS_PER_S;
	uint64_t swing_ns = (uint64_t)s->swing * NS_PER_S, next = start + swing_ns;
	bool parked = false, wide = false;

	while (clock_mono_ns() < end && !driver_left(d) && !tool_stopped) {
		bool park = s->park && clock_mono_ns() > start + NS_PER_S &&
			    clock_mono_ns() < start + 2 * NS_PER_S;

		if (park != parked)
			atomic_store(&d->control->parked, parked = park);
		if (swing_ns && clock_mono_ns() > next) {
			wide = !wide;
			driver_command_arg(d, WIRE_OP_BUDGET, wide ? 1000 : (uint64_t)s->budget);
			next += swing_ns;
		}
		if (!s->idle && !driver_drain(d))
			return false;
		if (rows)
			driver_rows_send(rows, d);
		if (s->samples && (d->samples >= (uint64_t)s->samples || tool_has_failed(d)))
			break;
		if (s->idle)
			usleep(10000);
		else
			driver_wait(d, 100);
	}
	return true;
}

static bool tool_leave(struct driver *d, const char *how)
{
	uint64_t end = clock_mono_ns() + 10 * NS_PER_S;

	if (!strcmp(how, "now"))
		return true;
	if (!strcmp(how, "silent"))
		driver_silence(d);
	else if (!driver_left(d) && driver_command(d, WIRE_OP_DETACH, 0, 0))
		return false;
	while (!driver_left(d) && clock_mono_ns() < end && driver_drain(d))
		driver_wait(d, 100);
	return driver_drain(d) && driver_left(d);
}

static int tool_failed(const char *what)
{
	fprintf(stderr, "agent_tool: %s\n", what);
	return 1;
}

static int tool_budget(struct driver *d, const struct settings *s)
{
	struct wire_command c = {.op = WIRE_OP_BUDGET, .arg = (uint64_t)s->budget};

	if (s->budget_default) {
		c.arg = (uint64_t)s->budget_default;
		c.flags = WIRE_BUDGET_CHOSEN;
	}
	return driver_run(d, &c);
}

static int tool_session(struct driver *d, const struct settings *s)
{
	struct driver_rows *rows = s->rows ? driver_rows_new(d->pid) : NULL;
	int result;

	driver_beat(d);
	if (!driver_ready(d))
		return tool_failed("the agent did not become ready");
	printf("ready %s\nvm %s\n", d->header.writer, d->header.vm);
	driver_drain(d); /* reads the announced modules */
	if (s->rows > 1)
		printf("junk_taken %u\n", driver_rows_send_junk(d));
	if (rows)
		driver_rows_send(rows, d);
	if (s->waits && (waits_file = fopen(s->waits, "w"))) {
		setvbuf(waits_file, NULL, _IOLBF, 0);
		d->on_wait = print_wait;
	}
	if (s->threads) {
		struct wire_command c = {.op = WIRE_OP_THREADS};

		snprintf(c.text, sizeof(c.text), "%s", s->threads);
		printf("threads %d %s\n", driver_run(d, &c), d->status->done_text);
	}
	if (s->budget || s->budget_default)
		printf("budget %d\n", tool_budget(d, s));
	for (uint32_t i = 0; s->seconds && i < s->starts; i++) {
		struct wire_command c = s->start[i];

		c.interval = c.interval ? c.interval : (uint64_t)s->interval;
		c.flags = (uint64_t)s->flags;
		c.arg = (uint64_t)s->engine;
		if (c.event == WIRE_ALLOC)
			driver_trap(d->pid, &c.perf);
		result = driver_run(d, &c);
		printf("start %d %s\n", result, d->status->done_text);
		print_status(d, c.event);
		fflush(stdout);
	}
	if (!tool_sample(d, s, rows))
		return tool_failed("the ring is broken");
	printf("left_early %d\n", driver_left(d));
	if (!tool_leave(d, s->leave))
		return tool_failed("the session did not end as expected");
	print_sums(d);
	if (rows)
		print_rows(rows);
	if (s->states)
		print_states(d);
	if (s->kinds)
		print_kinds(d);
	print_top(d, s->top);
	if (s->stacks)
		print_stacks(d, s->stacks, false);
	if (s->weights)
		print_stacks(d, s->weights, true);
	if (waits_file)
		fclose(waits_file);
	driver_rows_free(rows);
	return 0;
}

int main(int argc, char **argv)
{
	struct settings s;
	struct driver *d;
	char more[40];
	int result;

	if (elf_child_main(argc, argv, NULL))
		return 0;
	sigaction(SIGINT, &(struct sigaction){.sa_handler = tool_stop}, NULL);
	if (!settings_parse(&s, argc, argv)) {
		fprintf(stderr, "usage: agent_tool PID AGENT [KEY=VALUE]...\n");
		return 2;
	}
	snprintf(more, sizeof(more), "%s%s", s.take ? ",take=1" : "", s.agct ? ",walker=agct" : "");
	result = driver_load(atoi(argv[1]), argv[2], s.token, more);
	printf("load %d\n", result);
	if (result)
		return result < 0 ? 1 : result - 100;
	d = driver_open(atoi(argv[1]), s.token);
	if (!d) {
		fprintf(stderr, "agent_tool: no memfd of token %s\n", s.token);
		return 1;
	}
	result = tool_session(d, &s);
	driver_close(d);
	return result;
}
