/* SPDX-License-Identifier: Apache-2.0 */
/* Merging profiles: events by name, threads by name and ids, seconds by wall clock if known. */
#include "import/feed.h"

#include "base/clock.h"
#include "profile/cut.h"
#include "profile/history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct merge {
	struct import im;
	const struct profile *from;
	struct feed_sample sample; /* its event and second */
	uint32_t *stacks;          /* for profile_copy_stack */
	struct err *err;
	int rc;
};

static void merge_part(void *ctx, const struct profile_part *part)
{
	struct merge *m = ctx;
	const struct profile_thread *t = profile_get_thread(m->from, part->thread);

	if (m->rc)
		return;
	m->sample.stack = profile_copy_stack(m->im.p, m->from, part->stack, m->stacks);
	m->sample.thread = *t->name || t->tid ? feed_thread(&m->im, t) : PROFILE_NONE;
	m->sample.state = part->state;
	m->sample.count = part->count;
	m->sample.weight = part->weight;
	m->rc = feed_sample(&m->im, &m->sample, m->err);
}

/* Merges an event's samples, or its samples of lock owners. first: the merged second of its second 0. */
static void merge_event(struct merge *m, int event, bool holders, uint32_t first)
{
	struct profile_query q = profile_whole(event);
	struct profile_info info = profile_info(m->from);

	q.holders = m->sample.holders = holders;
	for (uint32_t s = 0; (s = profile_next_retained(m->from, s)) <= info.now && !m->rc; s++) {
		q.from = s;
		q.to = s + 1;
		m->sample.second = first + s;
		profile_each(m->from, &q, merge_part, m);
		if (!holders)
			profile_copy_pulse(m->im.p, m->sample.event, m->sample.second, m->from, &q);
	}
}

/* Merges the spans of an event's samples. */
static void merge_links(struct merge *m, int event, uint32_t first)
{
	uint64_t number, end = profile_links(m->from, &number);

	for (; number < end; number++) {
		struct profile_link link = *profile_get_link(m->from, number);

		if (link.event != (uint32_t)event)
			continue;
		link.event = (uint32_t)m->sample.event;
		link.second += first;
		link.stack = profile_copy_stack(m->im.p, m->from, link.stack, m->stacks);
		link.thread = feed_thread(&m->im, profile_get_thread(m->from, link.thread));
		profile_add_link(m->im.p, &link);
	}
}

static void merge_events(struct merge *m, const struct imported *from, uint32_t first)
{
	for (int event = 0; event < PROFILE_EVENTS && !m->rc; event++) {
		const struct profile_query q = profile_whole(event);
		const struct profile_event *e = profile_get_event(m->from, event);
		struct profile_intervals every = profile_get_intervals(m->from, event);

		if (!profile_sum(m->from, &q).count)
			continue;
		m->sample.event = feed_event(&m->im, e->name, e->unit, every.least, m->err);
		m->rc = m->sample.event < 0 ? -1 : 0;
		if (m->rc)
			return;
		profile_interval_add(m->im.p, m->sample.event, every.most);
		struct vitals_event *v = &m->im.out->vitals.events[m->sample.event];
		v->lost += from->vitals.events[event].lost;
		memcpy(v->engine, from->vitals.events[event].engine, sizeof(v->engine));
		merge_event(m, event, false, first);
		merge_links(m, event, first);
		if (event == EVENT_LOCK)
			merge_event(m, event, true, first);
	}
}

static void merge_text(char *to, size_t bytes, const char *text, bool first)
{
	if (first)
		snprintf(to, bytes, "%s", text);
	else if (strcmp(to, text) != 0)
		*to = '\0';
}

static int merge_one(struct merge *m, const struct imported *from, uint64_t start, bool first)
{
	struct imported *to = m->im.out;
	uint64_t own = profile_info(from->profile).start_wall_ns;
	uint64_t begin_ns = from->timed && own ? own - start : 0;

	if (begin_ns / NS_PER_S > FEED_SECONDS)
		return err_set(m->err, ERR_INPUT,
			"These files are more than %d days apart and cannot be shown on one time "
			"axis.",
			FEED_SECONDS / (24 * 3600));
	/* Keep the metadata on which all files agree. */
	struct vitals *v = &to->vitals;
	merge_text(v->name, sizeof(v->name), from->vitals.name, first);
	merge_text(v->jdk, sizeof(v->jdk), from->vitals.jdk, first);
	merge_text(v->vm, sizeof(v->vm), from->vitals.vm, first);
	merge_text(v->command, sizeof(v->command), from->vitals.command, first);
	merge_text(to->host, sizeof(to->host), from->host, first);
	v->pid = first || v->pid == from->vitals.pid ? from->vitals.pid : 0;
	for (int i = 0; i < from->label_count && to->label_count < IMPORT_LABELS; i++) {
		bool known = false;
		for (int k = 0; k < to->label_count; k++)
			known |= !strcmp(to->labels[k], from->labels[i]);
		if (!known)
			to->labels[to->label_count++] = xstrdup(from->labels[i]);
	}
	m->from = from->profile;
	m->stacks = xcalloc(profile_info(m->from).stacks, sizeof(*m->stacks));
	merge_events(m, from, (uint32_t)(begin_ns / NS_PER_S));
	free(m->stacks);
	if (!from->timed)
		to->duration_ns += from->duration_ns;
	else if (begin_ns + from->duration_ns > to->duration_ns)
		to->duration_ns = begin_ns + from->duration_ns;
	return m->rc;
}

struct imported *import_merge(struct imported *const *list, int count,
	const struct import_options *options, struct err *err)
{
	struct merge m = {.err = err};
	struct imported *out = feed_begin(&m.im, "", options);
	uint64_t start = 0; /* the earliest known start; 0: none is known */

	for (int i = 0; i < count; i++) {
		uint64_t one = profile_info(list[i]->profile).start_wall_ns;
		if (one && (!start || one < start))
			start = one;
	}
	profile_set_start(m.im.p, start);
	out->format = list[0]->format;
	for (int i = 0; i < count && !m.rc; i++) {
		out->timed |= list[i]->timed;
		m.rc = merge_one(&m, list[i], start, !i);
	}
	if (!m.rc)
		m.rc = feed_check(&m.im, err);
	feed_end(&m.im);
	if (m.rc) {
		import_free(out);
		return NULL;
	}
	return out;
}
