/* SPDX-License-Identifier: Apache-2.0 */
/* Findings as text and as JSON. */
#include "cli/findings.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/json.h"

#include <string.h>

static bool any_on(const struct vitals *v)
{
	for (int i = 0; i < VITALS_EVENTS; i++)
		if (v->events[i].state == VITALS_ON)
			return true;
	return false;
}

/* Keeps the vitals from before all events were switched off, which a JVM does when it ends. */
int watch_vitals(void *ctx, const struct vitals *v, struct err *err)
{
	struct watch *w = ctx;

	if (any_on(&w->vitals) && !any_on(v))
		return 0;
	w->vitals = *v;
	findings_vitals(w->findings, v);
	return 0;
}

void watch_judge(struct watch *w, const struct sampling *s)
{
	w->profile = s->profile;
	w->asked_s = (double)(clock_mono_ns() - s->begin_ns) / (double)NS_PER_S;
	w->seen_s = (double)session_seen_ns(s->session) / (double)NS_PER_S;
	w->count = findings_evaluate(w->findings, s->profile, 0, profile_info(s->profile).now + 1);
}

bool watch_unseen(const struct watch *w)
{
	return !w->count && w->seen_s < w->asked_s / 4;
}

/* --- text -------------------------------------------------------------------------------------------- */

/* Prints each line of a text, indented by `before`. */
static void print_lines(FILE *out, const char *text, const char *before)
{
	while (*text) {
		int bytes = (int)strcspn(text, "\n");

		fprintf(out, "%s%.*s\n", before, bytes, text);
		text += bytes + (text[bytes] == '\n');
	}
}

void watch_print(const struct watch *w, FILE *out)
{
	const struct vitals *v = &w->vitals;
	int missing = 0, event;
	char why[FINDING_WHY];

	if (w->file)
		fprintf(out, "%s: ", w->file);
	fprintf(out, "%d %s", v->pid, v->name);
	if (*v->jdk)
		fprintf(out, "  JDK %s", v->jdk);
	if (w->count && w->seen_s < w->asked_s / 4)
		fprintf(out, "  %.0f of %.0f s: ", w->seen_s, w->asked_s);
	else
		fprintf(out, "  %.0f s: ", w->seen_s);
	if (w->count)
		fprintf(out, "%u found\n", w->count);
	else if (watch_unseen(w))
		fprintf(out, "too little of %.0f s was observed for a diagnosis\n", w->asked_s);
	else
		fprintf(out, "nothing found\n");
	for (unsigned i = 0; i < w->count; i++) {
		const struct finding *f = findings_get(w->findings, i);

		fprintf(out, "\n%s  %s", f->rule->title, f->what);
		if (f->error >= FINDING_ERROR)
			fprintf(out, " (%s%.0f points)", env_is_utf8() ? "±" : "+-",
				100 * f->error);
		fputc('\n', out);
		if (f->second)
			fprintf(out, "    in the minute that begins %u:%02u into the recording\n",
				f->second / 60, f->second % 60);
		print_lines(out, f->proof, "    ");
		fprintf(out, "  -> %s\n", f->advice);
	}
	for (const struct finding_rule *const *rule = finding_rules; *rule; rule++)
		if (findings_not_judged(w->findings, *rule, &event, why))
			fprintf(out, "%snot checked: %s (%s)\n", missing++ ? "" : "\n",
				(*rule)->what, why);
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

void finding_json(struct json *j, const struct profile *p, const struct finding *f)
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
	json_key(j, "look"), json_str(j, f->advice);
	json_key(j, "thread");
	if (f->thread == PROFILE_NONE)
		json_null(j);
	else
		json_str(j, profile_get_thread(p, f->thread)->name);
	json_end(j, '}');
}

void watch_print_json(const struct watch *w, FILE *out)
{
	const struct vitals *v = &w->vitals;
	struct buf text = {0};
	struct json j = {.out = &text};
	char why[FINDING_WHY];
	int event;

	json_begin(&j, '{');
	json_key(&j, "pid"), json_int(&j, v->pid);
	json_key(&j, "name"), json_str(&j, v->name);
	json_key(&j, "jdk"), json_str(&j, v->jdk);
	json_key(&j, "seconds"), json_int(&j, (int64_t)(w->seen_s + 0.5));
	json_key(&j, "findings");
	json_begin(&j, '[');
	for (unsigned i = 0; i < w->count; i++)
		finding_json(&j, w->profile, findings_get(w->findings, i));
	json_end(&j, ']');
	json_key(&j, "not_looked_for");
	json_begin(&j, '[');
	for (const struct finding_rule *const *rule = finding_rules; *rule; rule++)
		if (findings_not_judged(w->findings, *rule, &event, why))
			json_str(&j, (*rule)->name);
	json_end(&j, ']');
	json_end(&j, '}');
	fprintf(out, "%s\n", buf_str(&text));
	buf_done(&text);
}
