/* SPDX-License-Identifier: Apache-2.0 */
/* `jhot record`: samples for a while, then writes files or prints the hot methods. */
#include "base/clock.h"
#include "base/env.h"
#include "cli/background.h"
#include "cli/findings.h"
#include "cli/line/units.h"
#include "cli/line/verb.h"
#include "cli/outputs/outputs.h"
#include "cli/recorder/join.h"
#include "cli/recorder/recorder.h"
#include "cli/report.h"
#include "cli/sampling.h"
#include "profile/table/flat.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NO_INLINING_SHOWN 0.5 /* per cent */

struct recording {
	struct sampling sampling;
	struct outputs outputs;
	struct diagnosis diagnosis; /* findings NULL: --why was not given */
};

/* Notes the share of samples in code without inlining information. */
static void record_no_inlining(const struct recording *r)
{
	for (int i = 0; i < r->sampling.events.count; i++) {
		struct profile_query q = profile_whole(r->sampling.events.ids[i]);
		double share = flat_percent(profile_no_inlining(r->sampling.profile, &q).weight,
			profile_sum(r->sampling.profile, &q).weight);

		if (share >= NO_INLINING_SHOWN)
			fprintf(stderr,
				"%s: %.0f %% in code without inlining information, compiled before "
				"jhot attached; to avoid this, start the JVM with "
				"-XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints\n",
				r->sampling.events.names[i], share);
	}
}

/* Writes all samples, also after an error or a signal. A write error takes precedence over rc. */
static int record_finish(struct recording *r, int rc, struct err *err)
{
	struct outputs_source source = {.profile = r->sampling.profile};
	struct err why = {0};

	/* In the background, only `jhot stop` reads this output. */
	if (background_is() && !r->outputs.count && !sampling_interrupted())
		r->outputs.files[r->outputs.count++] =
			(struct output){.path = "%n-%t.jhot", .format = &outputs_jhot};

	if (r->sampling.command) /* stdout is the program's */
		dup2(STDERR_FILENO, STDOUT_FILENO);
	if (r->diagnosis.findings)
		diagnosis_judge(&r->diagnosis, &r->sampling);
	sampling_finish(&r->sampling);
	source.vitals = session_vitals(r->sampling.session);
	source.duration_ns = session_duration_ns(r->sampling.session);
	report_note(stderr, session_note(r->sampling.session));
	record_no_inlining(r);
	/* Notes how much of the process's CPU time the samples of cpu account for. */
	const struct profile_query all = profile_whole(EVENT_CPU);
	struct profile_explained e = profile_explained(
		r->sampling.profile, &all, session_vitals(r->sampling.session)->threads_live);
	if (e.process_ns)
		fprintf(stderr,
			"cpu: explains %.0f %% (%s%.0f points) of the CPU time that the JVM "
			"used%s\n",
			flat_percent(e.sampled_ns, e.process_ns), env_is_utf8() ? "±" : "+-",
			flat_percent(e.error_ns, e.process_ns),
			e.differs && e.sampled_ns < e.process_ns
				? ": the rest was used by threads while they started or ended, by "
				  "very short-lived threads, or by threads that block the sampling "
				  "signal"
				: "");
	if (outputs_write(&r->outputs, &r->sampling.events, &source, &why) &&
		(!rc || err->kind == ERR_GONE)) {
		*err = why;
		return -1;
	}
	if (r->diagnosis.findings)
		diagnosis_print(&r->diagnosis, stderr);
	if (rc && err->kind == ERR_GONE && !r->sampling.duration_ns) {
		if (!r->sampling.command)
			fprintf(stderr, "JVM %d ended; these are its samples until then.\n",
				(int)r->sampling.jvm.pid);
		return 0;
	}
	if (rc && err->kind == ERR_GONE)
		err_set(err, ERR_GONE,
			"JVM %d ended after %.1f of %g s; the samples until then were %s.",
			(int)r->sampling.jvm.pid, (double)source.duration_ns / (double)NS_PER_S,
			(double)r->sampling.duration_ns / (double)NS_PER_S,
			r->outputs.count ? "written" : "printed");
	return rc;
}

static int record_poll(void *ctx, const struct vitals *v, struct err *err)
{
	struct recording *r = ctx;

	if (r->diagnosis.findings)
		diagnosis_vitals(&r->diagnosis, v, err);
	return outputs_follow(&r->outputs, v, err);
}

static int record_run(struct recording *r, struct err *err)
{
	struct sampling *s = &r->sampling;
	int rc = sampling_begin(s, err);

	if (!rc) {
		const struct outputs_source source = {
			.profile = s->profile, .vitals = session_vitals(s->session)};

		session_names_patient(s->session);
		rc = outputs_follow_begin(&r->outputs, &s->events, &source, err);
	}
	if (!rc)
		rc = record_finish(r, sampling_loop(s, err), err);
	outputs_follow_end(&r->outputs);
	sampling_end(s);
	return rc;
}

static int check_command(const struct args *args, struct err *err)
{
	if (args->operands_before > 0)
		return err_set(err, ERR_USAGE,
			"Give either a PID or NAME, or -- and a command, not both.");
	if (args->operands_before && args->operand_count > 1)
		return err_set(err, ERR_USAGE, "Unexpected argument \"%s\".", args->operands[1]);
	if (!args->operands_before && (recorder_requested(args) || args_has(args, OPT_DURATION)))
		return err_set(err, ERR_USAGE,
			"A command is recorded to its end, into files that are written then: "
			"--rotate, --when and -d cannot be used with it.");
	return 0;
}

/* jhot record -- COMMAND: like sampling_parse. */
static int parse_command(struct sampling *s, const struct args *args, struct err *err)
{
	s->command = args->operands;
	s->jvm = launch_jvm(0);
	if (sampling_options(s, args, err))
		return -1;
	if (!events_resolve(&s->events, 0, NULL, err))
		return 0;
	err_hint(err, "events on native functions need a JVM that is running: jhot record PID");
	return -1;
}

static int run_record(const struct args *args, struct err *err);
extern const struct verb verb_record;

/* In the process that the agent has started: records the JVM that loads it. */
static int run_loaded(const struct args *args, struct err *err)
{
	struct loaded loaded;
	struct args record;
	int rc = -1;

	background_leave();
	if (!loaded_parse(&loaded, args_get(args, OPT_LOADED), args->operands[0], err) &&
		!args_parse(&record, &verb_record, loaded.count, loaded.words, err)) {
		rc = run_record(&record, err);
		args_done(&record);
	}
	loaded_done(&loaded);
	return rc;
}

static int run_record(const struct args *args, struct err *err)
{
	struct recording r = {.sampling.then = "prints"};
	struct sampling *s = &r.sampling;
	int rc = -1;

	if (args_has(args, OPT_LOADED))
		return run_loaded(args, err);
	if (recorder_check_options(args, err) || check_command(args, err))
		return -1;
	if (recorder_requested(args))
		return recorder_run(args, err);
	if (events_parse(&s->events, args, EVENT_CPU, err) || outputs_parse(&r.outputs, args, err))
		goto out;
	if (args->operands_before ? sampling_parse(s, args, err) : parse_command(s, args, err))
		goto out;
	/* Checked before attaching: the names are final, except for the second in %t. */
	struct outputs_names names =
		(struct outputs_names){(int)s->jvm.pid, s->jvm.name, clock_wall_ns(), NULL};
	if (outputs_check(&r.outputs, &s->events, &names, err))
		goto out;
	if (args->verb->bit == VERB_RECORD && !s->command && !s->options.token &&
		!s->options.take_over) {
		rc = join_record(args, s, &r.outputs, err);
		if (rc <= 0)
			goto out;
		rc = -1;
	}
	outputs_detect_labels(&r.outputs, (int)s->jvm.pid);
	s->meta.labels = r.outputs.labels;
	s->meta.label_count = r.outputs.label_count;
	if (r.outputs.count)
		s->then = "writes";
	if (args_has(args, OPT_WHY))
		r.diagnosis.findings = findings_new();
	s->poll = record_poll;
	s->ctx = &r;
	rc = record_run(&r, err);
	findings_free(r.diagnosis.findings);
out:
	outputs_done(&r.outputs);
	if (s->command && s->launch.jvm.pid) {
		if (rc)
			report_error(stderr, err);
		exit(s->exit_status);
	}
	return rc;
}

static int run_start(const struct args *args, struct err *err)
{
	struct args of_record = *args;
	const char *operands[1];
	struct hotspot jvm;
	int status;
	char pid[16];

	if (hotspot_find_ready(args->operands[0], &jvm, err))
		return -1;
	snprintf(pid, sizeof(pid), "%d", (int)jvm.pid);
	operands[0] = pid;
	of_record.operands = operands;
	of_record.operands_before = -1; /* the operand is no command, even after "--" */
	int rc = background_fork(&status, err);
	if (rc > 0)
		exit(status); /* the child has printed everything */
	return rc ? -1 : run_record(&of_record, err);
}

const struct verb verb_record = {
	.bit = VERB_RECORD,
	.name = "record",
	.synopsis = "[OPTION]... PID|NAME | [OPTION]... -- java ARGUMENT...",
	.help = "sample for a while, then write files or print the hot methods",
	.text = "Samples a JVM for the given time, or until Ctrl-C or the end of the JVM, "
		"and writes each -o FILE in the format selected by its suffix:\n\n"
		"  .jhot            a recording of everything, second by second, for `jhot view`\n"
		"                   and `jhot convert`; stays readable if jhot is killed\n"
		"  .svg             a flame graph for any browser\n"
		"  .html            the same, with call tree, methods and a heat map over time\n"
		"  .collapsed       one line per stack, for scripts (also .folded)\n"
		"  .jfr             a flight recording, for JMC, `jfr`, IDEs, Pyroscope\n"
		"  .pb.gz           for `go tool pprof`, Pyroscope, Parca (also .pprof)\n"
		"  .otlp            OTLP profiles (experimental)\n"
		"  .speedscope.json for speedscope.app\n"
		"  .txt             hot methods, their callers, the heaviest stacks\n\n"
		"\"-o -\" writes collapsed stacks, or the --format, to stdout. In FILE, %p "
		"expands to the pid, %n to the program's name, %h to the host, %t to the "
		"start time (UTC), %e to the event and %% to a percent sign. Without -o the "
		"hot methods are printed. With several events, NAME.suffix becomes "
		"NAME-EVENT.suffix, except for .jhot, .html, .jfr, .otlp and "
		".speedscope.json, which hold all events: `jhot record -e "
		"cpu,alloc=256k,lock,wall -o out.collapsed PID` samples all four at once into "
		"out-cpu.collapsed, out-alloc.collapsed, ...\n\n"
		"The interval of an event is the distance between two samples: time for cpu "
		"and wall, bytes for alloc. For lock it is how often threads are polled for "
		"what they wait for. Defaults: cpu 10 ms, wall 50 ms, alloc 512 kB, lock 5 "
		"ms. A number without a unit is in the event's own unit.\n\n"
		"After --, `java` and its arguments are started and sampled from their first "
		"milliseconds on. The program has the terminal, its exit status becomes that "
		"of jhot, and what jhot prints goes to stderr, at the end:\n\n"
		"  jhot record -e cpu=1ms -o start.html -- java -jar shop.jar\n\n"
		"With --rotate 1m jhot records the JVM for as long as it runs, into a file "
		"per minute; SIGUSR1 ends the current file at once. With --when it writes "
		"files only about incidents; each begins a minute before. Given a NAME, it "
		"records all JVMs of that name, including those that start later. Names of "
		"files must contain %t, and --keep limits how many are kept:\n\n"
		"  jhot record --rotate 1m --keep 24h,2G -o '/var/lib/jhot/%n-%t.jhot' Shop\n"
		"  jhot record --when why --when 'heap>90%' -o '/var/lib/jhot/%n-%t.jhot' Shop\n\n"
		"If another jhot is sampling the JVM, its samples are recorded, as long as it "
		"samples the events of -e at the same intervals; else the exit status is 5.\n\n"
		"If the JVM ends early, the samples until then are written and the exit "
		"status is 8.",
	.min_operands = 1,
	.max_operands = 10000,
	.run = run_record,
};

const struct verb verb_start = {
	.bit = VERB_START,
	.name = "start",
	.synopsis = "[OPTION]... PID|NAME",
	.help = "record in the background: see save, status, stop and top",
	.text = "Starts a process that records the JVM like `jhot record`, with the same "
		"options, and returns once it is sampling. The recording ends with the JVM or "
		"with `jhot stop`; it continues when the terminal is closed.\n\n"
		"  jhot start -e cpu,alloc,lock,wall Shop\n"
		"  jhot top Shop                            watch it, and leave again with q\n"
		"  jhot save --last 5m -o slow.html Shop    write the last minutes to a file\n"
		"  jhot stop -o whole.jfr Shop              end it, and write all of it\n\n"
		"Without -o the samples are in memory: seconds are kept as far as 144 MiB "
		"allow, then only totals. If the JVM ends, or the process is killed with "
		"SIGTERM, they are written to NAME-TIME.jhot in the current folder.\n\n"
		"To record all JVMs of a name, also after they are restarted, run `jhot "
		"record --rotate` as a service instead.",
	.min_operands = 1,
	.max_operands = 1,
	.run = run_start,
};
