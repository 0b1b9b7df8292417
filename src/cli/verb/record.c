/* SPDX-License-Identifier: Apache-2.0 */
/* `jhot record`: sample for a while, then write files or print the hot methods. */
#include "base/clock.h"
#include "base/env.h"
#include "cli/findings.h"
#include "cli/line/units.h"
#include "cli/line/verb.h"
#include "cli/outputs/outputs.h"
#include "cli/report.h"
#include "cli/sampling.h"
#include "profile/table/flat.h"

#include <stdio.h>

#define COARSE_SHOWN 0.5 /* per cent */

struct recording {
	struct sampling sampling;
	struct outputs outputs;
	struct watch watch; /* findings NULL: --why was not given */
};

/* How much of it is in code that does not tell its inlined methods apart. */
static void record_coarse(const struct recording *r)
{
	for (int i = 0; i < r->sampling.events.count; i++) {
		struct profile_query q = profile_whole(r->sampling.events.ids[i]);
		double share = flat_percent(profile_coarse(r->sampling.profile, &q).weight,
			profile_sum(r->sampling.profile, &q).weight);

		if (share >= COARSE_SHOWN)
			fprintf(stderr,
				"%s: %.0f %% coarse: in code that does not tell inlined methods "
				"apart, compiled before jhot came; -XX:+UnlockDiagnosticVMOptions "
				"-XX:+DebugNonSafepoints is against that\n",
				r->sampling.events.names[i], share);
	}
}

/* How much of what the process used the samples of cpu tell of. */
static void record_explained(const struct recording *r)
{
	const struct profile_query all = profile_whole(EVENT_CPU);
	struct profile_explained e = profile_explained(
		r->sampling.profile, &all, session_vitals(r->sampling.session)->threads_live);

	if (!e.process_ns)
		return;
	fprintf(stderr,
		"cpu: explains %.0f %% (%s%.0f points) of the CPU time that the JVM used%s\n",
		flat_percent(e.sampled_ns, e.process_ns), env_is_utf8() ? "±" : "+-",
		flat_percent(e.error_ns, e.process_ns),
		e.differs && e.sampled_ns < e.process_ns
			? ": the rest is of threads that begin, end, live too shortly, or "
			  "block the signal of the samples"
			: "");
}

/* All that was sampled is written, whatever ended the sampling; that comes first among the errors. */
static int record_finish(struct recording *r, int rc, struct err *err)
{
	struct outputs_source source = {.profile = r->sampling.profile};
	struct err why = {0};

	if (r->watch.findings)
		watch_judge(&r->watch, &r->sampling);
	sampling_finish(&r->sampling);
	source.vitals = session_vitals(r->sampling.session);
	source.duration_ns = session_duration_ns(r->sampling.session);
	report_note(stderr, session_note(r->sampling.session));
	record_coarse(r);
	record_explained(r);
	if (outputs_write(&r->outputs, &r->sampling.events, &source, &why) &&
		(!rc || err->kind == ERR_GONE)) {
		*err = why;
		return -1;
	}
	if (r->watch.findings)
		watch_print(&r->watch, stderr);
	if (rc && err->kind == ERR_GONE && !r->sampling.duration_ns) {
		fprintf(stderr, "JVM %d has ended; this is what was sampled until then.\n",
			(int)r->sampling.jvm.pid);
		return 0;
	}
	if (rc && err->kind == ERR_GONE)
		err_set(err, ERR_GONE,
			"JVM %d ended after %.1f of %g s; what was sampled until then is %s.",
			(int)r->sampling.jvm.pid, (double)source.duration_ns / (double)NS_PER_S,
			(double)r->sampling.duration_ns / (double)NS_PER_S,
			r->outputs.count ? "written" : "above");
	return rc;
}

static int record_follow_begin(struct recording *r, struct err *err)
{
	const struct outputs_source source = {
		.profile = r->sampling.profile, .vitals = session_vitals(r->sampling.session)};

	return outputs_follow_begin(&r->outputs, &r->sampling.events, &source, err);
}

static int record_look(void *ctx, const struct vitals *v, struct err *err)
{
	struct recording *r = ctx;

	if (r->watch.findings)
		watch_vitals(&r->watch, v, err);
	return outputs_follow(&r->outputs, v, err);
}

static int record_run(struct recording *r, struct err *err)
{
	struct sampling *s = &r->sampling;
	int rc = sampling_begin(s, err);

	if (!rc) {
		session_names_patient(s->session);
		rc = record_follow_begin(r, err);
	}
	if (!rc)
		rc = record_finish(r, sampling_loop(s, err), err);
	outputs_follow_end(&r->outputs);
	sampling_end(s);
	return rc;
}

/* Before anything is attached: the files' names are those that they will have, but for the second of the start. */
static int record_check(const struct recording *r, struct err *err)
{
	const struct sampling *s = &r->sampling;
	const struct outputs_names names = {(int)s->jvm.pid, s->jvm.name, clock_wall_ns()};

	return outputs_check(&r->outputs, &s->events, &names, err);
}

static int run_record(const struct args *args, struct err *err)
{
	struct recording r = {.sampling.then = "prints"};
	int rc = -1;

	if (events_parse(&r.sampling.events, args, EVENT_CPU, err) ||
		outputs_parse(&r.outputs, args, err) || sampling_parse(&r.sampling, args, err) ||
		record_check(&r, err))
		goto out;
	if (r.outputs.count)
		r.sampling.then = "writes";
	if (args_has(args, OPT_WHY))
		r.watch.findings = findings_new();
	r.sampling.look = record_look;
	r.sampling.ctx = &r;
	rc = record_run(&r, err);
	findings_free(r.watch.findings);
out:
	outputs_done(&r.outputs);
	return rc;
}

const struct verb verb_record = {
	.bit = VERB_RECORD,
	.name = "record",
	.synopsis = "[OPTION]... PID|NAME",
	.help = "sample for a while, then write files or print the hot methods",
	.text = "Samples a JVM for the given time, or until Ctrl-C or its end, and writes each -o "
		"FILE in the format of its suffix:\n\n"
		"  .jhot            a recording: all of it, second by second, for `jhot view` and\n"
		"                   `jhot convert`; what it has so far is good if jhot is killed\n"
		"  .svg             a flame graph for any browser\n"
		"  .html            the same with call tree, methods, and a heat map over time\n"
		"  .collapsed       a line per stack, for scripts (also .folded)\n"
		"  .jfr             a flight recording, for JMC, `jfr`, IDEs, Pyroscope\n"
		"  .pb.gz           for `go tool pprof`, Pyroscope, Parca (also .pprof)\n"
		"  .otlp            OTLP profiles (experimental)\n"
		"  .speedscope.json for speedscope.app\n"
		"  .txt             hot methods, their callers, the heaviest stacks\n\n"
		"\"-o -\" is stdout: collapsed stacks, or what --format says. In a FILE %p "
		"becomes the pid, %n the program's name, %h the host, %t the start (UTC), %e the "
		"event, %% a percent sign. Without -o the hot methods are printed. With several "
		"events, NAME.suffix becomes NAME-EVENT.suffix, but for .jhot, .html, .jfr, .otlp "
		"and .speedscope.json, which hold them all: "
		"`jhot record -e cpu,alloc=256k,lock,wall -o out.collapsed PID` samples all four "
		"at once into out-cpu.collapsed, out-alloc.collapsed, ...\n\n"
		"An event's interval is what lies between two samples: time for cpu and wall, "
		"bytes for alloc; lock looks so often at what threads wait for. Defaults are 10 "
		"ms, 50 ms, 512 kB, 5 ms. A plain number is in the event's own unit.\n\n"
		"If the JVM ends before the time is over, what there is gets written and the exit "
		"code is 8.",
	.min_operands = 1,
	.max_operands = 1,
	.run = run_record,
};
