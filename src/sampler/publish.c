/* SPDX-License-Identifier: Apache-2.0 */
/* Traces become records; which of them the front end knows is in known.h. */
#include "sampler/publish.h"

#include "base/clock.h"
#include "sampler/known.h"
#include "sampler/raw.h"
#include "sampler/states.h"
#include "sampler/text.h"
#include "sampler/unwind_recv.h"
#include "walk/layout.h"

#include <string.h>

#define DELTAS_MAX         256u
#define MODULES_REFRESH_NS 2000000000ull /* known mappings are looked at again */
#define MODULES_UNKNOWN_NS 200000000ull  /* at least this between two refreshes for unknown pcs */
#define MODULES_COST_SHARE 200ull        /* reading the maps takes at most 1/200 of the time */
#define NAMES_PATIENCE_NS  2000000000ull /* a trace waits for a name whose handler is preempted */

_Static_assert((int)WALK_INTERPRETED == WIRE_FRAME_INTERPRETED && (int)WALK_C1 == WIRE_FRAME_C1 &&
		       (int)WALK_C2 == WIRE_FRAME_C2 && (int)WALK_INLINED == WIRE_FRAME_INLINED &&
		       (int)WALK_JAVA == WIRE_FRAME_JAVA && (int)WALK_NATIVE == WIRE_FRAME_NATIVE &&
		       (int)WALK_KERNEL == WIRE_FRAME_KERNEL && (int)WALK_STUB == WIRE_FRAME_STUB &&
		       (int)WALK_CLASS == WIRE_FRAME_CLASS && (int)WALK_BREAK == WIRE_FRAME_BREAK &&
		       (int)WALK_CUT == WIRE_FRAME_CUT &&
		       (int)WALK_CLASS_OUTSIDE == WIRE_FRAME_CLASS_OUTSIDE,
	"a packed frame is a wire frame, but for native pcs");

struct publish {
	struct sampler *s;
	struct modules *modules;
	uint32_t next_trace;
	uint32_t names_done;  /* the last METHOD published */
	uint32_t names_waits; /* publications that did, in a row */
	uint64_t now_ns, names_since_ns;
	bool wants_names;
	uint64_t modules_read_ns, modules_cost_ns;

	/* the half that is being published */
	bool draining;
	uint32_t cursor;
	uint64_t drained_ns, last_tick_ns; /* when it was flipped away; the end of the one before */
	uint64_t flips;
	uint32_t delta_count[WIRE_EVENTS];
	struct wire_delta deltas[WIRE_EVENTS][DELTAS_MAX];
	struct states states;
	struct known_traces known;
};

size_t publish_size(void)
{
	return sizeof(struct publish);
}

void publish_init(struct publish *p, struct sampler *s, struct modules *modules)
{
	p->s = s;
	p->modules = modules;
	p->next_trace = p->known.epoch = 1;
	p->last_tick_ns = s->start_ns;
}

uint64_t publish_flips(const struct publish *p)
{
	return p->flips;
}

/* publish_forget: every trace is told anew when it comes again. */
static void publish_forget(struct publish *p)
{
	known_forget(&p->known);
	counters_add(&p->s->counters, COUNTER_TRACES_FORGOTTEN, 1);
}

/* --- records ---------------------------------------------------------------------------------- */

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

/* publish_waited: has a missing name been waited for long enough? */
static bool publish_waited(struct publish *p)
{
	if (!p->names_waits++)
		p->names_since_ns = p->now_ns;
	return p->now_ns - p->names_since_ns >= NAMES_PATIENCE_NS;
}

/* publish_named: has every method of this trace been published? */
static bool publish_named(struct publish *p, const struct trace_key *key)
{
	for (uint32_t i = 0; i < key->count; i++) {
		unsigned type = WIRE_FRAME_KIND(key->frames[i]);

		if (type == WALK_NATIVE || type == WALK_KERNEL || type == WALK_CUT)
			continue;
		if (type == WALK_JAVA
				? agct_unpublished(p->s->agct, WIRE_FRAME_METHOD(key->frames[i]))
				: WIRE_FRAME_METHOD(key->frames[i]) > p->names_done)
			return publish_waited(p);
	}
	p->names_waits = 0;
	return true;
}

static bool publish_module(struct publish *p, struct module *module)
{
	struct wire_module *rec;

	if (module->published)
		return true;
	rec = ring_reserve(
		&p->s->ring, WIRE_REC_MODULE, (uint32_t)sizeof(*rec) + module->path_bytes);
	if (!rec)
		return false;
	rec->id = module->id;
	rec->path_bytes = module->path_bytes;
	rec->start = module->start;
	rec->end = module->end;
	rec->file_offset = module->file_offset;
	rec->inode = module->inode;
	rec->dev_major = module->dev_major;
	rec->dev_minor = module->dev_minor;
	memcpy(rec->path, module->path, module->path_bytes);
	module->published = true;
	return true;
}

static bool publish_thread_record(
	struct publish *p, const struct wire_thread *thread, const char *name, uint32_t bytes)
{
	struct wire_thread *rec =
		ring_reserve(&p->s->ring, WIRE_REC_THREAD, (uint32_t)sizeof(*rec) + bytes);
	struct wire_record header;

	if (!rec)
		return false;
	header = rec->rec;
	memcpy(rec, thread, sizeof(*thread));
	rec->rec = header;
	rec->name_bytes = bytes;
	memcpy(rec->name, name, bytes);
	return true;
}

bool publish_agent_thread(struct publish *p, int32_t tid, const char *name)
{
	struct wire_thread thread = {.os_tid = tid, .kind = WIRE_THREAD_AGENT};

	thread.id = atomic_fetch_add(&p->s->threads->next_id, 1) + 1;
	return publish_thread_record(p, &thread, name, (uint32_t)strlen(name));
}

void publish_comm(struct thread_slot *slot)
{
	char path[48], name[32];
	struct text text = text_into(path, sizeof(path));
	long fd, got;

	text_add(&text, "/proc/self/task/");
	text_add_number(&text, (uint64_t)atomic_load(&slot->tid));
	text_add(&text, "/comm");
	fd = raw(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	got = raw(SYS_read, fd, name, sizeof(name));
	raw(SYS_close, fd);
	if (got > 1)
		threads_name(slot, name, (size_t)got - 1,
			threads_kind(name, (size_t)got - 1, atomic_load(&slot->java_thread) != 0),
			false);
}

/* publish_slot: the thread as it is called now; without a name while somebody is writing one. */
static bool publish_slot(struct publish *p, struct thread_slot *slot)
{
	struct wire_thread thread = {.id = slot->id, .os_tid = atomic_load(&slot->tid)};
	uint32_t seq = atomic_load_explicit(&slot->name_seq, memory_order_acquire);
	uint32_t bytes = slot->name_bytes <= THREADS_NAME ? slot->name_bytes : 0;
	char name[THREADS_NAME];

	memcpy(name, slot->name, bytes);
	thread.kind = slot->kind;
	thread.java_tid = slot->java_tid;
	atomic_thread_fence(memory_order_acquire);
	if (seq & 1 || atomic_load_explicit(&slot->name_seq, memory_order_relaxed) != seq)
		seq = bytes = 0;
	if (!publish_thread_record(p, &thread, name, bytes))
		return false;
	slot->published_seq = seq + 1;
	return true;
}

static bool publish_thread(struct publish *p, uint32_t id)
{
	struct thread_slot *slot = threads_by_id(p->s->threads, id);

	if (!slot || slot->published_seq == atomic_load(&slot->name_seq) + 1)
		return true;
	if (!slot->named_by_jvm) {
		publish_comm(slot);
		p->wants_names |= slot->kind == WIRE_THREAD_JAVA;
	}
	return publish_slot(p, slot);
}

bool publish_wait(struct publish *p, const struct wire_wait *wait)
{
	struct wire_wait *rec;
	struct wire_record header;

	if (!publish_methods(p) || wait->method > p->names_done ||
		!publish_thread(p, wait->thread) ||
		(wait->owner && !publish_thread(p, wait->owner)))
		return false;
	rec = ring_reserve(&p->s->ring, WIRE_REC_WAIT, sizeof(*rec));
	if (!rec)
		return false;
	header = rec->rec;
	*rec = *wait;
	rec->rec = header;
	return true;
}

bool publish_wants_names(const struct publish *p)
{
	return p->wants_names || p->names_waits;
}

bool publish_renamed(struct publish *p, bool look)
{
	struct threads *threads = p->s->threads;
	uint32_t high = atomic_load(&threads->high);

	p->wants_names &= !look;
	for (uint32_t i = 0; i < high; i++) {
		struct thread_slot *slot = &threads->slots[i];

		if (!atomic_load(&slot->tid) || atomic_load(&slot->gone) || !slot->published_seq)
			continue;
		if (look && !slot->named_by_jvm)
			publish_comm(slot);
		if (slot->published_seq != atomic_load(&slot->name_seq) + 1 &&
			!publish_slot(p, slot))
			return false;
	}
	return true;
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

/* --- native frames ---------------------------------------------------------------------------- */

static void modules_again(struct publish *p, uint64_t now)
{
	bool full = false;

	if (modules_refresh(p->modules, &full))
		publish_forget(p);
	unwind_recv_prune(p->s->unwind_recv);
	if (full)
		counters_add(&p->s->counters, COUNTER_MODULES_FULL, 1);
	p->modules_read_ns = now;
	p->modules_cost_ns = clock_mono_ns() - now;
}

/*
 * module_of: the module of a pc; looks at the maps again for a pc in none, but not for each of
 * them.
 */
static struct module *module_of(struct publish *p, uint64_t pc)
{
	struct module *module = modules_find(p->modules, pc);
	uint64_t now;

	if (module)
		return module;
	now = clock_mono_ns();
	if (now - p->modules_read_ns < MODULES_UNKNOWN_NS + MODULES_COST_SHARE * p->modules_cost_ns)
		return NULL;
	modules_again(p, now);
	return modules_find(p->modules, pc);
}

void publish_all_modules(struct publish *p)
{
	struct module *module;
	uint32_t cursor = 0;

	while ((module = modules_next(p->modules, &cursor)) && publish_module(p, module))
		;
	ring_commit(&p->s->ring);
}

static bool publish_modules(struct publish *p, const struct trace_key *key)
{
	for (uint32_t i = 0; i < key->count; i++) {
		struct module *module;

		if (WIRE_FRAME_KIND(key->frames[i]) != WALK_NATIVE)
			continue;
		module = module_of(p, WIRE_FRAME_PAYLOAD(key->frames[i]));
		if (module && !publish_module(p, module))
			return false;
	}
	return true;
}

static uint64_t frame_to_wire(struct publish *p, uint64_t frame)
{
	uint64_t pc = WIRE_FRAME_PAYLOAD(frame);
	const struct module *module;

	if (WIRE_FRAME_KIND(frame) != WALK_NATIVE)
		return frame;
	module = modules_find(p->modules, pc);
	if (!module || !module->published)
		return WIRE_FRAME(WIRE_FRAME_RAW, pc);
	return WIRE_NATIVE_FRAME(module->id, pc - module->start + module->file_offset);
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
		rec->frames[i] = frame_to_wire(p, key->frames[i]);
	return true;
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

/* trace_id: of a trace, published if it is new; 0 when the ring has no room for it. */
static uint32_t trace_id(struct publish *p, const struct trace_entry *entry)
{
	uint32_t id = known_id(&p->known, entry->hash);

	if (id)
		return id;
	if (!publish_trace(p, &entry->key, &id))
		return 0;
	if (!known_add(&p->known, entry->hash, id))
		counters_add(&p->s->counters, COUNTER_TRACES_FORGOTTEN, 1);
	return id;
}

/* entry_owed: a trace by hash that was forgotten meanwhile: the thread's next sample stands for it, too. */
static void entry_owed(struct publish *p, const struct trace_entry *entry)
{
	struct thread_slot *slot = threads_by_id(p->s->threads, entry->key.thread);
	struct event *event = &p->s->events[entry->key.event];

	if (!slot) {
		atomic_fetch_add(&event->lost, entry->count);
		counters_add(&p->s->counters, COUNTER_LATE, entry->count);
		return;
	}
	atomic_store(&slot->wall.hash, 0);
	atomic_fetch_add(&slot->wall.owed, entry->weight);
	atomic_fetch_sub(&event->samples, entry->count);
}

static bool publish_entry(struct publish *p, const struct trace_entry *entry)
{
	uint32_t event = entry->key.event & (WIRE_EVENTS - 1), id;

	if (p->delta_count[event] == DELTAS_MAX && !publish_deltas(p, event))
		return false;
	if (entry->again && !known_id(&p->known, entry->hash)) {
		entry_owed(p, entry);
		return true;
	}
	id = trace_id(p, entry);
	if (!id)
		return false;
	p->deltas[event][p->delta_count[event]++] =
		(struct wire_delta){.trace = id, .count = entry->count, .weight = entry->weight};
	return true;
}

static bool publish_tick(struct publish *p)
{
	struct wire_tick *rec;

	for (uint32_t event = 0; event < WIRE_EVENTS; event++) {
		if (!publish_deltas(p, event))
			return false;
	}
	rec = ring_reserve(&p->s->ring, WIRE_REC_TICK, sizeof(*rec));
	if (!rec)
		return false;
	rec->time_ns = p->drained_ns;
	rec->since_ns = p->last_tick_ns;
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

bool publish_table(struct publish *p, uint64_t now_ns)
{
	bool whole;

	p->now_ns = now_ns;
	if (!p->draining && !trace_table_flip(p->s->table))
		return false;
	if (!p->draining) {
		p->draining = true;
		p->drained_ns = now_ns;
		p->cursor = 0;
	}
	if (now_ns - p->modules_read_ns >
		MODULES_REFRESH_NS + MODULES_COST_SHARE * p->modules_cost_ns)
		modules_again(p, now_ns);
	whole = publish_rest(p);
	ring_commit(&p->s->ring);
	if (!whole && !p->names_waits)
		counters_add(&p->s->counters, COUNTER_RING_FULL, 1);
	if (!whole)
		return false;
	trace_table_clear(p->s->table);
	p->draining = false;
	p->flips++;
	return true;
}
