/* SPDX-License-Identifier: Apache-2.0 */
/* `jhot slow`: the latency of single calls of a method. */
#include "base/clock.h"
#include "cli/latency.h"
#include "cli/line/selection.h"
#include "cli/line/units.h"
#include "cli/line/verb.h"
#include "cli/reading.h"
#include "cli/sampling.h"
#include "profile/calls/extract.h"
#include "profile/calls/report.h"

#include <stdio.h>

#define SLOW_NS (10 * NS_PER_S)
/* Until the threads inside are known, polled densely, and have breakpoints. */
#define SLOW_WARM_NS NS_PER_S
/* Until the last calls of the window have been reported. */
#define SLOW_END_NS (500 * NS_PER_MS)

static const int slow_events[] = {EVENT_WALL, EVENT_LOCK};

struct slow {
	struct sampling sampling;
	const char *method;
	uint64_t interval;
};

static int slow_measure(struct slow *slow, struct latency_report *report, struct err *err)
{
	struct sampling *s = &slow->sampling;
	int rc;

	if (sampling_begin(s, err) ||
		session_latency(s->session, slow->method, slow->interval, err))
		return -1;
	report->profile = s->profile;
	report->clock_ns = session_start_ns(s->session);
	s->duration_ns += SLOW_WARM_NS + SLOW_END_NS;
	report->query.from_ns = session_now_ns(s->session) + SLOW_WARM_NS - report->clock_ns;
	rc = sampling_loop(s, err);
	if (rc && err->kind != ERR_GONE)
		return -1;
	report->query.to_ns = session_now_ns(s->session) - SLOW_END_NS - report->clock_ns;
	if (report->query.from_ns > report->query.to_ns)
		report->query.from_ns = report->query.to_ns;
	sampling_finish(s);
	calls_query_counted(s->profile, &report->query);
	return 0;
}

static int slow_unseen(const struct latency_report *report, const char *method, struct err *err)
{
	struct calls_summary sum;

	calls_summarize(report->profile, &report->query, &sum);
	if (sum.calls >= 1) {
		err_set(err, ERR_FAILED,
			"%s was called %.0f times in %.1f s, but no poll found one of these calls: "
			"they are too short.",
			method, sum.calls, sum.seconds);
		err_hint(err, "-d 60                                    more polls");
		err_hint(err, "-i 1ms                                   more frequent ones");
		return -1;
	}
	err_set(err, ERR_FAILED, "No call of %s was seen in %.1f s.", method, sum.seconds);
	if (sum.missed_threads > 10)
		err_hint(err,
			"%.0f threads ended before they were polled: their calls are not seen",
			sum.missed_threads);
	err_hint(err, "the name is as on the screen of jhot top: handle, Gateway.handle or "
		      "com.shop.Gateway.handle");
	err_hint(err, "calls that are rare or short need a longer time: -d 60");
	return -1;
}

static int slow_live(struct slow *slow, const struct args *args, struct latency_report *report,
	const struct outputs *o, struct err *err)
{
	struct sampling *s = &slow->sampling;
	const char *interval = args_get(args, OPT_INTERVAL);
	struct outputs_names names;
	struct events written = {.count = 0};

	for (size_t i = 0; i < sizeof(slow_events) / sizeof(slow_events[0]); i++)
		events_insert(&s->events, NULL, slow_events[i]);
	s->events.budget = -1;
	s->events.optional = true;
	if (args->operand_count < 2) {
		err_set(err, ERR_USAGE, "Measuring %s needs a JVM: its PID or NAME is missing.",
			slow->method);
		err_hint(err, "jhot slow %s PID", slow->method);
		return -1;
	}
	if ((interval && units_duration(interval, &slow->interval, err)) ||
		sampling_options(s, args, err) ||
		hotspot_find_ready(args->operands[1], &s->jvm, err) ||
		events_resolve(&s->events, s->jvm.pid, NULL, err))
		return -1;
	names = (struct outputs_names){(int)s->jvm.pid, s->jvm.name, clock_wall_ns(), NULL};
	events_insert(&written, NULL, EVENT_WALL);
	if (outputs_check(o, &written, &names, err))
		return -1;
	return slow_measure(slow, report, err);
}

/* Reports on the calls in a recording. */
static struct imported *slow_file(
	const struct args *args, struct latency_report *report, struct err *err)
{
	struct imported *file = reading_operands(args, err);
	uint32_t from, to;

	if (!file)
		return NULL;
	if (!reading_span(args, file, &from, &to, err) && calls_name(file->profile)) {
		report->profile = file->profile;
		report->query.from_ns = from * NS_PER_S;
		report->query.to_ns = report->query.from_ns + reading_duration_ns(file, from, to);
		calls_query_counted(file->profile, &report->query);
		return file;
	}
	if (!calls_name(file->profile)) {
		err_set(err, ERR_FAILED, "%s has no measured calls.", args->operands[0]);
		err_hint(err, "jhot record --latency METHOD -o FILE.jhot PID     records them");
	}
	import_free(file);
	return NULL;
}

/* Writes the selected calls to the files of -o. */
static int slow_write(const struct slow *slow, const struct latency_report *report,
	const struct imported *file, const struct outputs *o, struct err *err)
{
	struct outputs_source source = {.profile = calls_extract(report->profile, &report->slow),
		.vitals = file ? &file->vitals : session_vitals(slow->sampling.session),
		.duration_ns = report->query.to_ns,
		.file = file};
	struct events events = {.count = 0};
	int rc;

	events_insert(&events, NULL, EVENT_WALL);
	rc = outputs_write(o, &events, &source, err);
	profile_free((struct profile *)source.profile);
	return rc;
}

/* Selects the calls that are compared with the others, writes the files, and prints the report. */
static int slow_report(const struct args *args, struct latency_report *report,
	const struct slow *slow, const struct imported *file, const struct outputs *o,
	struct err *err)
{
	bool prints = true;

	if (!latency_seen(report))
		return args_has(args, OPT_JSON) ? (latency_print_json(report, stdout), 0) : 0;
	report->ranged = selection_wanted(args);
	report->slow = report->query;
	if (selection_limits(args, report->profile, true, &report->slow, err) ||
		(o->count && slow_write(slow, report, file, o, err)))
		return -1;
	for (int i = 0; i < o->count; i++)
		prints = prints && !outputs_is_stdout(&o->files[i]);
	if (prints && args_has(args, OPT_JSON))
		latency_print_json(report, stdout);
	else if (prints)
		latency_print(report, stdout);
	return 0;
}

static int run_slow(const struct args *args, struct err *err)
{
	struct slow slow = {.method = args->operands[0],
		.sampling = {.duration_ns = SLOW_NS, .then = "prints the report"}};
	struct latency_report report = {.query.threads = args_get(args, OPT_ONLY_THREADS),
		.every = args_has(args, OPT_CALLS)};
	struct imported *file = NULL;
	struct outputs outputs;
	int rc = outputs_parse(&outputs, args, err) || selection_check(args, err) ? -1 : 0;

	if (!rc && import_accepts(args->operands[0])) {
		file = slow_file(args, &report, err);
		rc = file ? 0 : -1;
		if (file)
			slow.method = calls_name(file->profile);
	} else if (!rc) {
		rc = slow_live(&slow, args, &report, &outputs, err);
	}
	if (!rc)
		rc = slow_report(args, &report, &slow, file, &outputs, err);
	if (!rc && !latency_seen(&report))
		rc = slow_unseen(&report, slow.method, err);
	if (file)
		import_free(file);
	else
		sampling_end(&slow.sampling);
	outputs_done(&outputs);
	return rc;
}

const struct verb verb_slow = {
	.bit = VERB_SLOW,
	.name = "slow",
	.synopsis = "[OPTION]... METHOD PID|NAME, or FILE",
	.help = "measure the latency of single calls of a method, and what slow ones do",
	.text = "Samples the threads inside METHOD every 5 ms (see -i) for 10 s (see -d), without "
		"instrumentation, and recognizes which samples belong to the same call. Reports "
		"calls per second, percentiles and a histogram of their durations, what all calls "
		"and the slowest 1 % spend their time on, the places in which slow calls spend "
		"more "
		"time than others, the call tree of these calls, and the slowest ones. --longer "
		"and --shorter select another range of durations; -o writes the stacks of the "
		"selected calls. METHOD is a name with or without its "
		"class "
		"and package: handle, Gateway.handle, com.shop.Gateway.handle. A FILE is a "
		"recording of jhot record --latency METHOD.\n\n"
		"A duration is known to within two intervals. Of calls shorter than an interval "
		"only "
		"some are seen; their number is estimated. Consecutive calls of a method that was "
		"inlined into a loop cannot be distinguished; the report says so.",
	.min_operands = 1,
	.max_operands = 2,
	.run = run_slow,
};
