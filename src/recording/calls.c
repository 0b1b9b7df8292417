/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chunks of measured calls. A call is written once it has ended; at the end of the recording, also
 * those in progress.
 */
#include "recording/reader.h"
#include "recording/second.h"

#include "base/clean.h"
#include "base/clock.h"

#include <stdlib.h>

#define CALL_FLAGS(call)                                                                       \
	((call)->counted | (unsigned)(call)->inlined << 1 | (unsigned)(call)->uncertain << 2 | \
		((call)->weight > 1 ? (uint64_t)(call)->weight << 3 : 0))
#define TIME_MAX_NS  (UINT32_MAX * NS_PER_S)
#define CELLS        (NS_PER_S / CALLS_CELL_NS)
#define CALL_PENDING 4096u /* unwritten calls in progress that are looked for again */

void calls_written_done(struct calls_written *w)
{
	free(w->pending);
	free(w->polls);
}

static void add_call(struct second *s, const struct call *call)
{
	struct calls_written *w = &s->calls;
	struct buf *out = &s->out->chunk;

	w->polls = w->polls ? w->polls : xcalloc(CALLS_POLLS, sizeof(*w->polls));
	uint32_t count = calls_polls(s->profile, call->number, w->polls, CALLS_POLLS);
	format_add(out, file_ids_thread(&s->ids, s->profile, call->thread));
	format_add(out, CALL_FLAGS(call));
	format_add(out, call->gap_ns);
	format_add(out, call->begin_from);
	format_add(out, call->begin_to - call->begin_from);
	format_add(out, call->end_from - call->begin_to);
	format_add(out, call->end_to == UINT64_MAX ? 0 : call->end_to - call->end_from + 1);
	for (unsigned i = 0; i < CALL_STATES; i++)
		format_add(out, call->state_ns[i]);
	format_add(out, count);
	for (uint32_t i = 0; i < count; i++) {
		format_add(
			out, (i ? w->polls[i - 1].time_ns : call->end_from) - w->polls[i].time_ns);
		format_add(out, w->polls[i].still_ns - w->polls[i].time_ns);
		format_add(out, w->polls[i].cpu_ns);
		format_add(out, w->polls[i].delay_ns);
		format_add(out, file_ids_stack(&s->ids, s->profile, w->polls[i].stack));
		format_add(out, w->polls[i].state);
	}
}

/* Adds the call if it has ended, or if this is the end; else it is pending. */
static void write_call(struct second *s, uint64_t number, bool last)
{
	struct calls_written *w = &s->calls;
	struct call call;

	if (!calls_get(s->profile, number, &call))
		return;
	if (!last && call.end_to == UINT64_MAX) {
		if (w->count < CALL_PENDING) {
			w->pending = xgrow(w->pending, w->count, &w->cap, sizeof(*w->pending));
			w->pending[w->count++] = number;
		}
		return;
	}
	add_call(s, &call);
}

static void write_entries(struct second *s, uint32_t second)
{
	struct calls_written *w = &s->calls;
	uint64_t end = ((uint64_t)second + 1) * CELLS;

	for (; w->cell < end; w->cell++) {
		uint32_t entries = calls_entries(s->profile, w->cell);

		if (!entries)
			continue;
		format_add(&s->out->chunk, w->cell);
		format_add(&s->out->chunk, entries);
	}
	out_write_nonempty(s->out, CHUNK_ENTRIES, &s->out->chunk);
}

void second_write_calls(struct second *s, uint32_t second, bool last)
{
	struct calls_written *w = &s->calls;
	uint32_t generation = calls_generation(s->profile), pending = w->count;
	uint64_t first, end;

	if (!generation)
		return;
	calls_range(s->profile, &first, &end);
	if (w->generation != generation) {
		w->generation = generation;
		w->next = w->cell = 0;
		w->count = pending = 0;
		format_add_text(&s->out->chunk, calls_name(s->profile));
		format_add(&s->out->chunk, calls_interval(s->profile));
		out_write(s->out, CHUNK_MEASURED, &s->out->chunk);
	}
	w->count = 0;
	for (uint32_t i = 0; i < pending; i++)
		write_call(s, w->pending[i], last);
	for (w->next = w->next > first ? w->next : first; w->next < end; w->next++)
		write_call(s, w->next, last);
	struct buf calls = s->out->chunk;
	s->out->chunk = (struct buf){0};
	second_flush_ids(s);
	out_write_nonempty(s->out, CHUNK_CALLS, &calls);
	buf_done(&calls);
	write_entries(s, second);
}

/* --- reading --------------------------------------------------------------------------------- */

void chunks_read_measured(struct recording *r, struct format_cursor *c)
{
	char name[512];
	size_t bytes;
	const char *text = format_get_text(c, &bytes);
	uint64_t interval = format_get_most(c, TIME_MAX_NS);

	clean_text(name, sizeof(name), text, bytes);
	if (!c->bad)
		calls_begin(r->profile, name, interval);
}

static uint64_t time_get(struct format_cursor *c, uint64_t from)
{
	uint64_t ns = format_get_most(c, TIME_MAX_NS);

	c->bad |= from + ns > TIME_MAX_NS;
	return from + ns;
}

void chunks_read_calls(struct recording *r, struct format_cursor *c)
{
	while (format_more(c)) {
		uint64_t thread = format_get(c), flags = format_get(c);
		struct call call = {.counted = flags & 1,
			.inlined = flags & 2,
			.uncertain = flags & 4,
			.weight = flags >> 3 ? (uint32_t)(flags >> 3) : 1};
		struct call_poll *polls;

		c->bad |= thread >= r->threads.count;
		if (c->bad)
			return;
		call.thread = r->threads.list[thread];
		call.gap_ns = format_get_most(c, TIME_MAX_NS);
		call.begin_from = time_get(c, 0);
		call.begin_to = time_get(c, call.begin_from);
		call.end_from = time_get(c, call.begin_to);
		uint64_t lasts = format_get_most(c, TIME_MAX_NS);
		call.end_to = lasts ? call.end_from + lasts - 1 : UINT64_MAX;
		for (unsigned i = 0; i < CALL_STATES; i++)
			call.state_ns[i] = format_get_most(c, TIME_MAX_NS);
		/* A poll has at least six bytes. */
		uint32_t count = (uint32_t)format_get_most(c, (uint64_t)(c->end - c->at) / 6);
		c->bad |= count > CALLS_POLLS;
		if (c->bad)
			return;
		call.polls = count;
		polls = xcalloc(count + 1, sizeof(*polls));
		uint64_t before_ns = call.end_from;
		for (uint32_t i = 0; i < count && !c->bad; i++) {
			struct call_poll *poll = &polls[i];
			uint64_t back = format_get_most(c, before_ns);
			poll->time_ns = before_ns - back;
			poll->still_ns = time_get(c, poll->time_ns);
			poll->cpu_ns = format_get(c);
			poll->delay_ns = format_get(c);
			uint64_t stack = format_get(c);
			c->bad |= stack && stack >= r->stacks.count;
			poll->state = (enum call_state)format_get_most(c, CALL_STATES - 1);
			if (!c->bad)
				poll->stack = stack ? r->stacks.list[stack] : PROFILE_ROOT_STACK;
			before_ns = poll->time_ns;
		}
		if (!c->bad)
			calls_restore(r->profile, &call, polls, count);
		free(polls);
	}
}

void chunks_read_entries(struct recording *r, struct format_cursor *c)
{
	while (format_more(c)) {
		uint64_t cell = format_get_most(c, UINT32_MAX * CELLS);
		uint32_t entries = (uint32_t)format_get_most(c, UINT32_MAX);

		if (!c->bad)
			calls_entries_restore(r->profile, cell, entries);
	}
}
