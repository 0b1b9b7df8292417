/* SPDX-License-Identifier: Apache-2.0 */
/* A function per type of chunk. */
#include "recording/second.h"

#include "base/hash.h"

#include <stdlib.h>

/* --- everything but samples ------------------------------------------------------------ */

void second_flush_ids(struct second *s)
{
	if (s->ids.restarted)
		out_write(s->out, CHUNK_FORGET, &s->out->chunk);
	s->ids.restarted = false;
	out_write_nonempty(s->out, CHUNK_METHODS, &s->ids.methods_out);
	out_write_nonempty(s->out, CHUNK_FRAMES, &s->ids.frames_out);
	out_write_nonempty(s->out, CHUNK_STACKS, &s->ids.stacks_out);
	out_write_nonempty(s->out, CHUNK_THREADS, &s->ids.threads_out);
}

static void write_event(struct second *s, int event)
{
	const struct profile_event *e = profile_get_event(s->profile, event);

	if (e == &profile_events[event])
		return;
	uint64_t hash =
		hash_bytes(e->unit, strlen(e->unit), hash_bytes(e->name, strlen(e->name), 1));
	hash = hash_pair(hash, e->default_interval) | 1;
	if (s->events[event] == hash)
		return;
	s->events[event] = hash;
	s->runs[event] = (struct written_run){0};
	s->intervals[event] = (struct profile_intervals){0};
	format_add(&s->out->chunk, (unsigned)event);
	format_add_text(&s->out->chunk, e->name);
	format_add_text(&s->out->chunk, e->unit);
	format_add(&s->out->chunk, e->default_interval);
	out_write(s->out, CHUNK_EVENT, &s->out->chunk);
}

static void write_intervals(struct second *s, int event)
{
	struct profile_intervals i = profile_get_intervals(s->profile, event);

	if (i.least == s->intervals[event].least && i.most == s->intervals[event].most)
		return;
	s->intervals[event] = i;
	OUT(s->out, CHUNK_INTERVAL, (unsigned)event, i.least, i.most);
}

/* The starts and stops of sampling up to this second that are not in the file yet. */
static void write_runs(struct second *s, int event, uint32_t second)
{
	struct written_run *t = &s->runs[event];
	struct profile_run r, next;

	while (profile_get_run(s->profile, event, t->run, &r) && r.from <= second) {
		if (!t->on || (t->off && r.to > t->off)) {
			OUT(s->out, CHUNK_RUN, (unsigned)event, t->off ? t->off : r.from, 1);
			t->on = true;
			t->off = 0;
		}
		if (!t->off && r.to != UINT32_MAX && r.to - 1 <= second) {
			OUT(s->out, CHUNK_RUN, (unsigned)event, r.to - 1, 0);
			t->off = r.to;
		}
		if (!t->off || !profile_get_run(s->profile, event, t->run + 1, &next))
			break;
		*t = (struct written_run){.run = t->run + 1};
	}
}

static void write_waits(struct second *s)
{
	uint64_t count = profile_wait_count(s->profile);

	if (count && !s->waits)
		s->waits = xcalloc(PROFILE_WAITS, sizeof(*s->waits));
	for (uint64_t i = count > PROFILE_WAITS ? count - PROFILE_WAITS : 0; i < count; i++) {
		struct written_wait *w = &s->waits[i % PROFILE_WAITS];
		struct profile_wait wait = {
			.thread = 0}; /* so that its padding, which is hashed, is 0 */
		struct buf *out = &s->out->chunk;

		if (!profile_get_wait(s->profile, i, &wait))
			continue;
		uint64_t hash = hash_pair((uint64_t)wait.owner << 32 | wait.method, wait.until_ns);
		hash = hash_pair(hash, hash_pair(wait.before_ns, wait.at_least));
		if (w->id == i + 1 && w->hash == hash)
			continue;
		*w = (struct written_wait){i + 1, hash};
		format_add(out, file_ids_thread(&s->ids, s->profile, wait.thread));
		format_add(out, wait.owner == PROFILE_NONE
					? 0
					: file_ids_thread(&s->ids, s->profile, wait.owner) + 1ull);
		format_add(out, wait.method == PROFILE_NONE
					? 0
					: file_ids_method(&s->ids, s->profile, wait.method) + 1ull);
		format_add(out, wait.lock);
		format_add(out, wait.since_ns);
		format_add(out,
			wait.until_ns == PROFILE_STILL ? 0 : wait.until_ns - wait.since_ns + 1);
		format_add(out, wait.before_ns);
		format_add(out, wait.at_least);
	}
	struct buf waits = s->out->chunk;
	s->out->chunk = (struct buf){0};
	second_flush_ids(s);
	out_write_nonempty(s->out, CHUNK_WAITS, &waits);
	buf_done(&waits);
}

void second_write_vitals(struct second *s, enum format_type type, const struct vitals *v)
{
	struct buf fields = {0}, vitals = {0};

	fields_write(&s->fields, v, &fields, &vitals);
	out_write_nonempty(s->out, CHUNK_FIELDS, &fields);
	out_write(s->out, type, &vitals);
	buf_done(&fields);
	buf_done(&vitals);
}

/* --- samples ----------------------------------------------------------------------------------------- */

static void add_part(void *ctx, const struct profile_part *part)
{
	struct second *s = ctx;

	s->parts = xgrow(s->parts, s->part_count, &s->part_cap, sizeof(*s->parts));
	s->parts[s->part_count++] = (struct written_part){
		part->stack, part->thread, part->state, part->count, part->weight};
}

static int part_compare(const void *a, const void *b)
{
	const struct written_part *x = a, *y = b;

	if (x->stack != y->stack)
		return x->stack < y->stack ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->state < y->state ? -1 : x->state > y->state;
}

static void write_samples(struct second *s, int event, bool holders, uint32_t from, uint32_t to)
{
	enum format_type type = holders ? CHUNK_HOLDERS : CHUNK_SAMPLES;
	const struct file_ids *ids = &s->ids;
	struct profile_query q = profile_whole(event);
	uint32_t before = 0;

	q.holders = holders;
	q.from = from;
	q.to = to;
	s->part_count = 0;
	profile_each(s->profile, &q, add_part, s);
	for (uint32_t i = 0; i < s->part_count; i++) {
		struct written_part *part = &s->parts[i];

		part->stack = file_ids_stack(&s->ids, s->profile, part->stack);
		part->thread = file_ids_thread(&s->ids, s->profile, part->thread);
		if (ids->methods_out.len + ids->frames_out.len + ids->stacks_out.len +
				ids->threads_out.len >=
			FORMAT_PIECE)
			second_flush_ids(s);
	}
	second_flush_ids(s);
	if (s->part_count)
		qsort(s->parts, s->part_count, sizeof(*s->parts), part_compare);
	for (uint32_t i = 0; i < s->part_count; i++) {
		const struct written_part *part = &s->parts[i];

		if (!s->out->chunk.len) {
			format_add(&s->out->chunk, (unsigned)event);
			before = 0;
		}
		format_add_signed(&s->out->chunk, (int64_t)part->stack - before);
		format_add(&s->out->chunk, part->thread);
		format_add(&s->out->chunk, part->state);
		format_add(&s->out->chunk, part->count);
		format_add(&s->out->chunk, part->weight);
		before = part->stack;
		if (s->out->chunk.len >= FORMAT_PIECE)
			out_write(s->out, type, &s->out->chunk);
	}
	out_write_nonempty(s->out, type, &s->out->chunk);
}

/* Links of a profile that was merged from others are in no order. */
static void write_links(struct second *s, uint32_t from, uint32_t to)
{
	uint64_t first, end = profile_links(s->profile, &first);
	struct buf links = {0};

	for (; first < end; first++) {
		struct profile_link link = *profile_get_link(s->profile, first);

		if (link.second < from || link.second >= to)
			continue;
		format_add(&links, link.event);
		format_add(&links, file_ids_stack(&s->ids, s->profile, link.stack));
		format_add(&links, file_ids_thread(&s->ids, s->profile, link.thread));
		format_add(&links, link.state);
		format_add(&links, link.count);
		format_add(&links, link.weight);
		format_add(&links, sizeof(link.trace_id) + sizeof(link.span_id));
		buf_add(&links, link.trace_id, sizeof(link.trace_id));
		buf_add(&links, link.span_id, sizeof(link.span_id));
	}
	second_flush_ids(s);
	out_write_nonempty(s->out, CHUNK_LINKS, &links);
	buf_done(&links);
}

void second_write(struct second *s, uint32_t from, uint32_t to)
{
	uint64_t process_ns = profile_process_ns(s->profile, from, to);
	const struct vitals_second *kept = profile_vitals(s->profile, from);
	struct vitals v = s->vitals;

	OUT(s->out, CHUNK_SECOND, from);
	file_ids_sync(&s->ids, s->profile);
	file_ids_threads(&s->ids, s->profile);
	for (int e = 0; e < PROFILE_EVENTS; e++) {
		write_event(s, e);
		write_intervals(s, e);
		write_runs(s, e, to - 1);
		write_samples(s, e, false, from, to);
	}
	write_samples(s, EVENT_LOCK, true, from, to);
	write_links(s, from, to);
	uint8_t parts[PROFILE_PULSE];
	for (unsigned e = 0; e < PROFILE_EVENTS; e++) {
		if (!profile_pulse(s->profile, (int)e, from, parts))
			continue;
		format_add(&s->out->chunk, e);
		for (int i = 0; i < PROFILE_PULSE; i++)
			format_add(&s->out->chunk, parts[i]);
	}
	out_write_nonempty(s->out, CHUNK_PULSE, &s->out->chunk);
	if (process_ns)
		OUT(s->out, CHUNK_PROCESS, process_ns);
	/* Gaps that are new or have grown. */
	struct profile_run gap;
	uint32_t count = 0, i;
	while (profile_get_gap(s->profile, count, &gap))
		count++;
	for (i = count; i > 0 && profile_get_gap(s->profile, i - 1, &gap); i--)
		if (gap.to <= s->gap.to)
			break;
	for (; profile_get_gap(s->profile, i, &gap); i++) {
		OUT(s->out, CHUNK_GAP, gap.from, gap.to);
		s->gap = gap;
	}
	write_waits(s);
	second_write_calls(s, to - (to > from), false);
	if (kept) {
		vitals_restore(&v, kept);
		second_write_vitals(s, CHUNK_VITALS, &v);
	}
}

void second_write_runs(struct second *s)
{
	for (int e = 0; e < PROFILE_EVENTS; e++)
		write_runs(s, e, UINT32_MAX);
}

void second_done(struct second *s)
{
	file_ids_done(&s->ids);
	free(s->waits);
	free(s->parts);
	calls_written_done(&s->calls);
}
