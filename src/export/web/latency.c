/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Static content: percentiles, the histogram as a picture, states, causes, the slowest calls. The
 * script shows it as a tab.
 */
#include "export/web/html.h"

#include "base/clock.h"
#include "export/text.h"
#include "profile/calls/compare.h"
#include "profile/calls/report.h"

#include <stdio.h>

#define SLOWEST    40
#define BAR_PX     10
#define HEIGHT_PX  90
#define SLOW_COLOR "#d9534f"
#define BAR_COLOR  "#5b8fd9"

static void latency_share(struct buf *out, double share)
{
	char text[16];

	snprintf(text, sizeof(text), share >= 0.005 ? "%.0f %%" : "", 100 * share);
	html_cell(out, text, true);
}

static void latency_heading(struct buf *out, const char *text)
{
	buf_adds(out, "<h3>");
	html_text(out, text);
	buf_adds(out, "</h3>\n");
}

static void latency_percentiles(struct buf *out, const struct calls_summary *sum)
{
	static const char *const names[] = {"p50", "p90", "p99", "p99.9", "max"};
	const uint64_t values[] = {sum->p50, sum->p90, sum->p99, sum->p999, sum->max};
	char text[CALLS_TEXT], rate[48];

	snprintf(rate, sizeof(rate), "%s%.*f", sum->at_least ? ">" : "",
		sum->calls < 10 * sum->seconds, sum->calls / sum->seconds);
	buf_adds(out, "<table cellpadding=\"4\"><tr><th>calls/s</th>");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		buf_printf(out, "<th align=\"right\">%s</th>", names[i]);
	buf_adds(out, "<th align=\"right\">seen</th></tr>\n<tr>");
	html_cell(out, rate, true);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		html_cell(out, calls_percentile_text(sum, values[i], text), true);
	buf_printf(out, "<td align=\"right\">%u</td></tr></table>\n", sum->seen);
}

/* Bars by duration, the slowest calls in another color; each has its range and number as a title. */
static void latency_histogram(struct buf *out, const struct calls_summary *sum)
{
	unsigned first = CALLS_BUCKETS, last = 0, x = 0;
	char from[CALLS_TEXT], to[CALLS_TEXT];
	double most = 0;

	for (unsigned b = 0; b < CALLS_BUCKETS; b++) {
		if (sum->histogram[b] <= 0)
			continue;
		first = b < first ? b : first;
		last = b;
		most = sum->histogram[b] > most ? sum->histogram[b] : most;
	}
	if (most <= 0)
		return;
	buf_printf(out,
		"<svg id=\"histogram\" width=\"%u\" height=\"%d\" role=\"img\" aria-label=\"number "
		"of calls by duration\">\n",
		(last - first + 1) * BAR_PX + 60, HEIGHT_PX + 18);
	for (unsigned b = first; b <= last; b++, x += BAR_PX) {
		double height = HEIGHT_PX * sum->histogram[b] / most;

		calls_duration_text(b ? calls_bucket_end(b - 1) : 0, from);
		if (sum->histogram[b] > 0) {
			height = height < 1 ? 1 : height;
			buf_printf(out,
				"<rect x=\"%u\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\">"
				"<title>%s to %s: %.0f calls</title></rect>\n",
				x, HEIGHT_PX - (int)height, BAR_PX - 1, (int)height,
				calls_bucket_end(b) > sum->slow_ns ? SLOW_COLOR : BAR_COLOR, from,
				calls_duration_text(calls_bucket_end(b), to), sum->histogram[b]);
		}
		if ((b - first) % 8 == 0)
			buf_printf(out,
				"<text x=\"%u\" y=\"%d\" font-size=\"11\" "
				"fill=\"currentColor\">%s</text>\n",
				x, HEIGHT_PX + 14, from);
	}
	buf_adds(out, "</svg>\n");
}

/* The call tree of the slowest calls beside that of the others. */
static void latency_tree(struct buf *out, const struct profile *p, const struct calls_query *slow)
{
	struct calls_comparison *both = calls_compare(p, slow);
	char text[CALLS_TEXT];

	if (!both)
		return;
	latency_heading(out, "What the slowest calls spend their time on, beside the others");
	buf_adds(out,
		"<table cellpadding=\"2\"><tr><th></th><th align=\"right\">per call</th><th "
		"align=\"right\">slowest</th><th align=\"right\">others</th><th></th></tr>\n");
	for (uint32_t i = 0; i < both->count; i++) {
		const struct calls_node *n = &both->nodes[i];

		buf_printf(out, "<tr><td style=\"padding-left: %uem\">", n->depth);
		html_text(out, profile_get_method(both->diff->both, n->method)->full);
		buf_adds(out, "</td>");
		html_cell(
			out, calls_duration_text((uint64_t)(n->slow * both->slow_ns), text), true);
		latency_share(out, n->slow);
		latency_share(out, n->other);
		html_cell(out, n->sure ? "*" : "", false);
		buf_adds(out, "</tr>\n");
	}
	buf_adds(out, "</table>\n<p>* significant: if slow calls did not differ, at most 1 report "
		      "in 30 would have one</p>\n");
	calls_comparison_free(both);
}

static void latency_call(struct buf *out, const struct profile *p, const struct call *call)
{
	double states[CALL_STATES];
	char text[CALLS_TEXT], lock[CALLS_LOCK];
	struct buf what = {0};

	call_shares(call, states);
	for (unsigned s = 0; s < CALL_STATES; s++)
		if (states[s] >= 0.005)
			buf_printf(&what, "%s%s %.0f %%", what.len ? ", " : "", call_state_names[s],
				100 * states[s]);
	buf_adds(out, "<tr>");
	html_cell(out, calls_clock_text(p, call->begin_to, text), false);
	html_cell(out, profile_get_thread(p, call->thread)->name, false);
	html_cell(out, calls_duration_text(call_duration_ns(call), text), true);
	html_cell(out, buf_str(&what), false);
	html_cell(out, call_lock_text(p, call, lock), false);
	buf_adds(out, "</tr>\n");
	buf_done(&what);
}

static void latency_note(void *ctx, const char *brief, const char *sentence)
{
	struct buf *out = ctx;

	buf_adds(out, "<p>");
	html_text(out, sentence);
	buf_adds(out, "</p>\n");
}

void html_latency(struct buf *out, const struct profile *p, const struct export_options *o)
{
	uint64_t from_ns = o->query.from * NS_PER_S, to_ns = (profile_info(p).now + 1) * NS_PER_S;
	struct calls_query q = {.from_ns = from_ns,
		.to_ns = o->meta.duration_ns ? from_ns + o->meta.duration_ns : to_ns};
	struct call calls[SLOWEST];
	struct calls_summary sum;

	if (!calls_name(p))
		return;
	calls_query_counted(p, &q);
	calls_summarize(p, &q, &sum);
	if (!sum.seen)
		return;
	buf_adds(out, "<section id=\"latency\">\n<h2>Calls of ");
	html_text(out, calls_name(p));
	buf_adds(out, "</h2>\n");
	latency_percentiles(out, &sum);
	latency_histogram(out, &sum);
	latency_heading(out, "Share of time by state");
	const double *const rows[] = {sum.all, sum.slowest};
	char title[64], text[CALLS_TEXT];
	buf_adds(out, "<table cellpadding=\"4\"><tr><th></th>");
	for (unsigned s = 0; s < CALL_STATES; s++)
		buf_printf(out, "<th align=\"right\">%s</th>", call_state_names[s]);
	buf_adds(out, "</tr>\n");
	for (int row = 0; row < 2; row++) {
		snprintf(title, sizeof(title),
			row ? "slowest 1 %% (%u of %s or more)" : "all calls", sum.slow_calls,
			calls_duration_text(sum.slow_ns, text));
		buf_adds(out, "<tr>");
		html_cell(out, title, false);
		for (unsigned s = 0; s < CALL_STATES; s++)
			latency_share(out, rows[row][s]);
		buf_adds(out, "</tr>\n");
	}
	buf_adds(out, "</table>\n");
	q.min_ns = sum.slow_ns;
	latency_tree(out, p, &q);
	latency_heading(out, "Slowest calls");
	buf_adds(out, "<table cellpadding=\"4\">\n");
	uint32_t count = calls_slowest(p, &q, calls, SLOWEST);
	for (uint32_t i = 0; i < count; i++)
		latency_call(out, p, &calls[i]);
	buf_adds(out, "</table>\n");
	calls_notes(&sum, latency_note, out);
	buf_adds(out, "</section>\n");
}
