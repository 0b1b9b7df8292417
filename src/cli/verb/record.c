/* SPDX-License-Identifier: Apache-2.0 */
/* `jhot record`: sample for a while, then write files or print the hot methods. */
#include "attach/jvm/hotspot.h"
#include "base/clock.h"
#include "cli/line/events.h"
#include "cli/line/units.h"
#include "cli/outputs.h"
#include "cli/report.h"
#include "cli/verb/verb.h"
#include "profile/table/flat.h"
#include "session/session.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define STEP_MS      200
#define PROGRESS_NS  (250 * NS_PER_MS)
#define COARSE_SHOWN 0.5 /* per cent */

struct recording {
	struct events events;
	struct outputs outputs;
	struct session_options options;
	uint64_t duration_ns; /* 0 = until told */
	uint64_t begin_ns;
	struct hotspot jvm;
	struct profile *profile;
	struct session *session;
};

/* --- signals: the first one ends the recording in order, a second one ends jhot ---------------------- */

static volatile sig_atomic_t record_signal;

static void record_on_signal(int signo)
{
	record_signal = signo;
}

static void record_catch_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction sa = {.sa_handler = record_on_signal, .sa_flags = (int)SA_RESETHAND};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct sigaction old;

		if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN) /* nohup's */
			sigaction(signals[i], &sa, NULL);
	}
	signal(SIGPIPE, SIG_IGN); /* an output that goes away is an error to report */
}

/* --- the line that moves ------------------------------------------------------------------------------ */

static void record_progress(const struct recording *r, const struct vitals *v, uint64_t now_ns)
{
	int64_t samples = 0;

	for (int i = 0; i < r->events.count; i++)
		samples += v->events[r->events.ids[i]].samples;
	fprintf(stderr, "\r\033[K%.1f", (double)(now_ns - r->begin_ns) / (double)NS_PER_S);
	if (r->duration_ns)
		fprintf(stderr, "/%g", (double)r->duration_ns / (double)NS_PER_S);
	fprintf(stderr, " s  %lld sample%s  %lld lost%s  (Ctrl-C ends and %s)", (long long)samples,
		plural((uint64_t)samples), (long long)v->lost,
		v->stalled ? "  JVM does not answer" : "", r->outputs.count ? "writes" : "prints");
	fflush(stderr);
}

/* --- the run ----------------------------------------------------------------------------------------- */

static int record_start(struct recording *r, struct err *err)
{
	struct progress progress;

	r->options.patience = progress_begin(&progress, &r->jvm, &record_signal);
	r->session = session_open(&r->jvm, &r->options, r->profile, err);
	progress_done(&progress);
	if (!r->session)
		return -1;
	r->begin_ns = clock_mono_ns();
	return events_start(&r->events, r->session, err);
}

/* Until the time is over, a signal comes, or the session ends by itself (-1). */
static int record_loop(struct recording *r, struct err *err)
{
	bool terminal = isatty(STDERR_FILENO);
	uint64_t now_ns = clock_mono_ns(), due_ns = now_ns;
	int rc = 0;

	while (rc >= 0 && !record_signal &&
		(!r->duration_ns || now_ns - r->begin_ns < r->duration_ns)) {
		uint64_t left_ms = STEP_MS;

		if (r->duration_ns &&
			(r->duration_ns - (now_ns - r->begin_ns)) / NS_PER_MS < left_ms)
			left_ms = (r->duration_ns - (now_ns - r->begin_ns)) / NS_PER_MS + 1;
		session_wait(r->session, (int)left_ms);
		rc = session_drain(r->session, err);
		now_ns = clock_mono_ns();
		if (terminal && now_ns >= due_ns) {
			record_progress(r, session_vitals(r->session), now_ns);
			due_ns = now_ns + PROGRESS_NS;
		}
	}
	if (terminal)
		fputs("\r\033[K", stderr);
	return rc < 0 ? -1 : 0;
}

/* How much of it is in code that does not tell its inlined methods apart. */
static void record_coarse(const struct recording *r)
{
	for (int i = 0; i < r->events.count; i++) {
		struct profile_query q = profile_whole(r->events.ids[i]);
		double share = flat_percent(
			profile_coarse(r->profile, &q).weight, profile_sum(r->profile, &q).weight);

		if (share >= COARSE_SHOWN)
			fprintf(stderr,
				"%s: %.0f %% coarse: in code that does not tell inlined methods "
				"apart, compiled before jhot came; -XX:+UnlockDiagnosticVMOptions "
				"-XX:+DebugNonSafepoints is against that\n",
				r->events.names[i], share);
	}
}

/* How much of what the process used the samples of cpu tell of. */
static void record_explained(const struct recording *r)
{
	const struct profile_query all = profile_whole(EVENT_CPU);
	struct profile_explained e =
		profile_explained(r->profile, &all, session_vitals(r->session)->threads_live);

	if (!e.process_ns)
		return;
	fprintf(stderr, "cpu: explains %.0f %% (+-%.0f) of the CPU time that the JVM used%s\n",
		flat_percent(e.sampled_ns, e.process_ns), flat_percent(e.error_ns, e.process_ns),
		e.differs && e.sampled_ns < e.process_ns
			? ": the rest is of threads that live too shortly, or that block the "
			  "signal of the samples"
			: "");
}

/* All that was sampled is written, whatever ended the sampling; that comes first among the errors. */
static int record_finish(struct recording *r, int rc, struct err *err)
{
	struct outputs_source source = {.profile = r->profile};
	struct err why = {0};

	if (session_finish(r->session, &why) && !rc) {
		*err = why;
		rc = -1;
	}
	source.vitals = session_vitals(r->session);
	source.duration_ns = session_duration_ns(r->session);
	report_note(stderr, session_note(r->session));
	record_coarse(r);
	record_explained(r);
	if (outputs_write(&r->outputs, &r->events, &source, &why) &&
		(!rc || err->kind == ERR_GONE)) {
		*err = why;
		return -1;
	}
	if (rc && err->kind == ERR_GONE && !r->duration_ns) {
		fprintf(stderr, "JVM %d has ended; this is what was sampled until then.\n",
			(int)r->jvm.pid);
		return 0;
	}
	if (rc && err->kind == ERR_GONE)
		err_set(err, ERR_GONE,
			"JVM %d ended after %.1f of %g s; what was sampled until then is %s.",
			(int)r->jvm.pid, (double)source.duration_ns / (double)NS_PER_S,
			(double)r->duration_ns / (double)NS_PER_S,
			r->outputs.count ? "written" : "above");
	return rc;
}

static int record_run(struct recording *r, struct err *err)
{
	int rc;

	record_catch_signals();
	r->profile = profile_new();
	rc = record_start(r, err);
	if (!rc)
		rc = record_finish(r, record_loop(r, err), err);
	/* Ended before there was anything to write: as the signal would have, now that all is put back. */
	if (!r->session && record_signal)
		raise(record_signal);
	session_close(r->session);
	profile_free(r->profile);
	return rc;
}

static int run_record(const struct args *args, struct err *err)
{
	struct recording r = {
		.options = {.agent = args_get(args, OPT_AGENT),
			.raw_path = args_get(args, OPT_RAW),
			.take_over = args_has(args, OPT_TAKE_OVER)},
	};
	const char *duration = args_get(args, OPT_DURATION);
	int rc = -1;

	if (events_parse(&r.events, args, EVENT_CPU, err) || outputs_parse(&r.outputs, args, err) ||
		(duration && units_duration(duration, &r.duration_ns, err)) ||
		hotspot_find_ready(args->operands[0], &r.jvm, err) ||
		events_resolve(&r.events, r.jvm.pid, err) ||
		outputs_check(&r.outputs, &r.events, err))
		goto out;
	rc = record_run(&r, err);
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
		"FILE in the format of its suffix; \"-o -\" prints collapsed stacks. Without -o "
		"the hot methods are printed. With several events, NAME.suffix becomes "
		"NAME-EVENT.suffix: `jhot record -e cpu,alloc=256k,lock,wall -o out.collapsed PID` "
		"samples all four at once into out-cpu.collapsed, out-alloc.collapsed, ...\n\n"
		"An event's interval is what lies between two samples: time for cpu and wall, "
		"bytes for alloc; lock looks so often at what threads wait for. Defaults are 10 "
		"ms, 50 ms, 512 kB, 2 ms. A plain number is in the event's own unit.\n\n"
		"If the JVM ends before the time is over, what there is gets written and the exit "
		"code is 8.",
	.min_operands = 1,
	.max_operands = 1,
	.run = run_record,
};
