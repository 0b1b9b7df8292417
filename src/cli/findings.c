/* SPDX-License-Identifier: Apache-2.0 */
/* Findings as text and as JSON. */
#include "cli/findings.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/json.h"

#include <math.h>
#include <string.h>

static bool any_on(const struct vitals *v)
{
	for (int i = 0; i < VITALS_EVENTS; i++)
		if (v->events[i].state == VITALS_ON)
			return true;
	return false;
}

/* Ignores vitals after all events have been switched off, as they are when the JVM ends. */
int diagnosis_vitals(void *ctx, const struct vitals *v, struct err *err)
{
	struct diagnosis *d = ctx;

	if (any_on(&d->vitals) && !any_on(v))
		return 0;
	d->vitals = *v;
	findings_vitals(d->findings, v);
	return 0;
}

void diagnosis_judge(struct diagnosis *d, const struct sampling *s)
{
	d->profile = s->profile;
	d->requested_s = (double)(clock_mono_ns() - s->begin_ns) / (double)NS_PER_S;
	d->observed_s = (double)session_seen_ns(s->session) / (double)NS_PER_S;
	d->count = findings_evaluate(d->findings, s->profile, 0, profile_info(s->profile).now + 1);
}

bool diagnosis_inconclusive(const struct diagnosis *d)
{
	return !d->count && d->observed_s < d->requested_s / 4;
}

/* --- text -------------------------------------------------------------------------------------------- */

void diagnosis_print(const struct diagnosis *d, FILE *out)
{
	const struct vitals *v = &d->vitals;
	int missing = 0, event;
	char why[FINDING_WHY];

	if (d->file)
		fprintf(out, "%s: ", d->file);
	fprintf(out, "%d %s", v->pid, v->name);
	if (*v->jdk)
		fprintf(out, "  JDK %s", v->jdk);
	if (d->count && d->observed_s < d->requested_s / 4)
		fprintf(out, "  %.0f of %.0f s: ", d->observed_s, d->requested_s);
	else
		fprintf(out, "  %.0f s: ", d->observed_s);
	if (d->count)
		fprintf(out, "%u found\n", d->count);
	else if (diagnosis_inconclusive(d))
		fprintf(out, "too little of %.0f s was observed for a diagnosis\n", d->requested_s);
	else
		fprintf(out, "nothing found\n");
	for (unsigned i = 0; i < d->count; i++) {
		const struct finding *f = findings_get(d->findings, i);

		fprintf(out, "\n%s  %s", f->rule->title, f->what);
		if (f->error >= FINDING_ERROR)
			fprintf(out, " (%s%.0f points)", env_is_utf8() ? "±" : "+-",
				100 * f->error);
		fputc('\n', out);
		if (f->second)
			fprintf(out, "    in the minute that begins %u:%02u into the recording\n",
				f->second / 60, f->second % 60);
		for (const char *line = f->proof; *line;) {
			int bytes = (int)strcspn(line, "\n");

			fprintf(out, "    %.*s\n", bytes, line);
			line += bytes + (line[bytes] == '\n');
		}
		fprintf(out, "  -> %s\n", f->advice);
	}
	for (const struct finding_rule *const *rule = finding_rules; *rule; rule++)
		if (findings_not_judged(d->findings, *rule, &event, why))
			fprintf(out, "%snot checked: %s (%s)\n", missing++ ? "" : "\n",
				(*rule)->what, why);
}

/* --- JSON -------------------------------------------------------------------------------------------- */

void finding_json(struct json *j, const struct profile *p, const struct finding *f)
{
	static const char *const grades[] = {"worth knowing", "costs", "stands still"};

	json_begin(j, NULL, '{');
	json_str(j, "rule", f->rule->name);
	json_str(j, "grade", grades[f->grade]);
	json_str(j, "what", f->what);
	json_num(j, "share_pct", f->share < 0 ? NAN : 100 * f->share);
	json_num(j, "error_pct", f->error < 0 ? NAN : 100 * f->error);
	json_num(j, "since_s", f->since_s);
	json_begin(j, "proof", '[');
	for (const char *text = f->proof; *text;) {
		char line[256];
		int bytes = (int)strcspn(text, "\n");

		snprintf(line, sizeof(line), "%.*s", bytes, text);
		json_str(j, NULL, line);
		text += bytes + (text[bytes] == '\n');
	}
	json_end(j, ']');
	json_str(j, "look", f->advice);
	json_str(j, "thread",
		f->thread == PROFILE_NONE ? NULL : profile_get_thread(p, f->thread)->name);
	json_end(j, '}');
}

void diagnosis_print_json(const struct diagnosis *d, FILE *out)
{
	const struct vitals *v = &d->vitals;
	struct buf text = {0};
	struct json j = {.out = &text};
	char why[FINDING_WHY];
	int event;

	json_begin(&j, NULL, '{');
	json_int(&j, "pid", v->pid);
	json_str(&j, "name", v->name);
	json_str(&j, "jdk", v->jdk);
	json_int(&j, "seconds", (int64_t)(d->observed_s + 0.5));
	json_begin(&j, "findings", '[');
	for (unsigned i = 0; i < d->count; i++)
		finding_json(&j, d->profile, findings_get(d->findings, i));
	json_end(&j, ']');
	json_begin(&j, "not_looked_for", '[');
	for (const struct finding_rule *const *rule = finding_rules; *rule; rule++)
		if (findings_not_judged(d->findings, *rule, &event, why))
			json_str(&j, NULL, (*rule)->name);
	json_end(&j, ']');
	json_end(&j, '}');
	json_print(&j, out);
}
