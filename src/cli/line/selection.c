/* SPDX-License-Identifier: Apache-2.0 */
/* Selection of calls by duration. */
#include "cli/line/selection.h"

#include "base/clock.h"
#include "cli/line/units.h"
#include "profile/calls/extract.h"
#include "profile/calls/report.h"

#include <stdio.h>
#include <string.h>

bool selection_wanted(const struct args *args)
{
	return args_has(args, OPT_LONGER) || args_has(args, OPT_SHORTER);
}

enum { P50, P90, P99, P999, PERCENTILES };
static const char *const percentiles[PERCENTILES] = {"p50", "p90", "p99", "p99.9"};

/* A duration in *ns, or *percentile, which is PERCENTILES for a duration. */
static int selection_parse(const char *text, int *percentile, uint64_t *ns, struct err *err)
{
	*percentile = 0;
	while (*percentile < PERCENTILES && strcmp(text, percentiles[*percentile]) != 0)
		++*percentile;
	if (*percentile < PERCENTILES || !units_duration(text, ns, NULL))
		return 0;
	return err_set(err, ERR_USAGE,
		"--longer and --shorter take a duration (100ms) or p50, p90, p99 or p99.9, not "
		"\"%s\".",
		text);
}

int selection_check(const struct args *args, struct err *err)
{
	const char *longer = args_get(args, OPT_LONGER), *shorter = args_get(args, OPT_SHORTER);
	int percentile;
	uint64_t ns;

	return (longer && selection_parse(longer, &percentile, &ns, err)) ||
			       (shorter && selection_parse(shorter, &percentile, &ns, err))
		       ? -1
		       : 0;
}

static int selection_limit(const char *text, const struct calls_summary *sum, const char *method,
	uint64_t *ns, struct err *err)
{
	const uint64_t values[PERCENTILES] = {sum->p50, sum->p90, sum->slow_ns, sum->p999};
	char bound[CALLS_TEXT];
	int percentile;

	if (selection_parse(text, &percentile, ns, err))
		return -1;
	if (percentile == PERCENTILES)
		return 0;
	*ns = values[percentile];
	if (*ns != CALLS_UNKNOWN)
		return 0;
	return err_set(err, ERR_FAILED, "%s of %s is not known: it is %s.", text, method,
		calls_percentile_text(sum, *ns, bound));
}

int selection_limits(const struct args *args, const struct profile *p, bool slowest,
	struct calls_query *q, struct err *err)
{
	const char *longer = args_get(args, OPT_LONGER), *shorter = args_get(args, OPT_SHORTER);
	struct calls_summary sum;

	calls_summarize(p, q, &sum);
	if (slowest && !longer && !shorter)
		q->min_ns = sum.slow_ns;
	if ((longer && selection_limit(longer, &sum, calls_name(p), &q->min_ns, err)) ||
		(shorter && selection_limit(shorter, &sum, calls_name(p), &q->max_ns, err)))
		return -1;
	if (q->max_ns && q->max_ns <= q->min_ns)
		return err_set(err, ERR_USAGE, "--shorter must be more than --longer.");
	return 0;
}

const char *selection_text(const struct calls_query *q, char out[SELECTION_TEXT])
{
	char from[CALLS_TEXT], to[CALLS_TEXT];

	calls_duration_text(q->min_ns, from);
	calls_duration_text(q->max_ns, to);
	if (!q->max_ns)
		snprintf(out, SELECTION_TEXT, "%s or more", from);
	else if (!q->min_ns)
		snprintf(out, SELECTION_TEXT, "less than %s", to);
	else
		snprintf(out, SELECTION_TEXT, "%s to %s", from, to);
	return out;
}

struct profile *selection_extract(
	const struct args *args, const struct profile *p, const char *file, struct err *err)
{
	struct calls_query q = {.to_ns = profile_info(p).now * NS_PER_S + NS_PER_S};
	char text[SELECTION_TEXT];
	struct call any;

	if (!calls_name(p)) {
		err_set(err, ERR_FAILED, "%s has no measured calls.", file);
		err_hint(err, "jhot record --latency METHOD -o FILE.jhot PID     records them");
		return NULL;
	}
	calls_query_counted(p, &q);
	if (selection_limits(args, p, false, &q, err))
		return NULL;
	if (calls_slowest(p, &q, &any, 1))
		return calls_extract(p, &q);
	err_set(err, ERR_FAILED, "%s has no call of %s that takes %s.", file, calls_name(p),
		selection_text(&q, text));
	return NULL;
}
