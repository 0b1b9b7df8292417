/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates from the calls of a window.
 *
 * A call of duration d is seen by polls g apart with probability min(1, d/g). Longer calls are all seen, and their durations are
 * known to within g on either side. For the short ones, the distribution of durations that best explains their brackets is found by
 * expectation maximization, and divided by that probability. The durations of calls in progress at the end of the window are lower
 * bounds (right-censored), so percentiles are those of the product-limit (Kaplan-Meier) estimate.
 */
#include "profile/calls/own.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHORT_GAPS    1.5 /* calls certainly inside for fewer polls than this are short */
#define SHORT_BUCKETS 14
#define SHORT_SPAN    3.5 /* of the buckets, in gaps */
#define ROUNDS        20  /* of expectation maximization; further rounds fit noise */
#define COUNT_ERROR   0.01
#define UNITS         64 /* per gap: resolution of spans of time when short durations are estimated */
#define UNIT_BITS     21
#define UNITS_MAX     ((1u << UNIT_BITS) - 1)

/* Calls of one duration. */
struct entry {
	double ns, weight, variance;
	bool lasts;
};

struct gather {
	const struct profile *p;
	struct calls_summary *out;
	struct call *list;
	uint32_t count, cap, counted;
	double represented; /* sum of all weights */
	double uncounted;   /* sum of the weights of calls whose entries were not recorded */
};

static void gather_call(void *ctx, const struct call *call)
{
	struct gather *g = ctx;

	g->list = xgrow(g->list, g->count, &g->cap, sizeof(*g->list));
	g->list[g->count++] = *call;
}

uint64_t calls_bucket_end(unsigned bucket)
{
	return (uint64_t)((double)CALLS_BUCKET_FIRST * exp2(bucket / 4.0));
}

static unsigned bucket_of(double ns)
{
	double bucket = ns > 0 ? ceil(4 * log2(ns / (double)CALLS_BUCKET_FIRST)) : 0;

	return bucket < 0 ? 0 : bucket >= CALLS_BUCKETS ? CALLS_BUCKETS - 1 : (unsigned)bucket;
}

/* The probability that polls see a call of this duration. gap: mean distance of polls. */
static double seen_part(double d, double gap)
{
	return d < gap ? d / gap : 1;
}

/* The probability that a call of this duration is seen, and certainly inside for less than SHORT_GAPS: by one or two polls. */
static double short_part(double d, double gap)
{
	double most = 3 - d / gap;

	return most < 1 ? fmax(most, 0) : seen_part(d, gap);
}

/*
 * Likelihood of a duration for a call that began in a span of b ns before it was certainly inside for `inside` ns, and ended in a
 * span of e ns after that: a trapezoid.
 */
static double likelihood(double d, double inside, double b, double e)
{
	double over = d - inside, low, high;

	if (over < 0 || over > b + e)
		return 0;
	low = over - e > 0 ? over - e : 0;
	high = over < b ? over : b;
	return (high - low) / (b * e);
}

/* Calls that are equal when rounded to UNITS per gap; `at`: the likelihood of each duration, of calls that were seen. */
struct bracket {
	double calls, squares; /* sums of their weights, and of the squares of these */
	double at[SHORT_BUCKETS];
};

static uint64_t units(uint64_t ns, double unit)
{
	double n = floor((double)ns / unit + 0.5);

	return n < 1 ? ns > 0 : n < UNITS_MAX ? (uint64_t)n : UNITS_MAX;
}

/* Returns the brackets of calls; the caller frees them. */
static struct bracket *brackets_new(
	const struct call *list, uint32_t calls, double gap, uint32_t *count)
{
	struct bracket *out = NULL;
	struct hash_index index = {0};
	double unit = gap / UNITS > 1 ? gap / UNITS : 1, width = gap * SHORT_SPAN / SHORT_BUCKETS;
	uint32_t cap = 0;

	*count = 0;
	for (uint32_t i = 0; i < calls; i++) {
		uint64_t b = units(list[i].begin_to - list[i].begin_from, unit);
		uint64_t e = units(list[i].end_to - list[i].end_from, unit);
		uint64_t inside = units(list[i].end_from - list[i].begin_to, unit);
		uint64_t hash = hash_u64((b << 2 * UNIT_BITS) | (e << UNIT_BITS) | inside);
		uint32_t at = hash_index_find(&index, hash, NULL, NULL);
		double sum = 0, middle;

		if (at != HASH_NONE) {
			out[at].calls += list[i].weight;
			out[at].squares += (double)list[i].weight * list[i].weight;
			continue;
		}
		out = xgrow(out, *count, &cap, sizeof(*out));
		out[*count] = (struct bracket){.calls = list[i].weight,
			.squares = (double)list[i].weight * list[i].weight};
		for (unsigned j = 0; j < SHORT_BUCKETS; j++)
			sum += out[*count].at[j] =
				short_part((j + 0.5) * width, gap) > 0
					? likelihood((j + 0.5) * width, (double)inside * unit,
						  (double)b * unit + 1, (double)e * unit + 1) /
						  short_part((j + 0.5) * width, gap)
					: 0;
		/* Known so well that it lies between two buckets. */
		middle = ((double)inside + (double)(b + e) / 2) * unit / width;
		if (sum <= 0)
			out[*count].at[middle < SHORT_BUCKETS - 1 ? (unsigned)middle
								  : SHORT_BUCKETS - 1] = 1;
		hash_index_add(&index, hash, (*count)++);
	}
	hash_index_done(&index);
	return out;
}

/*
 * Appends an entry per bucket of short durations. gap: mean distance of polls, ns. How much shorter than a gap a call was that a
 * single poll saw cannot be known: these durations are assumed to be equally frequent.
 */
static uint32_t estimate_short(
	const struct call *list, uint32_t count, double gap, struct entry *out)
{
	double density[SHORT_BUCKETS], found[SHORT_BUCKETS] = {0},
				       width = gap * SHORT_SPAN / SHORT_BUCKETS;
	double calls = 0, squares = 0;
	uint32_t n = 0, bracket_count;
	struct bracket *brackets = brackets_new(list, count, gap, &bracket_count);

	for (unsigned j = 0; j < SHORT_BUCKETS; j++)
		density[j] = short_part((j + 0.5) * width, gap);
	for (uint32_t i = 0; i < bracket_count; i++) {
		calls += brackets[i].calls;
		squares += brackets[i].squares;
	}
	for (unsigned round = 0; round < ROUNDS; round++) {
		memset(found, 0, sizeof(found));
		for (uint32_t i = 0; i < bracket_count; i++) {
			const struct bracket *b = &brackets[i];
			double sum = 0;

			for (unsigned j = 0; j < SHORT_BUCKETS; j++)
				sum += density[j] * b->at[j];
			for (unsigned j = 0; j < SHORT_BUCKETS && sum > 0; j++)
				found[j] += b->calls * density[j] * b->at[j] / sum;
		}
		for (unsigned j = 0; j < SHORT_BUCKETS; j++)
			density[j] = found[j] / (calls > 0 ? calls : 1);
	}
	free(brackets);
	for (unsigned j = 0; j < SHORT_BUCKETS; j++) {
		double d = (j + 0.5) * width, seen = seen_part(d, gap);

		if (found[j] > 0)
			out[n++] = (struct entry){.ns = d,
				.weight = found[j] / seen,
				.variance = found[j] / (seen * seen) * squares / calls};
	}
	return n;
}

/* No calls are assumed to be merged if this share of the unobserved pauses was recognized by the callers. */
#define DISTINGUISHED 0.4

/*
 * Estimates how many calls were merged with the previous call of their thread. Without entries, two calls are distinguished by a
 * poll in the pause between them, or by their callers' stack words. If the callers never differ, each pause without a poll merges two
 * calls; the number of such pauses is estimated from the observed ones, like that of short calls. If the callers differ, calls
 * are found that follow each other without an observed pause (`apart`).
 */
static double count_merged(const struct gather *g, double gap)
{
	struct call *pauses = xcalloc(g->count + 1ull, sizeof(*pauses));
	uint32_t *last = NULL, threads = 0, cap = 0, count = 0;
	struct entry entries[SHORT_BUCKETS];
	double unseen = 0, apart = 0;

	for (uint32_t i = 0; i < g->count; i++) {
		const struct call *call = &g->list[i], *before;

		for (; threads <= call->thread; threads++) {
			last = xgrow(last, threads, &cap, sizeof(*last));
			last[threads] = 0;
		}
		before = last[call->thread] ? &g->list[last[call->thread] - 1] : NULL;
		last[call->thread] = i + 1;
		if (!before || call->counted || before->end_to == UINT64_MAX)
			continue;
		if (call->begin_from < before->end_to)
			apart++;
		else if ((double)(call->begin_from - before->end_to) < SHORT_GAPS * gap)
			pauses[count++] = (struct call){.begin_from = before->end_from,
				.begin_to = before->end_to,
				.end_from = call->begin_from,
				.end_to = call->begin_to,
				.weight = 1};
	}
	count = estimate_short(pauses, count, gap, entries);
	for (uint32_t i = 0; i < count; i++)
		unseen += entries[i].weight * (1 - seen_part(entries[i].ns, gap));
	free(pauses);
	free(last);
	return apart > DISTINGUISHED * unseen ? 0 : unseen - apart;
}

static int by_duration(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->ns != y->ns ? (x->ns > y->ns) - (x->ns < y->ns) : x->lasts - y->lasts;
}

/* Percentiles by the product-limit estimate. */
static void percentiles(
	const struct entry *entries, uint32_t count, double total, struct calls_summary *out)
{
	static const double levels[] = {0.5, 0.9, 0.99, 0.999};
	uint64_t *const results[] = {&out->p50, &out->p90, &out->p99, &out->p999};
	double survival = 1, at_risk = total;
	unsigned level = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (!entries[i].lasts && at_risk > 0)
			survival *= 1 - entries[i].weight / at_risk;
		at_risk -= entries[i].weight;
		for (; level < 4 && survival <= 1 - levels[level] + 1e-9; level++)
			*results[level] = entries[i].ns < 2 * (double)out->interval_ns
						  ? CALLS_UNKNOWN
						  : (uint64_t)entries[i].ns;
	}
	for (; level < 4; level++)
		*results[level] = CALLS_UNKNOWN;
}

/* The duration that 1 % of the calls, at least one, reach. */
static uint64_t slow_from(const struct entry *entries, uint32_t count, double total)
{
	double above = 0, want = total / 100 > 1 ? total / 100 : 1;

	while (count && above < want - 1e-9)
		above += entries[--count].weight;
	return (uint64_t)entries[count].ns;
}

static void add_states(double sum[CALL_STATES], const struct call *call)
{
	for (unsigned s = 0; s < CALL_STATES; s++)
		sum[s] += (double)call->state_ns[s] * call->weight;
}

static int by_gap(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The median distance of the polls that found the calls and those before them. */
static double median_gap(const struct call *list, uint32_t count)
{
	uint64_t *gaps = xcalloc(count + 1, sizeof(*gaps)), gap;

	for (uint32_t i = 0; i < count; i++)
		gaps[i] = list[i].gap_ns;
	qsort(gaps, count, sizeof(*gaps), by_gap);
	gap = gaps[count / 2];
	free(gaps);
	return (double)gap;
}

#define ESTIMATE_CELLS 5.0 /* that one estimate spans, about */
#define ESTIMATED_PART 0.1 /* of the cells of a window, at least */

/* Entries of the window, with their standard error. */
struct window_entries {
	double entries, error;
	bool estimated;
};

/* False: no estimate spans the whole cell. */
static bool is_estimated(const struct model_calls *c, uint64_t cell)
{
	for (uint64_t i = cell - 1; i <= cell + 1; i++)
		if (c->cells[i % CALLS_CELLS].cell != i || !c->cells[i % CALLS_CELLS].estimated)
			return false;
	return true;
}

static struct window_entries entries_between(
	const struct model_calls *c, const struct calls_query *q)
{
	uint64_t first = q->from_ns / CALLS_CELL_NS, last = q->to_ns / CALLS_CELL_NS;
	double entries = 0, estimates = 0, squares = 0, estimated = 0, scale, cells;

	for (uint64_t cell = first + 1; cell < last && cell - first < CALLS_CELLS; cell++) {
		double n = c->cells[cell % CALLS_CELLS].entries;

		if (c->cells[cell % CALLS_CELLS].cell != cell)
			continue;
		entries += n;
		if (!is_estimated(c, cell))
			continue;
		estimates += n;
		squares += n * n;
		estimated++;
	}
	if (last <= first + 1)
		return (struct window_entries){.entries = 0};
	cells = (double)(last - first - 1);
	scale = (double)(q->to_ns - q->from_ns) / (double)CALLS_CELL_NS;
	if (estimated < ESTIMATED_PART * cells)
		return (struct window_entries){.entries = entries * scale / cells};
	squares -= estimates * estimates / estimated;
	return (struct window_entries){.entries = estimates * scale / estimated,
		.error = (sqrt(squares > 0 ? squares * ESTIMATE_CELLS : 0) +
				 (c->estimated > 0 ? estimates * c->doubt / c->estimated : 0)) *
			 scale / estimated,
		.estimated = true};
}

/* The number of all calls is known: scales the short ones among the entries from `first` on, which were estimated. */
static void scale_short(struct entry *entries, uint32_t first, uint32_t count, double total)
{
	double estimated = 0, longer = 0, scale;

	for (uint32_t i = 0; i < first; i++)
		longer += entries[i].weight;
	for (uint32_t i = first; i < count; i++)
		estimated += entries[i].weight;
	scale = estimated > 0 ? (total - longer) / estimated : 1;
	for (uint32_t i = first; i < count && scale > 0; i++)
		entries[i].weight *= scale;
}

/* If most calls are shorter than a gap, their number is unknown: counts only those that were seen, a lower bound. */
static void limit_short(
	struct calls_summary *out, struct entry *entries, uint32_t count, double gap)
{
	double below = 0, all = 0;

	for (uint32_t i = 0; i < count; i++) {
		all += entries[i].weight;
		below += entries[i].ns < gap ? entries[i].weight : 0;
	}
	out->short_calls = 2 * below > all;
	for (uint32_t i = 0; i < count && out->short_calls; i++) {
		double seen = seen_part(entries[i].ns, gap);

		entries[i].weight *= seen;
		entries[i].variance *= seen * seen;
	}
}

/* Sums over all calls, and one entry per call that is not short; the short ones are moved to the front of the list. */
static uint32_t add_calls(struct gather *g, double gap, struct entry *entries, uint32_t *brief)
{
	struct calls_summary *out = g->out;
	uint32_t count = 0;

	*brief = 0;
	for (uint32_t i = 0; i < g->count; i++) {
		struct call call = g->list[i];

		add_states(out->all, &call);
		g->represented += call.weight;
		g->counted += call.counted;
		g->uncounted += call.counted ? 0 : call.weight;
		out->inlined += call.inlined;
		out->uncertain += call.uncertain;
		if (call_duration_ns(&call) > out->max)
			out->max = call_duration_ns(&call);
		if (call.end_to != UINT64_MAX &&
			(double)(call.end_from - call.begin_to) < SHORT_GAPS * gap) {
			g->list[(*brief)++] = call; /* i >= *brief */
			continue;
		}
		out->lasting += call.end_to == UINT64_MAX;
		entries[count++] = (struct entry){.ns = (double)call_duration_ns(&call),
			.weight = call.weight,
			.variance = call.weight,
			.lasts = call.end_to == UINT64_MAX};
	}
	return count;
}

#define MISSED_PART 0.05 /* of the threads that have started */

/*
 * The variance of a number of calls that comes from polling only a random subset of the virtual threads: in or out of it are all calls
 * of a thread.
 */
static double subset_variance(const struct gather *g)
{
	const struct model_calls *c = g->p->calls;
	double *threads, variance = 0;
	uint32_t last = 0, distinct = 0, calls = 0;

	for (uint32_t i = 0; i < g->count; i++)
		last = g->list[i].thread > last ? g->list[i].thread : last;
	threads = xcalloc(last + 1ull, sizeof(*threads));
	for (uint32_t i = 0; i < g->count; i++) {
		const struct call *call = &g->list[i];
		double of_thread = threads[call->thread], weight = call->weight;

		/* ((n + 1)^2 - n^2) w (w - 1) */
		variance += (2 * of_thread + 1) * weight * (weight - 1);
		threads[call->thread]++;
	}
	for (uint32_t i = 0; i <= last; i++) {
		if (!threads[i] || profile_get_thread(g->p, i)->kind == THREAD_VIRTUAL)
			continue;
		calls += (uint32_t)threads[i];
		distinct++;
	}
	g->out->brief_threads =
		2 * distinct > calls && g->out->missed_threads > MISSED_PART * c->started + 10;
	free(threads);
	return variance;
}

static void add_entries(struct calls_summary *out, const struct entry *entries, uint32_t count,
	double gap, double variance)
{
	double unseen = 0;

	for (uint32_t i = 0; i < count; i++) {
		out->calls += entries[i].weight;
		variance += entries[i].variance;
		unseen += entries[i].weight * (1 - seen_part(entries[i].ns, gap));
		out->histogram[bucket_of(entries[i].ns)] += entries[i].weight;
	}
	/* A count lacks calls of threads that were not polled yet, and its ends are known to within a cell. */
	if (out->estimated)
		out->error = out->error + COUNT_ERROR * out->calls;
	else if (out->counted)
		out->error = COUNT_ERROR * out->calls + sqrt(out->calls / (10 * out->seconds + 1));
	else
		out->error = sqrt(variance + (out->short_calls ? 0 : unseen * unseen));
	percentiles(entries, count, out->calls, out);
	if (count)
		out->slow_ns = slow_from(entries, count, out->calls);
}

static void add_slowest(void *ctx, const struct call *call)
{
	struct calls_summary *out = ctx;

	if (call_duration_ns(call) < out->slow_ns)
		return;
	add_states(out->slowest, call);
	out->slow_calls++;
}

void calls_summarize(
	const struct profile *p, const struct calls_query *q, struct calls_summary *out)
{
	struct gather g = {.p = p, .out = out};
	uint32_t count, brief;
	struct window_entries window;
	struct entry *entries;
	double gap, variance, merged;
	bool whole;

	*out = (struct calls_summary){.p50 = CALLS_UNKNOWN,
		.p90 = CALLS_UNKNOWN,
		.p99 = CALLS_UNKNOWN,
		.p999 = CALLS_UNKNOWN,
		.seconds = (double)(q->to_ns - q->from_ns) / (double)NS_PER_S};
	if (!p->calls)
		return;
	if (p->calls->started > p->calls->polled)
		out->missed_threads = p->calls->started - p->calls->polled;
	calls_each(p, q, gather_call, &g);
	/* Entries are counted in all threads together. */
	window = entries_between(p->calls, q);
	whole = !p->calls->recursive && !q->pool && !q->threads;
	if (!g.count) {
		out->calls = whole ? window.entries : 0;
		out->error = window.error + COUNT_ERROR * out->calls;
		out->counted = out->calls > 0;
		return;
	}
	gap = median_gap(g.list, g.count);
	out->interval_ns = (uint64_t)gap;
	out->seen = g.count;
	variance = subset_variance(&g);
	merged = count_merged(&g, gap);
	entries = xcalloc(g.count + SHORT_BUCKETS, sizeof(*entries));
	count = add_calls(&g, gap, entries, &brief);
	out->estimated = whole && window.estimated;
	out->counted = whole && g.counted > 0.9 * g.count;
	out->error = window.error;
	count += estimate_short(g.list, brief, gap, entries + count);
	if (out->estimated)
		scale_short(entries, g.count - brief, count, window.entries);
	else if (out->counted)
		scale_short(entries, g.count - brief, count, window.entries + g.uncounted);
	else
		limit_short(out, entries, count, gap);
	out->at_least = out->short_calls || out->brief_threads;
	qsort(entries, count, sizeof(*entries), by_duration);
	add_entries(out, entries, count, gap, variance);
	if (!out->estimated && !out->counted && !out->short_calls) {
		out->merged = merged / (out->calls + merged);
		out->calls += merged;
		out->error += merged / 2;
	}
	free(entries);
	free(g.list);
	calls_each(p, q, add_slowest, out);
	calls_normalize(out->all);
	calls_normalize(out->slowest);
	out->uncounted = 1 - (double)g.counted / g.count;
	out->unpolled = 1 - g.count / g.represented;
	out->inlined /= g.count;
	out->uncertain /= g.count;
}
