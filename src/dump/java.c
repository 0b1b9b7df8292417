/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JavaThread -> java.lang.Thread -> its fields; and from a monitor or a synchronizer to its owner, who is told by
 * JavaThread, by an address on the owner's stack, or by Thread.getId.
 */
#include "dump/java.h"

#include "base/clean.h"
#include "walk/hotspot/java_thread.h"
#include "walk/hotspot/threads.h"
#include "walk/load/mem.h"

#include <stdlib.h>
#include <string.h>

/* JVMTI's bits of a thread's state, jvmti.h. */
#define STATUS_TERMINATED 0x0002u
#define STATUS_RUNNABLE   0x0004u
#define STATUS_TIMED      0x0020u
#define STATUS_SLEEPING   0x0040u
#define STATUS_NOTIFY     0x0100u
#define STATUS_PARKED     0x0200u
#define STATUS_BLOCKED    0x0400u

#define OWNER_ID_SINCE    24 /* JDK: a monitor's owner is a thread's id, no address */
#define OWNER_ID_LEAST    3u /* below: nobody, one that only its lock stack knows, being taken apart */
#define OWNER_LEAST       4096u
#define SUPERS            64 /* against loops */
#define TEXT_CHARS        256u

static const char thread_class[] = "java/lang/Thread";
static const char synchronizer_class[] = "java/util/concurrent/locks/AbstractOwnableSynchronizer";

struct java_reader {
	const struct walk_layout *layout;
	const struct walk_mem *mem;
	struct java_threads java;
	/* more fields of java.lang.Thread, 0: it has none of that name */
	uint32_t holder, status, blocker;
	uint32_t holder_status; /* since JDK 19 the status is in a Thread$FieldHolder */
	/* of AbstractOwnableSynchronizer, found with the first one */
	uint64_t synchronizer_klass;
	uint32_t owner;
	/* the thread that was looked at last */
	uint64_t java_thread, thread_word;
	struct oop thread;
};

/* The offset of a class's own field, 0 if it has none of that name. */
static uint32_t offset_of(const struct java_reader *r, uint64_t klass, const char *field)
{
	uint32_t offset;

	return oop_fields(r->layout, r->mem, klass, &field, &offset, 1) ? offset : 0;
}

static struct oop field_of(const struct java_reader *r, uint64_t object, uint32_t offset)
{
	return offset ? oop_field(&r->java.mode, r->layout, r->mem, object + offset)
		      : (struct oop){0, 0};
}

/* The class of that name among klass and those above it. */
static uint64_t super_of(const struct java_reader *r, uint64_t klass, const char *name)
{
	for (int i = 0; i < SUPERS && klass; i++) {
		if (oop_klass_is(r->layout, r->mem, klass, name))
			return klass;
		klass = layout_load(&r->layout->klass_super, r->mem, klass);
	}
	return 0;
}

struct java_reader *java_reader_new(const struct walk_layout *layout, const struct walk_mem *mem)
{
	struct java_reader *r = xcalloc(1, sizeof(*r));

	r->layout = layout;
	r->mem = mem;
	if (!java_threads_find(&r->java, layout, mem)) {
		free(r);
		return NULL;
	}
	r->holder = offset_of(r, r->java.klass, "holder");
	r->status = r->holder ? 0 : offset_of(r, r->java.klass, "threadStatus");
	r->blocker = offset_of(r, r->java.klass, "parkBlocker");
	return r;
}

void java_reader_free(struct java_reader *r)
{
	free(r);
}

/* --- the thread's object ----------------------------------------------------------------------------- */

static bool thread_object(struct java_reader *r, uint64_t java_thread)
{
	r->thread = java_thread_object(&r->java, r->layout, r->mem, java_thread);
	return r->thread.klass && super_of(r, r->thread.klass, thread_class);
}

void java_read_text(struct java_reader *r, struct oop string, char *out, size_t out_bytes)
{
	uint8_t bytes[2 * TEXT_CHARS];
	struct java_text read = {.bytes = bytes, .room = sizeof(bytes)};
	char text[2 * sizeof(bytes)];
	uint32_t length = 0;

	if (string.klass && java_text_read(&r->java, r->layout, r->mem, string, &read))
		length = java_text_utf8(bytes, read.count, read.wide, text);
	clean_text(out, out_bytes, text, length);
}

void java_read_name(struct java_reader *r, uint64_t java_thread, struct java_facts *out)
{
	memset(out, 0, sizeof(*out));
	r->java_thread = 0;
	if (!thread_object(r, java_thread))
		return;
	r->java_thread = java_thread;
	r->thread_word = java_thread_word(&r->java, r->layout, r->mem, java_thread);
	mem_load(r->mem, r->thread.object + r->java.tid, &out->id, sizeof(out->id));
	java_read_text(
		r, field_of(r, r->thread.object, r->java.name), out->name, sizeof(out->name));
}

/* --- state ------------------------------------------------------------------------------------------- */

static const char *state_name(uint32_t status)
{
	static const struct {
		uint32_t bits;
		const char *name;
	} states[] = {
		{STATUS_TERMINATED, "TERMINATED"},
		{STATUS_BLOCKED, "BLOCKED (on object monitor)"},
		{STATUS_SLEEPING, "TIMED_WAITING (sleeping)"},
		{STATUS_NOTIFY | STATUS_TIMED, "TIMED_WAITING (on object monitor)"},
		{STATUS_NOTIFY, "WAITING (on object monitor)"},
		{STATUS_PARKED | STATUS_TIMED, "TIMED_WAITING (parking)"},
		{STATUS_PARKED, "WAITING (parking)"},
		{STATUS_RUNNABLE, "RUNNABLE"},
	};

	if (!status)
		return "NEW";
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if ((status & states[i].bits) == states[i].bits)
			return states[i].name;
	return NULL;
}

static bool read_status(struct java_reader *r, uint32_t *status)
{
	struct oop holder;

	if (r->status)
		return mem_load(r->mem, r->thread.object + r->status, status, sizeof(*status));
	holder = field_of(r, r->thread.object, r->holder);
	if (holder.klass && !r->holder_status)
		r->holder_status = offset_of(r, holder.klass, "threadStatus");
	return holder.klass && r->holder_status &&
	       mem_load(r->mem, holder.object + r->holder_status, status, sizeof(*status));
}

/* --- locks ------------------------------------------------------------------------------------------- */

static void set_lock(struct java_reader *r, struct oop lock, struct java_facts *out)
{
	out->lock = lock.object;
	out->lock_class[oop_klass_name(r->layout, r->mem, lock.klass, out->lock_class,
		sizeof(out->lock_class) - 1)] = '\0';
}

static bool read_monitor(struct java_reader *r, uint64_t monitor, struct java_facts *out)
{
	const struct walk_layout *l = r->layout;
	struct oop lock;
	uint64_t owner;

	if (!monitor || l->monitor_object.offset < 0)
		return false;
	lock = oop_held(&r->java.mode, l, r->mem, monitor + (uint64_t)l->monitor_object.offset);
	if (!lock.klass)
		return false;
	set_lock(r, lock, out);
	owner = layout_load(&l->monitor_owner, r->mem, monitor);
	if (l->jdk >= OWNER_ID_SINCE)
		out->owner_id = owner >= OWNER_ID_LEAST ? (int64_t)owner : 0;
	else if (owner >= OWNER_LEAST)
		out->owner = owner;
	return true;
}

/* Who owns a ReentrantLock, or what else says so by extending AbstractOwnableSynchronizer. */
static void read_synchronizer(struct java_reader *r, struct oop lock, struct java_facts *out)
{
	uint64_t klass = super_of(r, lock.klass, synchronizer_class);
	struct oop owner;

	if (!klass)
		return;
	if (klass != r->synchronizer_klass)
		r->owner = offset_of(r, klass, "exclusiveOwnerThread");
	r->synchronizer_klass = klass;
	owner = field_of(r, lock.object, r->owner);
	if (super_of(r, owner.klass, thread_class))
		mem_load(r->mem, owner.object + r->java.tid, &out->owner_id, sizeof(out->owner_id));
}

static void read_lock(
	struct java_reader *r, uint64_t java_thread, uint32_t status, struct java_facts *out)
{
	const struct walk_layout *l = r->layout;
	struct oop lock = {0, 0};

	if (status & STATUS_PARKED)
		lock = field_of(r, r->thread.object, r->blocker);
	/* Who has been notified is still in Object.wait, but waits to enter again. */
	if (status & STATUS_BLOCKED &&
		(read_monitor(r, layout_load(&l->thread_pending, r->mem, java_thread), out) ||
			read_monitor(
				r, layout_load(&l->thread_waiting, r->mem, java_thread), out))) {
		out->wait = JAVA_WAIT_ENTER;
	} else if (status & STATUS_NOTIFY &&
		   read_monitor(r, layout_load(&l->thread_waiting, r->mem, java_thread), out)) {
		out->wait = JAVA_WAIT_NOTIFY;
		out->owner = 0;
		out->owner_id = 0;
	} else if (lock.klass) {
		out->wait = JAVA_WAIT_PARK;
		set_lock(r, lock, out);
		read_synchronizer(r, lock, out);
	}
}

void java_read_state(struct java_reader *r, uint64_t java_thread, struct java_facts *out)
{
	uint32_t status;

	/* What was found a moment ago is still true where the reference is the same. */
	if ((r->java_thread != java_thread ||
		    java_thread_word(&r->java, r->layout, r->mem, java_thread) != r->thread_word) &&
		!thread_object(r, java_thread))
		return;
	if (!read_status(r, &status))
		return;
	out->state = state_name(status);
	if (status & (STATUS_BLOCKED | STATUS_NOTIFY | STATUS_PARKED))
		read_lock(r, java_thread, status, out);
}

/* --- who waits for whom -------------------------------------------------------------------------------- */

static const struct java_note *locker_of(const struct java_note *notes, size_t count,
	const struct walk_layout *layout, const struct walk_mem *mem, uint64_t object)
{
	for (size_t i = 0; i < count; i++)
		if (walk_thread_has_locked(layout, mem, notes[i].java_thread, object))
			return &notes[i];
	return NULL;
}

static const struct java_note *owner_of(const struct java_note *notes, size_t count,
	const struct walk_layout *layout, const struct walk_mem *mem, const struct java_facts *f)
{
	for (size_t i = 0; i < count; i++) {
		const struct java_note *n = &notes[i];

		if ((f->owner_id && n->facts.id == f->owner_id) ||
			(f->owner &&
				(n->java_thread == f->owner || walk_thread_on_stack(layout, mem,
								       n->java_thread, f->owner))))
			return n;
	}
	return f->wait == JAVA_WAIT_ENTER ? locker_of(notes, count, layout, mem, f->lock) : NULL;
}

char *java_class_text(const char *name)
{
	struct buf text = {0};

	clean_add_class(&text, name, strlen(name));
	return buf_steal(&text);
}

void java_locks_resolve(const struct java_note *notes, size_t count,
	const struct walk_layout *layout, const struct walk_mem *mem, struct dump *d)
{
	static const char *const what[] = {[JAVA_WAIT_ENTER] = "waiting to lock",
		[JAVA_WAIT_NOTIFY] = "waiting on",
		[JAVA_WAIT_PARK] = "parked for"};

	for (size_t i = 0; i < count; i++) {
		const struct java_facts *f = &notes[i].facts;
		struct dump_lock *lock = &d->threads[notes[i].thread].lock;
		const struct java_note *owner = owner_of(notes, count, layout, mem, f);

		if (f->wait == JAVA_WAIT_NONE || !f->lock_class[0])
			continue;
		*lock = (struct dump_lock){.what = what[f->wait],
			.class_name = java_class_text(f->lock_class),
			.address = f->lock};
		if (!owner)
			continue;
		lock->owner = d->threads[owner->thread].name;
		lock->owner_tid = d->threads[owner->thread].tid;
	}
}
