/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows JavaThread -> java.lang.Thread -> its fields, and from a monitor or synchronizer to its owner, which is given as a
 * JavaThread, an address on the owner's stack, or a Thread.getId.
 */
#include "dump/java.h"

#include "base/clean.h"
#include "walk/hotspot/java_wait.h"
#include "walk/hotspot/threads.h"
#include "walk/load/mem.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_CHARS 256u

static const char thread_class[] = "java/lang/Thread";

struct java_reader {
	struct java_waits waits;
	/* the thread of the last java_read_name */
	uint64_t java_thread, thread_word;
	struct oop thread;
};

struct java_reader *java_reader_new(const struct walk_layout *layout, const struct walk_mem *mem)
{
	struct java_reader *r = xcalloc(1, sizeof(*r));

	if (java_waits_open(&r->waits, layout, mem))
		return r;
	free(r);
	return NULL;
}

void java_reader_free(struct java_reader *r)
{
	free(r);
}

/* --- the thread's object ----------------------------------------------------------------------------- */

/* Loads the java.lang.Thread of this JavaThread into r->thread; false if there is none. */
static bool thread_object(struct java_reader *r, uint64_t java_thread)
{
	r->thread =
		java_thread_object(&r->waits.threads, r->waits.layout, r->waits.mem, java_thread);
	return r->thread.klass && java_super(&r->waits, r->thread.klass, thread_class);
}

void java_read_text(struct java_reader *r, struct oop string, char *out, size_t out_bytes)
{
	uint8_t bytes[2 * TEXT_CHARS];
	struct java_text read = {.bytes = bytes, .size = sizeof(bytes)};
	char text[2 * sizeof(bytes)];
	uint32_t length = 0;

	if (string.klass &&
		java_text_read(&r->waits.threads, r->waits.layout, r->waits.mem, string, &read))
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
	r->thread_word =
		java_thread_word(&r->waits.threads, r->waits.layout, r->waits.mem, java_thread);
	mem_load(r->waits.mem, r->thread.object + r->waits.threads.tid, &out->id, sizeof(out->id));
	java_read_text(r,
		oop_field(&r->waits.threads.mode, r->waits.layout, r->waits.mem,
			r->thread.object + r->waits.threads.name),
		out->name, sizeof(out->name));
}

/* --- state ------------------------------------------------------------------------------------------- */

static const char *state_name(uint32_t status)
{
	static const struct {
		uint32_t bits;
		const char *name;
	} states[] = {
		{JAVA_TERMINATED, "TERMINATED"},
		{JAVA_BLOCKED, "BLOCKED (on object monitor)"},
		{JAVA_SLEEPING, "TIMED_WAITING (sleeping)"},
		{JAVA_NOTIFY | JAVA_TIMED, "TIMED_WAITING (on object monitor)"},
		{JAVA_NOTIFY, "WAITING (on object monitor)"},
		{JAVA_PARKED | JAVA_TIMED, "TIMED_WAITING (parking)"},
		{JAVA_PARKED, "WAITING (parking)"},
		{JAVA_RUNNABLE, "RUNNABLE"},
	};

	if (!status)
		return "NEW";
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if ((status & states[i].bits) == states[i].bits)
			return states[i].name;
	return NULL;
}

/* --- locks ------------------------------------------------------------------------------------------- */

static void set_lock(struct java_reader *r, struct oop lock, struct java_facts *out)
{
	out->lock = lock.object;
	out->lock_class[oop_klass_name(r->waits.layout, r->waits.mem, lock.klass, out->lock_class,
		sizeof(out->lock_class) - 1)] = '\0';
}

/* Stores a monitor's object and owner; false if it has no object. */
static bool read_monitor(struct java_reader *r, uint64_t monitor, struct java_facts *out)
{
	struct oop lock = java_wait_object(&r->waits, monitor);

	if (!lock.klass)
		return false;
	set_lock(r, lock, out);
	struct java_holder holder = java_wait_holder(&r->waits, monitor);
	out->owner = holder.at;
	out->owner_id = holder.id;
	return true;
}

static void read_lock(
	struct java_reader *r, uint64_t java_thread, uint32_t status, struct java_facts *out)
{
	const struct walk_layout *l = r->waits.layout;
	const struct walk_mem *mem = r->waits.mem;
	struct oop lock = {0, 0};

	if (status & JAVA_PARKED)
		lock = java_wait_blocker(&r->waits, r->thread.object);
	/* A thread that was signalled or notified waits to reacquire the lock. */
	struct oop signalled = java_wait_signalled(&r->waits, lock, r->thread.object);
	if (signalled.klass)
		lock = signalled;
	if (status & JAVA_BLOCKED &&
		(read_monitor(r, layout_load(&l->thread_pending, mem, java_thread), out) ||
			read_monitor(r, layout_load(&l->thread_waiting, mem, java_thread), out))) {
		out->wait = JAVA_WAIT_ENTER;
	} else if (status & JAVA_NOTIFY &&
		   read_monitor(r, layout_load(&l->thread_waiting, mem, java_thread), out)) {
		out->wait = JAVA_WAIT_NOTIFY;
		out->owner = 0;
		out->owner_id = 0;
	} else if (lock.klass) {
		out->wait = JAVA_WAIT_PARK;
		set_lock(r, lock, out);
		struct oop owner = java_wait_owner(&r->waits, lock);
		if (owner.klass)
			mem_load(mem, owner.object + r->waits.threads.tid, &out->owner_id,
				sizeof(out->owner_id));
	}
}

void java_read_state(struct java_reader *r, uint64_t java_thread, struct java_facts *out)
{
	uint32_t status;

	/* The result of java_read_name is still valid if the reference is unchanged. */
	if ((r->java_thread != java_thread ||
		    java_thread_word(&r->waits.threads, r->waits.layout, r->waits.mem,
			    java_thread) != r->thread_word) &&
		!thread_object(r, java_thread))
		return;
	if (!java_wait_status(&r->waits, r->thread.object, &status))
		return;
	out->state = state_name(status);
	if (status & (JAVA_BLOCKED | JAVA_NOTIFY | JAVA_PARKED))
		read_lock(r, java_thread, status, out);
}

/* --- owners of locks ------------------------------------------------------------------------------ */

/* The thread that owns the lock; NULL: unknown, or none. */
static const struct java_thread *owner_of(const struct java_thread *threads, size_t count,
	const struct walk_layout *layout, const struct walk_mem *mem, const struct java_facts *f)
{
	for (size_t i = 0; i < count; i++) {
		const struct java_thread *t = &threads[i];

		if ((f->owner_id && t->facts.id == f->owner_id) ||
			(f->owner && (t->address == f->owner || walk_thread_on_stack(layout, mem,
									t->address, f->owner))))
			return t;
	}
	for (size_t i = 0; f->wait == JAVA_WAIT_ENTER && i < count; i++)
		if (walk_thread_has_locked(layout, mem, threads[i].address, f->lock))
			return &threads[i];
	return NULL;
}

char *java_class_text(const char *name)
{
	struct buf text = {0};

	clean_add_class(&text, name, strlen(name));
	return buf_steal(&text);
}

void java_locks_resolve(const struct java_thread *threads, size_t count,
	const struct walk_layout *layout, const struct walk_mem *mem, struct dump *d)
{
	static const char *const what[] = {[JAVA_WAIT_ENTER] = "waiting to lock",
		[JAVA_WAIT_NOTIFY] = "waiting on",
		[JAVA_WAIT_PARK] = "parked for"};

	for (size_t i = 0; i < count; i++) {
		const struct java_facts *f = &threads[i].facts;
		struct dump_lock *lock = &d->threads[threads[i].index].lock;
		const struct java_thread *owner = owner_of(threads, count, layout, mem, f);

		if (f->wait == JAVA_WAIT_NONE || !f->lock_class[0])
			continue;
		*lock = (struct dump_lock){.what = what[f->wait],
			.class_name = java_class_text(f->lock_class),
			.address = f->lock};
		if (!owner)
			continue;
		lock->owner = d->threads[owner->index].name;
		lock->owner_tid = d->threads[owner->index].tid;
	}
}
