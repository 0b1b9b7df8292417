/* SPDX-License-Identifier: Apache-2.0 */
/* `jhot why`: samples a JVM for a while, or reads a recording, and diagnoses it. */
#include "base/clock.h"
#include "cli/findings.h"
#include "cli/line/verb.h"
#include "cli/reading.h"
#include "cli/sampling.h"
#include "cli/screen.h"
#include "findings/findings.h"
#include "tui/config/config.h"

#include <stdio.h>

#define WHY_NS          (10 * NS_PER_S)

#define WHY_REQUESTS_NS (6 * NS_PER_S) /* at least, for measuring requests */
#define WHY_SHORT_NS    (5 * NS_PER_S) /* with a shorter -d requests are not measured */
#define WHY_BEFORE_NS   (300 * NS_PER_MS)

static const int why_events[] = {EVENT_CPU, EVENT_LOCK, EVENT_WALL};

struct why {
	struct diagnosis diagnosis;
	struct sampling sampling;
	bool looked; /* for requests to measure */
};

/*
 * Shortly before the end, looks for requests of known frameworks. If there are any, goes on for
 * half of the time and measures their calls: only then, so that all other rules see samples at
 * their usual intervals.
 */
static int why_poll(void *ctx, const struct vitals *v, struct err *err)
{
	struct why *why = ctx;
	struct sampling *s = &why->sampling;
	uint64_t passed_ns = clock_mono_ns() - s->begin_ns, extra_ns = s->duration_ns / 2;
	const struct profile_method *m;
	uint32_t method;

	diagnosis_vitals(&why->diagnosis, v, err);
	if (why->looked || s->duration_ns < WHY_SHORT_NS ||
		passed_ns + WHY_BEFORE_NS < s->duration_ns)
		return 0;
	why->looked = true;
	method = findings_request_method(why->diagnosis.findings, s->profile);
	if (method == PROFILE_NONE)
		return 0;
	m = profile_get_method(s->profile, method);
	/* Without this measurement, only the rule about requests cannot judge. */
	if (!session_latency(s->session, m->full, 0, NULL))
		s->duration_ns += extra_ns > WHY_REQUESTS_NS ? extra_ns : WHY_REQUESTS_NS;
	return 0;
}

static int why_inconclusive(const struct sampling *s, const struct diagnosis *d, struct err *err)
{
	err_set(err, ERR_UNSEEN,
		"JVM %d could be observed for only %.1f of %.0f s: it got no core for the rest.",
		(int)s->jvm.pid, d->observed_s, d->requested_s);
	err_hint(err, "top     shows what else uses the machine");
	err_hint(err,
		"chrt -p %d     shows its priority; cpu.max and cpu.weight of its cgroup limit it",
		(int)s->jvm.pid);
	err_hint(err, "ps %d     shows whether it is stopped (T in the STAT column)",
		(int)s->jvm.pid);
	return -1;
}

static int why_report(struct sampling *s, struct diagnosis *d, bool json, int rc, struct err *err)
{
	if (rc && (err->kind != ERR_GONE || !session_seen_ns(s->session)))
		return rc;
	diagnosis_judge(d, s);
	session_finish(s->session);
	if (json)
		diagnosis_print_json(d, stdout);
	else
		diagnosis_print(d, stdout);
	if (rc) {
		/* The JVM ended early, which is an error only if there are no findings. */
		double observed_s = (double)session_duration_ns(s->session) / (double)NS_PER_S;
		double requested_s = (double)s->duration_ns / (double)NS_PER_S;

		if (d->count) {
			fprintf(stderr, "JVM %d ended after %.1f of %g s.\n", (int)s->jvm.pid,
				observed_s, requested_s);
			return 0;
		}
		return err_set(err, ERR_GONE,
			"JVM %d ended after %.1f of %g s; nothing had been found by then.",
			(int)s->jvm.pid, observed_s, requested_s);
	}
	return diagnosis_inconclusive(d) ? why_inconclusive(s, d, err) : 0;
}

/* Judges each minute of a recording. */
static void judge_file(const struct args *args, struct diagnosis *d, const struct imported *file,
	uint32_t from, uint32_t to)
{
	d->vitals = file->vitals;
	d->profile = file->profile;
	d->observed_s = d->requested_s =
		(double)reading_duration_ns(file, from, to) / (double)NS_PER_S;
	d->count = findings_evaluate_minutes(d->findings, file->profile, &file->vitals, from, to);
	if (args_has(args, OPT_JSON))
		diagnosis_print_json(d, stdout);
	else
		diagnosis_print(d, stdout);
}

static int why_file(const struct args *args, struct diagnosis *d, struct err *err)
{
	struct imported *file = reading_operands(args, err);
	uint32_t from, to;
	int rc = -1;

	if (!file)
		return -1;
	if (!reading_span(args, file, &from, &to, err)) {
		d->file = args->operands[0];
		judge_file(args, d, file, from, to);
		rc = 0;
	}
	import_free(file);
	return rc;
}

/*
 * Evaluates the rules on the samples of another jhot's session; with -d only on the last seconds.
 * Returns 1 if there is no such session, or it refuses to send its samples.
 */
static int why_shared(
	const struct args *args, struct sampling *s, struct diagnosis *d, struct err *err)
{
	struct copying copying = {0};
	struct imported *file = NULL;
	uint32_t last_s = (uint32_t)(s->duration_ns / NS_PER_S);
	char by[64];
	int rc = 1;

	if (!copying_begin(&copying, &s->jvm, SHARE_COPY, NULL)) {
		snprintf(by, sizeof(by), "sampled by jhot process %d",
			(int)shared_server(copying.from));
		file = copying_finish(&copying, err);
		rc = file ? 0 : -1;
	}
	if (file) {
		uint32_t now = profile_info(file->profile).now + 1;
		d->file = by;
		judge_file(args, d, file,
			args_has(args, OPT_DURATION) && last_s < now ? now - last_s : 0,
			UINT32_MAX);
	}
	import_free(file);
	copying_done(&copying);
	return rc;
}

static int run_why(const struct args *args, struct err *err)
{
	struct config *config = settings_load(err);
	struct why why = {.diagnosis = {.findings = findings_new()},
		.sampling = {.duration_ns = WHY_NS,
			.then = "prints the findings",
			.poll = why_poll,
			.ctx = &why}};
	struct diagnosis *d = &why.diagnosis;
	struct sampling *s = &why.sampling;
	int rc = -1;

	if (!config)
		goto out;
	findings_set_requests(d->findings, (const char *const *)config->requests);
	for (size_t i = 0; i < sizeof(why_events) / sizeof(why_events[0]); i++)
		events_insert(&s->events, NULL, why_events[i]);
	s->events.budget = -1;
	s->events.optional = true; /* rules that need a missing event say so */
	if (import_accepts(args->operands[0]))
		rc = why_file(args, d, err);
	else if (args_has(args, OPT_FROM) || args_has(args, OPT_TO))
		rc = err_set(err, ERR_USAGE, "--from and --to need a recording, and %s is not one.",
			args->operands[0]);
	else if (!(rc = sampling_parse(s, args, err)) &&
		 (s->options.take_over || (rc = why_shared(args, s, d, err)) > 0)) {
		rc = sampling_begin(s, err);
		if (!rc)
			rc = why_report(s, d, args_has(args, OPT_JSON), sampling_loop(s, err), err);
		sampling_end(s);
	}
out:
	findings_free(d->findings);
	config_free(config);
	if (rc || !d->count)
		return rc;
	err->kind = ERR_FOUND;
	return -1;
}

const struct verb verb_why = {
	.bit = VERB_WHY,
	.name = "why",
	.synopsis = "[OPTION]... PID|NAME|FILE",
	.help = "diagnose a running JVM or a recording, with evidence",
	.text = "Samples CPU time, locks and waits together for 10 s (see -d), reads the "
		"JVM's own counters, and reports each problem with its figures, the evidence, "
		"and the next step. Rules report only patterns that are unlikely to be "
		"intentional. If requests of a known framework are seen, their calls are measured "
		"afterwards, for half of that time (see `jhot slow`). A FILE is judged minute by "
		"minute; a rule needs the events that "
		"it uses to have been recorded (record -e cpu,lock,wall).\n\n"
		"If another jhot is already profiling the JVM, the diagnosis is made at once, "
		"from the samples of that jhot, minute by minute; with -d, only from the last "
		"seconds.\n\n"
		"The exit status is 0 if nothing was found, 9 if something was found, and 11 "
		"if the JVM got no core for most of the time, so that no diagnosis is "
		"possible.",
	.min_operands = 1,
	.max_operands = 1,
	.run = run_why,
};
