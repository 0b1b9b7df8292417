/* SPDX-License-Identifier: Apache-2.0 */
/* Finds classes by name, reads sets through their static fields, visits bins of hash tables and the threads in them. */
#include "walk/frames/unmounted.h"

#include "walk/hotspot/java_thread.h"
#include "walk/hotspot/method.h"
#include "walk/hotspot/threads.h"
#include "walk/load/mem.h"

#define CLASSES_MAX   (1u << 20) /* bound: the list may change while it is read */
#define CHAIN_MAX     4096u
#define TABLE_MAX     (1u << 30)
#define SCOPES_MAX    16u  /* open scopes per thread, and nesting depth */
#define REGISTRY_PICK 256u /* bins of the registry read per visit, at most */

/* --- classes ----------------------------------------------------------------------------------------- */

static const struct {
	const char *name, *fields[UNMOUNTED_FIELDS];
} wanted[UNMOUNTED_CLASSES] = {
	[UNMOUNTED_MAP] = {"java/util/concurrent/ConcurrentHashMap", {"table"}},
	[UNMOUNTED_NODE] = {"java/util/concurrent/ConcurrentHashMap$Node", {"key", "next", "val"}},
	[UNMOUNTED_TREE] = {"java/util/concurrent/ConcurrentHashMap$TreeBin", {"first"}},
	[UNMOUNTED_FORWARD] = {"java/util/concurrent/ConcurrentHashMap$ForwardingNode",
		{"nextTable"}},
	[UNMOUNTED_SET] = {"java/util/concurrent/ConcurrentHashMap$CollectionView", {"map"}},
	[UNMOUNTED_ROOT] = {"jdk/internal/vm/ThreadContainers$RootContainer$TrackingRootContainer",
		{"VTHREADS"}},
	[UNMOUNTED_REGISTRY] = {"jdk/internal/vm/ThreadContainers", {"CONTAINER_REGISTRY"}},
	[UNMOUNTED_REFERENCE] = {"java/lang/ref/Reference", {"referent"}},
	[UNMOUNTED_EXECUTOR] = {"java/util/concurrent/ThreadPerTaskExecutor", {"threads"}},
	[UNMOUNTED_SHARED] = {"jdk/internal/vm/SharedThreadContainer", {"virtualThreads"}},
	[UNMOUNTED_VIRTUAL] = {"java/lang/VirtualThread", {"state", "cont"}},
	[UNMOUNTED_THREAD] = {"java/lang/Thread",
		{"tid", "parkBlocker", "name", "headStackableScopes"}},
	[UNMOUNTED_SCOPE] = {"jdk/internal/vm/StackableScope", {"previous"}},
	[UNMOUNTED_FLOCK_SCOPE] = {"jdk/internal/misc/ThreadFlock$ThreadContainerImpl", {"flock"}},
	[UNMOUNTED_FLOCK] = {"jdk/internal/misc/ThreadFlock", {"threads"}},
	[UNMOUNTED_COUNTER] =
		{"jdk/internal/vm/ThreadContainers$RootContainer$CountingRootContainer", {NULL}},
	[UNMOUNTED_POLLER] = {"sun/nio/ch/Poller", {"map"}},
	[UNMOUNTED_EPOLL] = {"sun/nio/ch/EPollPoller", {"event"}},
	[UNMOUNTED_INTEGER] = {"java/lang/Integer", {"value"}},
};

enum { MAP_TABLE = 0 };
enum { NODE_KEY, NODE_NEXT };
enum { VIRTUAL_STATE = UNMOUNTED_STATE, VIRTUAL_CONT };
enum { THREAD_TID, THREAD_BLOCKER, THREAD_NAME = UNMOUNTED_NAME, THREAD_SCOPES };

__attribute__((noinline)) uint64_t unmounted_u64(const struct unmounted *u, uint64_t at)
{
	return mem_u64(u->mem, at);
}

__attribute__((noinline)) uint32_t unmounted_u32(const struct unmounted *u, uint64_t at)
{
	return mem_u32(u->mem, at);
}

static bool class_fields(struct unmounted *u, unsigned which, uint64_t klass)
{
	uint32_t count = 0;

	while (count < UNMOUNTED_FIELDS && wanted[which].fields[count])
		count++;
	return !count ||
	       oop_fields(u->layout, u->mem, klass, wanted[which].fields, u->field[which], count);
}

static void class_try(struct unmounted *u, uint64_t klass)
{
	uint64_t symbol = layout_load(&u->layout->klass_name, u->mem, klass);

	for (unsigned i = 0; i < UNMOUNTED_CLASSES; i++) {
		if (!u->klass[i] && symbol_is(u->layout, u->mem, symbol, wanted[i].name) &&
			class_fields(u, i, klass)) {
			u->klass[i] = klass;
			if (i == UNMOUNTED_VIRTUAL)
				u->waiter = oop_injected_field(u->layout, u->mem, klass, 0);
		}
	}
}

/* HotSpot prepends new classes to the list. */
void unmounted_refresh(struct unmounted *u)
{
	uint64_t klass;

	mem_refresh(u->mem);
	uint64_t first = klass = unmounted_u64(u, u->loaded);
	for (uint32_t i = 0; klass && klass != u->seen && i < CLASSES_MAX; i++) {
		class_try(u, klass);
		klass = layout_load(&u->layout->klass_next, u->mem, klass);
	}
	u->seen = first;
}

/* --- opening ----------------------------------------------------------------------------------------- */

bool unmounted_open(struct unmounted *u, const struct walk_layout *l, const struct walk_mem *mem,
	const char **why)
{
	struct java_threads threads;

	*u = (struct unmounted){.layout = l, .mem = mem};
	*why = "this JVM has no virtual threads";
	if (l->jdk < 21)
		return false;
	*why = "this JVM does not export its list of classes";
	if (l->klass_next.offset < 0 || l->klass_loader.offset < 0 ||
		l->loader_klasses.offset < 0 || l->klass_mirror.offset < 0 ||
		l->thread_object.offset < 0 || l->klass_fields.offset < 0)
		return false;
	*why = "this JVM's objects cannot be read";
	if (!java_threads_find(&threads, l, mem))
		return false;
	u->mode = threads.mode;
	u->loaded = layout_load(&l->klass_loader, mem, threads.klass) +
		    (uint64_t)l->loader_klasses.offset;
	unmounted_refresh(u);
	return true;
}

/* --- tables ------------------------------------------------------------------------------------------ */

/* State of one visit, passed down to each bin. */
struct visit {
	struct unmounted *u;
	const struct unmounted_pick *pick;
	unmounted_fn *fn;
	void *ctx;
	struct unmounted_count count;
	uint32_t inner;  /* current nesting depth of scopes */
	uint64_t number; /* id of the only thread wanted; 0: all */
	uint64_t found;  /* the wanted thread */
};
/* Called for a node's key of the wanted class; weight multiplicity. */
typedef void key_fn(struct visit *v, uint64_t key, uint64_t multiplicity);
/* Selection of keys in a set: bins per table, class of the key (0: any), and the callback. */
struct keys {
	uint32_t places;
	uint64_t klass;
	key_fn *fn;
};

/* The object that a field refers to, if it is of that class; else 0. */
static uint64_t field_to(
	const struct visit *v, uint64_t object, unsigned class, unsigned field, uint64_t klass)
{
	return oop_field_of(
		&v->u->mode, v->u->layout, v->u->mem, object + v->u->field[class][field], klass);
}

static uint64_t element_at(const struct visit *v, uint64_t array, uint32_t i)
{
	return oop_array_at(&v->u->mode, v->u->layout, array, i);
}

/*
 * True when a reference is not null: used when it leads to no object, because a collector has relocated the object and has not
 * updated the reference yet. A null may have colors (generational ZGC).
 */
static bool unread(const struct visit *v, uint64_t at)
{
	uint64_t word = oop_field_word(&v->u->mode, v->u->mem, at);

	return v->u->mode.narrow ? word != 0 : word >> 16 != 0;
}

/* Follows a reference; counts it if unreadable. */
static struct oop reference_at(struct visit *v, uint64_t at)
{
	struct oop oop = oop_field(&v->u->mode, v->u->layout, v->u->mem, at);

	if (!oop.klass)
		v->count.unread += unread(v, at);
	return oop.klass ? oop : (struct oop){0, 0};
}

static struct oop field_of(struct visit *v, uint64_t object, unsigned class, unsigned field)
{
	return reference_at(v, object + v->u->field[class][field]);
}

/* Visits a chain of nodes of class klass; nodes of trees are of another class than those of lists. */
static void chain_each(
	struct visit *v, uint64_t node, uint64_t klass, uint64_t multiplicity, const struct keys *k)
{
	for (uint32_t i = 0; node && i < CHAIN_MAX; i++) {
		uint64_t key = k->klass ? field_to(v, node, UNMOUNTED_NODE, NODE_KEY, k->klass)
					: field_of(v, node, UNMOUNTED_NODE, NODE_KEY).object;

		if (!key && k->klass) /* of another class, or unreadable */
			field_of(v, node, UNMOUNTED_NODE, NODE_KEY);
		if (key)
			k->fn(v, key, multiplicity);
		node = field_to(v, node, UNMOUNTED_NODE, NODE_NEXT, klass);
	}
}

/* Visits a bin: a chain of nodes, or a tree. */
static void bin_each(struct visit *v, struct oop bin, uint64_t multiplicity, const struct keys *k)
{
	if (bin.klass == v->u->klass[UNMOUNTED_TREE])
		bin = field_of(v, bin.object, UNMOUNTED_TREE, 0);
	chain_each(v, bin.object, bin.klass, multiplicity, k);
}

/* Visits one place of a table. A place already transferred to a larger table is two places there. */
static void place_each(struct visit *v, uint64_t table, uint32_t place, uint32_t length,
	uint64_t multiplicity, const struct keys *k)
{
	const struct unmounted *u = v->u;
	uint64_t at = element_at(v, table, place);
	uint64_t node =
		oop_field_of(&u->mode, v->u->layout, v->u->mem, at, u->klass[UNMOUNTED_NODE]);

	if (node) {
		chain_each(v, node, u->klass[UNMOUNTED_NODE], multiplicity, k);
		return;
	}
	struct oop bin = reference_at(v, at);
	if (bin.klass != u->klass[UNMOUNTED_FORWARD]) {
		bin_each(v, bin, multiplicity, k);
	} else {
		uint64_t larger = field_of(v, bin.object, UNMOUNTED_FORWARD, 0).object;
		for (uint32_t i = 0; larger && i < 2; i++) {
			bin = reference_at(v, element_at(v, larger, place + i * length));
			if (bin.klass != u->klass[UNMOUNTED_FORWARD])
				bin_each(v, bin, multiplicity, k);
		}
	}
}

/*
 * Draws one place of a stretch of `step` places. A thread's place is determined by its id (VirtualThread.hashCode), and threads
 * of one kind often have equidistant ids, so the places must not be equidistant: each stretch is drawn independently.
 */
static uint32_t place_of(const struct visit *v, uint32_t stretch, uint32_t step)
{
	uint64_t drawn = (v->pick->random + stretch) * 0x9e3779b97f4a7c15ull;

	drawn = (drawn ^ drawn >> 32) * 0xd6e8feb86659fd93ull;
	return stretch * step + ((uint32_t)(drawn >> 32) & (step - 1));
}

/* Visits all places of a table, or, if there are more than k->places, one per stretch of `step`. */
static void table_each(struct visit *v, uint64_t table, uint64_t multiplicity, const struct keys *k)
{
	uint32_t length = oop_array_length(&v->u->mode, v->u->mem, table), step = 1;

	if (!length || length > TABLE_MAX || length & (length - 1))
		return;
	if (v->number && k->klass) { /* a table of threads */
		place_each(v, table, unmounted_bin(v->number, length), length, multiplicity, k);
		return;
	}
	while (length / step > k->places)
		step *= 2;
	for (uint32_t i = 0; i < length / step; i++)
		place_each(v, table, place_of(v, i, step), length, multiplicity * step, k);
}

static void set_each(struct visit *v, struct oop set, uint64_t multiplicity, const struct keys *k)
{
	struct oop map = {0, 0}, table = {0, 0};

	if (set.klass)
		map = field_of(v, set.object, UNMOUNTED_SET, 0);
	if (map.klass && map.klass == v->u->klass[UNMOUNTED_MAP])
		table = field_of(v, map.object, UNMOUNTED_MAP, MAP_TABLE);
	if (table.klass)
		table_each(v, table.object, multiplicity, k);
}

/* --- threads ----------------------------------------------------------------------------------------- */

#define STATE_SUSPENDED 256u

/* VirtualThread.java, JDK 21 to 28; all other states are mounted, not yet started, or terminated. */
static const struct {
	uint8_t number;
	bool timed;
	enum unmounted_state state;
} states[] = {
	{4, false, UNMOUNTED_PARKED},
	{7, true, UNMOUNTED_PARKED},
	{9, false, UNMOUNTED_READY},
	{11, false, UNMOUNTED_READY},
	{13, false, UNMOUNTED_ENTERS},
	{14, false, UNMOUNTED_READY},
	{16, false, UNMOUNTED_WAITS},
	{18, true, UNMOUNTED_WAITS},
};

static void state_read(const struct unmounted *u, struct unmounted_thread *thread)
{
	uint32_t number =
		unmounted_u32(u, thread->object + u->field[UNMOUNTED_VIRTUAL][VIRTUAL_STATE]) &
		~STATE_SUSPENDED;

	thread->state = UNMOUNTED_RUNS;
	thread->timed = false;
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		if (states[i].number != number)
			continue;
		thread->state = states[i].state;
		thread->timed = states[i].timed;
	}
}

static void scopes_visit(struct visit *v, uint64_t owner, uint64_t multiplicity);

static void thread_visit(struct visit *v, uint64_t key, uint64_t multiplicity)
{
	struct unmounted_thread thread = {.object = key, .multiplicity = multiplicity};

	v->count.threads++;
	scopes_visit(v, key, multiplicity);
	state_read(v->u, &thread);
	if (thread.state == UNMOUNTED_RUNS && !v->pick->mounted)
		return;
	thread.number = unmounted_u64(v->u, key + v->u->field[UNMOUNTED_THREAD][THREAD_TID]);
	if (thread.number)
		v->fn(v->ctx, &thread);
}

static void number_visit(struct visit *v, uint64_t key, uint64_t multiplicity)
{
	(void)multiplicity;
	if (unmounted_has_id(v->u, key, v->number))
		v->found = key;
}

static void threads_of(struct visit *v, struct oop set, uint64_t multiplicity)
{
	struct keys threads = {v->pick->places, v->u->klass[UNMOUNTED_VIRTUAL],
		v->number ? number_visit : thread_visit};

	set_each(v, set, multiplicity, &threads);
}

/* Visits the threads of all scopes that a thread owns. They inherit its weight. */
static void scopes_visit(struct visit *v, uint64_t owner, uint64_t multiplicity)
{
	const struct unmounted *u = v->u;

	if (!u->klass[UNMOUNTED_FLOCK_SCOPE] || v->inner == SCOPES_MAX)
		return;
	v->inner++;
	struct oop scope = field_of(v, owner, UNMOUNTED_THREAD, THREAD_SCOPES);
	for (uint32_t i = 0; scope.klass && i < SCOPES_MAX; i++) {
		struct oop flock = {0, 0};

		if (scope.klass == u->klass[UNMOUNTED_FLOCK_SCOPE])
			flock = field_of(v, scope.object, UNMOUNTED_FLOCK_SCOPE, 0);
		if (flock.klass && flock.klass == u->klass[UNMOUNTED_FLOCK])
			threads_of(v, field_of(v, flock.object, UNMOUNTED_FLOCK, 0), multiplicity);
		scope = field_of(v, scope.object, UNMOUNTED_SCOPE, 0);
	}
	v->inner--;
}

static void owner_visit(void *ctx, uint64_t java_thread, int32_t tid)
{
	struct visit *v = ctx;
	uint64_t at = java_thread + (uint64_t)v->u->layout->thread_object.offset;
	struct oop thread = oop_slot(&v->u->mode, v->u->layout, v->u->mem, unmounted_u64(v->u, at));

	if (thread.klass)
		scopes_visit(v, thread.object, 1);
}

static void container_visit(struct visit *v, uint64_t reference, uint64_t multiplicity)
{
	struct oop container = field_of(v, reference, UNMOUNTED_REFERENCE, 0);

	for (unsigned i = UNMOUNTED_EXECUTOR; container.klass && i <= UNMOUNTED_SHARED; i++) {
		if (container.klass == v->u->klass[i])
			threads_of(v, field_of(v, container.object, i, 0), multiplicity);
	}
}

/* Reads a static field, which is stored in the class's java.lang.Class. */
static struct oop static_of(struct visit *v, unsigned class)
{
	const struct unmounted *u = v->u;
	uint64_t slot = layout_load(&v->u->layout->klass_mirror, v->u->mem, u->klass[class]);
	struct oop mirror = oop_slot(&u->mode, v->u->layout, v->u->mem, slot);

	if (!u->klass[class])
		return (struct oop){0, 0};
	if (!mirror.klass) {
		v->count.unread++;
		return mirror;
	}
	return field_of(v, mirror.object, class, 0);
}

static void sets_visit(struct visit *v)
{
	const struct unmounted *u = v->u;
	struct keys containers = {REGISTRY_PICK, 0, container_visit};

	if (!u->klass[UNMOUNTED_VIRTUAL])
		return;
	threads_of(v, static_of(v, UNMOUNTED_ROOT), 1);
	if (!v->found)
		set_each(v, static_of(v, UNMOUNTED_REGISTRY), 1, &containers);
	if (!v->found && u->klass[UNMOUNTED_FLOCK_SCOPE])
		walk_threads_each(u->layout, u->mem, owner_visit, v);
}

struct unmounted_count unmounted_each(
	struct unmounted *u, const struct unmounted_pick *pick, unmounted_fn *fn, void *ctx)
{
	struct visit v = {.u = u, .pick = pick, .fn = fn, .ctx = ctx};

	mem_refresh(u->mem);
	sets_visit(&v);
	return v.count;
}

uint64_t unmounted_find(struct unmounted *u, uint64_t number)
{
	struct unmounted_pick pick = {.places = 1};
	struct visit v = {.u = u, .pick = &pick, .number = number};

	mem_refresh(u->mem);
	if (number)
		sets_visit(&v);
	return v.found;
}

/* --- one thread -------------------------------------------------------------------------------------- */

static struct oop field_in(
	const struct unmounted *u, uint64_t object, unsigned class, unsigned field)
{
	return oop_field(&u->mode, u->layout, u->mem, object + u->field[class][field]);
}

bool unmounted_read(
	const struct unmounted *u, uint64_t object, uint64_t number, struct unmounted_thread *out)
{
	*out = (struct unmounted_thread){.object = object, .number = number, .multiplicity = 1};
	mem_refresh(u->mem);
	if (!object || !u->klass[UNMOUNTED_VIRTUAL] || !unmounted_has_id(u, object, number))
		return false;
	state_read(u, out);
	return out->state != UNMOUNTED_RUNS;
}

static uint64_t continuation_of(const struct unmounted *u, const struct unmounted_thread *thread)
{
	return field_in(u, thread->object, UNMOUNTED_VIRTUAL, VIRTUAL_CONT).object;
}

/* Index of StackChunk.lockStackSize among the injected fields, JDK 24 and newer. */
#define CHUNK_LOCKS 4u
#define LOCKS_MAX   8u /* LockStack::CAPACITY */

bool unmounted_frozen(
	struct unmounted *u, const struct unmounted_thread *thread, struct frozen *out)
{
	uint64_t continuation = continuation_of(u, thread);

	if (!continuation)
		return false;
	if (!u->frozen.bytes) { /* bytes stays 0 on failure */
		if (!frozen_fields(u->layout, u->mem, continuation, &u->frozen))
			return false;
		u->locks = oop_injected_field(u->layout, u->mem, u->frozen.klass, CHUNK_LOCKS);
	}
	out->at = u->frozen;
	return frozen_tail(u->layout, u->mem, &u->mode, continuation, out) &&
	       frozen_any(u->mem, out);
}

bool unmounted_has_locked(
	struct unmounted *u, const struct unmounted_thread *thread, uint64_t object)
{
	struct frozen where;

	if (!unmounted_frozen(u, thread, &where) || !u->locks)
		return false;
	uint32_t count = mem_u8(u->mem, where.chunk + u->locks);
	for (uint32_t i = 0; i < count && i < LOCKS_MAX; i++) {
		uint64_t at = where.chunk + where.at.bytes + 8ull * i;

		/* A whole reference, or one encoded as in fields once a collector has processed the chunk. */
		if (oop_uncolored(unmounted_u64(u, at)) == object ||
			oop_field(&u->mode, u->layout, u->mem, at).object == object)
			return true;
	}
	return false;
}

bool unmounted_still(const struct unmounted *u, const struct unmounted_thread *thread,
	const struct frozen *f, uint64_t sp)
{
	struct unmounted_thread now = *thread;
	struct frozen again = *f;

	mem_refresh(u->mem);
	state_read(u, &now);
	return now.state == thread->state && unmounted_has_id(u, thread->object, thread->number) &&
	       frozen_tail(u->layout, u->mem, &u->mode, continuation_of(u, thread), &again) &&
	       again.chunk == f->chunk && frozen_sp(u->mem, &again) == sp;
}

struct oop unmounted_blocker(const struct unmounted *u, const struct unmounted_thread *thread)
{
	return field_in(u, thread->object, UNMOUNTED_THREAD, THREAD_BLOCKER);
}

/* ObjectWaiter: next, previous, JavaThread, handle of the virtual thread, ObjectMonitor... */
#define WAITER_WORDS 8u

uint64_t unmounted_monitor(const struct unmounted *u, const struct unmounted_thread *thread)
{
	uint64_t waiter = u->waiter ? unmounted_u64(u, thread->object + u->waiter) : 0;

	for (uint32_t i = 0; waiter && i + 1 < WAITER_WORDS; i++) {
		uint64_t handle = unmounted_u64(u, waiter + 8ull * i);
		struct oop oop = oop_slot(&u->mode, u->layout, u->mem, handle);

		if (oop.klass == u->klass[UNMOUNTED_VIRTUAL] &&
			unmounted_has_id(u, oop.object, thread->number))
			return unmounted_u64(u, waiter + 8ull * (i + 1));
	}
	return 0;
}
