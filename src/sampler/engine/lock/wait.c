/* SPDX-License-Identifier: Apache-2.0 */
/* Reading monitors, synchronizers and their owners. */
#include "sampler/engine/lock/wait.h"

#include "sampler/sampler.h"
#include "sampler/signal/signal.h"
#include "walk/load/mem.h"

#include <string.h>

/* True when the class is a lock: something that one thread acquires and releases. */
static bool klass_contended(const struct java_waits *java, uint64_t klass)
{
	static const char *const locks[] = {"java/util/concurrent/locks/AbstractQueuedSynchronizer",
		"java/util/concurrent/locks/AbstractQueuedLongSynchronizer",
		"java/util/concurrent/locks/StampedLock"};

	/* waiting on a latch is waiting for work, not contention */
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

/* --- the lock ---------------------------------------------------------------------------------- */

/* The class that a java.lang.Class represents: the lock of a "static synchronized" method. */
static uint64_t reader_class(struct lock_reader *r, const struct oop *oop)
{
	struct sampler *s = r->s;

	if (!oop->klass || !s->layout->class_klass ||
		!oop_klass_is(s->layout, &r->self.mem, oop->klass, "java/lang/Class"))
		return 0;
	return oop_object_class(s->layout, &r->self.mem, oop->object);
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

/* The monitor that the thread waits to reacquire; 0: none. */
static uint64_t reenters(struct lock_reader *r, uint64_t java_thread)
{
	struct sampler *s = r->s;
	uint64_t monitor = layout_load(&s->layout->thread_waiting, &r->self.mem, java_thread);
	uint32_t status;

	if (!monitor)
		return 0;
	struct oop thread =
		java_thread_object(&r->java.threads, s->layout, &r->self.mem, java_thread);
	return thread.klass && java_wait_status(&r->java, thread.object, &status) &&
			       status & JAVA_BLOCKED
		       ? monitor
		       : 0;
}

uint64_t lock_wait_monitor(struct lock_reader *r, uint64_t java_thread)
{
	self_mem_refresh(&r->self);
	uint64_t monitor = layout_load(&r->s->layout->thread_pending, &r->self.mem, java_thread);
	return monitor ? monitor : reenters(r, java_thread);
}

/* Fills *out if a java.lang.Thread parked with this blocker waits for a lock. */
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
	const struct walk_layout *l = r->s->layout;
	/* The java.lang.Thread that runs; on a carrier, the mounted virtual thread. */
	const struct walk_field *field =
		l->thread_virtual.offset >= 0 ? &l->thread_virtual : &l->thread_object;
	uint32_t status;

	if (!r->parks ||
		layout_load(&l->thread_state, &r->self.mem, java_thread) != l->thread_blocked)
		return;
	struct oop thread = oop_held(
		&r->java.threads.mode, l, &r->self.mem, java_thread + (uint64_t)field->offset);
	if (!thread.klass)
		return;
	struct oop blocker = java_wait_blocker(&r->java, thread.object);
	/* without a readable status it is assumed to be parked */
	out->parked = blocker.klass || !java_wait_status(&r->java, thread.object, &status) ||
		      status & JAVA_PARKED;
	wait_blocker(r, blocker, thread.object, out);
}

struct lock_wait lock_wait_read(struct lock_reader *r, uint64_t java_thread)
{
	struct sampler *s = r->s;
	const struct walk_layout *l = s->layout;
	uint64_t anchor = java_thread + (uint64_t)l->thread_anchor.offset;
	struct lock_wait wait = {0};

	self_mem_refresh(&r->self);
	uint64_t monitor = layout_load(&l->thread_pending, &r->self.mem, java_thread);
	bool pending = monitor != 0;
	if (!pending)
		monitor = reenters(r, java_thread);
	if (monitor)
		wait_monitor(r, monitor, &wait);
	else
		wait_parked(r, java_thread, &wait);
	wait.reenters = monitor && !pending;
	if (wait.lock) {
		wait.sp = layout_load(&l->anchor_sp, &r->self.mem, anchor);
		wait.pc = layout_load(&l->anchor_pc, &r->self.mem, anchor);
	}
	return wait;
}

struct lock_wait lock_wait_virtual(
	struct lock_reader *r, const struct unmounted *java, const struct unmounted_thread *thread)
{
	struct lock_wait wait = {0};

	self_mem_refresh(&r->self);
	if (thread->state == UNMOUNTED_ENTERS) {
		uint64_t monitor = unmounted_monitor(java, thread);

		if (monitor)
			wait_monitor(r, monitor, &wait);
		if (!wait.lock) /* it waits for something that cannot be read */
			wait = (struct lock_wait){.lock = thread->object};
	} else if (thread->state == UNMOUNTED_PARKED) {
		wait_blocker(r, unmounted_blocker(java, thread), thread->object, &wait);
	}
	return wait;
}

bool lock_wait_still(struct lock_reader *r, uint64_t java_thread, const struct lock_wait *wait)
{
	const struct walk_layout *l = r->s->layout;
	const struct walk_mem *mem = &r->self.mem;
	uint64_t anchor = java_thread + (uint64_t)l->thread_anchor.offset;

	if (!wait->lock)
		return false;
	self_mem_refresh(&r->self);
	if (wait->signalled ? layout_load(&l->thread_state, mem, java_thread) != l->thread_blocked
			    : !wait->monitor || lock_wait_monitor(r, java_thread) != wait->lock)
		return false;
	return layout_load(&l->anchor_sp, mem, anchor) == wait->sp &&
	       layout_load(&l->anchor_pc, mem, anchor) == wait->pc;
}

bool lock_wait_same(const struct lock_wait *a, const struct lock_wait *b)
{
	/* A collector may relocate the object that a thread is parked for; a monitor stays. */
	return a->monitor == b->monitor && a->klass == b->klass && a->sp == b->sp &&
	       a->pc == b->pc && (!a->monitor || a->lock == b->lock);
}

/* --- its owner -------------------------------------------------------------------------------- */

typedef bool owner_test(struct lock_reader *r, uint64_t java_thread, uint64_t what);

static bool owner_is_thread(struct lock_reader *r, uint64_t java_thread, uint64_t what)
{
	return java_thread == what ||
	       walk_thread_on_stack(r->s->layout, &r->self.mem, java_thread, what);
}

static bool owner_has_id(struct lock_reader *r, uint64_t java_thread, uint64_t what)
{
	return layout_load(&r->s->layout->thread_owner_id, &r->self.mem, java_thread) == what;
}

static bool owner_has_locked(struct lock_reader *r, uint64_t java_thread, uint64_t what)
{
	return what && walk_thread_has_locked(r->s->layout, &r->self.mem, java_thread, what);
}

/* True when the virtual thread `what` is mounted on the thread. */
static bool owner_carries(struct lock_reader *r, uint64_t java_thread, uint64_t what)
{
	const struct walk_field *field = &r->s->layout->thread_virtual;

	return field->offset >= 0 && atomic_load(&r->s->java_known) &&
	       oop_held(&r->s->java.mode, r->s->layout, &r->self.mem,
		       java_thread + (uint64_t)field->offset)
			       .object == what;
}

static struct thread_slot *owner_find(struct lock_reader *r, owner_test *test, uint64_t what)
{
	struct sampler *s = r->s;

	for (struct thread_slot *slot = NULL; (slot = threads_after(s->threads, slot));) {
		uint64_t java_thread = atomic_load(&slot->java_thread);
		int32_t tid = atomic_load(&slot->tid);

		if (tid && java_thread && test(r, java_thread, what) &&
			walk_thread_tid(s->layout, &r->self.mem, java_thread) == tid)
			return slot;
	}
	return NULL;
}

/* The owner is this thread or the virtual thread that it carries; NULL: unknown. */
static struct lock_owner owner_runs(struct lock_reader *r, struct thread_slot *slot)
{
	struct lock_owner owner = {.slot = slot};

	if (slot)
		owner.id = sig_virtual(r->s, &r->self.mem, slot, atomic_load(&slot->java_thread));
	if (slot && !owner.id)
		owner.id = atomic_load(&slot->id);
	return owner;
}

/* The owner is an unmounted virtual thread, by its number (0: unknown) and, if known, its object. */
static struct lock_owner owner_virtual(struct lock_reader *r, uint64_t number, uint64_t object)
{
	struct lock_owner owner = {.number = number, .object = object};

	if (number && !object && r->virtuals)
		owner.object = unmounted_find(r->virtuals, number);
	if (owner.object)
		owner.id = sig_virtual_known(r->s, &r->self.mem, owner.object, number, 0);
	else if (number && virtuals_find(r->s->virtuals, number))
		owner.id = WIRE_VIRTUAL_ID(number);
	return owner;
}

/* Places searched per table of virtual threads for one that has locked a monitor: no index has that. */
#define SEARCHED 1024u

struct locker {
	struct lock_reader *r;
	uint64_t object; /* the locked object */
	struct unmounted_thread found;
};

static void locker_check(void *ctx, const struct unmounted_thread *thread)
{
	struct locker *l = ctx;

	if (unmounted_has_locked(l->r->virtuals, thread, l->object))
		l->found = *thread;
}

/* The owner is a virtual thread that has locked the object and was unmounted before anyone waited. */
static struct lock_owner owner_locked(struct lock_reader *r, uint64_t object)
{
	const struct unmounted_pick pick = {.places = SEARCHED};
	struct locker l = {.r = r, .object = object};

	if (r->virtuals && object && r->s->layout->jdk >= 24)
		unmounted_each(r->virtuals, &pick, locker_check, &l);
	return owner_virtual(r, l.found.number, l.found.object);
}

static struct lock_owner owner_of_monitor(struct lock_reader *r, const struct lock_wait *wait)
{
	struct java_holder holder = java_wait_holder(&r->java, wait->lock);
	struct thread_slot *slot;

	if (holder.none)
		return (struct lock_owner){.free = true};
	if (holder.id) {
		slot = owner_find(r, owner_has_id, (uint64_t)holder.id);
		return slot ? owner_runs(r, slot) : owner_virtual(r, (uint64_t)holder.id, 0);
	}
	if (holder.at)
		slot = owner_find(r, owner_is_thread, holder.at);
	else
		slot = owner_find(r, owner_has_locked, wait->object);
	return slot || holder.at ? owner_runs(r, slot) : owner_locked(r, wait->object);
}

static struct lock_owner owner_of_synchronizer(struct lock_reader *r, const struct lock_wait *wait)
{
	struct oop owner = java_wait_owner(&r->java, (struct oop){wait->object, wait->klass});

	if (!owner.klass)
		return (struct lock_owner){
			.free = java_super(&r->java, wait->klass,
					"java/util/concurrent/locks/ReentrantLock$Sync") != 0};
	uint64_t java_thread = mem_u64(&r->self.mem, owner.object + r->java.threads.eetop);
	struct thread_slot *slot = java_thread ? owner_find(r, owner_is_thread, java_thread)
					       : owner_find(r, owner_carries, owner.object);
	if (slot || !unmounted_is(r->virtuals, owner)) /* or a thread that has ended */
		return owner_runs(r, slot);
	return owner_virtual(
		r, mem_u64(&r->self.mem, owner.object + r->java.threads.tid), owner.object);
}

struct lock_owner lock_wait_owner(struct lock_reader *r, const struct lock_wait *wait)
{
	self_mem_refresh(&r->self);
	return wait->monitor ? owner_of_monitor(r, wait) : owner_of_synchronizer(r, wait);
}

bool lock_reader_open(struct lock_reader *r, struct sampler *s)
{
	memset(r, 0, sizeof(*r));
	r->s = s;
	self_mem_open(&r->self, sig_copy_more, &s->kept, self_lines(&r->lines));
	if (s->layout && java_waits_open(&r->java, s->layout, &r->self.mem))
		r->parks = s->layout->thread_blocked && s->layout->klass_super.offset >= 0 &&
			   r->java.blocker;
	return r->parks;
}
