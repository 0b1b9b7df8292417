/* SPDX-License-Identifier: Apache-2.0 */
/* JavaThread -> java.lang.Thread -> its fields; and from a monitor or a synchronizer to its owner. */
#include "dump/java.h"

#include "base/buf.h"
#include "dump/object.h"
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

static const char thread_class[] = "java/lang/Thread";
static const char synchronizer_class[] = "java/util/concurrent/locks/AbstractOwnableSynchronizer";

struct java_reader {
	const struct walk_layout *layout;
	const struct walk_mem *mem;
	/* fields of java.lang.Thread, found with the first thread */
	uint64_t thread_klass;
	uint32_t name, id, holder, status, blocker;
	uint32_t holder_status; /* since JDK 19 the status is in a Thread$FieldHolder */
	/* of AbstractOwnableSynchronizer, found with the first one */
	uint64_t synchronizer_klass;
	uint32_t owner;
	/* the thread that was looked at last */
	uint64_t java_thread, handle_word;
	struct object thread;
};

struct java_reader *java_reader_new(const struct walk_layout *layout, const struct walk_mem *mem)
{
	struct java_reader *r;

	if (layout->thread_object.offset < 0)
		return NULL;
	r = xcalloc(1, sizeof(*r));
	r->layout = layout;
	r->mem = mem;
	return r;
}

void java_reader_free(struct java_reader *r)
{
	free(r);
}

/* --- the thread's object ----------------------------------------------------------------------------- */

static bool find_fields(struct java_reader *r, uint64_t klass)
{
	const struct walk_layout *l = r->layout;
	uint64_t thread = object_super(l, r->mem, klass, thread_class);

	if (!thread)
		return false;
	r->thread_klass = thread;
	r->name = object_offset(l, r->mem, thread, "name");
	r->id = object_offset(l, r->mem, thread, "tid");
	r->holder = object_offset(l, r->mem, thread, "holder");
	r->status = r->holder ? 0 : object_offset(l, r->mem, thread, "threadStatus");
	r->blocker = object_offset(l, r->mem, thread, "parkBlocker");
	return true;
}

/* The reference in the thread's handle: it moves when a collector moves the object. */
static uint64_t handle_word(struct java_reader *r, uint64_t java_thread)
{
	return mem_u64(r->mem, layout_load(&r->layout->thread_object, r->mem, java_thread));
}

static bool thread_object(struct java_reader *r, uint64_t java_thread)
{
	uint64_t handle = layout_load(&r->layout->thread_object, r->mem, java_thread);

	if (!object_of_handle(r->layout, r->mem, handle, &r->thread))
		return false;
	if (!object_super(r->layout, r->mem, r->thread.klass, thread_class))
		return false;
	return r->thread_klass || find_fields(r, r->thread.klass);
}

void java_read_name(struct java_reader *r, uint64_t java_thread, struct java_facts *out)
{
	struct object name;

	memset(out, 0, sizeof(*out));
	r->java_thread = 0;
	if (!thread_object(r, java_thread))
		return;
	r->java_thread = java_thread;
	r->handle_word = handle_word(r, java_thread);
	if (r->id)
		mem_load(r->mem, r->thread.address + r->id, &out->id, sizeof(out->id));
	if (object_field(r->layout, r->mem, &r->thread, r->name, &name))
		object_text(r->layout, r->mem, &name, out->name, sizeof(out->name));
}

/* --- state ------------------------------------------------------------------------------------------- */

const char *java_state_name(uint32_t status)
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
	struct object holder;

	if (r->status)
		return mem_load(r->mem, r->thread.address + r->status, status, sizeof(*status));
	if (!object_field(r->layout, r->mem, &r->thread, r->holder, &holder))
		return false;
	if (!r->holder_status)
		r->holder_status = object_offset(r->layout, r->mem, holder.klass, "threadStatus");
	return r->holder_status &&
	       mem_load(r->mem, holder.address + r->holder_status, status, sizeof(*status));
}

/* --- locks ------------------------------------------------------------------------------------------- */

static void set_lock(struct java_reader *r, const struct object *lock, struct java_facts *out)
{
	out->lock = lock->address;
	object_class_name(r->layout, r->mem, lock->klass, out->lock_class, sizeof(out->lock_class));
}

static bool read_monitor(struct java_reader *r, uint64_t monitor, struct java_facts *out)
{
	const struct walk_layout *l = r->layout;
	struct object lock;
	uint64_t owner;

	if (!monitor || l->monitor_object.offset < 0 ||
		!object_of_handle(
			l, r->mem, layout_load(&l->monitor_object, r->mem, monitor), &lock))
		return false;
	set_lock(r, &lock, out);
	owner = layout_load(&l->monitor_owner, r->mem, monitor);
	if (l->jdk >= OWNER_ID_SINCE)
		out->owner_id = owner >= OWNER_ID_LEAST ? (int64_t)owner : 0;
	else if (owner >= OWNER_LEAST)
		out->owner = owner;
	return true;
}

/* Who owns a ReentrantLock, or what else says so by extending AbstractOwnableSynchronizer. */
static void read_synchronizer(
	struct java_reader *r, const struct object *lock, struct java_facts *out)
{
	const struct walk_layout *l = r->layout;
	uint64_t klass = object_super(l, r->mem, lock->klass, synchronizer_class);
	struct object owner;

	if (!klass)
		return;
	if (klass != r->synchronizer_klass)
		r->owner = object_offset(l, r->mem, klass, "exclusiveOwnerThread");
	r->synchronizer_klass = klass;
	if (r->id && object_field(l, r->mem, lock, r->owner, &owner) &&
		object_super(l, r->mem, owner.klass, thread_class))
		mem_load(r->mem, owner.address + r->id, &out->owner_id, sizeof(out->owner_id));
}

static void read_lock(
	struct java_reader *r, uint64_t java_thread, uint32_t status, struct java_facts *out)
{
	const struct walk_layout *l = r->layout;
	struct object lock;

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
	} else if (status & STATUS_PARKED &&
		   object_field(l, r->mem, &r->thread, r->blocker, &lock)) {
		out->wait = JAVA_WAIT_PARK;
		set_lock(r, &lock, out);
		read_synchronizer(r, &lock, out);
	}
}

void java_read_state(struct java_reader *r, uint64_t java_thread, struct java_facts *out)
{
	uint32_t status;

	/* What was found a moment ago is still true where the handle says the same. */
	if (r->java_thread != java_thread || handle_word(r, java_thread) != r->handle_word)
		if (!thread_object(r, java_thread))
			return;
	if (!read_status(r, &status))
		return;
	out->state = java_state_name(status);
	if (status & (STATUS_BLOCKED | STATUS_NOTIFY | STATUS_PARKED))
		read_lock(r, java_thread, status, out);
}
