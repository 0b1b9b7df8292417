/* SPDX-License-Identifier: Apache-2.0 */
/* The content of chunks: one function and one table row per type. */
#include "recording/reader.h"

#include "base/clean.h"
#include "base/clock.h"
#include "profile/history.h"

#include <stdio.h>
#include <stdlib.h>

#define SECOND_MAX  (1u << 31)
#define COUNT_MAX   (1ull << 36) /* samples of one entry */
#define WEIGHT_MAX  (1ull << 60)
#define TIME_MAX_NS (SECOND_MAX * NS_PER_S)
#define TEXT_MOST   (2 * PROFILE_TEXT_MAX)
#define IDS_MAX     (1u << 25) /* of one kind, in a file */
#define PULSE_NS    (NS_PER_S / PROFILE_PULSE)
#define PULSE_MAX   PROFILE_PULSE_MOST

static void id_list_add(struct format_cursor *c, struct id_list *n, uint32_t id)
{
	c->bad |= n->count == IDS_MAX;
	if (c->bad)
		return;
	n->list = xgrow(n->list, n->count, &n->cap, sizeof(*n->list));
	n->list[n->count++] = id;
}

/* The profile's id for the next id of the file. An undefined one sets bad. */
static uint32_t id_get(struct format_cursor *c, const struct id_list *n)
{
	uint64_t id = format_get(c);

	c->bad |= id >= n->count;
	return c->bad ? PROFILE_NONE : n->list[id];
}

/* Reads an id + 1; 0 means none. */
static uint32_t id_get_or_none(struct format_cursor *c, const struct id_list *n)
{
	uint64_t id = format_get(c);

	c->bad |= id > n->count;
	return c->bad || !id ? PROFILE_NONE : n->list[id - 1];
}

static int event_get(struct format_cursor *c)
{
	return (int)format_get_most(c, PROFILE_EVENTS - 1);
}

static void read_meta(struct recording *r, struct format_cursor *c)
{
	while (format_more(c)) {
		char name[16], text[TEXTS_MAX];
		size_t bytes;
		const char *at = format_get_text(c, &bytes);

		clean_text(name, sizeof(name), at, bytes);
		at = format_get_text(c, &bytes);
		clean_text(text, sizeof(text), at, bytes);
		if (c->bad)
			return;
		if (!strcmp(name, "start_ns"))
			profile_set_start(r->profile, strtoull(text, NULL, 10));
		else if (!strcmp(name, "host"))
			snprintf(r->host, sizeof(r->host), "%s", text);
		else if (!strcmp(name, "label") && strchr(text, '=') > text &&
			 r->label_count < RECORDING_LABELS)
			r->labels[r->label_count++] = xstrdup(text);
	}
}

static void read_event(struct recording *r, struct format_cursor *c)
{
	int event = event_get(c);
	char name[64], unit[16];
	size_t bytes;
	const char *text = format_get_text(c, &bytes);

	clean_text(name, sizeof(name), text, bytes);
	text = format_get_text(c, &bytes);
	clean_text(unit, sizeof(unit), text, bytes);
	if (!c->bad)
		profile_event_set(r->profile, event, name, unit, format_get(c));
}

static void read_retained(struct recording *r, struct format_cursor *c)
{
	uint32_t oldest = (uint32_t)format_get_most(c, SECOND_MAX);
	uint32_t merged = (uint32_t)format_get_most(c, SECOND_MAX);

	c->bad |= r->timed;
	if (!c->bad)
		profile_set_retained(r->profile, oldest, merged);
}

/* Appends a text up to its first NUL; the model cleans and truncates it. */
static void text_add(struct buf *out, const char *text, size_t bytes)
{
	buf_add(out, text, strnlen(text, bytes < TEXT_MOST ? bytes : TEXT_MOST));
}

static void read_methods(struct recording *r, struct format_cursor *c)
{
	struct buf texts[4] = {{0}};

	while (format_more(c)) {
		for (int i = 0; i < 4; i++) {
			size_t bytes;
			const char *text = format_get_text(c, &bytes);

			buf_clear(&texts[i]);
			text_add(&texts[i], text, bytes);
		}
		if (!c->bad)
			id_list_add(c, &r->methods,
				profile_method(r->profile, buf_str(&texts[0]), buf_str(&texts[1]),
					buf_str(&texts[2]), buf_str(&texts[3])));
	}
	for (int i = 0; i < 4; i++)
		buf_done(&texts[i]);
}

static void read_frames(struct recording *r, struct format_cursor *c)
{
	while (format_more(c)) {
		uint32_t method = id_get(c, &r->methods);
		uint64_t type = format_get(c), bci = format_get_most(c, 0xffff);
		int64_t line = format_get_signed(c);

		c->bad |= line < INT32_MIN || line > INT32_MAX;
		if (c->bad)
			return;
		id_list_add(c, &r->frames,
			profile_frame(r->profile, method,
				type < FRAME_TYPES ? (enum frame_type)type : FRAME_BREAK,
				bci ? (unsigned)bci - 1 : 0xffff, (int)line));
	}
}

/* Id 0 is the root. */
static void read_stacks(struct recording *r, struct format_cursor *c)
{
	if (!r->stacks.count)
		id_list_add(c, &r->stacks, PROFILE_ROOT_STACK);
	while (format_more(c)) {
		uint64_t back = format_get(c);
		uint32_t frame = id_get(c, &r->frames);

		c->bad |= !back || back > r->stacks.count;
		if (c->bad)
			return;
		uint32_t stack = profile_stack_child(
			r->profile, r->stacks.list[r->stacks.count - back], frame);
		id_list_add(c, &r->stacks, stack == PROFILE_NONE ? PROFILE_ROOT_STACK : stack);
	}
}

static void read_threads(struct recording *r, struct format_cursor *c)
{
	while (format_more(c)) {
		uint64_t id = format_get_most(c, r->threads.count);
		uint64_t kind = format_get(c);
		int64_t tid = format_get_signed(c), java_tid = format_get_signed(c);
		int64_t carrier = format_get_signed(c);
		size_t bytes;
		const char *text = format_get_text(c, &bytes);
		struct buf name = {0};

		c->bad |= tid < INT32_MIN || tid > INT32_MAX;
		c->bad |= carrier < INT32_MIN || carrier > INT32_MAX;
		if (!c->bad && id == r->threads.count)
			id_list_add(c, &r->threads, profile_thread_new(r->profile));
		if (c->bad)
			return;
		text_add(&name, text, bytes);
		if (kind != FORMAT_UNNAMED)
			profile_thread_set(r->profile, r->threads.list[id],
				&(struct profile_thread){.tid = (int)tid,
					.kind = kind <= THREAD_VIRTUAL ? (enum thread_kind)kind
								       : THREAD_NATIVE,
					.java_tid = java_tid,
					.carrier = (int)carrier,
					.name = buf_str(&name)});
		buf_done(&name);
	}
}

static void read_weights(struct recording *r, struct format_cursor *c, bool holders)
{
	int event = event_get(c);
	uint64_t stack = 0;

	while (format_more(c)) {
		struct profile_sample s = {0};

		stack += (uint64_t)format_get_signed(c);
		s.thread = id_get(c, &r->threads);
		uint64_t state = format_get(c);
		uint64_t count = format_get_most(c, COUNT_MAX);
		s.weight = format_get_most(c, WEIGHT_MAX);
		c->bad |= stack && stack >= r->stacks.count;
		if (c->bad)
			return;
		s.stack = stack ? r->stacks.list[stack] : PROFILE_ROOT_STACK;
		s.state = state < THREAD_STATES ? (enum thread_state)state : THREAD_STATE_NONE;
		do {
			s.count = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
			if (holders)
				profile_add_holder(r->profile, r->second, &s);
			else
				profile_add_sample(r->profile, event, r->second, &s);
			s.weight = 0;
			count -= s.count;
		} while (count);
	}
}

static void read_samples(struct recording *r, struct format_cursor *c)
{
	read_weights(r, c, false);
}

static void read_holders(struct recording *r, struct format_cursor *c)
{
	read_weights(r, c, true);
}

static void read_links(struct recording *r, struct format_cursor *c)
{
	while (format_more(c)) {
		struct profile_link link = {.second = r->second, .event = (uint32_t)event_get(c)};
		uint64_t stack = format_get(c), state, bytes;
		const char *ids;

		c->bad |= stack >= r->stacks.count;
		link.thread = id_get(c, &r->threads);
		state = format_get(c);
		link.count = (uint32_t)format_get_most(c, UINT32_MAX);
		link.weight = format_get_most(c, WEIGHT_MAX);
		ids = format_get_text(c, &bytes);
		c->bad |= bytes != sizeof(link.trace_id) + sizeof(link.span_id);
		if (c->bad)
			return;
		link.stack = r->stacks.list[stack];
		link.state = state < THREAD_STATES ? (enum thread_state)state : THREAD_STATE_NONE;
		memcpy(link.trace_id, ids, sizeof(link.trace_id));
		memcpy(link.span_id, ids + sizeof(link.trace_id), sizeof(link.span_id));
		profile_add_link(r->profile, &link);
	}
}

static void read_pulse(struct recording *r, struct format_cursor *c)
{
	uint64_t at = r->second * NS_PER_S;

	while (format_more(c)) {
		int event = event_get(c);

		for (unsigned i = 0; i < PROFILE_PULSE && !c->bad; i++)
			profile_add_pulse(r->profile, event, at + i * PULSE_NS,
				at + (i + 1) * PULSE_NS, format_get_most(c, PULSE_MAX));
	}
}

static void read_process(struct recording *r, struct format_cursor *c)
{
	uint64_t ns = format_get_most(c, WEIGHT_MAX);

	if (!c->bad)
		profile_add_process(r->profile, r->second, ns);
}

static void read_run(struct recording *r, struct format_cursor *c)
{
	int event = event_get(c);
	uint32_t second = (uint32_t)format_get_most(c, SECOND_MAX);
	bool on = format_get(c) != 0;

	if (!c->bad)
		profile_event_runs(r->profile, event, second, on);
}

static void read_gap(struct recording *r, struct format_cursor *c)
{
	uint32_t from = (uint32_t)format_get_most(c, SECOND_MAX);
	uint32_t to = (uint32_t)format_get_most(c, SECOND_MAX);

	if (!c->bad)
		profile_gap(r->profile, from, to);
}

static void read_interval(struct recording *r, struct format_cursor *c)
{
	int event = event_get(c);
	uint64_t least = format_get_most(c, WEIGHT_MAX), most = format_get_most(c, WEIGHT_MAX);

	if (c->bad)
		return;
	profile_interval_add(r->profile, event, least);
	profile_interval_add(r->profile, event, most);
}

static void read_waits(struct recording *r, struct format_cursor *c)
{
	while (format_more(c)) {
		struct profile_wait w = {.thread = id_get(c, &r->threads)};

		w.owner = id_get_or_none(c, &r->threads);
		w.method = id_get_or_none(c, &r->methods);
		w.lock = format_get(c);
		w.since_ns = format_get_most(c, TIME_MAX_NS);
		uint64_t lasted = format_get_most(c, TIME_MAX_NS);
		w.until_ns = lasted ? w.since_ns + lasted - 1 : PROFILE_STILL;
		w.before_ns = format_get_most(c, TIME_MAX_NS);
		w.at_least = format_get(c) != 0;
		if (!c->bad)
			profile_wait_set(r->profile, &w);
	}
}

static void read_fields(struct recording *r, struct format_cursor *c)
{
	fields_define(&r->fields, c);
}

static void read_vitals(struct recording *r, struct format_cursor *c)
{
	fields_read(&r->fields, c, &r->vitals);
	profile_vitals_set(r->profile, &r->vitals);
}

static void read_state(struct recording *r, struct format_cursor *c)
{
	fields_read(&r->fields, c, &r->vitals);
}

static void read_forget(struct recording *r, struct format_cursor *c)
{
	(void)c;
	r->methods.count = r->frames.count = r->stacks.count = 0;
}

static void read_end(struct recording *r, struct format_cursor *c)
{
	r->duration_ns = format_get(c);
	r->ended = true;
}

static void read_second(struct recording *r, struct format_cursor *c)
{
	uint32_t second = (uint32_t)format_get_most(c, SECOND_MAX);

	c->bad |= second < r->second;
	if (!c->bad)
		r->pending = second;
}

static const struct {
	enum format_type type;
	void (*read)(struct recording *r, struct format_cursor *c);
	bool timed; /* must follow a CHUNK_SECOND */
} rows[] = {
	{CHUNK_META, read_meta, false},
	{CHUNK_EVENT, read_event, false},
	{CHUNK_RETAINED, read_retained, false},
	{CHUNK_SECOND, read_second, false},
	{CHUNK_METHODS, read_methods, false},
	{CHUNK_FRAMES, read_frames, false},
	{CHUNK_STACKS, read_stacks, false},
	{CHUNK_THREADS, read_threads, false},
	{CHUNK_SAMPLES, read_samples, true},
	{CHUNK_HOLDERS, read_holders, true},
	{CHUNK_PROCESS, read_process, true},
	{CHUNK_RUN, read_run, false},
	{CHUNK_GAP, read_gap, false},
	{CHUNK_INTERVAL, read_interval, false},
	{CHUNK_WAITS, read_waits, false},
	{CHUNK_FIELDS, read_fields, false},
	{CHUNK_VITALS, read_vitals, true},
	{CHUNK_STATE, read_state, false},
	{CHUNK_FORGET, read_forget, false},
	{CHUNK_END, read_end, false},
	{CHUNK_PULSE, read_pulse, true},
	{CHUNK_MEASURED, chunks_read_measured, false},
	{CHUNK_CALLS, chunks_read_calls, false},
	{CHUNK_ENTRIES, chunks_read_entries, false},
	{CHUNK_LINKS, read_links, true},
};

bool chunks_known(uint32_t type)
{
	return type >= CHUNK_META && type <= CHUNK_LINKS;
}

bool chunks_read(struct recording *r, uint32_t type)
{
	struct format_cursor c = {(const unsigned char *)buf_str(&r->body),
		(const unsigned char *)buf_str(&r->body) + r->body.len, false};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].type != type)
			continue;
		c.bad = rows[i].timed && !r->timed;
		if (!c.bad)
			rows[i].read(r, &c);
		break;
	}
	return !c.bad;
}
