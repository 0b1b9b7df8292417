/* SPDX-License-Identifier: Apache-2.0 */
/* Records one JVM into many files. */
#include "cli/recorder/recorder.h"

#include "attach/proc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "cli/line/verb.h"
#include "cli/recorder/join.h"
#include "cli/recorder/unpushed.h"
#include "profile/cut.h"

#include <poll.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LATE_S        2u   /* samples may arrive this late */
#define HISTORY_S     600u /* seconds that are retained at least, for incidents and unwritten files */
#define RETRY_S       10u  /* after an incident could not be written */
#define JOIN_AGAIN_MS 1000 /* after the end of a joined session: its JVM may be ending */
#define JOIN_TRIES    5u
#define HOUR_S        3600u

extern char **environ;

/* A line on stderr with the time of day. */
static void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *fmt, ...)
{
	time_t now = (time_t)(clock_wall_ns() / NS_PER_S);
	struct buf line = {0};
	char text[640], at[32] = "";
	struct tm tm;
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (localtime_r(&now, &tm))
		strftime(at, sizeof(at), "%H:%M:%S", &tm);
	buf_printf(&line, "%s%s %s\n", isatty(STDERR_FILENO) ? "\r\033[K" : "", at, text);
	fputs(buf_str(&line), stderr); /* at once, because several processes may write */
	buf_done(&line);
}

/* --- writing a file ---------------------------------------------------------------------------------- */

/* Subtracts losses from before the beginning of the file. */
static void subtract_base(struct vitals *v, const struct vitals *base)
{
	v->lost -= base->lost;
	v->cost_ns -= base->cost_ns;
	for (int i = 0; i < VITALS_EVENTS; i++) {
		v->events[i].samples -= base->events[i].samples;
		v->events[i].lost -= base->events[i].lost;
	}
	for (int i = 0; i < v->counter_count; i++)
		for (int k = 0; k < base->counter_count; k++)
			if (!strcmp(v->counters[i].name, base->counters[k].name))
				v->counters[i].value -= base->counters[k].value;
	vitals_bound(v);
}

static void file_written(void *ctx, const char *path)
{
	struct recorder *r = ctx;
	struct stat st;

	say("wrote %s", path);
	if (!stat(path, &st) && (uint64_t)st.st_blocks * 512 > r->largest)
		r->largest = (uint64_t)st.st_blocks * 512;
	if (r->pushes) {
		/* Hands a file to the pusher, and marks it until it has been pushed. */
		if (!unpushed_mark(path, r->pushing.target.shown, r->pusher.pid) && !r->unmarked++)
			say("push: files cannot be marked here; those that wait are not pushed "
			    "after a "
			    "restart of jhot");
		if (pusher_add(&r->pusher, path))
			say("push: %s could not be queued and is not pushed", path);
	}
	if (r->command) {
		/* Run --exec in the background, with the file as $1. The outer shell exits at once. */
		char *argv[] = {(char *)"sh", (char *)"-c",
			(char *)"sh -c \"$1\" sh \"$2\" </dev/null &", (char *)"sh",
			(char *)r->command, (char *)path, NULL};
		pid_t child;

		if (posix_spawnp(&child, "sh", NULL, NULL, argv, environ))
			say("cannot run --exec for %s", path);
		else
			waitpid(child, NULL, 0);
	}
}

static void say_line(const char *line)
{
	say("%s", line);
}

void recorder_report_pushes(struct recorder *r)
{
	pusher_report(&r->pusher, say_line);
}

/* Applies --keep. more: files about to be written, whose size is estimated by the largest one. */
static void make_space(
	struct recorder *r, const struct output *f, uint64_t start_wall_ns, unsigned more)
{
	const struct outputs_names names = {
		(int)r->sampling.jvm.pid, r->sampling.jvm.name, start_wall_ns, NULL};
	char *path = outputs_path(f, &names, r->events, 0);
	char *regex = outputs_name_regex(f, &names, r->events);
	struct err err = {0};

	if (keep_apply(&r->keep, path, regex, more, more ? r->largest : 0, &err) < 0)
		say("--keep: %s", err.what);
	free(regex);
	free(path);
}

/* Writes a cut of that many seconds as a file of output i. incident: gives the file its word and two labels; NULL: none. */
static int write_file(struct recorder *r, int i, const struct profile *cut, uint32_t seconds,
	const struct incident *incident, struct err *err)
{
	struct outputs one = r->outputs;
	struct vitals v = *sampling_vitals(&r->sampling);
	const struct outputs_source source = {
		.profile = cut, .vitals = &v, .duration_ns = seconds * NS_PER_S};
	char rule[80], what[260];

	subtract_base(&v, &r->base);
	one.files[0] = r->outputs.files[i];
	one.count = 1;
	one.written = file_written;
	one.ctx = r;
	if (incident) {
		one.word = incident->word;
		snprintf(rule, sizeof(rule), "trigger=%s", incident->rule);
		snprintf(what, sizeof(what), "reason=%s", incident->what);
		if (one.label_count + 2 <= OUTPUTS_LABELS) {
			one.labels[one.label_count++] = rule;
			one.labels[one.label_count++] = what;
		}
	}
	/* The seconds of an incident are also in rotated files: they would be counted twice. */
	r->pushes = i == r->push_output && !(incident && r->rotate_s);
	make_space(r, &one.files[0], profile_info(cut).start_wall_ns, 1);
	if (outputs_write(&one, r->events, &source, err))
		return -1;
	make_space(r, &one.files[0], profile_info(cut).start_wall_ns, 0);
	return 0;
}

static void push_again(void *ctx, const char *path)
{
	struct recorder *r = ctx;

	if (!unpushed_claim(path, r->pushing.target.shown, r->pusher.pid))
		return;
	say("push: %s is left from an earlier recorder", path);
	if (pusher_add(&r->pusher, path))
		say("push: %s could not be queued and is not pushed", path);
}

/* Queues the files of this JVM's name that an earlier recorder has not pushed. Its pusher may still be running for a while. */
static void push_unpushed(struct recorder *r)
{
	if (r->push_output < 0)
		return;
	const struct outputs_names names = {
		(int)r->sampling.jvm.pid, r->sampling.jvm.name, clock_wall_ns(), NULL};
	const struct output *f = &r->outputs.files[r->push_output];
	char *path = outputs_path(f, &names, r->events, 0);
	char *regex = outputs_name_regex(f, &names, r->events);

	keep_each(path, regex, push_again, r, NULL);
	free(regex);
	free(path);
}

static void recorder_busy(const struct recorder *r, bool busy)
{
	if (r->sampling.session)
		session_busy(r->sampling.session, busy);
}

/* Writes, for each output, the seconds up to `to` that are in none of its files. An output that fails keeps its r->from. */
static void write_span(struct recorder *r, uint32_t to)
{
	struct profile *p = r->sampling.profile, *cut = NULL;
	uint32_t oldest = profile_info(p).oldest, cut_from = 0;
	bool written = false;
	struct err err;

	recorder_busy(r, true);
	push_unpushed(r);
	for (int i = 0; i < r->outputs.count; i++) {
		uint32_t *from = &r->from[i];

		if (*from < oldest) {
			say("lost %u s that could not be written in time", oldest - *from);
			*from = oldest;
		}
		if (*from >= to)
			continue;
		if (!cut || cut_from != *from) {
			profile_free(cut);
			cut = profile_cut(p, *from, to);
			cut_from = *from;
		}
		err = (struct err){0};
		if (write_file(r, i, cut, to - *from, NULL, &err)) {
			say("%s", err.what);
			continue;
		}
		*from = to;
		written = true;
	}
	profile_free(cut);
	if (written)
		r->base = *sampling_vitals(&r->sampling);
	recorder_busy(r, false);
}

/* --- incidents --------------------------------------------------------------------------------------- */

/* Counts an incident, unless --at-most of them have begun within the last hour: then returns false. */
static bool allowed(struct recorder *r, uint32_t now)
{
	const uint64_t size = sizeof(r->fired) / sizeof(r->fired[0]);
	unsigned recent = 0;

	for (uint64_t i = r->fired_count > size ? r->fired_count - size : 0; i < r->fired_count;
		i++)
		recent += now - r->fired[i % size] < HOUR_S;
	if (recent >= r->per_hour)
		return false;
	r->fired[r->fired_count++ % size] = now;
	return true;
}

/* The first second of an incident's file: `from` if that is retained, or later than that of the last file with this word and start. */
static uint32_t incident_start(const struct recorder *r, const char *word, uint32_t from)
{
	uint32_t oldest = profile_info(r->sampling.profile).oldest;

	if (from < oldest)
		from = oldest;
	for (const struct incident *i = r->incidents; i < r->incidents + TRIGGERS_MAX; i++)
		if (!strcmp(i->word, word) && from <= i->from)
			from = i->from + 1;
	return from;
}

static void incident_begin(struct recorder *r, const struct trigger_event *e)
{
	uint32_t now = profile_info(r->sampling.profile).now;
	struct incident *i = r->incidents;

	while (i < r->incidents + TRIGGERS_MAX && i->to)
		i++;
	if (i == r->incidents + TRIGGERS_MAX || !allowed(r, now)) {
		say("%s: %s (not saved: more than %u incidents within an hour)", e->rule, e->what,
			r->per_hour);
		return;
	}
	*i = (struct incident){.from = incident_start(r, e->word,
				       e->since > r->before_s ? e->since - r->before_s : 0),
		.to = now + r->after_s + 1};
	i->due = i->to + LATE_S;
	snprintf(i->rule, sizeof(i->rule), "%s", e->rule);
	snprintf(i->what, sizeof(i->what), "%s", e->what);
	snprintf(i->word, sizeof(i->word), "%s", e->word);
	say("%s: %s", e->rule, e->what);
}

/* Writes the incidents that are due. Those that cannot be written are tried again, until they leave the history. */
static void write_incidents(struct recorder *r, uint32_t now, bool last)
{
	for (struct incident *i = r->incidents; i < r->incidents + TRIGGERS_MAX; i++) {
		if (!i->to || (!last && now < i->due))
			continue;
		uint32_t oldest = profile_info(r->sampling.profile).oldest;
		uint32_t from = i->from > oldest ? i->from : oldest,
			 to = i->to < now + 1 ? i->to : now + 1;
		struct profile *cut = profile_cut(r->sampling.profile, from, to);
		bool written = true;
		recorder_busy(r, true);
		for (int o = 0; o < r->outputs.count; o++) {
			struct err err = {0};
			if (!write_file(r, o, cut, to - from, i, &err))
				continue;
			say("%s", err.what);
			written = false;
		}
		recorder_busy(r, false);
		profile_free(cut);
		if (written) {
			i->to = 0;
		} else if (last || i->to <= profile_info(r->sampling.profile).oldest) {
			say("%s: lost, because it could not be written in time", i->rule);
			i->to = 0;
		}
		i->due = now + RETRY_S;
	}
}

/* --- one JVM ----------------------------------------------------------------------------------------- */

/* The next second after `from` at which files are rotated: at whole multiples of --rotate in wall-clock time. */
static uint32_t next_boundary(const struct recorder *r, uint32_t from)
{
	uint64_t start_s = profile_info(r->sampling.profile).start_wall_ns / NS_PER_S;

	return from + r->rotate_s - (uint32_t)((start_s + from) % r->rotate_s);
}

static int recorder_poll(void *ctx, const struct vitals *v, struct err *err)
{
	struct recorder *r = ctx;
	struct trigger_event fired[TRIGGERS_MAX];
	uint32_t now = profile_info(r->sampling.profile).now;
	int count = triggers_evaluate(&r->triggers, r->sampling.profile, v, fired, TRIGGERS_MAX);

	(void)err;
	recorder_report_pushes(r);
	for (int i = 0; i < count; i++)
		incident_begin(r, &fired[i]);
	write_incidents(r, now, false);
	if (sampling_save_requested() && (!r->boundary || now + 1 < r->boundary))
		r->boundary = now + 1;
	if (r->boundary && now >= r->boundary + LATE_S) {
		write_span(r, r->boundary);
		r->boundary = r->rotate_s ? next_boundary(r, r->boundary) : 0;
	}
	return 0;
}

static bool may_join(const struct recorder *r)
{
	return r->args->verb->bit == VERB_RECORD && !r->sampling.options.token &&
	       !r->sampling.options.take_over;
}

/* Joins the session of another jhot, if there is one. Returns as join_open. */
static int recorder_join(struct recorder *r, struct err *err)
{
	struct sampling *s = &r->sampling;
	struct shared *from;

	if (!may_join(r))
		return 1;
	struct profile *p = profile_new();
	int rc = join_open(r->args, s, p, &from, err);
	if (!rc && r->triggers.need_wall &&
		shared_vitals(from)->events[EVENT_WALL].state != VITALS_ON) {
		rc = err_set(err, ERR_BUSY,
			"JVM %d is being profiled by jhot process %d, which does not sample wall, "
			"and "
			"--when pool: needs it.",
			(int)s->jvm.pid, (int)shared_server(from));
		err_hint(err, "--take-over     ends that session first");
		shared_close(from);
	}
	if (rc) {
		profile_free(p);
		return rc;
	}
	sampling_join(s, from, p);
	r->base = *sampling_vitals(s);
	for (int i = 0; i < OUTPUTS_MAX; i++)
		r->from[i] = profile_info(p).now + 1;
	if (args_has(r->args, OPT_EVENT))
		return 0;
	r->events = &r->joined_events;
	r->joined_events.count = 0;
	for (int id = 0; id < VITALS_EVENTS; id++)
		if (r->base.events[id].state == VITALS_ON)
			events_insert(&r->joined_events, p, id);
	return 0;
}

/* Writes the seconds that are not in a file yet, and reports those that could not be written. */
static void recorder_finish(struct recorder *r)
{
	sampling_finish(&r->sampling);
	uint32_t now = profile_info(r->sampling.profile).now;
	write_incidents(r, now, true);
	if (r->rotate_s)
		write_span(r, now + 1);
	for (int i = 0; r->rotate_s && i < r->outputs.count; i++)
		if (r->from[i] <= now)
			say("lost %u s that could not be written to %s", now + 1 - r->from[i],
				r->outputs.files[i].path);
}

static void say_end(const struct recorder *r, const struct err *err)
{
	const struct hotspot *jvm = &r->sampling.jvm;

	if (r->stopped)
		say("%d %s is not recorded any more, because `jhot stop` ended it, until "
		    "the JVM or this recorder is restarted",
			(int)jvm->pid, jvm->name);
	else if (err->kind == ERR_GONE && !r->sampling.joined)
		say("%d %s ended", (int)jvm->pid, jvm->name);
	else
		say("%d %s: %s", (int)jvm->pid, jvm->name, err->what);
}

/* Begins a session, or joins one. That of a jhot that has just attached can be joined a few seconds later. */
static int recorder_attach(struct recorder *r, struct err *err)
{
	for (unsigned tries = may_join(r) ? JOIN_TRIES : 0;; tries--) {
		int rc = recorder_join(r, err);

		if (rc <= 0)
			return rc;
		rc = sampling_begin(&r->sampling, err);
		if (!rc || !tries || err->kind != ERR_BUSY || r->sampling.session)
			return rc;
		sampling_end(&r->sampling);
		*err = (struct err){0};
		poll(NULL, 0, JOIN_AGAIN_MS);
	}
}

static int recorder_begin(struct recorder *r, struct err *err)
{
	struct sampling *s = &r->sampling;
	uint32_t history = HISTORY_S;

	memset(r->from, 0, sizeof(r->from));
	memset(r->incidents, 0, sizeof(r->incidents));
	r->base = (struct vitals){0};
	r->events = &s->events;
	outputs_detect_labels(&r->outputs, (int)s->jvm.pid);
	s->meta.labels = r->outputs.labels;
	s->meta.label_count = r->outputs.label_count;
	triggers_reset(&r->triggers);
	s->poll = recorder_poll;
	s->ctx = r;
	r->stopped = false;
	if (recorder_attach(r, err))
		return -1;
	push_unpushed(r);
	if (history < 2 * r->rotate_s)
		history = 2 * r->rotate_s;
	if (history < r->before_s + r->after_s)
		history = r->before_s + r->after_s;
	profile_set_history(s->profile, history + HISTORY_S);
	if (s->session)
		session_names_patient(s->session);
	r->boundary = r->rotate_s ? next_boundary(r, r->from[0]) : 0;
	return 0;
}

int recorder_one(struct recorder *r, struct err *err)
{
	struct sampling *s = &r->sampling;
	int rc = recorder_begin(r, err);

	if (!rc) {
		say("recording %d %s", (int)s->jvm.pid, s->jvm.name);
		rc = sampling_loop(s, err);
		r->stopped = rc && s->session && session_was_stopped(s->session);
		recorder_finish(r);
		if (rc)
			say_end(r, err);
	}
	r->joined = s->joined != NULL;
	sampling_end(s);
	triggers_done(&r->triggers);
	return rc;
}

/* True if the JVM still runs after the end of the session that was joined. */
static bool jvm_runs(const struct hotspot *jvm)
{
	struct proc_cpu cpu;

	poll(NULL, 0, JOIN_AGAIN_MS);
	return !proc_cpu(jvm->pid, &cpu) && cpu.start_ticks == jvm->start_ticks && cpu.state != 'Z';
}

int recorder_run(const struct args *args, struct err *err)
{
	const char *target = args->operands[0];
	struct recorder *r = xcalloc(1, sizeof(*r));

	r->args = args;
	struct outputs_names names = {.name = target, .start_wall_ns = clock_wall_ns()};
	bool selected;
	int rc = recorder_parse(r, args, err);

	r->sampling.then = "writes the last file";
	r->sampling.saves = true;
	if (!rc)
		rc = outputs_check(&r->outputs, &r->sampling.events, &names, err);
	if (!rc)
		rc = recorder_parse_fraction(args, &selected, err);
	if (!rc && selected && r->push_output >= 0)
		rc = pusher_begin(&r->pusher, &r->pushing, err);
	if (!rc && !selected) {
		say("this host is not among the %s that are recorded; waiting for a signal",
			args_get(args, OPT_FRACTION));
		recorder_wait_signal();
	} else if (!rc && !hotspot_is_pid(target))
		rc = recorder_instances(r, target, err);
	else if (!rc) {
		rc = sampling_find(&r->sampling, args, err);
		if (!rc)
			rc = events_resolve(&r->sampling.events, r->sampling.jvm.pid, NULL, err);
		if (!rc)
			rc = recorder_one(r, err);
		while (rc && r->joined && err->kind == ERR_GONE && jvm_runs(&r->sampling.jvm)) {
			*err = (struct err){0};
			rc = recorder_one(r, err);
		}
		if (rc && (r->stopped || (err->kind == ERR_GONE && r->sampling.begin_ns)))
			rc = 0;
	}
	pusher_end(&r->pusher, say_line);
	pushing_done(&r->pushing);
	outputs_done(&r->outputs);
	free(r);
	return rc;
}
