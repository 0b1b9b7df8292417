/* SPDX-License-Identifier: Apache-2.0 */
/* Monitors, synchronizers and their owners, by guarded loads. */
#include "sampler/engine/lock/wait.h"

#include "sampler/jvm/jvm.h"

#include "walk/load/mem.h"

#include <string.h>

#define OWNER_ID_SINCE 24    /* JDK: a monitor's owner is a number of its thread, no address */
#define OWNER_LEAST    4096u /* below: nobody, or one that only the owner's lock stack knows */
#define OWNER_ID_LEAST 3u
#define SUPERS         16 /* of a synchronizer */
#define NAME           96
#define STATUS_PARKED  0x200u /* of java.lang.Thread, as in JVMTI */
#define STATUS_BLOCKED 0x400u

/* --- classes ---------------------------------------------------------------------------------- */

static bool name_is(const char *name, uint32_t bytes, const char *wanted)
{
	return strlen(wanted) == bytes && !memcmp(name, wanted, bytes);
}

static bool klass_named(struct sampler *s, uint64_t klass, const char *const *names, size_t count)
{
	char name[NAME];
	uint32_t bytes = oop_klass_name(s->layout, &s->mem, klass, name, sizeof(name));

	for (size_t i = 0; bytes && i < count; i++) {
		if (name_is(name, bytes, names[i]))
			return true;
	}
	return false;
}

/* klass_contended: is it a lock, something that one thread takes and gives back? */
static bool klass_contended(struct sampler *s, uint64_t klass)
{
	static const char *const locks[] = {"java/util/concurrent/locks/AbstractQueuedSynchronizer",
		"java/util/concurrent/locks/AbstractQueuedLongSynchronizer",
		"java/util/concurrent/locks/StampedLock"};
	/* Synchronizers that wait for something to happen. */
	static const char *const others[] = {"java/util/concurrent/CountDownLatch$Sync"};

	if (klass_named(s, klass, others, sizeof(others) / sizeof(others[0])))
		return false;
	for (int i = 0; klass && i < SUPERS; i++) {
		if (klass_named(s, klass, locks, sizeof(locks) / sizeof(locks[0])))
			return true;
		klass = layout_load(&s->layout->klass_super, &s->mem, klass);
	}
	return false;
}

static bool reader_contended(struct lock_reader *r, uint64_t klass)
{
	uint32_t at = (uint32_t)(klass * 0x9e3779b97f4a7c15ull >> 40) % LOCK_KLASSES;

	if (r->klasses[at].klass != klass) {
		r->klasses[at].contended = klass_contended(r->s, klass);
		r->klasses[at].klass = klass;
	}
	return r->klasses[at].contended;
}

void lock_reader_forget(struct lock_reader *r)
{
	memset(r->klasses, 0, sizeof(r->klasses));
}

/* --- what it waits for ------------------------------------------------------------------------ */

/* reader_held: what a field of the JVM's own leads to: by a handle, up to JDK 16 directly. */
static struct oop reader_held(struct lock_reader *r, uint64_t field_at)
{
	struct sampler *s = r->s;
	struct oop oop = oop_slot(&r->mode, s->layout, &s->mem, mem_u64(&s->mem, field_at));

	return oop.klass ? oop : oop_slot(&r->mode, s->layout, &s->mem, field_at);
}

/* reader_thread: the java.lang.Thread that runs: of a carrier, the virtual thread on it. */
static struct oop reader_thread(struct lock_reader *r, uint64_t java_thread)
{
	const struct walk_layout *l = r->s->layout;
	const struct walk_field *field =
		l->thread_virtual.offset >= 0 ? &l->thread_virtual : &l->thread_object;

	return reader_held(r, java_thread + (uint64_t)field->offset);
}

/* reader_class: what a java.lang.Class stands for: who locks one has written "static synchronized". */
static uint64_t reader_class(struct lock_reader *r, const struct oop *oop)
{
	struct sampler *s = r->s;

	if (!oop->klass || !s->layout->class_klass ||
		!oop_klass_is(s->layout, &s->mem, oop->klass, "java/lang/Class"))
		return 0;
	return oop_object_class(s->layout, &s->mem, oop->object);
}

static void wait_monitor(struct lock_reader *r, uint64_t monitor, struct lock_wait *out)
{
	const struct walk_layout *l = r->s->layout;
	struct oop oop = reader_held(r, monitor + (uint64_t)l->monitor_object.offset);

	if (oop.klass || !r->mode.known)
		*out = (struct lock_wait){.lock = monitor,
			.object = oop.object,
			.klass = oop.klass,
			.of = reader_class(r, &oop),
			.monitor = true};
}

/* reader_status: of a java.lang.Thread, where the JVM says what it waits for; otherwise: that is not known. */
static uint32_t reader_status(struct lock_reader *r, uint64_t thread, uint32_t otherwise)
{
	struct sampler *s = r->s;
	struct oop holder = {.object = thread};

	if (r->holder >= 0)
		holder = oop_field(&r->mode, s->layout, &s->mem, thread + (uint32_t)r->holder);
	return r->status < 0 || !holder.object
		       ? otherwise
		       : mem_u32(&s->mem, holder.object + (uint32_t)r->status);
}

uint64_t lock_wait_monitor(struct lock_reader *r, uint64_t java_thread)
{
	struct sampler *s = r->s;
	uint64_t monitor = layout_load(&s->layout->thread_pending, &s->mem, java_thread);
	struct oop thread;

	if (monitor)
		return monitor;
	monitor = layout_load(&s->layout->thread_waiting, &s->mem, java_thread);
	if (!monitor)
		return 0;
	thread = reader_held(r, java_thread + (uint64_t)s->layout->thread_object.offset);
	return thread.klass && reader_status(r, thread.object, 0) & STATUS_BLOCKED ? monitor : 0;
}

static void wait_parked(struct lock_reader *r, uint64_t java_thread, struct lock_wait *out)
{
	struct sampler *s = r->s;
	struct oop thread, blocker;

	if (r->blocker < 0 || !s->layout->thread_blocked ||
		layout_load(&s->layout->thread_state, &s->mem, java_thread) !=
			s->layout->thread_blocked)
		return;
	thread = reader_thread(r, java_thread);
	if (!thread.klass)
		return;
	blocker = oop_field(&r->mode, s->layout, &s->mem, thread.object + (uint32_t)r->blocker);
	out->parked =
		blocker.klass || reader_status(r, thread.object, STATUS_PARKED) & STATUS_PARKED;
	if (blocker.klass && reader_contended(r, blocker.klass))
		*out = (struct lock_wait){
			.lock = blocker.object, .object = blocker.object, .klass = blocker.klass};
}

struct lock_wait lock_wait_read(struct lock_reader *r, uint64_t java_thread)
{
	struct sampler *s = r->s;
	const struct walk_layout *l = s->layout;
	uint64_t monitor = lock_wait_monitor(r, java_thread);
	uint64_t anchor = java_thread + (uint64_t)l->thread_anchor.offset;
	struct lock_wait wait = {0};

	if (monitor)
		wait_monitor(r, monitor, &wait);
	else
		wait_parked(r, java_thread, &wait);
	if (wait.lock) {
		wait.sp = layout_load(&l->anchor_sp, &s->mem, anchor);
		wait.pc = layout_load(&l->anchor_pc, &s->mem, anchor);
	}
	return wait;
}

struct lock_wait lock_wait_virtual(
	struct lock_reader *r, const struct unmounted *java, const struct unmounted_thread *thread)
{
	struct lock_wait wait = {0};
	struct oop blocker;

	if (thread->state == UNMOUNTED_ENTERS) {
		uint64_t monitor = unmounted_monitor(java, thread);

		if (monitor)
			wait_monitor(r, monitor, &wait);
		if (!wait.lock) /* it waits, for what cannot be told */
			wait = (struct lock_wait){.lock = thread->object};
	} else if (thread->state == UNMOUNTED_PARKED) {
		blocker = unmounted_blocker(java, thread);
		if (blocker.klass && reader_contended(r, blocker.klass))
			wait = (struct lock_wait){.lock = blocker.object,
				.object = blocker.object,
				.klass = blocker.klass};
	}
	return wait;
}

bool lock_wait_still(struct lock_reader *r, uint64_t java_thread, const struct lock_wait *wait)
{
	const struct walk_layout *l = r->s->layout;
	const struct walk_mem *mem = &r->s->mem;
	uint64_t anchor = java_thread + (uint64_t)l->thread_anchor.offset;

	return wait->lock && wait->monitor && lock_wait_monitor(r, java_thread) == wait->lock &&
	       layout_load(&l->anchor_sp, mem, anchor) == wait->sp &&
	       layout_load(&l->anchor_pc, mem, anchor) == wait->pc;
}

bool lock_wait_same(const struct lock_wait *a, const struct lock_wait *b)
{
	/* A collector may move what a thread is parked for; a monitor stays. */
	return a->monitor == b->monitor && a->klass == b->klass && a->sp == b->sp &&
	       a->pc == b->pc && (!a->monitor || a->lock == b->lock);
}

/* --- who holds it ----------------------------------------------------------------------------- */

typedef bool owner_test(struct sampler *s, uint64_t java_thread, uint64_t what);

static bool owner_is_thread(struct sampler *s, uint64_t java_thread, uint64_t what)
{
	return java_thread == what || walk_thread_on_stack(s->layout, &s->mem, java_thread, what);
}

static bool owner_has_id(struct sampler *s, uint64_t java_thread, uint64_t what)
{
	return layout_load(&s->layout->thread_owner_id, &s->mem, java_thread) == what;
}

static bool owner_has_locked(struct sampler *s, uint64_t java_thread, uint64_t what)
{
	return what && walk_thread_has_locked(s->layout, &s->mem, java_thread, what);
}

static uint32_t owner_find(struct sampler *s, owner_test *test, uint64_t what)
{
	uint32_t high = atomic_load(&s->threads->high);

	for (uint32_t i = 0; i < high; i++) {
		struct thread_slot *slot = &s->threads->slots[i];
		uint64_t java_thread = atomic_load(&slot->java_thread);
		int32_t tid = atomic_load(&slot->tid);

		if (tid && java_thread && test(s, java_thread, what) &&
			walk_thread_tid(s->layout, &s->mem, java_thread) == tid)
			return slot->id;
	}
	return 0;
}

static uint32_t owner_of_monitor(struct sampler *s, const struct lock_wait *wait)
{
	uint64_t owner = layout_load(&s->layout->monitor_owner, &s->mem, wait->lock);

	if (!owner)
		return 0;
	if (s->layout->jdk >= OWNER_ID_SINCE && owner >= OWNER_ID_LEAST)
		return owner_find(s, owner_has_id, owner);
	if (s->layout->jdk < OWNER_ID_SINCE && owner >= OWNER_LEAST)
		return owner_find(s, owner_is_thread, owner);
	return owner_find(s, owner_has_locked, wait->object);
}

static uint32_t owner_of_synchronizer(struct lock_reader *r, const struct lock_wait *wait)
{
	struct sampler *s = r->s;
	struct oop thread;

	if (r->owner < 0 || r->eetop < 0)
		return 0;
	thread = oop_field(&r->mode, s->layout, &s->mem, wait->object + (uint32_t)r->owner);
	if (!thread.klass)
		return 0;
	return owner_find(s, owner_is_thread, mem_u64(&s->mem, thread.object + (uint32_t)r->eetop));
}

uint32_t lock_wait_owner(struct lock_reader *r, const struct lock_wait *wait)
{
	return wait->monitor ? owner_of_monitor(r->s, wait) : owner_of_synchronizer(r, wait);
}

/* --- opening ---------------------------------------------------------------------------------- */

static void reader_try(void *ctx, uint64_t java_thread, int32_t tid)
{
	struct lock_reader *r = ctx;
	struct sampler *s = r->s;
	uint64_t field = java_thread + (uint64_t)s->layout->thread_object.offset;
	uint64_t slots[] = {mem_u64(&s->mem, field), field};

	for (unsigned i = 0; i < 2 * JVM_FIELD_CODINGS && !r->mode.known; i++) {
		const struct jvm_fields *fields = jvm_fields(i / 2);

		if (fields->thread_name < 0 ||
			!oop_mode_find(&r->mode, s->layout, &s->mem, slots[i % 2],
				"java/lang/Thread", (uint32_t)fields->thread_name))
			continue;
		r->blocker = fields->park_blocker;
		r->owner = fields->lock_owner;
		r->eetop = fields->eetop;
		r->holder = fields->thread_holder;
		r->status = fields->thread_status;
	}
}

bool lock_reader_open(struct lock_reader *r, struct sampler *s)
{
	const struct walk_layout *l = s->layout;

	memset(r, 0, sizeof(*r));
	r->s = s;
	r->blocker = r->owner = r->eetop = r->holder = r->status = -1;
	if (l->thread_object.offset < 0)
		return false;
	walk_threads_each(l, &s->mem, reader_try, r);
	return r->mode.known && l->thread_blocked && l->klass_super.offset >= 0 && r->blocker >= 0;
}
