/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One function and one table row per record type.
 *
 * Traces are cached by id in a window: the agent assigns ascending ids and knows at most the last 32,768, so an id older than
 * the window cannot occur again.
 */
#include "session/record/reader.h"

#include "base/buf.h"
#include "base/clean.h"
#include "base/clock.h"
#include "profile/calls/calls.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READER_TRACES     (1u << 16) /* the window; a power of two, twice what an agent can know */
#define READER_WEIGHT_MAX (1ull << 53) /* per trace and 100 ms: 104 days in ns, 9 PB */
#define READER_TRACES_MIN (1u << 12)
#define READER_LATE_S     2 /* seconds that the model accepts out of order */

struct reader_trace {
	uint32_t id;            /* 0: empty */
	uint32_t stack, thread; /* the model's */
	enum thread_state state;
	bool holder; /* the owner of a lock, while others waited for it */
};

struct reader {
	struct profile *profile;
	struct frames *frames;
	uint64_t start_ns;
	uint64_t limit_s;
	uint32_t now_s;

	struct reader_trace *traces;
	uint32_t trace_slots;
	uint64_t weight[WIRE_EVENTS]; /* since the last TICK, without traces of holders */

	struct thread_ids *threads;

	struct tids *tids;
	reader_module_fn *on_module;
	void *on_module_ctx;
	struct reader_stats stats;
	char note[512];
};

static profile_pin_fn reader_pin;

struct reader *reader_new(struct profile *profile, struct frames *frames, uint64_t start_ns)
{
	struct reader *r = xcalloc(1, sizeof(*r));

	r->profile = profile;
	r->frames = frames;
	r->start_ns = start_ns;
	r->trace_slots = READER_TRACES_MIN;
	r->traces = xcalloc(r->trace_slots, sizeof(*r->traces));
	r->threads = thread_ids_new(profile);
	profile_pin_register(profile, reader_pin, r);
	return r;
}

void reader_free(struct reader *r)
{
	if (!r)
		return;
	profile_pin_unregister(r->profile, r);
	free(r->traces);
	thread_ids_free(r->threads);
	free(r);
}

void reader_on_tid(struct reader *r, struct tids *tids)
{
	r->tids = tids;
}

void reader_on_module(struct reader *r, reader_module_fn *fn, void *ctx)
{
	r->on_module = fn;
	r->on_module_ctx = ctx;
}

const struct reader_stats *reader_stats(const struct reader *r)
{
	return &r->stats;
}

const char *reader_note(const struct reader *r)
{
	return r->note;
}

/* The second of a time, clamped to the start, the current second, and the oldest that the model accepts. */
static uint32_t reader_second(struct reader *r, uint64_t time_ns)
{
	uint64_t s = time_ns > r->start_ns ? (time_ns - r->start_ns - 1) / NS_PER_S : 0;

	if (s > r->limit_s)
		s = r->limit_s;
	if (s + READER_LATE_S < r->now_s)
		s = r->now_s - READER_LATE_S;
	if (s > r->now_s)
		r->now_s = (uint32_t)s;
	return (uint32_t)s;
}

/* A time relative to the start, clamped to the present. */
static uint64_t reader_since_start(const struct reader *r, uint64_t time_ns)
{
	uint64_t ns = time_ns > r->start_ns ? time_ns - r->start_ns : 0;
	uint64_t limit_ns = (r->limit_s + 1) * NS_PER_S;

	return ns < limit_ns ? ns : limit_ns;
}

/* --- threads ----------------------------------------------------------------------------------------- */

/* The model's id for the agent's thread; one that was never announced gets a placeholder name. */
static uint32_t reader_named_thread(struct reader *r, uint32_t id)
{
	bool known;
	uint32_t thread = thread_ids_get(r->threads, id, &known);

	if (!known)
		profile_thread_set(
			r->profile, thread, &(struct profile_thread){.name = "[unknown thread]"});
	return thread;
}

/* Our id of the target's thread, or the target's if that is unknown. */
static int reader_tid(const struct reader *r, int there)
{
	int here = tids_here(r->tids, there);

	return here > 0 ? here : there;
}

/* A virtual thread has no id in /proc. A record without a name does not change the name of a known thread. */
static void reader_set_virtual(struct reader *r, const struct wire_thread *rec)
{
	struct profile_thread t = {.kind = THREAD_VIRTUAL,
		.carrier = rec->os_tid ? reader_tid(r, rec->os_tid) : 0,
		.java_tid = rec->java_tid};
	struct buf name = {0};
	bool known, shared;

	clean_add(&name, rec->name, rec->name_bytes);
	if (!name.len)
		buf_printf(&name, PROFILE_VIRTUAL "%lld", (long long)rec->java_tid);
	t.name = name.data;
	uint32_t thread = thread_ids_virtual(r->threads, rec->id, &t, &known, &shared);
	const struct profile_thread *now = profile_get_thread(r->profile, thread);
	if (known && !rec->name_bytes) {
		buf_clear(&name);
		buf_adds(&name, now->name);
		t.name = buf_str(&name);
	}
	if (!shared && (!known || strcmp(now->name, t.name) != 0 || now->carrier != t.carrier))
		profile_thread_set(r->profile, thread, &t);
	buf_done(&name);
}

/* --- traces ------------------------------------------------------------------------------------------ */

/* The slot of an id: its low bits. The window grows with the ids up to its full size. */
static struct reader_trace *reader_trace_slot(struct reader *r, uint32_t id)
{
	if (id >= r->trace_slots && r->trace_slots < READER_TRACES) {
		uint32_t old = r->trace_slots;

		while (r->trace_slots <= id && r->trace_slots < READER_TRACES)
			r->trace_slots *= 2;
		r->traces = xreallocarray(r->traces, r->trace_slots, sizeof(*r->traces));
		memset(r->traces + old, 0, (r->trace_slots - old) * sizeof(*r->traces));
	}
	return &r->traces[id & (r->trace_slots - 1)];
}

static enum thread_state reader_state(unsigned flags)
{
	static const enum thread_state states[] = {
		[WIRE_STATE_NONE] = THREAD_STATE_NONE,
		[WIRE_STATE_ON_CPU] = THREAD_ON_CPU,
		[WIRE_STATE_RUNNABLE] = THREAD_RUNNABLE,
		[WIRE_STATE_SLEEPING] = THREAD_SLEEPING,
		[WIRE_STATE_MONITOR] = THREAD_MONITOR,
		[WIRE_STATE_WAITING] = THREAD_WAITING,
		[WIRE_STATE_PARKED] = THREAD_PARKED,
		[WIRE_STATE_IO] = THREAD_IO,
		[WIRE_STATE_CARRIER] = THREAD_CARRIER,
	};
	unsigned state = WIRE_TRACE_STATE(flags);

	return state < sizeof(states) / sizeof(states[0]) ? states[state] : THREAD_STATE_NONE;
}

/* --- eviction from the model ------------------------------------------------------------------------- */

/*
 * Retains the stacks of all traces in the window, since the agent may still send deltas for them; and the threads of virtual
 * ones, whose end is not announced. Drops traces of threads that have left the model.
 */
static void reader_pin(void *ctx, enum profile_kind kind, bool leaving)
{
	struct reader *r = ctx;

	frames_pin(r->frames, kind, leaving);
	if (leaving && kind == PROFILE_THREADS)
		thread_ids_forget(r->threads);
	for (uint32_t i = 0; i < r->trace_slots; i++) {
		struct reader_trace *t = &r->traces[i];

		if (kind == PROFILE_STACKS && !leaving && t->id)
			profile_pin(r->profile, t->stack);
		if (kind == PROFILE_THREADS && !leaving && t->id &&
			profile_get_thread(r->profile, t->thread)->kind == THREAD_VIRTUAL)
			profile_pin(r->profile, t->thread);
		if (kind == PROFILE_THREADS && leaving && !profile_is_pinned(r->profile, t->thread))
			t->id = 0;
	}
}

/* --- records ----------------------------------------------------------------------------------------- */

typedef bool reader_fn(struct reader *r, const void *record, uint32_t size);

/* True when `tail` bytes of text or entries fit after the fixed part. */
static bool reader_fits(uint32_t size, size_t fixed, uint64_t tail)
{
	return size >= fixed && tail <= size - fixed;
}

static bool reader_consume_module(struct reader *r, const void *record, uint32_t size)
{
	const struct wire_module *rec = record;
	struct buf path = {0};

	if (!reader_fits(size, sizeof(*rec), rec->path_bytes))
		return false;
	struct proc_map m = (struct proc_map){.start = rec->start,
		.end = rec->end,
		.offset = rec->file_offset,
		.inode = rec->inode,
		.dev_major = rec->dev_major,
		.dev_minor = rec->dev_minor};
	buf_add(&path, rec->path, rec->path_bytes);
	m.path = buf_str(&path); /* up to the first NUL */
	frames_module(r->frames, rec->id, &m);
	if (r->on_module)
		r->on_module(r->on_module_ctx, rec->id, &m);
	buf_done(&path);
	return true;
}

static bool reader_consume_method(struct reader *r, const void *record, uint32_t size)
{
	const struct wire_method *rec = record;

	if (!reader_fits(size, sizeof(*rec),
		    (uint64_t)rec->class_bytes + rec->name_bytes + rec->signature_bytes +
			    rec->line_bytes))
		return false;
	frames_method(r->frames, rec);
	return true;
}

static bool reader_consume_thread(struct reader *r, const void *record, uint32_t size)
{
	const struct wire_thread *rec = record;

	if (!reader_fits(size, sizeof(*rec), rec->name_bytes))
		return false;
	if (rec->kind == WIRE_THREAD_VIRTUAL)
		reader_set_virtual(r, rec);
	else {
		static const enum thread_kind kinds[] = {
			[WIRE_THREAD_NATIVE] = THREAD_NATIVE,
			[WIRE_THREAD_JAVA] = THREAD_JAVA,
			[WIRE_THREAD_COMPILER] = THREAD_COMPILER,
			[WIRE_THREAD_GC] = THREAD_GC,
			[WIRE_THREAD_VM] = THREAD_VM,
			[WIRE_THREAD_AGENT] = THREAD_AGENT,
			[WIRE_THREAD_VIRTUAL] = THREAD_VIRTUAL,
		};
		struct profile_thread t = {
			.tid = reader_tid(r, rec->os_tid), .java_tid = rec->java_tid};
		struct buf name = {0};
		bool known;
		uint32_t thread = thread_ids_get(r->threads, rec->id, &known);

		if (rec->kind < sizeof(kinds) / sizeof(kinds[0]))
			t.kind = kinds[rec->kind];
		clean_add(&name, rec->name, rec->name_bytes);
		if (!name.len)
			buf_printf(&name, "thread %d", (int)t.tid);
		/* Not for the program's own threads, where such a name would be the full one. */
		if (rec->kind == WIRE_THREAD_COMPILER || rec->kind == WIRE_THREAD_VM)
			thread_name_complete(&name);
		t.name = name.data;
		profile_thread_set(r->profile, thread, &t);
		buf_done(&name);
	}
	return true;
}

bool reader_trace_fits(const struct wire_trace *rec, uint32_t size)
{
	return size >= sizeof(*rec) &&
	       reader_fits(size, sizeof(*rec), (uint64_t)rec->frame_count * sizeof(rec->frames[0]));
}

static bool reader_consume_trace(struct reader *r, const void *record, uint32_t size)
{
	const struct wire_trace *rec = record;
	struct reader_trace t = {.id = rec->id};

	if (!reader_trace_fits(rec, size) || !rec->id)
		return false;
	t.state = reader_state(rec->flags);
	t.holder = WIRE_TRACE_STATE(rec->flags) == WIRE_STATE_HOLDS;
	t.thread = reader_named_thread(r, rec->thread);
	/* An I/O frame is not part of the stack: profile_stack_waiting adds a leaf for it. */
	bool first = rec->frame_count && WIRE_FRAME_KIND(rec->frames[0]) == WIRE_FRAME_IO;
	uint32_t stack = PROFILE_ROOT_STACK;
	struct profile_io io;
	struct buf text = {0};
	bool known = first && frames_io(r->frames, rec->frames[0], &io, &text);
	uint32_t end = rec->frame_count;
	if (end > first && WIRE_FRAME_KIND(rec->frames[end - 1]) == WIRE_FRAME_CONTEXT)
		stack = frames_context(r->frames, rec->frames[--end], stack);
	if (rec->flags & WIRE_TRACE_TRUNCATED)
		stack = profile_stack_child(
			r->profile, stack, frames_reason(r->frames, "[truncated]"));
	if (end == first)
		stack = profile_stack_child(
			r->profile, stack, frames_reason(r->frames, "[unknown]"));
	for (uint32_t i = end; i-- > first;)
		stack = profile_stack_child(
			r->profile, stack, frames_get(r->frames, rec->frames[i]));
	stack = profile_stack_waiting(r->profile, stack, t.state, known ? &io : NULL);
	buf_done(&text);
	t.stack = stack;
	*reader_trace_slot(r, rec->id) = t;
	return true;
}

static bool reader_consume_deltas(struct reader *r, const void *record, uint32_t size)
{
	const struct wire_deltas *rec = record;

	if (rec->event >= WIRE_EVENTS ||
		!reader_fits(
			size, sizeof(*rec), (uint64_t)rec->delta_count * sizeof(rec->deltas[0])))
		return false;
	uint32_t second = reader_second(r, rec->time_ns);
	if (rec->delta_count)
		profile_interval_add(r->profile, rec->event, rec->interval);
	for (uint32_t i = 0; i < rec->delta_count; i++) {
		uint32_t event = rec->event;
		struct reader_trace t = rec->deltas[i].trace
						? *reader_trace_slot(r, rec->deltas[i].trace)
						: (struct reader_trace){0};

		if (!rec->deltas[i].count &&
			!rec->deltas[i]
				 .weight) /* weight without count continues a wait that was already counted */
			continue;
		if (!rec->deltas[i].trace || t.id != rec->deltas[i].trace) {
			/* The trace was never sent: its samples count on a placeholder stack. */
			r->stats.unknown_traces += rec->deltas[i].count;
			t = (struct reader_trace){.thread = reader_named_thread(r, 0)};
			t.stack = profile_stack_child(r->profile, PROFILE_ROOT_STACK,
				frames_reason(r->frames, "[unknown_trace]"));
		}
		struct profile_sample sample =
			(struct profile_sample){t.stack, t.thread, t.state, rec->deltas[i].count,
				rec->deltas[i].weight < READER_WEIGHT_MAX ? rec->deltas[i].weight
									  : READER_WEIGHT_MAX};
		if (t.holder && event == WIRE_LOCK)
			profile_add_holder(r->profile, second, &sample);
		else
			profile_add_sample(r->profile, (int)event, second, &sample);
		if (!t.holder)
			r->weight[event] += sample.weight;
		r->stats.samples += rec->deltas[i].count;
	}
	return true;
}

static bool reader_consume_links(struct reader *r, const void *record, uint32_t size)
{
	const struct wire_links *rec = record;

	if (rec->event >= WIRE_EVENTS ||
		!reader_fits(size, sizeof(*rec), (uint64_t)rec->link_count * sizeof(rec->links[0])))
		return false;
	for (uint32_t i = 0; i < rec->link_count; i++) {
		const struct wire_link *in = &rec->links[i];
		const struct reader_trace *t = reader_trace_slot(r, in->trace);
		struct profile_link link = {.second = reader_second(r, rec->time_ns),
			.event = rec->event,
			.stack = t->stack,
			.thread = t->thread,
			.state = t->state,
			.count = in->count,
			.weight = in->weight < READER_WEIGHT_MAX ? in->weight : READER_WEIGHT_MAX};

		if (!in->trace || t->id != in->trace || t->holder)
			continue;
		memcpy(link.trace_id, in->trace_id, sizeof(link.trace_id));
		memcpy(link.span_id, in->span_id, sizeof(link.span_id));
		profile_add_link(r->profile, &link);
	}
	return true;
}

static bool reader_consume_tick(struct reader *r, const void *record, uint32_t size)
{
	const struct wire_tick *rec = record;
	struct reader_stats *stats = &r->stats;
	uint64_t before_ns = stats->tick_ns > stats->first_ns ? stats->tick_ns : stats->first_ns;
	uint64_t ns = rec->time_ns > before_ns ? rec->time_ns - before_ns : 0;

	/* Without ticks the agent got no core, so it took no samples either. */
	if (stats->first_ns)
		stats->seen_ns += ns < NS_PER_S ? ns : NS_PER_S;
	/* The weight since the last TICK goes into the pulse, as two halves if the record has a split. */
	uint64_t from = reader_since_start(r, rec->since_ns);
	uint64_t to = reader_since_start(r, rec->time_ns), half = from;
	if (size >= sizeof(*rec) && rec->half_ns > rec->since_ns && rec->half_ns < rec->time_ns)
		half = reader_since_start(r, rec->half_ns);
	for (int e = 0; e < WIRE_EVENTS; e++) {
		uint64_t first = half > from ? rec->half_weight[e] : 0;
		if (first > r->weight[e])
			first = r->weight[e];
		profile_add_pulse(r->profile, e, from, half, first);
		profile_add_pulse(r->profile, e, half, to, r->weight[e] - first);
		r->weight[e] = 0;
	}
	stats->tick_ns = rec->time_ns;
	stats->ticks++;
	profile_advance(r->profile, reader_second(r, rec->time_ns));
	if (size >= offsetof(struct wire_tick, half_ns) && rec->cpu_ns < READER_WEIGHT_MAX)
		profile_add_process(r->profile, reader_second(r, rec->time_ns), rec->cpu_ns);
	return true;
}

static bool reader_consume_note(struct reader *r, const void *record, uint32_t size)
{
	const struct wire_note *rec = record;

	if (!reader_fits(size, sizeof(*rec), rec->text_bytes))
		return false;
	if (rec->kind == WIRE_NOTE_TEXT && !rec->arg_ns)
		clean_text(r->note, sizeof(r->note), rec->text, rec->text_bytes);
	if (rec->kind != WIRE_NOTE_GAP || rec->arg_ns >= rec->time_ns)
		return true;
	uint32_t to = reader_second(r, rec->time_ns);
	if (rec->arg_ns > r->start_ns)
		profile_gap(r->profile,
			(uint32_t)((rec->arg_ns - r->start_ns) / NS_PER_S % UINT32_MAX), to);
	return true;
}

static bool reader_consume_wait(struct reader *r, const void *record, uint32_t size)
{
	const struct wire_wait *rec = record;
	struct profile_wait w = {
		.owner = PROFILE_NONE, .method = PROFILE_NONE, .until_ns = PROFILE_STILL};

	if (rec->time_ns < rec->since_ns)
		return false;
	w.thread = reader_named_thread(r, rec->thread);
	if (rec->owner)
		w.owner = reader_named_thread(r, rec->owner);
	if (rec->method)
		w.method = profile_get_frame(r->profile,
			frames_get(r->frames, WIRE_METHOD_FRAME(WIRE_FRAME_CLASS, rec->method, 0)))
				   ->method;
	w.lock = rec->lock;
	w.since_ns = reader_since_start(r, rec->since_ns);
	w.before_ns = rec->since_ns < r->start_ns ? r->start_ns - rec->since_ns : 0;
	w.at_least = size >= sizeof(*rec) && rec->at_least;
	if (rec->ended)
		w.until_ns = reader_since_start(r, rec->time_ns);
	profile_wait_set(r->profile, &w);
	return true;
}

static bool reader_consume_poll(struct reader *r, const void *record, uint32_t size)
{
	const struct wire_poll *rec = record;
	struct reader_trace t =
		rec->trace ? *reader_trace_slot(r, rec->trace) : (struct reader_trace){0};
	struct profile_poll poll = {.stack = PROFILE_ROOT_STACK,
		.inside = rec->frame != 0,
		.inlined = rec->flags & WIRE_POLL_INLINED,
		.counted = rec->flags & WIRE_POLL_COUNTED,
		.recorded = rec->flags & WIRE_POLL_RECORDED,
		.recursive = rec->flags & WIRE_POLL_RECURSIVE,
		.estimate = rec->flags & WIRE_POLL_ESTIMATE,
		.starts = rec->flags & WIRE_POLL_STARTS,
		.virtual_id = WIRE_IS_VIRTUAL(rec->thread) ? rec->thread : 0,
		.weight = rec->weight,
		.entries = rec->entries,
		.entries_here = rec->entries_here,
		.first_ns = reader_since_start(r, rec->first_ns),
		.last_ns = reader_since_start(r, rec->last_ns),
		.time_ns = reader_since_start(r, rec->time_ns),
		.since_ns = reader_since_start(r, rec->since_ns),
		.before_ns = reader_since_start(r, rec->before_ns),
		.frame = rec->frame,
		.outside = rec->outside,
		.values = rec->values,
		.cpu_ns = rec->cpu_ns,
		.delay_ns = rec->delay_ns,
		.collections = {rec->collections[0], rec->collections[1]}};

	if (!reader_fits(size, sizeof(*rec), 0) || rec->before_ns > rec->since_ns ||
		rec->since_ns > rec->time_ns)
		return false;
	poll.thread = reader_named_thread(r, rec->thread);
	if (rec->trace && t.id == rec->trace) {
		poll.stack = t.stack;
		poll.state = t.state;
	}
	calls_add_poll(r->profile, &poll);
	return true;
}

void reader_event(struct reader *r, uint64_t time_ns, int event, bool on)
{
	if (on && !r->stats.first_ns)
		r->stats.first_ns = time_ns;
	if (!on && event == EVENT_LOCK)
		profile_wait_end_all(r->profile, time_ns > r->start_ns ? time_ns - r->start_ns : 0);
}

static const struct {
	uint16_t type;
	const char *name;
	size_t min_bytes; /* older recordings have shorter records */
	reader_fn *consume;
} reader_rows[] = {
	{WIRE_REC_MODULE, "MODULE", sizeof(struct wire_module), reader_consume_module},
	{WIRE_REC_METHOD, "METHOD", sizeof(struct wire_method), reader_consume_method},
	{WIRE_REC_THREAD, "THREAD", sizeof(struct wire_thread), reader_consume_thread},
	{WIRE_REC_TRACE, "TRACE", sizeof(struct wire_trace), reader_consume_trace},
	{WIRE_REC_DELTAS, "DELTAS", sizeof(struct wire_deltas), reader_consume_deltas},
	{WIRE_REC_TICK, "TICK", offsetof(struct wire_tick, cpu_ns), reader_consume_tick},
	{WIRE_REC_NOTE, "NOTE", sizeof(struct wire_note), reader_consume_note},
	{WIRE_REC_WAIT, "WAIT", offsetof(struct wire_wait, at_least), reader_consume_wait},
	{WIRE_REC_LINKS, "LINKS", sizeof(struct wire_links), reader_consume_links},
	{WIRE_REC_POLL, "POLL", sizeof(struct wire_poll), reader_consume_poll},
};

int reader_consume(struct reader *r, const struct wire_record *rec, uint32_t size, uint64_t limit_s,
	struct err *err)
{
	r->limit_s = limit_s < UINT32_MAX - 1 ? limit_s : UINT32_MAX - 1;
	for (size_t i = 0; i < sizeof(reader_rows) / sizeof(reader_rows[0]); i++) {
		if (reader_rows[i].type != rec->type)
			continue;
		if (size >= reader_rows[i].min_bytes && reader_rows[i].consume(r, rec, size))
			return 0;
		return err_set(err, ERR_FAILED, "A %s record of %u bytes has impossible contents.",
			reader_rows[i].name, size);
	}
	r->stats.skipped++;
	return 0;
}
