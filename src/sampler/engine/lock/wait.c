/* SPDX-License-Identifier: Apache-2.0 */
/* Monitors, synchronizers and their owners, by guarded loads. */
#include "sampler/engine/lock/wait.h"

#include "sampler/sampler.h"
#include "walk/load/mem.h"

#include <string.h>

/* klass_contended: is it a lock, something that one thread takes and gives back? */
static bool klass_contended(const struct java_waits *java, uint64_t klass)
{
	static const char *const locks[] = {"java/util/concurrent/locks/AbstractQueuedSynchronizer",
		"java/util/concurrent/locks/AbstractQueuedLongSynchronizer",
		"java/util/concurrent/locks/StampedLock"};

	/* It waits for something to happen. */
	if (oop_klass_is(
		    java->layout, java->mem, klass, "java/util/concurrent/CountDownLatch$Sync"))
		return false;
	for (size_t i = 0; i < sizeof(locks) / sizeof(locks[0]); i++) {
		if (java_super(java, klass, locks[i]))
			return true;
	}
	return false;
}

static enum lock_klass reader_klass(struct lock_reader *r, uint64_t klass)
{
	uint32_t at = (uint32_t)(klass * 0x9e3779b97f4a7c15ull >> 40) % LOCK_KLASSES;

	if (r->klasses[at].klass != klass) {
		r->klasses[at].is = klass_contended(&r->java, klass)     ? LOCK_KLASS_LOCK
				    : java_is_condition(&r->java, klass) ? LOCK_KLASS_CONDITION
									 : LOCK_KLASS_OTHER;
		r->klasses[at].klass = klass;
	}
	return r->klasses[at].is;
}

void lock_reader_forget(struct lock_reader *r)
{
	memset(r->klasses, 0, sizeof(r->klasses));
}

/* --- what it waits for ------------------------------------------------------------------------ */

/* reader_thread: the java.lang.Thread that runs: of a carrier, the virtual thread on it. */
static struct oop reader_thread(struct lock_reader *r, uint64_t java_thread)
{
	const struct walk_layout *l = r->s->layout;
	const struct walk_field *field =
		l->thread_virtual.offset >= 0 ? &l->thread_virtual : &l->thread_object;

	return oop_held(
		&r->java.threads.mode, l, &r->s->mem, java_thread + (uint64_t)field->offset);
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
	struct oop oop = java_wait_object(&r->java, monitor);

	if (oop.klass || !r->java.threads.mode.known)
		*out = (struct lock_wait){.lock = monitor,
			.object = oop.object,
			.klass = oop.klass,
			.of = reader_class(r, &oop),
			.monitor = true};
}

uint64_t lock_wait_monitor(struct lock_reader *r, uint64_t java_thread)
{
	struct sampler *s = r->s;
	uint64_t monitor = layout_load(&s->layout->thread_pending, &s->mem, java_thread);
	struct oop thread;
	uint32_t status;

	if (monitor)
		return monitor;
	monitor = layout_load(&s->layout->thread_waiting, &s->mem, java_thread);
	if (!monitor)
		return 0;
	thread = java_thread_object(&r->java.threads, s->layout, &s->mem, java_thread);
	return thread.klass && java_wait_status(&r->java, thread.object, &status) &&
			       status & JAVA_BLOCKED
		       ? monitor
		       : 0;
}

/* wait_blocker: thread, a java.lang.Thread, is parked for this. */
static void wait_blocker(
	struct lock_reader *r, struct oop blocker, uint64_t thread, struct lock_wait *out)
{
	enum lock_klass is = blocker.klass ? reader_klass(r, blocker.klass) : LOCK_KLASS_OTHER;
	struct oop lock = is == LOCK_KLASS_LOCK ? blocker : (struct oop){0, 0};

	if (is == LOCK_KLASS_CONDITION)
		lock = java_wait_signalled(&r->java, blocker, thread);
	if (lock.klass)
		*out = (struct lock_wait){.lock = lock.object,
			.object = lock.object,
			.klass = lock.klass,
			.signalled = is == LOCK_KLASS_CONDITION};
}

static void wait_parked(struct lock_reader *r, uint64_t java_thread, struct lock_wait *out)
{
	struct sampler *s = r->s;
	struct oop thread, blocker;
	uint32_t status;

	if (!r->parks || layout_load(&s->layout->thread_state, &s->mem, java_thread) !=
				 s->layout->thread_blocked)
		return;
	thread = reader_thread(r, java_thread);
	if (!thread.klass)
		return;
	blocker = java_wait_blocker(&r->java, thread.object);
	/* Of whom nobody can say that it is not. */
	out->parked = blocker.klass || !java_wait_status(&r->java, thread.object, &status) ||
		      status & JAVA_PARKED;
	wait_blocker(r, blocker, thread.object, out);
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

	if (thread->state == UNMOUNTED_ENTERS) {
		uint64_t monitor = unmounted_monitor(java, thread);

		if (monitor)
			wait_monitor(r, monitor, &wait);
		if (!wait.lock) /* it waits, for what cannot be told */
			wait = (struct lock_wait){.lock = thread->object};
	} else if (thread->state == UNMOUNTED_PARKED) {
		wait_blocker(r, unmounted_blocker(java, thread), thread->object, &wait);
	}
	return wait;
}

bool lock_wait_still(struct lock_reader *r, uint64_t java_thread, const struct lock_wait *wait)
{
	const struct walk_layout *l = r->s->layout;
	const struct walk_mem *mem = &r->s->mem;
	uint64_t anchor = java_thread + (uint64_t)l->thread_anchor.offset;

	if (!wait->lock)
		return false;
	if (wait->signalled ? layout_load(&l->thread_state, mem, java_thread) != l->thread_blocked
			    : !wait->monitor || lock_wait_monitor(r, java_thread) != wait->lock)
		return false;
	return layout_load(&l->anchor_sp, mem, anchor) == wait->sp &&
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

/* owner_carries: what, a virtual thread, is mounted on it. */
static bool owner_carries(struct sampler *s, uint64_t java_thread, uint64_t what)
{
	const struct walk_field *field = &s->layout->thread_virtual;

	return field->offset >= 0 && atomic_load(&s->java_known) &&
	       oop_held(&s->java.mode, s->layout, &s->mem, java_thread + (uint64_t)field->offset)
			       .object == what;
}

static struct thread_slot *owner_find(struct sampler *s, owner_test *test, uint64_t what)
{
	for (struct thread_slot *slot = NULL; (slot = threads_after(s->threads, slot));) {
		uint64_t java_thread = atomic_load(&slot->java_thread);
		int32_t tid = atomic_load(&slot->tid);

		if (tid && java_thread && test(s, java_thread, what) &&
			walk_thread_tid(s->layout, &s->mem, java_thread) == tid)
			return slot;
	}
	return NULL;
}

static struct thread_slot *owner_of_monitor(
	struct lock_reader *r, const struct lock_wait *wait, bool *free)
{
	struct java_holder holder = java_wait_holder(&r->java, wait->lock);

	*free = holder.none;
	if (holder.none)
		return NULL;
	if (holder.id)
		return owner_find(r->s, owner_has_id, (uint64_t)holder.id);
	if (holder.at)
		return owner_find(r->s, owner_is_thread, holder.at);
	return owner_find(r->s, owner_has_locked, wait->object);
}

static struct thread_slot *owner_of_synchronizer(
	struct lock_reader *r, const struct lock_wait *wait, bool *free)
{
	struct oop owner = java_wait_owner(&r->java, (struct oop){wait->object, wait->klass});
	uint64_t java_thread;

	if (!owner.klass) {
		*free = java_super(&r->java, wait->klass,
				"java/util/concurrent/locks/ReentrantLock$Sync") != 0;
		return NULL;
	}
	java_thread = mem_u64(&r->s->mem, owner.object + r->java.threads.eetop);
	return java_thread ? owner_find(r->s, owner_is_thread, java_thread)
			   : owner_find(r->s, owner_carries, owner.object);
}

struct thread_slot *lock_wait_holder(
	struct lock_reader *r, const struct lock_wait *wait, bool *free)
{
	*free = false;
	return wait->monitor ? owner_of_monitor(r, wait, free)
			     : owner_of_synchronizer(r, wait, free);
}

uint32_t lock_wait_owner(struct lock_reader *r, const struct lock_wait *wait)
{
	bool free;
	const struct thread_slot *slot = lock_wait_holder(r, wait, &free);

	return slot ? atomic_load(&slot->id) : 0;
}

bool lock_reader_open(struct lock_reader *r, struct sampler *s)
{
	memset(r, 0, sizeof(*r));
	r->s = s;
	if (s->layout && java_waits_open(&r->java, s->layout, &s->mem))
		r->parks = s->layout->thread_blocked && s->layout->klass_super.offset >= 0 &&
			   r->java.blocker;
	return r->parks;
}
