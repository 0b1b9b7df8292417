/* SPDX-License-Identifier: Apache-2.0 */
/* What a second of a profile has, as chunks: one function for each kind. */
#include "recording/second.h"

#include "base/hash.h"

#include <stdlib.h>

/* --- what a second has beside its samples ------------------------------------------------------------ */

/* What the buffers of struct told hold comes before what uses it. */
static void put_told(struct second *s)
{
	if (s->told.forgot)
		out_put(s->out, CHUNK_FORGET, &s->out->chunk);
	s->told.forgot = false;
	out_some(s->out, CHUNK_METHODS, &s->told.methods_out);
	out_some(s->out, CHUNK_FRAMES, &s->told.frames_out);
	out_some(s->out, CHUNK_STACKS, &s->told.stacks_out);
	out_some(s->out, CHUNK_THREADS, &s->told.threads_out);
}

static void put_told_if_much(struct second *s)
{
	const struct told *t = &s->told;

	if (t->methods_out.len + t->frames_out.len + t->stacks_out.len + t->threads_out.len >=
		FORMAT_PIECE)
		put_told(s);
}

static void write_event(struct second *s, int event)
{
	const struct profile_event *e = profile_get_event(s->profile, event);
	uint64_t hash;

	if (e == &profile_events[event])
		return;
	hash = hash_bytes(e->unit, strlen(e->unit), hash_bytes(e->name, strlen(e->name), 1));
	hash = hash_pair(hash, e->default_interval) | 1;
	if (s->events[event] == hash)
		return;
	s->events[event] = hash;
	s->runs[event] = (struct run_told){0};
	s->intervals[event] = (struct profile_intervals){0};
	format_put(&s->out->chunk, (unsigned)event);
	format_put_text(&s->out->chunk, e->name);
	format_put_text(&s->out->chunk, e->unit);
	format_put(&s->out->chunk, e->default_interval);
	out_put(s->out, CHUNK_EVENT, &s->out->chunk);
}

static void write_intervals(struct second *s, int event)
{
	struct profile_intervals i = profile_get_intervals(s->profile, event);

	if (i.least == s->intervals[event].least && i.most == s->intervals[event].most)
		return;
	s->intervals[event] = i;
	OUT(s->out, CHUNK_INTERVAL, (unsigned)event, i.least, i.most);
}

/* Where it began and ended, as far as that was not after this second. */
static void write_runs(struct second *s, int event, uint32_t second)
{
	struct run_told *t = &s->runs[event];
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
		*t = (struct run_told){.run = t->run + 1};
	}
}

/* Those at the end that are new, or longer than they were. */
static void write_gaps(struct second *s)
{
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
}

static void write_wait(struct second *s, uint64_t number)
{
	struct wait_told *told = &s->waits[number % PROFILE_WAITS];
	struct profile_wait wait = {.thread = 0}; /* its padding is part of the hash */
	uint64_t hash;
	struct buf *out = &s->out->chunk;

	if (!profile_get_wait(s->profile, number, &wait))
		return;
	hash = hash_pair((uint64_t)wait.owner << 32 | wait.method, wait.until_ns);
	hash = hash_pair(hash, hash_pair(wait.before_ns, wait.at_least));
	if (told->number == number + 1 && told->hash == hash)
		return;
	*told = (struct wait_told){number + 1, hash};
	format_put(out, told_thread(&s->told, s->profile, wait.thread));
	format_put(out, wait.owner == PROFILE_NONE
				? 0
				: told_thread(&s->told, s->profile, wait.owner) + 1ull);
	format_put(out, wait.method == PROFILE_NONE
				? 0
				: told_method(&s->told, s->profile, wait.method) + 1ull);
	format_put(out, wait.lock);
	format_put(out, wait.since_ns);
	format_put(out, wait.until_ns == PROFILE_STILL ? 0 : wait.until_ns - wait.since_ns + 1);
	format_put(out, wait.before_ns);
	format_put(out, wait.at_least);
}

static void write_waits(struct second *s)
{
	uint64_t count = profile_wait_count(s->profile);
	struct buf waits;

	if (count && !s->waits)
		s->waits = xcalloc(PROFILE_WAITS, sizeof(*s->waits));
	for (uint64_t i = count > PROFILE_WAITS ? count - PROFILE_WAITS : 0; i < count; i++)
		write_wait(s, i);
	waits = s->out->chunk;
	s->out->chunk = (struct buf){0};
	put_told(s);
	out_some(s->out, CHUNK_WAITS, &waits);
	buf_done(&waits);
}

void second_put_vitals(struct second *s, enum format_type type, const struct vitals *v)
{
	struct buf fields = {0}, vitals = {0};

	fields_tell(&s->fields, v, &fields, &vitals);
	out_some(s->out, CHUNK_FIELDS, &fields);
	out_put(s->out, type, &vitals);
	buf_done(&fields);
	buf_done(&vitals);
}

/* What the profile keeps of a second, and of the rest what was told last. */
static void write_vitals(struct second *s, uint32_t second)
{
	const struct vitals_second *kept = profile_vitals(s->profile, second);
	struct vitals v = s->vitals;

	if (!kept)
		return;
	vitals_restore(&v, kept);
	second_put_vitals(s, CHUNK_VITALS, &v);
}

/* --- samples ----------------------------------------------------------------------------------------- */

static void take_part(void *ctx, const struct profile_part *part)
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
	struct profile_query q = profile_whole(event);
	uint32_t before = 0;

	q.holders = holders;
	q.from = from;
	q.to = to;
	s->part_count = 0;
	profile_each(s->profile, &q, take_part, s);
	for (uint32_t i = 0; i < s->part_count; i++) {
		struct written_part *part = &s->parts[i];

		part->stack = told_stack(&s->told, s->profile, part->stack);
		part->thread = told_thread(&s->told, s->profile, part->thread);
		put_told_if_much(s);
	}
	put_told(s);
	if (s->part_count)
		qsort(s->parts, s->part_count, sizeof(*s->parts), part_compare);
	for (uint32_t i = 0; i < s->part_count; i++) {
		const struct written_part *part = &s->parts[i];

		if (!s->out->chunk.len) {
			format_put(&s->out->chunk, (unsigned)event);
			before = 0;
		}
		format_put_signed(&s->out->chunk, (int64_t)part->stack - before);
		format_put(&s->out->chunk, part->thread);
		format_put(&s->out->chunk, part->state);
		format_put(&s->out->chunk, part->count);
		format_put(&s->out->chunk, part->weight);
		before = part->stack;
		if (s->out->chunk.len >= FORMAT_PIECE)
			out_put(s->out, type, &s->out->chunk);
	}
	out_some(s->out, type, &s->out->chunk);
}

static void write_pulse(struct second *s, uint32_t second)
{
	uint8_t parts[PROFILE_PULSE];

	for (unsigned e = 0; e < PROFILE_EVENTS; e++) {
		if (!profile_pulse(s->profile, (int)e, second, parts))
			continue;
		format_put(&s->out->chunk, e);
		for (int i = 0; i < PROFILE_PULSE; i++)
			format_put(&s->out->chunk, parts[i]);
	}
	out_some(s->out, CHUNK_PULSE, &s->out->chunk);
}

void second_write(struct second *s, uint32_t from, uint32_t to)
{
	uint64_t process_ns = profile_process_ns(s->profile, from, to);

	OUT(s->out, CHUNK_SECOND, from);
	told_check(&s->told, s->profile);
	told_threads(&s->told, s->profile);
	for (int e = 0; e < PROFILE_EVENTS; e++) {
		write_event(s, e);
		write_intervals(s, e);
		write_runs(s, e, to - 1);
		write_samples(s, e, false, from, to);
	}
	write_samples(s, EVENT_LOCK, true, from, to);
	write_pulse(s, from);
	if (process_ns)
		OUT(s->out, CHUNK_PROCESS, process_ns);
	write_gaps(s);
	write_waits(s);
	write_vitals(s, from);
}

void second_put_runs(struct second *s)
{
	for (int e = 0; e < PROFILE_EVENTS; e++)
		write_runs(s, e, UINT32_MAX);
}

void second_done(struct second *s)
{
	told_done(&s->told);
	free(s->waits);
	free(s->parts);
}
