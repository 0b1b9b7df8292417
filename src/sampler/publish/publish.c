/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts traces and the methods they refer to into records. traces.c has the ids of those that the front end knows;
 * threads and modules have files of their own.
 */
#include "sampler/publish/publish.h"

#include "sampler/publish/state.h"

#include "base/clock.h"
#include "walk/hotspot/layout.h"

#include <string.h>

/* How long a trace waits for a name whose handler is preempted. */
#define NAMES_PATIENCE_NS 2000000000ull
/* A trace that was not published this long after its sample has been evicted. */
#define POLL_PATIENCE_NS 1000000000ull

void publish_init(struct publish *p, struct sampler *s)
{
	p->s = s;
	p->next_trace = p->known.epoch = 1;
	p->last_tick_ns = s->start_ns;
}

uint64_t publish_flips(const struct publish *p)
{
	return p->flips;
}

/* --- methods, waits, notes -------------------------------------------------------------------- */

static bool publish_method(struct publish *p, const struct names_entry *entry)
{
	uint32_t text = (uint32_t)entry->class_bytes + entry->name_bytes + entry->signature_bytes;
	struct wire_method *rec = ring_reserve(
		&p->s->ring, WIRE_REC_METHOD, (uint32_t)sizeof(*rec) + text + entry->line_bytes);

	if (!rec)
		return false;
	rec->id = entry->id;
	rec->class_bytes = entry->class_bytes;
	rec->name_bytes = entry->name_bytes;
	rec->signature_bytes = entry->signature_bytes;
	rec->flags = p->s->layout && p->s->layout->unsigned5_excluded ? WIRE_METHOD_LINES_20 : 0;
	rec->line_bytes = entry->line_bytes;
	memcpy(rec->text, entry->class_name, entry->class_bytes);
	memcpy(rec->text + entry->class_bytes, entry->name, entry->name_bytes);
	memcpy(rec->text + entry->class_bytes + entry->name_bytes, entry->signature,
		entry->signature_bytes);
	if (entry->line_bytes)
		memcpy(rec->text + text, entry->lines, entry->line_bytes);
	states_method(&p->states, entry);
	return true;
}

static bool publish_methods(struct publish *p)
{
	struct names_entry entry;
	struct agct_method *method;
	uint32_t cursor = 0;

	while (names_next(p->s->names, p->names_done, &entry)) {
		if (!publish_method(p, &entry))
			return false;
		p->names_done = entry.id;
	}
	while ((method = agct_next(p->s->agct, &cursor, &entry))) {
		if (!publish_method(p, &entry))
			return false;
		method->published = true;
	}
	return true;
}

/* True when every method of this trace has been published, or was waited for too long. */
static bool publish_named(struct publish *p, const struct trace_key *key)
{
	for (uint32_t i = 0; i < key->count; i++) {
		unsigned type = WIRE_FRAME_KIND(key->frames[i]);

		if (type == WALK_NATIVE || type == WALK_KERNEL || type == WALK_CUT)
			continue;
		if (type == WALK_JAVA
				? agct_unpublished(p->s->agct, WIRE_FRAME_METHOD(key->frames[i]))
				: WIRE_FRAME_METHOD(key->frames[i]) > p->names_done) {
			if (!p->names_waits++)
				p->names_since_ns = p->now_ns;
			return p->now_ns - p->names_since_ns >= NAMES_PATIENCE_NS;
		}
	}
	p->names_waits = 0;
	return true;
}

bool publish_wait(struct publish *p, const struct wire_wait *wait)
{
	struct wire_wait *rec;

	if (!publish_methods(p) || wait->method > p->names_done ||
		!publish_thread(p, wait->thread) ||
		(wait->owner && !publish_thread(p, wait->owner)))
		return false;
	rec = ring_reserve(&p->s->ring, WIRE_REC_WAIT, sizeof(*rec));
	if (!rec)
		return false;
	struct wire_record header = rec->rec;
	*rec = *wait;
	rec->rec = header;
	return true;
}

bool publish_poll(struct publish *p, const struct wire_poll *poll, uint64_t hash)
{
	uint32_t trace = hash ? known_id(&p->known, hash) : 0;
	struct wire_poll *rec;

	if (hash && !trace && p->drained_ns < poll->time_ns + POLL_PATIENCE_NS)
		return false;
	if (!publish_thread(p, poll->thread))
		return false;
	rec = ring_reserve(&p->s->ring, WIRE_REC_POLL, sizeof(*rec));
	if (!rec)
		return false;
	struct wire_record header = rec->rec;
	*rec = *poll;
	rec->rec = header;
	rec->trace = trace;
	return true;
}

bool publish_wants_names(const struct publish *p)
{
	return p->wants_names || p->names_waits;
}

bool publish_note(
	struct publish *p, uint32_t kind, uint64_t time_ns, uint64_t arg_ns, const char *text)
{
	uint32_t bytes = (uint32_t)strlen(text);
	struct wire_note *rec =
		ring_reserve(&p->s->ring, WIRE_REC_NOTE, (uint32_t)sizeof(*rec) + bytes);

	if (!rec)
		return false;
	rec->time_ns = time_ns;
	rec->arg_ns = arg_ns;
	rec->kind = kind;
	rec->text_bytes = bytes;
	memcpy(rec->text, text, bytes);
	return true;
}

/* --- traces and deltas ------------------------------------------------------------------------ */

static bool publish_trace(struct publish *p, const struct trace_key *key, uint32_t *id)
{
	struct wire_trace *rec;

	if (!publish_thread(p, key->thread) || !publish_methods(p) || !publish_named(p, key) ||
		!publish_modules(p, key))
		return false;
	rec = ring_reserve(&p->s->ring, WIRE_REC_TRACE,
		(uint32_t)(sizeof(*rec) + key->count * sizeof(rec->frames[0])));
	if (!rec)
		return false;
	rec->id = *id = p->next_trace++;
	rec->thread = key->thread;
	rec->event = key->event;
	rec->flags = states_flags(&p->states, key);
	rec->frame_count = key->count;
	for (uint32_t i = 0; i < key->count; i++)
		rec->frames[i] = publish_frame(p, key->frames[i]);
	return true;
}

static bool publish_links(struct publish *p)
{
	uint32_t bytes = p->link_count * (uint32_t)sizeof(struct wire_link);
	struct wire_links *rec;

	if (!bytes)
		return true;
	rec = ring_reserve(&p->s->ring, WIRE_REC_LINKS, (uint32_t)sizeof(*rec) + bytes);
	if (!rec)
		return false;
	rec->time_ns = p->drained_ns;
	rec->event = (uint16_t)p->link_event;
	rec->link_count = p->link_count;
	memcpy(rec->links, p->links, bytes);
	p->link_count = 0;
	return true;
}

static void link_add(struct publish *p, const struct trace_entry *entry, uint32_t id)
{
	struct wire_link *link = &p->links[p->link_count++];
	const uint64_t *span = entry->key.frames + entry->key.count - TRACE_SPAN_WORDS;

	p->link_event = entry->key.event;
	*link = (struct wire_link){.trace = id, .count = entry->count, .weight = entry->weight};
	memcpy(link->trace_id, span, sizeof(link->trace_id));
	memcpy(link->span_id, span + 2, sizeof(link->span_id));
}

static bool publish_deltas(struct publish *p, uint32_t event)
{
	uint32_t bytes = p->delta_count[event] * (uint32_t)sizeof(struct wire_delta);
	struct wire_deltas *rec;

	if (!bytes)
		return true;
	rec = ring_reserve(&p->s->ring, WIRE_REC_DELTAS, (uint32_t)sizeof(*rec) + bytes);
	if (!rec)
		return false;
	rec->time_ns = p->drained_ns;
	rec->interval = atomic_load(&p->s->events[event].interval);
	rec->event = (uint16_t)event;
	rec->delta_count = p->delta_count[event];
	memcpy(rec->deltas, p->deltas[event], bytes);
	p->delta_count[event] = 0;
	return true;
}

/* The id of a trace, published if it is new; 0 when the ring is full or a name is missing. */
static uint32_t trace_id(struct publish *p, const struct trace_entry *entry)
{
	bool span = entry->key.flags & TRACE_HAS_SPAN;
	struct trace_key key = trace_key_without_span(&entry->key);
	uint64_t hash = span ? trace_table_hash(&key) : entry->hash;
	uint32_t id = known_id(&p->known, hash);

	if (id)
		return id;
	if (!publish_trace(p, &key, &id))
		return 0;
	if (!known_add(&p->known, hash, id))
		counters_add(&p->s->counters, COUNTER_TRACES_FORGOTTEN, 1);
	return id;
}

/*
 * Handles a sample that refers, by hash, to a trace that has been evicted. A wall-clock sample's weight is added to the
 * thread's next one; samples of other events are counted as lost.
 */
static void entry_owed(struct publish *p, const struct trace_entry *entry)
{
	struct thread_slot *slot = threads_by_id(p->s->threads, entry->key.thread);
	struct event *event = &p->s->events[entry->key.event];

	if (!slot || entry->key.event != WIRE_WALL) {
		atomic_fetch_add(&event->lost, entry->count);
		counters_add(&p->s->counters, COUNTER_LATE, entry->count);
		return;
	}
	thread_wall_forget(&slot->wall);
	atomic_fetch_add(&slot->wall.owed, entry->weight);
	atomic_fetch_sub(&event->samples, entry->count);
}

static bool publish_entry(struct publish *p, const struct trace_entry *entry)
{
	uint32_t event = entry->key.event & (WIRE_EVENTS - 1);
	bool span = entry->key.flags & TRACE_HAS_SPAN;

	if (p->delta_count[event] == PUBLISH_DELTAS && !publish_deltas(p, event))
		return false;
	if (span && (p->link_count == PUBLISH_LINKS || p->link_event != event) && !publish_links(p))
		return false;
	if (entry->again && !known_id(&p->known, entry->hash)) {
		entry_owed(p, entry);
		return true;
	}
	uint32_t id = trace_id(p, entry);
	if (!id)
		return false;
	if (span)
		link_add(p, entry, id);
	p->deltas[event][p->delta_count[event]++] =
		(struct wire_delta){.trace = id, .count = entry->count, .weight = entry->weight};
	return true;
}

static bool publish_tick(struct publish *p)
{
	struct wire_tick *rec;

	if (!publish_links(p))
		return false;
	for (uint32_t event = 0; event < WIRE_EVENTS; event++) {
		if (!publish_deltas(p, event))
			return false;
	}
	rec = ring_reserve(&p->s->ring, WIRE_REC_TICK, sizeof(*rec));
	if (!rec)
		return false;
	rec->time_ns = p->drained_ns;
	rec->since_ns = p->last_tick_ns;
	rec->cpu_ns = p->cpu_ns;
	rec->half_ns = p->drained_half.ns;
	memcpy(rec->half_weight, p->drained_half.weight, sizeof(rec->half_weight));
	p->last_tick_ns = p->drained_ns;
	return true;
}

static bool publish_rest(struct publish *p)
{
	struct trace_entry entry;
	uint32_t cursor = p->cursor;

	while (trace_table_next(p->s->table, &cursor, &entry)) {
		if (!publish_entry(p, &entry))
			return false;
		p->cursor = cursor;
	}
	return publish_tick(p);
}

#define CPU_IN_PART (WIRE_START_USER_ONLY | WIRE_START_KERNEL_ONLY)

uint64_t publish_cpu_used(const struct publish *p)
{
	return clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - sampler_threads_ns(p->s);
}

uint64_t publish_cpu_at(const struct publish *p)
{
	return p->cpu_at_ns;
}

void publish_cpu_counts(struct publish *p, bool counts, uint64_t used_ns)
{
	if (p->cpu_counts && used_ns > p->cpu_at_ns)
		p->cpu_owed_ns += used_ns - p->cpu_at_ns;
	p->cpu_at_ns = used_ns;
	p->cpu_counts =
		counts && !(p->s->events[WIRE_CPU].flags & CPU_IN_PART) && !*p->s->select.pattern;
}

void publish_half_way(struct publish *p, uint64_t now_ns)
{
	p->half.ns = now_ns;
	trace_table_weigh(
		p->s->table, WIRE_TRACE_IN_STATE(WIRE_STATE_HOLDS), p->half.weight, WIRE_EVENTS);
}

bool publish_table(struct publish *p, uint64_t now_ns, bool last)
{
	p->now_ns = now_ns;
	if (!p->draining) {
		bool flipped =
			last ? trace_table_flip_aside(p->s->table) : trace_table_flip(p->s->table);
		if (!flipped)
			return false;
		p->draining = true;
		p->drained_ns = now_ns;
		p->drained_half = p->half;
		p->half.ns = 0;
		/* The CPU time to which the cpu samples of this half must add up. */
		publish_cpu_counts(p, atomic_load(&p->s->events[WIRE_CPU].on), publish_cpu_used(p));
		p->cpu_ns = p->cpu_owed_ns;
		p->cpu_owed_ns = 0;
		p->cursor = 0;
	}
	publish_modules_refresh(p, now_ns);
	bool whole = publish_rest(p);
	ring_commit(&p->s->ring);
	if (!whole && !p->names_waits)
		counters_add(&p->s->counters, COUNTER_RING_FULL, 1);
	if (!whole)
		return false;
	trace_table_clear(p->s->table);
	p->draining = false;
	virtuals_tick(p->s->virtuals);
	p->flips++;
	return true;
}
