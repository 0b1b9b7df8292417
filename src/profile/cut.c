/* SPDX-License-Identifier: Apache-2.0 */
/* Copies a span second by second, through the functions that a feeder and an exporter use. */
#include "profile/cut.h"

#include "base/buf.h"
#include "base/clock.h"
#include "profile/history.h"

#include <stdlib.h>

#define CUT_CHAIN 64

/*
 * Each round copies up to CUT_CHAIN frames, from the last one that is known towards the leaf.
 * copies: the id in `to`, + 1.
 */
uint32_t profile_copy_stack(
	struct profile *to, const struct profile *from, uint32_t stack, uint32_t *copies)
{
	uint32_t chain[CUT_CHAIN], at;

	for (;;) {
		uint32_t depth = 0;
		for (at = stack; at != PROFILE_ROOT_STACK && !copies[at];
			at = profile_get_stack(from, at).parent)
			chain[depth++ % CUT_CHAIN] = at;
		uint32_t copy = at == PROFILE_ROOT_STACK ? at : copies[at] - 1;
		if (!depth)
			return copy;
		for (unsigned i = 0; i < CUT_CHAIN && i < depth; i++) {
			at = chain[(depth - 1 - i) % CUT_CHAIN];
			const struct profile_frame *f =
				profile_get_frame(from, profile_get_stack(from, at).frame);
			const struct profile_method *m = profile_get_method(from, f->method);
			uint32_t method =
				profile_method(to, m->class_name, m->name, m->signature, m->module);
			copy = profile_stack_child(
				to, copy, profile_frame(to, method, f->type, f->bci, f->line));
			copies[at] = copy + 1;
		}
	}
}

void profile_copy_pulse(struct profile *to, int event, uint32_t second, const struct profile *from,
	const struct profile_query *q)
{
	uint64_t weight = profile_sum(from, q).weight, all = 0;
	uint8_t parts[PROFILE_PULSE];

	if (!profile_pulse(from, q->event, q->from, parts))
		return;
	for (int i = 0; i < PROFILE_PULSE; i++)
		all += parts[i];
	for (uint64_t i = 0; i < PROFILE_PULSE; i++) {
		uint64_t at = second * NS_PER_S + i * (NS_PER_S / PROFILE_PULSE);

		profile_add_pulse(
			to, event, at, at, (uint64_t)((double)weight * parts[i] / (double)all));
	}
}

struct cut {
	const struct profile *from;
	struct profile *to;
	uint32_t begin, end; /* the span, in seconds of `from` */
	bool open;           /* it extends beyond the last second begun */
	uint32_t *stacks;    /* for profile_copy_stack */
	uint32_t *threads;   /* by thread of `from`: its id in `to` */
	uint32_t thread_count;

	/* of the samples being copied */
	int event;
	uint32_t second; /* of `to` */
	bool holders;
};

/* A thread without attributes gets its id when it is used. */
static uint32_t cut_thread(const struct cut *c, uint32_t thread)
{
	if (thread >= c->thread_count)
		return PROFILE_NONE;
	if (c->threads[thread] == PROFILE_NONE)
		c->threads[thread] = profile_thread_new(c->to);
	return c->threads[thread];
}

struct cut_started {
	uint32_t serial, id;
};

static int started_compare(const void *a, const void *b)
{
	const struct cut_started *x = a, *y = b;

	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

/* In the order in which the threads started, which ids do not follow: those of ended threads are reused. */
static void cut_threads(struct cut *c)
{
	struct cut_started *order;
	uint32_t count = 0;

	c->thread_count = profile_thread_count(c->from);
	c->threads = xcalloc((size_t)c->thread_count + 1, sizeof(*c->threads));
	order = xcalloc((size_t)c->thread_count + 1, sizeof(*order));
	for (uint32_t id = 0; id < c->thread_count; id++) {
		uint32_t serial = profile_get_thread(c->from, id)->serial;

		c->threads[id] = PROFILE_NONE;
		if (serial)
			order[count++] = (struct cut_started){serial, id};
	}
	qsort(order, count, sizeof(*order), started_compare);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t id = cut_thread(c, order[i].id);

		profile_thread_set(c->to, id, profile_get_thread(c->from, order[i].id));
	}
	free(order);
}

static void cut_part(void *ctx, const struct profile_part *part)
{
	struct cut *c = ctx;
	const struct profile_sample sample = {
		.stack = profile_copy_stack(c->to, c->from, part->stack, c->stacks),
		.thread = cut_thread(c, part->thread),
		.state = part->state,
		.count = (uint32_t)part->count,
		.weight = part->weight,
	};

	if (c->holders)
		profile_add_holder(c->to, c->second, &sample);
	else
		profile_add_sample(c->to, c->event, c->second, &sample);
}

static void cut_events(struct cut *c)
{
	struct profile_run r;

	for (int event = 0; event < PROFILE_EVENTS; event++) {
		const struct profile_event *e = profile_get_event(c->from, event);
		struct profile_intervals every = profile_get_intervals(c->from, event);

		if (event >= EVENT_USER_FIRST && e != &profile_events[event])
			profile_event_set(c->to, event, e->name, e->unit, e->default_interval);
		if (every.least) {
			profile_interval_add(c->to, event, every.least);
			profile_interval_add(c->to, event, every.most);
		}
		for (uint32_t i = 0; profile_get_run(c->from, event, i, &r); i++) {
			if (r.to <= c->begin || r.from >= c->end)
				continue;
			profile_event_runs(
				c->to, event, r.from > c->begin ? r.from - c->begin : 0, true);
			if (r.to <= c->end)
				profile_event_runs(c->to, event, r.to - 1 - c->begin, false);
		}
	}
	for (uint32_t i = 0; profile_get_gap(c->from, i, &r); i++)
		if (r.to > c->begin && r.from < c->end)
			profile_gap(c->to, r.from > c->begin ? r.from - c->begin : 0,
				(r.to < c->end ? r.to : c->end) - c->begin);
}

/*
 * A wait that crosses the beginning of the span keeps its duration before it. One that crosses the
 * end lasts until the end, or, if the span has no end yet, still lasts.
 */
static void cut_waits(struct cut *c)
{
	const uint64_t begin_ns = c->begin * NS_PER_S, end_ns = c->end * NS_PER_S;
	uint64_t count = profile_wait_count(c->from);
	struct profile_wait w;

	for (uint64_t i = count > PROFILE_WAITS ? count - PROFILE_WAITS : 0; i < count; i++) {
		if (!profile_get_wait(c->from, i, &w) || w.since_ns >= end_ns ||
			w.until_ns <= begin_ns)
			continue;
		w.thread = cut_thread(c, w.thread);
		if (w.thread == PROFILE_NONE)
			continue;
		w.owner = cut_thread(c, w.owner);
		if (w.method != PROFILE_NONE) {
			const struct profile_method *m = profile_get_method(c->from, w.method);

			w.method = profile_method(
				c->to, m->class_name, m->name, m->signature, m->module);
		}
		if (w.since_ns < begin_ns) {
			w.before_ns += begin_ns - w.since_ns;
			w.since_ns = begin_ns;
		}
		if (w.until_ns != PROFILE_STILL || !c->open)
			w.until_ns = (w.until_ns < end_ns ? w.until_ns : end_ns) - begin_ns;
		w.since_ns -= begin_ns;
		profile_wait_set(c->to, &w);
	}
}

static void cut_links(struct cut *c)
{
	uint64_t first, end = profile_links(c->from, &first);

	for (; first < end; first++) {
		struct profile_link link = *profile_get_link(c->from, first);

		if (link.second < c->begin || link.second >= c->end)
			continue;
		link.second -= c->begin;
		link.stack = profile_copy_stack(c->to, c->from, link.stack, c->stacks);
		link.thread = cut_thread(c, link.thread);
		profile_add_link(c->to, &link);
	}
}

struct profile *profile_cut(const struct profile *p, uint32_t from, uint32_t to)
{
	struct profile_info info = profile_info(p);
	struct cut c = {.from = p, .to = profile_new(), .begin = from};

	c.end = to < info.now + 1 ? to : info.now + 1;
	c.open = to > info.now;
	if (c.end < from)
		c.end = from;
	const struct vitals_second *first = profile_vitals_next(p, from);
	c.stacks = xcalloc((size_t)info.stacks + 1, sizeof(*c.stacks));
	profile_set_budget(c.to, SIZE_MAX);
	profile_set_history(c.to, UINT32_MAX);
	if (info.start_wall_ns)
		profile_set_start(c.to, info.start_wall_ns + from * NS_PER_S);
	cut_threads(&c);
	cut_events(&c);
	for (uint32_t s = from; s < c.end; s++) {
		uint64_t process_ns = profile_process_ns(p, s, s + 1);
		const struct vitals_second *kept = profile_vitals(p, s);

		c.second = s - from;
		profile_advance(c.to, c.second);
		for (int event = 0; event < PROFILE_EVENTS; event++) {
			struct profile_query q = profile_whole(event);
			q.from = s;
			q.to = s + 1;
			c.event = event;
			c.holders = false;
			profile_each(c.from, &q, cut_part, &c);
			profile_copy_pulse(c.to, event, c.second, c.from, &q);
			if (event != EVENT_LOCK)
				continue;
			c.holders = q.holders = true;
			profile_each(c.from, &q, cut_part, &c);
		}
		if (process_ns)
			profile_add_process(c.to, c.second, process_ns);
		if (kept)
			profile_vitals_copy(c.to, kept, first);
	}
	cut_waits(&c);
	cut_links(&c);
	free(c.stacks);
	free(c.threads);
	return c.to;
}
