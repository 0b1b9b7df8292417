/* SPDX-License-Identifier: Apache-2.0 */
/* Parses and evaluates the rules of --when; a table row per metric. */
#include "cli/recorder/triggers.h"

#include "base/buf.h"
#include "base/clock.h"
#include "cli/line/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POOL_S           2u   /* seconds of wall in which a pool's threads are judged */
#define POOL_BUSY        0.95 /* share of the pool's time outside of waits for work */
#define POOL_LEAST       0.5  /* thread-seconds; fewer are not judged */
#define FINDINGS_S       60u  /* window of the findings */
#define FINDINGS_EVERY_S 5u
#define UNKNOWN          (-1.0)
#define ALL_RULES        UINT64_MAX

/* --- metrics ----------------------------------------------------------------------------------------- */

/* A metric in bytes or as a plain number, and, if the limit is given in per cent, relative to its maximum. */
struct trigger_metric {
	const char *name;
	/* UNKNOWN: not known. `last` is the previous reading, with time_ns 0 if there is none. */
	double (*value)(const struct vitals *v, const struct vitals *last);
	double (*percent)(const struct vitals *v, const struct vitals *last);
	const char *example;
	bool is_bytes;
};

static double ratio(int64_t part, int64_t all)
{
	return part < 0 || all <= 0 ? UNKNOWN : 100.0 * (double)part / (double)all;
}

static double cpu_percent(const struct vitals *v, const struct vitals *last)
{
	(void)last;
	return v->cpu_pct;
}

static double heap_bytes(const struct vitals *v, const struct vitals *last)
{
	(void)last;
	return (double)v->heap_used;
}

static double heap_percent(const struct vitals *v, const struct vitals *last)
{
	(void)last;
	return ratio(v->heap_used, v->heap_max);
}

static double rss_bytes(const struct vitals *v, const struct vitals *last)
{
	(void)last;
	return (double)v->rss_bytes;
}

static double gc_percent(const struct vitals *v, const struct vitals *last)
{
	(void)last;
	return v->gc_pct_x10 < 0 ? UNKNOWN : v->gc_pct_x10 / 10.0;
}

static double stops_percent(const struct vitals *v, const struct vitals *last)
{
	(void)last;
	return v->safepoint_pct_x10 < 0 ? UNKNOWN : v->safepoint_pct_x10 / 10.0;
}

static double throttled_percent(const struct vitals *v, const struct vitals *last)
{
	if (!last->time_ns || v->host.cpu_periods < 0 || last->host.cpu_periods < 0)
		return UNKNOWN;
	return ratio(v->host.cpu_throttled - last->host.cpu_throttled,
		v->host.cpu_periods - last->host.cpu_periods);
}

static double threads_count(const struct vitals *v, const struct vitals *last)
{
	(void)last;
	return (double)v->threads_live;
}

static double fds_count(const struct vitals *v, const struct vitals *last)
{
	(void)last;
	return (double)v->host.fds;
}

static double fds_percent(const struct vitals *v, const struct vitals *last)
{
	(void)last;
	return ratio(v->host.fds, v->host.fds_limit);
}

static double swap_bytes(const struct vitals *v, const struct vitals *last)
{
	(void)last;
	return (double)v->host.swap_bytes;
}

static const struct trigger_metric metrics[] = {
	{"cpu", NULL, cpu_percent, "cpu>80% for 5s", false},
	{"heap", heap_bytes, heap_percent, "heap>90%", true},
	{"rss", rss_bytes, NULL, "rss>3.5G", true},
	{"gc", NULL, gc_percent, "gc>10%", false},
	{"stops", NULL, stops_percent, "stops>5%", false},
	{"throttled", NULL, throttled_percent, "throttled>5%", false},
	{"threads", threads_count, NULL, "threads>500", false},
	{"fds", fds_count, fds_percent, "fds>90%", false},
	{"swap", swap_bytes, NULL, "swap>1M", true},
};
#define METRICS (sizeof(metrics) / sizeof(metrics[0]))

/* The metric of "pool:NAME=busy", which is not a threshold. */
static const struct trigger_metric pool_busy = {.name = "pool"};

/* --- parsing ----------------------------------------------------------------------------------------- */

static int trigger_refused(const char *text, struct err *err)
{
	err_set(err, ERR_USAGE, "\"%s\" is not a rule of --when.", text);
	for (size_t i = 0; i < METRICS; i++)
		err_hint(err, "--when '%s'", metrics[i].example);
	err_hint(err, "--when 'pool:http-*=busy for 10s'");
	err_hint(err, "--when why     applies when `jhot why` reports a finding");
	err_hint(err, "--when why:gc,locks     the same, of these rules only");
	return -1;
}

/* The bit of a rule; 0: there is no rule of that name. */
static uint64_t rule_bit(const char *name, size_t len)
{
	for (int i = 0; finding_rules[i]; i++)
		if (strlen(finding_rules[i]->name) == len &&
			!strncmp(finding_rules[i]->name, name, len))
			return 1ull << i;
	return 0;
}

/* rules: "gc,locks"; "" means all. */
static int trigger_why(struct trigger *t, const char *rules, struct err *err)
{
	struct buf known = {0};

	if (!*rules)
		t->rules = ALL_RULES;
	for (const char *at = rules; *at; at += *at == ',') {
		size_t len = strcspn(at, ",");
		uint64_t bit = rule_bit(at, len);

		if (!bit) {
			err_set(err, ERR_USAGE, "`jhot why` has no rule \"%.*s\".", (int)len, at);
			for (int i = 0; finding_rules[i]; i++)
				buf_printf(
					&known, "%s%s", i ? "," : "why:", finding_rules[i]->name);
			err_hint(err, "%s", buf_str(&known));
			buf_done(&known);
			return -1;
		}
		t->rules |= bit;
		at += len;
	}
	return 0;
}

/* Removes " for 5s" from the end of the text. */
static int trigger_duration(struct trigger *t, char *text, struct err *err)
{
	char *at = strstr(text, " for ");

	if (!at)
		return 0;
	*at = '\0';
	at += strlen(" for ");
	return units_duration(at + strspn(at, " "), &t->for_ns, err);
}

static int trigger_limit(struct trigger *t, const char *text, struct err *err)
{
	enum units_kind kind;
	struct err unused = {0};
	uint64_t value;
	char *end;

	t->limit = strtod(text, &end);
	end += strspn(end, " ");
	t->percent = end != text && !strcmp(end, "%");
	if (end == text || t->limit < 0)
		return trigger_refused(t->text, err);
	if (t->percent ? !t->metric->percent : !t->metric->value)
		return trigger_refused(t->text, err);
	/* A number of bytes without a unit was meant to be a percentage, except for 0. */
	if (t->percent || (!*end && (!t->metric->is_bytes || t->limit == 0)))
		return 0;
	if (units_interval(text, &value, &kind, &unused) || kind != UNITS_BYTES)
		return trigger_refused(t->text, err);
	t->limit = (double)value;
	return 0;
}

static int trigger_parse(struct trigger *t, const char *text, struct err *err)
{
	char copy[256], *op;
	size_t name;

	*t = (struct trigger){.text = text};
	if (!strcmp(text, "why") || !strncmp(text, "why:", 4))
		return trigger_why(t, text + (text[3] ? 4 : 3), err);
	if (strlen(text) >= sizeof(copy))
		return trigger_refused(text, err);
	strcpy(copy, text);
	if (trigger_duration(t, copy, err))
		return -1;
	if (!strncmp(copy, "pool:", 5)) {
		op = strrchr(copy, '=');
		if (!op || op == copy + 5 || strcmp(op + 1, "busy") != 0 ||
			op - copy >= (ptrdiff_t)sizeof(t->pool))
			return trigger_refused(text, err);
		memcpy(t->pool, copy + 5, (size_t)(op - copy - 5));
		t->metric = &pool_busy;
		return 0;
	}
	op = copy + strcspn(copy, "<>");
	for (name = (size_t)(op - copy); name && copy[name - 1] == ' ';)
		name--;
	for (size_t i = 0; i < METRICS; i++)
		if (strlen(metrics[i].name) == name && !strncmp(metrics[i].name, copy, name))
			t->metric = &metrics[i];
	if (!*op || !t->metric)
		return trigger_refused(text, err);
	t->below = *op == '<';
	return trigger_limit(t, op + 1 + strspn(op + 1, " "), err);
}

int triggers_parse(struct triggers *t, const struct args *args, struct err *err)
{
	*t = (struct triggers){0};
	if (args_count(args, OPT_WHEN) > TRIGGERS_MAX)
		return err_set(
			err, ERR_USAGE, "--when can be given at most %d times.", TRIGGERS_MAX);
	for (; t->count < args_count(args, OPT_WHEN); t->count++) {
		struct trigger *one = &t->list[t->count];

		if (trigger_parse(one, args_nth(args, OPT_WHEN, t->count), err))
			return -1;
		t->need_findings |= !one->metric;
		t->need_wall |= one->metric == &pool_busy;
	}
	return 0;
}

void triggers_reset(struct triggers *t)
{
	triggers_done(t);
	for (int i = 0; i < t->count; i++) {
		t->list[i].since_ns = 0;
		t->list[i].fired = false;
	}
	t->had = 0;
	t->judged = 0;
	t->last = (struct vitals){0};
	t->findings = t->need_findings ? findings_new() : NULL;
}

void triggers_done(struct triggers *t)
{
	findings_free(t->findings);
	t->findings = NULL;
}

/* --- evaluating -------------------------------------------------------------------------------------- */

/* True when all threads of the pool are busy, or blocked; false also if nothing is known about it. */
static bool pool_is_busy(const struct profile *p, const char *pattern)
{
	struct profile_query q = profile_whole(EVENT_WALL);
	uint32_t now = profile_info(p).now;

	for (uint32_t t = 0; t < profile_thread_count(p) && !q.pool; t++)
		if (!strcmp(profile_pool_name(p, profile_get_thread(p, t)->pool), pattern))
			q.pool = profile_get_thread(p, t)->pool;
	if (!q.pool || now < POOL_S + 1)
		return false;
	q.by_weight = true;
	q.to = now - 1;
	q.from = q.to - POOL_S;
	double all = (double)profile_sum(p, &q).weight;
	q.without_idle = true;
	double busy = (double)profile_sum(p, &q).weight;
	return all >= POOL_LEAST * (double)NS_PER_S && busy >= POOL_BUSY * all;
}

static bool trigger_holds(const struct trigger *t, const struct triggers *all,
	const struct profile *p, const struct vitals *v)
{
	if (t->metric == &pool_busy)
		return pool_is_busy(p, t->pool);
	double value = (t->percent ? t->metric->percent : t->metric->value)(v, &all->last);
	if (value < 0)
		return false;
	return t->below ? value < t->limit : value > t->limit;
}

static bool trigger_fires(struct trigger *t, const struct triggers *all, const struct profile *p,
	const struct vitals *v)
{
	if (!trigger_holds(t, all, p, v)) {
		t->since_ns = 0;
		t->fired = false;
		return false;
	}
	if (!t->since_ns) {
		t->since_ns = v->time_ns;
		t->since = profile_info(p).now;
	}
	if (t->fired || v->time_ns - t->since_ns < t->for_ns)
		return false;
	t->fired = true;
	return true;
}

/* The findings that were not there at the previous evaluation. */
static int findings_fire(
	struct triggers *t, const struct profile *p, struct trigger_event *out, int most)
{
	uint32_t now = profile_info(p).now, from = now > FINDINGS_S ? now - FINDINGS_S : 0;
	uint64_t have = 0;
	int fired = 0;
	unsigned count;

	if (now < t->judged + FINDINGS_EVERY_S)
		return 0;
	t->judged = now;
	count = findings_evaluate(t->findings, p, from, now + 1);
	for (unsigned i = 0; i < count; i++) {
		const struct finding *f = findings_get(t->findings, i);
		uint64_t bit = rule_bit(f->rule->name, strlen(f->rule->name));

		have |= bit;
		if (t->had & bit || fired == most)
			continue;
		for (int k = 0; k < t->count; k++) {
			if (!(t->list[k].rules & bit))
				continue;
			out[fired] = (struct trigger_event){.rule = t->list[k].text,
				.what = f->what,
				.since = now > FINDINGS_EVERY_S ? now - FINDINGS_EVERY_S : 0};
			snprintf(out[fired].word, sizeof(out[fired].word), "why-%s", f->rule->name);
			fired++;
			break;
		}
	}
	t->had = have;
	return fired;
}

int triggers_evaluate(struct triggers *t, const struct profile *p, const struct vitals *v,
	struct trigger_event *out, int most)
{
	int fired = 0;

	if (v->time_ns == t->last.time_ns)
		return 0;
	for (int i = 0; i < t->count; i++) {
		struct trigger *one = &t->list[i];

		if (!one->metric || !trigger_fires(one, t, p, v) || fired == most)
			continue;
		out[fired] = (struct trigger_event){
			.rule = one->text, .what = one->text, .since = one->since};
		snprintf(out[fired].word, sizeof(out[fired].word), "%s", one->metric->name);
		fired++;
	}
	if (t->findings) {
		findings_vitals(t->findings, v);
		fired += findings_fire(t, p, out + fired, most - fired);
	}
	t->last = *v;
	return fired;
}
