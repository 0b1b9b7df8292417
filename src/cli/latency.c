/* SPDX-License-Identifier: Apache-2.0 */
/* The report of `jhot slow`, as text and as JSON. */
#include "cli/latency.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "cli/line/selection.h"
#include "profile/calls/compare.h"
#include "profile/calls/report.h"

#define SLOWEST    10
#define BAR        40   /* columns of the longest bar */
#define TREE_LEAST 0.02 /* share of time from which on nodes of the call tree are printed */

bool latency_seen(const struct latency_report *r)
{
	struct call slowest;

	return calls_slowest(r->profile, &r->query, &slowest, 1) > 0;
}

/* --- text ------------------------------------------------------------------------------------ */

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
	char from[CALLS_TEXT], to[CALLS_TEXT];

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
			calls_duration_text(b ? calls_bucket_end(b - 1) : 0, from),
			calls_duration_text(calls_bucket_end(b + 1), to), count);
		for (int i = 0; i < (int)(BAR * count / most + 0.5); i++)
			fputc('#', out);
		fputc('\n', out);
	}
}

static void print_causes(
	const struct latency_report *r, const struct calls_comparison *both, FILE *out)
{
	struct calls_cause causes[CALLS_CAUSES];
	uint32_t count = calls_causes(r->profile, &r->slow, causes);

	fprintf(out, "\n%-41s %8s  %8s\n",
		r->ranged ? "WHAT THESE CALLS SPEND MORE TIME ON"
			  : "WHAT SLOW CALLS SPEND MORE TIME ON",
		r->ranged ? "these" : "slowest", "others");
	for (uint32_t i = 0; i < count; i++)
		if (causes[i].slow - causes[i].other > CALLS_DIFFERS)
			fprintf(out, "%c %-38.38s %6.0f %%  %6.0f %%   %s\n",
				calls_comparison_confirms(both, r->profile, &causes[i]) ? '*' : ' ',
				causes[i].where, 100 * causes[i].slow, 100 * causes[i].other,
				call_state_names[causes[i].state]);
	if (count && both)
		fputs("  * significant: if slow calls did not differ, at most 1 report in 30 "
		      "would have one\n",
			out);
}

/* The call tree of the slow calls, beside that of the others. */
static void print_tree(const struct calls_comparison *both, FILE *out)
{
	char ms[CALLS_TEXT];

	if (!both)
		return;
	fprintf(out, "\n%-50s %9s %8s %8s\n", "CALL TREE OF THESE CALLS", "PER CALL", "these",
		"others");
	for (uint32_t i = 0; i < both->count; i++) {
		const struct calls_node *n = &both->nodes[i];
		int indent = n->depth < 12 ? 2 * (int)n->depth : 24;

		if (n->slow < TREE_LEAST)
			continue;
		fprintf(out, "%c %*s%-*.*s %9s %6.0f %% %6.0f %%\n", n->sure ? '*' : ' ', indent,
			"", 48 - indent, 48 - indent,
			profile_get_method(both->diff->both, n->method)->full,
			calls_duration_text((uint64_t)(n->slow * both->slow_ns), ms), 100 * n->slow,
			100 * n->other);
	}
}

static void print_slowest(const struct latency_report *r, FILE *out)
{
	struct call slowest[SLOWEST];
	uint32_t count = calls_slowest(r->profile, &r->slow, slowest, SLOWEST);
	char begin[CALLS_TEXT], text[CALLS_TEXT], lock[CALLS_LOCK];

	fputs("\nSLOWEST CALLS\n", out);
	for (uint32_t i = 0; i < count; i++) {
		const struct call *call = &slowest[i];
		double states[CALL_STATES];

		call_shares(call, states);
		fprintf(out, "  %s %s%8s  ", calls_clock_text(r->profile, call->begin_to, begin),
			call->end_to == UINT64_MAX ? ">" : " ",
			calls_duration_text(call_duration_ns(call), text));
		print_states(profile_get_thread(r->profile, call->thread)->name, states, out);
		if (*call_lock_text(r->profile, call, lock))
			fprintf(out, "%*s%s\n", 28, "", lock);
	}
}

static void print_note(void *out, const char *brief, const char *sentence)
{
	fprintf(out, "%s\n", sentence);
}

void latency_print(const struct latency_report *r, FILE *out)
{
	struct calls_comparison *both;
	struct calls_summary sum;
	double states[CALL_STATES];
	uint32_t count;
	char p50[CALLS_TEXT], p90[CALLS_TEXT], p99[CALLS_TEXT], p999[CALLS_TEXT],
		text[SELECTION_TEXT];
	char title[2 * SELECTION_TEXT];

	calls_summarize(r->profile, &r->query, &sum);
	if (!sum.seen)
		return;
	both = calls_compare(r->profile, &r->slow);
	fprintf(out, "%s  %s%.*f calls/s  p50 %s  p90 %s  p99 %s  p99.9 %s  max %s\n",
		calls_name(r->profile), sum.at_least ? ">" : "", sum.calls < 10 * sum.seconds,
		sum.calls / sum.seconds, calls_percentile_text(&sum, sum.p50, p50),
		calls_percentile_text(&sum, sum.p90, p90),
		calls_percentile_text(&sum, sum.p99, p99),
		calls_percentile_text(&sum, sum.p999, p999), calls_duration_text(sum.max, text));
	fprintf(out, "%.1f s, %u calls seen, threads inside polled every %s\n\n", sum.seconds,
		sum.seen, calls_duration_text(sum.interval_ns, text));
	print_states("all calls", sum.all, out);
	count = calls_states(r->profile, &r->slow, states);
	if (r->ranged)
		snprintf(title, sizeof(title), "%u of %s", count, selection_text(&r->slow, text));
	else
		snprintf(title, sizeof(title), "%u slowest (from %s)", count,
			calls_duration_text(r->slow.min_ns, text));
	print_states(title, states, out);
	print_histogram(&sum, out);
	print_causes(r, both, out);
	print_tree(both, out);
	print_slowest(r, out);
	fputc('\n', out);
	calls_notes(&sum, print_note, out);
	calls_comparison_free(both);
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
	double states[CALL_STATES];
	char lock[CALLS_LOCK];

	call_shares(call, states);
	json_begin(c->j, NULL, '{');
	json_str(c->j, "thread", profile_get_thread(c->r->profile, call->thread)->name);
	json_int(c->j, "begin_ns",
		(int64_t)(c->r->clock_ns + call->begin_from +
			  (call->begin_to - call->begin_from) / 2));
	json_num(c->j, "duration_ms", (double)call_duration_ns(call) / (double)NS_PER_MS);
	json_num(c->j, "error_ms", (double)call_error_ns(call) / (double)NS_PER_MS);
	json_int(c->j, "polls", call->polls);
	json_int(c->j, "represents", call->weight);
	if (*call_lock_text(c->r->profile, call, lock))
		json_str(c->j, "lock", lock);
	json_bool(c->j, "complete", call->end_to != UINT64_MAX);
	json_bool(c->j, "counted", call->counted);
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
	const struct latency_report *r, const struct calls_comparison *both, struct json *j)
{
	struct calls_cause causes[CALLS_CAUSES];
	uint32_t count = calls_causes(r->profile, &r->slow, causes);

	json_begin(j, "causes", '[');
	for (uint32_t i = 0; i < count; i++) {
		json_begin(j, NULL, '{');
		json_str(j, "state", call_state_names[causes[i].state]);
		json_str(j, "where", causes[i].where);
		json_num(j, "slowest", causes[i].slow);
		json_num(j, "others", causes[i].other);
		json_num(j, "ms_per_slow_call", causes[i].slow_ms);
		json_bool(
			j, "significant", calls_comparison_confirms(both, r->profile, &causes[i]));
		json_end(j, '}');
	}
	json_end(j, ']');
}

/* The call tree of the slow calls, in depth-first order. */
static void json_tree(const struct calls_comparison *both, struct json *j)
{
	json_begin(j, "tree", '[');
	for (uint32_t i = 0; both && i < both->count; i++) {
		const struct calls_node *n = &both->nodes[i];

		json_begin(j, NULL, '{');
		json_int(j, "depth", n->depth);
		json_str(j, "name", profile_get_method(both->diff->both, n->method)->full);
		if (n->place)
			json_str(j, "state", call_state_names[n->state]);
		json_num(j, "slowest", n->slow);
		json_num(j, "others", n->other);
		json_bool(j, "significant", n->sure);
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

static void json_note(void *j, const char *brief, const char *sentence)
{
	json_str(j, NULL, sentence);
}

void latency_print_json(const struct latency_report *r, FILE *out)
{
	struct buf text = {0};
	struct json j = {.out = &text};
	struct json_calls calls = {.r = r, .j = &j};
	struct calls_comparison *both = calls_compare(r->profile, &r->slow);
	struct call slowest[SLOWEST];
	struct calls_summary sum;
	double states[CALL_STATES];
	uint32_t count;

	calls_summarize(r->profile, &r->query, &sum);
	calls_states(r->profile, &r->slow, states);
	json_begin(&j, NULL, '{');
	json_str(&j, "method", calls_name(r->profile));
	json_int(&j, "from_ns", (int64_t)(r->clock_ns + r->query.from_ns));
	json_int(&j, "to_ns", (int64_t)(r->clock_ns + r->query.to_ns));
	json_num(&j, "interval_ms", (double)sum.interval_ns / (double)NS_PER_MS);
	json_int(&j, "seen", sum.seen);
	json_num(&j, "calls", sum.calls);
	json_num(&j, "calls_error", sum.error);
	json_bool(&j, "calls_at_least", sum.at_least);
	json_num(&j, "per_second", sum.calls / sum.seconds);
	json_ms(&j, "p50_ms", sum.p50);
	json_ms(&j, "p90_ms", sum.p90);
	json_ms(&j, "p99_ms", sum.p99);
	json_ms(&j, "p999_ms", sum.p999);
	json_ms(&j, "max_ms", sum.max);
	json_begin(&j, "states", '{');
	json_states(&j, "all", sum.all);
	json_states(&j, "slowest", states);
	json_end(&j, '}');
	json_num(&j, "slow_from_ms", (double)r->slow.min_ns / (double)NS_PER_MS);
	if (r->slow.max_ns)
		json_num(&j, "slow_to_ms", (double)r->slow.max_ns / (double)NS_PER_MS);
	json_causes(r, both, &j);
	json_tree(both, &j);
	json_histogram(&sum, &j);
	count = calls_slowest(r->profile, &r->slow, slowest, SLOWEST);
	json_begin(&j, "slowest", '[');
	for (uint32_t i = 0; i < count; i++)
		json_call(&calls, &slowest[i]);
	json_end(&j, ']');
	if (r->every) {
		json_begin(&j, "every", '[');
		calls_each(r->profile, &r->query, json_call, &calls);
		json_end(&j, ']');
	}
	json_begin(&j, "notes", '[');
	calls_notes(&sum, json_note, &j);
	json_end(&j, ']');
	json_end(&j, '}');
	calls_comparison_free(both);
	json_print(&j, out);
}
