/* SPDX-License-Identifier: Apache-2.0 */
/* The slowest calls, phases, texts. */
#include "profile/calls/report.h"

#include "base/buf.h"
#include "base/clock.h"
#include "profile/calls/own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void calls_query_counted(const struct profile *p, struct calls_query *q)
{
	uint64_t counted_ns = calls_counted_ns(p);

	if (counted_ns > q->from_ns && counted_ns < q->to_ns &&
		counted_ns - q->from_ns < (q->to_ns - q->from_ns) / 2)
		q->from_ns = counted_ns;
}

/* --- single calls ---------------------------------------------------------------------------- */

struct slowest {
	struct call *list;
	uint32_t count, most;
};

static void slowest_add(void *ctx, const struct call *call)
{
	struct slowest *s = ctx;
	uint64_t duration = call_duration_ns(call);
	uint32_t at = s->count;

	while (at > 0 && call_duration_ns(&s->list[at - 1]) < duration)
		at--;
	if (at == s->most)
		return;
	s->count += s->count < s->most;
	memmove(&s->list[at + 1], &s->list[at], (s->count - at - 1) * sizeof(*call));
	s->list[at] = *call;
}

uint32_t calls_slowest(
	const struct profile *p, const struct calls_query *q, struct call *out, uint32_t most)
{
	struct slowest s = {.list = out, .most = most};

	calls_each(p, q, slowest_add, &s);
	return s.count;
}

struct states {
	double *sum;
	uint32_t calls;
};

static void states_add(void *ctx, const struct call *call)
{
	struct states *s = ctx;

	for (unsigned i = 0; i < CALL_STATES; i++)
		s->sum[i] += (double)call->state_ns[i];
	s->calls++;
}

uint32_t calls_states(const struct profile *p, const struct calls_query *q, double out[CALL_STATES])
{
	struct states s = {.sum = out};

	memset(out, 0, CALL_STATES * sizeof(*out));
	calls_each(p, q, states_add, &s);
	calls_normalize(out);
	return s.calls;
}

void call_shares(const struct call *call, double out[CALL_STATES])
{
	for (unsigned s = 0; s < CALL_STATES; s++)
		out[s] = (double)call->state_ns[s];
	calls_normalize(out);
}

struct holding {
	const struct profile *p;
	uint32_t stack;
	uint64_t weight;
};

static void add_holder(void *ctx, const struct profile_part *part)
{
	struct holding *most = ctx;
	uint32_t leaf = profile_get_stack(most->p, part->stack).frame;

	/* The stack of an unknown owner says so. */
	if (part->weight > most->weight && profile_get_frame(most->p, leaf)->type != FRAME_BREAK) {
		most->stack = part->stack;
		most->weight = part->weight;
	}
}

/* Sets what the owner of the phase's lock did while others waited for it, to within a second. */
static void find_owner_place(const struct profile *p, struct call_phase *phase)
{
	struct profile_query q = profile_whole(EVENT_LOCK);
	struct holding most = {.p = p};

	q.holders = true;
	q.thread = phase->owner;
	q.from = (uint32_t)(phase->from_ns / NS_PER_S);
	q.to = (uint32_t)(phase->to_ns / NS_PER_S) + 1;
	profile_each(p, &q, add_holder, &most);
	if (most.weight)
		phase->owner_place = calls_place(p, most.stack);
}

static bool find_lock(const struct profile *p, uint32_t thread, struct call_phase *phase)
{
	struct profile_waited most;

	if (!profile_waited_ns(p, thread, phase->from_ns, phase->to_ns, &most))
		return false;
	phase->lock = most.method;
	phase->owner = most.owner;
	if (most.owner != PROFILE_NONE)
		find_owner_place(p, phase);
	return true;
}

struct call_phase *call_phases(const struct profile *p, const struct call *call, uint32_t *count)
{
	struct call_part *parts = xcalloc(call->polls + 1, sizeof(*parts));
	uint32_t n = calls_parts(p, call, parts, call->polls + 1), used = 0;
	struct call_phase *phases = n ? xcalloc(n, sizeof(*phases)) : NULL;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t method = calls_place(p, parts[i].stack);
		struct call_phase *last = used ? &phases[used - 1] : NULL;

		if (last && last->state == parts[i].state && last->method == method)
			last->to_ns = parts[i].to_ns;
		else
			phases[used++] = (struct call_phase){parts[i].from_ns, parts[i].to_ns,
				parts[i].state, method, PROFILE_NONE, PROFILE_NONE, PROFILE_NONE};
	}
	for (uint32_t i = 0; i < used; i++)
		if (phases[i].state == CALL_LOCK)
			find_lock(p, call->thread, &phases[i]);
	free(parts);
	*count = used;
	return phases;
}

/* --- texts ----------------------------------------------------------------------------------- */

const char *calls_duration_text(uint64_t ns, char out[CALLS_TEXT])
{
	double s = (double)ns / (double)NS_PER_S;

	if (s < 0.001)
		snprintf(out, CALLS_TEXT, "%.0f us", s * 1e6);
	else if (s < 0.01)
		snprintf(out, CALLS_TEXT, "%.1f ms", s * 1e3);
	else if (s < 1)
		snprintf(out, CALLS_TEXT, "%.0f ms", s * 1e3);
	else
		snprintf(out, CALLS_TEXT, "%.*f s", s < 10 ? 2 : 1, s);
	return out;
}

const char *calls_percentile_text(
	const struct calls_summary *sum, uint64_t ns, char out[CALLS_TEXT])
{
	char number[CALLS_TEXT];

	if (ns != CALLS_UNKNOWN)
		return calls_duration_text(ns, out);
	if (sum->max < 2 * sum->interval_ns || sum->p50 == CALLS_UNKNOWN)
		snprintf(out, CALLS_TEXT, "<%.20s",
			calls_duration_text(2 * sum->interval_ns, number));
	else
		snprintf(out, CALLS_TEXT, ">%.20s", calls_duration_text(sum->max, number));
	return out;
}

const char *calls_lock_text(
	const struct profile *p, const struct call_phase *phase, char out[CALLS_LOCK])
{
	const char *name = phase->lock != PROFILE_NONE
				   ? profile_get_method(p, phase->lock)->class_name
				   : "a lock";

	if (phase->owner == PROFILE_NONE)
		snprintf(out, CALLS_LOCK, "%.90s", name);
	else if (phase->owner_place == PROFILE_NONE)
		snprintf(out, CALLS_LOCK, "%.90s, held by %.50s", name,
			profile_get_thread(p, phase->owner)->name);
	else
		snprintf(out, CALLS_LOCK, "%.90s, held by %.50s in %.130s", name,
			profile_get_thread(p, phase->owner)->name,
			profile_get_method(p, phase->owner_place)->full);
	return out;
}

const char *call_lock_text(const struct profile *p, const struct call *call, char out[CALLS_LOCK])
{
	struct call_phase whole = {.from_ns = call->begin_from,
		.to_ns = call->end_to == UINT64_MAX ? call->end_from : call->end_to,
		.owner_place = PROFILE_NONE};
	double states[CALL_STATES];

	call_shares(call, states);
	*out = '\0';
	if (states[CALL_LOCK] < 0.01 || !find_lock(p, call->thread, &whole))
		return out;
	return calls_lock_text(p, &whole, out);
}

const char *calls_clock_text(const struct profile *p, uint64_t ns, char out[CALLS_TEXT])
{
	uint64_t wall_ns = profile_info(p).start_wall_ns + ns;
	time_t second = (time_t)(wall_ns / NS_PER_S);
	char text[16];
	struct tm tm;

	strftime(text, sizeof(text), "%H:%M:%S", localtime_r(&second, &tm));
	snprintf(out, CALLS_TEXT, "%s.%03u", text, (unsigned)(wall_ns % NS_PER_S / NS_PER_MS));
	return out;
}

static void note_uncounted(const struct calls_summary *sum, calls_note_fn *fn, void *ctx)
{
	char brief[80], text[240], number[CALLS_TEXT], merged[40] = "";

	if (sum->merged > 0.01)
		snprintf(merged, sizeof(merged), ", as about %.0f %% of all do", 100 * sum->merged);
	if (sum->uncounted - sum->inlined <= 0.1 || sum->short_calls)
		return;
	snprintf(brief, sizeof(brief), "%.0f %% not counted", 100 * sum->uncounted);
	snprintf(text, sizeof(text),
		"The entries of %.0f %% of the calls were not recorded: two of them in one "
		"thread that are less than %s apart may look like one%s.",
		100 * sum->uncounted, calls_duration_text(sum->interval_ns, number), merged);
	fn(ctx, brief, text);
}

void calls_notes(const struct calls_summary *sum, calls_note_fn *fn, void *ctx)
{
	char brief[80], text[200], number[CALLS_TEXT];

	if (sum->short_calls) {
		snprintf(text, sizeof(text),
			"Most calls are shorter than the interval of %s, so few of them are seen: "
			"there are at least as many as reported.",
			calls_duration_text(sum->interval_ns, number));
		fn(ctx, "most calls are too short to be seen", text);
	}
	if (sum->inlined > 0.01) {
		snprintf(brief, sizeof(brief), "%.0f %% inlined", 100 * sum->inlined);
		snprintf(text, sizeof(text),
			"%.0f %% of the calls were inlined: consecutive calls from one activation "
			"of the caller look like one.",
			100 * sum->inlined);
		fn(ctx, brief, text);
	}
	if (sum->brief_threads) {
		snprintf(text, sizeof(text),
			"%.0f threads ended before they were polled, so their calls are missing: "
			"there are at least as many calls as reported.",
			sum->missed_threads);
		fn(ctx, "brief threads missed", text);
	}
	if (sum->unpolled > 0.01) {
		snprintf(brief, sizeof(brief), "%.0f %% of virtual threads polled",
			100 * (1 - sum->unpolled));
		snprintf(text, sizeof(text),
			"A random subset of the virtual threads is polled: the calls that were "
			"seen "
			"are %.1f %% of all.",
			100 * (1 - sum->unpolled));
		fn(ctx, brief, text);
	}
	note_uncounted(sum, fn, ctx);
	if (sum->uncertain > 0.01) {
		snprintf(brief, sizeof(brief), "%.0f %% uncertain", 100 * sum->uncertain);
		snprintf(text, sizeof(text),
			"During %.0f %% of the calls a garbage collection moved objects; some of "
			"these calls may be several.",
			100 * sum->uncertain);
		fn(ctx, brief, text);
	}
	if (sum->lasting) {
		snprintf(brief, sizeof(brief), "%u in progress", sum->lasting);
		snprintf(text, sizeof(text), "%u call%s had not ended: %s.", sum->lasting,
			plural(sum->lasting),
			sum->lasting == 1 ? "its duration is a lower bound"
					  : "their durations are lower bounds");
		fn(ctx, brief, text);
	}
}
