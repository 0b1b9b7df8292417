/* SPDX-License-Identifier: Apache-2.0 */
/* The whole content of a profile as text, with names instead of ids: equal texts mean equal profiles. */
#ifndef JHOT_TESTS_RECORDING_SAME_H
#define JHOT_TESTS_RECORDING_SAME_H

#include "base/buf.h"
#include "profile/history.h"
#include "profile/vitals.h"

#include <stdlib.h>
#include <string.h>

struct same {
	const struct profile *p;
	struct buf *out;
	char **lines;
	uint32_t count, cap;
};

static inline void same_thread(const struct profile *p, struct buf *out, uint32_t thread)
{
	const struct profile_thread *t = profile_get_thread(p, thread);

	buf_printf(out, "<%s tid %d kind %d java %lld carrier %d>", t->name, t->tid, (int)t->kind,
		(long long)t->java_tid, t->carrier);
}

static inline void same_part(void *ctx, const struct profile_part *part)
{
	struct same *s = ctx;
	struct buf line = {0};

	for (uint32_t at = part->stack; at != PROFILE_ROOT_STACK;
		at = profile_get_stack(s->p, at).parent) {
		const struct profile_frame *f =
			profile_get_frame(s->p, profile_get_stack(s->p, at).frame);
		const struct profile_method *m = profile_get_method(s->p, f->method);

		buf_printf(&line, "%s|%s|%s|%s/%d/%d/%d;", m->class_name, m->name, m->signature,
			m->module, f->type, f->bci, f->line);
	}
	same_thread(s->p, &line, part->thread);
	buf_printf(&line, " state %d: %llu %llu\n", (int)part->state,
		(unsigned long long)part->count, (unsigned long long)part->weight);
	s->lines = xgrow(s->lines, s->count, &s->cap, sizeof(*s->lines));
	s->lines[s->count++] = buf_steal(&line);
}

static inline int same_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Behind the events: what holders of locks did. */
#define SAME_HOLDERS (PROFILE_EVENTS + EVENT_LOCK)

static inline void same_seconds(
	const struct profile *p, struct buf *out, int event, uint32_t from, uint32_t to)
{
	struct same s = {.p = p, .out = out};
	struct profile_query q = profile_whole(event % PROFILE_EVENTS);

	q.holders = event >= PROFILE_EVENTS;
	q.from = from;
	q.to = to;
	profile_each(p, &q, same_part, &s);
	if (s.count)
		qsort(s.lines, s.count, sizeof(*s.lines), same_compare);
	for (uint32_t i = 0; i < s.count; i++) {
		buf_printf(out, "event %d second %u: %s", event, from, s.lines[i]);
		free(s.lines[i]);
	}
	free(s.lines);
}

static inline void same_wait(const struct profile *p, struct buf *out, const struct profile_wait *w)
{
	buf_adds(out, "wait ");
	same_thread(p, out, w->thread);
	if (w->owner != PROFILE_NONE)
		same_thread(p, out, w->owner);
	buf_printf(out, " %s lock %llu %llu-%llu before %llu %d\n",
		w->method == PROFILE_NONE ? "-" : profile_get_method(p, w->method)->full,
		(unsigned long long)w->lock, (unsigned long long)w->since_ns,
		(unsigned long long)w->until_ns, (unsigned long long)w->before_ns, w->at_least);
}

static inline int same_serial(const void *a, const void *b)
{
	const struct profile_thread *const *x = a, *const *y = b;

	return (*x)->serial < (*y)->serial ? -1 : 1;
}

/* Threads in the order in which they came. */
static inline void same_threads(const struct profile *p, struct buf *out)
{
	const struct profile_thread **list =
		xcalloc(profile_thread_count(p), sizeof(const struct profile_thread *));
	uint32_t n = 0;

	for (uint32_t i = 0; i < profile_thread_count(p); i++)
		if (profile_get_thread(p, i)->serial)
			list[n++] = profile_get_thread(p, i);
	if (n)
		qsort(list, n, sizeof(*list), same_serial);
	for (uint32_t i = 0; i < n; i++)
		buf_printf(out, "thread %s %d\n", list[i]->name, list[i]->tid);
	free(list);
}

static inline void same_event(const struct profile *p, struct buf *out, int event)
{
	const struct profile_event *e = profile_get_event(p, event);
	struct profile_intervals every = profile_get_intervals(p, event);
	struct profile_run run;

	buf_printf(out, "event %d %s %s %llu, %llu-%llu, each %llu\n", event, e->name, e->unit,
		(unsigned long long)e->default_interval, (unsigned long long)every.least,
		(unsigned long long)every.most,
		(unsigned long long)profile_sample_weight(p, event));
	for (uint32_t i = 0; profile_get_run(p, event, i, &run); i++)
		buf_printf(out, "run %u-%u\n", run.from, run.to);
}

/* The first told is not asked for: of what has left the history it is that of the first second that is held. */
static inline void same_vitals(const struct profile *p, struct buf *out, uint32_t second)
{
	const struct vitals_second *s = profile_vitals(p, second);

	if (s)
		buf_printf(out, "vitals %u: %llu cpu %d heap %lld of %lld gc %lld\n", second,
			(unsigned long long)s->time_ns, s->cpu_pct, (long long)s->heap_used,
			(long long)s->heap_committed, (long long)s->gc_time_ns);
}

static inline void same_pulse(const struct profile *p, struct buf *out, uint32_t second)
{
	uint8_t parts[PROFILE_PULSE];

	for (int e = 0; e < PROFILE_EVENTS; e++) {
		if (!profile_pulse(p, e, second, parts))
			continue;
		buf_printf(out, "event %d second %u in parts:", e, second);
		for (int i = 0; i < PROFILE_PULSE; i++)
			buf_printf(out, " %u", parts[i]);
		buf_adds(out, "\n");
	}
}

static inline void same_links(const struct profile *p, struct buf *out)
{
	uint64_t first, end = profile_links(p, &first);

	for (; first < end; first++) {
		const struct profile_link *l = profile_get_link(p, first);
		struct profile_stack leaf = profile_get_stack(p, l->stack);

		buf_printf(out, "link %u event %u of %s, %u frames,", l->second, l->event,
			profile_get_method(p, profile_get_frame(p, leaf.frame)->method)->full,
			leaf.depth);
		same_thread(p, out, l->thread);
		buf_printf(out, " state %d: %u %llu, ids %02x..%02x %02x..%02x\n", (int)l->state,
			l->count, (unsigned long long)l->weight, l->trace_id[0], l->trace_id[15],
			l->span_id[0], l->span_id[7]);
	}
}

/* samples_only: what a profile that has forgotten nothing tells of one that has merged and swept. */
static inline char *same_text(const struct profile *p, bool samples_only)
{
	struct profile_info info = profile_info(p);
	struct profile_wait w;
	struct profile_run gap;
	struct buf out = {0};

	buf_printf(&out, "now %u start %llu\n", info.now, (unsigned long long)info.start_wall_ns);
	if (!samples_only)
		buf_printf(&out, "oldest %u steps before %u\n", info.oldest, info.merged_before);
	for (int e = 0; e < PROFILE_EVENTS; e++) {
		same_event(p, &out, e);
		if (info.oldest)
			same_seconds(p, &out, e, 0, info.oldest);
		for (uint32_t s = info.oldest; s <= info.now; s++)
			same_seconds(p, &out, e, s, s + 1);
	}
	if (info.oldest)
		same_seconds(p, &out, SAME_HOLDERS, 0, info.oldest);
	for (uint32_t s = info.oldest; s <= info.now; s++)
		same_seconds(p, &out, SAME_HOLDERS, s, s + 1);
	for (uint32_t s = info.oldest; !samples_only && s <= info.now; s++)
		same_vitals(p, &out, s);
	for (uint32_t s = info.oldest; s <= info.now; s++)
		buf_printf(&out, "process %u: %llu\n", s,
			(unsigned long long)profile_process_ns(p, s, s + 1));
	for (uint32_t s = info.oldest; !samples_only && s <= info.now; s++)
		same_pulse(p, &out, s);
	for (uint32_t i = 0; profile_get_gap(p, i, &gap); i++)
		buf_printf(&out, "gap %u-%u\n", gap.from, gap.to);
	for (uint64_t i = 0; i < profile_wait_count(p); i++)
		if (profile_get_wait(p, i, &w))
			same_wait(p, &out, &w);
	if (!samples_only)
		same_links(p, &out);
	if (!samples_only)
		same_threads(p, &out);
	return buf_steal(&out);
}

#endif
