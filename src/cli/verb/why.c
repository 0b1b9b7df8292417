/* SPDX-License-Identifier: Apache-2.0 */
/* `jhot why`: look at a JVM for a while, and say what is wrong with it. */
#include "base/clock.h"
#include "base/json.h"
#include "cli/report.h"
#include "cli/sampling.h"
#include "cli/verb/verb.h"
#include "findings/findings.h"

#include <stdio.h>
#include <string.h>

#define WHY_NS (10 * NS_PER_S)

static const int why_events[] = {EVENT_CPU, EVENT_LOCK, EVENT_WALL};

struct why {
	struct sampling sampling;
	struct findings *findings;
	struct vitals vitals; /* the last while it was sampled */
	uint32_t seconds;
	unsigned count;
	bool json;
};

static void why_look(void *ctx, const struct vitals *v)
{
	struct why *w = ctx;

	w->vitals = *v;
	findings_vitals(w->findings, v);
}

/* --- text -------------------------------------------------------------------------------------------- */

/* "  worker-1 waits": each line of a text, that far in. */
static void print_lines(const char *text, const char *before)
{
	while (*text) {
		int bytes = (int)strcspn(text, "\n");

		printf("%s%.*s\n", before, bytes, text);
		text += bytes + (text[bytes] == '\n');
	}
}

static void print_text(const struct why *w)
{
	const struct vitals *v = &w->vitals;

	printf("%d %s", v->pid, v->name);
	if (*v->jdk)
		printf("  JDK %s", v->jdk);
	printf("  %u s: ", w->seconds);
	if (w->count)
		printf("%u found\n", w->count);
	else
		printf("nothing found\n");
	for (unsigned i = 0; i < w->count; i++) {
		const struct finding *f = findings_get(w->findings, i);

		printf("\n%s  %s", f->rule->title, f->what);
		if (f->error > 0)
			printf(" (+-%.0f)", 100 * f->error);
		putchar('\n');
		print_lines(f->proof, "    ");
		printf("  -> %s\n", f->look);
	}
	for (const struct finding_rule *const *rule = finding_rules; *rule; rule++)
		if (!finding_rule_looks(*rule, v))
			printf("\nnot looked for: %s\n", (*rule)->what);
}

/* --- JSON -------------------------------------------------------------------------------------------- */

static void json_lines(struct json *j, const char *text)
{
	json_begin(j, '[');
	while (*text) {
		char line[256];
		int bytes = (int)strcspn(text, "\n");

		snprintf(line, sizeof(line), "%.*s", bytes, text);
		json_str(j, line);
		text += bytes + (text[bytes] == '\n');
	}
	json_end(j, ']');
}

static void json_share(struct json *j, const char *key, double share)
{
	json_key(j, key);
	if (share < 0)
		json_null(j);
	else
		json_num(j, 100 * share);
}

static void json_finding(struct json *j, const struct why *w, const struct finding *f)
{
	static const char *const grades[] = {"worth knowing", "costs", "stands still"};

	json_begin(j, '{');
	json_key(j, "rule"), json_str(j, f->rule->name);
	json_key(j, "grade"), json_str(j, grades[f->grade]);
	json_key(j, "what"), json_str(j, f->what);
	json_share(j, "share_pct", f->share);
	json_share(j, "error_pct", f->error);
	json_key(j, "since_s"), json_num(j, f->since_s);
	json_key(j, "proof"), json_lines(j, f->proof);
	json_key(j, "look"), json_str(j, f->look);
	json_key(j, "thread");
	if (f->thread == PROFILE_NONE)
		json_null(j);
	else
		json_str(j, profile_get_thread(w->sampling.profile, f->thread)->name);
	json_end(j, '}');
}

static void print_json(const struct why *w)
{
	const struct vitals *v = &w->vitals;
	struct buf out = {0};
	struct json j = {.out = &out};

	json_begin(&j, '{');
	json_key(&j, "pid"), json_int(&j, v->pid);
	json_key(&j, "name"), json_str(&j, v->name);
	json_key(&j, "jdk"), json_str(&j, v->jdk);
	json_key(&j, "seconds"), json_int(&j, w->seconds);
	json_key(&j, "findings");
	json_begin(&j, '[');
	for (unsigned i = 0; i < w->count; i++)
		json_finding(&j, w, findings_get(w->findings, i));
	json_end(&j, ']');
	json_key(&j, "not_looked_for");
	json_begin(&j, '[');
	for (const struct finding_rule *const *rule = finding_rules; *rule; rule++)
		if (!finding_rule_looks(*rule, v))
			json_str(&j, (*rule)->name);
	json_end(&j, ']');
	json_end(&j, '}');
	puts(buf_str(&out));
	buf_done(&out);
}

/* --- the run ----------------------------------------------------------------------------------------- */

/* The second in which it began is not whole, but with so few it counts. */
static void why_judge(struct why *w)
{
	uint32_t to = profile_info(w->sampling.profile).now + 1;

	w->seconds = to;
	w->count = findings_look(w->findings, w->sampling.profile, 0, to);
}

static int why_run(struct why *w, struct err *err)
{
	int rc = sampling_begin(&w->sampling, err);

	if (!rc)
		rc = sampling_loop(&w->sampling, err);
	if (!rc) {
		why_judge(w);
		session_finish(w->sampling.session, NULL);
		if (w->json)
			print_json(w);
		else
			print_text(w);
	}
	sampling_end(&w->sampling);
	return rc;
}

static int run_why(const struct args *args, struct err *err)
{
	struct why w = {.json = args_has(args, OPT_JSON)};
	struct events *e = &w.sampling.events;
	int rc = -1;

	if (events_parse(e, args, EVENT_CPU, err))
		return -1;
	e->count = 0;
	for (size_t i = 0; i < sizeof(why_events) / sizeof(why_events[0]); i++) {
		e->ids[e->count] = why_events[i];
		e->how[e->count++] = (struct session_event){.event = why_events[i], .chosen = true};
	}
	w.sampling.then = "tells what was found";
	w.sampling.look = why_look;
	w.sampling.ctx = &w;
	w.findings = findings_new();
	if (!sampling_parse(&w.sampling, args, err)) {
		if (!w.sampling.duration_ns)
			w.sampling.duration_ns = WHY_NS;
		rc = why_run(&w, err);
	}
	findings_free(w.findings);
	if (!rc && w.count) {
		err->kind = ERR_FOUND;
		return -1;
	}
	return rc;
}

const struct verb verb_why = {
	.bit = VERB_WHY,
	.name = "why",
	.synopsis = "[OPTION]... PID|NAME",
	.help = "look at a JVM for some seconds and say what is wrong with it, with the proof",
	.text = "Looks at CPU, locks and waits at once, for 10 s unless -d says another time, and "
		"at "
		"the JVM's own figures. What is wrong comes first with its figures, then what "
		"proves it, then what to look at next. Nothing is said that may as well be "
		"meant so.\n\n"
		"The exit code is 0 if nothing was found and 9 if something was.",
	.min_operands = 1,
	.max_operands = 1,
	.run = run_why,
};
