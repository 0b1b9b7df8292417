/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unmounted virtual threads: heap objects that no list of the JVM itself contains. Java keeps them in sets, the
 * ConcurrentHashMaps of its ThreadContainers, unless jdk.trackAllThreads is false:
 *
 *   ThreadContainers$RootContainer$TrackingRootContainer.VTHREADS      threads of Thread.ofVirtual() and the like
 *   ThreadContainers.CONTAINER_REGISTRY -> ThreadPerTaskExecutor.threads, SharedThreadContainer.virtualThreads
 *   Thread.headStackableScopes -> ThreadFlock.threads                  threads of a StructuredTaskScope, via its owner
 *
 * Sampling: a random subset of a hash table's bins contains a random subset of its threads, so a million threads are covered a
 * few at a time without bias; each visited thread gets a weight, the number of bins that its own bin represents.
 *
 * Everything is read by loads while Java runs and collectors relocate objects: an object is identified by its class, a thread's
 * state and stack are re-read after the walk, and threads that could not be read are counted. JDK 21 and newer. Not for signal
 * handlers; one struct unmounted is for one thread at a time and belongs to the caller.
 */
#ifndef JHOT_WALK_FRAMES_UNMOUNTED_H
#define JHOT_WALK_FRAMES_UNMOUNTED_H

#include "walk/frames/frozen.h"
#include "walk/hotspot/oop.h"

/* Classes whose fields are read; rows of the table in unmounted.c. */
enum {
	UNMOUNTED_MAP,
	UNMOUNTED_NODE,
	UNMOUNTED_TREE,
	UNMOUNTED_FORWARD,
	UNMOUNTED_SET,
	UNMOUNTED_ROOT,
	UNMOUNTED_REGISTRY,
	UNMOUNTED_REFERENCE,
	UNMOUNTED_EXECUTOR,
	UNMOUNTED_SHARED,
	UNMOUNTED_VIRTUAL,
	UNMOUNTED_THREAD,
	UNMOUNTED_SCOPE,
	UNMOUNTED_FLOCK_SCOPE,
	UNMOUNTED_FLOCK,
	UNMOUNTED_COUNTER, /* replaces ROOT where threads are not tracked, only counted */
	UNMOUNTED_POLLER,
	UNMOUNTED_EPOLL,
	UNMOUNTED_INTEGER,
	UNMOUNTED_CLASSES
};
#define UNMOUNTED_FIELDS 4u
#define UNMOUNTED_TID    0u /* fields of UNMOUNTED_THREAD */
#define UNMOUNTED_NAME   2u
#define UNMOUNTED_STATE  0u                              /* field of UNMOUNTED_VIRTUAL */
enum { UNMOUNTED_KEY, UNMOUNTED_NEXT, UNMOUNTED_VALUE }; /* fields of UNMOUNTED_NODE */

struct unmounted {
	const struct walk_layout *layout; /* borrowed, as is mem */
	const struct walk_mem *mem;
	struct oop_mode mode; /* mode.known false: no object can be read */
	/* Address of the head of the boot loader's class list, and the newest class already read from it. */
	uint64_t loaded, seen;
	uint64_t klass[UNMOUNTED_CLASSES]; /* 0: not loaded yet */
	uint32_t field[UNMOUNTED_CLASSES][UNMOUNTED_FIELDS];
	/* offset of the ObjectWaiter field that HotSpot injects into VirtualThread; 0: none */
	uint32_t waiter;
	struct frozen_fields frozen; /* bytes 0: not known yet */
	/* Offset in StackChunk of the number of locks that its thread owns; 0: the JVM does not record it. */
	uint32_t locks;
};

/* The activity of a virtual thread, by VirtualThread.state. */
enum unmounted_state {
	UNMOUNTED_RUNS,  /* mounted, not started or terminated: not unmounted */
	UNMOUNTED_READY, /* runnable, waiting for a carrier */
	UNMOUNTED_PARKED,
	UNMOUNTED_ENTERS, /* waiting to enter a monitor; since JDK 24 */
	UNMOUNTED_WAITS   /* in Object.wait; since JDK 24 */
};

struct unmounted_thread {
	uint64_t object;
	uint64_t number; /* Thread.threadId */
	enum unmounted_state state;
	bool timed;            /* the wait has a timeout */
	uint64_t multiplicity; /* weight: the number of threads that this one represents */
};

struct unmounted_count {
	uint64_t threads; /* threads visited */
	/* references that could not be read: a collector has relocated their targets */
	uint64_t unread;
};

/*
 * Each function reads the heap when it is called, except that in an unmounted_fn, words may have been read earlier in the same
 * unmounted_each. mem must outlive the struct.
 *
 * unmounted_open returns false if this JVM's unmounted threads cannot be read, with the reason as a sentence in *why.
 * unmounted_refresh searches the classes loaded since the last call; its cost is proportional to their number.
 */
bool unmounted_open(struct unmounted *u, const struct walk_layout *layout,
	const struct walk_mem *mem, const char **why);
/* True when the JVM does not track them (jdk.trackAllThreads=false): only those of executors and scopes are found. */
static inline bool unmounted_untracked(const struct unmounted *u)
{
	return u->klass[UNMOUNTED_COUNTER] && !u->klass[UNMOUNTED_ROOT];
}
void unmounted_refresh(struct unmounted *u);

/* Which bins of each table to visit: the same `random` selects the same bins; at most `places` per table. */
struct unmounted_pick {
	uint64_t random;
	uint32_t places;
	bool mounted; /* true: visits RUNS threads, too */
};
typedef void unmounted_fn(void *ctx, const struct unmounted_thread *thread);
/* Visits the sampled threads except RUNS ones, unless pick->mounted, and those without an id yet. */
struct unmounted_count unmounted_each(
	struct unmounted *u, const struct unmounted_pick *pick, unmounted_fn *fn, void *ctx);
/*
 * The virtual thread with this id, in any state; 0: in none of the sets. Threads of a scope are found only if a platform
 * thread opened the scope. Reads one bin per table, so the cost does not depend on the tables' sizes.
 */
uint64_t unmounted_find(struct unmounted *u, uint64_t number);
/* A number in the heap; 0 if unreadable. Out of line on purpose: the inlined loads are large. */
uint64_t unmounted_u64(const struct unmounted *u, uint64_t at);
uint32_t unmounted_u32(const struct unmounted *u, uint64_t at);
static inline bool unmounted_has_id(const struct unmounted *u, uint64_t object, uint64_t number)
{
	return unmounted_u64(u, object + u->field[UNMOUNTED_THREAD][UNMOUNTED_TID]) == number;
}
/* Index of the bin for a thread or Integer with this id, as ConcurrentHashMap.spread computes it. */
static inline uint32_t unmounted_bin(uint64_t number, uint32_t length)
{
	uint32_t hash = (uint32_t)number;

	return (hash ^ hash >> 16) & 0x7fffffffu & (length - 1);
}
/* True when the object is a virtual thread. */
static inline bool unmounted_is(const struct unmounted *u, struct oop oop)
{
	return u && oop.klass && oop.klass == u->klass[UNMOUNTED_VIRTUAL];
}
/* Reads the thread's current state. False if it is mounted or terminated, or no longer at this address. */
bool unmounted_read(
	const struct unmounted *u, uint64_t object, uint64_t number, struct unmounted_thread *out);

/*
 * True when the thread owns the lock of this object without inflating its monitor and was then unmounted. JDK 24 and newer:
 * such locks are stored at the start of a StackChunk, where its stack would grow to last. Also false if unreadable.
 */
bool unmounted_has_locked(
	struct unmounted *u, const struct unmounted_thread *thread, uint64_t object);
/* Locates the thread's frozen frames. False if it has none, or if they are unreadable at the moment. */
bool unmounted_frozen(
	struct unmounted *u, const struct unmounted_thread *thread, struct frozen *out);
/* True when state, chunk and sp are the same as before the walk. False also if a collector has relocated the chunk. */
bool unmounted_still(const struct unmounted *u, const struct unmounted_thread *thread,
	const struct frozen *f, uint64_t sp);

/*
 * The ObjectMonitor that the thread waits to enter; 0 if unknown. Its ObjectWaiter is in a field that HotSpot injects into
 * VirtualThread; it is verified by the handle inside it, which must lead back to the thread.
 */
uint64_t unmounted_monitor(const struct unmounted *u, const struct unmounted_thread *thread);

/* Offset in Thread of the reference to its name. */
static inline uint32_t unmounted_name_at(const struct unmounted *u)
{
	return u->field[UNMOUNTED_THREAD][UNMOUNTED_NAME];
}

/*
 * unmounted_polls.c: the file descriptor that a parked thread polls. Its frames contain a Poller of sun.nio.ch and a descriptor
 * at places that the compiler chose; both are verified by the Poller's map, in which Java records which thread waits for which
 * descriptor.
 */
struct unmounted_poll {
	/* node: entry in the map, a new one for each wait; 0: not waiting */
	uint64_t poller, node;
	uint32_t fd;
	bool writes;
};
/* Cache of the objects that words in frames point to. Its owner clears it regularly, since collectors relocate the targets. */
#define UNMOUNTED_WORDS 256u
struct unmounted_word {
	uint64_t word, poller; /* poller 0: the word points to none */
};
/* f: the thread's frozen frames. False if the thread waits for something else, or they are unreadable. */
bool unmounted_polls(const struct unmounted *u, struct unmounted_word words[UNMOUNTED_WORDS],
	const struct unmounted_thread *thread, const struct frozen *f, struct unmounted_poll *out);
/* True when that wait is still in progress. Lines cached by u->mem may be stale: call mem_refresh before it if that matters. */
bool unmounted_polls_still(const struct unmounted *u, const struct unmounted_thread *thread,
	const struct unmounted_poll *poll);

/* Thread.parkBlocker of a parked thread. */
struct oop unmounted_blocker(const struct unmounted *u, const struct unmounted_thread *thread);

#endif
