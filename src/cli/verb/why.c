/* SPDX-License-Identifier: Apache-2.0 */
/* `jhot why`: look at a JVM for a while, and say what is wrong with it. */
#include "base/clock.h"
#include "cli/findings.h"
#include "cli/line/verb.h"
#include "cli/sampling.h"
#include "findings/findings.h"

#include <stdio.h>

#define WHY_NS (10 * NS_PER_S)

static const int why_events[] = {EVENT_CPU, EVENT_LOCK, EVENT_WALL};

/* What was seen of a JVM that ended meanwhile is judged all the same, and that it ended is said. */
static int why_ended(const struct sampling *s, const struct watch *w, struct err *err)
{
	double seen_s = (double)session_duration_ns(s->session) / (double)NS_PER_S;
	double asked_s = (double)s->duration_ns / (double)NS_PER_S;

	if (w->count) {
		fprintf(stderr, "JVM %d ended after %.1f of %g s.\n", (int)s->jvm.pid, seen_s,
			asked_s);
		return 0;
	}
	return err_set(err, ERR_GONE,
		"JVM %d ended after %.1f of %g s; nothing was found until then.", (int)s->jvm.pid,
		seen_s, asked_s);
}

static int why_unseen(const struct sampling *s, const struct watch *w, struct err *err)
{
	err_set(err, ERR_UNSEEN,
		"Only %.1f of %.0f s were seen of JVM %d: for the rest it got no core to run on.",
		w->seen_s, w->asked_s, (int)s->jvm.pid);
	err_hint(err, "What else uses the machine: top");
	err_hint(err,
		"Its limits and its priority: cpu.max and cpu.weight of its cgroup, chrt -p %d",
		(int)s->jvm.pid);
	err_hint(err, "Whether it was stopped: T in the STAT column of ps %d", (int)s->jvm.pid);
	return -1;
}

static int why_tell(struct sampling *s, struct watch *w, bool json, int rc, struct err *err)
{
	if (rc && (err->kind != ERR_GONE || !session_seen_ns(s->session)))
		return rc;
	watch_judge(w, s);
	session_finish(s->session);
	if (json)
		watch_print_json(w, stdout);
	else
		watch_print(w, stdout);
	if (rc)
		return why_ended(s, w, err);
	return watch_unseen(w) ? why_unseen(s, w, err) : 0;
}

static int why_run(struct sampling *s, struct watch *w, bool json, struct err *err)
{
	int rc = sampling_begin(s, err);

	if (!rc)
		rc = why_tell(s, w, json, sampling_loop(s, err), err);
	sampling_end(s);
	return rc;
}

static int run_why(const struct args *args, struct err *err)
{
	struct watch w = {.findings = findings_new()};
	struct sampling s = {.duration_ns = WHY_NS,
		.then = "tells what was found",
		.look = watch_vitals,
		.ctx = &w};
	int rc;

	for (size_t i = 0; i < sizeof(why_events) / sizeof(why_events[0]); i++)
		events_put(&s.events, NULL, why_events[i]);
	s.events.budget = -1;
	s.events.as_can = true; /* rules that miss an event say so */
	rc = sampling_parse(&s, args, err);
	if (!rc)
		rc = why_run(&s, &w, args_has(args, OPT_JSON), err);
	findings_free(w.findings);
	if (rc || !w.count)
		return rc;
	err->kind = ERR_FOUND;
	return -1;
}

const struct verb verb_why = {
	.bit = VERB_WHY,
	.name = "why",
	.synopsis = "[OPTION]... PID|NAME",
	.help = "look at a JVM for some seconds and say what is wrong with it, with the proof",
	.text = "Looks at CPU, locks and waits at once, for 10 s unless -d says another "
		"time, and at the JVM's own figures. What is wrong comes first with its figures, "
		"then what proves it, then what to look at next. Nothing is said that may as well "
		"be meant so.\n\n"
		"The exit code is 0 if nothing was found, 9 if something was, and 11 if the JVM "
		"got no core to run on for three quarters of the time and more, so that nothing "
		"can be said.",
	.min_operands = 1,
	.max_operands = 1,
	.run = run_why,
};
