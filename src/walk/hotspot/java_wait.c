/* SPDX-License-Identifier: Apache-2.0 */
/* java.lang.Thread -> status, blocker; ObjectMonitor -> object, owner; synchronizer -> owner, queue. */
#include "walk/hotspot/java_wait.h"

#include "walk/load/mem.h"

#define HOLDER_ID_SINCE 24 /* JDK: a monitor's owner is a thread id, not an address */
/* Smaller ids: no owner, owner known only by its own lock stack, being deflated. */
#define HOLDER_ID_LEAST 3u
#define HOLDER_LEAST    4096u /* likewise for addresses */
#define SUPERS          64    /* against cycles */
#define QUEUED          256   /* waiters searched from the end of a lock's queue */

static const char thread_class[] = "java/lang/Thread";
static const char ownable_class[] = "java/util/concurrent/locks/AbstractOwnableSynchronizer";

/* Offset of a class's own field; 0: no field of that name. */
static uint32_t offset_of(const struct java_waits *w, uint64_t klass, const char *field)
{
	uint32_t offset;

	return oop_fields(w->layout, w->mem, klass, &field, &offset, 1) ? offset : 0;
}

static struct oop field_of(const struct java_waits *w, uint64_t object, uint32_t offset)
{
	return offset ? oop_field(&w->threads.mode, w->layout, w->mem, object + offset)
		      : (struct oop){0, 0};
}

bool java_waits_open(
	struct java_waits *w, const struct walk_layout *layout, const struct walk_mem *mem)
{
	*w = (struct java_waits){.layout = layout, .mem = mem};
	if (!java_threads_find(&w->threads, layout, mem))
		return false;
	w->blocker = offset_of(w, w->threads.klass, "parkBlocker");
	w->field_holder = offset_of(w, w->threads.klass, "holder");
	w->status = w->field_holder ? 0 : offset_of(w, w->threads.klass, "threadStatus");
	return true;
}

uint64_t java_super(const struct java_waits *w, uint64_t klass, const char *name)
{
	for (int i = 0; i < SUPERS && klass; i++) {
		if (oop_klass_is(w->layout, w->mem, klass, name))
			return klass;
		klass = layout_load(&w->layout->klass_super, w->mem, klass);
	}
	return 0;
}

bool java_wait_status(struct java_waits *w, uint64_t thread, uint32_t *status)
{
	if (w->status)
		return mem_load(w->mem, thread + w->status, status, sizeof(*status));
	struct oop fields = field_of(w, thread, w->field_holder);
	if (fields.klass && !w->field_holder_status)
		w->field_holder_status = offset_of(w, fields.klass, "threadStatus");
	return fields.klass && w->field_holder_status &&
	       mem_load(w->mem, fields.object + w->field_holder_status, status, sizeof(*status));
}

struct oop java_wait_blocker(const struct java_waits *w, uint64_t thread)
{
	return field_of(w, thread, w->blocker);
}

struct oop java_wait_object(const struct java_waits *w, uint64_t monitor)
{
	const struct walk_field *object = &w->layout->monitor_object;

	return monitor && object->offset >= 0 ? oop_held(&w->threads.mode, w->layout, w->mem,
							monitor + (uint64_t)object->offset)
					      : (struct oop){0, 0};
}

struct java_holder java_wait_holder(const struct java_waits *w, uint64_t monitor)
{
	uint64_t owner = layout_load(&w->layout->monitor_owner, w->mem, monitor);
	bool by_id = w->layout->jdk >= HOLDER_ID_SINCE;

	if (by_id && owner && owner < HOLDER_ID_LEAST) {
		/* Locked before anyone waited (LockingMode=1): the address of its lock record on the stack. */
		uint64_t at = layout_load(&w->layout->monitor_locker, w->mem, monitor);

		return (struct java_holder){.at = at >= HOLDER_LEAST ? at : 0};
	}
	return (struct java_holder){.none = w->layout->monitor_owner.offset >= 0 && !owner,
		.at = !by_id && owner >= HOLDER_LEAST ? owner : 0,
		.id = by_id && owner >= HOLDER_ID_LEAST ? (int64_t)owner : 0};
}

struct oop java_wait_owner(struct java_waits *w, struct oop synchronizer)
{
	uint64_t klass = java_super(w, synchronizer.klass, ownable_class);

	if (!klass)
		return (struct oop){0, 0};
	if (klass != w->ownable)
		w->owner = offset_of(w, klass, "exclusiveOwnerThread");
	w->ownable = klass;
	struct oop owner = field_of(w, synchronizer.object, w->owner);
	return java_super(w, owner.klass, thread_class) ? owner : (struct oop){0, 0};
}

/* --- Conditions -------------------------------------------------------------------------------------- */

#define LOCKS "java/util/concurrent/locks/"

static const struct {
	const char *condition, *lock, *node;
} queues[] = {
	{LOCKS "AbstractQueuedSynchronizer$ConditionObject", LOCKS "AbstractQueuedSynchronizer",
		LOCKS "AbstractQueuedSynchronizer$Node"},
	{LOCKS "AbstractQueuedLongSynchronizer$ConditionObject",
		LOCKS "AbstractQueuedLongSynchronizer",
		LOCKS "AbstractQueuedLongSynchronizer$Node"},
};
#define QUEUES (sizeof(queues) / sizeof(queues[0]))

/* Row of a Condition's class; QUEUES: it is none. */
static uint32_t queue_of(const struct java_waits *w, uint64_t klass)
{
	uint32_t i = 0;

	while (i < QUEUES && !oop_klass_is(w->layout, w->mem, klass, queues[i].condition))
		i++;
	return i;
}

bool java_is_condition(const struct java_waits *w, uint64_t klass)
{
	return queue_of(w, klass) < QUEUES;
}

/* True when the offsets for this Condition's lock are known, reading them if necessary. */
static bool queue_open(struct java_waits *w, struct oop condition)
{
	if (condition.klass == w->queue.condition)
		return w->queue.tail;
	uint32_t which = queue_of(w, condition.klass);
	if (which == QUEUES)
		return false;
	w->queue = (struct java_queue){.lock = offset_of(w, condition.klass, "this$0")};
	struct oop lock = field_of(w, condition.object, w->queue.lock);
	uint64_t klass = java_super(w, lock.klass, queues[which].lock);
	if (!klass)
		return false;
	w->queue.state = offset_of(w, klass, "state");
	w->queue.tail = w->queue.state ? offset_of(w, klass, "tail") : 0;
	w->queue.condition = condition.klass;
	return w->queue.tail;
}

static bool queue_node(struct java_waits *w, struct oop node)
{
	struct java_queue *q = &w->queue;
	uint64_t klass = 0;

	if (q->thread)
		return true;
	for (uint32_t i = 0; i < QUEUES && !klass; i++)
		klass = java_super(w, node.klass, queues[i].node);
	q->before = klass ? offset_of(w, klass, "prev") : 0;
	q->thread = q->before ? offset_of(w, klass, "waiter") : 0;
	if (q->before && !q->thread) /* before JDK 14 */
		q->thread = offset_of(w, klass, "thread");
	return q->thread;
}

struct oop java_wait_signalled(struct java_waits *w, struct oop condition, uint64_t thread)
{
	uint64_t number = mem_u64(w->mem, thread + w->threads.tid);

	if (!queue_open(w, condition))
		return (struct oop){0, 0};
	struct oop lock = field_of(w, condition.object, w->queue.lock);
	if (!lock.klass || !mem_u32(w->mem, lock.object + w->queue.state))
		return (struct oop){0, 0};
	struct oop node = field_of(w, lock.object, w->queue.tail);
	for (uint32_t i = 0; i < QUEUED && node.klass && queue_node(w, node); i++) {
		struct oop waiter = field_of(w, node.object, w->queue.thread);

		if (waiter.klass && mem_u64(w->mem, waiter.object + w->threads.tid) == number)
			return lock;
		node = field_of(w, node.object, w->queue.before);
	}
	return (struct oop){0, 0};
}
