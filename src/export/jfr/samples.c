/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples and measured calls as events.
 *
 * The model has a resolution of one second. The samples of each entry (stack, thread, second) are
 * spread evenly over their second, with a different phase for each entry, so that tools with a time
 * axis show no artifacts. A lock wait that spans several seconds becomes one event.
 */
#include "export/export.h"
#include "export/jfr/jfr.h"
#include "export/seconds.h"

#include "base/clock.h"
#include "profile/calls/report.h"

#include <stdlib.h>
#include <string.h>

#define EVENTS_LEAST (1u << 20)  /* limit of events in a file, */
#define EVENTS_EACH  1024u       /* plus these per entry */
#define PARK_DEPTH   8           /* frames from the leaf that are searched for LockSupport */
#define GOLDEN_RATIO 2654435769u /* of 2^32: each multiple is far from those before it */

/* Removes the class that a stack may end with, and returns its id; 0: none. */
static uint32_t samples_class(struct jfr *j, uint32_t *stack)
{
	struct profile_stack s = profile_get_stack(j->p, *stack);
	const struct profile_frame *f = profile_get_frame(j->p, s.frame);

	if (*stack == PROFILE_ROOT_STACK || !frame_is_class(f->type))
		return 0;
	*stack = s.parent;
	return jfr_class(j, profile_get_method(j->p, f->method)->full);
}

/* An assumed time of the k-th of n samples. entry: selects the phase. */
static uint64_t samples_ns(const struct seconds_span *span, uint32_t entry, uint64_t k, uint64_t n)
{
	double begin = (double)(entry * GOLDEN_RATIO) / 4294967296.0;

	return span->from * NS_PER_S +
	       (uint64_t)(((double)k + begin) / (double)n * (double)span->seconds * 1e9);
}

/* Begins an event; the caller adds its remaining fields and calls samples_end. */
static struct buf *samples_begin(struct jfr *j, enum jfr_type type, uint64_t ns)
{
	buf_clear(&j->body);
	jfr_varint(&j->body, type);
	jfr_varint(&j->body, ns);
	return &j->body;
}

static void samples_end(struct jfr *j)
{
	jfr_block(&j->events, &j->body);
}

/* Part k of a value divided into n parts; their sum is exact. */
static uint64_t samples_share(uint64_t value, uint64_t k, uint64_t n)
{
	return value / n + (k < value % n);
}

struct samples {
	struct jfr *j;
	int event;
	/* each: profile_sample_weight. The others: remainders of the divisions by it, and by jfr->per_event. */
	uint64_t each, rest_weight, rest_samples;
	struct wait *waits; /* of lock events */
	uint32_t wait_count, wait_cap;
};

bool jfr_full(const struct jfr *j)
{
	return j->events.len + j->traces.bytes.len >= EXPORT_BYTES_MAX;
}

struct totals {
	uint64_t samples, entries;
};

static void totals_part(void *ctx, const struct profile_part *part)
{
	struct totals *t = ctx;

	t->samples += part->count;
	t->entries++;
}

uint64_t jfr_samples_per_event(const struct profile *p, const struct profile_query *q)
{
	struct totals t = {0};

	profile_each(p, q, totals_part, &t);
	return t.samples / (EVENTS_LEAST + t.entries * EVENTS_EACH) + 1;
}

/* The number of events for an entry of n samples and a weight: at least one. */
static uint64_t events_of(const struct jfr *j, uint64_t n)
{
	return n / j->per_event ? n / j->per_event : 1;
}

/* The number of samples of equal weight in a part. The remainder of the weight goes to the next part. */
static uint64_t samples_count(struct samples *s, const struct profile_part *part)
{
	uint64_t weight = part->weight + s->rest_weight;

	if (!s->each)
		return part->count;
	s->rest_weight = weight % s->each;
	return weight / s->each;
}

/* --- the CPU ----------------------------------------------------------------------------------------- */

static void samples_of_cpu(
	struct samples *s, const struct seconds_span *span, const struct profile_part *part)
{
	struct jfr *j = s->j;
	uint64_t samples = samples_count(s, part) + s->rest_samples, n = samples / j->per_event;
	uint32_t entry = j->spread++;

	s->rest_samples = samples % j->per_event;
	for (uint64_t k = 0; k < n; k++) {
		struct buf *out =
			samples_begin(j, JFR_EXECUTION_SAMPLE, samples_ns(span, entry, k, n));
		jfr_varint(out, jfr_thread(j, part->thread));
		jfr_varint(out, jfr_trace(j, part->stack));
		jfr_varint(out, JFR_STATE_DEFAULT);
		samples_end(j);
	}
}

/* --- the wall clock ---------------------------------------------------------------------------------- */

static const enum jfr_state wall_states[THREAD_STATES] = {
	[THREAD_STATE_NONE] = JFR_STATE_DEFAULT,
	[THREAD_ON_CPU] = JFR_STATE_RUNNABLE,
	[THREAD_RUNNABLE] = JFR_STATE_RUNNABLE,
	[THREAD_SLEEPING] = JFR_STATE_SLEEPING,
	[THREAD_MONITOR] = JFR_STATE_MONITOR,
	[THREAD_WAITING] = JFR_STATE_WAITING,
	[THREAD_PARKED] = JFR_STATE_PARKED,
	[THREAD_IO] = JFR_STATE_IO,
	[THREAD_CARRIER] = JFR_STATE_RUNNABLE,
};

static void samples_of_wall(
	struct samples *s, const struct seconds_span *span, const struct profile_part *part)
{
	struct jfr *j = s->j;
	uint64_t n = samples_count(s, part), ns = samples_ns(span, j->spread++, 0, n ? n : 1);

	if (!n)
		return;
	struct buf *out = samples_begin(j, JFR_WALL_SAMPLE, ns);
	jfr_varint(out, jfr_thread(j, part->thread));
	jfr_varint(out, jfr_trace(j, part->stack));
	jfr_varint(out, wall_states[part->state]);
	jfr_varint(out, n);
	samples_end(j);
	if (part->state != THREAD_IO)
		return;
	out = samples_begin(j, JFR_NATIVE_SAMPLE, ns);
	jfr_varint(out, jfr_thread(j, part->thread));
	jfr_varint(out, jfr_trace(j, part->stack));
	jfr_varint(out, JFR_STATE_DEFAULT);
	samples_end(j);
}

/* --- allocations, perf's events ---------------------------------------------------------------------- */

static void samples_of_alloc(
	struct jfr *j, const struct seconds_span *span, const struct profile_part *part)
{
	uint64_t n = events_of(j, part->count);
	uint32_t entry = j->spread++, stack = part->stack;
	uint32_t class_id = samples_class(j, &stack);

	for (uint64_t k = 0; k < n; k++) {
		struct buf *out = samples_begin(j, JFR_ALLOCATION, samples_ns(span, entry, k, n));

		jfr_varint(out, jfr_thread(j, part->thread));
		jfr_varint(out, jfr_trace(j, stack));
		jfr_varint(out, class_id);
		jfr_varint(out, samples_share(part->weight, k, n));
		samples_end(j);
	}
}

static void samples_part(
	void *ctx, const struct seconds_span *span, const struct profile_part *part)
{
	struct samples *s = ctx;

	if (jfr_full(s->j))
		return;
	switch (s->event) {
	case EVENT_CPU: samples_of_cpu(s, span, part); break;
	case EVENT_ALLOC: samples_of_alloc(s->j, span, part); break;
	case EVENT_WALL: samples_of_wall(s, span, part); break;
	default: {
		struct buf *out = samples_begin(s->j, JFR_PERF_SAMPLE,
			samples_ns(span, s->j->spread++, 0, part->count ? part->count : 1));

		jfr_varint(out, jfr_thread(s->j, part->thread));
		jfr_varint(out, jfr_trace(s->j, part->stack));
		jfr_text(out, profile_get_event(s->j->p, s->event)->name);
		jfr_varint(out, part->count);
		jfr_varint(out, part->weight);
		samples_end(s->j);
	}
	}
}

void jfr_event(struct jfr *j, const struct profile_query *q)
{
	struct samples s = {.j = j, .event = q->event};

	s.each = profile_sample_weight(j->p, q->event);
	s.rest_weight = s.each / 2;
	s.rest_samples = j->per_event / 2;
	seconds_each(j->p, q, samples_part, &s);
}

/* --- locks ------------------------------------------------------------------------------------------- */

/* Waits of one thread at one place in a span. count 0: the continuation of an earlier one. */
struct wait {
	uint32_t stack, thread, from;
	struct seconds_span span;
	uint64_t count, weight;
};

static void samples_wait(
	void *ctx, const struct seconds_span *span, const struct profile_part *part)
{
	struct samples *s = ctx;

	s->waits = xgrow(s->waits, s->wait_count, &s->wait_cap, sizeof(*s->waits));
	s->waits[s->wait_count++] = (struct wait){
		part->stack, part->thread, span->from, *span, part->count, part->weight};
}

static int samples_compare(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;

	if (x->stack != y->stack)
		return x->stack < y->stack ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

/* True if the stack waits in LockSupport.park, as locks of java.util.concurrent do. */
static bool samples_parks(const struct jfr *j, uint32_t stack)
{
	for (int i = 0; i < PARK_DEPTH && stack != PROFILE_ROOT_STACK; i++) {
		struct profile_stack s = profile_get_stack(j->p, stack);
		const struct profile_method *m =
			profile_get_method(j->p, profile_get_frame(j->p, s.frame)->method);

		if (!strcmp(m->class_name, "java.util.concurrent.locks.LockSupport"))
			return true;
		stack = s.parent;
	}
	return false;
}

void jfr_locks(struct jfr *j, const struct profile_query *q)
{
	struct samples s = {.j = j};
	uint32_t next;

	seconds_each(j->p, q, samples_wait, &s);
	if (s.wait_count)
		qsort(s.waits, s.wait_count, sizeof(*s.waits), samples_compare);
	for (uint32_t i = 0; i < s.wait_count && !jfr_full(j); i = next) {
		struct wait w = s.waits[i];

		for (next = i + 1;
			next < s.wait_count && !s.waits[next].count &&
			s.waits[next].stack == w.stack && s.waits[next].thread == w.thread;
			next++)
			w.weight += s.waits[next].weight;
		uint64_t n = events_of(j, w.count);
		uint32_t entry = j->spread++, stack = w.stack;
		uint32_t class_id = samples_class(j, &stack);
		bool parks = samples_parks(j, stack);
		for (uint64_t k = 0; k < n; k++) {
			struct buf *out =
				samples_begin(j, parks ? JFR_THREAD_PARK : JFR_MONITOR_ENTER,
					samples_ns(&w.span, entry, k, n));
			jfr_varint(out, samples_share(w.weight, k, n));
			jfr_varint(out, jfr_thread(j, w.thread));
			jfr_varint(out, jfr_trace(j, stack));
			jfr_varint(out, class_id);
			jfr_varint(out, parks ? JFR_UNKNOWN : 0); /* timeout, or owner */
			if (parks)
				jfr_varint(out, JFR_UNKNOWN); /* until */
			jfr_varint(out, 0);                   /* address */
			samples_end(j);
		}
	}
	free(s.waits);
}

/* --- measured calls --------------------------------------------------------------------------------------- */

/* One event per call, with its duration and the time that it spent in each state. */
static void calls_add(void *ctx, const struct call *call)
{
	struct jfr *j = ctx;
	uint64_t ns = call_duration_ns(call);
	double states[CALL_STATES];
	char lock[CALLS_LOCK];

	if (jfr_full(j))
		return;
	call_shares(call, states);
	buf_clear(&j->body);
	jfr_varint(&j->body, JFR_CALL);
	jfr_varint(&j->body, call_begin_ns(call));
	jfr_varint(&j->body, ns);
	jfr_varint(&j->body, jfr_thread(j, call->thread));
	jfr_clean_text(&j->body, calls_name(j->p));
	jfr_varint(&j->body, call_error_ns(call));
	buf_addc(&j->body, call->end_to != UINT64_MAX);
	for (unsigned s = 0; s < CALL_STATES; s++)
		jfr_varint(&j->body, (uint64_t)((double)ns * states[s] + 0.5));
	jfr_clean_text(&j->body, call_lock_text(j->p, call, lock));
	jfr_block(&j->events, &j->body);
}

void jfr_calls(struct jfr *j, const struct profile_query *q)
{
	struct calls_query calls = {.from_ns = q->from * NS_PER_S,
		.to_ns = q->to == UINT32_MAX ? UINT64_MAX : q->to * NS_PER_S};

	calls_each(j->p, &calls, calls_add, j);
}
