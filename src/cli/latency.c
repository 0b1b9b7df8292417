/* SPDX-License-Identifier: Apache-2.0 */
/* The report of `jhot slow`, as text and as JSON. */
#include "cli/latency.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SLOWEST 10
#define BAR     40 /* columns of the longest bar */

struct slowest {
	struct call list[SLOWEST];
	uint32_t count;
};

static void slowest_add(void *ctx, const struct call *call)
{
	struct slowest *s = ctx;
	uint32_t at = s->count;

	while (at > 0 && call_duration_ns(&s->list[at - 1]) < call_duration_ns(call))
		at--;
	if (at == SLOWEST)
		return;
	s->count += s->count < SLOWEST;
	memmove(&s->list[at + 1], &s->list[at], (s->count - at - 1) * sizeof(*call));
	s->list[at] = *call;
}

bool latency_seen(const struct latency_report *r)
{
	struct slowest slowest = {.count = 0};

	calls_each(r->profile, &r->query, slowest_add, &slowest);
	return slowest.count > 0;
}

/* --- text ------------------------------------------------------------------------------------ */

#define DURATION 24

static const char *duration(uint64_t ns, char out[DURATION])
{
	double s = (double)ns / (double)NS_PER_S;

	if (s < 0.001)
		snprintf(out, DURATION, "%.0f us", s * 1e6);
	else if (s < 0.01)
		snprintf(out, DURATION, "%.1f ms", s * 1e3);
	else if (s < 1)
		snprintf(out, DURATION, "%.0f ms", s * 1e3);
	else
		snprintf(out, DURATION, "%.*f s", s < 10 ? 2 : 1, s);
	return out;
}

/* A percentile: unknown ones are below two intervals, or above the longest call. */
static const char *percentile(const struct calls_summary *sum, uint64_t ns, char out[DURATION])
{
	char number[DURATION];

	if (ns != CALLS_UNKNOWN)
		return duration(ns, out);
	if (sum->max < 2 * sum->interval_ns || sum->p50 == CALLS_UNKNOWN)
		snprintf(out, DURATION, "<%.20s", duration(2 * sum->interval_ns, number));
	else
		snprintf(out, DURATION, ">%.20s", duration(sum->max, number));
	return out;
}

static void print_states(const char *title, const double states[CALL_STATES], FILE *out)
{
	fprintf(out, "%-24s", title);
	for (unsigned s = 0; s < CALL_STATES; s++)
		if (states[s] >= 0.005)
			fprintf(out, "  %s %.0f%%", call_state_names[s], 100 * states[s]);
	fputc('\n', out);
}

static void print_histogram(const struct calls_summary *sum, FILE *out)
{
	double most = 0, count;
	char from[DURATION], to[DURATION];

	for (unsigned b = 0; b < CALLS_BUCKETS; b += 2) {
		count = sum->histogram[b] + sum->histogram[b + 1];
		most = count > most ? count : most;
	}
	fprintf(out, "\n%-22s %8s\n", "DURATION", "CALLS");
	for (unsigned b = 0; b < CALLS_BUCKETS; b += 2) {
		count = sum->histogram[b] + sum->histogram[b + 1];
		if (count < 0.5)
			continue;
		fprintf(out, "%8s to %-10s %8.0f  ",
			duration(b ? calls_bucket_end(b - 1) : 0, from),
			duration(calls_bucket_end(b + 1), to), count);
		for (int i = 0; i < (int)(BAR * count / most + 0.5); i++)
			fputc('#', out);
		fputc('\n', out);
	}
}

static void print_causes(const struct latency_report *r, const struct calls_summary *sum, FILE *out)
{
	struct calls_cause causes[CALLS_CAUSES];
	uint32_t count = calls_causes(r->profile, &r->query, sum->slow_ns, causes);

	fputs("\nWHAT SLOW CALLS SPEND MORE TIME ON        slowest    others\n", out);
	for (uint32_t i = 0; i < count; i++)
		if (causes[i].slow - causes[i].other > 0.02)
			fprintf(out, "  %-38.38s %6.0f %%  %6.0f %%   %s\n", causes[i].where,
				100 * causes[i].slow, 100 * causes[i].other,
				call_state_names[causes[i].state]);
}

static void print_time(const struct latency_report *r, uint64_t ns, FILE *out)
{
	uint64_t wall_ns = profile_info(r->profile).start_wall_ns + ns;
	time_t second = (time_t)(wall_ns / NS_PER_S);
	char text[16];
	struct tm tm;

	strftime(text, sizeof(text), "%H:%M:%S", localtime_r(&second, &tm));
	fprintf(out, "  %s.%03u", text, (unsigned)(wall_ns % NS_PER_S / NS_PER_MS));
}

static void print_slowest(const struct latency_report *r, FILE *out)
{
	struct slowest slowest = {.count = 0};
	char text[DURATION];

	calls_each(r->profile, &r->query, slowest_add, &slowest);
	fputs("\nSLOWEST CALLS\n", out);
	for (uint32_t i = 0; i < slowest.count; i++) {
		const struct call *call = &slowest.list[i];
		double states[CALL_STATES], sum = 0;

		for (unsigned s = 0; s < CALL_STATES; s++)
			sum += (double)call->state_ns[s];
		for (unsigned s = 0; s < CALL_STATES; s++)
			states[s] = sum > 0 ? (double)call->state_ns[s] / sum : 0;
		print_time(r, call->begin_to, out);
		fprintf(out, " %s%8s  ", call->end_to == UINT64_MAX ? ">" : " ",
			duration(call_duration_ns(call), text));
		print_states(profile_get_thread(r->profile, call->thread)->name, states, out);
	}
}

/* Sentences on what the figures do not say. fn receives each. */
static void notes(
	const struct calls_summary *sum, void (*fn)(void *ctx, const char *note), void *ctx)
{
	char text[200], number[DURATION];

	if (sum->short_calls) {
		snprintf(text, sizeof(text),
			"Most calls are shorter than the interval of %s, so that few of them are "
			"seen: "
			"there are at least as many as reported.",
			duration(sum->interval_ns, number));
		fn(ctx, text);
	}
	if (sum->inlined > 0.01) {
		snprintf(text, sizeof(text),
			"%.0f %% of the calls were inlined: consecutive calls from one activation "
			"of "
			"the caller look like one.",
			100 * sum->inlined);
		fn(ctx, text);
	}
	if (sum->uncertain > 0.01) {
		snprintf(text, sizeof(text),
			"During %.0f %% of the calls a garbage collection moved objects; some of "
			"these "
			"calls may be several.",
			100 * sum->uncertain);
		fn(ctx, text);
	}
	if (sum->lasting) {
		snprintf(text, sizeof(text), "%u call%s still in progress at the end.",
			sum->lasting, sum->lasting == 1 ? " was" : "s were");
		fn(ctx, text);
	}
}

static void print_note(void *out, const char *note)
{
	fprintf(out, "%s\n", note);
}

void latency_print(const struct latency_report *r, FILE *out)
{
	struct calls_summary sum;
	char p50[DURATION], p90[DURATION], p99[DURATION], p999[DURATION], text[DURATION];
	char title[64];

	calls_summarize(r->profile, &r->query, &sum);
	if (!sum.seen)
		return;
	fprintf(out, "%s  %s%.*f calls/s  p50 %s  p90 %s  p99 %s  p99.9 %s  max %s\n",
		calls_name(r->profile), sum.short_calls ? ">" : "", sum.calls < 10 * sum.seconds,
		sum.calls / sum.seconds, percentile(&sum, sum.p50, p50),
		percentile(&sum, sum.p90, p90), percentile(&sum, sum.p99, p99),
		percentile(&sum, sum.p999, p999), duration(sum.max, text));
	fprintf(out, "%.1f s, %u calls seen, threads inside polled every %s\n\n", sum.seconds,
		sum.seen, duration(sum.interval_ns, text));
	print_states("all calls", sum.all, out);
	snprintf(title, sizeof(title), "%u slowest (from %s)", sum.slow_calls,
		duration(sum.slow_ns, text));
	print_states(title, sum.slowest, out);
	print_histogram(&sum, out);
	print_causes(r, &sum, out);
	print_slowest(r, out);
	fputc('\n', out);
	notes(&sum, print_note, out);
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void json_states(struct json *j, const char *key, const double states[CALL_STATES])
{
	json_begin(j, key, '{');
	for (unsigned s = 0; s < CALL_STATES; s++)
		json_num(j, s == CALL_SHORT ? "short_waits" : call_state_names[s], states[s]);
	json_end(j, '}');
}

struct json_calls {
	const struct latency_report *r;
	struct json *j;
};

static void json_call(void *ctx, const struct call *call)
{
	struct json_calls *c = ctx;
	double states[CALL_STATES], sum = 0;

	for (unsigned s = 0; s < CALL_STATES; s++)
		sum += (double)call->state_ns[s];
	for (unsigned s = 0; s < CALL_STATES; s++)
		states[s] = sum > 0 ? (double)call->state_ns[s] / sum : 0;
	json_begin(c->j, NULL, '{');
	json_str(c->j, "thread", profile_get_thread(c->r->profile, call->thread)->name);
	json_int(c->j, "begin_ns",
		(int64_t)(c->r->clock_ns + call->begin_from +
			  (call->begin_to - call->begin_from) / 2));
	json_num(c->j, "duration_ms", (double)call_duration_ns(call) / (double)NS_PER_MS);
	json_num(c->j, "error_ms", (double)call_error_ns(call) / (double)NS_PER_MS);
	json_int(c->j, "polls", call->polls);
	json_bool(c->j, "complete", call->end_to != UINT64_MAX);
	json_bool(c->j, "inlined", call->inlined);
	json_bool(c->j, "uncertain", call->uncertain);
	json_states(c->j, "states", states);
	json_end(c->j, '}');
}

static void json_ms(struct json *j, const char *key, uint64_t ns)
{
	if (ns == CALLS_UNKNOWN)
		json_str(j, key, NULL);
	else
		json_num(j, key, (double)ns / (double)NS_PER_MS);
}

static void json_causes(
	const struct latency_report *r, const struct calls_summary *sum, struct json *j)
{
	struct calls_cause causes[CALLS_CAUSES];
	uint32_t count = calls_causes(r->profile, &r->query, sum->slow_ns, causes);

	json_begin(j, "causes", '[');
	for (uint32_t i = 0; i < count; i++) {
		json_begin(j, NULL, '{');
		json_str(j, "state", call_state_names[causes[i].state]);
		json_str(j, "where", causes[i].where);
		json_num(j, "slowest", causes[i].slow);
		json_num(j, "others", causes[i].other);
		json_num(j, "ms_per_slow_call", causes[i].slow_ms);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void json_histogram(const struct calls_summary *sum, struct json *j)
{
	json_begin(j, "histogram", '[');
	for (unsigned b = 0; b < CALLS_BUCKETS; b++) {
		if (sum->histogram[b] <= 0)
			continue;
		json_begin(j, NULL, '{');
		json_num(j, "up_to_ms", (double)calls_bucket_end(b) / (double)NS_PER_MS);
		json_num(j, "calls", sum->histogram[b]);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void json_note(void *j, const char *note)
{
	json_str(j, NULL, note);
}

void latency_print_json(const struct latency_report *r, FILE *out)
{
	struct buf text = {0};
	struct json j = {.out = &text};
	struct json_calls calls = {.r = r, .j = &j};
	struct slowest slowest = {.count = 0};
	struct calls_summary sum;

	calls_summarize(r->profile, &r->query, &sum);
	json_begin(&j, NULL, '{');
	json_str(&j, "method", calls_name(r->profile));
	json_int(&j, "from_ns", (int64_t)(r->clock_ns + r->query.from_ns));
	json_int(&j, "to_ns", (int64_t)(r->clock_ns + r->query.to_ns));
	json_num(&j, "interval_ms", (double)sum.interval_ns / (double)NS_PER_MS);
	json_int(&j, "seen", sum.seen);
	json_num(&j, "calls", sum.calls);
	json_num(&j, "calls_error", sum.error);
	json_bool(&j, "calls_at_least", sum.short_calls);
	json_num(&j, "per_second", sum.calls / sum.seconds);
	json_ms(&j, "p50_ms", sum.p50);
	json_ms(&j, "p90_ms", sum.p90);
	json_ms(&j, "p99_ms", sum.p99);
	json_ms(&j, "p999_ms", sum.p999);
	json_ms(&j, "max_ms", sum.max);
	json_begin(&j, "states", '{');
	json_states(&j, "all", sum.all);
	json_states(&j, "slowest", sum.slowest);
	json_end(&j, '}');
	json_num(&j, "slow_from_ms", (double)sum.slow_ns / (double)NS_PER_MS);
	json_causes(r, &sum, &j);
	json_histogram(&sum, &j);
	calls_each(r->profile, &r->query, slowest_add, &slowest);
	json_begin(&j, "slowest", '[');
	for (uint32_t i = 0; i < slowest.count; i++)
		json_call(&calls, &slowest.list[i]);
	json_end(&j, ']');
	if (r->every) {
		json_begin(&j, "every", '[');
		calls_each(r->profile, &r->query, json_call, &calls);
		json_end(&j, ']');
	}
	json_begin(&j, "notes", '[');
	notes(&sum, json_note, &j);
	json_end(&j, ']');
	json_end(&j, '}');
	fprintf(out, "%s\n", buf_str(&text));
	buf_done(&text);
}
