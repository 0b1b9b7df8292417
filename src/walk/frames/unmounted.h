/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual threads that no carrier has mounted: objects in the heap, which no list of the JVM's own knows. Java keeps
 * them in sets, ConcurrentHashMaps of its ThreadContainers, unless jdk.trackAllThreads is false:
 *
 *   ThreadContainers$RootContainer$TrackingRootContainer.VTHREADS      those of Thread.ofVirtual() and the like
 *   ThreadContainers.CONTAINER_REGISTRY -> ThreadPerTaskExecutor.threads, SharedThreadContainer.virtualThreads
 *   Thread.headStackableScopes -> ThreadFlock.threads                  those of a StructuredTaskScope, by its owner
 *
 * A random part of a table's places has a random part of the threads: a million can be looked at by so many at a time
 * without bias, each standing for as many as places were passed over.
 *
 * All by loads, while Java runs and collectors move what is read: an object counts as what its class says, a thread's
 * state and stack are asked again after the walk, and what could not be read is counted. JDK 21 and newer. Not for
 * handlers; one struct unmounted is for one thread at a time.
 */
#ifndef JHOT_WALK_FRAMES_UNMOUNTED_H
#define JHOT_WALK_FRAMES_UNMOUNTED_H

#include "walk/frames/frozen.h"
#include "walk/hotspot/oop.h"

/* Classes that are read, and the fields of them. */
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
	UNMOUNTED_COUNTER, /* in the place of ROOT: it only counts them */
	UNMOUNTED_POLLER,
	UNMOUNTED_EPOLL,
	UNMOUNTED_INTEGER,
	UNMOUNTED_CLASSES
};
#define UNMOUNTED_FIELDS 4u
#define UNMOUNTED_TID    0u /* of UNMOUNTED_THREAD */
#define UNMOUNTED_NAME   2u
enum { UNMOUNTED_KEY, UNMOUNTED_NEXT, UNMOUNTED_VALUE }; /* of UNMOUNTED_NODE */
#define UNMOUNTED_WORDS 256u

struct unmounted {
	const struct walk_layout *layout; /* not owned, nor what mem reads by */
	const struct walk_mem *mem;
	struct oop_mode mode; /* not known: nothing can be read */
	uint64_t loaded,
		seen; /* where the list of the boot loader's classes begins; how far it has been read */
	uint64_t klass[UNMOUNTED_CLASSES]; /* 0: not loaded yet */
	uint32_t field[UNMOUNTED_CLASSES][UNMOUNTED_FIELDS];
	uint32_t waiter;             /* VirtualThread's added field, 0: there is none */
	struct frozen_fields frozen; /* bytes 0: not known yet */
	uint32_t
		locks; /* where a StackChunk has how many locks its thread has; 0: it does not say */
};

/* What a virtual thread is doing, by VirtualThread.state. */
enum unmounted_state {
	UNMOUNTED_RUNS,  /* mounted, not started, over: none of ours */
	UNMOUNTED_READY, /* it waits for a carrier */
	UNMOUNTED_PARKED,
	UNMOUNTED_ENTERS, /* a monitor; since JDK 24 */
	UNMOUNTED_WAITS   /* in Object.wait; likewise */
};

struct unmounted_thread {
	uint64_t object;
	uint64_t number; /* Thread.threadId */
	enum unmounted_state state;
	bool timed;          /* it goes on by itself after a while */
	uint64_t stands_for; /* so many */
};

struct unmounted_count {
	uint64_t threads; /* that were visited */
	uint64_t unread;  /* and that could not be read: a collector has moved them */
};

/*
 * What these functions find is read when they are called, except that what an unmounted_fn asks may have been read
 * earlier in the same unmounted_each. mem must outlive the struct.
 *
 * unmounted_open: false, and why in a sentence: they cannot be read in this JVM. Classes that are not loaded yet are
 * looked for again by unmounted_refresh, which costs what has been loaded since.
 */
bool unmounted_open(struct unmounted *u, const struct walk_layout *layout,
	const struct walk_mem *mem, const char **why);
/* The JVM was told not to keep track of them: those of executors and scopes are found only. */
static inline bool unmounted_untracked(const struct unmounted *u)
{
	return u->klass[UNMOUNTED_COUNTER] && !u->klass[UNMOUNTED_ROOT];
}
void unmounted_refresh(struct unmounted *u);

/* Which places of each table: random, the same ones as long as it is the same; and how many of a table at most. */
struct unmounted_pick {
	uint64_t random;
	uint32_t places;
};
typedef void unmounted_fn(void *ctx, const struct unmounted_thread *thread);
/* Visits those that are neither RUNS nor new. */
struct unmounted_count unmounted_each(
	struct unmounted *u, const struct unmounted_pick *pick, unmounted_fn *fn, void *ctx);
/*
 * The virtual thread of this number, in whatever state; 0: it is in no set that is read. Those of a scope are found only if
 * a thread that is none itself has opened that. A place in each table, so it costs the same in large ones.
 */
uint64_t unmounted_find(struct unmounted *u, uint64_t number);
/* A number in the heap; 0: it cannot be read. No inlined loads here, which are large. */
uint64_t unmounted_u64(const struct unmounted *u, uint64_t at);
uint32_t unmounted_u32(const struct unmounted *u, uint64_t at);
static inline bool unmounted_has_number(const struct unmounted *u, uint64_t object, uint64_t number)
{
	return unmounted_u64(u, object + u->field[UNMOUNTED_THREAD][UNMOUNTED_TID]) == number;
}
/* Where in a table one of this number is, a thread or an Integer, as ConcurrentHashMap.spread has it. */
static inline uint32_t unmounted_place(uint64_t number, uint32_t length)
{
	uint32_t hash = (uint32_t)number;

	return (hash ^ hash >> 16) & 0x7fffffffu & (length - 1);
}
/* Is this one? */
static inline bool unmounted_is(const struct unmounted *u, struct oop oop)
{
	return u && oop.klass && oop.klass == u->klass[UNMOUNTED_VIRTUAL];
}
/* What this one is doing now. false: it has a carrier, or is over, or it is not there any more. */
bool unmounted_read(
	const struct unmounted *u, uint64_t object, uint64_t number, struct unmounted_thread *out);

/*
 * Has it locked this object, while nobody waited for that, and lost its carrier then? JDK 24 and newer: a StackChunk
 * begins with what its thread has locked so, where the stack will grow to last. false, too, where that cannot be read.
 */
bool unmounted_has_locked(
	struct unmounted *u, const struct unmounted_thread *thread, uint64_t object);
/* Where its frames are; false: it has none, or they cannot be read just now. */
bool unmounted_frozen(
	struct unmounted *u, const struct unmounted_thread *thread, struct frozen *out);
/* Whether it is still where it was. A collector that moves it makes it another one. */
bool unmounted_still(const struct unmounted *u, const struct unmounted_thread *thread,
	const struct frozen *f, uint64_t sp);

/*
 * The ObjectMonitor that one waits to enter, 0: not to be told. Its ObjectWaiter is in a field that HotSpot adds to
 * VirtualThread; it is proved by the handle in it, which leads back to the thread.
 */
uint64_t unmounted_monitor(const struct unmounted *u, const struct unmounted_thread *thread);

/* Where in a Thread the reference to its name is. */
static inline uint32_t unmounted_name_at(const struct unmounted *u)
{
	return u->field[UNMOUNTED_THREAD][UNMOUNTED_NAME];
}

/*
 * unmounted_polls.c: the descriptor that one that is parked waits for. A Poller of sun.nio.ch and a number are in its
 * frames wherever the compiler has put them; which they are is proved by the Poller's map, in which Java writes who waits
 * for what.
 */
struct unmounted_poll {
	uint64_t poller,
		node; /* node: in the map, another one for each wait; 0: it waits for none */
	uint32_t fd;
	bool writes;
};
/* What words in frames lead to: forgotten now and then, since collectors move it. */
#define UNMOUNTED_WORDS 256u
struct unmounted_word {
	uint64_t word, poller; /* 0: to none */
};
/* f: where its frames are. false: it waits for something else, or that cannot be read. */
bool unmounted_polls(const struct unmounted *u, struct unmounted_word words[UNMOUNTED_WORDS],
	const struct unmounted_thread *thread, const struct frozen *f, struct unmounted_poll *out);
/* Is that the same wait still? */
bool unmounted_polls_still(const struct unmounted *u, const struct unmounted_thread *thread,
	const struct unmounted_poll *poll);

/* Thread.parkBlocker of a thread that is parked. */
struct oop unmounted_blocker(const struct unmounted *u, const struct unmounted_thread *thread);

#endif
